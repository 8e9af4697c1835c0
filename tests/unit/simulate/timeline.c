/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: events against the simulator and against what each model allows, placements of operations, and the
 * sentence for each thing that can be in the way. */
#include "problems.h"

#include "graph/graph.h"
#include "naive_sim.h"

#include <math.h>
#include <stdio.h>

static berth_ctx *new_ctx(void) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    return ctx;
}

static berth_placement *new_placement(berth_ctx *ctx, int32_t n, bool with_priority) {
    berth_placement *placement = NULL;
    assert_int_equal(berth_placement_new(ctx, &placement, n, with_priority), BERTH_OK);
    return placement;
}

/* Events sorted; on each device but the host under `contiguous` one operation at a time; the last end the makespan. */
static void check_events(const berth_costs *c, const berth_timeline *t, const naive_result *twin) {
    int32_t counts[3] = {0};
    double last = 0, free_at[NAIVE_MAX_DEVICES] = {0};
    assert_int_equal(t->n_events, c->n_tasks + twin->n_copies + twin->n_pieces);
    for (int32_t i = 0; i < t->n_events; i++) {
        const berth_event *e = &t->events[i];
        counts[e->kind]++;
        last = fmax(last, e->end_ms);
        assert_true(e->start_ms >= 0 && e->start_ms <= e->end_ms);
        if (i > 0) assert_true(e[-1].start_ms <= e->start_ms);
        if (e->kind == BERTH_EVENT_COPY) {
            assert_true(e->op == -1 && e->from != e->to);
            continue;
        }
        assert_true(e->tensor == -1 && e->from == e->to);
        if (c->model == BERTH_MODEL_CONTIGUOUS && e->to == c->host) continue;
        assert_true(e->start_ms >= free_at[e->to]);
        free_at[e->to] = e->end_ms;
    }
    assert_int_equal(counts[BERTH_EVENT_RUN], c->n_tasks);
    assert_int_equal(counts[BERTH_EVENT_COPY], twin->n_copies);
    if (c->objective == BERTH_OBJECTIVE_LATENCY) assert_true(last == t->makespan_ms);
}

static void compare_one(berth_ctx *ctx, uint64_t *state, const support_costs *how) {
    berth_costs *c = support_costs_new(ctx, state, how);
    bool by_priority = support_below(state, 2);
    berth_placement *placement = new_placement(ctx, c->n_ops, by_priority);
    int32_t priority[NAIVE_MAX_TASKS];
    for (int32_t task = 0; task < c->n_tasks; task++) {
        placement->device[task] = (int32_t)support_below(state, (uint32_t)c->n_devices);
        priority[task] = c->n_tasks - 1 - task;
        if (by_priority) placement->priority[task] = 1000 - 7 * task; /* in the same order, but not ranks */
    }
    naive_result twin = naive_sim_run(c, placement->device, by_priority ? priority : NULL);
    berth_timeline *t = NULL;
    berth_status status = berth_simulate(ctx, &t, c, placement);
    if (twin.ms < INFINITY) {
        assert_int_equal(status, BERTH_OK);
        assert_true(t->makespan_ms == twin.ms || fabs(t->makespan_ms - twin.ms) <= 1e-12 * twin.ms);
        assert_int_equal(t->model, c->model);
        assert_int_equal(t->n_devices, c->n_devices);
        check_events(c, t, &twin);
    } else {
        assert_int_equal(status, BERTH_E_INFEASIBLE);
        assert_true(strlen(berth_ctx_message(ctx)) > 10);
        assert_null(t);
    }
    berth_timeline_free(t);
    berth_placement_free(placement);
    berth_costs_free(c);
}

static void events(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 21;
    for (int i = 0; i < support_cases(2000); i++) {
        support_costs how = support_costs_any(&state, (berth_model)(i % BERTH_MODEL_COUNT), 12, 4);
        how.objective = i % 7 ? BERTH_OBJECTIVE_LATENCY : BERTH_OBJECTIVE_THROUGHPUT;
        compare_one(ctx, &state, &how);
    }
    berth_ctx_free(ctx);
}

/* A workload of tasks a -> b -> c and a -> c on one host and two accelerators of 100 bytes each. */
static const char workload[] =
    "{\"maxFPGAs\": 2, \"maxCPUs\": 1, \"maxSizePerFPGA\": 100, \"nodes\": ["
    "{\"id\": 1, \"supportedOnFpga\": 1, \"cpuLatency\": 10, \"fpgaLatency\": 1, \"size\": 60, \"isBackwardNode\": 0},"
    "{\"id\": 2, \"supportedOnFpga\": 0, \"cpuLatency\": 10, \"fpgaLatency\": 1, \"size\": 60, \"isBackwardNode\": 0},"
    "{\"id\": 3, \"supportedOnFpga\": 1, \"cpuLatency\": 10, \"fpgaLatency\": 1, \"size\": 60, \"isBackwardNode\": 0},"
    "{\"id\": 4, \"supportedOnFpga\": 1, \"cpuLatency\": 10, \"fpgaLatency\": 1, \"size\": 10, \"isBackwardNode\": 0}],"
    "\"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 2}, {\"sourceId\": 2, \"destId\": 4, \"cost\": 2},"
    "{\"sourceId\": 1, \"destId\": 3, \"cost\": 2}, {\"sourceId\": 3, \"destId\": 4, \"cost\": 2}]}";

typedef struct case_of {
    berth_graph *graph;
    berth_device_set *set;
    berth_costs *costs;
    berth_placement *placement;
} case_of;

