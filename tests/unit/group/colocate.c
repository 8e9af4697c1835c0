/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of co-location against naive twins written from their descriptions, on random graphs; hand-made cases; the
 * published groups of ResNet-50 are checked where the readers are (tests/unit/read). */
#include "graphs.h"

#include "graph/graph.h"

static berth_groups *build(berth_ctx *ctx, const berth_graph *graph, berth_group_rule rule) {
    berth_groups *groups = NULL;
    if (berth_groups_build(ctx, &groups, graph, rule) != BERTH_OK || berth_groups_check(ctx, groups, graph) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return groups;
}

/* Adjacency as the rules see it: any number of edges is one. */
static bool *adjacency(const berth_graph *graph) {
    size_t n = (size_t)graph->n_ops;
    bool *adjacent = calloc(n * n + 1, sizeof *adjacent);
    for (int32_t e = 0; e < graph->n_edges + graph->n_captures; e++)
        adjacent[(size_t)graph->edges[e].from * n + (size_t)graph->edges[e].to] = true;
    return adjacent;
}

static int32_t count_parents(const berth_graph *graph, const bool *adjacent, int32_t op, int32_t *parent) {
    int32_t n = 0;
    for (int32_t u = 0; u < graph->n_ops; u++)
        if (adjacent[(size_t)u * (size_t)graph->n_ops + (size_t)op]) n++, *parent = u;
    return n;
}

static int32_t count_children(const berth_graph *graph, const bool *adjacent, int32_t op) {
    int32_t n = 0;
    for (int32_t v = 0; v < graph->n_ops; v++) n += adjacent[(size_t)op * (size_t)graph->n_ops + (size_t)v];
    return n;
}

/* HSDAG.md 2.2 word for word: a list of groups; a group that gets a member moves to the end of the list. */
static int32_t naive_groups(const berth_graph *graph, berth_group_rule rule, int32_t *group_of) {
    int32_t n_list = 0, n_made = 0;
    int32_t *list = malloc(((size_t)graph->n_ops + 1) * sizeof *list);
    bool *adjacent = adjacency(graph);
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i], parent = -1;
        bool joins = count_parents(graph, adjacent, op, &parent) == 1;
        if (rule == BERTH_GROUP_PAPER) joins = joins && count_children(graph, adjacent, parent) == 1;
        group_of[op] = joins ? group_of[parent] : n_made++;
        int32_t kept = 0;
        for (int32_t k = 0; k < n_list; k++)
            if (list[k] != group_of[op]) list[kept++] = list[k];
        list[kept] = group_of[op];
        n_list = kept + 1;
    }
    int32_t *position = malloc(((size_t)graph->n_ops + 1) * sizeof *position);
    for (int32_t k = 0; k < n_list; k++) position[list[k]] = k;
    for (int32_t op = 0; op < graph->n_ops; op++) group_of[op] = position[group_of[op]];
    free(position);
    free(adjacent);
    free(list);
    return n_made;
}

/* The quotient by brute force: every pair of groups, every pair of operations. */
static void compare_quotient(const berth_graph *graph, const berth_groups *groups) {
    bool *adjacent = adjacency(graph);
    int32_t next = 0;
    for (int32_t g = 0; g < groups->n_groups; g++)
        for (int32_t h = 0; h < groups->n_groups; h++) {
            bool linked = false;
            for (int32_t u = 0; u < graph->n_ops; u++)
                for (int32_t v = 0; v < graph->n_ops; v++)
                    linked |= groups->group_of[u] == g && groups->group_of[v] == h && g != h &&
                              adjacent[(size_t)u * (size_t)graph->n_ops + (size_t)v];
            if (!linked) continue;
            assert_true(next < groups->n_edges);
            assert_int_equal(groups->edges[next].from, g);
            assert_int_equal(groups->edges[next].to, h);
            next++;
        }
    assert_int_equal(next, groups->n_edges);
    free(adjacent);
}

