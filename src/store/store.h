/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping and finding results: bytes by a kind and a key.
 *
 * A kind is a word of small letters, digits, '-' and '_' that says what the bytes are ("profile", "run"). A key is any
 * text that has everything the result depends on: whatever would change it must be in there. */
#ifndef BERTH_STORE_STORE_H
#define BERTH_STORE_STORE_H

#include "base/arena.h"
#include "berth/store.h"

enum { BERTH_STORE_LARGEST = 64 << 20, BERTH_STORE_LONGEST_KEY = 1 << 20, BERTH_STORE_LONGEST_KIND = 32 };

/* The bytes into the arena, with a NUL behind them; *bytes is NULL if they are not there, cannot be read or are not
 * what was kept. BERTH_OK; BERTH_E_ARG, BERTH_E_LIMIT (kind or key); BERTH_E_NOMEM. */
berth_status berth_store_get(berth_store *store, const char *kind, const char *key, berth_arena *arena,
                             const char **bytes, size_t *n);

/* Keep bytes in place of those that the key had. Once this returns they outlive the process, however it ends; before,
 * those of before stay. BERTH_OK, also if they could not be kept; BERTH_E_ARG, BERTH_E_LIMIT (kind, key, or more than
 * BERTH_STORE_LARGEST bytes); BERTH_E_NOMEM. */
berth_status berth_store_put(berth_store *store, const char *kind, const char *key, const void *bytes, size_t n);

/* How long a call may wait for other processes that write; 20 s unless told. A cancelled run waits at most a second,
 * and so does one whose last call waited in vain. */
void berth_store_set_patience(berth_store *store, double seconds);

#endif
