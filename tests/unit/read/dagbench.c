/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

static int set_up(void **state) {
    *state = workload_open("tests/golden/dagbench.json");
    return 0;
}

static void yields_graph_and_costs(void **state) {
    const workload *w = *state;
    berth_graph *graph = support_read(w->ctx, support_source("tests/golden/dagbench.json"));
    assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_DAGBENCH);
    assert_string_equal(berth_graph_name(graph), "own.diamond");
    assert_int_equal(berth_graph_op_count(graph), 4);
    assert_int_equal(berth_graph_tensor_count(graph), 4);
    static const char *const names[] = {"split", "join", "left", "right"};
    for (int32_t i = 0; i < 4; i++) {
        const berth_op *op = berth_graph_op(graph, i);
        assert_string_equal(op->name, names[i]);
        assert_string_equal(op->type, "task");
        assert_int_equal(op->id, i);
        assert_int_equal(op->where, 5 + i);
        assert_int_equal(op->flags, 0);
    }
    static const berth_edge edges[] = {{2, 1, 0, 0, 0}, {0, 2, 0, 0, 0}, {0, 3, 1, 0, 0}, {3, 1, 0, 1, 0}};
    workload_same_edges(graph, edges, 4);

    const berth_given_costs *given = berth_graph_given_costs(graph);
    assert_int_equal(given->n_devices, 3);
    assert_string_equal(given->device_names[0], "fast");
    assert_string_equal(given->device_names[2], "far");
    const double inf = INFINITY;
    workload_same(given->op_ms, (const double[]){0.5, 4, 2, 2, 16, 8, 0.75, 6, 3, 0, 0, 0}, 12);
    workload_same(given->edge_amount, (const double[]){6, 1.5, 0, 3}, 4);
    workload_same(given->link_ms, (const double[]){0, 0.5, inf, 0.5, 0, 4, inf, 4, 0}, 9);
    assert_null(given->edge_ms);
    assert_null(given->op_memory);
    assert_null(given->capacity);
    assert_null(given->colour);
    assert_null(given->backward);
    assert_true(berth_given_edge_ms(given, 0, 1, 2) == 24);
    assert_true(isinf(berth_given_edge_ms(given, 2, 0, 2))); /* nothing over no link */
    assert_true(berth_given_edge_ms(given, 2, 2, 2) == 0);
    berth_graph_free(graph);
}

static void accepts(void **state) {
    const workload *w = *state;
    berth_graph *graph = workload_accept(w, "\"name\": \"own.diamond\",", "\"tags\": [],");
    assert_string_equal(berth_graph_name(graph), "");
    berth_graph_free(graph);
    graph = workload_accept(w, "\"split\"", "\"spl\\u0069t\""); /* names are compared as they read, not as written */
    assert_int_equal(berth_graph_edge_count(graph), 4);
    berth_graph_free(graph);
}

/* Whatever the reader keeps of a file is part of what the workload is. */
static void fingerprints_cover_costs(void **state) {
    static const change changes[] = {
        {"\"cost\": 3", "\"cost\": 4"},
        {"\"size\": 1.5", "\"size\": 2.5"},
        {"\"speed\": 4", "\"speed\": 5"},
        {"\"speed\": 0.25", "\"speed\": 0.5"},
        {"\"nodes\": [", "\"nodes\": [{\"name\": \"more\", \"speed\": 1},"},
    };
    workload_tell_apart(*state, changes, COUNT(changes));
}

