/* SPDX-License-Identifier: Apache-2.0 */
/* GraphProto: the top-level graph. */
#ifndef BERTH_READ_ONNX_GRAPH_H
#define BERTH_READ_ONNX_GRAPH_H

#include "read/onnx_schema.h"

/* Fill the builder: everything up to berth_build_link. */
berth_status berth_onnx_graph_read(berth_onnx *reader, const berth_wire_field *field);

#endif
