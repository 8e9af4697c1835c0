/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with a small model in it, and a runtime whose worker is fake_worker.c: for tests of what is done with
 * measured times. */
#ifndef BERTH_TESTS_FAKED_H
#define BERTH_TESTS_FAKED_H

#include "support.h"

#include "proto.h"
#include "runtime/runtime.h"
#include "runtime/scratch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAKED_BLOCK = 8, FAKED_BRANCHES = 4 }; /* as many MatMul, then as many Relu */

typedef struct faked {
    berth_ctx *ctx;
    berth_arena arena;
    const char *folder, *model, *log;
    berth_graph *graph;
    berth_runtime *runtime;
    double cpu_ms, other_ms, split_ms; /* what the fake worker takes: alone, and MatMul there and Relu here */
} faked;

static const char *const faked_devices[] = {"cpu", "webgpu"};
static const char *const faked_ov_devices[] = {"CPU0", "CPU1:bf16"}; /* of faked_open_ov() */

static inline void faked_say(const char *how) {
    setenv("BERTH_FAKE_WORKER", how, 1);
}

static inline void faked_write_model(const char *path) {
    proto graph = {0}, weight = {0};
    char from[16] = "x", to[16];
    for (int i = 0; i < 2 * FAKED_BLOCK; i++) {
        char inputs[32];
        snprintf(to, sizeof to, "t%d", i);
        snprintf(inputs, sizeof inputs, i < FAKED_BLOCK ? "%s,w" : "%s", from);
        proto node = onnx_node(i < FAKED_BLOCK ? "MatMul" : "Relu", inputs, to);
        proto_text(&node, 3, to + 1); /* operations are named by their number */
        proto_message(&graph, 1, node);
        memcpy(from, to, sizeof from);
    }
    for (int i = 0; i < 2; i++) proto_int(&weight, 1, 16);
    proto_int(&weight, 2, 1);
    proto_text(&weight, 8, "w");
    char zeros[16 * 16 * 4] = {0};
    proto_bytes(&weight, 9, zeros, sizeof zeros);
    proto_message(&graph, 5, weight);
    proto_message(&graph, 11, onnx_value("x", 1, "16,16"));
    proto_message(&graph, 12, onnx_value(from, 1, "16,16"));
    proto model = onnx_model(graph);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(model.bytes, 1, model.n, file), model.n);
    assert_int_equal(fclose(file), 0);
    proto_free(&model);
}

/* Everything that is made up on the way lies in a folder of its own, so that what is left behind is seen. */
static inline int faked_open_as(void **state, const char *runtime) {
    static faked f;
    f = (faked){.cpu_ms = 5 * FAKED_BLOCK, .other_ms = 5 * FAKED_BLOCK, .split_ms = 2 * FAKED_BLOCK + 0.5};
    berth_runtime_options options = berth_runtime_options_default();
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    assert_int_equal(berth_scratch_make(f.ctx, &f.arena, &f.folder), BERTH_OK);
    f.model = berth_arena_printf(&f.arena, "%s/model.onnx", f.folder);
    f.log = berth_arena_printf(&f.arena, "%s/log", f.folder);
    const char *scratch = berth_arena_printf(&f.arena, "%s/scratch", f.folder);
    assert_int_equal(mkdir(scratch, 0700), 0);
    setenv("TMPDIR", scratch, 1);
    setenv("BERTH_FAKE_LOG", f.log, 1);
    faked_say("");
    faked_write_model(f.model);
    f.graph = support_read(f.ctx, f.model);
    options.name = runtime;
    options.library = f.model; /* nobody opens it */
    options.worker = BERTH_FAKE_WORKER_PROGRAM;
    options.seconds = 60;
    options.threads = 1;
    assert_int_equal(berth_runtime_new(f.ctx, &f.runtime, &options), BERTH_OK);
    *state = &f;
    return 0;
}

static inline int faked_open(void **state) {
    return faked_open_as(state, "onnxruntime");
}

static inline int faked_open_ov(void **state) {
    return faked_open_as(state, "openvino");
}

