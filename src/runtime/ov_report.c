/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to and from JSON. */
#include "runtime/ov_report.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>

enum { MOST_BYTES = 1 << 28, MAX_DEPTH = 8 };

static void put_names(berth_text *text, const char *key, const char *const *names, int32_t n) {
    berth_json_inline(text);
    berth_json_array_begin(text, key);
    for (int32_t i = 0; i < n; i++) berth_json_string(text, NULL, names[i]);
    berth_json_array_end(text);
}

void berth_ov_report_write(berth_text *text, const berth_ov_reported *report) {
    berth_json_object_begin(text, NULL);
    put_names(text, "pieces", report->pieces, report->n_pieces);
    put_names(text, "refused", report->refused, report->n_refused);
    berth_json_array_begin(text, "nodes");
    for (int32_t i = 0; i < report->n_nodes; i++) {
        const berth_ov_report_node *node = &report->nodes[i];
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", node->node.name);
        berth_json_string(text, "type", node->node.type);
        berth_json_string(text, "originals", node->node.originals);
        if (!isnan(node->node.ms)) berth_json_double(text, "ms", node->node.ms);
        berth_json_int(text, "reader", node->node.reader);
        berth_json_int(text, "piece", node->piece);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    berth_json_object_end(text);
}

typedef struct document {
    berth_ctx *ctx;
    berth_arena *arena;
    const char *path;
    const berth_json *root;
} document;

static berth_status read_names(const document *d, const char *key, const char *const **out, int32_t *n) {
    const berth_json *list = NULL;
    BERTH_TRY(berth_json_want(d->ctx, d->path, d->root, key, BERTH_JSON_ARRAY, &list));
    const char **names = berth_arena_push(d->arena, (size_t)list->count, sizeof *names);
    if (!names) return berth_fail_nomem(d->ctx);
    *n = 0;
    *out = names;
    for (const berth_json *item = list->child; item; item = item->next) {
        if (item->kind != BERTH_JSON_STRING)
            return berth_fail(d->ctx, BERTH_E_FORMAT, "%s: %s are names", d->path, key);
        names[(*n)++] = item->string;
    }
    return BERTH_OK;
}

static berth_status read_node(const document *d, const berth_json *item, berth_ov_report_node *out, int32_t n_nodes,
                              int32_t n_pieces) {
    int64_t reader = 0, piece = 0;
    BERTH_TRY(berth_json_want_string(d->ctx, d->path, item, "name", &out->node.name));
    BERTH_TRY(berth_json_want_string(d->ctx, d->path, item, "type", &out->node.type));
    BERTH_TRY(berth_json_want_string(d->ctx, d->path, item, "originals", &out->node.originals));
    BERTH_TRY(berth_json_want_integer(d->ctx, d->path, item, "reader", -1, n_nodes - 1, &reader));
    BERTH_TRY(berth_json_want_integer(d->ctx, d->path, item, "piece", -1, n_pieces - 1, &piece));
    out->node.reader = (int32_t)reader;
    out->piece = (int32_t)piece;
    out->node.ms = NAN;
    if (!berth_json_get(item, "ms")) return BERTH_OK;
    BERTH_TRY(berth_json_want_number(d->ctx, d->path, item, "ms", &out->node.ms));
    if (out->node.ms >= 0) return BERTH_OK;
    return berth_fail(d->ctx, BERTH_E_FORMAT, "%.600s: a node that took %g ms", d->path, out->node.ms);
}

berth_status berth_ov_report_read(berth_ctx *ctx, berth_arena *arena, const char *path, berth_ov_reported *out) {
    document d = {.ctx = ctx, .arena = arena, .path = path};
    const char *bytes = NULL;
    size_t size = 0;
    const berth_json *list = NULL;
    *out = (berth_ov_reported){0};
    BERTH_TRY(berth_file_read(ctx, arena, path, MOST_BYTES, &bytes, &size));
    BERTH_TRY(berth_json_parse(ctx, arena, path, bytes, size, MAX_DEPTH, &d.root));
    BERTH_TRY(read_names(&d, "pieces", &out->pieces, &out->n_pieces));
    BERTH_TRY(read_names(&d, "refused", &out->refused, &out->n_refused));
    BERTH_TRY(berth_json_want(ctx, path, d.root, "nodes", BERTH_JSON_ARRAY, &list));
    berth_ov_report_node *nodes = berth_arena_push(arena, (size_t)list->count, sizeof *nodes);
    if (!nodes) return berth_fail_nomem(ctx);
    out->nodes = nodes;
    for (const berth_json *item = list->child; item; item = item->next)
        BERTH_TRY(read_node(&d, item, &nodes[out->n_nodes++], (int32_t)list->count, out->n_pieces));
    return BERTH_OK;
}
