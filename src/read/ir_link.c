/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of OpenVINO IR. Layers and ports are found by hash, because a file may number them as it likes; each edge
 * joins one output port and one input port, and every input port has exactly one edge. */
#include "read/ir.h"

#include <inttypes.h>
#include <string.h>

enum { PORT_KEY = offsetof(berth_ir_port, line) };
_Static_assert(PORT_KEY == sizeof(int64_t) + 2 * sizeof(int32_t), "a port's key has no padding");

typedef struct lookup {
    berth_map layers; /* operation by id */
    berth_map ports;  /* position in its list by id, operation and side */
} lookup;

static berth_status index_layers(berth_ir *ir, lookup *by) {
    const berth_op *ops = ir->b->ops.items;
    for (size_t i = 0; i < ir->b->ops.n; i++) {
        bool inserted = false;
        const int32_t *op =
            berth_map_insert(&by->layers, (const char *)&ops[i].id, sizeof ops[i].id, (int32_t)i, &inserted);
        if (!op) return berth_fail_nomem(ir->ctx);
        if (!inserted)
            return berth_build_fail(ir->b, BERTH_E_FORMAT, ops[i].where,
                                    "layer id %" PRId64 " is used twice (first in line %" PRId64 ")", ops[i].id,
                                    ops[*op].where);
    }
    return BERTH_OK;
}

static berth_status index_ports(berth_ir *ir, lookup *by, const berth_ir_port *ports, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool inserted = false;
        if (!berth_map_insert(&by->ports, (const char *)&ports[i], PORT_KEY, (int32_t)i, &inserted))
            return berth_fail_nomem(ir->ctx);
        if (!inserted)
            return berth_build_fail(
                ir->b, BERTH_E_FORMAT, ports[i].line, "layer %" PRId64 " has two %s ports with id %" PRId64,
                ir->b->ops.items[ports[i].op].id, ports[i].is_output ? "output" : "input", ports[i].id);
    }
    return BERTH_OK;
}

static const int32_t *find_port(const lookup *by, int32_t op, bool is_output, int64_t id) {
    berth_ir_port wanted = {.id = id, .op = op, .is_output = is_output};
    return berth_map_find(&by->ports, (const char *)&wanted, PORT_KEY);
}

/* One end of an edge: the operation and the position of the port in its list. */
static berth_status find_end(berth_ir *ir, const lookup *by, const berth_ir_edge *edge, bool is_output, int32_t *op,
                             int32_t *port) {
    int64_t layer = is_output ? edge->from_layer : edge->to_layer, id = is_output ? edge->from_port : edge->to_port;
    const int32_t *found = berth_map_find(&by->layers, (const char *)&layer, sizeof layer);
    if (!found)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, edge->line, "edge %s layer %" PRId64 ", which does not exist",
                                is_output ? "from" : "to", layer);
    *op = *found;
    found = find_port(by, *op, is_output, id);
    if (found) {
        *port = *found;
        return BERTH_OK;
    }
    const char *hint =
        find_port(by, *op, !is_output, id) ? is_output ? " (that is an input)" : " (that is an output)" : "";
    return berth_build_fail(ir->b, BERTH_E_FORMAT, edge->line,
                            "edge %s port %" PRId64 " of layer %" PRId64 ", which has no such %s%s",
                            is_output ? "from" : "to", id, layer, is_output ? "output" : "input", hint);
}

static berth_status add_edge(berth_ir *ir, const lookup *by, const berth_ir_edge *raw) {
    berth_edge edge = {0};
    int32_t output = 0, input = 0;
    BERTH_TRY(find_end(ir, by, raw, true, &edge.from, &output));
    BERTH_TRY(find_end(ir, by, raw, false, &edge.to, &input));
    berth_ir_port *reader = &ir->inputs.items[input];
    if (reader->tensor >= 0)
        return berth_build_fail(ir->b, BERTH_E_FORMAT, raw->line,
                                "a second edge to input port %" PRId64 " of layer %" PRId64, raw->to_port,
                                raw->to_layer);
    reader->tensor = ir->outputs.items[output].tensor;
    edge.tensor = reader->tensor;
    edge.from_port = output - ir->ports.items[edge.from].first_output;
    edge.to_port = input - ir->ports.items[edge.to].first_input;
    berth_build_edge(ir->b, &edge);
    return BERTH_OK;
}

static berth_status check_fed(berth_ir *ir) {
    for (size_t i = 0; i < ir->inputs.n; i++) {
        const berth_ir_port *port = &ir->inputs.items[i];
        if (port->tensor >= 0) continue;
        const berth_op *op = &ir->b->ops.items[port->op];
        return berth_build_fail(ir->b, BERTH_E_FORMAT, port->line,
                                "no edge to input port %" PRId64 " of layer %" PRId64 " '%.200s'", port->id, op->id,
                                op->name);
    }
    return BERTH_OK;
}

