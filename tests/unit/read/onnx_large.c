/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx_large: sizes that tell whether time and memory stay in bounds. */
#include "onnx_fixture.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sizes at which anything quadratic would not end. */
static void large_models(void **state) {
    (void)state;
    const int n = support_cases(100000);
    proto nested = {0}, node = onnx_node("Custom", "x", "y"), graph = {0};
    char name[20], before[20] = "x";
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%d", i);
        proto_message(&nested, 1, onnx_node("Neg", before, name));
        memcpy(before, name, sizeof name);
    }
    proto attribute = onnx_attribute("body", A_GRAPH);
    proto_message(&attribute, 6, nested);
    proto_message(&node, 5, attribute);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "a%d", i);
        proto_message(&node, 5, onnx_attribute(name, 0));
        proto_text(&node, 1, "x");
    }
    proto_message(&graph, 1, node);
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    for (int i = 0; i < n; i++) {
        proto_message(&graph, 1, onnx_node("Neg", "x", ""));
        proto_message(&graph, 13, onnx_value("x", FLOAT, "1"));
    }
    berth_graph *g = read_graph(graph);
    assert_int_equal(berth_graph_op_count(g), n + 1);
    assert_int_equal(berth_graph_op(g, 0)->n_nested_ops, n);
    assert_int_equal(berth_graph_op(g, 0)->n_attributes, n + 1);
    assert_int_equal(berth_graph_op(g, 0)->n_inputs, n + 1);
    berth_graph_free(g);
}

/* A file of 256 MiB whose weights are holes: they are not read. */
static void weights_are_not_read(void **state) {
    (void)state;
    enum { N = 256, WEIGHT = 1 << 20, MOST_KIB = 64 << 10 };
    char path[] = "/tmp/berth-onnx-XXXXXX", name[20];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    proto nodes = {0}, headers[N] = {{0}}, model = {0};
    size_t size = 0;
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "w%d", i);
        proto tensor = onnx_tensor(name, 2, WEIGHT);
        proto_tag(&tensor, 9, 2);
        proto_varint(&tensor, WEIGHT);
        proto_tag(&headers[i], 5, 2);
        proto_varint(&headers[i], tensor.n + WEIGHT);
        proto_raw(&headers[i], tensor.bytes, tensor.n);
        size += headers[i].n + WEIGHT;
        proto_free(&tensor);
        proto_message(&nodes, 1, onnx_node("Identity", name, ""));
    }
    proto_int(&model, 1, 8);
    proto_tag(&model, 7, 2);
    proto_varint(&model, nodes.n + size);
    proto_raw(&model, nodes.bytes, nodes.n);
    off_t at = (off_t)model.n;
    assert_int_equal(pwrite(fd, model.bytes, model.n, 0), model.n);
    for (int i = 0; i < N; i++) {
        assert_int_equal(pwrite(fd, headers[i].bytes, headers[i].n, at), headers[i].n);
        at += (off_t)headers[i].n + WEIGHT;
        proto_free(&headers[i]);
    }
    assert_int_equal(ftruncate(fd, at), 0);
    proto_free(&nodes);
    proto_free(&model);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    berth_graph *g = NULL;
    berth_status status = berth_graph_read(ctx, &g, path, NULL);
    getrusage(RUSAGE_SELF, &after);
    close(fd);
    unlink(path);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    assert_int_equal(berth_graph_op_count(g), N);
    assert_int_equal(berth_graph_tensor(g, 0)->payload_bytes, WEIGHT);
    if (after.ru_maxrss - before.ru_maxrss > MOST_KIB) fail_msg("%ld KiB", after.ru_maxrss - before.ru_maxrss);
    berth_graph_free(g);
}

/* A tensor whose fields stand in any order, with remarks between them that may be longer than a window. */
static proto shuffled_tensor(uint64_t *seed, int index) {
    char name[60];
    snprintf(name, sizeof name, "%s%d", &"names of many lengths, up to "[support_below(seed, 28)], index);
    uint32_t n = support_below(seed, 2) ? support_below(seed, 200) : support_below(seed, 3000);
    bool list = support_below(seed, 2);
    proto tensor = {0};
    char *bytes = calloc(9000, 1);
    if (!bytes) abort();
    for (uint32_t i = 0; i < n; i++) bytes[i] = (char)support_below(seed, 128);
    int first = (int)support_below(seed, 4);
    for (int part = first; part < first + 4; part++) {
        switch (part % 4) {
        case 0: proto_int(&tensor, 1, n); break;
        case 1: proto_int(&tensor, 2, 3); break; /* i8 */
        case 2: proto_text(&tensor, 8, name); break;
        default: proto_bytes(&tensor, list ? 5 : 9, bytes, n); break;
        }
        if (support_below(seed, 4) == 0) proto_bytes(&tensor, 12, bytes, support_below(seed, 9000));
    }
    free(bytes);
    return tensor;
}

/* A large file, which is passed through a window, gives the same graph as its bytes in memory. */
static void windowed_or_in_place(void **state) {
    (void)state;
    uint64_t seed = 5;
    proto graph = {0};
    for (int i = 0; graph.n < 3 << 20; i++) {
        proto_message(&graph, 5, shuffled_tensor(&seed, i));
        if (i % 3 == 0) proto_message(&graph, 1, onnx_node("Custom", "", ""));
        if (i == 500) proto_text(&graph, 2, "the name of the graph");
    }
    proto model = onnx_model(graph);
    char path[] = "/tmp/berth-onnx-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, model.bytes, model.n), model.n);
    close(fd);
    berth_graph *windowed = NULL, *in_place = NULL;
    berth_status status = berth_graph_read(ctx, &windowed, path, NULL);
    unlink(path);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    assert_int_equal(berth_graph_read_memory(ctx, &in_place, model.bytes, model.n, "test", NULL), BERTH_OK);
    proto_free(&model);
    assert_string_equal(berth_graph_name(windowed), "the name of the graph");
    assert_string_equal(berth_graph_fingerprint(windowed), berth_graph_fingerprint(in_place));
    assert_true(berth_graph_tensor_count(windowed) > 500);
    for (int32_t i = 0; i < berth_graph_tensor_count(windowed); i++) {
        const berth_tensor *a = berth_graph_tensor(windowed, i), *b = berth_graph_tensor(in_place, i);
        assert_string_equal(a->name, b->name);
        assert_true(a->bytes == b->bytes && a->payload_bytes == b->payload_bytes);
        assert_true(a->content_size == b->content_size && !a->content == !b->content);
        if (a->content) assert_memory_equal(a->content, b->content, (size_t)a->content_size);
    }
    berth_graph_free(windowed);
    berth_graph_free(in_place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_not_read), /* first: it looks at the peak of the process */
        cmocka_unit_test(large_models),
        cmocka_unit_test(windowed_or_in_place),
    };
    return cmocka_run_group_tests_name("read.onnx_large", tests, set_up, tear_down);
}
