/* SPDX-License-Identifier: Apache-2.0 */
/* Every workload of the fetched data, against what is published of it: sizes, times of one device, critical paths. */
#include "support.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>

static const char *data_folder(void) {
    const char *folder = support_shared("data/workloads");
    if (!folder) support_skip("the folder of workloads is absent");
    return folder;
}

static double time_on(const berth_given_costs *given, int32_t op, int32_t device) {
    const double *ms = given->op_ms + (size_t)op * (size_t)given->n_devices;
    if (device >= 0) return ms[device];
    double best = INFINITY;
    for (int32_t d = 0; d < given->n_devices; d++) best = fmin(best, ms[d]);
    return best;
}

/* The longest path without transfers: on one device, or with device -1 each task on its fastest. */
static double critical_path(const berth_graph *graph, int32_t device, bool count_tasks) {
    int32_t n = berth_graph_op_count(graph);
    double *end = calloc((size_t)n, sizeof *end), longest = 0;
    assert_non_null(end);
    for (int32_t i = 0; i < n; i++) {
        int32_t op = berth_graph_order(graph)[i], n_in = 0;
        const int32_t *in = berth_graph_in_edges(graph, op, &n_in);
        for (int32_t k = 0; k < n_in; k++) end[op] = fmax(end[op], end[berth_graph_edge(graph, in[k])->from]);
        end[op] += count_tasks ? 1 : time_on(berth_graph_given_costs(graph), op, device);
        longest = fmax(longest, end[op]);
    }
    free(end);
    return longest;
}

static double best_single_device(const berth_graph *graph) {
    const berth_given_costs *given = berth_graph_given_costs(graph);
    double best = INFINITY;
    for (int32_t device = 0; device < given->n_devices; device++) {
        double sum = 0;
        for (int32_t op = 0; op < berth_graph_op_count(graph); op++) sum += time_on(given, op, device);
        best = fmin(best, sum);
    }
    return best;
}

static void same_to_three_decimals(const char *file, double got, double expected) {
    if (fabs(got - expected) > 0.0005) fail_msg("%s: %.6f instead of %.3f", file, got, expected);
}

static berth_graph *read_path(berth_ctx *ctx, const char *path, berth_format format) {
    berth_graph *graph = support_read(ctx, path);
    if (berth_graph_check(ctx, graph) != BERTH_OK) fail_msg("%s: %s", path, berth_ctx_message(ctx));
    assert_int_equal(berth_graph_format(graph), format);
    assert_non_null(berth_graph_given_costs(graph));
    assert_int_equal(berth_graph_pair_count(graph), berth_graph_edge_count(graph));
    return graph;
}

static berth_graph *read_one(berth_ctx *ctx, const char *relative, berth_format format) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", data_folder(), relative);
    return read_path(ctx, path, format);
}

static void msr(void **state) {
    static const struct {
        const char *file;
        int32_t ops, edges, accelerators, max_cpus;
        double all_cpu, capacity;
    } rows[] = {
        {"msr/latency/layer_bert24.json", 32, 55, 5, 8, 924.060, 629145600},
        {"msr/latency/layer_gnmt.json", 96, 122, 6, 8, 1824.350, 629145600},
        {"msr/latency/op_bert_l-3.json", 235, 250, 4, 8, 1099.934, 629145600},
        {"msr/latency/op_resnet50.json", 604, 619, 9, 8, 6666.672, 629145600},
        {"msr/throughput/layer_gnmt.json", 96, 122, 6, 1, -1, 17185374208},
        {"msr/throughput/op_bert_l-3.json", 235, 250, 3, 1, -1, 17185374208},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        berth_graph *graph = read_one(*state, rows[i].file, BERTH_FORMAT_MSR);
        const berth_given_costs *given = berth_graph_given_costs(graph);
        assert_int_equal(berth_graph_op_count(graph), rows[i].ops);
        assert_int_equal(berth_graph_edge_count(graph), rows[i].edges);
        assert_int_equal(given->n_devices, rows[i].accelerators + 1);
        assert_int_equal(given->max_cpus, rows[i].max_cpus);
        assert_true(isinf(given->capacity[0]) && given->capacity[rows[i].accelerators] == rows[i].capacity);
        if (rows[i].all_cpu >= 0) same_to_three_decimals(rows[i].file, critical_path(graph, 0, false), rows[i].all_cpu);
        berth_graph_free(graph);
    }
}

