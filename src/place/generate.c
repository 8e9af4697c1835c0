/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs for benchmarks: matrix products with weights, activations between them, sums where paths join. Tensors are
 * rows of 64, 128 or 256 features; the structure is drawn by the kind. */
#include "berth/bench.h"

#include "base/rng.h"
#include "graph/build.h"

#include <assert.h>

enum { ROWS = 1024, MOST_INPUTS = 8, MOST_BRANCHES = 4 };

typedef struct generator {
    berth_build *build;
    berth_arena *arena;
    berth_rng rng;
    int32_t n_ops;
} generator;

const char *berth_generated_name(berth_generated kind) {
    static const char *const names[] = {"branches", "layers", "series-parallel", "transformer"};
    return kind >= 0 && kind < BERTH_GENERATED_COUNT ? names[kind] : "";
}

static int32_t below(generator *g, int32_t n) {
    return (int32_t)berth_rng_below(&g->rng, (uint32_t)n);
}

static int32_t add_tensor(generator *g, int64_t rows, int64_t features, uint32_t flags) {
    berth_dim *dims = berth_arena_push(g->arena, 2, sizeof *dims);
    if (!dims) return -1;
    dims[0] = (berth_dim){.min = rows, .max = rows};
    dims[1] = (berth_dim){.min = features, .max = features};
    const char *name = berth_arena_printf(g->arena, "t%d", (int)g->build->tensors.n);
    return berth_build_tensor(g->build, &(berth_tensor){
                                            .name = name,
                                            .producer = -1,
                                            .port = -1,
                                            .type = BERTH_TYPE_F32,
                                            .flags = flags,
                                            .shape = {.rank = 2, .dims = dims},
                                            .payload_bytes = flags & BERTH_TENSOR_INITIALIZER ? 4 * rows * features : 0,
                                        });
}

static int64_t features_of(const generator *g, int32_t tensor) {
    return g->build->tensors.items[tensor].shape.dims[1].min;
}

/* An operation of that type that reads these, and its output, of that size; or -1. */
static int32_t add_typed(generator *g, const char *type, const int32_t *inputs, int32_t n, int64_t rows,
                         int64_t features) {
    if (g->build->failed || g->arena->failed) return -1;
    for (int32_t i = 0; i < n; i++)
        if (inputs[i] < 0) return -1;
    int32_t output = add_tensor(g, rows, features, 0);
    const char *name = berth_arena_printf(g->arena, "op%d", (int)g->n_ops);
    int32_t op = berth_build_op(g->build, &(berth_op){.name = name, .type = type, .domain = "", .id = g->n_ops});
    if (op < 0 || output < 0 || g->arena->failed) return -1;
    g->n_ops++;
    return berth_build_ports(g->build, op, inputs, n, 0, &output, 1) == BERTH_OK ? output : -1;
}

/* A product with weights of its own. */
static int32_t add_product(generator *g, int32_t from, int64_t features) {
    if (from < 0) return -1;
    int32_t ports[2] = {from, add_tensor(g, features_of(g, from), features, BERTH_TENSOR_INITIALIZER)};
    return add_typed(g, "MatMul", ports, 2, ROWS, features);
}

/* An operation of any type that reads these: a sum of several. */
static int32_t add_op(generator *g, const int32_t *inputs, int32_t n) {
    static const char *const types[] = {"MatMul", "MatMul", "Relu", "Softmax"};
    assert(n >= 1);
    if (g->build->failed || g->arena->failed) return -1;
    const char *type = n > 1 ? "Sum" : types[below(g, 4)];
    if (type == types[0]) return add_product(g, inputs[0], (int64_t)64 << below(g, 3));
    return add_typed(g, type, inputs, n, ROWS, features_of(g, inputs[0]));
}

static int32_t add_chain(generator *g, int32_t from, int32_t n) {
    for (; n > 0 && from >= 0; n--) from = add_op(g, &from, 1);
    return from;
}

/* --- kinds ------------------------------------------------------------------------------------------------------ */

static int32_t draw_branches(generator *g, int32_t from, int32_t n) {
    while (g->n_ops < n && from >= 0) {
        int32_t n_branches = 2 + below(g, MOST_BRANCHES - 1), ends[MOST_BRANCHES];
        for (int32_t i = 0; i < n_branches; i++) {
            ends[i] = add_chain(g, from, 1 + below(g, 6));
            if (ends[i] < 0) return -1;
        }
        from = add_op(g, ends, n_branches);
    }
    return from;
}

