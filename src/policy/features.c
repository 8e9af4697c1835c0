/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of columns, and filling them in. Lists of types and degrees are collected with repeats, sorted, and rid of
 * the repeats. */
#include "policy/features.h"

#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "graph/graph.h"

typedef struct planner {
    berth_ctx *ctx;
    berth_feature_plan *plan;
    const berth_view *const *views;
    int32_t n_views;
    berth_arena scratch;
} planner;

static bool type_before(const void *user, int32_t a, int32_t b) {
    const char *const *types = user;
    return strcmp(types[a], types[b]) < 0;
}

static bool number_before(const void *user, int32_t a, int32_t b) {
    (void)user;
    return a < b;
}

/* Distinct type names of a view, appended to `names`. */
static bool collect_types(planner *p, berth_map *seen, const berth_view *view, const char **names, int32_t *n) {
    int32_t n_ops = view->ops ? view->op_start[view->n_nodes] : 0;
    for (int32_t i = 0; i < n_ops; i++) {
        const char *type = view->costs->graph->ops[view->ops[i]].type;
        bool is_new = false;
        if (!berth_map_insert(seen, type, strlen(type), 0, &is_new)) return false;
        if (is_new) names[(*n)++] = berth_arena_string(&p->plan->arena, type, strlen(type));
    }
    return !p->plan->arena.failed;
}

static berth_status plan_types(planner *p) {
    size_t most = 0;
    for (int32_t i = 0; i < p->n_views; i++)
        if (p->views[i]->ops) most += (size_t)p->views[i]->op_start[p->views[i]->n_nodes];
    const char **found = berth_arena_push(&p->scratch, most, sizeof *found);
    int32_t *order = berth_arena_push(&p->scratch, most, sizeof *order), n = 0;
    if (p->scratch.failed) return berth_fail_nomem(p->ctx);
    berth_map seen;
    berth_map_init(&seen, p->ctx);
    bool ok = true;
    for (int32_t i = 0; i < p->n_views && ok; i++) ok = collect_types(p, &seen, p->views[i], found, &n);
    berth_map_deinit(&seen);
    const char **types = berth_arena_push(&p->plan->arena, (size_t)n, sizeof *types);
    if (!ok || !types) return berth_fail_nomem(p->ctx);
    for (int32_t i = 0; i < n; i++) order[i] = i;
    berth_sort(order, (size_t)n, type_before, found);
    for (int32_t i = 0; i < n; i++) types[i] = found[order[i]];
    p->plan->types = types;
    p->plan->n_types = n;
    return BERTH_OK;
}

static const int32_t *plan_degrees(planner *p, bool in, int32_t *n_out) {
    size_t most = 0;
    int32_t n = 0, kept = 0;
    for (int32_t i = 0; i < p->n_views; i++) most += (size_t)p->views[i]->n_nodes;
    int32_t *all = berth_arena_push(&p->scratch, most, sizeof *all);
    if (!all) return NULL;
    for (int32_t i = 0; i < p->n_views; i++)
        for (int32_t node = 0; node < p->views[i]->n_nodes; node++)
            all[n++] = in ? p->views[i]->in_degree[node] : p->views[i]->out_degree[node];
    berth_sort(all, (size_t)n, number_before, NULL);
    for (int32_t i = 0; i < n; i++)
        if (kept == 0 || all[kept - 1] != all[i]) all[kept++] = all[i];
    *n_out = kept;
    return berth_arena_copy(&p->plan->arena, all, (size_t)kept, sizeof *all);
}

static void plan_dims(planner *p) {
    for (int32_t i = 0; i < p->n_views; i++)
        for (int32_t node = 0; node < p->views[i]->n_nodes; node++) {
            int32_t rank = berth_node_rank(p->views[i], node);
            if (rank > p->plan->n_dims) p->plan->n_dims = rank;
        }
}

static int32_t position_columns(const berth_feature_options *options) {
    switch (options->position) {
    case BERTH_POSITION_NONE: return 0;
    case BERTH_POSITION_SINUSOID: return options->position_width;
    default: return 1;
    }
}

