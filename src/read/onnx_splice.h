/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations of an ONNX file: the same file with an entry `layer_ann` in the metadata_props of every top-level node,
 * and back.
 *
 * The new file is handed out piece by piece: pieces of the source as they lie there, and a few new bytes between them.
 * Nothing is kept, however large the file. Every field of the original is there, bit for bit and in its order; only the
 * lengths of the nodes and of the graph differ. Nested graphs, functions and unknown fields are passed over. */
#ifndef BERTH_READ_ONNX_SPLICE_H
#define BERTH_READ_ONNX_SPLICE_H

#include "read/source.h"

/* Longest protobuf that parsers take, and longest annotation. */
#define BERTH_ONNX_MOST_BYTES ((size_t)INT32_MAX)
enum { BERTH_ONNX_MOST_TAG = 64 };

/* What stands on which node. */
typedef struct berth_onnx_tags {
    const char *const *texts; /* 1 to BERTH_ONNX_MOST_TAG bytes each */
    const int32_t *of_node;   /* [n_nodes] index into texts, by the position of the node in the file */
    int32_t n_nodes;
} berth_onnx_tags;

/* Takes the next bytes of the new file, which are good during the call only. */
typedef berth_status (*berth_onnx_put_fn)(void *user, const char *bytes, size_t n);

/* Annotations that are there already are replaced, and a warning says how many. The lengths of the original need not be
 * in their shortest form: berth_onnx_unannotate() finds the original back from the new file alone.
 * BERTH_OK; BERTH_E_FORMAT (no well-formed model, with the byte); BERTH_E_ARG (another number of nodes); BERTH_E_LIMIT
 * (the new file would have more than BERTH_ONNX_MOST_BYTES); what `put` returns. */
berth_status berth_onnx_annotate(berth_ctx *ctx, const berth_source *source, const berth_onnx_tags *tags,
                                 berth_onnx_put_fn put, void *user);

/* The file without any `layer_ann` on top-level nodes, whoever put it there. Of a file that had none before
 * berth_onnx_annotate(), the original. BERTH_OK; BERTH_E_FORMAT; what `put` returns. */
berth_status berth_onnx_unannotate(berth_ctx *ctx, const berth_source *source, berth_onnx_put_fn put, void *user);

#endif
