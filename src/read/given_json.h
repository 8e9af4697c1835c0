/* SPDX-License-Identifier: Apache-2.0 */
/* What the two JSON workload readers share beyond given.h. */
#ifndef BERTH_READ_GIVEN_JSON_H
#define BERTH_READ_GIVEN_JSON_H

#include "base/json.h"
#include "read/source.h"

/* True if the text is an object, whole or cut short, with that key at its top level. Linear and without memory. */
bool berth_given_json_has_key(const char *bytes, size_t size, const char *key);

/* A number from 0 to BERTH_GIVEN_MAX_NUMBER; never a negative zero. */
berth_status berth_given_json_amount(berth_ctx *ctx, const berth_source *source, const berth_json *object,
                                     const char *key, double *out);

/* Files often stand on one line: adds which item of which list failed to the context's message. Returns `status`. */
berth_status berth_given_json_in(berth_ctx *ctx, berth_status status, const char *list, int32_t index);

#endif
