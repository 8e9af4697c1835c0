/* SPDX-License-Identifier: Apache-2.0 */
/* Nested graphs. A name used in one means the nearest definition around its use: the graph's own (inputs, initializers,
 * outputs of its nodes, whatever their order), one of the graphs around it, or a value of the top-level graph; the last
 * is a capture. ONNX forbids that an inner name hides an outer one; here the inner one is taken.
 *
 * One table holds for each name how many of the graphs around the current place define it, so that every name costs
 * the same however deep it stands. The walk recurses once per level, which options->max_depth bounds. */
#include "read/onnx_nest.h"

enum { DEEPEST = 400 }; /* whatever the options allow: the stack is finite */

static berth_status walk_graph(berth_onnx *reader, const berth_wire_field *graph, int32_t depth, berth_onnx_nest *nest);

static berth_status define(berth_onnx *reader, berth_onnx_name name) {
    if (!name.size) return BERTH_OK;
    int32_t *count = berth_map_insert(&reader->scope, name.bytes, name.size, 0, NULL);
    if (!count || !berth_vec_push(berth_ctx_allocator(reader->b->ctx), &reader->defined, name))
        return berth_fail_nomem(reader->b->ctx);
    ++*count;
    return BERTH_OK;
}

static void forget(berth_onnx *reader, size_t n_before) {
    while (reader->defined.n > n_before) {
        berth_onnx_name name = reader->defined.items[--reader->defined.n];
        --*(int32_t *)berth_map_find(&reader->scope, name.bytes, name.size);
    }
}

static berth_status use(berth_onnx *reader, berth_onnx_name name, const berth_onnx_nest *nest) {
    if (!name.size) return BERTH_OK;
    const int32_t *count = berth_map_find(&reader->scope, name.bytes, name.size);
    if (count && *count > 0) return BERTH_OK;
    int32_t *last = berth_map_insert(&reader->captured, name.bytes, name.size, -1, NULL);
    if (!last) return berth_fail_nomem(reader->b->ctx);
    if (*last == nest->op) return BERTH_OK;
    *last = nest->op;
    int32_t tensor = berth_build_named(reader->b, name.bytes, name.size);
    if (tensor < 0 || !berth_vec_push(berth_ctx_allocator(reader->b->ctx), &reader->inputs, tensor))
        return berth_fail_nomem(reader->b->ctx);
    return BERTH_OK;
}

/* Define what the fields `number` of a message name. */
static berth_status define_fields(berth_onnx *reader, const berth_onnx_schema *schema, const berth_wire_field *field,
                                  uint32_t number) {
    berth_onnx_message message = berth_onnx_open(reader, schema, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == number) BERTH_TRY(define(reader, berth_onnx_field_name(&message, &f)));
    return message.status;
}

static berth_status define_sparse(berth_onnx *reader, const berth_wire_field *field) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_sparse, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_SPARSE_VALUES)
            BERTH_TRY(define_fields(reader, &berth_onnx_tensor_proto, &f, ONNX_TENSOR_NAME));
    return message.status;
}

static berth_status define_all(berth_onnx *reader, const berth_wire_field *graph) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_graph, graph);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        switch (f.number) {
        case ONNX_GRAPH_NODE: BERTH_TRY(define_fields(reader, &berth_onnx_node, &f, ONNX_NODE_OUTPUT)); break;
        case ONNX_GRAPH_INITIALIZER:
            BERTH_TRY(define_fields(reader, &berth_onnx_tensor_proto, &f, ONNX_TENSOR_NAME));
            break;
        case ONNX_GRAPH_INPUT: BERTH_TRY(define_fields(reader, &berth_onnx_value, &f, ONNX_VALUE_NAME)); break;
        case ONNX_GRAPH_SPARSE_INITIALIZER: BERTH_TRY(define_sparse(reader, &f)); break;
        default: break;
        }
    }
    return message.status;
}

static berth_status walk_attribute(berth_onnx *reader, const berth_wire_field *attribute, int32_t depth,
                                   berth_onnx_nest *nest) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_attribute, attribute);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_ATTRIBUTE_G || f.number == ONNX_ATTRIBUTE_GRAPHS)
            BERTH_TRY(walk_graph(reader, &f, depth + 1, nest));
    return message.status;
}

static berth_status walk_node(berth_onnx *reader, const berth_wire_field *node, int32_t depth, berth_onnx_nest *nest) {
    bool typed = false;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, node);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == ONNX_NODE_INPUT) BERTH_TRY(use(reader, berth_onnx_field_name(&message, &f), nest));
        if (f.number == ONNX_NODE_OP_TYPE) typed = f.size > 0;
        if (f.number == ONNX_NODE_ATTRIBUTE) BERTH_TRY(walk_attribute(reader, &f, depth, nest));
    }
    BERTH_TRY(message.status);
    if (typed) return BERTH_OK;
    return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)node->where, "a node without op_type");
}

static berth_status walk_output(berth_onnx *reader, const berth_wire_field *output, const berth_onnx_nest *nest) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_value, output);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_VALUE_NAME) BERTH_TRY(use(reader, berth_onnx_field_name(&message, &f), nest));
    return message.status;
}

static berth_status walk_graph(berth_onnx *reader, const berth_wire_field *graph, int32_t depth,
                               berth_onnx_nest *nest) {
    int32_t deepest = reader->options->max_depth < DEEPEST ? reader->options->max_depth : DEEPEST;
    if (depth > deepest)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)graph->where, "graphs are nested more than %d deep",
                                (int)deepest);
    nest->n_bodies++;
    size_t n_before = reader->defined.n;
    BERTH_TRY(define_all(reader, graph));
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_graph, graph);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number != ONNX_GRAPH_NODE) continue;
        nest->n_ops++;
        BERTH_TRY(walk_node(reader, &f, depth, nest));
    }
    BERTH_TRY(message.status);
    message = berth_onnx_open(reader, &berth_onnx_graph, graph);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_GRAPH_OUTPUT) BERTH_TRY(walk_output(reader, &f, nest));
    BERTH_TRY(message.status);
    forget(reader, n_before);
    return BERTH_OK;
}

berth_status berth_onnx_nest_walk(berth_onnx *reader, const berth_wire_field *attribute, berth_onnx_nest *nest) {
    return walk_attribute(reader, attribute, 0, nest);
}
