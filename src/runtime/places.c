/* SPDX-License-Identifier: Apache-2.0 */
/* By fused units: what was fused before it was placed runs where one member's mark says, so that one pass over all
 * operations tells for each unit whose mark that may have been. */
#include "runtime/places.h"

#include "base/text.h"
#include "graph/constant.h"
#include "runtime/kept.h"
#include "runtime/kind.h"
#include "runtime/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
    berth_run_model *model;
    berth_arena *arena;
    berth_places *places;
    const berth_seen *seen;   /* of the candidate */
    int32_t *root;            /* [units] the operation that the others were fused into; -1: none */
    int32_t *placed;          /* [units] the first member that is placed where the unit ran; -1: none */
    const berth_seen **stock; /* [devices] where operations run in a stock session; NULL: not asked yet */
    bool *shapes;             /* [n_ops] */
} checker;

void berth_places_shapes(const berth_graph *graph, bool *shapes) {
    const int32_t *order = berth_graph_order(graph);
    for (int32_t k = 0; k < berth_graph_op_count(graph); k++) {
        const berth_op *op = berth_graph_op(graph, order[k]);
        bool reads_shapes = false, reads_others = false;
        for (int32_t i = 0; i < op->n_inputs + op->n_captures; i++) {
            const berth_tensor *tensor = op->inputs[i] < 0 ? NULL : berth_graph_tensor(graph, op->inputs[i]);
            if (!tensor || (tensor->flags & BERTH_TENSOR_CONSTANT)) continue;
            bool is_shape = tensor->producer >= 0 && shapes[tensor->producer];
            reads_shapes |= is_shape;
            reads_others |= !is_shape;
        }
        shapes[order[k]] = berth_type_asks_shape(op->type) || (reads_shapes && !reads_others);
    }
}

static const char *planned(const checker *c, int32_t op) {
    return c->places->devices[c->places->device[op]];
}

static const char *name_of(const checker *c, int32_t op) {
    return berth_graph_op(c->model->graph, op)->name;
}

static berth_status index_units(checker *c) {
    int32_t n_ops = berth_graph_op_count(c->model->graph), n = 0;
    for (int32_t i = 0; i < n_ops; i++)
        if (c->seen[i].unit >= n) n = c->seen[i].unit + 1;
    c->root = berth_arena_push(&c->model->arena, (size_t)n, sizeof *c->root);
    c->placed = berth_arena_push(&c->model->arena, (size_t)n, sizeof *c->placed);
    if (c->model->arena.failed) return berth_fail_nomem(c->model->ctx);
    for (int32_t i = 0; i < n; i++) c->root[i] = c->placed[i] = -1;
    for (int32_t i = n_ops - 1; i >= 0; i--) {
        const berth_seen *seen = &c->seen[i];
        if (!seen->device || seen->unit < 0) continue;
        if (seen->is_root) c->root[seen->unit] = i;
        if (strcmp(planned(c, i), seen->device) == 0) c->placed[seen->unit] = i;
    }
    return BERTH_OK;
}

/* --- looking ---------------------------------------------------------------------------------------------------- */

/* A line for each operation: its unit, whether it is the root, its device; "-" if that is not known. Then a line for
 * the device of each piece. */
static berth_status keep(checker *c, const char *key, const berth_sight *sight) {
    const berth_seen *seen = sight->ops;
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(c->model->ctx, &text));
    for (int32_t i = 0; i < berth_graph_op_count(c->model->graph); i++)
        berth_text_printf(text, "%" PRId32 " %d %s\n", seen[i].unit, seen[i].is_root,
                          seen[i].device ? seen[i].device : "-");
    for (int32_t i = 0; i < sight->n_pieces; i++) berth_text_printf(text, "%s\n", sight->pieces[i]);
    berth_status status = berth_text_status(text);
    if (status == BERTH_OK)
        status = berth_kept_put(c->model->runtime, "places", key, berth_text_string(text), berth_text_size(text));
    berth_text_free(text);
    return status;
}

