/* SPDX-License-Identifier: Apache-2.0 */
/* NodeProto: the operations of the top-level graph. */
#ifndef BERTH_READ_ONNX_NODE_H
#define BERTH_READ_ONNX_NODE_H

#include "read/onnx_schema.h"

/* Append the node as an operation, with ports, captures and attributes. */
berth_status berth_onnx_node_read(berth_onnx *reader, const berth_wire_field *field);
/* Once all are there: see that made-up names differ from all others. */
berth_status berth_onnx_node_rename(berth_onnx *reader);

#endif
