/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations of an OpenVINO IR: the same file with an entry <user_data name="..." value="..."/> in the <rt_info> of
 * its top-level layers, and back. OpenVINO keeps such entries when it reads and writes a model (2025.4 and newer), and
 * older ones pass over them.
 *
 * The new file is handed out piece by piece: pieces of the source as they lie there, and a few new bytes between them.
 * Every byte of the original is there, in its order, but for entries of that name that it had. */
#ifndef BERTH_READ_IR_SPLICE_H
#define BERTH_READ_IR_SPLICE_H

#include "read/source.h"

/* Takes the next bytes of the new file, which are good during the call only. */
typedef berth_status (*berth_ir_put_fn)(void *user, const char *bytes, size_t n);

/* What is written on the layers. Names and values hold no characters that XML would want escaped. */
typedef struct berth_ir_notes {
    const char *name;
    const char *const *values; /* [n_layers] by the position of the layer in the file; NULL: nothing on it */
    int32_t n_layers;
} berth_ir_notes;

/* The source must have been read as an IR. Entries of that name that are there already are replaced, and a warning says
 * how many. BERTH_OK; BERTH_E_ARG (another number of layers); BERTH_E_UNSUPPORTED (not in UTF-8); what `put` returns.
 */
berth_status berth_ir_annotate(berth_ctx *ctx, const berth_source *source, const berth_ir_notes *notes,
                               berth_ir_put_fn put, void *user);

#endif