static berth_status make_plan(planner *p) {
    berth_feature_plan *plan = p->plan;
    const berth_feature_options *o = &plan->options;
    plan->n_devices = p->n_views > 0 ? p->views[0]->costs->n_devices : 0;
    if (o->type) BERTH_TRY(plan_types(p));
    if (o->shape) plan_dims(p);
    if (o->in_degree) plan->in_degrees = plan_degrees(p, true, &plan->n_in);
    if (o->out_degree) plan->out_degrees = plan_degrees(p, false, &plan->n_out);
    if (p->scratch.failed || plan->arena.failed) return berth_fail_nomem(p->ctx);
    plan->width = plan->n_types + plan->n_dims + plan->n_in + plan->n_out + (o->fractal ? 1 : 0) + position_columns(o) +
                  (o->cost ? berth_cost_width(plan->n_devices) : 0);
    return BERTH_OK;
}

berth_status berth_feature_plan_new(berth_ctx *ctx, berth_feature_plan **out, const berth_feature_options *options,
                                    const berth_view *const *views, int32_t n_views) {
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    *out = NULL;
    berth_feature_plan *plan = berth_resize(allocator, NULL, 0, 1, sizeof *plan);
    if (!plan) return berth_fail_nomem(ctx);
    berth_arena_init(&plan->arena, allocator);
    plan->options = *options;
    planner p = {.ctx = ctx, .plan = plan, .views = views, .n_views = n_views};
    berth_arena_init(&p.scratch, allocator);
    berth_status status = make_plan(&p);
    berth_arena_deinit(&p.scratch);
    if (status == BERTH_OK)
        *out = plan;
    else
        berth_feature_plan_free(plan);
    return status;
}

void berth_feature_plan_free(berth_feature_plan *plan) {
    if (!plan) return;
    berth_allocator allocator = plan->arena.allocator;
    berth_arena_deinit(&plan->arena);
    berth_resize(&allocator, plan, 1, 0, sizeof *plan);
}

static void fill_position(const berth_feature_options *o, int32_t n_nodes, berth_block block) {
    switch (o->position) {
    case BERTH_POSITION_NONE: break;
    case BERTH_POSITION_INDEX: berth_feature_index(n_nodes, block); break;
    case BERTH_POSITION_RANK: berth_feature_rank(n_nodes, block); break;
    case BERTH_POSITION_SINUSOID: berth_feature_sinusoid(n_nodes, o->position_width, block); break;
    }
}

static bool fill(berth_arena *scratch, const berth_feature_plan *plan, const berth_view *view, berth_real *x) {
    const berth_feature_options *o = &plan->options;
    berth_block block = {x, plan->width};
    memset(x, 0, (size_t)view->n_nodes * (size_t)plan->width * sizeof *x);
    berth_feature_type(view, plan->n_types, plan->types, block);
    block.first += plan->n_types;
    berth_feature_shape(view, plan->n_dims, block);
    block.first += plan->n_dims;
    berth_feature_degree(view->n_nodes, view->in_degree, plan->n_in, plan->in_degrees, block);
    block.first += plan->n_in;
    berth_feature_degree(view->n_nodes, view->out_degree, plan->n_out, plan->out_degrees, block);
    block.first += plan->n_out;
    if (o->fractal && !berth_feature_fractal(scratch, &view->links, block)) return false;
    block.first += o->fractal ? 1 : 0;
    fill_position(o, view->n_nodes, block);
    block.first += position_columns(o);
    return !o->cost || berth_feature_cost(scratch, view, block);
}

berth_status berth_features_fill(berth_ctx *ctx, const berth_feature_plan *plan, const berth_view *view,
                                 berth_real *x) {
    berth_arena scratch;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    bool ok = fill(&scratch, plan, view, x);
    berth_arena_deinit(&scratch);
    return ok ? BERTH_OK : berth_fail_nomem(ctx);
}