static int32_t draw_layers(generator *g, int32_t from, int32_t n) {
    enum { WIDTH = MOST_INPUTS };
    int32_t before[WIDTH] = {from}, n_before = 1;
    while (g->n_ops < n) {
        int32_t layer[WIDTH], width = 2 + below(g, WIDTH - 1);
        for (int32_t i = 0; i < width; i++) {
            int32_t n_inputs = 1 + below(g, n_before < 3 ? n_before : 3), first = below(g, n_before), inputs[3];
            for (int32_t k = 0; k < n_inputs; k++) inputs[k] = before[(first + k) % n_before];
            layer[i] = add_op(g, inputs, n_inputs);
            if (layer[i] < 0) return -1;
        }
        n_before = width;
        for (int32_t i = 0; i < width; i++) before[i] = layer[i];
    }
    return add_op(g, before, n_before);
}

/* About n operations in series; longer pieces are forks of shorter series, so that nesting is logarithmic. */
static int32_t draw_series(generator *g, int32_t from, int32_t n) { /* NOLINT(misc-no-recursion) */
    while (n > 0 && from >= 0) {
        int32_t piece = 1 + below(g, n);
        n -= piece;
        if (piece < 4) {
            from = add_chain(g, from, piece);
            continue;
        }
        int32_t n_branches = 2 + below(g, MOST_BRANCHES - 1), ends[MOST_BRANCHES];
        for (int32_t i = 0; i < n_branches; i++) {
            ends[i] = draw_series(g, from, piece / n_branches);
            if (ends[i] < 0) return -1;
        }
        from = add_op(g, ends, n_branches);
    }
    return from;
}

/* One head: softmax(q k^T) v. */
static int32_t add_head(generator *g, int32_t from, int64_t features) {
    int32_t q = add_product(g, from, features), k = add_product(g, from, features);
    int32_t v = add_product(g, from, features), turned = add_typed(g, "Transpose", &k, 1, features, ROWS);
    int32_t scores = add_typed(g, "MatMul", (int32_t[]){q, turned}, 2, ROWS, ROWS);
    int32_t shares = add_typed(g, "Softmax", &scores, 1, ROWS, ROWS);
    return add_typed(g, "MatMul", (int32_t[]){shares, v}, 2, ROWS, features);
}

static int32_t draw_transformer(generator *g, int32_t from, int32_t n) {
    while (g->n_ops < n && from >= 0) {
        int32_t n_heads = 2 + below(g, 2), heads[3];
        int64_t features = features_of(g, from);
        int32_t calm = add_typed(g, "Softmax", &from, 1, ROWS, features);
        for (int32_t i = 0; i < n_heads; i++) heads[i] = add_head(g, calm, features / 2);
        int32_t joined = add_typed(g, "Sum", heads, n_heads, ROWS, features / 2);
        int32_t attended = add_typed(g, "Sum", (int32_t[]){from, add_product(g, joined, features)}, 2, ROWS, features);
        int32_t wide = add_product(g, attended, 2 * features);
        int32_t active = wide < 0 ? -1 : add_typed(g, "Relu", &wide, 1, ROWS, 2 * features);
        from = add_typed(g, "Sum", (int32_t[]){attended, add_product(g, active, features)}, 2, ROWS, features);
    }
    return from;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status generate(generator *g, berth_generated kind, int32_t n_ops, berth_graph **out) {
    int32_t input = add_tensor(g, ROWS, 128, BERTH_TENSOR_INPUT), output = -1;
    if (input >= 0) berth_build_input(g->build, input);
    int32_t first = input < 0 ? -1 : add_op(g, &input, 1);
    if (first >= 0) switch (kind) {
        case BERTH_GENERATED_BRANCHES: output = draw_branches(g, first, n_ops); break;
        case BERTH_GENERATED_LAYERS: output = draw_layers(g, first, n_ops); break;
        case BERTH_GENERATED_TRANSFORMER: output = draw_transformer(g, first, n_ops); break;
        default: output = draw_series(g, first, n_ops - 1);
        }
    if (output < 0) return berth_fail_nomem(g->build->ctx);
    berth_build_output(g->build, output);
    BERTH_TRY(berth_build_link(g->build));
    return berth_build_seal(g->build, out);
}

berth_status berth_graph_generate(berth_ctx *ctx, berth_graph **out, berth_generated kind, int32_t n_ops,
                                  uint64_t seed) {
    generator g = {0};
    *out = NULL;
    if (n_ops < 1 || kind < 0 || kind >= BERTH_GENERATED_COUNT)
        return berth_fail(ctx, BERTH_E_ARG, "there is no graph of kind %d with %d operations", (int)kind, (int)n_ops);
    BERTH_TRY(berth_build_new(ctx, &g.build, BERTH_FORMAT_OTHER, berth_generated_name(kind)));
    g.arena = berth_build_arena(g.build);
    berth_rng_init(&g.rng, seed, (uint64_t)kind);
    berth_status status = generate(&g, kind, n_ops, out);
    berth_build_free(g.build);
    return status;
}
