/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of workloads: every time and transfer against what the file says, on stored and on random ones. */
#include "cases.h"

#include <stdio.h>

static void expect_given(berth_ctx *ctx, const berth_graph *graph) {
    const berth_given_costs *given = graph->given;
    berth_device_set *set = NULL;
    assert_int_equal(berth_device_set_given(ctx, &set, graph), BERTH_OK);
    berth_costs *c = make_costs(ctx, graph, set, NULL);
    assert_int_equal(c->n_tasks, graph->n_ops);
    assert_int_equal(c->n_given, 0);
    assert_int_equal(c->n_weights, 0);
    assert_int_equal(c->max_cpus, given->max_cpus);
    assert_int_equal(c->model, graph->format == BERTH_FORMAT_MSR ? BERTH_MODEL_CONTIGUOUS : BERTH_MODEL_CONCURRENT);
    int32_t n = c->n_devices;
    for (int32_t op = 0; op < graph->n_ops; op++) {
        int32_t task = c->op_task[op];
        for (int32_t d = 0; d < n; d++) assert_true(berth_costs_op_ms(c, op, d) == given->op_ms[op * n + d]);
        if (given->op_memory) assert_true(c->task_memory[task] == given->op_memory[op]);
        if (given->colour) assert_int_equal(c->colour[task], given->colour[op]);
    }
    assert_int_equal(c->task_memory != NULL, given->op_memory != NULL);
    assert_int_equal(c->colour != NULL, given->colour != NULL);
    for (int32_t e = 0; e < graph->n_edges; e++)
        for (int32_t from = 0; from < n; from++)
            for (int32_t to = 0; to < n; to++) {
                double ms = berth_costs_copy_ms(c, graph->edges[e].tensor, from, to);
                assert_true(ms == berth_given_edge_ms(given, e, from, to));
            }
    for (int32_t v = 0; v < c->n_values; v++) assert_int_equal(c->value_target[v], -1);
    for (int32_t d = 0; d < n; d++) assert_true(c->capacity[d] == (given->capacity ? given->capacity[d] : INFINITY));
    assert_int_equal(c->succ_start[c->n_tasks], graph->n_pairs);
    berth_costs_free(c);
    berth_device_set_free(set);
}

static void stored_workloads(void **state) {
    static const char *const golden[] = {"msr.json", "moirai.csv", "topcuoglu.csv", "dagbench.json"};
    static const char *const fetched[] = {
        "msr/latency/layer_bert24.json", "msr/latency/op_resnet50.json", "msr/throughput/layer_gnmt.json",
        "moirai/example-1.csv",          "moirai/GoogLeNet.csv",         "moirai/inceptionv4.csv",
    };
    berth_ctx *ctx = *state;
    char path[120];
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "tests/golden/%s", golden[i]);
        berth_graph *graph = support_read(ctx, support_source(path));
        expect_given(ctx, graph);
        berth_graph_free(graph);
    }
    for (size_t i = 0; i < sizeof fetched / sizeof *fetched; i++) {
        snprintf(path, sizeof path, "data/workloads/%s", fetched[i]);
        const char *found = support_shared(path);
        if (!found) support_skip("the workloads are not here");
        berth_graph *graph = support_read(ctx, found);
        expect_given(ctx, graph);
        berth_graph_free(graph);
    }
}

static berth_graph *parse(berth_ctx *ctx, berth_text *text) {
    berth_graph *graph = NULL;
    if (berth_graph_read_memory(ctx, &graph, berth_text_string(text), berth_text_size(text), "random", NULL) !=
        BERTH_OK)
        fail_msg("%s\n%s", berth_ctx_message(ctx), berth_text_string(text));
    return graph;
}

