/* SPDX-License-Identifier: Apache-2.0 */
/* Constant nodes: a stored tensor that is an operation. ConstantOfShape: one element, repeated. */
#ifndef BERTH_READ_ONNX_CONSTANT_H
#define BERTH_READ_ONNX_CONSTANT_H

#include "read/onnx_schema.h"

/* If this attribute of a Constant holds the value, describe the tensor by it (*found is set). */
berth_status berth_onnx_constant_read(berth_onnx *reader, const berth_wire_field *attribute, int32_t tensor,
                                      bool *found);
/* If this attribute of a ConstantOfShape holds the element, its type becomes the tensor's, and the element its content,
 * until inference has used it. */
berth_status berth_onnx_fill_read(berth_onnx *reader, const berth_wire_field *attribute, int32_t tensor);

#endif
