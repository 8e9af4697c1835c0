/* SPDX-License-Identifier: Apache-2.0 */
/* Small ONNX graphs made by hand, inferred, and asked for their shapes.
 *
 *     graph *g = graph_new(17);
 *     graph_input(g, "x", BERTH_TYPE_F32, "batch,3,?");        no rank: NULL; a scalar: ""
 *     graph_ints(g, "axes", 1, (int64_t[]){-1});               a stored vector of int64; n -1: a scalar
 *     graph_op(g, "Unsqueeze", "x axes", "y", 0, NULL);        "-" is a port left out
 *     graph_expect(g, "y", "batch,3,?,1");                     infers first
 *     graph_free(g);
 */
#ifndef BERTH_TESTS_INFER_FIXTURE_H
#define BERTH_TESTS_INFER_FIXTURE_H

#include "graph/build.h"
#include "graph/element.h"
#include "read/infer.h"
#include "support.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct graph {
    berth_ctx *ctx;
    berth_build *b;
    int64_t opset;
    bool own_ctx, done;
    berth_status status;
} graph;

/* Initialisers of attributes. */
#define INT(attribute, value)                                                                    \
    {                                                                                            \
        .name = attribute, .kind = BERTH_ATTRIBUTE_INTS, .count = 1, .ints = (const int64_t[]) { \
            value                                                                                \
        }                                                                                        \
    }
#define INTS(attribute, n, ...)                                                                                   \
    {                                                                                                             \
        .name = attribute, .kind = BERTH_ATTRIBUTE_INTS, .count = n, .is_list = true, .ints = (const int64_t[]) { \
            __VA_ARGS__                                                                                           \
        }                                                                                                         \
    }
#define REALS(attribute, n, ...)                                                                                     \
    {                                                                                                                \
        .name = attribute, .kind = BERTH_ATTRIBUTE_FLOATS, .count = n, .is_list = true, .floats = (const double[]) { \
            __VA_ARGS__                                                                                              \
        }                                                                                                            \
    }
#define TEXT(attribute, value) \
    { .name = attribute, .kind = BERTH_ATTRIBUTE_STRING, .count = (int32_t)(sizeof(value) - 1), .string = value }

static inline graph *graph_on(berth_ctx *ctx, int64_t opset) {
    graph *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->ctx = ctx;
    g->opset = opset;
    g->status = berth_build_new(ctx, &g->b, BERTH_FORMAT_ONNX, "test");
    return g;
}

static inline graph *graph_new(int64_t opset) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    graph *g = graph_on(ctx, opset);
    g->own_ctx = true;
    return g;
}

static inline void graph_free(graph *g) {
    berth_build_free(g->b);
    if (g->own_ctx) berth_ctx_free(g->ctx);
    free(g);
}

/* "2,batch,?" in the arena of the graph. */
static inline berth_shape graph_shape(graph *g, const char *text) {
    berth_dim dims[200];
    int32_t rank = 0;
    if (!text) return (berth_shape){.rank = -1};
    while (*text) {
        size_t n = strcspn(text, ",");
        char *end = NULL;
        int64_t size = strtoll(text, &end, 10);
        dims[rank] = end == text + n && n > 0 ? berth_dim_static(size) : berth_dim_unknown();
        if (!berth_dim_is_static(&dims[rank]) && *text != '?')
            dims[rank].symbol = berth_arena_string(berth_build_arena(g->b), text, n);
        rank++;
        text += n + (text[n] == ',');
    }
    return (berth_shape){rank, berth_arena_copy(berth_build_arena(g->b), dims, (size_t)rank, sizeof *dims)};
}

static inline int32_t graph_named(graph *g, const char *name) {
    return berth_build_named(g->b, name, strlen(name));
}

/* What the file says of a tensor that some operation makes. */
static inline void graph_declare(graph *g, const char *name, berth_type type, const char *shape) {
    int32_t tensor = graph_named(g, name);
    if (tensor < 0) return;
    g->b->tensors.items[tensor].type = type;
    g->b->tensors.items[tensor].shape = graph_shape(g, shape);
}

static inline void graph_input(graph *g, const char *name, berth_type type, const char *shape) {
    graph_declare(g, name, type, shape);
    berth_build_input(g->b, graph_named(g, name));
}

static inline void graph_stored(graph *g, const char *name, berth_type type, const char *shape, const void *bytes,
                                size_t n) {
    graph_declare(g, name, type, shape);
    int32_t tensor = graph_named(g, name);
    if (tensor < 0) return;
    berth_tensor *row = &g->b->tensors.items[tensor];
    row->flags |= BERTH_TENSOR_INITIALIZER;
    row->content = berth_arena_copy(berth_build_arena(g->b), bytes, n, 1);
    row->content_size = row->payload_bytes = (int64_t)n;
}

