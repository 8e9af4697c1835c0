/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO: names of devices, element types by version, placements and reports as files; libraries that do everything
 * wrong; and, where it was fetched, that its devices work. */
#include "runtime/runtime.h"

#include "support.h"

#include "runtime/ov_device.h"
#include "runtime/ov_map.h"
#include "runtime/ov_report.h"
#include "runtime/ov_types.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* --- element types ---------------------------------------------------------------------------------------------- */

/* As the headers of these releases number them (that of 2024.0 as its Python package hashes types). */
static void types_by_version(void **state) {
    static const struct {
        int year, number, boolean, f32, i64, u1, u4, u8, u64, string;
    } rows[] = {
        {2024, 0, 2, 5, 11, 12, 13, 14, 17, 21}, {2024, 1, 2, 5, 11, 12, 15, 17, 20, 24},
        {2024, 6, 2, 5, 11, 12, 15, 17, 20, 24}, {2025, 0, 2, 5, 11, 12, 15, 17, 20, 24},
        {2025, 1, 1, 4, 10, 11, 14, 16, 19, 23}, {2025, 4, 1, 4, 10, 11, 14, 16, 19, 23},
        {2026, 4, 1, 4, 10, 11, 14, 16, 19, 23},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int y = rows[i].year, n = rows[i].number;
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_BOOL), rows[i].boolean);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_F32), rows[i].f32);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_I64), rows[i].i64);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_U1), rows[i].u1);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_U4), rows[i].u4);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_U8), rows[i].u8);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_U64), rows[i].u64);
        assert_int_equal(berth_ov_type_number(y, n, BERTH_TYPE_STRING), rows[i].string);
        assert_int_equal(berth_ov_type(y, n, 0), BERTH_TYPE_UNKNOWN);
        for (int type = -1; type < 40; type++) {
            berth_type known = berth_ov_type(y, n, type);
            if (known == BERTH_TYPE_UNKNOWN || known == BERTH_TYPE_F8) continue;
            assert_int_equal(berth_ov_type_number(y, n, known), type);
        }
    }
    assert_int_equal(berth_ov_type_number(2024, 0, BERTH_TYPE_U6), -1);
    assert_int_equal(berth_ov_type_number(2026, 4, BERTH_TYPE_F8), -1); /* one of several */
    assert_int_equal(berth_ov_type_number(2026, 4, BERTH_TYPE_UNKNOWN), -1);
}

