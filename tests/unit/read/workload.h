/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the three workload readers share: a good file of ours, and changes that spoil it. */
#ifndef BERTH_TESTS_READ_WORKLOAD_H
#define BERTH_TESTS_READ_WORKLOAD_H

#include "support.h"

#include <math.h>
#include <stdio.h>

typedef struct workload {
    berth_ctx *ctx;
    char *text; /* the good file */
    size_t size;
} workload;

/* `old`, which stands in the good file, becomes `text` (at its first place); the reader must then say `message`. */
typedef struct spoiling {
    const char *old, *text, *message;
} spoiling;

typedef struct change {
    const char *old, *text;
} change;

static inline workload *workload_open(const char *relative) {
    static workload w;
    FILE *file = fopen(support_source(relative), "rb");
    assert_non_null(file);
    w.text = calloc(1, 1 << 16);
    assert_non_null(w.text);
    w.size = fread(w.text, 1, (1 << 16) - 1, file);
    fclose(file);
    assert_int_equal(berth_ctx_new(&w.ctx, NULL), BERTH_OK);
    return &w;
}

static inline int workload_close(void **state) {
    workload *w = *state;
    free(w->text);
    berth_ctx_free(w->ctx);
    return 0;
}

/* The good file with one change, in a block of exactly its size, so that the sanitizer sees what is read beyond. */
static inline char *workload_change(const workload *w, const char *old, const char *text, size_t *size) {
    const char *place = strstr(w->text, old);
    if (!place) fail_msg("'%s' is not in the file", old);
    size_t before = (size_t)(place - w->text), n_old = strlen(old), n_text = strlen(text);
    *size = w->size - n_old + n_text;
    char *changed = malloc(*size ? *size : 1);
    assert_non_null(changed);
    memcpy(changed, w->text, before);
    memcpy(changed + before, text, n_text);
    memcpy(changed + before + n_text, place + n_old, w->size - before - n_old);
    return changed;
}

static inline void workload_refuse(const workload *w, const spoiling *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t size = 0;
        char *changed = workload_change(w, cases[i].old, cases[i].text, &size);
        support_refuse(w->ctx, changed, size, BERTH_E_FORMAT, cases[i].message);
        free(changed);
    }
}

/* The same for changes that leave the file good. */
static inline berth_graph *workload_accept(const workload *w, const char *old, const char *text) {
    berth_graph *graph = NULL;
    size_t size = 0;
    char *changed = workload_change(w, old, text, &size);
    if (berth_graph_read_memory(w->ctx, &graph, changed, size, "test", NULL) != BERTH_OK)
        fail_msg("'%s' for '%s': %s", text, old, berth_ctx_message(w->ctx));
    if (berth_graph_check(w->ctx, graph) != BERTH_OK) fail_msg("%s", berth_ctx_message(w->ctx));
    free(changed);
    return graph;
}

/* Each change, and no change, has a fingerprint of its own. */
static inline void workload_tell_apart(const workload *w, const change *changes, size_t n) {
    char seen[16][65];
    assert_true(n < 16);
    for (size_t i = 0; i <= n; i++) {
        berth_graph *graph = workload_accept(w, i < n ? changes[i].old : "", i < n ? changes[i].text : "");
        snprintf(seen[i], sizeof seen[i], "%s", berth_graph_fingerprint(graph));
        assert_int_equal(strlen(seen[i]), 64);
        for (size_t k = 0; k < i; k++)
            if (strcmp(seen[i], seen[k]) == 0) fail_msg("changes %zu and %zu have the same fingerprint", k, i);
        berth_graph_free(graph);
    }
}

/* Every beginning of the file is refused, with a place, except those that `whole` says are files of their own. */
static inline void workload_cut(const workload *w, size_t whole) {
    for (size_t size = 0; size < whole; size++) {
        char *piece = malloc(size ? size : 1);
        assert_non_null(piece);
        memcpy(piece, w->text, size);
        support_refuse(w->ctx, piece, size, BERTH_E_FORMAT, size < 40 ? "test" : "test:");
        free(piece);
    }
}

static inline berth_status workload_ladder_step(berth_ctx *ctx, void *user) {
    const workload *w = user;
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read_memory(ctx, &graph, w->text, w->size, "test", NULL);
    berth_graph_free(graph);
    return status;
}

static inline void workload_same(const double *got, const double *expected, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(got[i] == expected[i])) fail_msg("[%zu] is %g, not %g", i, got[i], expected[i]);
}

typedef struct workload_op {
    const char *name;
    int64_t id, where;
} workload_op;

static inline void workload_same_ops(const berth_graph *graph, const workload_op *expected, int32_t n) {
    assert_int_equal(berth_graph_op_count(graph), n);
    for (int32_t i = 0; i < n; i++) {
        const berth_op *op = berth_graph_op(graph, i);
        assert_string_equal(op->name, expected[i].name);
        assert_string_equal(op->type, "task");
        assert_int_equal(op->id, expected[i].id);
        assert_int_equal(op->where, expected[i].where);
        assert_int_equal(op->flags, 0);
    }
}

/* Edge by edge: from, to, their ports, and whether two edges share a tensor as expected. */
static inline void workload_same_edges(const berth_graph *graph, const berth_edge *expected, int32_t n) {
    assert_int_equal(berth_graph_edge_count(graph), n);
    assert_int_equal(berth_graph_capture_count(graph), 0);
    for (int32_t e = 0; e < n; e++) {
        const berth_edge *edge = berth_graph_edge(graph, e);
        assert_int_equal(edge->from, expected[e].from);
        assert_int_equal(edge->to, expected[e].to);
        assert_int_equal(edge->from_port, expected[e].from_port);
        assert_int_equal(edge->to_port, expected[e].to_port);
        assert_int_equal(berth_graph_op(graph, edge->from)->outputs[edge->from_port], edge->tensor);
        assert_int_equal(berth_graph_op(graph, edge->to)->inputs[edge->to_port], edge->tensor);
        assert_int_equal(berth_graph_tensor(graph, edge->tensor)->producer, edge->from);
        assert_int_equal(berth_graph_tensor(graph, edge->tensor)->port, edge->from_port);
    }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
