/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

static int set_up(void **state) {
    *state = workload_open("tests/golden/msr.json");
    return 0;
}

static void yields_graph_and_costs(void **state) {
    const workload *w = *state;
    berth_graph *graph = support_read(w->ctx, support_source("tests/golden/msr.json"));
    assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_MSR);
    assert_string_equal(berth_graph_name(graph), "");
    assert_int_equal(berth_graph_pair_count(graph), 4);
    assert_int_equal(berth_graph_tensor_count(graph), 3);
    static const workload_op ops[] = {{"embed", 10, 4}, {"task-4", -4, 5}, {"task12", 12, 6}, {"embed", 13, 7}};
    workload_same_ops(graph, ops, 4);
    /* One tensor per node: both edges out of the first leave from its only port, and a value may be read twice. */
    static const berth_edge edges[] = {
        {0, 2, 0, 0, 0}, {1, 3, 0, 0, 0}, {0, 1, 0, 0, 0}, {2, 3, 0, 1, 0}, {2, 3, 0, 2, 0}};
    workload_same_edges(graph, edges, 5);

    const berth_given_costs *given = berth_graph_given_costs(graph);
    assert_non_null(given);
    assert_int_equal(given->n_devices, 3);
    assert_string_equal(given->device_names[0], "cpu");
    assert_string_equal(given->device_names[1], "acc.0");
    assert_string_equal(given->device_names[2], "acc.1");
    const double inf = INFINITY;
    workload_same(given->op_ms, (const double[]){1.5, 0.5, 0.5, 2, inf, inf, 3, 1, 1, 4, inf, inf}, 12);
    assert_null(given->edge_ms);
    workload_same(given->edge_amount, (const double[]){0.25, 4, 0.25, 0, 0}, 5);
    workload_same(given->link_ms, (const double[]){0, 1, 1, 1, 0, 2, 1, 2, 0}, 9);
    assert_true(berth_given_edge_ms(given, 1, 1, 2) == 8 && berth_given_edge_ms(given, 1, 2, 0) == 4);
    workload_same(given->op_memory, (const double[]){7, 0, 9, 1}, 4);
    workload_same(given->capacity, (const double[]){inf, 100.5, 100.5}, 3);
    static const int32_t colour[] = {0, -1, 0, 1};
    static const bool backward[] = {false, false, true, false};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(given->colour[i], colour[i]);
        assert_int_equal(given->backward[i], backward[i]);
    }
    assert_int_equal(given->max_cpus, 8);
    berth_graph_free(graph);
}

static void keys_come_in_any_order(void **state) {
    (void)state;
    static const char text[] =
        "\xef\xbb\xbf {\"edges\": [], \"nodes\": [{\"size\":1, \"fpgaLatency\": null, \"cpuLatency\":2, \"name\": null, "
        "\"supportedOnFpga\":false, \"id\":1.0, \"colorClass\": -1}], \"x\": {\"task_graph\": 1}, \"maxCPUs\": 0, "
        "\"maxSizePerFPGA\": 0, \"maxFPGAs\":0}";
    berth_ctx *ctx = ((workload *)*state)->ctx;
    berth_graph *graph = NULL;
    if (berth_graph_read_memory(ctx, &graph, text, sizeof text - 1, "test", NULL) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    const berth_given_costs *given = berth_graph_given_costs(graph);
    assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_MSR);
    assert_int_equal(given->n_devices, 1);
    assert_true(given->op_ms[0] == 2);
    assert_null(given->colour);
    berth_graph_free(graph);
}

/* Whatever the reader keeps of a file is part of what the workload is. */
static void fingerprints_cover_costs(void **state) {
    static const change changes[] = {
        {"\"cpuLatency\": 2", "\"cpuLatency\": 2.5"},
        {"\"fpgaLatency\": 1,", "\"fpgaLatency\": 2,"},
        {"\"size\": 9", "\"size\": 10"},
        {"\"cost\": 4", "\"cost\": 5"},
        {"\"maxFPGAs\": 2", "\"maxFPGAs\": 3"},
        {"100.5", "101.5"},
        {"\"maxCPUs\": 8", "\"maxCPUs\": 9"},
        {"\"colorClass\": 5", "\"colorClass\": 30"},
        {"\"isBackwardNode\": 1", "\"isBackwardNode\": 0"},
        {"\"embed\"", "\"lookup\""},
        {"\"sourceId\": 10, \"destId\": -4", "\"sourceId\": 10, \"destId\": 13"},
    };
    workload_tell_apart(*state, changes, COUNT(changes));
    berth_graph *same = workload_accept(*state, "\"layerId\": [null]", "\"layerId\": 7");
    berth_graph *good = workload_accept(*state, "", "");
    assert_string_equal(berth_graph_fingerprint(same), berth_graph_fingerprint(good));
    berth_graph_free(same);
    berth_graph_free(good);
}

