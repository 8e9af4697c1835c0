/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for tests of plans: made by berth_place, kept as text, damaged, and read back. */
#ifndef BERTH_TESTS_PLANS_H
#define BERTH_TESTS_PLANS_H

#include "support.h"

#include <stdio.h>
#include <unistd.h>

typedef struct made {
    berth_graph *graph;
    berth_device_set *devices;
    berth_plan *plan;
} made;

/* A plan for a file of the source tree. `devices` NULL: the workload's own. */
static inline made make_plan(berth_ctx *ctx, const char *path, const char *devices, berth_place_options how) {
    made m = {.graph = support_read(ctx, support_source(path))};
    berth_status status =
        devices ? berth_device_set_read(ctx, &m.devices, devices) : berth_device_set_given(ctx, &m.devices, m.graph);
    if (status == BERTH_OK) status = berth_place(ctx, &m.plan, m.graph, m.devices, &how);
    if (status != BERTH_OK) fail_msg("%s: %s", path, berth_ctx_message(ctx));
    return m;
}

static inline void free_made(made *m) {
    berth_plan_free(m->plan);
    berth_device_set_free(m->devices);
    berth_graph_free(m->graph);
}

static inline berth_place_options some_options(const char *method) {
    berth_place_options how = berth_place_options_default();
    how.method = method;
    how.evaluations = 200;
    how.seconds = 1e9;
    return how;
}

/* The plan as text; free it. */
static inline char *plan_text(berth_ctx *ctx, const berth_plan *plan, bool search) {
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_plan_write(text, plan, search);
    assert_int_equal(berth_text_status(text), BERTH_OK);
    char *copy = strdup(berth_text_string(text));
    berth_text_free(text);
    return copy;
}

/* `path` ends in XXXXXX, for which a name is found. */
static inline void write_bytes(char *path, const char *bytes, size_t n) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    assert_int_equal(close(fd), 0);
}

/* Reads a plan from bytes by way of a file. */
static inline berth_status read_bytes(berth_ctx *ctx, berth_plan **plan, const char *bytes, size_t n) {
    char path[] = "/tmp/berth-plan-XXXXXX";
    write_bytes(path, bytes, n);
    berth_status status = berth_plan_read(ctx, plan, path);
    unlink(path);
    return status;
}

/* `text` with the first `from` replaced by `to`; free it. */
static inline char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at) fail_msg("the plan does not say '%s'", from);
    size_t before = (size_t)(at - text), rest = strlen(at + strlen(from));
    char *out = malloc(before + strlen(to) + rest + 1);
    assert_non_null(out);
    memcpy(out, text, before);
    strcpy(out + before, to);
    strcpy(out + before + strlen(to), at + strlen(from));
    return out;
}

#endif
