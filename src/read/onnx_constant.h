/* SPDX-License-Identifier: Apache-2.0 */
/* Constant nodes: a stored tensor that is an operation. */
#ifndef BERTH_READ_ONNX_CONSTANT_H
#define BERTH_READ_ONNX_CONSTANT_H

#include "read/onnx_schema.h"

/* If this attribute of a Constant holds the value, describe the tensor by it (*found is set). */
berth_status berth_onnx_constant_read(berth_onnx *reader, const berth_wire_field *attribute, int32_t tensor,
                                      bool *found);

#endif
