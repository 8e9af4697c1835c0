/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs from text and from random numbers, through the same builder that the readers use. */
#include "graphs.h"

#include "graph/element.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_PORTS = 64, MAX_ATTRIBUTES = 32 };

static berth_type parse_type(const char *word) {
    for (int type = 0; type < BERTH_TYPE_COUNT; type++)
        if (strcmp(word, berth_type_name((berth_type)type)) == 0) return (berth_type)type;
    fail_msg("'%s' is no element type", word);
    return BERTH_TYPE_UNKNOWN;
}

static berth_dim parse_dim(const char *word) {
    if (strcmp(word, "?") == 0) return berth_dim_unknown();
    char *end = NULL;
    berth_dim dim = berth_dim_static(strtoll(word, &end, 10));
    if (strncmp(end, "..", 2) == 0) dim.max = end[2] ? strtoll(end + 2, &end, 10) : INT64_MAX;
    return dim;
}

static berth_shape parse_shape(berth_build *b, char *word) {
    if (strcmp(word, "*") == 0) return (berth_shape){.rank = -1};
    if (strcmp(word, "scalar") == 0) return (berth_shape){.rank = 0};
    berth_dim dims[BERTH_MAX_RANK];
    int32_t rank = 0;
    char *rest = NULL;
    for (char *part = strtok_r(word, "x", &rest); part; part = strtok_r(NULL, "x", &rest))
        dims[rank++] = parse_dim(part);
    return (berth_shape){rank, berth_arena_copy(berth_build_arena(b), dims, (size_t)rank, sizeof *dims)};
}

static const char *word_or_fail(char **rest) {
    const char *word = strtok_r(NULL, " ", rest);
    if (!word) fail_msg("the line ends too early");
    return word;
}

/* "f32 2x3" behind the name of a tensor. */
static int32_t declare(berth_build *b, const char *name, char **rest) {
    berth_type type = parse_type(word_or_fail(rest));
    char *dims = strtok_r(NULL, " ", rest);
    if (!dims) fail_msg("'%s' has no shape", name);
    berth_shape shape = parse_shape(b, dims);
    int32_t tensor = berth_build_named(b, name, strlen(name));
    if (tensor < 0) return -1;
    b->tensors.items[tensor].type = type;
    b->tensors.items[tensor].shape = shape;
    return tensor;
}

