/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/read.h: from a file to a graph.
 *
 * The format is found from the content, not from the name: OpenVINO IR (versions 4 to 11), ONNX, and the workload
 * formats of MSR (JSON), Moirai (CSV) and DAGBench (JSON); each also gzip-compressed. Weights are never loaded:
 * of constants only type, shape and size are kept, and the content of those up to 1 KiB. No other file is opened,
 * neither the .bin of an IR nor the external data of an ONNX model.
 */
#ifndef BERTH_READ_H
#define BERTH_READ_H

#include "berth/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Binds an input's dynamic dimensions before shapes are inferred. */
typedef struct berth_shape_binding {
    const char *input;
    int32_t rank;
    const int64_t *dims;
} berth_shape_binding;

typedef struct berth_read_options {
    const berth_shape_binding *shapes; /* borrowed during the call */
    int32_t n_shapes;
    int32_t max_depth;     /* nesting of graphs inside graphs, of XML elements and of JSON values */
    int64_t max_inflated;  /* bytes a .gz file may unpack to, at most ... */
    int32_t max_expansion; /* ... and as a multiple of its packed size, beyond the first 16 MiB */
} berth_read_options;

/** Depth 200, 4 GiB, 200 times, no bindings. */
BERTH_API berth_read_options berth_read_options_default(void);

/**
 * Read a model or a workload.
 *
 * @param out      the graph; free it with berth_graph_free(). NULL on failure.
 * @param path     a file, or "-" for standard input
 * @param options  NULL means the defaults
 * @return BERTH_OK; BERTH_E_IO; BERTH_E_FORMAT (the message names line or byte offset); BERTH_E_UNSUPPORTED (a
 *         version or a format that is not read); BERTH_E_ARG (a shape binding that fits no input);
 *         BERTH_E_LIMIT; BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_graph_read(berth_ctx *ctx, berth_graph **out, const char *path,
                                                         const berth_read_options *options);

/** The same from memory. `name` stands for the path in messages. The bytes are not needed after the call. */
BERTH_API BERTH_MUST_CHECK berth_status berth_graph_read_memory(berth_ctx *ctx, berth_graph **out, const void *data,
                                                                size_t size, const char *name,
                                                                const berth_read_options *options);

#ifdef __cplusplus
}
#endif
#endif
