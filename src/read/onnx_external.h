/* SPDX-License-Identifier: Apache-2.0 */
/* The other files that an ONNX model names (external data): which they are, and that none of them lies outside the
 * model's folder. Whoever hands a model to a runtime asks here first. */
#ifndef BERTH_READ_ONNX_EXTERNAL_H
#define BERTH_READ_ONNX_EXTERNAL_H

#include "base/arena.h"
#include "read/source.h"

typedef struct berth_onnx_external {
    const char *location; /* as the model has it; relative to its folder */
    const char *tensor;   /* the first that is stored there */
    int32_t n_tensors;
    const char *path; /* the file itself, absolute and free of symbolic links; NULL: it is missing */
} berth_onnx_external;

/* One tensor, as its entries say. */
typedef struct berth_onnx_stored {
    const char *tensor;
    int32_t file;   /* index in files */
    int64_t offset; /* 0 where none is given */
    int64_t length; /* -1 where none is given */
} berth_onnx_stored;

typedef struct berth_onnx_externals {
    const berth_onnx_external *files; /* each once, in the order of their first use */
    int32_t n;
    int32_t n_missing;
    const berth_onnx_stored *tensors;
    int32_t n_tensors;
} berth_onnx_externals;

/* Every location that a tensor of the model names: initializers, attributes, nested graphs, functions and training
 * graphs, sparse ones too. `path` is that of the model ("-": no location can be followed). Everything in *out lies in
 * the arena.
 *
 * Refused, by one line that names tensor and path: locations that are absolute or leave the folder by "..", files that
 * are not in the folder once symbolic links are followed (or in that of the file that the model is a link to), and
 * what is no regular file. Missing files are not an error here; see n_missing.
 * BERTH_OK, BERTH_E_FORMAT, BERTH_E_IO (the folder is gone), BERTH_E_NOMEM. */
berth_status berth_onnx_external_find(berth_ctx *ctx, berth_arena *arena, const berth_source *source, const char *path,
                                      berth_onnx_externals *out);

/* The same for the path of an ONNX model alone: may a runtime be given it? Also BERTH_E_IO and BERTH_E_LIMIT. */
berth_status berth_onnx_external_check(berth_ctx *ctx, const char *path, int32_t *n_missing);

#endif
