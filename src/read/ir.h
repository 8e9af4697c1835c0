/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO IR between its three steps: ir_parse.c walks the XML, ir_layer.c turns each layer into rows of the
 * builder, ir_link.c resolves the edges between them. */
#ifndef BERTH_READ_IR_H
#define BERTH_READ_IR_H

#include "base/vec.h"
#include "berth/read.h"
#include "graph/build.h"
#include "read/source.h"

/* Inputs and outputs of a layer number their ports independently of each other. The first three fields are the key
 * under which ir_link.c looks a port up, hence without padding between them. */
typedef struct berth_ir_port {
    int64_t id;
    int32_t op;
    int32_t is_output;
    int64_t line;
    int32_t tensor; /* an output's own; of an input the one that feeds it, -1 before the edges are resolved */
} berth_ir_port;

typedef struct berth_ir_edge {
    int64_t from_layer, from_port, to_layer, to_port;
    int64_t line;
} berth_ir_edge;

/* Where the ports of a layer stand in the two lists of ports. */
typedef struct berth_ir_ports {
    int32_t first_input, n_inputs;
    int32_t first_output, n_outputs;
} berth_ir_ports;

typedef enum berth_ir_kind {
    BERTH_IR_COMPUTES, /* any other type */
    BERTH_IR_PARAMETER,
    BERTH_IR_INPUT, /* stands for a Parameter before version 10, or for a constant if it has a blob */
    BERTH_IR_CONST,
    BERTH_IR_RESULT,
} berth_ir_kind;

/* The layer being read. */
typedef struct berth_ir_layer {
    berth_op op;
    berth_ir_kind kind;
    bool is_modern; /* written as versions 10 and 11 do: operations of opsets, constants described by <data> */
    bool has_blobs;
    berth_type precision; /* of outputs that do not say their own, before version 10 */
    berth_ir_ports ports;
    /* What <data> of a Parameter or Const says. */
    int64_t data_line;
    bool has_type, has_size;
    berth_type type;
    const char *shape; /* NULL if it says none */
    int64_t size;
} berth_ir_layer;

typedef struct berth_ir {
    berth_ctx *ctx;
    const berth_allocator *allocator;
    berth_build *b;
    berth_arena *arena; /* the graph's */
    int64_t version;
    BERTH_VEC(berth_ir_port) inputs;
    BERTH_VEC(berth_ir_port) outputs;
    BERTH_VEC(berth_ir_ports) ports; /* by operation */
    BERTH_VEC(berth_ir_edge) edges;
    BERTH_VEC(berth_attribute) attributes; /* of the layer being read */
    berth_ir_layer layer;
} berth_ir;

/* Attributes as expat gives them: name, value, name, value, ..., NULL. */
typedef const char *const *berth_ir_attributes;

/* ir_parse.c: fills the lists of `ir` and the operations and tensors of its builder. */
berth_status berth_ir_parse(berth_ir *ir, const berth_source *source, int32_t max_depth);

/* ir_layer.c: called by the parser for the elements of a layer. `line` is where the element stands. */
berth_status berth_ir_layer_begin(berth_ir *ir, berth_ir_attributes attributes, int64_t line);
berth_status berth_ir_layer_data(berth_ir *ir, berth_ir_attributes attributes, int64_t line);
berth_status berth_ir_layer_blob(berth_ir *ir, berth_ir_attributes attributes, int64_t line);
berth_status berth_ir_layer_port(berth_ir *ir, bool is_output, berth_ir_attributes attributes, int64_t line);
/* The dimensions of the port read last. */
berth_status berth_ir_layer_port_dims(berth_ir *ir, bool is_output, const berth_dim *dims, int32_t rank);
/* What a nested graph is, as 32 bytes; `name` is the element's. */
berth_status berth_ir_layer_digest(berth_ir *ir, const char *name, const unsigned char digest[32]);
berth_status berth_ir_layer_end(berth_ir *ir);
/* One element of <edges>. */
berth_status berth_ir_layer_edge(berth_ir *ir, berth_ir_attributes attributes, int64_t line);

/* The value of an attribute, or NULL. */
const char *berth_ir_attribute(berth_ir_attributes attributes, const char *name);

/* ir_link.c: edges, inputs and outputs of the model. */
berth_status berth_ir_link(berth_ir *ir);

#endif
