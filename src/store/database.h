/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a store: opening it, telling whether it is ours and sound, beginning a new one in place of a damaged one.
 *
 * What the file holds is said by `schema` in database.c and by docs/formats.md. */
#ifndef BERTH_STORE_DATABASE_H
#define BERTH_STORE_DATABASE_H

#include "base/ctx.h"
#include "store/location.h"

#include <sqlite3.h>

enum { BERTH_DATABASE_REASON = 256 };

typedef enum berth_database_state {
    BERTH_DATABASE_OPEN,
    BERTH_DATABASE_LEFT_ALONE, /* is no store, or a newer one */
    BERTH_DATABASE_DAMAGED,    /* is a store, and broken or removed */
    BERTH_DATABASE_REFUSED,    /* the system does not let us */
    BERTH_DATABASE_NO_MEMORY
} berth_database_state;

typedef struct berth_database {
    berth_ctx *ctx;
    berth_location location;
    sqlite3 *handle; /* NULL unless it is open */
    double patience; /* seconds to wait for others */
    bool in_vain;    /* one was, and nothing was written since: waits are short */
    double waiting_since;
    char reason[BERTH_DATABASE_REASON]; /* of any other state than open: "%s: REASON" */
} berth_database;

berth_database_state berth_database_open(berth_database *db);
void berth_database_close(berth_database *db);

/* After SQLite has found damage: look again and, if it is there, rename the file to NAME.corrupt (`aside`) and begin a
 * new one. *moved says whether that was done: another process may have been first. */
berth_database_state berth_database_renew(berth_database *db, const char *aside, bool *moved);

/* What an error of SQLite's on this database means; fills in the reason. */
berth_database_state berth_database_judge(berth_database *db, int error);

#endif
