/* SPDX-License-Identifier: Apache-2.0 */
/* --shape NAME=1x3x224x224, for every command that reads a model. */
#ifndef BERTH_CLI_SHAPES_H
#define BERTH_CLI_SHAPES_H

#include "berth/read.h"
#include "cli/options.h"

enum { CLI_MAX_SHAPES = 1024, CLI_MAX_DIMS = 4096, CLI_MAX_NAMES = 65536 };

typedef struct cli_shapes {
    int32_t n;
    int32_t n_dims;  /* used of `dims`, by all bindings together */
    int32_t n_names; /* used of `names` */
    berth_shape_binding bindings[CLI_MAX_SHAPES];
    int64_t dims[CLI_MAX_DIMS];
    char names[CLI_MAX_NAMES];
} cli_shapes;

/* False: `message` says what is wrong with which value. */
bool cli_shapes_parse(cli_shapes *shapes, const cli_list *values, char *message, size_t size);

#endif