static void versions(void **state) {
    static const struct {
        const char *text;
        bool good;
        int year, number;
    } rows[] = {{"2026.4.1-22982-e21-releases/2026/4", true, 2026, 4},
                {"2024.0.0", true, 2024, 0},
                {"2025.4", true, 2025, 4},
                {"", false, 0, 0},
                {"2026", false, 0, 0},
                {"1.25.0", false, 0, 0},
                {"2026.", false, 0, 0},
                {"custom_master_abc", false, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int year = 0, number = 0;
        assert_int_equal(berth_ov_version(rows[i].text, &year, &number), rows[i].good);
        assert_true(year == rows[i].year && number == rows[i].number);
    }
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static void devices_by_name(void **state) {
    berth_ctx *ctx = *state;
    berth_ov_device d;
    assert_int_equal(berth_ov_device_parse(ctx, "GPU.1", &d), BERTH_OK);
    assert_true(strcmp(d.name, "GPU.1") == 0 && !d.is_alias && d.n == 0);
    assert_int_equal(berth_ov_device_parse(ctx, "CPU", &d), BERTH_OK);
    assert_true(!d.is_alias);
    assert_int_equal(berth_ov_device_parse(ctx, "CPU1:bf16:PERFORMANCE_HINT:LATENCY", &d), BERTH_OK);
    assert_true(strcmp(d.name, "CPU1") == 0 && d.is_alias && d.n == 2);
    assert_string_equal(d.keys[0], "INFERENCE_PRECISION_HINT");
    assert_string_equal(d.values[0], "bf16");
    assert_string_equal(d.keys[1], "PERFORMANCE_HINT");
    assert_string_equal(d.values[1], "LATENCY");
    assert_int_equal(d.n_told, 2);
    berth_ov_device_mend(&d); /* bf16 on the CPU: attention stays in parts */
    assert_true(d.n == 3 && d.n_told == 2);
    assert_string_equal(d.keys[2], "SNIPPETS_MODE");
    assert_string_equal(d.values[2], "DISABLE");
    static const char *const whole[] = {"CPU0", "CPU0:f32", "GPU:f16", "CPU1:bf16:SNIPPETS_MODE:ENABLE",
                                        "CPU1:bf16:a:1:b:1:c:1:d:1:e:1:f:1:g:1"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) { /* as their names say; or full */
        assert_int_equal(berth_ov_device_parse(ctx, whole[i], &d), BERTH_OK);
        berth_ov_device_mend(&d);
        assert_int_equal(d.n, d.n_told);
    }
    assert_int_equal(berth_ov_device_precision("CPU1:bf16"), BERTH_TYPE_BF16);
    assert_int_equal(berth_ov_device_precision("GPU:A:B:INFERENCE_PRECISION_HINT:f16"), BERTH_TYPE_F16);
    assert_int_equal(berth_ov_device_precision("CPU0:f32"), BERTH_TYPE_F32);
    assert_int_equal(berth_ov_device_precision("CPU0:KV_CACHE_PRECISION:bf16"), BERTH_TYPE_UNKNOWN);
    assert_int_equal(berth_ov_device_precision("CPU0"), BERTH_TYPE_UNKNOWN);
    assert_int_equal(berth_ov_device_precision("bf16"), BERTH_TYPE_UNKNOWN);
    assert_int_equal(berth_ov_device_precision("NPU"), BERTH_TYPE_F16); /* it has no other */
    assert_true(berth_ov_device_is_cpu("CPU0") && berth_ov_device_is_cpu("CPU") && !berth_ov_device_is_cpu("GPU"));
    static const char *const bad[] = {"",
                                      ":bf16",
                                      "CPU:",
                                      "CPU0:bf17",
                                      "CPU0:K:",
                                      "CPU0:KEY",
                                      "CPU.0",
                                      "C PU",
                                      "CPU1:f32:bf16",
                                      "CPU1:K:1:K:2",
                                      "<CPU0>",
                                      "CPU0\"",
                                      "CPU0::f32",
                                      "CPU:a:1:b:1:c:1:d:1:e:1:f:1:g:1:h:1:i:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(berth_ov_device_parse(ctx, bad[i], &d), BERTH_E_ARG);
        assert_null(strchr(berth_ctx_message(ctx), '\n'));
    }
    static const char *const good[] = {"CPU0", "CPU1:bf16", "GPU"}, *const twice[] = {"CPU0", "GPU", "CPU0:bf16"};
    assert_int_equal(berth_ov_device_check(ctx, good, 3), BERTH_OK);
    assert_int_equal(berth_ov_device_check(ctx, twice, 3), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(ctx), "'CPU0:bf16'"));
}

/* --- files ------------------------------------------------------------------------------------------------------ */

/* All that runs is in the map, by name and tensor, and nothing else. */
static void maps_survive_a_file(void **state) {
    berth_ctx *ctx = *state;
    static const char *const devices[] = {"CPU0", "CPU1:bf16"};
    berth_graph *graph = support_read(ctx, support_source("models/ir/resnet50.xml"));
    int32_t n_ops = berth_graph_op_count(graph);
    berth_arena arena;
    berth_text *text = NULL;
    const berth_ov_mark *marks = NULL;
    size_t n = 0, at = 0;
    char path[] = "/tmp/berth-map-XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    int32_t *device = berth_arena_push(&arena, (size_t)n_ops, sizeof *device);
    for (int32_t i = 0; i < n_ops; i++) device[i] = i % 3 == 0;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_json_object_begin(text, NULL);
    berth_ov_map_write(text, graph, devices, 2, device);
    berth_json_object_end(text);
    assert_int_equal(berth_text_write(ctx, text, path), BERTH_OK);
    assert_int_equal(berth_ov_map_read(ctx, &arena, path, &marks, &n), BERTH_OK);
    for (int32_t i = 0; i < n_ops; i++) {
        const berth_op *op = berth_graph_op(graph, i);
        if (!berth_ov_map_has(op)) continue;
        assert_true(at < n);
        assert_string_equal(marks[at].name, op->name);
        assert_string_equal(marks[at].tensor, berth_graph_tensor(graph, op->outputs[0])->name);
        assert_string_equal(marks[at].device, device[i] ? "CPU1" : "CPU0");
        at++;
    }
    assert_true(at == n && n > 100 && n < (size_t)n_ops);
    static const char *const bad[] = {"", "[]", "{}", "{\"operations\": 3}", "{\"operations\": [{\"name\": \"a\"}]}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *file = fopen(path, "w");
        assert_true(file && fputs(bad[i], file) >= 0 && fclose(file) == 0);
        assert_int_equal(berth_ov_map_read(ctx, &arena, path, &marks, &n), BERTH_E_FORMAT);
    }
    unlink(path);
    berth_text_free(text);
    berth_arena_deinit(&arena);
    berth_graph_free(graph);
}

static void reports_survive_a_file(void **state) {
    berth_ctx *ctx = *state;
    static const char *const pieces[] = {"CPU0", "CPU1"}, *const refused[] = {"a,b \"c\""};
    static const berth_ov_report_node nodes[] = {{{"x", "Input", "x", NAN, 1}, -1},
                                                 {{"y", "Conv", "y,z", 1.25, -1}, 1}};
    berth_ov_reported report = {2, 1, 2, pieces, refused, nodes}, back;
    berth_arena arena;
    berth_text *text = NULL;
    char path[] = "/tmp/berth-report-XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_ov_report_write(text, &report);
    assert_int_equal(berth_text_write(ctx, text, path), BERTH_OK);
    assert_int_equal(berth_ov_report_read(ctx, &arena, path, &back), BERTH_OK);
    assert_true(back.n_pieces == 2 && back.n_refused == 1 && back.n_nodes == 2);
    assert_string_equal(back.pieces[1], "CPU1");
    assert_string_equal(back.refused[0], refused[0]);
    assert_true(isnan(back.nodes[0].node.ms) && back.nodes[0].node.reader == 1 && back.nodes[0].piece == -1);
    assert_true(back.nodes[1].node.ms == 1.25 && back.nodes[1].node.reader == -1 && back.nodes[1].piece == 1);
    assert_string_equal(back.nodes[1].node.originals, "y,z");
    static const char *const bad[] = {
        "{}", "{\"pieces\": [1], \"refused\": [], \"nodes\": []}",
        "{\"pieces\": [\"CPU\"], \"refused\": [], \"nodes\": [{\"name\": \"a\", \"type\": \"b\", \"originals\": \"\", "
        "\"reader\": 1, \"piece\": 0}]}", /* there is no such node */
        "{\"pieces\": [\"CPU\"], \"refused\": [], \"nodes\": [{\"name\": \"a\", \"type\": \"b\", \"originals\": \"\", "
        "\"reader\": -1, \"piece\": 1}]}", /* nor such a piece */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *file = fopen(path, "w");
        assert_true(file && fputs(bad[i], file) >= 0 && fclose(file) == 0);
        assert_int_equal(berth_ov_report_read(ctx, &arena, path, &back), BERTH_E_FORMAT);
    }
    unlink(path);
    berth_text_free(text);
    berth_arena_deinit(&arena);
}

/* --- the library ------------------------------------------------------------------------------------------------ */

static berth_runtime_options with_library(const char *library) {
    berth_runtime_options options = berth_runtime_options_default();
    options.name = "openvino";
    options.library = library;
    options.worker = BERTH_CLI;
    return options;
}

/* What is said of a library when its devices are tried. */
static const char *reason_with(berth_ctx *ctx, const char *how, double seconds, double memory) {
    static char why[1024];
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL;
    int32_t n = 0;
    berth_runtime_options options = with_library(BERTH_FAKE_OV);
    options.seconds = seconds;
    options.memory_bytes = memory;
    setenv("BERTH_FAKE", how, 1);
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_OK);
    assert_int_equal(berth_runtime_devices(ctx, runtime, &devices, &n), BERTH_E_UNSUPPORTED);
    snprintf(why, sizeof why, "%s", berth_ctx_message(ctx));
    assert_null(strchr(why, '\n'));
    berth_runtime_free(runtime);
    unsetenv("BERTH_FAKE");
    return why;
}