/* Hands the ports of every operation to the builder, which wants plain lists of tensors. */
static berth_status set_ports(berth_ir *ir) {
    BERTH_VEC(int32_t) list = {0};
    berth_status status = BERTH_OK;
    for (size_t op = 0; op < ir->ports.n && status == BERTH_OK; op++) {
        const berth_ir_ports *ports = &ir->ports.items[op];
        list.n = 0;
        for (int32_t i = 0; i < ports->n_inputs + ports->n_outputs && status == BERTH_OK; i++) {
            const berth_ir_port *port = i < ports->n_inputs
                                            ? &ir->inputs.items[ports->first_input + i]
                                            : &ir->outputs.items[ports->first_output + i - ports->n_inputs];
            if (!berth_vec_push(ir->allocator, &list, port->tensor)) status = berth_fail_nomem(ir->ctx);
        }
        if (status == BERTH_OK)
            status = berth_build_ports(ir->b, (int32_t)op, list.items, ports->n_inputs, 0,
                                       list.items ? list.items + ports->n_inputs : NULL, ports->n_outputs);
    }
    berth_vec_free(ir->allocator, &list);
    return status;
}

/* An output that its file leaves without a name is called by the layer that makes it, as OpenVINO does. */
static berth_status add_output(berth_ir *ir, int32_t index_of_tensor) {
    berth_tensor *tensor = &ir->b->tensors.items[index_of_tensor];
    if (tensor->flags & BERTH_TENSOR_OUTPUT) return BERTH_OK;
    const berth_op *op = &ir->b->ops.items[tensor->producer];
    if (!tensor->name[0])
        tensor->name =
            op->n_outputs == 1 ? op->name : berth_arena_printf(ir->arena, "%s.%d", op->name, (int)tensor->port);
    if (!tensor->name) return berth_fail_nomem(ir->ctx);
    berth_build_output(ir->b, index_of_tensor);
    return BERTH_OK;
}

/* Without a Result (before version 10) the model's outputs are what is computed and never read. */
static berth_status add_unread(berth_ir *ir) {
    bool *read = berth_resize(ir->allocator, NULL, 0, ir->b->tensors.n + 1, sizeof *read);
    if (!read) return berth_fail_nomem(ir->ctx);
    for (size_t i = 0; i < ir->inputs.n; i++) read[ir->inputs.items[i].tensor] = true;
    berth_status status = BERTH_OK;
    for (size_t i = 0; i < ir->outputs.n && status == BERTH_OK; i++) {
        const berth_ir_port *port = &ir->outputs.items[i];
        bool is_source = ir->ports.items[port->op].n_inputs == 0;
        if (!is_source && !read[port->tensor]) status = add_output(ir, port->tensor);
    }
    berth_resize(ir->allocator, read, ir->b->tensors.n + 1, 0, sizeof *read);
    return status;
}

static berth_status add_ends(berth_ir *ir) {
    bool has_result = false;
    for (size_t i = 0; i < ir->b->ops.n; i++) {
        const berth_op *op = &ir->b->ops.items[i];
        if (op->flags & BERTH_OP_INPUT) berth_build_input(ir->b, op->outputs[0]);
        if (!(op->flags & BERTH_OP_OUTPUT)) continue;
        has_result = true;
        BERTH_TRY(add_output(ir, op->inputs[0]));
    }
    return has_result ? BERTH_OK : add_unread(ir);
}

static berth_status link_all(berth_ir *ir, lookup *by) {
    BERTH_TRY(index_layers(ir, by));
    BERTH_TRY(index_ports(ir, by, ir->outputs.items, ir->outputs.n));
    BERTH_TRY(index_ports(ir, by, ir->inputs.items, ir->inputs.n));
    ir->b->explicit_edges = true; /* even if there is not one */
    for (size_t i = 0; i < ir->edges.n; i++) BERTH_TRY(add_edge(ir, by, &ir->edges.items[i]));
    BERTH_TRY(check_fed(ir));
    BERTH_TRY(set_ports(ir));
    return add_ends(ir);
}

berth_status berth_ir_link(berth_ir *ir) {
    lookup by;
    berth_map_init(&by.layers, ir->ctx);
    berth_map_init(&by.ports, ir->ctx);
    berth_status status = link_all(ir, &by);
    berth_map_deinit(&by.ports);
    berth_map_deinit(&by.layers);
    return status;
}
