/* SPDX-License-Identifier: Apache-2.0 */
/* Views: the published counts and numbers of groups; that nodes obey units and masks on random problems; nodes without
 * a graph. */
#include "graphs.h"
#include "models.h"

#include "base/file.h"
#include "base/json.h"
#include "graph/graph.h"

/* Groups and edges of shared/HSDAG.md 2.2. */
static void counts_of_the_models(void **state) {
    static const struct {
        const char *path;
        berth_view_rule rule;
        int32_t nodes, edges;
    } cases[] = {
        {"models/ir/resnet50.xml", BERTH_VIEW_CODE, 237, 252},
        {"models/ir/resnet50.xml", BERTH_VIEW_PAPER, 237, 252},
        {"models/ir/inception_v3.xml", BERTH_VIEW_CODE, 424, 460},
        {"models/ir/inception_v3.xml", BERTH_VIEW_PAPER, 435, 471},
        {"models/ir/bert_base.xml", BERTH_VIEW_CODE, 755, 813},
        {"models/ir/bert_base.xml", BERTH_VIEW_PAPER, 756, 814},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_model model = support_model_open(*state, cases[i].path, "paper");
        berth_view *view = support_view(*state, model.problem, cases[i].rule);
        assert_int_equal(view->n_nodes, cases[i].nodes);
        assert_int_equal(view->n_edges, cases[i].edges);
        assert_int_equal(view->links.n_pairs, 2 * cases[i].edges);
        assert_int_equal(view->op_start[view->n_nodes], berth_graph_op_count(model.graph));
        berth_view_free(view);
        support_model_close(&model);
    }
}

/* The node of every operation of ResNet-50, as the published code numbers them. */
static void numbers_of_the_code(void **state) {
    const char *path = support_source("tests/fixtures/hsdag/resnet50.groups.json"), *bytes = NULL;
    const berth_json *root = NULL;
    size_t size = 0;
    int32_t node_of[1000], n = 0;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_int_equal(berth_file_read(*state, &arena, path, 1 << 20, &bytes, &size), BERTH_OK);
    assert_int_equal(berth_json_parse(*state, &arena, path, bytes, size, 16, &root), BERTH_OK);
    support_model model = support_model_open(*state, "models/ir/resnet50.xml", "paper");
    berth_view *view = support_view(*state, model.problem, BERTH_VIEW_CODE);
    for (int32_t node = 0; node < view->n_nodes; node++)
        for (int32_t i = view->op_start[node]; i < view->op_start[node + 1]; i++) node_of[view->ops[i]] = node;
    const berth_json *groups = berth_json_get(root, "group_of_layer");
    for (const berth_json *item = groups ? groups->child : NULL; item; item = item->next, n++)
        for (int32_t op = 0; op < model.graph->n_ops; op++)
            if (model.graph->ops[op].id == strtol(item->key, NULL, 10)) assert_int_equal(node_of[op], item->integer);
    assert_int_equal(n, 396);
    berth_view_free(view);
    support_model_close(&model);
    berth_arena_deinit(&arena);
}

/* Everything that a view promises. */
static void check_view(const berth_view *view, const berth_problem *problem, uint64_t *seed) {
    const berth_costs *c = view->costs;
    int32_t n_listed = 0;
    for (int32_t node = 0; node < view->n_nodes; node++) {
        uint64_t shared = UINT64_MAX;
        for (int32_t i = view->task_start[node]; i < view->task_start[node + 1]; i++, n_listed++) {
            assert_int_equal(view->node_of[view->tasks[i]], node);
            assert_true(i == view->task_start[node] || view->tasks[i - 1] < view->tasks[i]);
            shared &= problem->task_allowed[view->tasks[i]];
        }
        assert_true(view->allowed[node] != 0);
        assert_true((view->allowed[node] & ~shared) == 0);
    }
    assert_int_equal(n_listed, c->n_tasks);
    for (int32_t a = 0; a < c->n_tasks; a++)
        for (int32_t b = 0; b < a; b++)
            if (problem->unit_of[a] == problem->unit_of[b]) assert_int_equal(view->node_of[a], view->node_of[b]);
    /* Every producer and reader in different nodes are linked, and any devices of nodes obey the units' masks. */
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            int32_t from = view->node_of[c->preds[i]], to = view->node_of[task];
            bool found = from == to;
            for (int32_t e = 0; e < view->n_edges; e++) found |= view->edge_from[e] == from && view->edge_to[e] == to;
            assert_true(found);
        }
    int32_t node_device[300], device[300];
    for (int32_t node = 0; node < view->n_nodes; node++) do
            node_device[node] = (int32_t)support_below(seed, (uint32_t)c->n_devices);
        while (!(view->allowed[node] >> node_device[node] & 1));
    berth_view_spread(view, node_device, device);
    for (int32_t task = 0; task < c->n_tasks; task++)
        assert_true(problem->allowed[problem->unit_of[task]] >> device[task] & 1);
}

static void check_edges(const berth_view *view) {
    int32_t in[300] = {0}, out[300] = {0};
    for (int32_t e = 0; e < view->n_edges; e++) {
        int32_t from = view->edge_from[e], to = view->edge_to[e];
        assert_true(from != to);
        if (e > 0)
            assert_true(view->edge_from[e - 1] < from || (view->edge_from[e - 1] == from && view->edge_to[e - 1] < to));
        out[from]++;
        in[to]++;
    }
    assert_memory_equal(in, view->in_degree, (size_t)view->n_nodes * sizeof *in);
    assert_memory_equal(out, view->out_degree, (size_t)view->n_nodes * sizeof *out);
}

