/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO IR, versions 4 to 11: an XML file that holds the graph, beside a .bin with the weights, which is never
 * opened. Every layer is an operation, and edges are listed between ports; shapes stand at the ports, so that
 * nothing is inferred here. */
#include "read/ir.h"

#include "graph/element.h"
#include "read/ir_text.h"
#include "read/readers.h"

#include <inttypes.h>
#include <string.h>

static bool starts_with(const char *bytes, size_t size, const char *start, size_t n) {
    return size >= n && memcmp(bytes, start, n) == 0;
}

bool berth_ir_recognise(const char *bytes, size_t size) {
    if (starts_with(bytes, size, "\xff\xfe<\0", 4) || starts_with(bytes, size, "\xfe\xff\0<", 4)) return true;
    size_t at = starts_with(bytes, size, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < size && berth_ir_is_blank(bytes[at])) at++;
    return at < size && bytes[at] == '<';
}

/* True if OpenVINO may not know the rank of what the operation yields. */
static bool may_lose_rank(const berth_graph *graph, const berth_op *op) {
    for (int32_t i = 0; i < op->n_inputs; i++)
        if (graph->tensors[op->inputs[i]].shape.rank < 0) return true;
    /* Squeeze without axes drops what turns out to be 1; the others take their rank from the length of an input. */
    if (strcmp(op->type, "Squeeze") == 0 && op->n_inputs == 1)
        return !berth_shape_is_static(&graph->tensors[op->inputs[0]].shape);
    bool by_input = strcmp(op->type, "Reshape") == 0 || strcmp(op->type, "Broadcast") == 0;
    return by_input && op->n_inputs > 1 && !berth_shape_is_static(&graph->tensors[op->inputs[1]].shape);
}

/* A tensor whose rank is not known is written like a scalar, without dimensions, and only a Parameter says which it
 * is. Where the rank may have been lost no scalar is certain. */
static void doubt_scalars(berth_graph *graph) {
    for (int32_t i = 0; i < graph->n_ops; i++) {
        const berth_op *op = &graph->ops[graph->order[i]];
        if (!may_lose_rank(graph, op)) continue;
        for (int32_t o = 0; o < op->n_outputs; o++) {
            berth_shape *shape = &graph->tensors[op->outputs[o]].shape;
            if (shape->rank == 0) shape->rank = -1;
        }
    }
}

static berth_tensor *find_input(berth_graph *graph, const char *name) {
    for (int32_t i = 0; i < graph->n_inputs; i++) {
        berth_tensor *tensor = &graph->tensors[graph->inputs[i]];
        if (strcmp(tensor->name, name) == 0 || strcmp(graph->ops[tensor->producer].name, name) == 0) return tensor;
    }
    return NULL;
}

static berth_status bind_shape(berth_build *b, const berth_shape_binding *binding) {
    const char *name = binding->input;
    berth_tensor *tensor = find_input(b->graph, name);
    if (!tensor)
        return berth_build_fail(b, BERTH_E_ARG, -1, "the model has no input '%.200s' to bind a shape to", name);
    if (binding->rank < 0 || binding->rank > BERTH_MAX_RANK ||
        (tensor->shape.rank >= 0 && tensor->shape.rank != binding->rank))
        return berth_build_fail(b, BERTH_E_ARG, -1, "input '%.200s' does not have %d dimensions", name,
                                (int)binding->rank);
    berth_dim *dims = berth_arena_push(berth_build_arena(b), (size_t)binding->rank, sizeof *dims);
    if (!dims) return berth_fail_nomem(b->ctx);
    for (int32_t i = 0; i < binding->rank; i++) {
        int64_t size = binding->dims[i];
        berth_dim allowed = tensor->shape.rank < 0 ? berth_dim_unknown() : tensor->shape.dims[i];
        if (size < 0 || size < allowed.min || size > allowed.max)
            return berth_build_fail(b, BERTH_E_ARG, -1, "dimension %d of input '%.200s' cannot be %" PRId64, (int)i,
                                    name, size);
        dims[i] = berth_dim_static(size);
    }
    tensor->shape = (berth_shape){binding->rank, dims};
    if (!berth_shape_product_fits(&tensor->shape, berth_type_bits(tensor->type)))
        return berth_build_fail(b, BERTH_E_ARG, -1, "the shape of input '%.200s' multiplies beyond 64 bits", name);
    return BERTH_OK;
}

static berth_status read_graph(berth_ir *ir, berth_graph **out, const berth_source *source,
                               const berth_read_options *options) {
    BERTH_TRY(berth_ir_parse(ir, source, options->max_depth));
    BERTH_TRY(berth_ir_link(ir));
    BERTH_TRY(berth_build_link(ir->b));
    doubt_scalars(ir->b->graph);
    for (int32_t i = 0; i < options->n_shapes; i++) BERTH_TRY(bind_shape(ir->b, &options->shapes[i]));
    return berth_build_seal(ir->b, out);
}

berth_status berth_ir_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                           const berth_read_options *options) {
    *out = NULL;
    berth_ir ir = {.ctx = ctx, .allocator = berth_ctx_allocator(ctx)};
    BERTH_TRY(berth_build_new(ctx, &ir.b, BERTH_FORMAT_OPENVINO_IR, source->name));
    ir.arena = berth_build_arena(ir.b);
    berth_status status = read_graph(&ir, out, source, options);
    berth_vec_free(ir.allocator, &ir.inputs);
    berth_vec_free(ir.allocator, &ir.outputs);
    berth_vec_free(ir.allocator, &ir.ports);
    berth_vec_free(ir.allocator, &ir.edges);
    berth_vec_free(ir.allocator, &ir.attributes);
    berth_build_free(ir.b);
    return status;
}
