/* SPDX-License-Identifier: Apache-2.0 */
/* The best order of a placement under `concurrent`: depth-first over every choice of a ready task at every moment at
 * which a device starts one. These are all the schedules that some priorities can lead the simulator to, since the
 * order of starts of any of them, taken as priorities, leads to it again. A state is copied at each choice: blocks are
 * small. Cut by what is still to run on each device and by the tails of what is running or ready. */
#include "search/block.h"

#include <math.h>
#include <string.h>

enum { WAITING, READY, RUNNING, DONE };

typedef struct state {
    double now, last; /* last: latest end or arrival at a target */
    int32_t n_started;
    uint8_t phase[BERTH_BLOCK_TASKS];
    int32_t missing[BERTH_BLOCK_TASKS];
    double ready_time[BERTH_BLOCK_TASKS];
    int32_t started[BERTH_BLOCK_TASKS]; /* tasks in order of their start */
    int32_t running[BERTH_MAX_DEVICES]; /* or -1 */
    double until[BERTH_MAX_DEVICES];
} state;

typedef struct order_search {
    const berth_block *block;
    const berth_costs *c;
    berth_search *search;
    const int32_t *device;
    double limit; /* only less counts; falls with every schedule found */
    int32_t *priority;
    bool found, complete;
    double *links; /* link_free by moment, [n_devices * n_devices] each */
} order_search;

static double time_of(const order_search *o, int32_t task) {
    return o->c->time_ms[(size_t)task * (size_t)o->c->n_devices + (size_t)o->device[task]];
}

static double tail_of(const order_search *o, int32_t task) {
    return o->block->tail[(size_t)task * (size_t)o->c->n_devices + (size_t)o->device[task]];
}

static void deliver(state *s, int32_t task, double time) {
    if (time > s->ready_time[task]) s->ready_time[task] = time;
    s->missing[task]--;
}

static double copy_now(const order_search *o, const state *s, double *link_free, int32_t value, int32_t from,
                       int32_t to) {
    size_t link = (size_t)from * (size_t)o->c->n_devices + (size_t)to;
    double start = s->now, took = berth_costs_copy(o->c, value, from, to);
    if (!o->c->link_queued[link]) return start + took;
    if (link_free[link] > start) start = link_free[link];
    return link_free[link] = start + took;
}

static void spread(const order_search *o, state *s, double *link_free, int32_t value, int32_t home) {
    const berth_costs *c = o->c;
    double at[BERTH_MAX_DEVICES];
    uint64_t there = (uint64_t)1 << home;
    at[home] = s->now;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i], to = o->device[task];
        if (!(there >> to & 1)) at[to] = copy_now(o, s, link_free, value, home, to);
        there |= (uint64_t)1 << to;
        deliver(s, task, at[to]);
    }
    int32_t target = c->value_target[value];
    if (target < 0) return;
    if (!(there >> target & 1)) at[target] = copy_now(o, s, link_free, value, home, target);
    if (at[target] > s->last) s->last = at[target];
}

/* Every task that ends now, by number; then every task whose inputs are all there is ready. */
static void complete_all(const order_search *o, state *s, double *link_free) {
    const berth_costs *c = o->c;
    for (;;) {
        int32_t first = -1;
        for (int32_t d = 0; d < c->n_devices; d++)
            if (s->running[d] >= 0 && s->until[d] == s->now && (first < 0 || s->running[d] < s->running[first]))
                first = d;
        if (first < 0) break;
        int32_t task = s->running[first];
        s->running[first] = -1;
        s->phase[task] = DONE;
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
            spread(o, s, link_free, c->out_values[i], first);
    }
}

static void mark_ready(const order_search *o, state *s) {
    for (int32_t task = 0; task < o->c->n_tasks; task++)
        if (s->phase[task] == WAITING && s->missing[task] == 0 && s->ready_time[task] <= s->now) s->phase[task] = READY;
}

/* The next moment at which anything ends or arrives; INFINITY: none. */
static double next_moment(const order_search *o, const state *s) {
    double next = INFINITY;
    for (int32_t d = 0; d < o->c->n_devices; d++)
        if (s->running[d] >= 0 && s->until[d] < next) next = s->until[d];
    for (int32_t task = 0; task < o->c->n_tasks; task++)
        if (s->phase[task] == WAITING && s->missing[task] == 0 && s->ready_time[task] < next)
            next = s->ready_time[task];
    return next;
}

