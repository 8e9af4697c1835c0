/* SPDX-License-Identifier: Apache-2.0 */
/* Sets from profiles and workloads: names, hosts, links. */
#include "support.h"

#include "graph/graph.h"

#include <math.h>
#include <stdio.h>

static berth_device_set *read_set(berth_ctx *ctx, const char *text) {
    berth_device_set *set = NULL;
    if (berth_device_set_read(ctx, &set, text) != BERTH_OK) fail_msg("%s: %s", text, berth_ctx_message(ctx));
    return set;
}

static void expect_names(berth_ctx *ctx, const char *text, const char *names, const char *host) {
    berth_device_set *set = read_set(ctx, text);
    char all[1024] = "";
    size_t used = 0;
    for (int32_t d = 0; d < set->n_devices; d++) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", d ? "," : "", set->devices[d].name);
        assert_int_equal(berth_device_find(set, set->devices[d].name), d);
    }
    assert_string_equal(all, names);
    assert_string_equal(set->devices[set->host].name, host);
    assert_string_equal(set->source, text);
    assert_int_equal(berth_device_find(set, "no such"), -1);
    berth_device_set_free(set);
}

static void repeated_profiles_are_numbered(void **state) {
    berth_ctx *ctx = *state;
    expect_names(ctx, "cpu", "cpu", "cpu");
    expect_names(ctx, "cpu,gpu", "cpu,gpu", "cpu");
    expect_names(ctx, "cpu,gpu,gpu", "cpu,gpu.0,gpu.1", "cpu");
    expect_names(ctx, "gpu,npu,gpu,cpu", "gpu.0,npu,gpu.1,cpu", "cpu");
    expect_names(ctx, "npu,igpu", "npu,igpu", "npu");
    expect_names(ctx, "cpu,cpu", "cpu.0,cpu.1", "cpu.0");
    expect_names(ctx, "paper", "cpu,gpu", "cpu");
}

