/* SPDX-License-Identifier: Apache-2.0 */
/* How tensors and shapes are written. */
#ifndef BERTH_CLI_TENSORS_H
#define BERTH_CLI_TENSORS_H

#include "berth/graph.h"
#include "cli/output.h"

/* Its own name, else that of the operation that yields it. */
const char *cli_tensor_name(const berth_graph *graph, const berth_tensor *tensor);

/* A model input or an operation's output whose shape is not fully known (sequences and the like have none): what
 * berth_work.unknown_shapes counts. */
bool cli_tensor_is_unknown(const berth_tensor *tensor);

enum { CLI_DIM_SIZE = 48 };

/* A dimension in a word: its number, its symbol, its range as in "1..8" or "1..", or "?". May use the buffer. */
const char *cli_dim_word(const berth_dim *dim, char buffer[static CLI_DIM_SIZE]);

/* "1x3x224x224"; "batch x 3 x ? x ?"; "scalar"; "?" where not even the rank is known. `append` escapes the symbols. */
void cli_text_shape(berth_text *text, const berth_shape *shape, cli_append_fn append);

#endif
