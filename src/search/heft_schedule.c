/* SPDX-License-Identifier: Apache-2.0 */
/* A device's busy time is kept as blocks, and a gap too short for any task that takes time is filled: then a device
 * that is never idle has one block, however many tasks it runs, and looking for a gap is quick. What takes no time fits
 * in at any moment. */
#include "search/heft_schedule.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

static void find_shortest(berth_schedule *s) {
    const berth_costs *c = s->costs;
    for (int32_t d = 0; d < c->n_devices; d++) {
        s->shortest[d] = INFINITY;
        for (int32_t task = 0; task < c->n_tasks; task++) {
            double ms = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
            if (ms > 0 && ms < s->shortest[d]) s->shortest[d] = ms;
        }
    }
}

berth_status berth_schedule_init(berth_schedule *schedule, berth_search *search) {
    const berth_problem *p = search->problem;
    size_t n = (size_t)p->costs->n_tasks, k = (size_t)p->costs->n_devices;
    berth_schedule *s = schedule;
    *s = (berth_schedule){.ctx = search->ctx, .problem = p, .costs = p->costs};
    berth_arena_init(&s->arena, berth_ctx_allocator(search->ctx));
    s->device = berth_arena_push(&s->arena, n, sizeof *s->device);
    s->unit_device = berth_arena_push(&s->arena, (size_t)p->n_units, sizeof *s->unit_device);
    s->start = berth_arena_push(&s->arena, n, sizeof *s->start);
    s->end = berth_arena_push(&s->arena, n, sizeof *s->end);
    s->idle_from = berth_arena_push(&s->arena, k, sizeof *s->idle_from);
    s->shortest = berth_arena_push(&s->arena, k, sizeof *s->shortest);
    s->busy = berth_arena_push(&s->arena, k, sizeof *s->busy);
    if (s->arena.failed || !berth_rank_build(&s->arena, p, &s->rank) || !berth_room_build(&s->arena, p, &s->room)) {
        berth_schedule_deinit(s);
        return berth_fail_nomem(search->ctx);
    }
    memset(s->device, -1, n * sizeof *s->device);
    memset(s->unit_device, -1, (size_t)p->n_units * sizeof *s->unit_device);
    find_shortest(s);
    return BERTH_OK;
}

void berth_schedule_deinit(berth_schedule *schedule) {
    const berth_allocator *allocator = berth_ctx_allocator(schedule->ctx);
    for (int32_t d = 0; schedule->busy && d < schedule->costs->n_devices; d++)
        berth_vec_free(allocator, &schedule->busy[d]);
    berth_arena_deinit(&schedule->arena);
}

bool berth_schedule_allows(const berth_schedule *schedule, int32_t task, int32_t device) {
    int32_t unit = schedule->problem->unit_of[task];
    if (schedule->unit_device[unit] >= 0) return schedule->unit_device[unit] == device;
    return berth_problem_allows(schedule->problem, unit, device) && berth_room_fits(&schedule->room, unit, device);
}

double berth_schedule_arrival(const berth_schedule *schedule, int32_t task, int32_t device) {
    const berth_costs *c = schedule->costs;
    double last = 0;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i], producer = c->value_producer[value];
        int32_t home = producer < 0 ? c->value_home[value] : schedule->device[producer];
        double there = (producer < 0 ? 0 : schedule->end[producer]) + berth_costs_copy(c, value, home, device);
        if (there > last) last = there;
    }
    return last;
}

/* The first block that ends after `time`. */
static size_t find_block(const berth_busy_list *busy, double time) {
    size_t low = 0, high = busy->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (busy->items[middle].end > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double berth_schedule_gap(const berth_schedule *schedule, int32_t device, double ready, double ms) {
    const berth_busy_list *busy = &schedule->busy[device];
    double start = ready;
    if (!(ms > 0)) return ready;
    for (size_t i = find_block(busy, ready); i < busy->n && busy->items[i].start < start + ms; i++)
        if (busy->items[i].end > start) start = busy->items[i].end;
    return start;
}

static bool mark_busy(berth_schedule *s, int32_t d, double start, double end) {
    berth_busy_list *busy = &s->busy[d];
    size_t at = find_block(busy, start);
    /* Join with the neighbours that are nearer than the shortest task. */
    bool before = at > 0 && start - busy->items[at - 1].end < s->shortest[d];
    bool after = at < busy->n && busy->items[at].start - end < s->shortest[d];
    if (before && after) {
        busy->items[at - 1].end = busy->items[at].end;
        memmove(busy->items + at, busy->items + at + 1, (busy->n - at - 1) * sizeof *busy->items);
        busy->n--;
    } else if (before) {
        busy->items[at - 1].end = end;
    } else if (after) {
        busy->items[at].start = start;
    } else {
        if (!berth_vec_push(berth_ctx_allocator(s->ctx), busy, (berth_busy){start, end})) return false;
        memmove(busy->items + at + 1, busy->items + at, (busy->n - 1 - at) * sizeof *busy->items);
        busy->items[at] = (berth_busy){start, end};
    }
    return true;
}

bool berth_schedule_put(berth_schedule *schedule, int32_t task, int32_t device, double start) {
    const berth_costs *c = schedule->costs;
    int32_t unit = schedule->problem->unit_of[task];
    double end = start + c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)device];
    schedule->device[task] = device;
    schedule->start[task] = start;
    schedule->end[task] = end;
    if (end > schedule->idle_from[device]) schedule->idle_from[device] = end;
    if (schedule->unit_device[unit] < 0) {
        schedule->unit_device[unit] = device;
        berth_room_put(&schedule->room, unit, device);
    }
    return !(end > start) || mark_busy(schedule, device, start, end);
}

int32_t berth_schedule_last_resort(const berth_schedule *schedule, int32_t task) {
    int32_t unit = schedule->problem->unit_of[task];
    return schedule->unit_device[unit] >= 0 ? schedule->unit_device[unit] : berth_room_fastest(&schedule->room, unit);
}

static bool starts_before(const void *user, int32_t a, int32_t b) {
    const berth_schedule *s = user;
    if (s->start[a] != s->start[b]) return s->start[a] < s->start[b];
    return s->rank.position[a] < s->rank.position[b];
}

berth_status berth_schedule_finish(berth_schedule *schedule, berth_search *search, const char *method) {
    berth_schedule *s = schedule;
    int32_t *order = s->rank.order, *priority = NULL;
    if (s->costs->model == BERTH_MODEL_CONCURRENT) {
        berth_sort(order, (size_t)s->costs->n_tasks, starts_before, s);
        priority = berth_arena_push(&s->arena, (size_t)s->costs->n_tasks, sizeof *priority);
        if (!priority) return berth_fail_nomem(s->ctx);
        for (int32_t i = 0; i < s->costs->n_tasks; i++) priority[order[i]] = i;
    }
    return berth_search_finish(search, s->device, priority, method);
}
