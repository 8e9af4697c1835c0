/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of a document that is known to be well-formed, one after another: no parser is needed to find their places, and
 * a parser would not say where the bytes lie. */
#define _GNU_SOURCE /* NOLINT: memmem */
#include "read/ir_splice.h"

#include "base/arena.h"

#include <inttypes.h>
#include <string.h>

typedef enum tag_kind { TAG_OPEN, TAG_CLOSE, TAG_EMPTY } tag_kind;

typedef struct tag {
    tag_kind kind;
    size_t begin, end; /* in the source: from '<' to behind '>' */
    const char *name;
    size_t name_size;
} tag;

typedef struct splicer {
    berth_ctx *ctx;
    const char *bytes;
    size_t size, at;
    const berth_ir_notes *notes;
    berth_ir_put_fn put;
    void *user;
    size_t written; /* of the source */
    int depth;      /* elements around the next tag */
    bool in_layers; /* inside <net><layers> */
    int32_t layer;  /* the last one that began */
    bool has_info;  /* it has an <rt_info> */
    bool in_info;
    int32_t n_replaced;
} splicer;

enum { NET = 1, LAYERS = 2, LAYER = 3, INFO = 4 }; /* depths inside such an element */

/* --- tags ------------------------------------------------------------------------------------------------------- */

static size_t find_behind(const splicer *s, size_t from, const char *text) {
    const char *found = memmem(s->bytes + from, s->size - from, text, strlen(text));
    return found ? (size_t)(found - s->bytes) + strlen(text) : s->size;
}