static case_of open_case(berth_ctx *ctx, berth_model model) {
    case_of k = {0};
    berth_cost_options options = berth_cost_options_default();
    options.model = model;
    if (berth_graph_read_memory(ctx, &k.graph, workload, sizeof workload - 1, "workload", NULL) != BERTH_OK ||
        berth_device_set_given(ctx, &k.set, k.graph) != BERTH_OK ||
        berth_costs_new(ctx, &k.costs, k.graph, k.set, &options) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    k.placement = new_placement(ctx, k.graph->n_ops, false);
    return k;
}

static void close_case(case_of *k) {
    berth_placement_free(k->placement);
    berth_costs_free(k->costs);
    berth_device_set_free(k->set);
    berth_graph_free(k->graph);
}

static void place(case_of *k, const char *devices) {
    for (int32_t op = 0; op < k->graph->n_ops; op++) k->placement->device[op] = devices[op] - '0';
}

static void expect_refusal(berth_ctx *ctx, case_of *k, berth_status expected, const char *fragment) {
    berth_timeline *t = NULL;
    assert_int_equal(berth_simulate(ctx, &t, k->costs, k->placement), expected);
    assert_null(t);
    if (!strstr(berth_ctx_message(ctx), fragment)) fail_msg("\"%s\" without \"%s\"", berth_ctx_message(ctx), fragment);
}

static void reasons(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    case_of k = open_case(ctx, BERTH_MODEL_CONTIGUOUS);
    place(&k, "0100");
    expect_refusal(ctx, &k, BERTH_E_INFEASIBLE, "cannot run on device 'acc.0'");
    place(&k, "1010");
    expect_refusal(ctx, &k, BERTH_E_INFEASIBLE, "device 'acc.0' needs 120 bytes of memory, 20 more than it has");
    place(&k, "1001");
    expect_refusal(ctx, &k, BERTH_E_INFEASIBLE, "'acc.0' are not one convex part");
    k.placement->n_ops = 3;
    expect_refusal(ctx, &k, BERTH_E_ARG, "of 3 operations, the graph has 4");
    k.placement->n_ops = 4;
    place(&k, "0030");
    expect_refusal(ctx, &k, BERTH_E_ARG, "operation 2 is on device 3 of 3");
    k.placement->device[2] = -1;
    expect_refusal(ctx, &k, BERTH_E_ARG, "operation 2 is on device -1 of 3");
    close_case(&k);
    berth_ctx_free(ctx);
}

/* Two parts that are convex each, and feed each other: a and d, b and c of a -> c, b -> d. */
static void circle(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 22;
    support_costs how = {.n_tasks = 4, .n_devices = 3, .model = BERTH_MODEL_CONTIGUOUS};
    berth_costs *c = support_costs_new(ctx, &state, &how);
    static const int32_t producer[] = {0, 1}, none[] = {-1, -1}, tensor[] = {0, 1};
    static const double amounts[] = {1, 1};
    c->n_values = 2;
    c->value_producer = producer;
    c->value_home = c->value_target = none;
    c->value_amount = c->value_bytes = amounts;
    c->value_tensor = tensor;
    assert_int_equal(berth_costs_link(ctx, c, (berth_read[]){{0, 2}, {1, 3}}, 2), BERTH_OK);
    berth_placement *placement = new_placement(ctx, 4, false);
    memcpy(placement->device, (int32_t[]){1, 2, 2, 1}, 4 * sizeof *placement->device);
    berth_timeline *t = NULL;
    assert_int_equal(berth_simulate(ctx, &t, c, placement), BERTH_E_INFEASIBLE);
    assert_non_null(strstr(berth_ctx_message(ctx), "wait for one another"));
    berth_placement_free(placement);
    berth_costs_free(c);
    berth_ctx_free(ctx);
}

static void missing_link(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    for (int model = 0; model < BERTH_MODEL_CONTIGUOUS; model++) {
        uint64_t state = 23;
        support_costs how = {.n_tasks = 2, .n_devices = 2, .density = 100, .model = (berth_model)model};
        berth_costs *c = support_costs_new(ctx, &state, &how);
        static const double fixed[] = {0, INFINITY, 0, 0};
        c->copy_fixed = fixed;
        berth_placement *placement = new_placement(ctx, 2, false);
        placement->device[1] = 1;
        berth_timeline *t = NULL;
        assert_int_equal(berth_simulate(ctx, &t, c, placement), BERTH_E_INFEASIBLE);
        assert_non_null(strstr(berth_ctx_message(ctx), "cannot be copied from device 0 to 1"));
        placement->device[1] = 0;
        assert_int_equal(berth_simulate(ctx, &t, c, placement), BERTH_OK);
        berth_timeline_free(t);
        berth_placement_free(placement);
        berth_costs_free(c);
    }
    berth_ctx_free(ctx);
}

static berth_status run_one(berth_ctx *ctx, void *user) {
    const case_of *k = user;
    berth_timeline *t = NULL;
    berth_status status = berth_simulate(ctx, &t, k->costs, k->placement);
    assert_true((status == BERTH_OK) == (t != NULL));
    berth_timeline_free(t);
    return status;
}

static void ladder(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        case_of k = open_case(ctx, (berth_model)model);
        berth_placement_free(k.placement);
        k.placement = new_placement(ctx, k.graph->n_ops, true);
        place(&k, "1020");
        assert_true(support_ladder(run_one, &k, 1) > 0);
        close_case(&k);
    }
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),       cmocka_unit_test(reasons), cmocka_unit_test(circle),
        cmocka_unit_test(missing_link), cmocka_unit_test(ladder),
    };
    return cmocka_run_group_tests_name("simulate.timeline", tests, NULL, NULL);
}
