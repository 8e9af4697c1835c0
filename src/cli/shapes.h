/* SPDX-License-Identifier: Apache-2.0 */
/* --shape NAME=1x3x224x224, for every command that reads a model; where one plan is for several shapes, an input may be
 * named more than once: its k-th shape belongs to the k-th case, and an input with one shape has it in all of them. A
 * weight may stand behind a shape, as in x=8x3x224x224@0.3. */
#ifndef BERTH_CLI_SHAPES_H
#define BERTH_CLI_SHAPES_H

#include "berth/read.h"
#include "cli/options.h"

enum { CLI_MAX_SHAPES = 1024, CLI_MAX_DIMS = 4096, CLI_MAX_NAMES = 65536, CLI_MAX_CASES = 64 };

typedef struct cli_shapes {
    int32_t n;
    int32_t n_dims;  /* used of `dims`, by all bindings together */
    int32_t n_names; /* used of `names` */
    berth_shape_binding bindings[CLI_MAX_SHAPES];
    int64_t dims[CLI_MAX_DIMS];
    char names[CLI_MAX_NAMES];
    double weights[CLI_MAX_SHAPES]; /* NAN: none was said */
} cli_shapes;

typedef struct cli_cases {
    int32_t n;                        /* at least 1 */
    double weight[CLI_MAX_CASES];     /* below 1: only their ratios matter */
    int32_t start[CLI_MAX_CASES + 1]; /* of the bindings of each */
    berth_shape_binding bindings[CLI_MAX_SHAPES];
} cli_cases;

/* False: `message` says what is wrong with which value. */
bool cli_shapes_parse(cli_shapes *shapes, const cli_list *values, char *message, size_t size);
bool cli_cases_parse(cli_cases *cases, cli_shapes *shapes, const cli_list *values, char *message, size_t size);

#endif