static inline void graph_ints(graph *g, const char *name, int n, const int64_t *values) {
    char shape[24] = "";
    if (n >= 0) snprintf(shape, sizeof shape, "%d", n);
    graph_stored(g, name, BERTH_TYPE_I64, shape, values, (n < 0 ? 1 : (size_t)n) * sizeof *values);
}

static inline void graph_reals(graph *g, const char *name, int n, const float *values) {
    char shape[24] = "";
    if (n >= 0) snprintf(shape, sizeof shape, "%d", n);
    graph_stored(g, name, BERTH_TYPE_F32, shape, values, (n < 0 ? 1 : (size_t)n) * sizeof *values);
}

static inline int32_t graph_ports(graph *g, const char *names, int32_t *ports) {
    int32_t n = 0;
    while (*names) {
        size_t size = strcspn(names, " ");
        ports[n++] = size == 1 && *names == '-' ? -1 : berth_build_named(g->b, names, size);
        names += size + (names[size] == ' ');
    }
    return n;
}

/* Copies, for a compound literal dies with its block. */
static inline const berth_attribute *graph_attributes(berth_arena *arena, int32_t n, const berth_attribute *from) {
    berth_attribute *to = berth_arena_copy(arena, from, (size_t)n, sizeof *from);
    for (int32_t i = 0; to && i < n; i++) {
        size_t count = (size_t)from[i].count;
        if (from[i].ints) to[i].ints = berth_arena_copy(arena, from[i].ints, count, sizeof(int64_t));
        if (from[i].floats) to[i].floats = berth_arena_copy(arena, from[i].floats, count, sizeof(double));
        if (from[i].string) to[i].string = berth_arena_string(arena, from[i].string, count);
    }
    return to;
}

static inline void graph_op_of(graph *g, const char *domain, const char *type, const char *inputs, const char *outputs,
                               int32_t n_attributes, const berth_attribute *attributes) {
    int32_t in[64], out[64];
    int32_t n_in = graph_ports(g, inputs, in), n_out = graph_ports(g, outputs, out);
    berth_op op = {.name = type, .type = type, .domain = domain, .where = 7, .n_attributes = n_attributes};
    op.attributes = graph_attributes(berth_build_arena(g->b), n_attributes, attributes);
    if (g->status == BERTH_OK) g->status = berth_build_ports(g->b, berth_build_op(g->b, &op), in, n_in, 0, out, n_out);
}

static inline void graph_op(graph *g, const char *type, const char *inputs, const char *outputs, int32_t n_attributes,
                            const berth_attribute *attributes) {
    graph_op_of(g, "", type, inputs, outputs, n_attributes, attributes);
}

static inline berth_status graph_infer(graph *g) {
    if (g->done) return g->status;
    g->done = true;
    if (g->status == BERTH_OK) g->status = berth_build_link(g->b);
    if (g->status == BERTH_OK) g->status = berth_onnx_infer(g->b, g->opset);
    return g->status;
}

static inline const berth_tensor *graph_tensor(graph *g, const char *name) {
    if (graph_infer(g) != BERTH_OK) fail_msg("%s", berth_ctx_message(g->ctx));
    return &g->b->graph->tensors[berth_build_find(g->b, name, strlen(name))];
}

/* The shape as graph_input takes it; "!" if not even the rank is known. */
static inline const char *graph_text(const berth_tensor *tensor, char text[2000]) {
    size_t used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < tensor->shape.rank; i++) {
        const berth_dim *dim = &tensor->shape.dims[i];
        char size[40];
        snprintf(size, sizeof size, "%" PRId64, dim->min);
        const char *word = berth_dim_is_static(dim) ? size : dim->symbol ? dim->symbol : "?";
        used += (size_t)snprintf(text + used, 2000 - used, "%s%s", i ? "," : "", word);
    }
    return tensor->shape.rank < 0 ? "!" : text;
}

/* NULL: not even the rank is known. */
static inline void graph_expect(graph *g, const char *name, const char *shape) {
    char text[2000];
    const char *got = graph_text(graph_tensor(g, name), text), *wanted = shape ? shape : "!";
    if (strcmp(got, wanted) != 0) fail_msg("%s is '%s' instead of '%s'", name, got, wanted);
}

static inline void graph_expect_type(graph *g, const char *name, berth_type type) {
    assert_string_equal(berth_type_name(graph_tensor(g, name)->type), berth_type_name(type));
}

/* Inference refuses the graph, and says so in these words and with the place. */
static inline void graph_refuse(graph *g, const char *fragment) {
    berth_status status = graph_infer(g);
    const char *message = berth_ctx_message(g->ctx);
    if (status != BERTH_E_FORMAT) fail_msg("status %d instead of a refusal: %s", (int)status, fragment);
    if (!strstr(message, fragment)) fail_msg("'%s' does not say '%s'", message, fragment);
    if (!strstr(message, "byte 7: ")) fail_msg("'%s' does not name the place", message);
}

#endif
