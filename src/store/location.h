/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store lies. */
#ifndef BERTH_STORE_LOCATION_H
#define BERTH_STORE_LOCATION_H

#include "base/arena.h"

typedef struct berth_location {
    const char *path; /* begins with '/' or "./"; NULL: nowhere */
    bool is_default;  /* nobody chose it: whatever lies there is ours */
} berth_location;

/* What the user said (berth_store_open), or what follows from the environment. A warning says why there is no place
 * unless that was asked for. BERTH_OK, BERTH_E_ARG, BERTH_E_NOMEM. */
berth_status berth_location_find(berth_ctx *ctx, berth_arena *arena, const char *said, berth_location *out);

/* Makes the folders that lead to a path and are not there. Returns the one that could not be made (in the arena; errno
 * says why), or NULL. */
const char *berth_location_make(berth_arena *arena, const char *path);

#endif