static void random_graphs_agree_with_twins(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    uint64_t state = 1;
    int32_t merged = 0;
    for (int round = 0; round < support_cases(3000); round++) {
        support_dag dag = {.n_ops = (int32_t)support_below(&state, 40),
                           .max_inputs = 1 + (int32_t)support_below(&state, 4),
                           .reach = (int32_t)support_below(&state, 6),
                           .constants = 30,
                           .shuffled = round % 2,
                           .captures = round % 3 == 0};
        berth_graph *graph = support_random_dag(ctx, &state, &dag);
        if (berth_graph_check(ctx, graph) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
        for (int rule = BERTH_GROUP_PAPER; rule <= BERTH_GROUP_CODE; rule++) {
            berth_groups *groups = build(ctx, graph, (berth_group_rule)rule);
            int32_t expected[40];
            assert_int_equal(groups->n_groups, naive_groups(graph, (berth_group_rule)rule, expected));
            for (int32_t op = 0; op < graph->n_ops; op++) assert_int_equal(groups->group_of[op], expected[op]);
            if (round % 10 == 0) compare_quotient(graph, groups);
            merged += graph->n_ops - groups->n_groups;
            berth_groups_free(groups);
        }
        berth_graph_free(graph);
    }
    assert_true(merged > 3 * support_cases(3000)); /* the graphs do exercise the rules */
    berth_ctx_free(ctx);
}

/* a -> b -> c, a -> d: the code's rule makes one tree of it, the paper's two chains and the root. */
static void tree_and_chains(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "A -> a f32 1\n"
                                            "B a -> b f32 1\n"
                                            "C b b -> c f32 1\n"
                                            "D a -> d f32 1\n"
                                            "output c\noutput d\n");
    berth_groups *paper = build(ctx, graph, BERTH_GROUP_PAPER), *code = build(ctx, graph, BERTH_GROUP_CODE);
    assert_int_equal(code->n_groups, 1);
    assert_int_equal(code->n_edges, 0);
    assert_int_equal(paper->n_groups, 3);
    assert_int_equal(paper->group_of[1], paper->group_of[2]); /* parallel edges are one parent and one child */
    assert_int_equal(paper->group_of[0], 0);
    assert_int_equal(paper->group_of[3], 1); /* D stands before C in the order */
    assert_int_equal(paper->group_of[1], 2);
    assert_int_equal(paper->n_edges, 2);
    berth_groups_free(paper);
    berth_groups_free(code);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static void the_empty_graph_and_no_rule(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "");
    for (int rule = BERTH_GROUP_PAPER; rule <= BERTH_GROUP_FUSED; rule++) {
        berth_groups *groups = build(ctx, graph, (berth_group_rule)rule);
        assert_int_equal(groups->n_groups, 0);
        assert_int_equal(groups->n_edges, 0);
        berth_groups_free(groups);
    }
    berth_groups *none = NULL;
    assert_int_equal(berth_groups_build(ctx, &none, graph, (berth_group_rule)3), BERTH_E_ARG);
    assert_null(none);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

/* The validator must notice: each case damages one thing. */
static void the_validator_notices(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "A -> a f32 1\nA -> b f32 1\nB a b -> c f32 1\nC c b -> d f32 1\n");
    for (int damage = 0; damage < 9; damage++) {
        berth_groups *groups = build(ctx, graph, BERTH_GROUP_PAPER);
        assert_int_equal(groups->n_groups, 4);
        assert_int_equal(groups->n_edges, 4);
        int32_t *group_of = (int32_t *)groups->group_of, *members = (int32_t *)groups->members;
        int32_t *start = (int32_t *)groups->member_start;
        berth_group_edge *edges = (berth_group_edge *)groups->edges;
        switch (damage) {
        case 0: group_of[0] = 1; break;
        case 1: members[0] = 1; break;
        case 2: start[1] = 0; break;
        case 3: groups->n_groups = 3; break;
        case 4: edges[0].to = 3; break; /* a edge that stands for nothing, and one that is missing */
        case 5: groups->n_edges--; break;
        case 6: edges[1] = edges[0]; break;
        case 7: edges[3].to = 7; break;
        case 8: groups->n_ops++; break;
        }
        assert_int_equal(berth_groups_check(ctx, groups, graph), BERTH_E_FORMAT);
        berth_groups_free(groups);
    }
    /* A partition whose quotient has a cycle, written by hand: {A, B'} and {B} with A -> B -> B'. */
    berth_graph *chain = support_graph(ctx, "A -> a f32 1\nB a -> b f32 1\nC b -> c f32 1\n");
    berth_groups cyclic = {.rule = BERTH_GROUP_PAPER,
                           .n_ops = 3,
                           .n_groups = 2,
                           .group_of = (int32_t[]){1, 0, 1},
                           .member_start = (int32_t[]){0, 1, 3},
                           .members = (int32_t[]){1, 0, 2},
                           .n_edges = 2,
                           .edges = (berth_group_edge[]){{0, 1}, {1, 0}}};
    assert_int_equal(berth_groups_check(ctx, &cyclic, chain), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(ctx), "the group graph has a cycle");
    berth_graph_free(chain);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static berth_status ladder_run(berth_ctx *ctx, void *user) {
    for (int rule = BERTH_GROUP_PAPER; rule <= BERTH_GROUP_FUSED; rule++) {
        berth_groups *groups = NULL;
        berth_status status = berth_groups_build(ctx, &groups, user, (berth_group_rule)rule);
        if (status == BERTH_OK) status = berth_groups_check(ctx, groups, user);
        berth_groups_free(groups);
        if (status != BERTH_OK) return status;
    }
    return BERTH_OK;
}

static void allocation_failures_are_clean(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    uint64_t state = 5;
    static const char *const types[] = {"Conv", "Add", "Relu", "Sigmoid", "Mul", "DequantizeLinear", NULL};
    berth_graph *graph = support_random_dag(
        ctx, &state, &(support_dag){.n_ops = 600, .max_inputs = 2, .reach = 5, .constants = 50, .types = types});
    assert_true(support_ladder(ladder_run, graph, 1) > 20);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_agree_with_twins), cmocka_unit_test(tree_and_chains),
        cmocka_unit_test(the_empty_graph_and_no_rule),    cmocka_unit_test(the_validator_notices),
        cmocka_unit_test(allocation_failures_are_clean),
    };
    return cmocka_run_group_tests_name("group.colocate", tests, NULL, NULL);
}
