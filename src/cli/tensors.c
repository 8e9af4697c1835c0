/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tensors. */
#include "cli/tensors.h"

const char *cli_tensor_name(const berth_graph *graph, const berth_tensor *tensor) {
    if (*tensor->name || tensor->producer < 0) return tensor->name;
    return berth_graph_op(graph, tensor->producer)->name;
}

bool cli_tensor_is_unknown(const berth_tensor *tensor) {
    bool yielded = tensor->producer >= 0 || (tensor->flags & BERTH_TENSOR_INPUT);
    return yielded && tensor->type != BERTH_TYPE_OTHER && !berth_shape_is_static(&tensor->shape);
}
