/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs inside operations (If, Loop, Scan ...): counted, and searched for the values that they take from outside. */
#ifndef BERTH_READ_ONNX_NEST_H
#define BERTH_READ_ONNX_NEST_H

#include "read/onnx_schema.h"

typedef struct berth_onnx_nest {
    int32_t op;       /* the operation around it */
    int32_t n_bodies; /* of all levels */
    int32_t n_ops;    /* in all of them */
} berth_onnx_nest;

/* Go through the graphs in an attribute of the operation. Captured values are appended to reader->inputs, each once. */
berth_status berth_onnx_nest_walk(berth_onnx *reader, const berth_wire_field *attribute, berth_onnx_nest *nest);

#endif
