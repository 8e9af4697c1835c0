/* SPDX-License-Identifier: Apache-2.0 */
/* The .npy format: a magic word, a version, a header that is a Python dictionary in text, then the elements. */
#include "runtime/npy.h"

#include "base/file.h"
#include "base/vec.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 6, ALIGNMENT = 64, HEADER_SIZE = 1024 };
static const char magic[] = "\x93NUMPY";
static const size_t most_bytes = (size_t)1 << 34;

bool berth_npy_type(berth_type type, char *kind, int32_t *item_size) {
    int bits = berth_type_bits(type);
    *item_size = bits / 8;
    switch (type) {
    case BERTH_TYPE_F16:
    case BERTH_TYPE_F32:
    case BERTH_TYPE_F64: *kind = 'f'; return true;
    case BERTH_TYPE_I8:
    case BERTH_TYPE_I16:
    case BERTH_TYPE_I32:
    case BERTH_TYPE_I64: *kind = 'i'; return true;
    case BERTH_TYPE_U8:
    case BERTH_TYPE_U16:
    case BERTH_TYPE_U32:
    case BERTH_TYPE_U64:
    case BERTH_TYPE_BF16:
    case BERTH_TYPE_F8: *kind = 'u'; return true;
    case BERTH_TYPE_BOOL:
        *kind = 'b';
        *item_size = 1;
        return true;
    case BERTH_TYPE_C64:
    case BERTH_TYPE_C128: *kind = 'c'; return true;
    case BERTH_TYPE_STRING:
        *kind = 'S';
        *item_size = 1;
        return true;
    default: return false;
    }
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

typedef struct header {
    berth_ctx *ctx;
    const char *path;
    const char *at, *end;
} header;

static berth_status refuse(const header *h, const char *what) {
    return berth_fail(h->ctx, BERTH_E_FORMAT, "%.600s: not a .npy file that can be used here: %s", h->path, what);
}

/* What stands behind 'key': in the dictionary; NULL if it is not there. */
static const char *find_value(const header *h, const char *key) {
    size_t n = strlen(key);
    for (const char *at = h->at; at + n + 2 < h->end; at++) {
        if ((*at != '\'' && *at != '"') || strncmp(at + 1, key, n) != 0 || at[n + 1] != *at) continue;
        for (at += n + 2; at < h->end && (*at == ' ' || *at == ':');) at++;
        return at;
    }
    return NULL;
}

static bool is_known(char kind, int64_t size) {
    switch (kind) {
    case 'b': return size == 1;
    case 'i':
    case 'u': return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f': return size == 2 || size == 4 || size == 8;
    case 'c': return size == 8 || size == 16;
    case 'S': return size > 0;
    default: return false;
    }
}

static berth_status read_type(header *h, berth_npy *out) {
    const char *at = find_value(h, "descr");
    if (!at || at + 4 > h->end || (*at != '\'' && *at != '"')) return refuse(h, "no element type");
    char order = at[1];
    int64_t size = 0;
    out->kind = at[2];
    for (at += 3; at < h->end && isdigit((unsigned char)*at) && size < 1 << 20; at++) size = size * 10 + (*at - '0');
    if (order == '>') return refuse(h, "big-endian");
    if ((order != '<' && order != '|' && order != '=') || !is_known(out->kind, size))
        return refuse(h, "an element type that is not known");
    out->item_size = (int32_t)size;
    at = find_value(h, "fortran_order");
    return at && at < h->end && *at == 'F' ? BERTH_OK : refuse(h, "not in C order");
}

static berth_status read_shape(header *h, berth_npy *out) {
    const char *at = find_value(h, "shape");
    if (!at || *at != '(') return refuse(h, "no shape");
    out->count = 1;
    for (at++; at < h->end && *at != ')';) {
        if (!isdigit((unsigned char)*at)) {
            if (*at != ',' && *at != ' ') return refuse(h, "a strange shape");
            at++;
            continue;
        }
        int64_t dim = 0;
        for (; at < h->end && isdigit((unsigned char)*at); at++)
            if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, *at - '0', &dim))
                return refuse(h, "a dimension beyond 64 bits");
        if (out->rank == BERTH_NPY_RANK) return refuse(h, "too many dimensions");
        out->dims[out->rank++] = dim;
        if (__builtin_mul_overflow(out->count, dim, &out->count)) return refuse(h, "more elements than 64 bits count");
    }
    return at < h->end ? BERTH_OK : refuse(h, "its header is cut off");
}

berth_status berth_npy_read(berth_ctx *ctx, berth_arena *arena, const char *path, berth_npy *out) {
    const char *bytes = NULL;
    size_t n = 0, start;
    header h = {.ctx = ctx, .path = path};
    *out = (berth_npy){0};
    BERTH_TRY(berth_file_read(ctx, arena, path, most_bytes, &bytes, &n));
    if (n < MAGIC + 6 || memcmp(bytes, magic, MAGIC) != 0) return refuse(&h, "the magic word is missing");
    const unsigned char *u = (const unsigned char *)bytes;
    if (u[6] == 1)
        start = 10 + ((size_t)u[8] | (size_t)u[9] << 8);
    else
        start = 12 + ((size_t)u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16 | (size_t)u[11] << 24);
    if (u[6] < 1 || u[6] > 3 || start > n) return refuse(&h, "its header is cut off");
    h.at = bytes + (u[6] == 1 ? 10 : 12);
    h.end = bytes + start;
    BERTH_TRY(read_type(&h, out));
    BERTH_TRY(read_shape(&h, out));
    out->data = bytes + start;
    out->size = n - start;
    int64_t wanted;
    if (__builtin_mul_overflow(out->count, (int64_t)out->item_size, &wanted) || (size_t)wanted != out->size)
        return refuse(&h, "it has not as many bytes as its shape says");
    return BERTH_OK;
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

berth_status berth_npy_write(berth_ctx *ctx, const char *path, const berth_npy *tensor) {
    char text[HEADER_SIZE];
    int n = snprintf(text, sizeof text, "{'descr': '%c%c%" PRId32 "', 'fortran_order': False, 'shape': (",
                     tensor->item_size > 1 && tensor->kind != 'S' ? '<' : '|', tensor->kind, tensor->item_size);
    for (int32_t i = 0; i < tensor->rank; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%" PRId64 ",%s", tensor->dims[i],
                      i + 1 < tensor->rank ? " " : "");
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    while ((n + 1 + MAGIC + 4) % ALIGNMENT != 0) text[n++] = ' ';
    text[n++] = '\n';
    size_t total = MAGIC + 4 + (size_t)n + tensor->size;
    char *bytes = berth_resize(berth_ctx_allocator(ctx), NULL, 0, total, 1);
    if (!bytes) return berth_fail_nomem(ctx);
    memcpy(bytes, magic, MAGIC);
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = (char)(n & 255);
    bytes[9] = (char)(n >> 8);
    memcpy(bytes + 10, text, (size_t)n);
    if (tensor->size > 0) memcpy(bytes + 10 + n, tensor->data, tensor->size);
    berth_status status = berth_file_judge(berth_file_write(ctx, path, bytes, total));
    berth_resize(berth_ctx_allocator(ctx), bytes, total, 0, 1);
    return status;
}
