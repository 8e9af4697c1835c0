/* SPDX-License-Identifier: Apache-2.0 */
/* Bindings of input shapes. The last '=' separates name and dimensions: a name may hold one, dimensions may not. */
#include "cli/shapes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1x3x224x224" into `dims`, of which `room` are free. Returns the rank, or -1. */
static int32_t parse_dims(const char *text, int64_t *dims, int32_t room) {
    for (int32_t rank = 0; rank < room && rank < BERTH_MAX_RANK;) {
        char *end = NULL;
        errno = 0;
        long long dim = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
        if (dim < 0 || errno != 0) return -1;
        dims[rank++] = dim;
        if (*end == '\0') return rank;
        if (*end != 'x') return -1;
        text = end + 1;
    }
    return -1;
}

static bool add_shape(cli_shapes *shapes, const char *value, char *message, size_t size) {
    const char *equals = strrchr(value, '=');
    if (!equals || equals == value) {
        snprintf(message, size, "--shape needs NAME=1x3x224x224, not '%.100s'", value);
        return false;
    }
    size_t name_size = (size_t)(equals - value);
    if (shapes->n == CLI_MAX_SHAPES || name_size >= (size_t)(CLI_MAX_NAMES - shapes->n_names)) {
        snprintf(message, size, "too many --shape options");
        return false;
    }
    int32_t rank = parse_dims(equals + 1, shapes->dims + shapes->n_dims, CLI_MAX_DIMS - shapes->n_dims);
    if (rank < 0) {
        snprintf(message, size, "--shape %.100s: '%.100s' is no shape such as 1x3x224x224", value, equals + 1);
        return false;
    }
    char *name = shapes->names + shapes->n_names;
    memcpy(name, value, name_size);
    shapes->bindings[shapes->n++] = (berth_shape_binding){name, rank, shapes->dims + shapes->n_dims};
    shapes->n_dims += rank;
    shapes->n_names += (int32_t)name_size + 1;
    return true;
}

bool cli_shapes_parse(cli_shapes *shapes, const cli_list *values, char *message, size_t size) {
    cli_scan at = values->start;
    for (const char *value; (value = cli_list_next(values, &at));)
        if (!add_shape(shapes, value, message, size)) return false;
    return true;
}