static void refuses(void **state) {
    static const spoiling cases[] = {
        /* the whole */
        {"\"maxFPGAs\": 2, ", "", "test:1: 'maxFPGAs' is missing"},
        {"\"maxFPGAs\": 2", "\"maxFPGAs\": 1000000000", "test:2: 'maxFPGAs' must be an integer from 0 to 255"},
        {"\"maxFPGAs\": 2", "\"maxFPGAs\": -1", "test:2: 'maxFPGAs' must be an integer from 0 to 255"},
        {"\"maxFPGAs\": 2", "\"maxFPGAs\": 1.5", "test:2: 'maxFPGAs' must be an integer from 0 to 255"},
        {"\"maxFPGAs\": 2", "\"maxFPGAs\": \"2\"", "test:2: 'maxFPGAs' must be an integer, not a string"},
        {"\"maxCPUs\": 8, ", "", "test:1: 'maxCPUs' is missing"},
        {"\"maxCPUs\": 8", "\"maxCPUs\": 3000000000", "test:2: 'maxCPUs' must be"},
        {", \"maxSizePerFPGA\": 100.5", "", "test:1: 'maxSizePerFPGA' is missing"},
        {"100.5", "-1", "test:2: 'maxSizePerFPGA' must be from 0 to 1e+100, not -1"},
        {"100.5", "1e999", "test:2:"},
        {"100.5", "NaN", "test:2:"},
        {"\"nodes\"", "\"knots\"", "test:1: 'nodes' is missing"},
        {"\"nodes\": [", "\"nodes\": 3, \"knots\": [", "test:3: 'nodes' must be an array, not a number"},
        {"\"edges\"", "\"lines\"", "test:1: 'edges' is missing"},
        {"\"nodes\": [", "\"nodes\": [], \"knots\": [", "test:1: the workload has no tasks"},
        {"\"nodes\": [", "\"nodes\": [7,", "test:3: expected an object with 'id', not a number (nodes[0])"},
        /* nodes */
        {"\"id\": -4, ", "", "test:5: 'id' is missing (nodes[1])"},
        {"\"id\": -4", "\"id\": \"b\"", "test:5: 'id' must be an integer, not a string (nodes[1])"},
        {"\"id\": -4", "\"id\": 1e30", "test:5: 'id' must be an integer"},
        {"\"id\": 12", "\"id\": 10", "test:6: the id 10 is also that of nodes[0] (nodes[2])"},
        {"\"name\": \"embed\"", "\"name\": 5", "test:4: 'name' must be a string, not a number (nodes[0])"},
        {"\"name\": \"embed\"", "\"name\": \"a\\u0000b\"", "test:4: 'name' must not hold"},
        {"\"supportedOnFpga\": false, ", "", "test:5: 'supportedOnFpga' is missing (nodes[1])"},
        {"\"supportedOnFpga\": false", "\"supportedOnFpga\": 2", "test:5: 'supportedOnFpga' must be true or false"},
        {"\"supportedOnFpga\": false", "\"supportedOnFpga\": true", "test:5: 'fpgaLatency' is missing (nodes[1])"},
        {"\"cpuLatency\": 2, ", "", "test:5: 'cpuLatency' is missing (nodes[1])"},
        {"\"cpuLatency\": 2", "\"cpuLatency\": -2", "test:5: 'cpuLatency' must be from 0 to 1e+100, not -2 (nodes[1])"},
        {"\"cpuLatency\": 2", "\"cpuLatency\": null", "test:5: 'cpuLatency' must be a number, not null (nodes[1])"},
        {"\"fpgaLatency\": 8", "\"fpgaLatency\": -8", "test:7: 'fpgaLatency' must be from 0"},
        {"\"fpgaLatency\": 1,", "\"fpgaLatency\": 1e200,", "test:6: 'fpgaLatency' must be from 0"},
        {"\"size\": 0", "\"bulk\": 0", "test:5: 'size' is missing (nodes[1])"},
        {"\"size\": 0", "\"size\": -0.5", "test:5: 'size' must be from 0"},
        {"\"colorClass\": 5", "\"colorClass\": -5", "test:7: 'colorClass' must be an integer from -1"},
        {"\"colorClass\": 5", "\"colorClass\": \"red\"", "test:7: 'colorClass' must be an integer, not a string"},
        {"\"isBackwardNode\": 1", "\"isBackwardNode\": \"no\"", "test:6: 'isBackwardNode' must be true or false"},
        /* edges */
        {"\"sourceId\": -4, ", "", "test:11: 'sourceId' is missing (edges[1])"},
        {"\"sourceId\": -4", "\"sourceId\": 4", "test:11: 'sourceId' is 4, which no node has (edges[1])"},
        {"\"destId\": -4", "\"destId\": 99", "test:12: 'destId' is 99, which no node has (edges[2])"},
        {"\"destId\": -4", "\"destId\": 10", "test:12: the graph has a cycle: 'embed' follows itself"},
        {"\"sourceId\": 10, \"destId\": -4, \"cost\": 0.25", "\"sourceId\": 13, \"destId\": -4, \"cost\": 1",
         "the graph has a cycle"},
        {"\"cost\": 4, ", "", "test:11: 'cost' is missing (edges[1])"},
        {"\"cost\": 4", "\"cost\": -4", "test:11: 'cost' must be from 0"},
        {"\"destId\": -4, \"cost\": 0.25", "\"destId\": -4, \"cost\": 0.5",
         "test:12: 'cost' is 0.5 where another edge out of 'embed' has 0.25"},
        {"\"edges\": [", "\"edges\": [[],", "test:9: expected an object with 'sourceId', not an array (edges[0])"},
        {"\"edges\": [", "\"edges\": [,", "test:9:"},
    };
    workload_refuse(*state, cases, COUNT(cases));
}

