/* SPDX-License-Identifier: Apache-2.0 */
/* How tensors are called. */
#ifndef BERTH_CLI_TENSORS_H
#define BERTH_CLI_TENSORS_H

#include "berth/graph.h"
#include "berth/print.h"
#include "cli/output.h"

/* Its own name, else that of the operation that yields it. */
const char *cli_tensor_name(const berth_graph *graph, const berth_tensor *tensor);

/* A model input or an operation's output whose shape is not fully known (sequences and the like have none): what
 * berth_work.unknown_shapes counts. */
bool cli_tensor_is_unknown(const berth_tensor *tensor);

#endif