/* All edges out of a node cost the same; files are out of order. */
static berth_graph *random_msr(berth_ctx *ctx, uint64_t *random) {
    berth_text *text = NULL;
    int n = 1 + (int)support_below(random, 12);
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_text_printf(text, "{\"maxFPGAs\": %d, \"maxCPUs\": 2, \"maxSizePerFPGA\": 50, \"nodes\": [",
                      (int)support_below(random, 4));
    for (int i = 0; i < n; i++)
        berth_text_printf(text,
                          "%s{\"id\": %d, \"supportedOnFpga\": %s, \"cpuLatency\": %d, \"fpgaLatency\": %d, "
                          "\"size\": %d, \"colorClass\": %d}",
                          i ? "," : "", 100 - i, support_below(random, 4) ? "true" : "false",
                          (int)support_below(random, 90), (int)support_below(random, 9), (int)support_below(random, 9),
                          (int)support_below(random, 4) - 1);
    berth_text_printf(text, "], \"edges\": [");
    const char *comma = "";
    for (int from = n - 1; from >= 0; from--) {
        int cost = (int)support_below(random, 20);
        for (int to = 0; to < from; to++) {
            if (support_below(random, 3)) continue;
            berth_text_printf(text, "%s{\"sourceId\": %d, \"destId\": %d, \"cost\": %d}", comma, 100 - from, 100 - to,
                              cost);
            comma = ",";
        }
    }
    berth_text_printf(text, "]}");
    berth_graph *graph = parse(ctx, text);
    berth_text_free(text);
    return graph;
}

/* Machines that are linked or not; some dependencies carry nothing. */
static berth_graph *random_dagbench(berth_ctx *ctx, uint64_t *random) {
    berth_text *text = NULL;
    int n = 1 + (int)support_below(random, 12), machines = 1 + (int)support_below(random, 4);
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_text_printf(text, "{\"task_graph\": {\"tasks\": [");
    for (int i = 0; i < n; i++)
        berth_text_printf(text, "%s{\"name\": \"t%d\", \"cost\": %d}", i ? "," : "", i, (int)support_below(random, 50));
    berth_text_printf(text, "], \"dependencies\": [");
    const char *comma = "";
    for (int from = 0; from < n; from++)
        for (int to = from + 1; to < n; to++) {
            if (support_below(random, 3)) continue;
            berth_text_printf(text, "%s{\"source\": \"t%d\", \"target\": \"t%d\", \"size\": %d}", comma, from, to,
                              (int)support_below(random, 3) * 7);
            comma = ",";
        }
    berth_text_printf(text, "]}, \"network\": {\"nodes\": [");
    for (int i = 0; i < machines; i++)
        berth_text_printf(text, "%s{\"name\": \"m%d\", \"speed\": %d}", i ? "," : "", i,
                          1 + (int)support_below(random, 5));
    berth_text_printf(text, "], \"edges\": [");
    comma = "";
    for (int a = 0; a < machines; a++)
        for (int b = 0; b < a; b++) {
            if (support_below(random, 3) == 0) continue;
            berth_text_printf(text, "%s{\"source\": \"m%d\", \"target\": \"m%d\", \"speed\": %d}", comma, a, b,
                              1 + (int)support_below(random, 5));
            comma = ",";
        }
    berth_text_printf(text, "]}}");
    berth_graph *graph = parse(ctx, text);
    berth_text_free(text);
    return graph;
}

static void random_workloads(void **state) {
    berth_ctx *ctx = *state;
    uint64_t random = 5;
    for (int round = 0; round < 300; round++) {
        berth_graph *graph = round % 2 ? random_msr(ctx, &random) : random_dagbench(ctx, &random);
        expect_given(ctx, graph);
        berth_graph_free(graph);
    }
}

static void other_devices_are_refused(void **state) {
    berth_ctx *ctx = *state;
    berth_graph *graph = support_read(ctx, support_source("tests/golden/msr.json"));
    berth_device_set *set = read_devices(ctx, "cpu,gpu");
    refuse_costs(ctx, graph, set, NULL, BERTH_E_ARG, "brings its own devices");
    berth_device_set_free(set);
    set = read_devices(ctx, "cpu,gpu,npu");
    refuse_costs(ctx, graph, set, NULL, BERTH_E_ARG, "cpu, ...");
    berth_device_set_free(set);
    assert_int_equal(berth_device_set_given(ctx, &set, graph), BERTH_OK);
    berth_cost_options options = berth_cost_options_default();
    options.profile = "no such file";
    refuse_costs(ctx, graph, set, &options, BERTH_E_ARG, "takes no profile");
    options.profile = NULL;
    berth_rule io = {"x", "cpu"};
    berth_limits limits = {.io = &io, .n_io = 1};
    options.limits = &limits;
    refuse_costs(ctx, graph, set, &options, BERTH_E_ARG, "no input or output 'x'");
    berth_device_set_free(set);
    berth_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_workloads),
        cmocka_unit_test(random_workloads),
        cmocka_unit_test(other_devices_are_refused),
    };
    return cmocka_run_group_tests_name("cost.given", tests, support_open, support_close);
}
