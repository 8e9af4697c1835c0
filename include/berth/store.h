/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/store.h: what was measured once, kept for later runs.
 *
 * A store is one file (SQLite; docs/formats.md has its table) in which calls that measure keep each result as soon as
 * they have it, under everything that it depends on. A run that was killed finds there what it had finished. Any number
 * of processes may share one.
 *
 * A store is never a reason to fail: where it cannot be opened, read or written, one warning says why, and the run goes
 * on without it.
 */
#ifndef BERTH_STORE_H
#define BERTH_STORE_H

#include "berth/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_store berth_store;

/**
 * Open a store; it is made, with its folders, if it is not there.
 *
 * A damaged store is renamed to NAME.corrupt, and a new one begins. What is no store of ours (another program's
 * database, any other file) or has a newer schema is left alone; the store then keeps nothing. SQLite takes its own
 * memory from the C library: its allocator belongs to the whole process.
 *
 * @param out   the caller closes it, before the context is freed, with berth_store_close(). It must not be used in a
 *              process forked later.
 * @param path  the file; "none": a store that keeps nothing; NULL: $BERTH_STORE, else berth/store.sqlite in
 *              $XDG_CACHE_HOME or in ~/.cache
 * @return BERTH_OK, also if it keeps nothing; BERTH_E_ARG (the path is empty); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_store_open(berth_ctx *ctx, berth_store **out, const char *path);
BERTH_API void berth_store_close(berth_store *store);

/** The file; NULL if the store keeps nothing. */
BERTH_API const char *berth_store_path(const berth_store *store);

/** The first warning that this store gave; NULL if none. */
BERTH_API const char *berth_store_trouble(const berth_store *store);

/**
 * Forget the result of one key, or all of a kind, so that it is measured again. Unlike the other calls this one fails
 * where it cannot be done: results that were to be forgotten must not be taken for new ones.
 *
 * @param kind  a word, such as "profile"
 * @param key   NULL: all of the kind
 * @return BERTH_OK, also if there is nothing; BERTH_E_ARG (`kind` is no word); BERTH_E_IO; BERTH_E_LIMIT (the key is
 * too long); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_store_forget(berth_store *store, const char *kind, const char *key);

#ifdef __cplusplus
}
#endif
#endif
