/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of the top-level graph. A node without a name is called after its type and first output, which no other
 * node has: such a name stays the same when nodes are added elsewhere in the file. Nested graphs are gone through
 * first, because that is where the depth of nesting is checked. */
#include "read/onnx_node.h"

#include "read/onnx_attribute.h"
#include "read/onnx_constant.h"
#include "read/onnx_nest.h"

#include <assert.h>
#include <string.h>

typedef struct node {
    const berth_wire_field *field;
    berth_onnx_name name, type, domain, first_output;
    size_t n_attributes;
} node;

static bool is_name(berth_onnx_name name, const char *text) {
    return name.size == strlen(text) && (!name.size || memcmp(name.bytes, text, name.size) == 0);
}

static berth_status add_port(berth_onnx *reader, berth_onnx_name name, bool output) {
    const berth_allocator *allocator = berth_ctx_allocator(reader->b->ctx);
    int32_t tensor = name.size ? berth_build_named(reader->b, name.bytes, name.size) : -1;
    bool added = output ? berth_vec_push(allocator, &reader->outputs, tensor)
                        : berth_vec_push(allocator, &reader->inputs, tensor);
    return added && !reader->b->failed ? BERTH_OK : berth_fail_nomem(reader->b->ctx);
}

static berth_status scan_node(berth_onnx *reader, node *n) {
    reader->inputs.n = reader->outputs.n = 0;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, n->field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        berth_onnx_name text = berth_onnx_field_name(&message, &f);
        switch (f.number) {
        case ONNX_NODE_INPUT: BERTH_TRY(add_port(reader, text, false)); break;
        case ONNX_NODE_OUTPUT:
            if (!n->first_output.size) n->first_output = text;
            BERTH_TRY(add_port(reader, text, true));
            break;
        case ONNX_NODE_NAME: n->name = text; break;
        case ONNX_NODE_OP_TYPE: n->type = text; break;
        case ONNX_NODE_DOMAIN: n->domain = text; break;
        default: n->n_attributes++; break;
        }
    }
    BERTH_TRY(message.status);
    if (!n->type.size)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)n->field->where, "a node without op_type");
    if (is_name(n->domain, "ai.onnx")) n->domain.size = 0; /* the other spelling of the default domain */
    if (reader->inputs.n > INT32_MAX / 2 || reader->outputs.n > INT32_MAX || n->n_attributes > INT32_MAX)
        return berth_build_fail(reader->b, BERTH_E_LIMIT, (int64_t)n->field->where, "a node with too many ports");
    return BERTH_OK;
}

static berth_status read_nested(berth_onnx *reader, const node *n, berth_onnx_nest *nest) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, n->field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_NODE_ATTRIBUTE) BERTH_TRY(berth_onnx_nest_walk(reader, &f, nest));
    return message.status;
}

static berth_status read_attributes(berth_onnx *reader, const node *n, berth_op *op) {
    berth_arena *arena = berth_build_arena(reader->b);
    berth_attribute *attributes = berth_arena_push(arena, n->n_attributes, sizeof *attributes);
    if (!attributes) return berth_fail_nomem(reader->b->ctx);
    op->attributes = attributes;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, n->field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_NODE_ATTRIBUTE)
            BERTH_TRY(berth_onnx_attribute_read(reader, arena, &f, &attributes[op->n_attributes++]));
    return message.status;
}

static berth_status read_constant(berth_onnx *reader, const node *n, const berth_onnx_nest *nest) {
    if (!is_name(n->type, "Constant") || n->domain.size || reader->outputs.n < 1 || reader->outputs.items[0] < 0)
        return BERTH_OK;
    if (reader->inputs.n > 0 || nest->n_bodies > 0)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)n->field->where, "a Constant that has inputs");
    bool found = false;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, n->field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_NODE_ATTRIBUTE)
            BERTH_TRY(berth_onnx_constant_read(reader, &f, reader->outputs.items[0], &found));
    BERTH_TRY(message.status);
    if (!found)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)n->field->where, "a Constant without value");
    return BERTH_OK;
}

