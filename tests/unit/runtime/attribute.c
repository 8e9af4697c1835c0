/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations stand behind the nodes of a rewritten model: in small cases one by one, and in random ones that
 * nothing is counted twice and no time is lost. */
#include "graphs.h"
#include "runtime/trace.h"

#include <math.h>
#include <stdio.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    berth_graph *graph, *rewritten;
    berth_trace trace;
    const berth_trace_op *ops;
    const double *extra;
    double copies;
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return 0;
}

/* Every node of the rewritten model in its order: 1 ms, 2 ms, 4 ms, ... of the host, but none of the device. */
static void trace_of(fixture *f) {
    int32_t n = berth_graph_op_count(f->rewritten);
    berth_trace_node *nodes = berth_arena_push(&f->arena, (size_t)n, sizeof *nodes);
    for (int32_t i = 0; i < n; i++) {
        const berth_op *op = berth_graph_op(f->rewritten, i);
        nodes[i] = (berth_trace_node){op->name, op->type, "CPUExecutionProvider", ldexp(1, i), NAN};
    }
    f->trace = (berth_trace){1, n, nodes};
}

static void attribute(fixture *f) {
    assert_int_equal(
        berth_trace_attribute(f->ctx, &f->arena, f->graph, f->rewritten, &f->trace, &f->ops, &f->extra, &f->copies),
        BERTH_OK);
}

static void open_case(fixture *f, const char *graph, const char *rewritten) {
    f->graph = support_graph(f->ctx, graph);
    f->rewritten = support_graph(f->ctx, rewritten);
    trace_of(f);
    attribute(f);
}

static void close_case(fixture *f) {
    berth_graph_free(f->graph);
    berth_graph_free(f->rewritten);
    berth_arena_empty(&f->arena);
}

/* The nodes of all operations, the roots marked: "0* 0 - 1*". */
static void expect_nodes(fixture *f, const char *wanted) {
    char got[256] = "";
    size_t n = 0;
    for (int32_t i = 0; i < berth_graph_op_count(f->graph); i++)
        n += f->ops[i].node < 0 ? (size_t)snprintf(got + n, sizeof got - n, "%s-", i ? " " : "")
                                : (size_t)snprintf(got + n, sizeof got - n, "%s%d%s", i ? " " : "", f->ops[i].node,
                                                   f->ops[i].is_root ? "*" : "");
    assert_string_equal(got, wanted);
}

static void nothing_was_rewritten(void **state) {
    fixture *f = *state;
    static const char text[] = "input x f32 4\nRelu x as a -> y f32 4\nTanh y as b -> z f32 4\noutput z\n";
    open_case(f, text, text);
    expect_nodes(f, "0* 1*");
    assert_true(f->ops[0].n_members == 1 && f->copies == 0 && f->extra[0] == 0);
    close_case(f);
}

static void chains_are_fused(void **state) {
    fixture *f = *state;
    open_case(f,
              "input x f32 1x3x8x8\ninitializer w f32 4x3x3x3\ninitializer b f32 4\n"
              "Conv x w as conv -> c f32 1x4x6x6\n"
              "BatchNormalization c b b b b as norm -> n f32 1x4x6x6\n"
              "Relu n as relu -> r f32 1x4x6x6\n"
              "Add r c as add -> s f32 1x4x6x6\noutput s\n",
              /* the addition reads what the convolution made, so it is computed apart */
              "input x f32 1x3x8x8\ninitializer w2 f32 4x3x3x3\ninitializer b f32 4\n"
              "com.microsoft:FusedConv x w2 b as fused_conv -> r f32 1x4x6x6\n"
              "Conv x w2 as conv -> c f32 1x4x6x6\n"
              "Add r c as add -> s f32 1x4x6x6\noutput s\n");
    expect_nodes(f, "1* 0 0* 2*");
    assert_int_equal(f->ops[1].n_members, 2);
    assert_int_equal(f->ops[0].n_members, 1);
    close_case(f);
    open_case(f,
              "input x f32 2x4\ninitializer w f32 4x4\ninitializer b f32 4\n"
              "MatMul x w as m -> y f32 2x4\nAdd y b as a -> z f32 2x4\noutput z\n",
              "input x f32 2x4\ninitializer w f32 4x4\ninitializer b f32 4\n"
              "Gemm x w b as m/MatMulAddFusion -> z f32 2x4\noutput z\n");
    expect_nodes(f, "0 0*");
    close_case(f);
}