static void refuses_every_beginning(void **state) {
    const workload *w = *state;
    workload_cut(w, w->size - 2);
}

/* 255 accelerators for tasks of no text: the table would be far larger than the file. */
static void refuses_tables_out_of_proportion(void **state) {
    berth_ctx *ctx = ((workload *)*state)->ctx;
    enum { N = 20000 };
    char *text = malloc(N * 2 + 200);
    assert_non_null(text);
    int n = snprintf(text, 200, "{\"maxFPGAs\":255,\"maxCPUs\":1,\"maxSizePerFPGA\":1,\"edges\":[],\"nodes\":[0");
    for (int i = 0; i < N; i++) memcpy(text + n, ",0", 2), n += 2;
    memcpy(text + n, "]}", 2);
    support_refuse(ctx, text, (size_t)n + 2, BERTH_E_FORMAT, "test:1: 20001 x 256 times are out of proportion");
    free(text);
}

static void binds_no_shapes(void **state) {
    const workload *w = *state;
    const int64_t dims[] = {1};
    const berth_shape_binding binding = {"x", 1, dims};
    berth_read_options options = berth_read_options_default();
    options.shapes = &binding;
    options.n_shapes = 1;
    berth_graph *graph = NULL;
    assert_int_equal(berth_graph_read_memory(w->ctx, &graph, w->text, w->size, "test", &options), BERTH_E_ARG);
    assert_null(graph);
    assert_non_null(strstr(berth_ctx_message(w->ctx), "no input 'x'"));
    options.n_shapes = 0;
    options.max_depth = 3;
    assert_int_equal(berth_graph_read_memory(w->ctx, &graph, w->text, w->size, "test", &options), BERTH_E_FORMAT);
}

/* Recognition follows strings and nesting: keys inside values, or as values, are no keys of the file. */
static void is_told_from_other_json(void **state) {
    berth_ctx *ctx = ((workload *)*state)->ctx;
    static const char *const others[] = {
        "{}",
        "{",
        "[{\"maxFPGAs\": 1}]",
        "{\"a\": {\"maxFPGAs\": 1}, \"b\": \"maxFPGAs\"}",
        "{\"a\\\"\": [\"\\\\\", \"maxFPGAs\"]} {\"maxFPGAs\": 1",
        "{\"a\": \"\\\"maxFPGAs\\\": 1",
        "{\"maxFPGA\": 1, \"task_graphs\": 1}",
    };
    for (size_t i = 0; i < COUNT(others); i++)
        support_refuse(ctx, others[i], strlen(others[i]), BERTH_E_FORMAT, "test: byte 0: neither");
    support_refuse(ctx, "{\"maxCPUs\": 1", 13, BERTH_E_FORMAT, "test:1:");
}

static void survives_failed_allocations(void **state) {
    assert_true(support_ladder(workload_ladder_step, *state, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(yields_graph_and_costs, set_up, workload_close),
        cmocka_unit_test_setup_teardown(keys_come_in_any_order, set_up, workload_close),
        cmocka_unit_test_setup_teardown(fingerprints_cover_costs, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses_every_beginning, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses_tables_out_of_proportion, set_up, workload_close),
        cmocka_unit_test_setup_teardown(binds_no_shapes, set_up, workload_close),
        cmocka_unit_test_setup_teardown(is_told_from_other_json, set_up, workload_close),
        cmocka_unit_test_setup_teardown(survives_failed_allocations, set_up, workload_close),
    };
    return cmocka_run_group_tests_name("read.msr", tests, NULL, NULL);
}