/* Random graphs with operations that some devices cannot run, and with some that must stay together. */
static void random_graphs_with_limits(void **state) {
    static const char *const types[] = {"Conv", "Relu", "Add", "MatMul", "Concat", NULL};
    const berth_rule bans[] = {{"Conv", "cpu"}, {"Relu", "gpu.0"}, {"MatMul", "gpu.0"}, {"MatMul", "gpu.1"}};
    const berth_rule together[] = {{"Concat", NULL}, {"Add", NULL}};
    uint64_t seed = 7;
    int n_plain = 0, n_split = 0, n_joined = 0;
    for (int i = 0; i < support_cases(400); i++) {
        support_dag dag = {.n_ops = 2 + (int32_t)support_below(&seed, 60),
                           .max_inputs = 3,
                           .reach = 6,
                           .constants = 40,
                           .types = types,
                           .shuffled = i % 2};
        berth_limits limits = {.bans = bans,
                               .n_bans = (int32_t)support_below(&seed, 5),
                               .together = together,
                               .n_together = (int32_t)support_below(&seed, 3)};
        support_model model;
        if (!support_model_try(*state, &model, support_random_dag(*state, &seed, &dag), "cpu,gpu,gpu", &limits)) {
            support_model_close(&model);
            continue;
        }
        for (int rule = BERTH_VIEW_PAPER; rule <= BERTH_VIEW_NONE; rule++) {
            berth_view *view = support_view(*state, model.problem, (berth_view_rule)rule);
            check_view(view, model.problem, &seed);
            check_edges(view);
            if (rule < BERTH_VIEW_NONE) {
                berth_groups *groups = NULL;
                assert_int_equal(berth_groups_build(*state, &groups, model.graph, (berth_group_rule)rule), BERTH_OK);
                n_plain += view->n_nodes == groups->n_groups;
                n_split += view->n_nodes > groups->n_groups;
                n_joined += view->n_nodes < groups->n_groups;
                if (limits.n_bans == 0 && limits.n_together == 0) {
                    assert_int_equal(view->n_nodes, groups->n_groups);
                    assert_int_equal(view->n_edges, groups->n_edges);
                    for (int32_t e = 0; e < groups->n_edges; e++)
                        assert_true(groups->edges[e].from == view->edge_from[e] &&
                                    groups->edges[e].to == view->edge_to[e]);
                    for (int32_t node = 0; node < view->n_nodes; node++)
                        for (int32_t k = view->op_start[node]; k < view->op_start[node + 1]; k++)
                            assert_int_equal(groups->group_of[view->ops[k]], node);
                }
                berth_groups_free(groups);
            } else {
                assert_int_equal(view->n_nodes, model.problem->n_units);
            }
            berth_view_free(view);
        }
        support_model_close(&model);
    }
    if (!support_is_slow()) assert_true(n_plain > 0 && n_split > 0 && n_joined > 0);
}

static void problems_without_a_graph(void **state) {
    uint64_t seed = 8;
    for (int i = 0; i < support_cases(300); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 30, 4);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_view *view = support_view(*state, problem, (berth_view_rule)(i % 4));
        assert_int_equal(view->n_nodes, problem->n_units);
        assert_null(view->ops);
        check_view(view, problem, &seed);
        check_edges(view);
        berth_view_free(view);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static void masks_of_clusters(void **state) {
    support_costs how = {.n_tasks = 12, .n_devices = 4, .density = 20, .model = BERTH_MODEL_SERIAL, .bans = 40};
    uint64_t seed = 9;
    berth_costs *costs = support_costs_new(*state, &seed, &how);
    berth_problem *problem = support_problem(*state, costs);
    berth_view *view = support_view(*state, problem, BERTH_VIEW_NONE);
    int32_t cluster_of[12];
    uint64_t mask[3], want[3] = {15, 15, 15};
    for (int32_t node = 0; node < view->n_nodes; node++) {
        cluster_of[node] = node % 2 * 2; /* nothing is in cluster 1 */
        want[cluster_of[node]] &= view->allowed[node];
    }
    berth_view_masks(view, cluster_of, 3, mask);
    assert_memory_equal(mask, want, sizeof mask);
    berth_view_free(view);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

static berth_status climb(berth_ctx *ctx, void *user) {
    const support_model *model = user;
    for (int rule = BERTH_VIEW_PAPER; rule <= BERTH_VIEW_NONE; rule++) {
        berth_view_source source = support_view_source(model->problem);
        berth_view *view = NULL;
        BERTH_TRY(berth_view_new(ctx, &view, &source, (berth_view_rule)rule));
        berth_view_free(view);
    }
    return BERTH_OK;
}

static void runs_out_of_memory_cleanly(void **state) {
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    support_ladder(climb, &model, 1);
    support_model_close(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_of_the_models, support_open, support_close),
        cmocka_unit_test_setup_teardown(numbers_of_the_code, support_open, support_close),
        cmocka_unit_test_setup_teardown(random_graphs_with_limits, support_open, support_close),
        cmocka_unit_test_setup_teardown(problems_without_a_graph, support_open, support_close),
        cmocka_unit_test_setup_teardown(masks_of_clusters, support_open, support_close),
        cmocka_unit_test_setup_teardown(runs_out_of_memory_cleanly, support_open, support_close),
    };
    return cmocka_run_group_tests_name("policy.view", tests, NULL, NULL);
}