static void set_content(berth_build *b, berth_tensor *tensor, const char *hex) {
    size_t n = strlen(hex) / 2;
    unsigned char *bytes = berth_arena_push(berth_build_arena(b), n, 1);
    for (size_t i = 0; bytes && i < n; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    tensor->content = bytes;
    tensor->content_size = (int64_t)n;
}

static void add_initializer(berth_build *b, char **rest) {
    int32_t index = declare(b, word_or_fail(rest), rest);
    if (index < 0) return;
    berth_tensor *tensor = &b->tensors.items[index];
    tensor->flags |= BERTH_TENSOR_INITIALIZER;
    int64_t size = berth_tensor_size(tensor->type, &tensor->shape);
    tensor->payload_bytes = size > 0 ? size : 0;
    if (strtok_r(NULL, " ", rest)) set_content(b, tensor, word_or_fail(rest));
}

static void set_numbers(berth_build *b, berth_attribute *attribute, char *value) {
    int64_t ints[256];
    double floats[256];
    attribute->kind = strpbrk(value, ".n") ? BERTH_ATTRIBUTE_FLOATS : BERTH_ATTRIBUTE_INTS;
    attribute->is_list = strpbrk(value, ",[") != NULL;
    char *rest = NULL;
    for (char *part = strtok_r(value, ",[]", &rest); part; part = strtok_r(NULL, ",[]", &rest)) {
        ints[attribute->count] = strtoll(part, NULL, 10);
        floats[attribute->count++] = strtod(part, NULL);
    }
    berth_arena *arena = berth_build_arena(b);
    if (attribute->kind == BERTH_ATTRIBUTE_INTS)
        attribute->ints = berth_arena_copy(arena, ints, (size_t)attribute->count, sizeof *ints);
    else
        attribute->floats = berth_arena_copy(arena, floats, (size_t)attribute->count, sizeof *floats);
}

/* "name = value" */
static berth_attribute parse_attribute(berth_build *b, char *text) {
    char *rest = NULL;
    const char *name = strtok_r(text, " ", &rest);
    if (!name || strcmp(word_or_fail(&rest), "=") != 0) fail_msg("an attribute without name or value");
    while (*rest == ' ') rest++;
    size_t n = strlen(rest);
    while (n > 0 && rest[n - 1] == ' ') rest[--n] = 0;
    berth_arena *arena = berth_build_arena(b);
    berth_attribute attribute = {.name = berth_arena_string(arena, name, strlen(name))};
    if (*rest == '\'') {
        attribute.kind = BERTH_ATTRIBUTE_STRING;
        attribute.count = (int32_t)n - 2;
        attribute.string = berth_arena_string(arena, rest + 1, n - 2);
    } else if (strcmp(rest, "opaque") == 0) {
        attribute.kind = BERTH_ATTRIBUTE_OPAQUE;
        attribute.count = 32;
        attribute.string = berth_arena_string(arena, "0123456789abcdef0123456789abcdef", 32);
    } else {
        set_numbers(b, &attribute, rest);
    }
    return attribute;
}

static bool is_one_of(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* "domain:Type" */
static void set_type(berth_build *b, berth_op *op, const char *word) {
    berth_arena *arena = berth_build_arena(b);
    const char *colon = strrchr(word, ':');
    const char *type = colon ? colon + 1 : word;
    op->domain = colon ? berth_arena_string(arena, word, (size_t)(colon - word)) : "";
    op->type = berth_arena_string(arena, type, strlen(type));
    if (is_one_of(type, "Parameter", "Input")) op->flags |= BERTH_OP_INPUT;
    if (is_one_of(type, "Result", "Output")) op->flags |= BERTH_OP_OUTPUT;
}

static berth_status add_op(berth_build *b, char *first, char *rest, char *attributes) {
    int32_t inputs[MAX_PORTS], outputs[MAX_PORTS], n_inputs = 0, n_captures = 0, n_outputs = 0;
    berth_attribute list[MAX_ATTRIBUTES];
    berth_arena *arena = berth_build_arena(b);
    berth_op op = {.id = (int64_t)b->ops.n, .where = (int64_t)b->ops.n + 1, .flags = BERTH_OP_UNNAMED};
    set_type(b, &op, first);
    op.name = berth_arena_printf(arena, "%s_%zu", op.type ? op.type : "", b->ops.n);
    char *word = strtok_r(NULL, " ", &rest);
    for (; word && strcmp(word, "->") != 0; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "as") == 0) {
            const char *name = word_or_fail(&rest);
            op.name = berth_arena_string(arena, name, strlen(name));
            op.flags &= ~(uint32_t)BERTH_OP_UNNAMED;
            continue;
        }
        bool capture = *word == '+', none = strcmp(word, "-") == 0;
        inputs[n_inputs + n_captures] = none ? -1 : berth_build_named(b, word + capture, strlen(word + capture));
        capture ? n_captures++ : n_inputs++;
    }
    op.n_bodies = n_captures > 0;
    while (word && (word = strtok_r(NULL, " ", &rest))) {
        if (strcmp(word, ",") == 0) continue;
        outputs[n_outputs++] = strcmp(word, "-") == 0 ? -1 : declare(b, word, &rest);
    }
    for (char *text = strtok_r(NULL, ";", &attributes); text; text = strtok_r(NULL, ";", &attributes))
        list[op.n_attributes++] = parse_attribute(b, text);
    op.attributes = berth_arena_copy(arena, list, (size_t)op.n_attributes, sizeof *list);
    if (arena->failed || b->failed) return berth_fail_nomem(b->ctx);
    int32_t index = berth_build_op(b, &op);
    BERTH_TRY(berth_build_ports(b, index, inputs, n_inputs, n_captures, outputs, n_outputs));
    for (int32_t i = 0; (op.flags & BERTH_OP_INPUT) && i < n_outputs; i++) berth_build_input(b, outputs[i]);
    for (int32_t i = 0; (op.flags & BERTH_OP_OUTPUT) && i < n_inputs; i++) berth_build_output(b, inputs[i]);
    return BERTH_OK;
}

static berth_status add_line(berth_build *b, char *line) {
    char *attributes = NULL, *rest = NULL;
    char *head = strtok_r(line, ";", &attributes);
    char *first = head ? strtok_r(head, " ", &rest) : NULL;
    if (!first) return BERTH_OK;
    if (strcmp(first, "input") == 0) {
        berth_build_input(b, declare(b, word_or_fail(&rest), &rest));
    } else if (strcmp(first, "initializer") == 0) {
        add_initializer(b, &rest);
    } else if (strcmp(first, "output") == 0) {
        const char *name = word_or_fail(&rest);
        berth_build_output(b, berth_build_named(b, name, strlen(name)));
    } else {
        return add_op(b, first, rest, attributes);
    }
    return BERTH_OK;
}

