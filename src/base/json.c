/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: one pass over the bytes with a stack of open arrays and objects, so that no input can exhaust the
 * C stack. Values, keys and strings go into the caller's arena and link to each other in file order. Duplicate keys
 * are looked for when an object ends: pair by pair in small objects, by a hash table in large ones, which keeps the
 * whole linear. Only blanks may hold line feeds in JSON, so that lines are counted there alone. */
#include "base/json.h"

#include "base/map.h"
#include "base/number.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SMALL_OBJECT = 16 };

_Static_assert(sizeof(berth_json) <= 48, "the memory of a document is a small multiple of its bytes");

typedef struct level {
    berth_json *container;
    berth_json *last; /* its newest child, or NULL */
} level;

typedef struct parser {
    berth_ctx *ctx;
    berth_arena *arena;
    const char *name;
    const char *at, *end;
    const char *line_start;
    int32_t line;
    size_t max_depth;
    BERTH_VEC(level) open;
} parser;

static berth_status fail_at(const parser *p, const char *at, const char *what) {
    return berth_fail(p->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ":%td: %s", p->name, p->line, at - p->line_start + 1, what);
}

/* What was expected, and what stands there instead. */
static berth_status fail_expected(const parser *p, const char *expected) {
    char what[120];
    unsigned char c = p->at < p->end ? (unsigned char)*p->at : 0;
    if (p->at == p->end)
        snprintf(what, sizeof what, "expected %s, not the end of the file", expected);
    else if (c > 0x20 && c < 0x7f)
        snprintf(what, sizeof what, "expected %s, not '%c'", expected, c);
    else
        snprintf(what, sizeof what, "expected %s, not the byte 0x%02x", expected, c);
    return fail_at(p, p->at, what);
}

static void skip_blanks(parser *p) {
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n') {
            p->line++;
            p->line_start = p->at + 1;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
            return;
        }
    }
}

/* Four hexadecimal digits; -1 if there are none. */
static int32_t hex4(const char *at, const char *end) {
    int32_t code = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* The escape whose backslash stands at p->at; its bytes go to *out, which advances. */
static berth_status parse_escape(parser *p, char **out) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *start = p->at++;
    const char *letter = p->at < p->end && *p->at ? strchr(letters, *p->at) : NULL;
    if (letter) {
        *(*out)++ = meant[letter - letters];
        p->at++;
        return BERTH_OK;
    }
    if (p->at == p->end || *p->at != 'u') return fail_at(p, start, "unknown escape in a string");
    int32_t code = hex4(p->at + 1, p->end);
    if (code < 0) return fail_at(p, start, "\\u must be followed by four hexadecimal digits");
    p->at += 5;
    if (code >= 0xd800 && code <= 0xdfff) {
        bool pair = code < 0xdc00 && p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u';
        int32_t low = pair ? hex4(p->at + 2, p->end) : -1;
        if (low < 0xdc00 || low > 0xdfff) return fail_at(p, start, "half a surrogate pair in a string");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        p->at += 6;
    }
    *out += berth_utf8_put(*out, (uint32_t)code);
    return BERTH_OK;
}

/* Takes one character of a string that is no escape. */
static berth_status check_character(parser *p) {
    if ((unsigned char)*p->at < 0x20) return fail_at(p, p->at, "control character in a string");
    bool good = true;
    size_t length = berth_utf8_next(p->at, (size_t)(p->end - p->at), &good);
    if (!good) return fail_at(p, p->at, "a string is not valid UTF-8");
    p->at += length;
    return BERTH_OK;
}

/* The string whose opening quote stands at p->at. Decoding never makes it longer, so that the raw length is room
 * enough. */
