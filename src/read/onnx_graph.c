/* SPDX-License-Identifier: Apache-2.0 */
/* The top-level graph. Its fields may come in any order, so one walk takes the initializers and notes where nodes and
 * declarations stand; then come inputs (those that are no initializers, as files before IR version 4 list both), nodes
 * in file order, outputs, and last value_info, which may name values that nothing here defines. The walk is the only
 * one that passes by the payloads; in large files it looks through a window, so that no page is mapped for a weight. */
#include "read/onnx_graph.h"

#include "read/onnx_node.h"
#include "read/onnx_tensor.h"
#include "read/onnx_type.h"

enum { WINDOWED_BYTES = 1 << 20 };

/* Where the fields stand that wait for the walk to end. */
typedef struct places {
    BERTH_VEC(size_t) nodes;
    BERTH_VEC(size_t) values; /* inputs, outputs and value_info */
} places;

static berth_status read_initializer(berth_onnx *reader, berth_wire_window *window, const berth_wire_field *field) {
    berth_build *b = reader->b;
    berth_onnx_tensor stored;
    BERTH_TRY(field->number == ONNX_GRAPH_SPARSE_INITIALIZER
                  ? berth_onnx_sparse_read(reader, berth_build_arena(b), field, &stored)
                  : berth_onnx_tensor_read(reader, berth_build_arena(b), window, field, &stored));
    if (!stored.name.size)
        return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "an initializer without a name");
    int32_t index = berth_build_named(b, stored.name.bytes, stored.name.size);
    if (index < 0) return berth_fail_nomem(b->ctx);
    berth_tensor *tensor = &b->tensors.items[index];
    if (tensor->flags & BERTH_TENSOR_INITIALIZER)
        return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "two initializers are called '%.200s'",
                                tensor->name);
    tensor->flags |= BERTH_TENSOR_INITIALIZER;
    berth_onnx_tensor_assign(tensor, &stored);
    return BERTH_OK;
}

static berth_status read_input(berth_onnx *reader, const berth_wire_field *field) {
    berth_build *b = reader->b;
    berth_onnx_declared declared;
    BERTH_TRY(berth_onnx_declared_read(reader, berth_build_arena(b), field, &declared));
    if (!declared.name.size) return berth_build_fail(b, BERTH_E_FORMAT, declared.where, "a model input without a name");
    int32_t index = berth_build_named(b, declared.name.bytes, declared.name.size);
    if (index < 0) return berth_fail_nomem(b->ctx);
    if (b->tensors.items[index].flags & BERTH_TENSOR_INPUT)
        return berth_build_fail(b, BERTH_E_FORMAT, declared.where, "two model inputs are called '%.200s'",
                                b->tensors.items[index].name);
    if (!(b->tensors.items[index].flags & BERTH_TENSOR_INITIALIZER)) berth_build_input(b, index);
    return berth_onnx_declare(reader, index, &declared);
}

static berth_status read_output(berth_onnx *reader, const berth_wire_field *field) {
    berth_build *b = reader->b;
    berth_onnx_declared declared;
    BERTH_TRY(berth_onnx_declared_read(reader, berth_build_arena(b), field, &declared));
    if (!declared.name.size)
        return berth_build_fail(b, BERTH_E_FORMAT, declared.where, "a model output without a name");
    int32_t index = berth_build_find(b, declared.name.bytes, declared.name.size);
    const berth_tensor *tensor = index < 0 ? NULL : &b->tensors.items[index];
    uint32_t given = BERTH_TENSOR_INPUT | BERTH_TENSOR_INITIALIZER;
    if (!tensor || (tensor->producer < 0 && !(tensor->flags & given)))
        return berth_build_fail(b, BERTH_E_FORMAT, declared.where, "nothing produces the model output '%.*s'",
                                declared.name.size > 200 ? 200 : (int)declared.name.size, declared.name.bytes);
    if (!(tensor->flags & BERTH_TENSOR_OUTPUT)) berth_build_output(b, index);
    return berth_onnx_declare(reader, index, &declared);
}

static berth_status read_value(berth_onnx *reader, const berth_wire_field *field) {
    berth_onnx_declared declared;
    BERTH_TRY(berth_onnx_declared_read(reader, berth_build_arena(reader->b), field, &declared));
    int32_t index = berth_build_find(reader->b, declared.name.bytes, declared.name.size);
    return index < 0 ? BERTH_OK : berth_onnx_declare(reader, index, &declared);
}

static berth_status walk_fields(berth_onnx *reader, berth_wire_window *window, const berth_wire_field *graph,
                                places *found) {
    berth_build *b = reader->b;
    const berth_allocator *allocator = berth_ctx_allocator(b->ctx);
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_graph, graph);
    message.wire.window = window;
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        bool noted = true;
        switch (f.number) {
        case ONNX_GRAPH_NODE: noted = berth_vec_push(allocator, &found->nodes, f.where); break;
        case ONNX_GRAPH_INPUT:
        case ONNX_GRAPH_OUTPUT:
        case ONNX_GRAPH_VALUE_INFO: noted = berth_vec_push(allocator, &found->values, f.where); break;
        case ONNX_GRAPH_INITIALIZER:
        case ONNX_GRAPH_SPARSE_INITIALIZER: BERTH_TRY(read_initializer(reader, window, &f)); break;
        case ONNX_GRAPH_NAME:
            b->graph->name =
                berth_arena_string(berth_build_arena(b), berth_onnx_field_name(&message, &f).bytes, f.size);
            noted = b->graph->name != NULL;
            break;
        default: break;
        }
        if (!noted) return berth_fail_nomem(b->ctx);
    }
    return message.status;
}

/* Read the fields of one number among the places. */
static berth_status read_places(berth_onnx *reader, const size_t *where, size_t n, uint32_t number,
                                berth_status (*read)(berth_onnx *reader, const berth_wire_field *field)) {
    for (size_t i = 0; i < n; i++) {
        berth_wire wire = {.bytes = reader->bytes, .at = where[i], .end = reader->size};
        berth_wire_field field;
        if (berth_wire_next(&wire, &field) && field.number == number) BERTH_TRY(read(reader, &field));
    }
    return BERTH_OK;
}

static berth_status read_found(berth_onnx *reader, const places *found) {
    BERTH_TRY(read_places(reader, found->values.items, found->values.n, ONNX_GRAPH_INPUT, read_input));
    BERTH_TRY(read_places(reader, found->nodes.items, found->nodes.n, ONNX_GRAPH_NODE, berth_onnx_node_read));
    BERTH_TRY(berth_onnx_node_rename(reader));
    BERTH_TRY(read_places(reader, found->values.items, found->values.n, ONNX_GRAPH_OUTPUT, read_output));
    return read_places(reader, found->values.items, found->values.n, ONNX_GRAPH_VALUE_INFO, read_value);
}

static void copy_source(const void *source, size_t at, size_t n, void *to) {
    berth_source_copy(source, at, n, to);
}

berth_status berth_onnx_graph_read(berth_onnx *reader, const berth_wire_field *field) {
    places found = {0};
    berth_wire_window window = {.copy = copy_source, .from = reader->source, .size = reader->size};
    bool windowed = reader->source->mapped && reader->size >= WINDOWED_BYTES;
    berth_status status = walk_fields(reader, windowed ? &window : NULL, field, &found);
    if (status == BERTH_OK) status = read_found(reader, &found);
    const berth_allocator *allocator = berth_ctx_allocator(reader->b->ctx);
    berth_vec_free(allocator, &found.nodes);
    berth_vec_free(allocator, &found.values);
    return status;
}