static void moirai(void **state) {
    static const struct {
        const char *file;
        int32_t devices, ops, edges;
        double best_single, bound;
    } rows[] = {
        {"moirai/example-1.csv", 3, 14, 19, 65, 23},
        {"moirai/GoogLeNet.csv", 4, 141, 167, 2.336, 0.817},
        {"moirai/inceptionv4.csv", 4, 491, 545, 13.752, 6.265},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        berth_graph *graph = read_one(*state, rows[i].file, BERTH_FORMAT_MOIRAI);
        assert_int_equal(berth_graph_op_count(graph), rows[i].ops);
        assert_int_equal(berth_graph_edge_count(graph), rows[i].edges);
        assert_int_equal(berth_graph_given_costs(graph)->n_devices, rows[i].devices);
        same_to_three_decimals(rows[i].file, best_single_device(graph), rows[i].best_single);
        same_to_three_decimals(rows[i].file, critical_path(graph, -1, false), rows[i].bound);
        berth_graph_free(graph);
    }
}

static void moirai_memory_is_tight(void **state) {
    berth_graph *graph = read_one(*state, "moirai/example-1.csv", BERTH_FORMAT_MOIRAI);
    const berth_given_costs *given = berth_graph_given_costs(graph);
    double sum = 0;
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++) sum += given->op_memory[op];
    assert_true(sum == 44);
    assert_true(given->capacity[0] == 14 && given->capacity[1] == 14 && given->capacity[2] == 16);
    /* Task 14 yields two tensors, "1,3" from device 0 to 1. */
    int32_t n = 0, op = berth_graph_find_op(graph, "task14");
    const int32_t *out = berth_graph_out_edges(graph, op, &n);
    assert_int_equal(n, 2);
    assert_true(berth_given_edge_ms(given, out[0], 0, 1) == 1 && berth_given_edge_ms(given, out[1], 0, 1) == 3);
    berth_graph_free(graph);
}

/* The number behind a key of the metadata that stand beside each DAGBench graph. */
static int32_t metadata_number(const char *graph_path, const char *key) {
    char path[4096], line[512];
    int32_t found = -1;
    snprintf(path, sizeof path, "%.*smetadata.yaml", (int)(strlen(graph_path) - strlen("graph.json")), graph_path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *place = strstr(line, key);
        if (place && place[strlen(key)] == ':') found = (int32_t)strtol(place + strlen(key) + 1, NULL, 10);
    }
    fclose(file);
    if (found < 0) fail_msg("%s has no %s", path, key);
    return found;
}

static void dagbench(void **state) {
    char pattern[4096];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/dagbench/*/*/graph.json", data_folder());
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 16);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        berth_graph *graph = read_path(*state, path, BERTH_FORMAT_DAGBENCH);
        const berth_given_costs *given = berth_graph_given_costs(graph);
        assert_int_equal(berth_graph_op_count(graph), metadata_number(path, "num_tasks"));
        assert_int_equal(berth_graph_edge_count(graph), metadata_number(path, "num_edges"));
        assert_int_equal((int)critical_path(graph, 0, true), metadata_number(path, "depth"));
        assert_in_range(given->n_devices, metadata_number(path, "num_nodes_min"),
                        metadata_number(path, "num_nodes_max"));
        /* All of these networks are complete. */
        for (int32_t a = 0; a < given->n_devices; a++)
            for (int32_t b = 0; b < given->n_devices; b++) {
                double ms = berth_given_edge_ms(given, 0, a, b);
                assert_true(a == b ? ms == 0 : ms > 0 && isfinite(ms));
            }
        berth_graph_free(graph);
    }
    globfree(&files);
}

static berth_status ladder_step(berth_ctx *ctx, void *path) {
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read(ctx, &graph, path, NULL);
    berth_graph_free(graph);
    return status;
}

static void survives_failed_allocations(void **state) {
    (void)state;
    static const char *const files[] = {"msr/latency/layer_gnmt.json", "moirai/inceptionv4.csv",
                                        "dagbench/ml_pipelines/gpt2_tensor_sh12_decode/graph.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", data_folder(), files[i]);
        support_ladder(ladder_step, path, 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(msr, support_open, support_close),
        cmocka_unit_test_setup_teardown(moirai, support_open, support_close),
        cmocka_unit_test_setup_teardown(moirai_memory_is_tight, support_open, support_close),
        cmocka_unit_test_setup_teardown(dagbench, support_open, support_close),
        cmocka_unit_test_setup_teardown(survives_failed_allocations, support_open, support_close),
    };
    return cmocka_run_group_tests_name("read.workload_corpus", tests, NULL, NULL);
}