static void refuses(void **state) {
    static const spoiling cases[] = {
        /* the whole */
        {"\"task_graph\": {", "\"task_graph\": [{}], \"x\": {", "test:3: 'task_graph' must be an object, not an array"},
        {"\"tasks\"", "\"jobs\"", "test:3: 'tasks' is missing"},
        {"\"dependencies\"", "\"links\"", "test:3: 'dependencies' is missing"},
        {"\"network\"", "\"net\"", "test:1: 'network' is missing"},
        {"\"nodes\"", "\"machines\"", "test:17: 'nodes' is missing"},
        {"\"edges\"", "\"links\"", "test:17: 'edges' is missing"},
        {"\"edges\": [", "\"edges\": {}, \"links\": [", "test:23: 'edges' must be an array, not an object"},
        {"\"nodes\": [", "\"nodes\": [], \"x\": [", "test:18: the network must have 1 to 256 nodes, not 0"},
        {"\"tasks\": [", "\"tasks\": [], \"x\": [", "test:1: the workload has no tasks"},
        {"\"own.diamond\"", "7", "test:2: 'name' must be a string, not a number"},
        /* tasks and dependencies */
        {"\"name\": \"join\", ", "", "test:6: 'name' is missing (task_graph.tasks[1])"},
        {"\"name\": \"join\"", "\"name\": \"\"", "test:6: 'name' is empty (task_graph.tasks[1])"},
        {"\"name\": \"join\"", "\"name\": \"split\"", "test:6: the name 'split' stands twice, first at [0]"},
        {"\"cost\": 3", "\"cost\": -3", "test:7: 'cost' must be from 0 to 1e+100, not -3 (task_graph.tasks[2])"},
        {"\"cost\": 3", "\"cost\": true", "test:7: 'cost' must be a number, not true or false"},
        {"\"source\": \"left\"", "\"source\": \"lost\"",
         "test:11: 'source' is 'lost', which is not in the list (task_graph.dependencies[0])"},
        {"\"target\": \"join\", ", "", "test:11: 'target' is missing (task_graph.dependencies[0])"},
        {"\"size\": 1.5", "\"size\": -1", "test:12: 'size' must be from 0"},
        {", \"size\": 1.5", "", "test:12: 'size' is missing"},
        {"\"target\": \"left\"", "\"target\": \"split\"", "test:12: the graph has a cycle: 'split' follows itself"},
        {"\"target\": \"left\"", "\"target\": \"right\"", "test:13: 'split' to 'right' is listed twice"},
        {"\"source\": \"split\", \"target\": \"left\"", "\"source\": \"join\", \"target\": \"left\"",
         "the graph has a cycle"},
        /* machines and links */
        {"\"name\": \"slow\"", "\"name\": \"fast\"",
         "test:20: the name 'fast' stands twice, first at [0] (network.nodes[1])"},
        {"\"speed\": 4", "\"speed\": 0",
         "test:19: 'speed' must be above 0 (at least 1e-100), not 0 (network.nodes[0])"},
        {"\"speed\": 4", "\"speed\": -4", "test:19: 'speed' must be from 0"},
        {"\"speed\": 4", "\"speed\": 1e-300", "test:19: 'speed' must be above 0"},
        {", \"speed\": 4", "", "test:19: 'speed' is missing"},
        {"\"speed\": 2}", "\"speed\": 3}", "test:26: 'speed' of the link between 'fast' and 'slow' was given before"},
        {"\"speed\": 0.25", "\"speed\": -0.0", "test:27: 'speed' must be above 0"},
        {"\"speed\": 1000000000.0", "\"speed\": 0", "test:24: 'speed' must be above 0"},
        {"\"target\": \"far\"", "\"target\": \"moon\"",
         "test:27: 'target' is 'moon', which is not in the list (network.edges[3])"},
    };
    workload_refuse(*state, cases, COUNT(cases));
}

static void refuses_every_beginning(void **state) {
    const workload *w = *state;
    workload_cut(w, w->size - 2);
}

static void survives_failed_allocations(void **state) {
    assert_true(support_ladder(workload_ladder_step, *state, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(yields_graph_and_costs, set_up, workload_close),
        cmocka_unit_test_setup_teardown(accepts, set_up, workload_close),
        cmocka_unit_test_setup_teardown(fingerprints_cover_costs, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses_every_beginning, set_up, workload_close),
        cmocka_unit_test_setup_teardown(survives_failed_allocations, set_up, workload_close),
    };
    return cmocka_run_group_tests_name("read.dagbench", tests, NULL, NULL);
}