static berth_status add_lines(berth_build *b, char *text) {
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        BERTH_TRY(add_line(b, line));
    return berth_build_link(b);
}

berth_status support_graph_build(berth_ctx *ctx, berth_graph **out, berth_format format, const char *text) {
    *out = NULL;
    berth_build *b = NULL;
    BERTH_TRY(berth_build_new(ctx, &b, format, "test"));
    char *copy = strdup(text);
    berth_status status = add_lines(b, copy);
    free(copy);
    if (status == BERTH_OK) status = berth_build_seal(b, out);
    berth_build_free(b);
    return status;
}

static berth_graph *build_checked(berth_ctx *ctx, berth_format format, const char *text) {
    berth_graph *graph = NULL;
    if (support_graph_build(ctx, &graph, format, text) != BERTH_OK || berth_graph_check(ctx, graph) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return graph;
}

berth_graph *support_graph(berth_ctx *ctx, const char *text) {
    return build_checked(ctx, BERTH_FORMAT_ONNX, text);
}

berth_graph *support_graph_ir(berth_ctx *ctx, const char *text) {
    return build_checked(ctx, BERTH_FORMAT_OPENVINO_IR, text);
}

/* The place in the file of each operation, in the order in which they are drawn. */
static int32_t *draw_places(uint64_t *state, const support_dag *dag) {
    int32_t *place = malloc(((size_t)dag->n_ops + 1) * sizeof *place);
    for (int32_t i = 0; i < dag->n_ops; i++) {
        int32_t j = dag->shuffled ? (int32_t)support_below(state, (uint32_t)i + 1) : i;
        place[i] = place[j];
        place[j] = i;
    }
    return place;
}

static int32_t draw_source(uint64_t *state, const support_dag *dag, int32_t i) {
    int32_t reach = dag->reach > 0 && dag->reach < i && support_below(state, 8) > 0 ? dag->reach : i;
    return i - 1 - (int32_t)support_below(state, (uint32_t)reach);
}

static const char *draw_type(uint64_t *state, const support_dag *dag, bool source) {
    if (source && (int32_t)support_below(state, 100) < dag->constants) return "Constant";
    if (source || !dag->types) return "Custom";
    uint32_t n = 0;
    while (dag->types[n]) n++;
    return dag->types[support_below(state, n)];
}

/* Operation i yields tensor i; its inputs come from those drawn before it. */
static void draw_op(berth_build *b, uint64_t *state, const support_dag *dag, const int32_t *place, int32_t i) {
    int32_t inputs[MAX_PORTS], n = i == 0 ? 0 : (int32_t)support_below(state, (uint32_t)dag->max_inputs + 1);
    for (int32_t k = 0; k < n; k++) inputs[k] = place[draw_source(state, dag, i)];
    bool captures = dag->captures && n > 1 && support_below(state, 8) == 0;
    berth_op *op = &b->ops.items[place[i]];
    op->type = draw_type(state, dag, n == 0);
    op->n_bodies = captures;
    int32_t n_captures = captures ? 1 + (int32_t)support_below(state, (uint32_t)n) : 0;
    if (berth_build_ports(b, place[i], inputs, n - n_captures, n_captures, &place[i], 1) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(b->ctx));
}

berth_graph *support_random_dag(berth_ctx *ctx, uint64_t *state, const support_dag *dag) {
    berth_build *b = NULL;
    berth_graph *graph = NULL;
    assert_int_equal(berth_build_new(ctx, &b, BERTH_FORMAT_ONNX, "random"), BERTH_OK);
    for (int32_t i = 0; i < dag->n_ops; i++) {
        const char *name = berth_arena_printf(berth_build_arena(b), "%d", i);
        berth_build_op(b, &(berth_op){.name = name, .type = "", .domain = "", .id = i, .where = i});
        berth_build_tensor(b, &(berth_tensor){.name = name, .producer = -1, .port = -1, .shape = {.rank = -1}});
    }
    int32_t *place = draw_places(state, dag);
    for (int32_t i = 0; i < dag->n_ops; i++) draw_op(b, state, dag, place, i);
    free(place);
    if (berth_build_link(b) != BERTH_OK || berth_build_seal(b, &graph) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    berth_build_free(b);
    return graph;
}