/* The schedule from here on takes at least this. */
static double bound(const order_search *o, const state *s) {
    double work[BERTH_MAX_DEVICES] = {0}, shortest[BERTH_MAX_DEVICES], least = s->last;
    for (int32_t d = 0; d < o->c->n_devices; d++) shortest[d] = INFINITY;
    for (int32_t task = 0; task < o->c->n_tasks; task++) {
        if (s->phase[task] >= RUNNING) continue;
        int32_t d = o->device[task];
        double start = s->running[d] >= 0 ? s->until[d] : s->now;
        if (s->missing[task] == 0 && s->ready_time[task] > start) start = s->ready_time[task];
        least = fmax(least, start + time_of(o, task) + tail_of(o, task));
        work[d] += time_of(o, task);
        shortest[d] = fmin(shortest[d], tail_of(o, task));
    }
    for (int32_t d = 0; d < o->c->n_devices; d++) {
        double start = s->running[d] >= 0 ? s->until[d] : s->now;
        if (s->running[d] >= 0) least = fmax(least, start + tail_of(o, s->running[d]));
        if (work[d] > 0) least = fmax(least, start + work[d] + shortest[d]);
    }
    return least;
}

/* A full schedule: the simulator has the last word on what it takes and whether memory allows it. */
static void finish(order_search *o, const state *s) {
    int32_t priority[BERTH_BLOCK_TASKS];
    for (int32_t i = 0; i < o->c->n_tasks; i++) priority[s->started[i]] = i;
    double ms = berth_sim_run(o->block->sim, o->device, priority);
    berth_search_count(o->search, 1);
    if (!(ms < o->limit)) return;
    o->limit = ms;
    o->found = true;
    memcpy(o->priority, priority, (size_t)o->c->n_tasks * sizeof *priority);
}

static void go_on(order_search *o, const state *s, int32_t depth);

/* Let the free devices from `d` on start one ready task each, in every way. */
static void choose(order_search *o, const state *s, int32_t d, int32_t depth) {
    const berth_costs *c = o->c;
    if (!o->complete) return;
    bool any = false;
    for (; d < c->n_devices && !any; d++) {
        if (s->running[d] >= 0) continue;
        for (int32_t task = 0; task < c->n_tasks; task++) {
            if (s->phase[task] != READY || o->device[task] != d) continue;
            any = true;
            state next = *s;
            next.phase[task] = RUNNING;
            next.running[d] = task;
            next.until[d] = s->now + time_of(o, task);
            next.started[next.n_started++] = task;
            if (next.until[d] > next.last) next.last = next.until[d];
            if (bound(o, &next) < o->limit) choose(o, &next, d + 1, depth);
        }
    }
    if (!any) go_on(o, s, depth);
}

static void go_on(order_search *o, const state *s, int32_t depth) {
    size_t square = (size_t)o->c->n_devices * (size_t)o->c->n_devices;
    double *link_free = o->links + ((size_t)depth + 1) * square;
    if (berth_search_stop(o->search)) {
        o->complete = false;
        return;
    }
    double moment = next_moment(o, s);
    if (moment == INFINITY) {
        if (s->n_started == o->c->n_tasks) finish(o, s);
        return;
    }
    state next = *s;
    memcpy(link_free, link_free - square, square * sizeof *link_free);
    next.now = moment;
    complete_all(o, &next, link_free);
    mark_ready(o, &next);
    if (bound(o, &next) < o->limit) choose(o, &next, 0, depth + 1);
}

static void begin(const order_search *o, state *s) {
    const berth_costs *c = o->c;
    *s = (state){0};
    for (int32_t d = 0; d < c->n_devices; d++) s->running[d] = -1;
    for (int32_t task = 0; task < c->n_tasks; task++) s->missing[task] = c->in_start[task + 1] - c->in_start[task];
    for (int32_t i = 0; i < c->n_given; i++)
        spread(o, s, o->links, c->given_values[i], c->value_home[c->given_values[i]]);
    mark_ready(o, s);
}

double berth_block_order(const berth_block *block, berth_search *search, const int32_t *device, double limit,
                         int32_t *priority, bool *complete) {
    const berth_costs *c = block->costs;
    order_search o = {.block = block, .c = c, .search = search, .device = device, .limit = limit};
    o.priority = priority;
    o.complete = true;
    size_t square = (size_t)c->n_devices * (size_t)c->n_devices;
    o.links = block->links;
    memset(o.links, 0, square * sizeof *o.links);
    state s;
    begin(&o, &s);
    choose(&o, &s, 0, 0);
    *complete = o.complete;
    return o.found ? o.limit : INFINITY;
}
