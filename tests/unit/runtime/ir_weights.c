/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up weights of IRs: whole numbers that make the shapes of the file, floats that are finite. */
#include "runtime/ir_weights.h"

#include "support.h"

#include "base/arena.h"
#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct made {
    berth_ctx *ctx;
    berth_arena arena;
    berth_graph *graph;
    const char *bytes;
    size_t size;
} made;

static void make(made *m, const char *model) {
    char path[] = "/tmp/berth-weights-XXXXXX";
    *m = (made){0};
    assert_true(close(mkstemp(path)) == 0);
    assert_int_equal(berth_ctx_new(&m->ctx, NULL), BERTH_OK);
    berth_arena_init(&m->arena, berth_ctx_allocator(m->ctx));
    m->graph = support_read(m->ctx, support_source(model));
    assert_int_equal(berth_ir_weights_make(m->ctx, m->graph, path, 3), BERTH_OK);
    assert_int_equal(berth_file_read(m->ctx, &m->arena, path, (size_t)1 << 30, &m->bytes, &m->size), BERTH_OK);
    unlink(path);
}

static void drop(made *m) {
    berth_graph_free(m->graph);
    berth_arena_deinit(&m->arena);
    berth_ctx_free(m->ctx);
}

static int64_t number_of(const berth_op *op, const char *name) {
    const berth_attribute *attribute = berth_op_attribute(op, name);
    assert_non_null(attribute);
    return strtoll(attribute->string, NULL, 10);
}

/* The whole numbers that an operation reads at a port, -1: not a constant. */
static int read_numbers(const made *m, const berth_op *op, int32_t port, int64_t *out) {
    const berth_tensor *tensor = berth_graph_tensor(m->graph, op->inputs[port]);
    const berth_op *constant = tensor->producer < 0 ? NULL : berth_graph_op(m->graph, tensor->producer);
    if (!constant || strcmp(constant->type, "Const") != 0) return -1;
    int width = berth_type_bits(tensor->type) / 8;
    int n = (int)berth_shape_elements(&tensor->shape);
    const char *at = m->bytes + number_of(constant, "offset");
    for (int i = 0; i < n && i < 8; i++) {
        int32_t small;
        memcpy(&small, at + i * width, sizeof small);
        out[i] = small;
        if (width == 8) memcpy(&out[i], at + i * width, sizeof *out);
    }
    return n;
}

static void check_reshape(const made *m, const berth_op *op) {
    int64_t numbers[8];
    const berth_shape *out = &berth_graph_tensor(m->graph, op->outputs[0])->shape;
    int n = read_numbers(m, op, 1, numbers);
    if (n < 0) return;
    assert_int_equal(n, out->rank);
    for (int i = 0; i < n; i++) assert_true(numbers[i] == out->dims[i].min);
}

static void check_transpose(const made *m, const berth_op *op) {
    int64_t order[8];
    const berth_shape *in = &berth_graph_tensor(m->graph, op->inputs[0])->shape;
    const berth_shape *out = &berth_graph_tensor(m->graph, op->outputs[0])->shape;
    unsigned seen = 0;
    int n = read_numbers(m, op, 1, order);
    if (n < 0) return;
    for (int i = 0; i < n; i++) {
        assert_true(order[i] >= 0 && order[i] < n && in->dims[order[i]].min == out->dims[i].min);
        seen |= 1u << order[i];
    }
    assert_int_equal(seen, (1u << n) - 1);
}

static void numbers_make_the_shapes(void **state) {
    static const char *const models[] = {"models/ir/resnet50.xml", "models/ir/inception_v3.xml",
                                         "models/ir/bert_base.xml"};
    int n_reshapes = 0, n_transposes = 0;
    (void)state;
    for (int k = 0; k < (support_is_optimised() ? 3 : 1); k++) {
        made m;
        size_t end = 0;
        make(&m, models[k]);
        for (int32_t i = 0; i < berth_graph_op_count(m.graph); i++) {
            const berth_op *op = berth_graph_op(m.graph, i);
            int64_t axes[8];
            if (strcmp(op->type, "Const") == 0) {
                size_t own = (size_t)(number_of(op, "offset") + number_of(op, "size"));
                if (own > end) end = own;
            }
            if (strcmp(op->type, "Reshape") == 0) check_reshape(&m, op), n_reshapes++;
            if (strcmp(op->type, "Transpose") == 0) check_transpose(&m, op), n_transposes++;
            if (strcmp(op->type, "ReduceMean") == 0 && read_numbers(&m, op, 1, axes) == 2)
                assert_true(axes[0] == 2 && axes[1] == 3); /* as the exporter has them */
        }
        assert_true(m.size == end);
        drop(&m);
    }
    assert_true(n_reshapes > 0 && (n_transposes > 0 || !support_is_optimised()));
}

/* Halves: no infinities, no NaN, of the size of a convolution's weights. */
static void floats_are_finite(void **state) {
    made m;
    (void)state;
    make(&m, "models/ir/resnet50.xml");
    for (int32_t i = 0; i < berth_graph_op_count(m.graph); i++) {
        const berth_op *op = berth_graph_op(m.graph, i);
        if (strcmp(op->type, "Const") != 0) continue;
        const berth_tensor *tensor = berth_graph_tensor(m.graph, op->outputs[0]);
        if (tensor->type != BERTH_TYPE_F16) continue;
        const char *at = m.bytes + number_of(op, "offset");
        int n_zero = 0;
        for (int64_t k = 0; k < number_of(op, "size") / 2; k++) {
            uint16_t half;
            memcpy(&half, at + 2 * k, sizeof half);
            assert_true((half >> 10 & 31) < 17); /* below 4 */
            n_zero += (half & 0x7fff) == 0;
        }
        if (number_of(op, "size") > 1000) assert_true(n_zero < number_of(op, "size") / 20);
    }
    drop(&m);
}

static berth_status make_once(berth_ctx *ctx, void *user) {
    berth_graph *graph = NULL;
    BERTH_TRY(berth_graph_read(ctx, &graph, support_source("tests/golden/cnn.xml"), NULL));
    berth_status status = berth_ir_weights_make(ctx, graph, user, 1);
    berth_graph_free(graph);
    return status;
}

static void survives_failing_allocations(void **state) {
    char path[] = "/tmp/berth-weights-XXXXXX";
    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    assert_true(support_ladder(make_once, path, 1) > 3);
    unlink(path);
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(make_once(ctx, "/nowhere/weights.bin"), BERTH_E_IO);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_make_the_shapes), cmocka_unit_test(floats_are_finite),
                                       cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
