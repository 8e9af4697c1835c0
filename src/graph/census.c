/* SPDX-License-Identifier: Apache-2.0 */
/* Counting by type: a map from type to row, then the rows in the order of their names. */
#include "berth/census.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/sort.h"
#include "graph/graph.h"

#include <string.h>

/* What the caller sees comes first, so that its address is that of the whole. */
typedef struct census {
    berth_census shown;
    berth_arena arena;
} census;

/* Rows in the order in which their types first appear. */
typedef struct counter {
    berth_map row_of;
    berth_census_row *rows;
    int32_t n_rows;
} counter;

static bool count_op(counter *c, const berth_op *op, double flops) {
    bool is_new = false;
    const int32_t *row = berth_map_insert(&c->row_of, op->type, strlen(op->type), c->n_rows, &is_new);
    if (!row) return false;
    if (is_new) c->rows[c->n_rows++].type = op->type;
    c->rows[*row].n_ops++;
    c->rows[*row].flops += flops;
    return true;
}

static bool comes_before(const void *rows, int32_t a, int32_t b) {
    return strcmp(((const berth_census_row *)rows)[a].type, ((const berth_census_row *)rows)[b].type) < 0;
}

/* The rows sorted, in the arena; NULL if there is no memory. */
static berth_census_row *sort_rows(const counter *c, berth_arena *scratch, berth_arena *arena) {
    int32_t *order = berth_arena_push(scratch, (size_t)c->n_rows, sizeof *order);
    berth_census_row *sorted = berth_arena_push(arena, (size_t)c->n_rows, sizeof *sorted);
    if (!order || !sorted) return NULL;
    for (int32_t i = 0; i < c->n_rows; i++) order[i] = i;
    berth_sort(order, (size_t)c->n_rows, comes_before, c->rows);
    for (int32_t i = 0; i < c->n_rows; i++) sorted[i] = c->rows[order[i]];
    return sorted;
}

static bool fill(berth_ctx *ctx, census *out, const berth_graph *graph, const berth_work *work) {
    berth_arena scratch;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    counter c = {.rows = berth_arena_push(&scratch, (size_t)graph->n_ops, sizeof *c.rows)};
    berth_map_init(&c.row_of, ctx);
    bool counted = c.rows != NULL;
    for (int32_t op = 0; op < graph->n_ops && counted; op++)
        counted = count_op(&c, &graph->ops[op], work->ops[op].flops);
    out->shown.n_types = c.n_rows;
    out->shown.rows = counted ? sort_rows(&c, &scratch, &out->arena) : NULL;
    berth_map_deinit(&c.row_of);
    berth_arena_deinit(&scratch);
    return out->shown.rows != NULL;
}

berth_status berth_census_build(berth_ctx *ctx, berth_census **out, const berth_graph *graph, const berth_work *work) {
    *out = NULL;
    census *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    if (!fill(ctx, made, graph, work)) {
        berth_census_free(&made->shown);
        return berth_fail_nomem(ctx);
    }
    *out = &made->shown;
    return BERTH_OK;
}

void berth_census_free(berth_census *shown) {
    if (!shown) return;
    census *made = (census *)shown;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