/* Lines for pieces. */
static berth_status take_pieces(const checker *c, char *text, berth_sight *sight) {
    const char **pieces = NULL;
    for (const char *at = text; (at = strchr(at, '\n')); at++) sight->n_pieces++;
    pieces = berth_arena_push(&c->model->arena, (size_t)sight->n_pieces, sizeof *pieces);
    if (!pieces) return berth_fail_nomem(c->model->ctx);
    for (int32_t i = 0; i < sight->n_pieces; i++) {
        char *line = strchr(text, '\n');
        *line = 0;
        pieces[i] = text;
        text = line + 1;
    }
    sight->pieces = pieces;
    return BERTH_OK;
}

/* Where they end, in `rest`; NULL: that is not what was kept. The names stay in the text. */
static void take_kept(const checker *c, char *text, berth_seen *seen, char **rest) {
    int32_t n_ops = berth_graph_op_count(c->model->graph);
    *rest = NULL;
    for (int32_t i = 0; i < n_ops; i++) {
        char *end = NULL, *line = strchr(text, '\n');
        long unit = strtol(text, &end, 10);
        if (!line || end == text || end[0] != ' ' || (end[1] != '0' && end[1] != '1') || end[2] != ' ') return;
        if (unit < -1 || unit >= INT32_MAX) return;
        *line = 0;
        seen[i] = (berth_seen){.unit = (int32_t)unit, .is_root = end[1] == '1', .device = end + 3};
        if (strcmp(seen[i].device, "-") == 0) seen[i].device = NULL;
        text = line + 1;
    }
    *rest = text;
}

/* Where a candidate's operations run, unless it was seen before. */
static berth_status look(checker *c, const berth_candidate *candidate, berth_sight *out) {
    berth_run_model *m = c->model;
    const char *bytes = NULL;
    size_t n = 0;
    char *rest = NULL;
    *out = (berth_sight){.ops = berth_arena_push(&m->arena, (size_t)berth_graph_op_count(m->graph), sizeof *out->ops)};
    const char *key = berth_arena_printf(&m->arena, "places 3\n%s\n%s\nprecision %d", m->runtime->identity,
                                         candidate->identity, c->places->native_precision);
    if (!out->ops || !key) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_kept_get(m->runtime, &m->arena, "places", key, &bytes, &n));
    char *text = bytes ? berth_arena_string(&m->arena, bytes, n) : NULL;
    if (text) take_kept(c, text, out->ops, &rest);
    if (rest) return take_pieces(c, rest, out);
    BERTH_TRY(m->runtime->kind->places(m, &m->arena, candidate, c->places->native_precision, out));
    return keep(c, key, out);
}

/* --- explaining ------------------------------------------------------------------------------------------------- */

/* Does a stock session keep the operation on the host? */
static berth_status ask_stock(checker *c, int32_t op, bool *keeps) {
    int32_t d = c->places->device[op];
    berth_candidate candidate;
    *keeps = false;
    if (!c->stock[d]) {
        berth_sight sight;
        BERTH_TRY(berth_run_model_single(c->model, c->places->devices[d], &candidate));
        BERTH_TRY(look(c, &candidate, &sight));
        c->stock[d] = sight.ops;
    }
    const char *ran = c->stock[d][op].device;
    *keeps = ran && c->model->runtime->kind->is_host(ran);
    return BERTH_OK;
}

