/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: a whole document as a tree in an arena.
 *
 *     const berth_json *root, *nodes;
 *     BERTH_TRY(berth_json_parse(ctx, arena, name, bytes, size, max_depth, &root));
 *     BERTH_TRY(berth_json_want(ctx, name, root, "nodes", BERTH_JSON_ARRAY, &nodes));
 *     for (const berth_json *node = nodes->child; node; node = node->next) ...
 *
 * A value takes 48 bytes plus its string, so that the tree of "[0,0,...]" stays within 26 times the file. */
#ifndef BERTH_BASE_JSON_H
#define BERTH_BASE_JSON_H

#include "base/arena.h"

typedef enum berth_json_kind {
    BERTH_JSON_NULL,
    BERTH_JSON_FALSE,
    BERTH_JSON_TRUE,
    BERTH_JSON_NUMBER,
    BERTH_JSON_STRING,
    BERTH_JSON_ARRAY,
    BERTH_JSON_OBJECT
} berth_json_kind;

typedef struct berth_json berth_json;
struct berth_json {
    const berth_json *next; /* in the same array or object, in file order; NULL: the last */
    const char *key;        /* of a member of an object: NUL-terminated, may hold NULs; else NULL */
    uint32_t key_size;
    int32_t line; /* where the value starts, from 1 */
    berth_json_kind kind;
    bool is_integer; /* a number that is exactly an integer of 64 bits: 7, but also 7.0 */
    union {          /* only the member that `kind` names may be read */
        struct {
            double number;
            int64_t integer; /* if is_integer */
        };
        struct {
            const char *string; /* NUL-terminated, may hold NULs */
            uint32_t size;
        };
        struct {
            const berth_json *child; /* of an array or object: the first; NULL if it is empty */
            int32_t count;
        };
    };
};

/* Parse a document (RFC 8259, strictly: no comments, no trailing commas, no duplicate keys, valid UTF-8; a byte order
 * mark in front is skipped). Numbers beyond the range of a double are refused; those too small become 0.
 *
 * The tree lives in `arena`. Messages start with "name:line:column:", the column counted in bytes from 1.
 * @return BERTH_OK; BERTH_E_FORMAT (nesting beyond max_depth included); BERTH_E_LIMIT (2 GiB and more); BERTH_E_NOMEM.
 * After a failure the arena is as it was. */
berth_status berth_json_parse(berth_ctx *ctx, berth_arena *arena, const char *name, const char *bytes, size_t size,
                              int max_depth, const berth_json **out);

/* "an object", "a number", ... */
const char *berth_json_kind_name(berth_json_kind kind);

/* The member of that key, or NULL; NULL also if `object` is none. Linear: go through big objects by `next`. */
const berth_json *berth_json_get(const berth_json *object, const char *key);

/* Members that must be there and be of that kind, else BERTH_E_FORMAT with "name:line: 'key' must be a number". Where
 * `object` is not an object, the message says that. What `out` points to is changed only on success. */
berth_status berth_json_want(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                             berth_json_kind kind, const berth_json **out);
berth_status berth_json_want_number(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                    double *out);
/* Within [low, high], else the message gives the limits. */
berth_status berth_json_want_integer(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                     int64_t low, int64_t high, int64_t *out);
/* Without NULs inside, so that it is a C string. */
berth_status berth_json_want_string(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                    const char **out);
berth_status berth_json_want_bool(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                  bool *out);

/* BERTH_E_FORMAT if the object has a key that is not in the list (which NULL ends): "name:line: unknown key 'nmae', did
 * you mean 'name'?". What is no object passes, for the next call to refuse. */
berth_status berth_json_only(berth_ctx *ctx, const char *name, const berth_json *object, const char *const *keys);

#endif
