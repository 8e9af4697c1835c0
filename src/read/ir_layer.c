/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of OpenVINO IR: what their elements say becomes one operation and one tensor per output port.
 *
 * Two dialects are read, and a file may mix them. Versions 10 and 11 name an opset per layer and a precision per
 * output port; Const and Parameter carry type and shape in <data>, which is what OpenVINO itself goes by, whatever
 * their ports say. Before that a layer has one precision and its weights hang in <blobs>; a layer of type Const, or
 * of type Input with a blob, is a constant.
 *
 * A port without dimensions is a scalar in the newer dialect (ir.c takes this back where the rank may be dynamic).
 * The older one leaves dimensions out also where they are not known, so there only a constant that is exactly one
 * element long is taken for a scalar. */
#include "graph/element.h"
#include "read/ir.h"
#include "read/ir_text.h"

#include <inttypes.h>
#include <string.h>

const char *berth_ir_attribute(berth_ir_attributes attributes, const char *name) {
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

static const char *copy_text(berth_ir *ir, const char *text) {
    return berth_arena_string(ir->arena, text, strlen(text));
}

static berth_status fail_value(berth_ir *ir, int64_t line, const char *what, const char *name, const char *value) {
    return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "bad %s \"%.100s\" of %.200s", name, value, what);
}

/* A required attribute that holds an integer of at least 0. */
static berth_status need_int(berth_ir *ir, berth_ir_attributes attributes, const char *what, const char *name,
                             int64_t line, int64_t *out) {
    const char *text = berth_ir_attribute(attributes, name);
    if (!text) return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "%s has no attribute '%s'", what, name);
    if (!berth_ir_text_int(text, strlen(text), out) || *out < 0) return fail_value(ir, line, what, name, text);
    return BERTH_OK;
}

static berth_status need_text(berth_ir *ir, berth_ir_attributes attributes, const char *name, int64_t line,
                              const char **out) {
    const char *text = berth_ir_attribute(attributes, name);
    if (!text) return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "layer has no attribute '%s'", name);
    *out = copy_text(ir, text);
    return *out ? BERTH_OK : berth_fail_nomem(ir->ctx);
}

static berth_status parse_type(berth_ir *ir, const char *what, const char *name, const char *text, int64_t line,
                               berth_type *out) {
    return berth_ir_text_type(text, out) ? BERTH_OK : fail_value(ir, line, what, name, text);
}

static berth_ir_kind find_kind(const char *type) {
    static const struct {
        const char *type;
        berth_ir_kind kind;
    } kinds[] = {
        {"Const", BERTH_IR_CONST},   {"Parameter", BERTH_IR_PARAMETER}, {"Input", BERTH_IR_INPUT},
        {"Result", BERTH_IR_RESULT}, {"Output", BERTH_IR_RESULT},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].type) == 0) return kinds[i].kind;
    return BERTH_IR_COMPUTES;
}

berth_status berth_ir_layer_begin(berth_ir *ir, berth_ir_attributes attributes, int64_t line) {
    berth_ir_layer *layer = &ir->layer;
    *layer = (berth_ir_layer){.op = {.name = "", .type = "", .domain = "", .where = line}};
    layer->ports = (berth_ir_ports){.first_input = (int32_t)ir->inputs.n, .first_output = (int32_t)ir->outputs.n};
    ir->attributes.n = 0;
    BERTH_TRY(need_int(ir, attributes, "layer", "id", line, &layer->op.id));
    BERTH_TRY(need_text(ir, attributes, "name", line, &layer->op.name));
    BERTH_TRY(need_text(ir, attributes, "type", line, &layer->op.type));
    if (!layer->op.type[0])
        return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "layer %" PRId64 " has an empty type", layer->op.id);
    const char *opset = berth_ir_attribute(attributes, "version");
    layer->kind = find_kind(layer->op.type);
    layer->is_modern = opset || ir->version >= 10 || layer->kind == BERTH_IR_PARAMETER;
    if (opset) layer->op.domain = copy_text(ir, opset);
    const char *precision = berth_ir_attribute(attributes, "precision");
    if (precision) BERTH_TRY(parse_type(ir, "layer", "precision", precision, line, &layer->precision));
    return layer->op.domain ? BERTH_OK : berth_fail_nomem(ir->ctx);
}

static berth_status add_attribute(berth_ir *ir, const berth_attribute *attribute) {
    if (!attribute->name || !attribute->string || ir->attributes.n >= INT32_MAX ||
        !berth_vec_push(ir->allocator, &ir->attributes, *attribute))
        return berth_fail_nomem(ir->ctx);
    return BERTH_OK;
}