/* A model without chains, which the published methods take for one operation: MatMul and Relu side by side. */
static inline int faked_open_branches(void **state) {
    proto graph = {0}, weight = {0};
    char to[16], inputs[128] = "", zeros[16 * 16 * 4] = {0};
    if (faked_open(state) != 0) return -1;
    faked *f = *state;
    for (int i = 0; i < 2 * FAKED_BRANCHES; i++) {
        snprintf(to, sizeof to, "t%d", i);
        snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), i ? ",%s" : "%s", to);
        proto node = onnx_node(i < FAKED_BRANCHES ? "MatMul" : "Relu", i < FAKED_BRANCHES ? "x,w" : "x", to);
        proto_text(&node, 3, to + 1);
        proto_message(&graph, 1, node);
    }
    proto node = onnx_node("Max", inputs, "y");
    proto_text(&node, 3, "last");
    proto_message(&graph, 1, node);
    for (int i = 0; i < 2; i++) proto_int(&weight, 1, 16);
    proto_int(&weight, 2, 1);
    proto_text(&weight, 8, "w");
    proto_bytes(&weight, 9, zeros, sizeof zeros);
    proto_message(&graph, 5, weight);
    proto_message(&graph, 11, onnx_value("x", 1, "16,16"));
    proto_message(&graph, 12, onnx_value("y", 1, "16,16"));
    proto model = onnx_model(graph);
    FILE *file = fopen(f->model, "wb");
    bool written = file && fwrite(model.bytes, 1, model.n, file) == model.n;
    if (file) fclose(file);
    proto_free(&model);
    berth_graph_free(f->graph);
    f->graph = written ? support_read(f->ctx, f->model) : NULL;
    f->cpu_ms = 4 * FAKED_BRANCHES + FAKED_BRANCHES + 1;
    f->other_ms = FAKED_BRANCHES + 4 * FAKED_BRANCHES + 4;
    f->split_ms = 2 * FAKED_BRANCHES + 1 + 0.5;
    return f->graph ? 0 : -1;
}

/* How many jobs of a kind there were since the last call, or NULL: of all. */
static inline int faked_jobs(const faked *f, const char *kind) {
    char line[64];
    int n = 0;
    FILE *log = fopen(f->log, "r");
    while (log && fgets(line, sizeof line, log)) n += !kind || strncmp(line, kind, strlen(kind)) == 0;
    if (log) fclose(log);
    return n;
}

static inline void faked_forget(const faked *f) {
    unlink(f->log);
}

static inline int faked_close(void **state) {
    faked *f = *state;
    int left = 0;
    DIR *folder = opendir(getenv("TMPDIR"));
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) left += entry->d_name[0] != '.';
    closedir(folder);
    unsetenv("TMPDIR");
    unsetenv("BERTH_FAKE_WORKER");
    unsetenv("BERTH_FAKE_LOG");
    berth_runtime_free(f->runtime);
    berth_graph_free(f->graph);
    berth_scratch_remove(f->folder);
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return left; /* nothing may be left behind */
}

/* Measurements of a placement on two devices. */
typedef struct faked_case {
    faked *f;
    const char *const *devices;
    berth_placement *placement;
    berth_run_options how;
    berth_measured *out; /* of the last one */
} faked_case;

/* MatMul there, Relu here: what the fake worker runs fastest. */
static inline faked_case faked_case_open(faked *f, const char *const *devices, int32_t rounds) {
    faked_case c = {.f = f, .devices = devices, .how = berth_run_options_default()};
    c.how.rounds = rounds;
    c.how.least_runs = c.how.most_runs = 3;
    assert_int_equal(berth_placement_new(f->ctx, &c.placement, 2 * FAKED_BLOCK, false), BERTH_OK);
    for (int i = 0; i < FAKED_BLOCK; i++) c.placement->device[i] = 1;
    faked_forget(f);
    return c;
}

static inline void faked_case_close(faked_case *c) {
    berth_measured_free(c->out);
    berth_placement_free(c->placement);
}

static inline berth_status faked_case_try(faked_case *c, const char *how) {
    const faked *f = c->f;
    faked_say(how);
    faked_forget(f);
    berth_measured_free(c->out);
    return berth_measure(f->ctx, &c->out, f->runtime, f->graph, f->model, c->devices, 2, c->placement, &c->how);
}

static inline const berth_measured *faked_case_run(faked_case *c, const char *how) {
    if (faked_case_try(c, how) != BERTH_OK) fail_msg("%s: %s", how, berth_ctx_message(c->f->ctx));
    return c->out;
}

static inline berth_status faked_case_once(berth_ctx *ctx, void *user) {
    const faked_case *c = user;
    const faked *f = c->f;
    berth_measured *out = NULL;
    berth_status status =
        berth_measure(ctx, &out, f->runtime, f->graph, f->model, c->devices, 2, c->placement, &c->how);
    berth_measured_free(out);
    return status;
}

/* The same with every allocation failing in turn: how many there are. */
static inline long faked_case_ladder(faked_case *c) {
    return support_ladder(faked_case_once, c, 20);
}

#endif