/* Comments, declarations and character data look like tags and are none. */
static bool skip_other(splicer *s) {
    static const struct {
        const char *begin, *end;
    } kinds[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].begin);
        if (s->size - s->at < n || memcmp(s->bytes + s->at, kinds[i].begin, n) != 0) continue;
        s->at = find_behind(s, s->at + n, kinds[i].end);
        return true;
    }
    return false;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool next_tag(splicer *s, tag *out) {
    for (;;) {
        const char *found = s->at < s->size ? memchr(s->bytes + s->at, '<', s->size - s->at) : NULL;
        if (!found) return false;
        s->at = (size_t)(found - s->bytes);
        if (!skip_other(s)) break;
    }
    char quote = 0;
    size_t at = s->at + 1;
    for (; at < s->size && (quote || s->bytes[at] != '>'); at++) {
        char c = s->bytes[at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
    }
    if (at >= s->size) return false;
    bool closes = s->bytes[s->at + 1] == '/';
    *out = (tag){.kind = closes                    ? TAG_CLOSE
                         : s->bytes[at - 1] == '/' ? TAG_EMPTY
                                                   : TAG_OPEN,
                 .begin = s->at,
                 .end = at + 1,
                 .name = s->bytes + s->at + 1 + closes};
    while (!is_blank(out->name[out->name_size]) && out->name[out->name_size] != '>' && out->name[out->name_size] != '/')
        out->name_size++;
    s->at = out->end;
    return true;
}

static bool is_called(const tag *t, const char *name) {
    return t->name_size == strlen(name) && memcmp(t->name, name, t->name_size) == 0;
}

/* Does a tag have name="..." with that value? Blanks before the name, so that `xname` is none. */
static bool is_named(const splicer *s, const tag *t, const char *value) {
    size_t n = strlen(value);
    for (size_t at = t->begin + 1; at + 6 < t->end; at++) {
        const char *text = s->bytes + at;
        if (!is_blank(text[-1]) || memcmp(text, "name", 4) != 0) continue;
        for (text += 4; is_blank(*text) || *text == '=';) text++;
        if ((*text == '"' || *text == '\'') && (size_t)(s->bytes + t->end - text) > n + 1 &&
            memcmp(text + 1, value, n) == 0 && text[n + 1] == *text)
            return true;
    }
    return false;
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

/* The source up to a place. */
static berth_status pass_to(splicer *s, size_t end) {
    size_t from = s->written;
    s->written = end;
    return end > from ? s->put(s->user, s->bytes + from, end - from) : BERTH_OK;
}

static berth_status put_text(splicer *s, const char *text) {
    return s->put(s->user, text, strlen(text));
}

static berth_status put_entry(splicer *s) {
    BERTH_TRY(put_text(s, "<user_data name=\""));
    BERTH_TRY(put_text(s, s->notes->name));
    BERTH_TRY(put_text(s, "\" value=\""));
    BERTH_TRY(put_text(s, s->notes->values[s->layer]));
    return put_text(s, "\"/>");
}

static const char *note_of(const splicer *s) {
    return s->layer < s->notes->n_layers ? s->notes->values[s->layer] : NULL;
}

/* An element without content gets one: between the name and the slash of "<x/>". */
static berth_status open_empty(splicer *s, const tag *t) {
    BERTH_TRY(pass_to(s, t->end - 2));
    s->written = t->end;
    return put_text(s, ">");
}

static berth_status add_info(splicer *s) {
    BERTH_TRY(put_text(s, "<rt_info>"));
    BERTH_TRY(put_entry(s));
    return put_text(s, "</rt_info>");
}

/* --- the walk --------------------------------------------------------------------------------------------------- */

static berth_status see_layer(splicer *s, const tag *t) {
    if (t->kind == TAG_CLOSE) {
        if (!note_of(s) || s->has_info) return BERTH_OK;
        BERTH_TRY(pass_to(s, t->begin));
        return add_info(s);
    }
    s->layer++;
    s->has_info = false;
    if (t->kind == TAG_OPEN || !note_of(s)) return BERTH_OK;
    BERTH_TRY(open_empty(s, t));
    BERTH_TRY(add_info(s));
    return put_text(s, "</layer>");
}

static berth_status see_info(splicer *s, const tag *t) {
    s->in_info = t->kind == TAG_OPEN;
    if (!note_of(s) || s->has_info) return BERTH_OK;
    if (t->kind == TAG_OPEN) return BERTH_OK;
    s->has_info = true;
    if (t->kind == TAG_CLOSE) {
        BERTH_TRY(pass_to(s, t->begin));
        return put_entry(s);
    }
    BERTH_TRY(open_empty(s, t));
    BERTH_TRY(put_entry(s));
    return put_text(s, "</rt_info>");
}

/* An entry of that name goes, with its closing tag if it has one. */
static berth_status see_entry(splicer *s, const tag *t) {
    if (t->kind == TAG_CLOSE || !is_called(t, "user_data") || !is_named(s, t, s->notes->name)) return BERTH_OK;
    BERTH_TRY(pass_to(s, t->begin));
    s->written = t->kind == TAG_EMPTY ? t->end : find_behind(s, t->end, "</user_data");
    if (t->kind == TAG_OPEN) s->written = find_behind(s, s->written, ">");
    s->n_replaced++;
    return BERTH_OK;
}

static berth_status see(splicer *s, const tag *t) {
    int around = s->depth - (t->kind == TAG_CLOSE); /* elements around the one that this tag belongs to */
    berth_status status = BERTH_OK;
    if (around == NET && is_called(t, "layers")) s->in_layers = t->kind == TAG_OPEN;
    if (s->in_layers && around == LAYERS && is_called(t, "layer")) status = see_layer(s, t);
    if (s->in_layers && around == LAYER && is_called(t, "rt_info")) status = see_info(s, t);
    if (s->in_info && around == INFO) status = see_entry(s, t);
    s->depth += t->kind == TAG_OPEN ? 1 : t->kind == TAG_CLOSE ? -1 : 0;
    return status;
}

berth_status berth_ir_annotate(berth_ctx *ctx, const berth_source *source, const berth_ir_notes *notes,
                               berth_ir_put_fn put, void *user) {
    splicer s = {.ctx = ctx,
                 .bytes = source->bytes,
                 .size = source->size,
                 .notes = notes,
                 .put = put,
                 .user = user,
                 .layer = -1};
    tag t;
    if (!memmem(source->bytes, source->size, "<net", 4))
        return berth_fail(ctx, BERTH_E_UNSUPPORTED, "%.600s: only IRs in UTF-8 can be annotated", source->name);
    while (next_tag(&s, &t)) BERTH_TRY(see(&s, &t));
    if (s.layer + 1 != notes->n_layers)
        return berth_fail(ctx, BERTH_E_ARG, "%.600s has %" PRId32 " layers, not %" PRId32, source->name, s.layer + 1,
                          notes->n_layers);
    if (s.n_replaced > 0)
        berth_log(ctx, BERTH_LOG_WARNING, "%" PRId32 " entries '%s' that were there are replaced", s.n_replaced,
                  notes->name);
    return pass_to(&s, s.size);
}