static berth_status parse_string(parser *p, const char **out, uint32_t *size) {
    const char *opening = p->at++, *first = p->at;
    bool escapes = false;
    while (p->at < p->end && *p->at != '"') {
        if (*p->at == '\\') {
            escapes = true;
            p->at += p->end - p->at > 1 ? 2 : 1;
        } else {
            BERTH_TRY(check_character(p));
        }
    }
    if (p->at == p->end) return fail_at(p, opening, "a string does not end");
    const char *closing = p->at;
    char *copy = berth_arena_string(p->arena, first, (size_t)(closing - first));
    if (!copy) return berth_fail_nomem(p->ctx);
    char *to = copy + (closing - first);
    if (escapes) {
        to = copy;
        for (p->at = first; p->at < closing;) {
            if (*p->at == '\\')
                BERTH_TRY(parse_escape(p, &to));
            else
                *to++ = *p->at++;
        }
        *to = 0;
    }
    p->at = closing + 1;
    *out = copy;
    *size = (uint32_t)(to - copy);
    return BERTH_OK;
}

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* The end of the number at p->at by the grammar of JSON, which is narrower than that of berth_number_read; NULL if
 * there is no number. */
static const char *number_end(const parser *p) {
    const char *at = p->at, *end = p->end;
    if (at < end && *at == '-') at++;
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1)) return NULL;
    if (at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits) return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits) return NULL;
    }
    return at;
}

static berth_status parse_number(parser *p, berth_json *value) {
    const char *end = number_end(p);
    berth_number number;
    if (!end || !berth_number_read(p->at, (size_t)(end - p->at), &number)) return fail_at(p, p->at, "malformed number");
    if (!isfinite(number.value)) return fail_at(p, p->at, "the number is too large");
    value->kind = BERTH_JSON_NUMBER;
    value->number = number.value;
    value->is_integer = number.is_integer;
    value->integer = number.integer;
    p->at = end;
    return BERTH_OK;
}

static berth_status parse_word(parser *p, berth_json *value) {
    static const struct {
        const char *word;
        berth_json_kind kind;
    } words[] = {{"null", BERTH_JSON_NULL}, {"false", BERTH_JSON_FALSE}, {"true", BERTH_JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(p->end - p->at) < n || memcmp(p->at, words[i].word, n) != 0) continue;
        value->kind = words[i].kind;
        p->at += n;
        return BERTH_OK;
    }
    return fail_expected(p, "a value");
}

static berth_status open_container(parser *p, berth_json *value) {
    if (p->open.n == p->max_depth)
        return berth_fail(p->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ":%td: nested deeper than %zu", p->name, p->line,
                          p->at - p->line_start + 1, p->max_depth);
    value->kind = *p->at == '{' ? BERTH_JSON_OBJECT : BERTH_JSON_ARRAY;
    p->at++;
    return berth_vec_push(berth_ctx_allocator(p->ctx), &p->open, (level){.container = value})
               ? BERTH_OK
               : berth_fail_nomem(p->ctx);
}

/* A member's key and colon, where the innermost container is an object. */
static berth_status parse_key(parser *p, berth_json *value) {
    if (p->open.n == 0 || p->open.items[p->open.n - 1].container->kind != BERTH_JSON_OBJECT) return BERTH_OK;
    if (p->at == p->end || *p->at != '"') return fail_expected(p, "a key in quotes");
    BERTH_TRY(parse_string(p, &value->key, &value->key_size));
    skip_blanks(p);
    if (p->at == p->end || *p->at != ':') return fail_expected(p, "':'");
    p->at++;
    skip_blanks(p);
    return BERTH_OK;
}

static void attach(parser *p, berth_json *value) {
    if (p->open.n == 0) return;
    level *inner = &p->open.items[p->open.n - 1];
    if (inner->last)
        inner->last->next = value;
    else
        inner->container->child = value;
    inner->last = value;
    inner->container->count++;
}

/* A value up to where it ends or, in an array or object, to where its first member may start. */
static berth_status parse_value(parser *p, berth_json **out) {
    berth_json *value = berth_arena_push(p->arena, 1, sizeof *value);
    if (!value) return berth_fail_nomem(p->ctx);
    BERTH_TRY(parse_key(p, value));
    value->line = p->line;
    attach(p, value);
    *out = value;
    char c = 0;
    if (p->at < p->end) c = *p->at;
    if (c == '{' || c == '[') return open_container(p, value);
    if (c == '-' || (c >= '0' && c <= '9')) return parse_number(p, value);
    if (c != '"') return parse_word(p, value);
    value->kind = BERTH_JSON_STRING;
    return parse_string(p, &value->string, &value->size);
}