/* A layout of its own: new names for tensors, old ones in the names of nodes; what was added goes to its reader. */
static void layouts_are_changed(void **state) {
    fixture *f = *state;
    open_case(f,
              "input x f32 1x8x8x8\ninitializer w f32 8x8x1x1\n"
              "Conv x w as c1 -> y f32 1x8x8x8\nRelu y as r -> z f32 1x8x8x8\n"
              "Conv z w as c2 -> u f32 1x8x8x8\noutput u\n",
              "input x f32 1x8x8x8\ninitializer w f32 8x8x1x1\n"
              "com.microsoft.nchwc:ReorderInput x as ReorderInput -> reorder_1 f32 1x8x8x8\n"
              "com.microsoft.nchwc:Conv reorder_1 w as z_nchwc -> reorder_2 f32 1x8x8x8\n"
              "com.microsoft.nchwc:Conv reorder_2 w as u_nchwc -> reorder_3 f32 1x8x8x8\n"
              "com.microsoft.nchwc:ReorderOutput reorder_3 as ReorderOutput -> u f32 1x8x8x8\noutput u\n");
    expect_nodes(f, "1 1* 2*");
    assert_true(f->extra[1] == 1 && f->extra[2] == 8 && f->extra[0] == 0 && f->extra[3] == 0);
    close_case(f);
}

static void names_grow(void **state) {
    fixture *f = *state;
    open_case(f,
              "input x f32 4\nSigmoid x as s -> a f32 4\nMul x a as m -> b f32 4\nTanh b as t -> c f32 4\n"
              "Relu c as q -> d f32 4\noutput d\n",
              "input x f32 4\n"
              "com.microsoft:QuickGelu x as fused -> b_token_12 f32 4\n"
              "MemcpyFromHost b_token_12 as Memcpy -> b_WebGpuExecutionProvider f32 4\n"
              "Tanh b_WebGpuExecutionProvider as t_token_3 -> c_WebGpuExecutionProvider f32 4\n"
              "MemcpyToHost c_WebGpuExecutionProvider as Memcpy_token_4 -> c f32 4\n"
              "Relu c as q_nchwc -> d f32 4\noutput d\n");
    expect_nodes(f, "0 0* 2* 4*");
    assert_true(f->copies == 2 + 8);
    for (int32_t i = 0; i < f->trace.n_nodes; i++) assert_true(f->extra[i] == 0);
    close_case(f);
}

/* Names of the model's own that only look as if something had been hung on them. */
static void names_of_the_model_go_first(void **state) {
    fixture *f = *state;
    static const char text[] = "input x f32 4\nRelu x as n -> y f32 4\nTanh y as n_token_1 -> y_token_1 f32 4\n"
                               "Relu y_token_1 as n_nchwc -> y_nchwc f32 4\n"
                               "Tanh y_nchwc as _token_ -> _nchwc f32 4\noutput _nchwc\n";
    open_case(f, text, text);
    expect_nodes(f, "0* 1* 2* 3*");
    close_case(f);
}

/* Constants run nowhere, and what is computed from them or from shapes neither; what lies before a node is part of it.
 */
static void constants_and_folded_ones(void **state) {
    fixture *f = *state;
    open_case(f,
              "input x f32 4x4\n"
              "Constant as k -> k f32 4x4\nTranspose k as kt -> kt f32 4x4\n"
              "Shape x as s -> s i64 2\nReshape x s as r -> r f32 4x4\n"
              "MatMul r kt as m -> y f32 4x4\noutput y\n",
              "input x f32 4x4\ninitializer kt f32 4x4\nMatMul x kt as m -> y f32 4x4\noutput y\n");
    expect_nodes(f, "- - - 0 0*");
    assert_int_equal(f->ops[4].n_members, 2);
    close_case(f);
}