/* Offset and size of something in the .bin. The two together must stay within what a file can hold. */
static berth_status parse_stored(berth_ir *ir, berth_ir_attributes attributes, const char *what, int64_t line,
                                 int64_t *size) {
    int64_t offset = 0, end = 0;
    BERTH_TRY(need_int(ir, attributes, what, "offset", line, &offset));
    BERTH_TRY(need_int(ir, attributes, what, "size", line, size));
    if (__builtin_add_overflow(offset, *size, &end))
        return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "%s: offset and size add up beyond 64 bits", what);
    return BERTH_OK;
}

berth_status berth_ir_layer_data(berth_ir *ir, berth_ir_attributes attributes, int64_t line) {
    berth_ir_layer *layer = &ir->layer;
    for (berth_ir_attributes a = attributes; *a; a += 2) {
        size_t size = strlen(a[1]);
        if (size > INT32_MAX)
            return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "attribute '%.100s' is too long", a[0]);
        berth_attribute attribute = {.name = copy_text(ir, a[0]), .kind = BERTH_ATTRIBUTE_STRING};
        attribute.count = (int32_t)size;
        attribute.string = berth_arena_string(ir->arena, a[1], size);
        BERTH_TRY(add_attribute(ir, &attribute));
        if (strcmp(a[0], "shape") == 0) layer->shape = attribute.string;
    }
    bool is_const = layer->kind == BERTH_IR_CONST;
    if (!layer->is_modern || (!is_const && layer->kind != BERTH_IR_PARAMETER)) return BERTH_OK;
    layer->data_line = line;
    const char *type = berth_ir_attribute(attributes, "element_type");
    layer->has_type = type;
    if (type) BERTH_TRY(parse_type(ir, "layer", "element_type", type, line, &layer->type));
    layer->has_size = is_const && berth_ir_attribute(attributes, "size");
    if (layer->has_size) BERTH_TRY(parse_stored(ir, attributes, "Const", line, &layer->size));
    return BERTH_OK;
}

berth_status berth_ir_layer_blob(berth_ir *ir, berth_ir_attributes attributes, int64_t line) {
    int64_t size = 0;
    BERTH_TRY(parse_stored(ir, attributes, "blob", line, &size));
    ir->layer.has_blobs = true;
    if (__builtin_add_overflow(ir->layer.op.blob_bytes, size, &ir->layer.op.blob_bytes))
        return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "the blobs of layer %" PRId64 " add up beyond 64 bits",
                                ir->layer.op.id);
    return BERTH_OK;
}

static berth_status add_output(berth_ir *ir, berth_ir_attributes attributes, berth_ir_port *port) {
    berth_tensor tensor = {.name = "", .producer = -1, .port = -1, .type = ir->layer.precision};
    const char *precision = berth_ir_attribute(attributes, "precision");
    if (precision) BERTH_TRY(parse_type(ir, "port", "precision", precision, port->line, &tensor.type));
    if (!precision && ir->layer.is_modern && !ir->layer.precision)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, port->line, "output port %" PRId64 " has no precision",
                                port->id);
    const char *names = berth_ir_attribute(attributes, "names");
    if (names) tensor.name = berth_ir_text_first_name(ir->arena, names);
    if (!tensor.name) return berth_fail_nomem(ir->ctx);
    port->tensor = berth_build_tensor(ir->b, &tensor);
    return port->tensor < 0 ? berth_fail_nomem(ir->ctx) : BERTH_OK;
}

berth_status berth_ir_layer_port(berth_ir *ir, bool is_output, berth_ir_attributes attributes, int64_t line) {
    berth_ir_port port = {.op = (int32_t)ir->b->ops.n, .is_output = is_output, .line = line, .tensor = -1};
    BERTH_TRY(need_int(ir, attributes, "port", "id", line, &port.id));
    if (is_output) BERTH_TRY(add_output(ir, attributes, &port));
    bool pushed = is_output ? ir->outputs.n < INT32_MAX && berth_vec_push(ir->allocator, &ir->outputs, port)
                            : ir->inputs.n < INT32_MAX && berth_vec_push(ir->allocator, &ir->inputs, port);
    return pushed ? BERTH_OK : berth_fail_nomem(ir->ctx);
}