static void bad_libraries_do_no_harm(void **state) {
    berth_ctx *ctx = *state;
    assert_non_null(strstr(reason_with(ctx, "2023.3.0-1", 60, INFINITY), "2023.3.0 is too old: 2024.0"));
    assert_non_null(strstr(reason_with(ctx, "nonsense", 60, INFINITY), "'nonsense' is no version"));
    assert_non_null(strstr(reason_with(ctx, "2026.4.1-1", 60, INFINITY), "the fake says no"));
    assert_non_null(strstr(reason_with(ctx, "crash", 60, INFINITY), "signal 11"));
    assert_non_null(strstr(reason_with(ctx, "hang", 1, INFINITY), "took longer than its 1 s"));
    assert_non_null(strstr(reason_with(ctx, "vanish", 60, INFINITY), "ended with status 0"));
    assert_non_null(strstr(reason_with(ctx, "memory", 60, 256 << 20), "more memory than allowed"));
}

static void other_files_are_refused(void **state) {
    berth_ctx *ctx = *state;
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL;
    int32_t n = 0;
    berth_runtime_options options = with_library(support_source("CMakeLists.txt"));
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_OK);
    assert_int_equal(berth_runtime_devices(ctx, runtime, &devices, &n), BERTH_E_UNSUPPORTED);
    assert_non_null(strstr(berth_ctx_message(ctx), "cannot load OpenVINO"));
    berth_runtime_free(runtime);
    options = with_library("/nowhere/libopenvino_c.so");
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_E_IO);
    options = with_library(NULL);
    setenv("BERTH_RUNTIMES", "/nowhere", 1);
    berth_status status = berth_runtime_new(ctx, &runtime, &options);
    unsetenv("BERTH_RUNTIMES");
    if (status == BERTH_OK)
        berth_runtime_free(runtime); /* the system has one */
    else
        assert_non_null(strstr(berth_ctx_message(ctx), "set BERTH_OPENVINO"));
}

