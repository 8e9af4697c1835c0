/* SPDX-License-Identifier: Apache-2.0 */
/* Counting by type: a map from type to row, then the rows sorted by name. */
#include "berth/census.h"

#include "base/map.h"
#include "base/vec.h"
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* What the caller sees is the first member. */
typedef struct census {
    berth_census shown;
    berth_allocator allocator;
    BERTH_VEC(berth_census_row) rows;
} census;

static int compare_types(const void *a, const void *b) {
    return strcmp(((const berth_census_row *)a)->type, ((const berth_census_row *)b)->type);
}

static bool count_op(census *c, berth_map *row_of, const berth_op *op, double flops) {
    bool is_new = false;
    const int32_t *row = berth_map_insert(row_of, op->type, strlen(op->type), (int32_t)c->rows.n, &is_new);
    if (!row || (is_new && !berth_vec_push(&c->allocator, &c->rows, (berth_census_row){.type = op->type})))
        return false;
    c->rows.items[*row].n_ops++;
    c->rows.items[*row].flops += flops;
    return true;
}

berth_status berth_census_build(berth_ctx *ctx, berth_census **out, const berth_graph *graph, const berth_work *work) {
    *out = NULL;
    census *c = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *c);
    if (!c) return berth_fail_nomem(ctx);
    c->allocator = *berth_ctx_allocator(ctx);
    berth_map row_of;
    berth_map_init(&row_of, ctx);
    bool counted = true;
    for (int32_t op = 0; op < graph->n_ops && counted; op++)
        counted = count_op(c, &row_of, &graph->ops[op], work->ops[op].flops);
    berth_map_deinit(&row_of);
    if (!counted) {
        berth_census_free(&c->shown);
        return berth_fail_nomem(ctx);
    }
    if (c->rows.n > 0) qsort(c->rows.items, c->rows.n, sizeof *c->rows.items, compare_types);
    c->shown = (berth_census){.n_types = (int32_t)c->rows.n, .rows = c->rows.items};
    *out = &c->shown;
    return BERTH_OK;
}

void berth_census_free(berth_census *shown) {
    if (!shown) return;
    census *c = (census *)shown;
    berth_allocator allocator = c->allocator;
    berth_vec_free(&allocator, &c->rows);
    berth_resize(&allocator, c, 1, 0, sizeof *c);
}