static berth_status copy_shape(berth_ir *ir, const berth_dim *dims, int32_t rank, berth_shape *out) {
    *out = (berth_shape){.rank = rank};
    if (rank > 0) out->dims = berth_arena_copy(ir->arena, dims, (size_t)rank, sizeof *dims);
    return rank > 0 && !out->dims ? berth_fail_nomem(ir->ctx) : BERTH_OK;
}

berth_status berth_ir_layer_port_dims(berth_ir *ir, bool is_output, const berth_dim *dims, int32_t rank) {
    /* An input's dimensions repeat those of the output that feeds it. */
    if (!is_output) return BERTH_OK;
    berth_tensor *tensor = &ir->b->tensors.items[ir->outputs.items[ir->outputs.n - 1].tensor];
    return copy_shape(ir, dims, rank, &tensor->shape);
}

berth_status berth_ir_layer_digest(berth_ir *ir, const char *name, const unsigned char digest[32]) {
    berth_attribute attribute = {.name = copy_text(ir, name), .kind = BERTH_ATTRIBUTE_OPAQUE, .count = 32};
    attribute.string = berth_arena_copy(ir->arena, digest, 32, 1);
    return add_attribute(ir, &attribute);
}

/* Type and shape as <data> has them, for Parameter and Const. */
static berth_status take_data(berth_ir *ir, berth_tensor *tensor) {
    const berth_ir_layer *layer = &ir->layer;
    const berth_op *op = &layer->op;
    if (!layer->has_type || !layer->shape)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, op->where, "%s '%.200s' has no <data> with %s", op->type,
                                op->name, layer->has_type ? "a shape" : "an element_type");
    berth_dim dims[BERTH_MAX_RANK];
    int32_t rank = 0;
    switch (berth_ir_text_shape(layer->shape, dims, &rank)) {
    case BERTH_IR_SHAPE_GOOD: break;
    case BERTH_IR_SHAPE_BAD: return fail_value(ir, layer->data_line, op->type, "shape", layer->shape);
    case BERTH_IR_SHAPE_TOO_LONG:
        return berth_build_fail(ir->b, BERTH_E_FORMAT, layer->data_line, "%s '%.200s' has more than %d dimensions",
                                op->type, op->name, BERTH_MAX_RANK);
    }
    tensor->type = layer->type;
    return copy_shape(ir, dims, rank, &tensor->shape);
}

/* A stored constant may be longer than its shape needs (OpenVINO keeps a byte of an empty one), never shorter. */
static berth_status check_size(berth_ir *ir, const berth_tensor *tensor, int64_t bytes) {
    const berth_op *op = &ir->layer.op;
    if (!berth_shape_product_fits(&tensor->shape, berth_type_bits(tensor->type)))
        return berth_build_fail(ir->b, BERTH_E_FORMAT, op->where, "the dimensions of '%.200s' multiply beyond 64 bits",
                                op->name);
    int64_t needed = berth_tensor_size(tensor->type, &tensor->shape);
    if (bytes >= needed) return BERTH_OK;
    return berth_build_fail(ir->b, BERTH_E_FORMAT, op->where,
                            "'%.200s' stores %" PRId64 " bytes, but its shape needs %" PRId64, op->name, bytes, needed);
}

static void store(berth_tensor *tensor, int64_t bytes) {
    tensor->payload_bytes = bytes;
    tensor->flags |= BERTH_TENSOR_EXTERNAL;
}

static berth_status finish_modern_const(berth_ir *ir, berth_tensor *tensor) {
    const berth_ir_layer *layer = &ir->layer;
    /* The graph of a running network, dumped for inspection, has constants but neither opsets nor data of them. */
    bool is_dumped = !layer->op.domain[0] && !layer->has_size;
    if (is_dumped) return BERTH_OK;
    BERTH_TRY(take_data(ir, tensor));
    if (!layer->has_size)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, layer->op.where, "Const '%.200s' has no <data> with a size",
                                layer->op.name);
    if (!berth_shape_is_static(&tensor->shape))
        return fail_value(ir, layer->data_line, layer->op.type, "shape", layer->shape);
    BERTH_TRY(check_size(ir, tensor, layer->size));
    store(tensor, layer->size);
    return BERTH_OK;
}

static berth_status finish_legacy_const(berth_ir *ir, berth_tensor *tensor) {
    berth_op *op = &ir->layer.op;
    int64_t bytes = op->blob_bytes;
    int bits = berth_type_bits(tensor->type);
    if (tensor->shape.rank == 0 && (bits == 0 || bytes != (bits + 7) / 8)) tensor->shape.rank = -1;
    BERTH_TRY(check_size(ir, tensor, bytes));
    /* The bytes are the tensor's, as in version 10. Those of an Input stay with it, which tells it from a Parameter. */
    if (ir->layer.kind == BERTH_IR_INPUT) return BERTH_OK;
    op->blob_bytes = 0;
    store(tensor, bytes);
    return BERTH_OK;
}

