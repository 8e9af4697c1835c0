/* SPDX-License-Identifier: Apache-2.0 */
/* What copies between the host and a device take. */
#ifndef BERTH_RUNTIME_COPIES_H
#define BERTH_RUNTIME_COPIES_H

#include "runtime/model.h"

/* By size, in the arena; none where the runtime or the device cannot tell, which a message says. BERTH_OK;
 * BERTH_E_NOMEM; BERTH_E_CANCELLED. */
berth_status berth_copies_take(berth_run_model *model, berth_arena *arena, const char *device, const berth_copy **out,
                               int32_t *n);

/* The line ms = fixed + per_byte * bytes that is nearest to n >= 2 of them, relative to what each takes; both above 0.
 */
void berth_copies_fit(const berth_copy *copies, int32_t n, bool from_host, double *fixed_ms, double *ms_per_byte);

#endif