/* Why an operation did not run where the placement has it. */
static berth_status explain(checker *c, int32_t op, berth_deviation *out) {
    const berth_runtime_kind *kind = c->model->runtime->kind;
    const berth_seen *seen = &c->seen[op];
    int32_t root = seen->unit < 0 ? -1 : c->root[seen->unit], placed = seen->unit < 0 ? -1 : c->placed[seen->unit];
    bool keeps = false;
    out->explained = true;
    if (root >= 0 && strcmp(planned(c, root), seen->device) == 0) placed = root;
    if (placed >= 0) {
        out->reason = berth_arena_printf(c->arena, "fused %s '%.100s', which is placed there",
                                         placed == root ? "into" : "with", name_of(c, placed));
        return BERTH_OK;
    }
    if (kind->keeps_on_host && kind->is_host(seen->device)) BERTH_TRY(ask_stock(c, op, &keeps));
    if (keeps)
        out->reason = berth_arena_printf(
            c->arena, "the runtime keeps it on the CPU, also with everything on %s: no kernel there, or none it likes",
            planned(c, op));
    else if (kind->keeps_on_host && kind->is_host(seen->device) && c->shapes[op])
        out->reason = berth_arena_printf(c->arena, "the runtime keeps it on the CPU: it computes shapes");
    else
        out->explained = false;
    if (!out->explained) out->reason = berth_arena_printf(c->arena, "the runtime has put it there");
    return BERTH_OK;
}

static berth_status list(checker *c) {
    berth_places *p = c->places;
    int32_t n_ops = berth_graph_op_count(c->model->graph);
    berth_deviation *list = berth_arena_push(c->arena, (size_t)n_ops, sizeof *list);
    if (!list) return berth_fail_nomem(c->model->ctx);
    p->deviations = list;
    for (int32_t i = 0; i < n_ops; i++) {
        const char *ran = c->seen[i].device;
        if (!ran) continue; /* folded away, or a constant */
        p->n_checked++;
        if (strcmp(ran, planned(c, i)) == 0) continue;
        berth_deviation *d = &list[p->n_deviations++];
        d->op = i;
        d->planned = berth_arena_string(c->arena, planned(c, i), strlen(planned(c, i)));
        d->ran = berth_arena_string(c->arena, ran, strlen(ran));
        BERTH_TRY(explain(c, i, d));
    }
    return c->arena->failed ? berth_fail_nomem(c->model->ctx) : BERTH_OK;
}

static berth_status list_pieces(checker *c, const berth_sight *sight) {
    const char **pieces = berth_arena_push(c->arena, (size_t)sight->n_pieces, sizeof *pieces);
    for (int32_t i = 0; i < sight->n_pieces && pieces && sight->pieces; i++)
        pieces[i] = berth_arena_string(c->arena, sight->pieces[i], strlen(sight->pieces[i]));
    if (c->arena->failed) return berth_fail_nomem(c->model->ctx);
    c->places->pieces = pieces;
    c->places->n_pieces = sight->n_pieces;
    if (sight->n_pieces == 0) return BERTH_OK;
    return berth_parts_count(c->model->ctx, c->model->graph, c->places->device, &c->places->n_planned_pieces);
}

berth_status berth_places_check(berth_run_model *model, berth_arena *arena, berth_places *places) {
    berth_sight sight;
    checker c = {.model = model, .arena = arena, .places = places};
    int32_t n_ops = berth_graph_op_count(model->graph), n_devices = 1;
    for (int32_t i = 0; i < n_ops; i++)
        if (places->device[i] >= n_devices) n_devices = places->device[i] + 1;
    c.stock = berth_arena_push(&model->arena, (size_t)n_devices, sizeof(berth_seen *));
    c.shapes = berth_arena_push(&model->arena, (size_t)n_ops, sizeof *c.shapes);
    if (model->arena.failed) return berth_fail_nomem(model->ctx);
    places->n_checked = places->n_deviations = 0;
    berth_places_shapes(model->graph, c.shapes);
    places->n_pieces = 0;
    BERTH_TRY(look(&c, places->candidate, &sight));
    BERTH_TRY(list_pieces(&c, &sight));
    c.seen = sight.ops;
    BERTH_TRY(index_units(&c));
    berth_status status = list(&c);
    if (status != BERTH_OK) places->n_checked = places->n_deviations = 0;
    return status;
}
