/* SPDX-License-Identifier: Apache-2.0 */
/* The optimum under `queued`, or a bound, by dynamic programming along the file's order (exact_queued.h).
 *
 * Rounds of a pass forwards and one backwards. The first rounds may keep few keys and labels only and give a bound, and
 * by the way that led to the best last label a placement to try. The rests that they find for each key tell the next
 * round, which may keep more, what cannot beat the best placement known. Either nothing is left that could, or a round
 * ends in which nothing was merged or given up: the optimum in both cases. Memory limits are not seen here: what comes
 * out is a bound all the same, and the optimum if the placement found obeys them.
 *
 * Memory: a round may fill BERTH_QUEUED_BYTES with labels, keys and rests; its working memory grows with the number of
 * labels that a layer may have, of which there are at most MOST_LABELS. */
#include <math.h>

#include "search/exact.h"
#include "search/exact_queued.h"

enum { FEWEST_LABELS = 256, MOST_LABELS = 1 << 17, GROWTH = 4 };
static const double rounding = 1e-12; /* relative: by how much sums may differ from those of the simulator */

static bool make_room(berth_queued_search *s, berth_arena *arena) {
    int32_t k = s->model.n_devices, width = s->model.width, n_words = s->model.n_words, n_fields = s->model.n_fields;
    int32_t n_labels = k * s->most_labels + 1, n_keys = k * s->most_keys + 1;
    double tolerance = 0.25 * rounding / (s->model.n + 1);
    size_t n = (size_t)n_keys + 1;
    s->edges = berth_arena_push(arena, n, sizeof *s->edges);
    s->sorted_edges = berth_arena_push(arena, n, sizeof *s->sorted_edges);
    s->edge_start = berth_arena_push(arena, n, sizeof *s->edge_start);
    s->label_start = berth_arena_push(arena, n, sizeof *s->label_start);
    s->number = berth_arena_push(arena, n, sizeof *s->number);
    s->old = berth_arena_push(arena, n, sizeof *s->old);
    s->old_room = berth_arena_push(arena, n, sizeof *s->old_room);
    s->owner = berth_arena_push(arena, (size_t)n_fields + 1, sizeof *s->owner);
    s->owner_before = berth_arena_push(arena, (size_t)n_fields + 1, sizeof *s->owner_before);
    return !arena->failed && berth_queued_front_init(&s->fresh, arena, width, n_labels) &&
           berth_queued_front_init(&s->merged, arena, width, s->most_labels + n_keys) &&
           berth_queued_sieve_init(&s->sieve, arena, width, n_labels, tolerance) &&
           berth_queued_keys_init(&s->keys, arena, n_words, n_keys) &&
           berth_queued_keys_init(&s->other_keys, arena, n_words, n_keys) &&
           berth_queued_keys_init(&s->old_keys, arena, n_words, n_keys);
}

/* --- what a pass has shown ---------------------------------------------------------------------------------------- */

static double largest(const double *clock, int32_t n) {
    double most = 0;
    for (int32_t d = 0; d < n; d++) most = fmax(most, clock[d]);
    return most;
}

/* The label of the last layer that ends first, copies to targets included; -1: none is left. */
static int32_t best_label(const berth_queued_search *s, double *least) {
    const berth_queued_layer *last = &s->now->layers[s->model.n];
    size_t k = (size_t)s->model.width;
    int32_t best = -1;
    double clock[BERTH_QUEUED_WIDTH];
    *least = INFINITY;
    for (int32_t key = 0; key < last->n_keys; key++) {
        int32_t n_moves =
            berth_queued_step(&s->model, last->keys + (size_t)key * (size_t)s->model.n_words, s->model.n, -1, NULL);
        for (int32_t i = last->label_start[key]; i < last->label_start[key + 1]; i++) {
            for (size_t d = 0; d < k; d++) clock[d] = last->label[(size_t)i * k + d];
            berth_queued_move_on(&s->model, n_moves, clock);
            double ms = largest(clock, s->model.n_devices);
            if (!(ms < *least)) continue;
            *least = ms;
            best = i;
        }
    }
    return best;
}

/* The way that led to a label. Where it forgot about a unit, the unit's first task says where it runs. */
static void offer_label(berth_queued_search *s, int32_t label, int32_t *device) {
    const berth_queued_model *m = &s->model;
    for (int32_t position = m->n; position > 0; position--) {
        const berth_queued_layer *layer = &s->now->layers[position];
        device[m->c->file_order[position - 1]] = layer->device[label];
        label = layer->parent[label];
    }
    for (int32_t position = 0; position < m->n; position++) {
        int32_t task = m->c->file_order[position], first = m->first[m->part_of[task]];
        device[task] = device[m->c->file_order[first]];
    }
    berth_search_offer(s->search, device, NULL, BERTH_SOURCE_SEED, "exact");
}

