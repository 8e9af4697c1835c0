/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in .npy files: written, and read in C order and little-endian. Types that numpy lacks (bfloat16, 8-bit
 * floats) are stored as unsigned integers of the same width; who reads them knows. Strings are stored as "S". */
#ifndef BERTH_RUNTIME_NPY_H
#define BERTH_RUNTIME_NPY_H

#include "base/arena.h"
#include "berth/graph.h"

enum { BERTH_NPY_RANK = 32 };

typedef struct berth_npy {
    char kind;         /* as numpy: 'f', 'i', 'u', 'b', 'c', 'S' */
    int32_t item_size; /* bytes of an element */
    int32_t rank;
    int64_t dims[BERTH_NPY_RANK];
    int64_t count; /* elements */
    const void *data;
    size_t size; /* bytes of data */
} berth_npy;

/* numpy's kind and width for one of our element types; false: it cannot be kept in a file (sub-byte types). */
bool berth_npy_type(berth_type type, char *kind, int32_t *item_size);

berth_status berth_npy_read(berth_ctx *ctx, berth_arena *arena, const char *path, berth_npy *out);
berth_status berth_npy_write(berth_ctx *ctx, const char *path, const berth_npy *tensor);

#endif
