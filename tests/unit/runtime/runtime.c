/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the library and trying devices; a library that does everything wrong; the wire between the processes. */
#include "runtime/runtime.h"

#include "runtime/copies.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* What a device is said to be with the fake library. */
static const char *reason_with(berth_ctx *ctx, const char *how, double seconds, double memory, berth_status status) {
    static char why[1024];
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL;
    int32_t n = 0;
    berth_runtime_options options = berth_runtime_options_default();
    options.library = BERTH_FAKE_ORT;
    options.worker = BERTH_CLI;
    options.seconds = seconds;
    options.memory_bytes = memory;
    setenv("BERTH_FAKE", how, 1);
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_OK);
    assert_int_equal(berth_runtime_devices(ctx, runtime, &devices, &n), status);
    snprintf(why, sizeof why, "%s", berth_ctx_message(ctx));
    berth_runtime_free(runtime);
    unsetenv("BERTH_FAKE");
    return why;
}

static void bad_libraries_do_no_harm(void **state) {
    berth_ctx *ctx = *state;
    assert_non_null(strstr(reason_with(ctx, "old", 60, INFINITY, BERTH_E_UNSUPPORTED), "1.19.2 is too old: 1.25"));
    assert_non_null(strstr(reason_with(ctx, "crash", 60, INFINITY, BERTH_E_UNSUPPORTED), "signal 11"));
    assert_non_null(strstr(reason_with(ctx, "hang", 1, INFINITY, BERTH_E_UNSUPPORTED), "took longer than its 1 s"));
    assert_non_null(strstr(reason_with(ctx, "vanish", 60, INFINITY, BERTH_E_UNSUPPORTED), "ended with status 0"));
    assert_non_null(strstr(reason_with(ctx, "memory", 60, 256 << 20, BERTH_E_UNSUPPORTED), "more memory than allowed"));
}

static void missing_libraries_are_told(void **state) {
    berth_ctx *ctx = *state;
    berth_runtime *runtime = NULL;
    berth_runtime_options options = berth_runtime_options_default();
    options.worker = BERTH_CLI;
    options.library = "/nowhere/libonnxruntime.so";
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(ctx), "/nowhere/libonnxruntime.so"));
    assert_null(runtime);
    options.library = NULL;
    setenv("BERTH_RUNTIMES", "/nowhere", 1);
    berth_status status = berth_runtime_new(ctx, &runtime, &options);
    unsetenv("BERTH_RUNTIMES");
    if (status == BERTH_OK)
        berth_runtime_free(runtime); /* the system has one */
    else
        assert_non_null(strstr(berth_ctx_message(ctx), "set BERTH_ONNXRUNTIME"));
    options.library = BERTH_FAKE_ORT;
    options.worker = "/nowhere/berth";
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_E_IO);
    options.name = "tensorflow";
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(ctx), "tensorflow"));
}

/* A library that is no ONNX Runtime at all: the C library, and a text. */
static void other_files_are_refused(void **state) {
    berth_ctx *ctx = *state;
    const char *const files[] = {"CMakeLists.txt", NULL};
    for (int i = 0; files[i]; i++) {
        berth_runtime *runtime = NULL;
        const berth_found_device *devices = NULL;
        int32_t n = 0;
        berth_runtime_options options = berth_runtime_options_default();
        options.library = support_source(files[i]);
        options.worker = BERTH_CLI;
        assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_OK);
        assert_int_equal(berth_runtime_devices(ctx, runtime, &devices, &n), BERTH_E_UNSUPPORTED);
        assert_non_null(strstr(berth_ctx_message(ctx), "cannot load ONNX Runtime"));
        berth_runtime_free(runtime);
    }
}

/* The real one, where the set-up has fetched it. */
static void the_cpu_works(void **state) {
    berth_ctx *ctx = *state;
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL, *again = NULL;
    int32_t n = 0;
    berth_runtime_options options = berth_runtime_options_default();
    options.worker = BERTH_CLI;
    options.library = support_source(".deps/onnxruntime/libonnxruntime.so.1");
    if (access(options.library, R_OK) != 0) support_skip("ONNX Runtime was not fetched: scripts/setup runtime");
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_OK);
    assert_string_equal(berth_runtime_version(runtime), "");
    assert_int_equal(berth_runtime_devices(ctx, runtime, &devices, &n), BERTH_OK);
    assert_true(n > 2 && devices[0].works);
    assert_string_equal(devices[0].name, "cpu");
    assert_true(devices[0].load_ms > 0 && devices[0].first_ms > 0);
    for (int32_t i = 1; i < n; i++) assert_true(devices[i].works == (*devices[i].reason == 0));
    assert_int_equal(strncmp(berth_runtime_version(runtime), "1.", 2), 0);
    assert_int_equal(berth_runtime_devices(ctx, runtime, &again, &n), BERTH_OK);
    assert_ptr_equal(again, devices);
    berth_runtime_free(runtime);
}