static berth_status read_fill(berth_onnx *reader, const node *n) {
    if (!is_name(n->type, "ConstantOfShape") || n->domain.size || reader->outputs.n < 1 || reader->outputs.items[0] < 0)
        return BERTH_OK;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, n->field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_NODE_ATTRIBUTE) BERTH_TRY(berth_onnx_fill_read(reader, &f, reader->outputs.items[0]));
    return message.status;
}

static const char *name_node(berth_onnx *reader, const node *n) {
    berth_arena *arena = berth_build_arena(reader->b);
    assert(n->type.bytes); /* a node without op_type was refused */
    if (n->name.size) return berth_arena_string(arena, n->name.bytes, n->name.size);
    size_t size = n->type.size + 1 + n->first_output.size;
    if (!n->first_output.size)
        return berth_arena_printf(arena, "%.*s#%zu", (int)n->type.size, n->type.bytes, reader->b->ops.n);
    char *name = berth_arena_push(arena, size + 1, 1);
    if (!name) return NULL;
    memcpy(name, n->type.bytes, n->type.size);
    name[n->type.size] = ':';
    memcpy(name + n->type.size + 1, n->first_output.bytes, n->first_output.size);
    return name;
}

berth_status berth_onnx_node_read(berth_onnx *reader, const berth_wire_field *field) {
    berth_build *b = reader->b;
    berth_arena *arena = berth_build_arena(b);
    node n = {.field = field};
    BERTH_TRY(scan_node(reader, &n));
    int32_t n_inputs = (int32_t)reader->inputs.n;
    berth_onnx_nest nest = {.op = (int32_t)b->ops.n};
    BERTH_TRY(read_nested(reader, &n, &nest));
    berth_op op = {.id = nest.op, .where = (int64_t)field->at, .n_bodies = nest.n_bodies, .n_nested_ops = nest.n_ops};
    op.name = name_node(reader, &n);
    op.type = berth_arena_string(arena, n.type.bytes, n.type.size);
    op.domain = n.domain.size ? berth_arena_string(arena, n.domain.bytes, n.domain.size) : "";
    if (!n.name.size) op.flags |= BERTH_OP_UNNAMED;
    if (arena->failed) return berth_fail_nomem(b->ctx);
    BERTH_TRY(read_attributes(reader, &n, &op));
    int32_t index = berth_build_op(b, &op);
    BERTH_TRY(berth_build_ports(b, index, reader->inputs.items, n_inputs, (int32_t)reader->inputs.n - n_inputs,
                                reader->outputs.items, (int32_t)reader->outputs.n));
    BERTH_TRY(read_fill(reader, &n));
    return read_constant(reader, &n, &nest);
}

/* Append "#index" until nobody has the name. A file that forces several rounds has names as long as the rounds. */
static berth_status make_unique(berth_onnx *reader, berth_map *names, int32_t index) {
    berth_op *op = &reader->b->ops.items[index];
    for (;;) {
        bool fresh = false;
        if (!berth_map_insert(names, op->name, strlen(op->name), index, &fresh)) break;
        if (fresh) return BERTH_OK;
        op->name = berth_arena_printf(berth_build_arena(reader->b), "%s#%d", op->name, (int)index);
        if (!op->name) break;
    }
    return berth_fail_nomem(reader->b->ctx);
}

berth_status berth_onnx_node_rename(berth_onnx *reader) {
    berth_build *b = reader->b;
    berth_map names;
    berth_map_init(&names, b->ctx);
    berth_status status = BERTH_OK;
    for (size_t op = 0; op < b->ops.n && status == BERTH_OK; op++) {
        const berth_op *row = &b->ops.items[op];
        if (row->flags & BERTH_OP_UNNAMED) continue;
        if (!berth_map_insert(&names, row->name, strlen(row->name), (int32_t)op, NULL))
            status = berth_fail_nomem(b->ctx);
    }
    for (size_t op = 0; op < b->ops.n && status == BERTH_OK; op++)
        if (b->ops.items[op].flags & BERTH_OP_UNNAMED) status = make_unique(reader, &names, (int32_t)op);
    berth_map_deinit(&names);
    return status;
}
