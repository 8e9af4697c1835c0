/* SPDX-License-Identifier: Apache-2.0 */
#include "read/readers.h"

bool berth_dagbench_recognise(const char *bytes, size_t size) {
    (void)bytes;
    (void)size;
    return false;
}

berth_status berth_dagbench_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                                 const berth_read_options *options) {
    (void)options;
    *out = NULL;
    return berth_fail(ctx, BERTH_E_UNSUPPORTED, "%s: no reader yet", source->name);
}
