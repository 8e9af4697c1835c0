/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX shape inference: types and shapes of every tensor, as far as the file determines them. */
#ifndef BERTH_READ_INFER_H
#define BERTH_READ_INFER_H

#include "graph/build.h"

/* Run on a linked builder (b->graph has ops, tensors, order); fills type and shape of tensors in b->graph->tensors.
 * Shapes that the file declares (value_info) are kept where inference knows less and must not contradict it.
 * Contradictions (a declared static dimension that inference finds to be another, a MatMul whose inner dimensions
 * differ) are BERTH_E_FORMAT with the operation's place. `opset` is the version of the default domain.
 * What cannot be known stays unknown; an operation type without a row leaves its outputs as declared.
 *
 * The output of a ConstantOfShape with the attribute 'value' comes with that one element as its content, and leaves
 * without. */
berth_status berth_onnx_infer(berth_build *b, int64_t opset);

#endif
