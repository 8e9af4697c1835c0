/* SPDX-License-Identifier: Apache-2.0 */
/* The files of an ONNX model in the folder that it is run from. */
#ifndef BERTH_RUNTIME_ONNX_FILES_H
#define BERTH_RUNTIME_ONNX_FILES_H

#include "read/onnx_splice.h"
#include "runtime/model.h"

/* The model and its external data, made up where they are missing and may be, into the model's folder; its path. */
berth_status berth_onnx_files_gather(berth_run_model *model, const char *path, const berth_run_options *options);
/* A copy: unpacked, if it is gzip, and marked, unless `tags` is NULL. */
berth_status berth_onnx_files_copy(berth_ctx *ctx, const char *from, const char *to, const berth_onnx_tags *tags);

#endif