static berth_status fail_twice(const parser *p, const berth_json *member) {
    return berth_fail(p->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": the key '%.200s' appears twice in one object", p->name,
                      member->line, member->key);
}

static berth_status check_keys_by_map(const parser *p, const berth_json *object) {
    berth_status status = BERTH_OK;
    berth_map seen;
    berth_map_init(&seen, p->ctx);
    for (const berth_json *member = object->child; member && status == BERTH_OK; member = member->next) {
        bool fresh = true;
        if (!berth_map_insert(&seen, member->key, member->key_size, 0, &fresh))
            status = berth_fail_nomem(p->ctx);
        else if (!fresh)
            status = fail_twice(p, member);
    }
    berth_map_deinit(&seen);
    return status;
}

static berth_status check_keys(const parser *p, const berth_json *object) {
    if (object->kind != BERTH_JSON_OBJECT) return BERTH_OK;
    if (object->count > SMALL_OBJECT) return check_keys_by_map(p, object);
    for (const berth_json *member = object->child; member; member = member->next)
        for (const berth_json *other = object->child; other != member; other = other->next)
            if (other->key_size == member->key_size && memcmp(other->key, member->key, member->key_size) == 0)
                return fail_twice(p, member);
    return BERTH_OK;
}

/* Behind a value: ends what ends here. *more: another value follows, at p->at. */
static berth_status parse_ends(parser *p, bool *more) {
    *more = false;
    while (p->open.n > 0) {
        const level *inner = &p->open.items[p->open.n - 1];
        bool is_object = inner->container->kind == BERTH_JSON_OBJECT;
        char closing = is_object ? '}' : ']', c = 0;
        skip_blanks(p);
        if (p->at < p->end) c = *p->at;
        if (c == closing) {
            BERTH_TRY(check_keys(p, inner->container));
            p->at++;
            p->open.n--;
            continue;
        }
        *more = true;
        if (!inner->last) return BERTH_OK; /* just opened: no comma yet */
        if (c != ',') return fail_expected(p, is_object ? "',' or '}'" : "',' or ']'");
        p->at++;
        skip_blanks(p);
        return BERTH_OK;
    }
    return BERTH_OK;
}

static berth_status parse_document(parser *p, const berth_json **out) {
    berth_json *value = NULL;
    bool more = true;
    skip_blanks(p);
    BERTH_TRY(parse_value(p, &value));
    *out = value;
    for (;;) {
        BERTH_TRY(parse_ends(p, &more));
        if (!more) break;
        BERTH_TRY(parse_value(p, &value));
    }
    skip_blanks(p);
    return p->at == p->end ? BERTH_OK : fail_expected(p, "the end of the file");
}

berth_status berth_json_parse(berth_ctx *ctx, berth_arena *arena, const char *name, const char *bytes, size_t size,
                              int max_depth, const berth_json **out) {
    *out = NULL;
    if (size > INT32_MAX) return berth_fail(ctx, BERTH_E_LIMIT, "%s: JSON of 2 GiB and more is not read", name);
    if (size == 0) bytes = ""; /* NULL is fine then, but must not be added to */
    parser p = {.ctx = ctx, .arena = arena, .name = name, .at = bytes, .end = bytes + size, .line = 1};
    p.max_depth = max_depth < 0 ? 0 : (size_t)max_depth;
    p.line_start = bytes;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) p.at += 3;
    berth_mark mark = berth_arena_mark(arena);
    berth_status status = parse_document(&p, out);
    berth_vec_free(berth_ctx_allocator(ctx), &p.open);
    if (status != BERTH_OK) {
        *out = NULL;
        berth_arena_release(arena, mark);
    }
    return status;
}