/* Nothing that was left out takes less than the limit. */
static void raise_bound(berth_queued_search *s, double least, double limit) {
    double bound = fmin(limit, least * (1 - 0.5 * rounding));
    if (bound < INFINITY && (s->search->problem->bounds_hold || s->patience)) berth_search_bound(s->search, bound);
}

/* --- rounds ------------------------------------------------------------------------------------------------------- */

static berth_status run_round(berth_queued_search *s, int32_t *device, bool *done) {
    double limit = s->search->best_ms, least;
    for (int32_t d = 0; d < s->model.width; d++)
        s->limit[d] = d < s->model.n_devices ? limit * (1 - rounding) : s->model.capacity * (1 + rounding);
    BERTH_TRY(berth_queued_forward(s));
    if (s->stopped || s->full) return BERTH_OK;
    int32_t label = best_label(s, &least);
    if (label >= 0 && (s->search->problem->bounds_hold || !s->patience)) offer_label(s, label, device);
    raise_bound(s, least, limit);
    *done = !s->now->relaxed || label < 0;
    if (*done) return BERTH_OK;
    BERTH_TRY(berth_queued_backward(s));
    if (s->stopped) return BERTH_OK;
    const berth_queued_layer *first = &s->now->layers[0];
    least = INFINITY;
    for (int32_t i = 0; i < first->rest_start[1]; i++)
        least = fmin(least, largest(first->rest + (size_t)i * (size_t)s->model.width, s->model.n_devices));
    raise_bound(s, least, limit);
    *done = first->rest_start[1] == 0;
    return BERTH_OK;
}

/* The next round takes longer than the last one, if that did not find much to leave out. */
static bool is_affordable(const berth_queued_search *s, double work) {
    return !s->patience || 2 * (work - s->patience->work) < s->patience->work;
}

static berth_status run_rounds(berth_queued_search *s, berth_arena *arena, berth_queued_round *rounds, int32_t most) {
    const berth_allocator *allocator = berth_ctx_allocator(s->search->ctx);
    int32_t *device = berth_arena_push(arena, (size_t)s->model.n, sizeof *device);
    if (!device) return berth_fail_nomem(s->search->ctx);
    bool done = false;
    double work = s->patience ? s->patience->work : 0; /* that was left before the last round */
    berth_status status = BERTH_OK;
    s->now = &rounds[0];
    for (; s->most_labels <= most && !done && is_affordable(s, work); s->most_labels *= GROWTH) {
        work = s->patience ? s->patience->work : 0;
        berth_mark mark = berth_arena_mark(arena);
        s->most_keys = s->most_labels / 2;
        berth_arena_init(&s->now->kept, allocator);
        berth_arena_init(&s->now->passing, allocator);
        s->now->layers = berth_arena_push(&s->now->kept, (size_t)s->model.n + 1, sizeof *s->now->layers);
        if (!s->now->layers || !make_room(s, arena))
            status = berth_fail_nomem(s->search->ctx);
        else
            status = run_round(s, device, &done);
        berth_arena_release(arena, mark);
        berth_arena_deinit(&s->now->passing);
        if (s->before) berth_arena_deinit(&s->before->kept);
        s->before = s->now;
        s->now = s->now == &rounds[0] ? &rounds[1] : &rounds[0];
        if (status != BERTH_OK || s->stopped || s->full) break;
    }
    if (s->before) berth_arena_deinit(&s->before->kept);
    return status;
}

berth_status berth_queued_solve(berth_search *search, berth_patience *patience, int32_t fewest, int32_t most) {
    berth_queued_search s = {.search = search, .patience = patience, .most_labels = fewest};
    berth_queued_round rounds[2] = {{.relaxed = false}};
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    berth_status status = BERTH_OK;
    double scale = search->has_best && search->best_ms > 0 ? search->best_ms : 1;
    if (!berth_queued_model_init(&s.model, &arena, search->problem, patience != NULL, scale))
        status = berth_fail_nomem(search->ctx);
    else
        status = run_rounds(&s, &arena, rounds, most);
    berth_arena_deinit(&arena);
    return status;
}

/* Whether a first round fits into memory. */
static bool suits(const berth_costs *c) {
    double bytes = (double)c->n_tasks * FEWEST_LABELS * (c->n_devices + 1) * sizeof(double);
    return c->n_devices <= BERTH_QUEUED_DEVICES && c->n_tasks > 0 && bytes < BERTH_QUEUED_BYTES;
}

berth_status berth_bound_queued(berth_search *search, berth_patience *patience) {
    if (!suits(search->problem->costs)) return BERTH_OK;
    return berth_queued_solve(search, patience, FEWEST_LABELS, MOST_LABELS);
}

berth_status berth_search_exact_queued(berth_search *search) {
    bool suited = suits(search->problem->costs);
    if (suited) BERTH_TRY(berth_queued_solve(search, NULL, FEWEST_LABELS, MOST_LABELS));
    /* What memory limits forbid only a search through placements can tell. */
    if (suited && !search->problem->memory_binds) return BERTH_OK;
    return berth_search_stop(search) ? BERTH_OK : berth_search_exact_placements(search);
}
