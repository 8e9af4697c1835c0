/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx_corpus: ONNX files of many producers, against the counts of their manifest. */
#include "support.h"

#include <stdio.h>

enum { C_FILE, C_NODES = 5, C_EDGES, C_PAIRS, C_ALL_NODES, C_BODIES, C_INITIALIZERS = 12, C_EXTERNAL, COLUMNS };

/* Files of malformed/ that are graphs all the same, and why. All others there must be refused. */
static const struct {
    const char *file, *why;
} valid[] = {
    {"malformed/ov_supported_basic_reverse_fields_order.onnx", "protobuf lets fields stand in any order"},
    {"malformed/ov_supported_more_fields.onnx", "more optional fields, all of them known"},
    {"malformed/ov_supported_varint_on_two_bytes.onnx", "a length of two bytes"},
    {"malformed/bad_names.onnx", "names with ':' and '/' are names; no opset is imported"},
    {"malformed/invalid_dim_param_value_repetition.onnx",
     "one symbol for two dimensions; ONNX Runtime's own test needs "
     "values that contradict it at run time"},
    {"malformed/test_arbitrary_external_file.onnx", "data in a file outside its folder, which is never opened"},
    {"malformed/stft_negative_frame_length.onnx", "the graph is sound; the value of a constant is not"},
    {"malformed/model_with_invalid_ort_config_json.onnx", "only an annotation is broken"},
};

static bool is_valid(const char *file) {
    if (strncmp(file, "malformed/", 10) != 0) return true;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        if (strcmp(file, valid[i].file) == 0) return true;
    return false;
}

static void check_counts(const berth_graph *graph, char **columns) {
    int64_t all_nodes = berth_graph_op_count(graph), bodies = 0, initializers = 0, external = 0;
    for (int32_t i = 0; i < berth_graph_op_count(graph); i++) {
        all_nodes += berth_graph_op(graph, i)->n_nested_ops;
        bodies += berth_graph_op(graph, i)->n_bodies;
    }
    for (int32_t i = 0; i < berth_graph_tensor_count(graph); i++) {
        uint32_t flags = berth_graph_tensor(graph, i)->flags;
        initializers += (flags & BERTH_TENSOR_INITIALIZER) != 0;
        external += (flags & BERTH_TENSOR_INITIALIZER) && (flags & BERTH_TENSOR_EXTERNAL);
    }
    const struct {
        int column;
        int64_t got;
    } counts[] = {
        {C_NODES, berth_graph_op_count(graph)},
        {C_EDGES, berth_graph_edge_count(graph)},
        {C_PAIRS, berth_graph_pair_count(graph)},
        {C_ALL_NODES, all_nodes},
        {C_BODIES, bodies},
        {C_INITIALIZERS, initializers},
        {C_EXTERNAL, external},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].got != strtoll(columns[counts[i].column], NULL, 10))
            fail_msg("%s: column %d: %lld instead of %s", columns[C_FILE], counts[i].column, (long long)counts[i].got,
                     columns[counts[i].column]);
}

static void check_row(berth_ctx *ctx, char **columns) {
    char path[300];
    snprintf(path, sizeof path, "data/onnx/%s", columns[C_FILE]);
    const char *file = support_shared(path);
    assert_non_null(file);
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read(ctx, &graph, file, NULL);
    if (is_valid(columns[C_FILE])) {
        if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
        check_counts(graph, columns);
    } else {
        assert_null(graph);
        if (status != BERTH_E_FORMAT || !strstr(berth_ctx_message(ctx), ": byte "))
            fail_msg("%s: status %d, %s", columns[C_FILE], (int)status, berth_ctx_message(ctx));
    }
    berth_graph_free(graph);
}

static void manifest(void **state) {
    (void)state;
    const char *path = support_shared("data/onnx/MANIFEST.tsv");
    if (!path) support_skip("the ONNX corpus is not here");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char line[4096];
    int n_rows = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* the header */
    while (fgets(line, sizeof line, file)) {
        char *columns[COLUMNS], *rest = line;
        for (int i = 0; i < COLUMNS; i++) {
            columns[i] = rest;
            rest = strchr(rest, '\t');
            assert_non_null(rest);
            *rest++ = 0;
        }
        check_row(ctx, columns);
        n_rows++;
    }
    fclose(file);
    berth_ctx_free(ctx);
    assert_true(n_rows > 30);
}

static void bundled_models(void **state) {
    (void)state;
    static const struct {
        const char *file;
        int32_t ops, edges;
    } models[] = {
        {"models/bert_base.onnx", 683, 762}, {"models/densenet121.onnx", 617, 1151},
        {"models/googlenet.onnx", 179, 205}, {"models/inception_v3.onnx", 298, 332},
        {"models/resnet50.onnx", 169, 184},  {"models/mobilenet_v3_large.onnx", 185, 202},
        {"models/vit_base.onnx", 683, 758},
    };
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        berth_graph *graph = support_read(ctx, support_source(models[i].file));
        assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_ONNX);
        assert_int_equal(berth_graph_op_count(graph), models[i].ops);
        assert_int_equal(berth_graph_edge_count(graph), models[i].edges);
        assert_int_equal(berth_graph_version(graph), 17);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifest),
        cmocka_unit_test(bundled_models),
    };
    return cmocka_run_group_tests_name("read.onnx_corpus", tests, NULL, NULL);
}
