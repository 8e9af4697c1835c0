/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that the test writes itself: medians over runs, kernels of nodes, and profiles that are none. */
#include "runtime/trace.h"

#include "folder.h"

#include <math.h>
#include <stdio.h>

static const char *path_of(foldered *f) {
    static char path[512];
    snprintf(path, sizeof path, "%s/profile.json", f->folder);
    return path;
}

static berth_status read_text(foldered *f, const char *text, int32_t skip, berth_trace *trace) {
    FILE *file = fopen(path_of(f), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return berth_trace_read(f->ctx, &f->arena, path_of(f), skip, trace);
}

static void expect(foldered *f, const char *text, int32_t skip, berth_trace *trace) {
    if (read_text(f, text, skip, trace) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
}

static void refuse(foldered *f, const char *text, const char *fragment) {
    berth_trace trace;
    assert_int_equal(read_text(f, text, 0, &trace), BERTH_E_FORMAT);
    if (!strstr(berth_ctx_message(f->ctx), fragment)) fail_msg("'%s' lacks '%s'", berth_ctx_message(f->ctx), fragment);
    assert_non_null(strstr(berth_ctx_message(f->ctx), path_of(f)));
    assert_int_equal(trace.n_nodes, 0);
}

/* Events are written one word each: "a=9000" is a node, "a:700" a kernel of WebGPU, "a!700" one of CUDA, "|" ends a
 * run. Nodes are of type "Op" on "P". */
static const char *profile_of(const char *words) {
    static char text[8192];
    size_t n = 0;
    text[n++] = '[';
    while (*words) {
        char name[64] = "", kind = 0;
        int length = 0;
        long us = 0;
        const char *comma = n > 1 ? "," : "";
        if (*words == '|') {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s{\"cat\":\"Session\",\"name\":\"model_run\",\"dur\":9}",
                                  comma);
            words++;
        } else {
            assert_int_equal(sscanf(words, "%63[^=:!]%c%ld%n", name, &kind, &us, &length), 3);
            n += (size_t)snprintf(
                text + n, sizeof text - n,
                kind == '='
                    ? "%s{\"cat\":\"Node\",\"name\":\"%s_kernel_time\",\"dur\":%ld,\"args\":{\"op_name\":\"Op\","
                      "\"provider\":\"P\"}}"
                : kind == ':' ? "%s{\"cat\":\"Api\",\"name\":\"%s&Op&Kernel\",\"dur\":%ld}"
                              : "%s{\"cat\":\"Kernel\",\"name\":\"k\",\"args\":{\"op_name\":\"%s\"},\"dur\":%ld}",
                comma, name, us);
            words += length;
        }
        while (*words == ' ') words++;
        assert_true(n < sizeof text - 2);
    }
    snprintf(text + n, sizeof text - n, "]");
    return text;
}

static void expect_ms(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-12)) fail_msg("%.17g, not %.17g", got, wanted);
}

static void medians_over_runs(void **state) {
    foldered *f = *state;
    const char *text = profile_of("a=9000 b=1 | a=3000 b=2 | a=1000 b=4 |");
    berth_trace trace;
    expect(f, text, 0, &trace);
    assert_true(trace.n_runs == 3 && trace.n_nodes == 2);
    assert_string_equal(trace.nodes[0].name, "a");
    assert_string_equal(trace.nodes[0].type, "Op");
    assert_string_equal(trace.nodes[1].provider, "P");
    expect_ms(trace.nodes[0].host_ms, 3);
    expect_ms(trace.nodes[1].host_ms, 0.002);
    assert_true(isnan(trace.nodes[0].device_ms));
    expect(f, text, 1, &trace);
    expect_ms(trace.nodes[0].host_ms, 2);
    expect_ms(trace.nodes[1].host_ms, 0.003);
    expect(f, text, 100, &trace); /* the last run is never skipped */
    expect_ms(trace.nodes[0].host_ms, 1);
    expect_ms(trace.nodes[1].host_ms, 0.004);
}

