/* SPDX-License-Identifier: Apache-2.0 */
/* The readers, one per format. Each has a test of the content and a call that reads it. */
#ifndef BERTH_READ_READERS_H
#define BERTH_READ_READERS_H

#include "read/source.h"

typedef berth_status (*berth_read_fn)(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                                      const berth_read_options *options);

/* The graph of an open source, whatever its format: berth_graph_read() for those who need the bytes as well. */
berth_status berth_source_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                               const berth_read_options *options);

/* `recognise` looks at the start of the content only (a few KiB); ONNX has no magic number and is asked last. */
bool berth_ir_recognise(const char *bytes, size_t size);
berth_status berth_ir_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                           const berth_read_options *options);

bool berth_msr_recognise(const char *bytes, size_t size);
berth_status berth_msr_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                            const berth_read_options *options);

bool berth_moirai_recognise(const char *bytes, size_t size);
berth_status berth_moirai_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                               const berth_read_options *options);

bool berth_dagbench_recognise(const char *bytes, size_t size);
berth_status berth_dagbench_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                                 const berth_read_options *options);

bool berth_onnx_recognise(const char *bytes, size_t size);
berth_status berth_onnx_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                             const berth_read_options *options);

#endif
