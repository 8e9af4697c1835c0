/* SPDX-License-Identifier: Apache-2.0 */
/* The ONNX reader: ModelProto to builder. The file is read in place; what a message means is in onnx_*.c, one file per
 * message, and which fields there are in onnx_schema.c. */
#include "read/infer.h"
#include "read/onnx_bind.h"
#include "read/onnx_graph.h"
#include "read/readers.h"

#include <string.h>

enum { F_IR_VERSION = 1, F_GRAPH = 7, F_OPSET = 8, F_PROPERTY = 14, PLAUSIBLE_VERSION = 1000, FIELDS_ASKED = 8 };

/* True if the first fields inside a field are known and well-formed. */
static bool is_plausible(const char *bytes, const berth_wire_field *outer, const berth_onnx_schema *schema) {
    berth_wire wire = {.bytes = bytes, .at = outer->at, .end = outer->at + outer->size};
    berth_wire_field field;
    for (int i = 0; i < FIELDS_ASKED && berth_wire_next(&wire, &field); i++)
        if (!berth_onnx_knows(schema, &field)) return false;
    return !wire.problem;
}

bool berth_onnx_recognise(const char *bytes, size_t size) {
    berth_wire wire = {.bytes = bytes, .end = size};
    berth_wire_field field;
    for (int i = 0; i < FIELDS_ASKED && berth_wire_next(&wire, &field); i++) {
        if (!berth_onnx_knows(&berth_onnx_model, &field)) return false;
        if (field.number == F_IR_VERSION) return field.value <= PLAUSIBLE_VERSION;
        /* Text can pass for a field; what is inside one of these tells. */
        if (field.number == F_GRAPH) return is_plausible(bytes, &field, &berth_onnx_graph);
        if (field.number == F_OPSET && !is_plausible(bytes, &field, &berth_onnx_opset)) return false;
        if (field.number == F_PROPERTY && !is_plausible(bytes, &field, &berth_onnx_entry)) return false;
    }
    return !wire.problem;
}

static berth_status read_opset(berth_onnx *reader, const berth_wire_field *field) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_opset, field);
    berth_onnx_name domain = {0};
    int64_t version = 0;
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == ONNX_OPSET_DOMAIN) domain = berth_onnx_field_name(&message, &f);
        if (f.number == ONNX_OPSET_VERSION) version = (int64_t)f.value;
    }
    BERTH_TRY(message.status);
    bool is_default = !domain.size || (domain.size == 7 && memcmp(domain.bytes, "ai.onnx", 7) == 0);
    if (is_default) reader->opset = version;
    return BERTH_OK;
}

static berth_status read_model(berth_onnx *reader) {
    berth_wire_field whole = {.size = reader->size}, graph = {0};
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_model, &whole);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == F_GRAPH) graph = f;
        if (f.number == F_OPSET) BERTH_TRY(read_opset(reader, &f));
    }
    BERTH_TRY(message.status);
    if (!graph.number)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)reader->size, "the model ends without a graph");
    return berth_onnx_graph_read(reader, &graph);
}

static berth_status build(berth_onnx *reader, berth_graph **out) {
    berth_build *b = reader->b;
    BERTH_TRY(read_model(reader));
    b->graph->version = reader->opset;
    BERTH_TRY(berth_build_link(b));
    BERTH_TRY(berth_onnx_bind(b, reader->options));
    BERTH_TRY(berth_onnx_infer(b, reader->opset));
    return berth_build_seal(b, out);
}

berth_status berth_onnx_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                             const berth_read_options *options) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_onnx reader = {.source = source, .bytes = source->bytes, .size = source->size, .options = options};
    BERTH_TRY(berth_build_new(ctx, &reader.b, BERTH_FORMAT_ONNX, source->name));
    berth_arena_init(&reader.scratch, allocator);
    berth_map_init(&reader.scope, ctx);
    berth_map_init(&reader.captured, ctx);
    berth_status status = build(&reader, out);
    berth_vec_free(allocator, &reader.inputs);
    berth_vec_free(allocator, &reader.outputs);
    berth_vec_free(allocator, &reader.defined);
    berth_map_deinit(&reader.captured);
    berth_map_deinit(&reader.scope);
    berth_arena_deinit(&reader.scratch);
    berth_build_free(reader.b);
    return status;
}
