/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: the longest path is the chain. Every other task comes after some tasks of the chain and before others: the
 * last of the former and the first of the latter are its interval. Intervals that overlap are one module, from the
 * chain's task at its beginning to the one at its end; chain tasks within belong to it. Linear in time. */
#include "search/bound_modules.h"

#include <math.h>
#include <string.h>

typedef struct state {
    const berth_costs *c;
    berth_modules *out;
    int32_t *chain; /* [n_chain] tasks */
    int32_t n_chain;
    int32_t *place;   /* [n_tasks] on the chain, or -1 */
    int32_t *after;   /* [n_tasks] place of the last chain task that the task depends on, or -1 */
    int32_t *before;  /* [n_tasks] place of the first chain task that depends on it, or n_chain */
    int32_t *reach;   /* [n_chain + 1] by place + 1: the furthest end of an interval that begins there */
    double *length;   /* [n_tasks] */
    int32_t *longest; /* [n_tasks] predecessor on the longest path, or -1 */
} state;

static double least_time(const berth_costs *c, int32_t task) {
    double least = INFINITY;
    for (int32_t d = 0; d < c->n_devices; d++) {
        double time = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
        if (time < least) least = time;
    }
    return least;
}

static void find_chain(state *s) {
    const berth_costs *c = s->c;
    int32_t end = -1, n = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        s->longest[task] = -1;
        double length = 0;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            int32_t pred = c->preds[i];
            if (s->longest[task] >= 0 && s->length[pred] <= length) continue;
            length = s->length[pred];
            s->longest[task] = pred;
        }
        s->length[task] = length + least_time(c, task);
        if (end < 0 || s->length[task] > s->length[end]) end = task;
    }
    for (int32_t task = end; task >= 0; task = s->longest[task]) n++;
    s->n_chain = n;
    memset(s->place, -1, (size_t)c->n_tasks * sizeof *s->place);
    for (int32_t task = end; task >= 0; task = s->longest[task]) {
        s->chain[--n] = task;
        s->place[task] = n;
    }
}

static void find_intervals(state *s) {
    const berth_costs *c = s->c;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        s->after[task] = -1;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            int32_t pred = c->preds[i], place = s->place[pred] >= 0 ? s->place[pred] : s->after[pred];
            if (place > s->after[task]) s->after[task] = place;
        }
    }
    for (int32_t task = c->n_tasks - 1; task >= 0; task--) {
        s->before[task] = s->n_chain;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) {
            int32_t succ = c->succs[i], place = s->place[succ] >= 0 ? s->place[succ] : s->before[succ];
            if (place < s->before[task]) s->before[task] = place;
        }
    }
}

/* Intervals as modules, begun at `place` of the chain and extended while others overlap. */
static void join_intervals(state *s) {
    berth_modules *m = s->out;
    for (int32_t i = 0; i <= s->n_chain; i++) s->reach[i] = i;
    for (int32_t task = 0; task < s->c->n_tasks; task++) {
        if (s->place[task] >= 0) continue;
        int32_t *reach = &s->reach[s->after[task] + 1];
        if (s->before[task] + 1 > *reach) *reach = s->before[task] + 1;
    }
    /* Place p stands at p + 1: 0 is the beginning, n_chain + 1 the end. */
    for (int32_t begin = 0; begin <= s->n_chain;) {
        int32_t end = s->reach[begin];
        for (int32_t i = begin + 1; i < end; i++)
            if (s->reach[i] > end) end = s->reach[i];
        if (end <= begin + 1) {
            begin++;
            continue;
        }
        m->modules[m->n++] =
            (berth_module){begin == 0 ? -1 : s->chain[begin - 1], end > s->n_chain ? -1 : s->chain[end - 1]};
        begin = end;
    }
}

static bool is_within(const state *s, const berth_module *module, int32_t task) {
    int32_t from = module->from < 0 ? -1 : s->place[module->from];
    int32_t to = module->to < 0 ? s->n_chain : s->place[module->to];
    if (s->place[task] >= 0) return s->place[task] > from && s->place[task] < to;
    return s->after[task] >= from && s->before[task] <= to;
}

static void sort_tasks(state *s) {
    berth_modules *m = s->out;
    int32_t *first = s->reach; /* by place + 1: the module that begins there or before; no longer needed otherwise */
    for (int32_t place = -1, at = -1; place < s->n_chain; place++) {
        while (at + 1 < m->n && (m->modules[at + 1].from < 0 || s->place[m->modules[at + 1].from] <= place)) at++;
        first[place + 1] = at;
    }
    for (int32_t task = 0; task < s->c->n_tasks; task++) {
        int32_t place = s->place[task] >= 0 ? s->place[task] - 1 : s->after[task], at = first[place + 1];
        m->module_of[task] = at >= 0 && is_within(s, &m->modules[at], task) ? at : -1;
    }
}

/* The one module to which making and reading the value belongs. */
static int32_t module_of_value(const state *s, int32_t value) {
    const berth_costs *c = s->c;
    const berth_modules *m = s->out;
    int32_t producer = c->value_producer[value], first = c->reader_start[value];
    if (producer < 0 || c->value_target[value] >= 0 || first == c->reader_start[value + 1]) return -1;
    int32_t at = m->module_of[producer];
    for (int32_t i = first; at < 0 && i < c->reader_start[value + 1]; i++) at = m->module_of[c->readers[i]];
    if (at < 0) return -1;
    if (m->module_of[producer] != at && m->modules[at].from != producer) return -1;
    for (int32_t i = first; i < c->reader_start[value + 1]; i++)
        if (m->module_of[c->readers[i]] != at && m->modules[at].to != c->readers[i]) return -1;
    return at;
}

bool berth_modules_find(berth_modules *out, berth_arena *arena, const berth_costs *costs) {
    size_t n = (size_t)costs->n_tasks;
    state s = {.c = costs, .out = out};
    *out = (berth_modules){0};
    out->modules = berth_arena_push(arena, n + 2, sizeof *out->modules);
    out->module_of = berth_arena_push(arena, n, sizeof *out->module_of);
    out->inside = berth_arena_push(arena, (size_t)costs->n_values, sizeof *out->inside);
    s.chain = berth_arena_push(arena, n, sizeof *s.chain);
    s.place = berth_arena_push(arena, n, sizeof *s.place);
    s.after = berth_arena_push(arena, n, sizeof *s.after);
    s.before = berth_arena_push(arena, n, sizeof *s.before);
    s.reach = berth_arena_push(arena, n + 2, sizeof *s.reach);
    s.length = berth_arena_push(arena, n, sizeof *s.length);
    s.longest = berth_arena_push(arena, n, sizeof *s.longest);
    if (arena->failed) return false;
    find_chain(&s);
    find_intervals(&s);
    join_intervals(&s);
    sort_tasks(&s);
    for (int32_t v = 0; v < costs->n_values; v++) out->inside[v] = module_of_value(&s, v);
    out->modules[out->n++] = (berth_module){-1, -1};
    return true;
}