static void the_cpu_works(void **state) {
    berth_ctx *ctx = *state;
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL;
    int32_t n = 0, n_aliases = 0;
    berth_runtime_options options = with_library(NULL);
    if (support_is_sanitised()) support_skip("sanitizers refuse to load OpenVINO's threads (RTLD_DEEPBIND)");
    setenv("BERTH_RUNTIMES", support_source(".deps"), 1);
    berth_status status = berth_runtime_new(ctx, &runtime, &options);
    unsetenv("BERTH_RUNTIMES");
    if (status != BERTH_OK) support_skip("OpenVINO was not fetched: scripts/setup runtime");
    assert_int_equal(berth_runtime_devices(ctx, runtime, &devices, &n), BERTH_OK);
    assert_true(n >= 5 && devices[0].works && *devices[0].provider);
    assert_string_equal(devices[0].name, "CPU");
    for (int32_t i = 0; i < n; i++) {
        assert_true(devices[i].works == (*devices[i].reason == 0));
        n_aliases += devices[i].is_alias;
        if (strcmp(devices[i].name, "CPU0") == 0) assert_true(devices[i].works && devices[i].is_alias);
    }
    assert_int_equal(n_aliases, 2);
    assert_int_equal(strncmp(berth_runtime_version(runtime), "20", 2), 0);
    berth_runtime_free(runtime);
}

static berth_status open_once(berth_ctx *ctx, void *user) {
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL;
    int32_t n = 0;
    (void)user;
    berth_runtime_options options = with_library(BERTH_FAKE_OV);
    options.worker = "/bin/true";
    BERTH_TRY(berth_runtime_new(ctx, &runtime, &options));
    berth_status status = berth_runtime_devices(ctx, runtime, &devices, &n);
    berth_runtime_free(runtime);
    return status == BERTH_E_UNSUPPORTED ? BERTH_OK : status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    assert_true(support_ladder(open_once, NULL, 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_by_version),
        cmocka_unit_test(versions),
        cmocka_unit_test(devices_by_name),
        cmocka_unit_test(maps_survive_a_file),
        cmocka_unit_test(reports_survive_a_file),
        cmocka_unit_test(bad_libraries_do_no_harm),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(the_cpu_works),
        cmocka_unit_test(survives_failing_allocations),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, support_open, support_close);
}