/* Added nodes that nobody reads, or only copies: their time is that of the node whose output they take. */
static void no_time_is_lost(void **state) {
    fixture *f = *state;
    open_case(f, "input x f32 4\nRelu x as a -> y f32 4\noutput y\n",
              "input x f32 4\nRelu x as a -> y f32 4\nCast y as InsertedPrecisionFreeCast -> q f16 4\n"
              "MemcpyToHost q as Memcpy -> q_host f16 4\noutput y\n");
    expect_nodes(f, "0*");
    assert_true(f->extra[0] == 2 && f->copies == 4);
    close_case(f);
}

/* A profile whose nodes stand in another order, or that knows fewer of them, is matched by name and type. */
static void other_orders(void **state) {
    fixture *f = *state;
    static const char text[] = "input x f32 4\nRelu x as a -> y f32 4\nTanh y as b -> z f32 4\n"
                               "Sigmoid y as c -> u f32 4\noutput z\noutput u\n";
    open_case(f, text, text);
    berth_trace_node nodes[3] = {f->trace.nodes[2], f->trace.nodes[0], f->trace.nodes[1]};
    f->trace.nodes = nodes;
    attribute(f);
    expect_nodes(f, "1* 2* 0*");
    f->trace.n_nodes = 2;
    attribute(f);
    expect_nodes(f, "1* - 0*");
    f->trace.n_nodes = 0;
    attribute(f);
    expect_nodes(f, "- - -");
    close_case(f);
}

/* --- random ones ------------------------------------------------------------------------------------------------ */

enum { MOST_OPS = 24 };

typedef struct drawn {
    int32_t n;
    int32_t from[MOST_OPS][2]; /* operations, -1: the input */
    bool is_read[MOST_OPS], is_kept[MOST_OPS];
    char text[8192];
    size_t used;
} drawn;

static void put(drawn *d, const char *format, ...) {
    va_list list;
    va_start(list, format);
    d->used += (size_t)vsnprintf(d->text + d->used, sizeof d->text - d->used, format, list);
    va_end(list);
    assert_true(d->used < sizeof d->text);
}

static const char *value_name(int32_t op) {
    static char names[4][16];
    static int next;
    char *name = names[next++ % 4];
    if (op < 0) return "x";
    snprintf(name, sizeof names[0], "v%d", op);
    return name;
}

static void draw(drawn *d, uint64_t *random) {
    memset(d, 0, sizeof *d);
    d->n = 2 + (int32_t)support_below(random, MOST_OPS - 1);
    for (int32_t i = 0; i < d->n; i++)
        for (int k = 0; k < 2; k++) {
            d->from[i][k] = (int32_t)support_below(random, (uint32_t)i + 1) - 1;
            if (d->from[i][k] >= 0) d->is_read[d->from[i][k]] = true;
        }
    for (int32_t i = 0; i < d->n; i++) d->is_kept[i] = !d->is_read[i] || support_below(random, 2);
}

static void put_end(drawn *d) {
    for (int32_t i = 0; i < d->n; i++)
        if (!d->is_read[i]) put(d, "output v%d\n", i);
}

static berth_graph *original_of(berth_ctx *ctx, drawn *d) {
    d->used = 0;
    put(d, "input x f32 4\n");
    for (int32_t i = 0; i < d->n; i++)
        put(d, "Op%d %s %s as n%d -> v%d f32 4\n", i % 3, value_name(d->from[i][0]), value_name(d->from[i][1]), i, i);
    put_end(d);
    return support_graph(ctx, d->text);
}

/* What a kept operation reads once those before it are part of it. */
static void put_sources(drawn *d, int32_t op, bool *seen, const char *const *names) {
    for (int k = 0; k < 2; k++) {
        int32_t from = d->from[op][k];
        if (from < 0 || seen[from]) continue;
        seen[from] = true;
        if (d->is_kept[from])
            put(d, " %s", names[from]);
        else
            put_sources(d, from, seen, names);
    }
}