static void expect_refusal(berth_ctx *ctx, const char *text, berth_status status, const char *fragment) {
    berth_device_set *set = (berth_device_set *)1;
    assert_int_equal(berth_device_set_read(ctx, &set, text), status);
    assert_null(set);
    if (!strstr(berth_ctx_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", berth_ctx_message(ctx), fragment);
}

static void unknown_profiles_are_refused(void **state) {
    berth_ctx *ctx = *state;
    expect_refusal(ctx, "cpu,tpu", BERTH_E_ARG, "'tpu'; there are cpu, gpu, igpu, npu, paper");
    expect_refusal(ctx, "", BERTH_E_ARG, "no device profile ''");
    expect_refusal(ctx, "cpu,", BERTH_E_ARG, "no device profile ''");
    expect_refusal(ctx, ",cpu", BERTH_E_ARG, "no device profile ''");
    expect_refusal(ctx, "cpu, gpu", BERTH_E_ARG, "no device profile ' gpu'");
    expect_refusal(ctx, "paper,gpu", BERTH_E_ARG, "whole testbed");
    expect_refusal(ctx, "gpu,paper", BERTH_E_ARG, "whole testbed");
    expect_refusal(ctx, "no/such/file", BERTH_E_IO, "no/such/file: cannot open");
    expect_refusal(ctx, "none.json", BERTH_E_IO, "none.json: cannot open");
}

static void there_may_be_64_devices(void **state) {
    berth_ctx *ctx = *state;
    char text[65 * 4 + 1] = "";
    for (size_t i = 0; i < 65; i++) memcpy(text + 4 * i, "gpu,", 5);
    text[4 * 64 - 1] = 0;
    berth_device_set *set = read_set(ctx, text);
    assert_int_equal(set->n_devices, BERTH_MAX_DEVICES);
    assert_string_equal(set->devices[63].name, "gpu.63");
    berth_device_set_free(set);
    text[4 * 64 - 1] = ',';
    text[4 * 65 - 1] = 0;
    expect_refusal(ctx, text, BERTH_E_LIMIT, "at most 64 devices");
}

static void links_go_through_the_host(void **state) {
    berth_ctx *ctx = *state;
    berth_device_set *set = read_set(ctx, "gpu,cpu,npu,gpu");
    int32_t n = set->n_devices, host = set->host;
    assert_int_equal(host, 1);
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = 0; to < n; to++) {
            const berth_link *link = &set->links[from * n + to];
            if (from == to) {
                assert_true(link->fixed_ms == 0 && link->ms_per_byte == 0);
                continue;
            }
            assert_true(link->queued && link->fixed_ms > 0 && link->ms_per_byte > 0);
            if (from == host || to == host) continue;
            const berth_link *in = &set->links[from * n + host], *out = &set->links[host * n + to];
            assert_true(link->fixed_ms == in->fixed_ms + out->fixed_ms);
            assert_true(link->ms_per_byte == in->ms_per_byte + out->ms_per_byte);
        }
    berth_device_set_free(set);
    set = read_set(ctx, "gpu,npu"); /* no CPU: the legs of both count */
    berth_device_set *with_cpu = read_set(ctx, "cpu,gpu,npu");
    assert_true(set->links[1].fixed_ms == with_cpu->links[1 * 3 + 2].fixed_ms);
    berth_device_set_free(set);
    berth_device_set_free(with_cpu);
}

static void profiles_are_sensible(void **state) {
    berth_ctx *ctx = *state;
    int32_t n = 0;
    for (; berth_profile_name(n); n++) {
        berth_device_set *set = read_set(ctx, berth_profile_name(n));
        assert_true(strlen(berth_profile_summary(n)) > 20);
        assert_int_equal(set->model, BERTH_MODEL_SERIAL);
        for (int32_t d = 0; d < set->n_devices; d++) {
            const berth_device *device = &set->devices[d];
            assert_true(device->flops[BERTH_TYPE_F32] >= 1e12 && device->flops[BERTH_TYPE_F32] < 1e15);
            assert_true(device->bandwidth >= 1e10 && device->bandwidth < 1e13);
            assert_true(device->launch_ms > 0 && device->launch_ms < 1);
            assert_true(device->memory_bytes >= 1e9);
            for (int cls = 0; cls < BERTH_WORK_CLASS_COUNT; cls++)
                assert_true(device->efficiency[cls] > 0 && device->efficiency[cls] <= 1);
        }
        berth_device_set_free(set);
    }
    assert_int_equal(n, 5);
    assert_null(berth_profile_name(-1));
    assert_null(berth_profile_summary(n));
}

static void models_have_names(void **state) {
    (void)state;
    for (int model = 0; model < BERTH_MODEL_COUNT; model++)
        assert_int_equal(berth_model_find(berth_model_name((berth_model)model)), model);
    assert_int_equal(berth_model_find("Serial"), BERTH_MODEL_COUNT);
    assert_string_equal(berth_model_name(BERTH_MODEL_COUNT), "unknown");
}

static void expect_given(berth_ctx *ctx, const char *file, berth_model model, const char *first, int32_t n) {
    berth_graph *graph = support_read(ctx, support_source(file));
    berth_device_set *set = NULL;
    assert_int_equal(berth_device_set_given(ctx, &set, graph), BERTH_OK);
    assert_int_equal(set->n_devices, n);
    assert_int_equal(set->model, model);
    assert_int_equal(set->host, 0);
    assert_string_equal(set->devices[0].name, first);
    assert_true(set->piece_ms == 0);
    for (int32_t i = 0; i < n * n; i++) assert_false(set->links[i].queued);
    for (int32_t d = 0; d < n && graph->given->capacity; d++)
        assert_true(set->devices[d].memory_bytes == graph->given->capacity[d]);
    berth_graph_free(graph); /* the set keeps what it needs */
    assert_string_equal(set->devices[0].name, first);
    berth_device_set_free(set);
}

static void workloads_bring_devices(void **state) {
    berth_ctx *ctx = *state;
    expect_given(ctx, "tests/golden/msr.json", BERTH_MODEL_CONTIGUOUS, "cpu", 3);
    expect_given(ctx, "tests/golden/moirai.csv", BERTH_MODEL_CONCURRENT, "dev.0", 2);
    expect_given(ctx, "tests/golden/topcuoglu.csv", BERTH_MODEL_CONCURRENT, "dev.0", 3);
    berth_graph *graph = support_read(ctx, support_source("models/resnet50.onnx"));
    berth_device_set *set = NULL;
    assert_int_equal(berth_device_set_given(ctx, &set, graph), BERTH_E_ARG);
    assert_null(set);
    berth_graph_free(graph);
}

static void workloads_have_at_most_64_devices(void **state) {
    berth_ctx *ctx = *state;
    const char *text =
        "{\"maxFPGAs\": 64, \"maxCPUs\": 1, \"maxSizePerFPGA\": 1, \"nodes\": [{\"id\": 0, "
        "\"supportedOnFpga\": true, \"cpuLatency\": 1, \"fpgaLatency\": 1, \"size\": 0}], \"edges\": []}";
    berth_graph *graph = NULL;
    berth_device_set *set = NULL;
    assert_int_equal(berth_graph_read_memory(ctx, &graph, text, strlen(text), "many", NULL), BERTH_OK);
    assert_int_equal(berth_device_set_given(ctx, &set, graph), BERTH_E_LIMIT);
    assert_null(set);
    berth_graph_free(graph);
}

static berth_status ladder_read(berth_ctx *ctx, void *text) {
    berth_device_set *set = NULL;
    berth_status status = berth_device_set_read(ctx, &set, text);
    berth_device_set_free(set);
    return status;
}

static berth_status ladder_given(berth_ctx *ctx, void *graph) {
    berth_device_set *set = NULL;
    berth_status status = berth_device_set_given(ctx, &set, graph);
    berth_device_set_free(set);
    return status;
}

static void memory_may_run_out(void **state) {
    berth_ctx *ctx = *state;
    assert_true(support_ladder(ladder_read, "cpu,gpu,gpu", 1) >= 2);
    assert_true(support_ladder(ladder_read, "paper", 1) >= 2);
    assert_true(support_ladder(ladder_read, (void *)(uintptr_t)support_source("tests/golden/devices.json"), 1) >= 4);
    berth_graph *graph = support_read(ctx, support_source("tests/golden/msr.json"));
    assert_true(support_ladder(ladder_given, graph, 1) >= 2);
    berth_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_profiles_are_numbered),
        cmocka_unit_test(unknown_profiles_are_refused),
        cmocka_unit_test(there_may_be_64_devices),
        cmocka_unit_test(links_go_through_the_host),
        cmocka_unit_test(profiles_are_sensible),
        cmocka_unit_test(models_have_names),
        cmocka_unit_test(workloads_bring_devices),
        cmocka_unit_test(workloads_have_at_most_64_devices),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("device.set", tests, support_open, support_close);
}