/* Several kernels of one node in a run are one sum, in whichever order the device has told of them. */
static void kernels_belong_to_nodes(void **state) {
    foldered *f = *state;
    berth_trace trace;
    expect(f, profile_of("a=10 b=10 c=10 a:1000 a:500 c!70 | a=10 b=10 c=10 a:2000 a:700 c!90 | x:5 x!5"), 0, &trace);
    assert_int_equal(trace.n_nodes, 3);
    expect_ms(trace.nodes[0].device_ms, (1.5 + 2.7) / 2);
    assert_true(isnan(trace.nodes[1].device_ms)); /* the device has not spoken of it */
    expect_ms(trace.nodes[2].device_ms, 0.08);
    expect_ms(trace.nodes[0].host_ms, 0.01);
    /* all at the end, as a device tells that is asked only then */
    expect(f, profile_of("a=10 | a=10 | a=10 | a:1 a:2 a:30 a:40 a:500 a:600"), 1, &trace);
    expect_ms(trace.nodes[0].device_ms, (0.07 + 1.1) / 2);
    /* a kernel is missing in one run: no time is written out of bounds, none is invented */
    expect(f, profile_of("a=10 a:1 a:2 | a=10 a:4 |"), 0, &trace);
    expect_ms(2 * trace.nodes[0].device_ms, 0.007);
}

static void what_is_no_profile(void **state) {
    foldered *f = *state;
    refuse(f, "", "profile.json");
    refuse(f, "[", "profile.json");
    refuse(f, "{}", "not a list of events");
    refuse(f, "7", "not a list of events");
    refuse(f, "[]", "no runs");
    refuse(f, "[1,null,\"x\",{},[],{\"cat\":3,\"name\":null}]", "no runs");
    refuse(f, profile_of("a=1 b=1"), "no runs");
    refuse(f, profile_of("a=1 b=1 | a=1 |"), "not alike");
    refuse(f, profile_of("a=1 b=1 | b=1 a=1 |"), "not alike");
    refuse(f, profile_of("ab=1 | a=1 |"), "not alike");
    refuse(f, profile_of("a=1 | ab=1 |"), "not alike");
    berth_trace trace;
    assert_int_equal(berth_trace_read(f->ctx, &f->arena, "/nowhere/profile.json", 0, &trace), BERTH_E_IO);
}

/* Missing members are nothing, not a crash. */
static void events_may_lack_members(void **state) {
    foldered *f = *state;
    berth_trace trace;
    expect(f,
           "[{\"cat\":\"Session\",\"name\":\"model_run\"},{\"cat\":\"Node\",\"name\":\"a_kernel_time\"},"
           "{\"cat\":\"Node\",\"name\":\"_kernel_time\",\"args\":7,\"dur\":\"x\"},{\"cat\":\"Kernel\"},"
           "{\"cat\":\"Api\"},{\"cat\":\"Api\",\"name\":\"&\"}]",
           0, &trace);
    assert_true(trace.n_nodes == 2 && trace.nodes[0].host_ms == 0);
    assert_string_equal(trace.nodes[0].type, "");
    assert_string_equal(trace.nodes[1].name, "");
    expect(f, profile_of("| |"), 0, &trace); /* everything was folded away */
    assert_true(trace.n_runs == 2 && trace.n_nodes == 0);
}

/* Cut off at any byte, or with any byte changed: read or refused. */
static void damaged_profiles(void **state) {
    foldered *f = *state;
    char good[8192], bad[8192];
    uint64_t random = 5;
    snprintf(good, sizeof good, "%s", profile_of("a=10 b=10 a:1000 a:500 b!7 | a=10 b=10 a:2000 a:700 b!9 |"));
    size_t n = strlen(good);
    for (int i = 0; i < support_cases(400); i++) {
        berth_trace trace;
        berth_mark mark = berth_arena_mark(&f->arena);
        snprintf(bad, sizeof bad, "%s", good);
        size_t at = support_below(&random, (uint32_t)n);
        if (i % 2)
            bad[at] = 0;
        else
            bad[at] = (char)(' ' + support_below(&random, 95));
        berth_status status = read_text(f, bad, 0, &trace);
        assert_true(status == BERTH_OK || status == BERTH_E_FORMAT);
        for (int32_t k = 0; k < trace.n_nodes; k++) assert_true(trace.nodes[k].host_ms >= 0);
        berth_arena_release(&f->arena, mark);
    }
}

static berth_status read_once(berth_ctx *ctx, void *user) {
    berth_arena arena;
    berth_trace trace;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_trace_read(ctx, &arena, user, 0, &trace);
    berth_arena_deinit(&arena);
    return status;
}

static void survives_failing_allocations(void **state) {
    foldered *f = *state;
    berth_trace trace;
    expect(f, profile_of("a=10 b=10 a:1000 | a=10 b=10 a:2000 |"), 0, &trace);
    assert_true(support_ladder(read_once, (void *)path_of(f), 1) > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_over_runs),  cmocka_unit_test(kernels_belong_to_nodes),
        cmocka_unit_test(what_is_no_profile), cmocka_unit_test(events_may_lack_members),
        cmocka_unit_test(damaged_profiles),   cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, folder_open, folder_close);
}
