/* SPDX-License-Identifier: Apache-2.0 */
/* Repair: while some device's peak exceeds its capacity, its units are sorted by what each loses per byte that it takes
 * along (time on the best other device that still has room, less its time here), and leave in that order until
 * the excess is gone by estimate; then the simulator says what the peaks really are. A unit never returns to a device
 * that it had to leave, so that the repair ends. If that leads nowhere and sizes are given, units are packed anew. */
#include "search/search_room.h"

#include <math.h>

#include "base/sort.h"
#include "search/search_pack.h"

bool berth_room_build(berth_arena *arena, const berth_problem *problem, berth_room *out) {
    out->problem = problem;
    out->need = berth_arena_push(arena, (size_t)problem->n_units, sizeof *out->need);
    out->used = berth_arena_push(arena, (size_t)problem->costs->n_devices, sizeof *out->used);
    if (arena->failed) return false;
    if (!problem->memory_binds) return true;
    for (int32_t unit = 0; unit < problem->n_units; unit++)
        out->need[unit] = berth_problem_unit_bytes(problem, unit, 0);
    return true;
}

void berth_room_put(berth_room *room, int32_t unit, int32_t device) {
    room->used[device] += room->need[unit];
}

double berth_room_unit_ms(const berth_problem *problem, int32_t unit, int32_t device) {
    const berth_costs *c = problem->costs;
    double ms = 0;
    for (int32_t i = problem->unit_start[unit]; i < problem->unit_start[unit + 1]; i++)
        ms += c->time_ms[(size_t)problem->unit_tasks[i] * (size_t)c->n_devices + (size_t)device];
    return ms;
}

int32_t berth_room_fastest(const berth_room *room, int32_t unit) {
    const berth_problem *p = room->problem;
    int32_t best = -1;
    double best_ms = INFINITY;
    bool best_fits = false;
    for (int32_t d = 0; d < p->costs->n_devices; d++) {
        if (!berth_problem_allows(p, unit, d)) continue;
        bool fits = berth_room_fits(room, unit, d);
        double ms = berth_room_unit_ms(p, unit, d);
        if (best >= 0 && (fits < best_fits || (fits == best_fits && ms >= best_ms))) continue;
        best = d;
        best_ms = ms;
        best_fits = fits;
    }
    return best;
}

typedef struct repair {
    berth_search *search;
    const berth_problem *p;
    int32_t *device;
    const int32_t *priority;
    double *peak;   /* [n_devices] last known, moved units accounted by estimate */
    double *bytes;  /* [n_units] what a unit takes along: what stays, and the values it makes */
    double *loss;   /* [n_units] per byte, of the device being relieved */
    int32_t *queue; /* [n_units] */
    uint64_t *left; /* [n_units] devices that it had to leave */
} repair;

static int32_t device_of(const repair *r, int32_t unit) {
    return r->device[r->p->unit_tasks[r->p->unit_start[unit]]];
}

static void put(repair *r, int32_t unit, int32_t to) {
    for (int32_t i = r->p->unit_start[unit]; i < r->p->unit_start[unit + 1]; i++) r->device[r->p->unit_tasks[i]] = to;
}

static double unit_bytes(const berth_problem *p, int32_t unit) {
    const berth_costs *c = p->costs;
    double bytes = berth_problem_unit_bytes(p, unit, 0);
    for (int32_t i = p->unit_start[unit]; !c->task_memory && i < p->unit_start[unit + 1]; i++)
        for (int32_t k = c->out_start[p->unit_tasks[i]]; k < c->out_start[p->unit_tasks[i] + 1]; k++)
            bytes += c->value_bytes[c->out_values[k]];
    return bytes;
}