/* Before version 10: no dimensions, nothing known. */
static void forget_scalars(berth_ir *ir) {
    const berth_ir_ports *ports = &ir->layer.ports;
    for (int32_t i = 0; i < ports->n_outputs; i++) {
        berth_tensor *tensor = &ir->b->tensors.items[ir->outputs.items[ports->first_output + i].tensor];
        if (tensor->shape.rank == 0) tensor->shape.rank = -1;
    }
}

/* Parameter, Input and Const: one output, no input. */
static berth_status finish_source(berth_ir *ir) {
    berth_ir_layer *layer = &ir->layer;
    berth_op *op = &layer->op;
    if (layer->ports.n_inputs != 0 || layer->ports.n_outputs != 1)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, op->where,
                                "%s '%.200s' has %d inputs and %d outputs instead of 0 and 1", op->type, op->name,
                                layer->ports.n_inputs, layer->ports.n_outputs);
    berth_tensor *tensor = &ir->b->tensors.items[ir->outputs.items[layer->ports.first_output].tensor];
    if (!layer->is_modern && layer->has_blobs) return finish_legacy_const(ir, tensor);
    if (!layer->is_modern) forget_scalars(ir);
    if (layer->kind == BERTH_IR_CONST) return layer->is_modern ? finish_modern_const(ir, tensor) : BERTH_OK;
    op->flags |= BERTH_OP_INPUT;
    if (!tensor->name[0]) tensor->name = op->name;
    return layer->kind == BERTH_IR_PARAMETER ? take_data(ir, tensor) : BERTH_OK;
}

static berth_status finish_layer(berth_ir *ir) {
    berth_ir_layer *layer = &ir->layer;
    if (layer->kind != BERTH_IR_COMPUTES && layer->op.n_bodies > 0)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, layer->op.where, "%s '%.200s' has a nested graph",
                                layer->op.type, layer->op.name);
    switch (layer->kind) {
    case BERTH_IR_PARAMETER:
    case BERTH_IR_INPUT:
    case BERTH_IR_CONST: return finish_source(ir);
    case BERTH_IR_RESULT:
        layer->op.flags |= BERTH_OP_OUTPUT;
        if (layer->ports.n_inputs == 1) return BERTH_OK;
        return berth_build_fail(ir->b, BERTH_E_FORMAT, layer->op.where, "%s '%.200s' has %d inputs instead of 1",
                                layer->op.type, layer->op.name, layer->ports.n_inputs);
    case BERTH_IR_COMPUTES:
        if (!layer->is_modern) forget_scalars(ir);
        break;
    }
    return BERTH_OK;
}

berth_status berth_ir_layer_end(berth_ir *ir) {
    berth_ir_layer *layer = &ir->layer;
    layer->ports.n_inputs = (int32_t)ir->inputs.n - layer->ports.first_input;
    layer->ports.n_outputs = (int32_t)ir->outputs.n - layer->ports.first_output;
    BERTH_TRY(finish_layer(ir));
    layer->op.n_attributes = (int32_t)ir->attributes.n;
    layer->op.attributes =
        berth_arena_copy(ir->arena, ir->attributes.items, ir->attributes.n, sizeof *ir->attributes.items);
    if (!layer->op.attributes || !berth_vec_push(ir->allocator, &ir->ports, layer->ports) ||
        berth_build_op(ir->b, &layer->op) < 0)
        return berth_fail_nomem(ir->ctx);
    return BERTH_OK;
}

berth_status berth_ir_layer_edge(berth_ir *ir, berth_ir_attributes attributes, int64_t line) {
    berth_ir_edge edge = {.line = line};
    BERTH_TRY(need_int(ir, attributes, "edge", "from-layer", line, &edge.from_layer));
    BERTH_TRY(need_int(ir, attributes, "edge", "from-port", line, &edge.from_port));
    BERTH_TRY(need_int(ir, attributes, "edge", "to-layer", line, &edge.to_layer));
    BERTH_TRY(need_int(ir, attributes, "edge", "to-port", line, &edge.to_port));
    return berth_vec_push(ir->allocator, &ir->edges, edge) ? BERTH_OK : berth_fail_nomem(ir->ctx);
}