/* Kept operations, renamed as runtimes rename them, with copies and reorderings in between. */
static berth_graph *rewritten_of(berth_ctx *ctx, drawn *d, uint64_t *random) {
    static const char *const tails[] = {"", "_token_7", "_nchwc", "_WebGpuExecutionProvider"};
    static const char *const added[] = {"MemcpyToHost", "MemcpyFromHost", "ReorderInput", "Cast"};
    char names[MOST_OPS][64];
    const char *read[MOST_OPS];
    int32_t n_added = 0;
    d->used = 0;
    put(d, "input x f32 4\n");
    for (int32_t i = 0; i < d->n; i++) {
        bool seen[MOST_OPS] = {false};
        if (!d->is_kept[i]) continue;
        snprintf(names[i], sizeof names[i], "v%d%s", i, d->is_read[i] ? tails[support_below(random, 4)] : "");
        put(d, "Fused%d x", i % 3);
        put_sources(d, i, seen, read);
        put(d, " as node%d -> %s f32 4\n", i, names[i]);
        read[i] = names[i];
        if (support_below(random, 3)) continue;
        const char *type = added[support_below(random, 4)];
        put(d, "%s %s as added%d -> extra%d f32 4\n", type, names[i], n_added, n_added);
        if (support_below(random, 2)) snprintf(names[i], sizeof names[i], "extra%d", n_added);
        n_added++;
    }
    put_end(d);
    return support_graph(ctx, d->text);
}

static bool leads_to(const drawn *d, int32_t op, int32_t from) {
    for (int k = 0; k < 2; k++) {
        int32_t next = d->from[op][k];
        if (next == from || (next >= 0 && !d->is_kept[next] && leads_to(d, next, from))) return true;
    }
    return false;
}

static void check_drawn(const fixture *f, const drawn *d) {
    int32_t root[2 * MOST_OPS], members[2 * MOST_OPS] = {0};
    double given = f->copies, all = 0;
    for (int32_t i = 0; i < f->trace.n_nodes; i++) root[i] = -1;
    for (int32_t i = 0; i < d->n; i++) {
        int32_t node = f->ops[i].node;
        assert_true(node >= 0 && node < f->trace.n_nodes && f->ops[i].is_root == d->is_kept[i]);
        members[node]++;
        if (!f->ops[i].is_root) continue;
        assert_int_equal(root[node], -1);
        root[node] = i;
        char name[16];
        snprintf(name, sizeof name, "node%d", i);
        assert_string_equal(f->trace.nodes[node].name, name);
    }
    for (int32_t i = 0; i < d->n; i++) {
        int32_t to = root[f->ops[i].node];
        assert_true(to >= 0 && (to == i || leads_to(d, to, i)));
        assert_int_equal(f->ops[i].n_members, members[f->ops[i].node]);
    }
    for (int32_t i = 0; i < f->trace.n_nodes; i++) {
        all += f->trace.nodes[i].host_ms;
        if (root[i] >= 0) given += f->trace.nodes[i].host_ms + f->extra[i];
        if (root[i] < 0) assert_true(f->extra[i] == 0);
    }
    assert_true(given == all);
}

static void every_operation_once(void **state) {
    fixture *f = *state;
    uint64_t random = 17;
    for (int i = 0; i < support_cases(500); i++) {
        drawn d;
        draw(&d, &random);
        f->graph = original_of(f->ctx, &d);
        f->rewritten = rewritten_of(f->ctx, &d, &random);
        trace_of(f);
        attribute(f);
        check_drawn(f, &d);
        close_case(f);
    }
}

static berth_status attribute_once(berth_ctx *ctx, void *user) {
    const fixture *f = user;
    berth_arena arena;
    const berth_trace_op *ops;
    const double *extra;
    double copies;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_trace_attribute(ctx, &arena, f->graph, f->rewritten, &f->trace, &ops, &extra, &copies);
    berth_arena_deinit(&arena);
    return status;
}

static void survives_failing_allocations(void **state) {
    fixture *f = *state;
    static const char text[] = "input x f32 4\nRelu x as a -> y f32 4\nTanh y as b -> z f32 4\noutput z\n";
    open_case(f, text, text);
    assert_true(support_ladder(attribute_once, f, 1) > 2);
    close_case(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_was_rewritten),
        cmocka_unit_test(chains_are_fused),
        cmocka_unit_test(layouts_are_changed),
        cmocka_unit_test(names_grow),
        cmocka_unit_test(names_of_the_model_go_first),
        cmocka_unit_test(constants_and_folded_ones),
        cmocka_unit_test(no_time_is_lost),
        cmocka_unit_test(other_orders),
        cmocka_unit_test(every_operation_once),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