/* The best other device that the unit may go to and that has room; -1: none. */
static int32_t find_target(const repair *r, int32_t unit, int32_t from, double *best_ms) {
    const berth_costs *c = r->p->costs;
    int32_t best = -1;
    *best_ms = INFINITY;
    for (int32_t d = 0; d < c->n_devices; d++) {
        if (d == from || !berth_problem_allows(r->p, unit, d) || r->left[unit] >> d & 1) continue;
        if (r->peak[d] + r->bytes[unit] > c->capacity[d]) continue;
        double ms = berth_room_unit_ms(r->p, unit, d);
        if (best >= 0 && ms >= *best_ms) continue;
        best = d;
        *best_ms = ms;
    }
    return best;
}

static bool loses_less(const void *user, int32_t a, int32_t b) {
    const double *loss = user;
    return loss[a] < loss[b] || (loss[a] == loss[b] && a < b);
}

/* Moves units off a device until it fits by estimate; the number moved. */
static int32_t relieve(repair *r, int32_t d) {
    int32_t n = 0, n_moved = 0;
    for (int32_t unit = 0; unit < r->p->n_units; unit++) {
        double ms;
        if (device_of(r, unit) != d || !(r->bytes[unit] > 0)) continue;
        if (find_target(r, unit, d, &ms) < 0) continue;
        r->loss[unit] = (ms - berth_room_unit_ms(r->p, unit, d)) / r->bytes[unit];
        r->queue[n++] = unit;
    }
    berth_sort(r->queue, (size_t)n, loses_less, r->loss);
    for (int32_t i = 0; i < n && r->peak[d] > r->p->costs->capacity[d]; i++) {
        int32_t unit = r->queue[i];
        double ms;
        int32_t to = find_target(r, unit, d, &ms);
        if (to < 0) continue;
        r->left[unit] |= (uint64_t)1 << d;
        put(r, unit, to);
        r->peak[to] += r->bytes[unit];
        r->peak[d] -= r->bytes[unit];
        n_moved++;
    }
    return n_moved;
}

static double fit(repair *r) {
    const berth_costs *c = r->p->costs;
    for (;;) {
        double ms = berth_sim_run(r->search->sim, r->device, r->priority);
        int32_t n_moved = 0;
        if (ms < INFINITY || berth_search_interrupted(r->search)) return ms;
        berth_sim_memory(r->search->sim, r->device, r->priority, r->peak);
        for (int32_t d = 0; d < c->n_devices; d++)
            if (r->peak[d] > c->capacity[d]) n_moved += relieve(r, d);
        if (n_moved == 0) return ms;
    }
}

static double fit_in(berth_arena *arena, repair *r) {
    size_t n = (size_t)r->p->n_units;
    r->peak = berth_arena_push(arena, (size_t)r->p->costs->n_devices, sizeof *r->peak);
    r->bytes = berth_arena_push(arena, n, sizeof *r->bytes);
    r->loss = berth_arena_push(arena, n, sizeof *r->loss);
    r->queue = berth_arena_push(arena, n, sizeof *r->queue);
    r->left = berth_arena_push(arena, n, sizeof *r->left);
    if (arena->failed) return INFINITY;
    for (int32_t unit = 0; unit < r->p->n_units; unit++) r->bytes[unit] = unit_bytes(r->p, unit);
    double ms = fit(r);
    if (ms < INFINITY || !r->p->costs->task_memory || !berth_search_pack(arena, r->p, r->device)) return ms;
    return berth_sim_run(r->search->sim, r->device, r->priority);
}

berth_status berth_search_finish(berth_search *search, int32_t *device, const int32_t *priority, const char *method) {
    if (berth_search_stop(search)) return BERTH_OK;
    double ms = berth_search_evaluate(search, device, priority);
    if (!(ms < INFINITY) && search->problem->memory_binds) {
        repair r = {.search = search, .p = search->problem, .device = device, .priority = priority};
        berth_arena arena;
        berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
        ms = fit_in(&arena, &r);
        bool failed = arena.failed;
        berth_arena_deinit(&arena);
        if (failed) return berth_fail_nomem(search->ctx);
    }
    if (ms < INFINITY) berth_search_offer(search, device, priority, BERTH_SOURCE_SEED, method);
    return BERTH_OK;
}