static void jobs_survive_the_wire(void **state) {
    berth_ctx *ctx = *state;
    berth_arena arena;
    berth_text *text = NULL;
    const char *const devices[] = {"webgpu", NULL};
    const berth_job_file inputs[] = {{"x \"quoted\"", "/tmp/x.npy"}, {"y", "y.npy"}};
    const berth_job_place io[] = {{"y", "webgpu"}};
    berth_job job = {.kind = BERTH_JOB_RUN,
                     .runtime = "onnxruntime",
                     .library = "lib.so",
                     .devices = devices,
                     .model = "m.onnx",
                     .assignment = "A(=a);B(=b)",
                     .optimisation = BERTH_OPTIMISE_BASIC,
                     .threads = 3,
                     .native_precision = true,
                     .inputs = inputs,
                     .n_inputs = 2,
                     .io = io,
                     .n_io = 1,
                     .least_runs = 5,
                     .most_runs = 50,
                     .run_seconds = 0.25,
                     .profile = "prefix"};
    berth_job back;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_job_write(text, &job);
    assert_int_equal(berth_job_read(ctx, &arena, berth_text_string(text), berth_text_size(text), &back), BERTH_OK);
    assert_int_equal(back.kind, job.kind);
    assert_string_equal(back.devices[0], "webgpu");
    assert_null(back.devices[1]);
    assert_string_equal(back.model, "m.onnx");
    assert_null(back.folder);
    assert_string_equal(back.assignment, job.assignment);
    assert_int_equal(back.optimisation, job.optimisation);
    assert_true(back.native_precision && back.threads == 3 && back.least_runs == 5 && back.most_runs == 50);
    assert_int_equal(back.n_inputs, 2);
    assert_string_equal(back.inputs[0].name, inputs[0].name);
    assert_string_equal(back.inputs[1].file, "y.npy");
    assert_true(back.run_seconds == 0.25 && back.n_io == 1);
    assert_string_equal(back.io[0].name, "y");
    assert_string_equal(back.io[0].device, "webgpu");
    assert_null(back.output_folder);
    assert_int_equal(berth_job_read(ctx, &arena, "{}", 2, &back), BERTH_E_FORMAT);
    assert_int_equal(berth_job_read(ctx, &arena, "", 0, &back), BERTH_E_FORMAT);
    berth_text_free(text);
    berth_arena_deinit(&arena);
}

/* Sizes that do not ascend and times below nothing are no answer. */
static void copies_survive_the_wire(void **state) {
    berth_ctx *ctx = *state;
    berth_copy copies[] = {{4096, 0.25 + 4096e-6, 0.5}, {16384, 0.25 + 16384e-6, 0.5}, {1 << 20, 0.25 + 1.048576, 0.5}};
    berth_answer answer = {.version = "1", .n_copies = 3, .copies = copies}, back;
    for (int broken = 0; broken < 3; broken++) {
        berth_arena arena;
        berth_text *text = NULL;
        if (broken == 1) copies[2].bytes = 16384;
        if (broken == 2) copies[2] = (berth_copy){1 << 20, -1, 0.5};
        berth_arena_init(&arena, berth_ctx_allocator(ctx));
        assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
        berth_answer_write(text, &answer);
        assert_int_equal(berth_answer_read(ctx, &arena, berth_text_string(text), berth_text_size(text), &back),
                         broken ? BERTH_E_FORMAT : BERTH_OK);
        if (!broken) {
            double fixed = 0, per_byte = 0;
            assert_int_equal(back.n_copies, 3);
            berth_copies_fit(back.copies, 3, true, &fixed, &per_byte);
            assert_true(fabs(fixed - 0.25) < 1e-9 && fabs(per_byte - 1e-6) < 1e-12);
            berth_copies_fit(back.copies, 3, false, &fixed, &per_byte); /* the size does not matter at all */
            assert_true(fabs(fixed - 0.5) < 1e-3 && per_byte > 0 && per_byte < 1e-8);
        }
        berth_text_free(text);
        berth_arena_deinit(&arena);
    }
}

static berth_status open_once(berth_ctx *ctx, void *user) {
    berth_runtime *runtime = NULL;
    const berth_found_device *devices = NULL;
    int32_t n = 0;
    (void)user;
    berth_runtime_options options = berth_runtime_options_default();
    options.library = BERTH_FAKE_ORT;
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
        cmocka_unit_test(bad_libraries_do_no_harm),     cmocka_unit_test(missing_libraries_are_told),
        cmocka_unit_test(other_files_are_refused),      cmocka_unit_test(the_cpu_works),
        cmocka_unit_test(copies_survive_the_wire),      cmocka_unit_test(jobs_survive_the_wire),
        cmocka_unit_test(survives_failing_allocations),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, support_open, support_close);
}
