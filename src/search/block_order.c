/* SPDX-License-Identifier: Apache-2.0 */
/* The best order of a placement under `concurrent`: depth-first, one task after another, each put behind what its
 * device already has.
 *
 * Where only devices are shared, some best schedule is active: no task could start sooner without delaying another.
 * Those are made by branching as Giffler and Thompson (1960) do: of the tasks whose predecessors are in place take
 * the one that would end first; on its device, one that could start before that end must come next.
 *
 * Where links queue, or memory depends on the order, putting a task forward may hurt others elsewhere. Then every order
 * is tried, but of those that differ only by swapping neighbours of different devices, which have nothing to do with
 * each other, only the one with the smaller task first.
 *
 * Cut by what is still to run on each device and by the tails of what could come next. */
#include "search/block.h"

#include <math.h>
#include <string.h>

typedef struct state {
    double last; /* latest end or arrival at a target */
    int32_t n;   /* tasks in place */
    uint64_t placed;
    uint64_t before_last; /* tasks that could have come instead of the newest one */
    int32_t order[BERTH_BLOCK_TASKS];
    int32_t missing[BERTH_BLOCK_TASKS];
    double ready[BERTH_BLOCK_TASKS]; /* latest arrival of the inputs so far */
    double idle[BERTH_MAX_DEVICES];
} state;

typedef struct order_search {
    const berth_block *block;
    const berth_costs *c;
    berth_search *search;
    const int32_t *device;
    double limit; /* only less counts; falls with every schedule found */
    int32_t *priority;
    bool found, complete;
} order_search;

static double time_of(const order_search *o, int32_t task) {
    return o->c->time_ms[(size_t)task * (size_t)o->c->n_devices + (size_t)o->device[task]];
}

static double tail_of(const order_search *o, int32_t task) {
    return o->block->tail[(size_t)task * (size_t)o->c->n_devices + (size_t)o->device[task]];
}

static double start_of(const order_search *o, const state *s, int32_t task) {
    return fmax(s->idle[o->device[task]], s->ready[task]);
}

static double copy_at(const order_search *o, double now, double *link_free, int32_t value, int32_t from, int32_t to) {
    size_t link = (size_t)from * (size_t)o->c->n_devices + (size_t)to;
    double took = berth_costs_copy(o->c, value, from, to);
    if (!o->c->link_queued[link]) return now + took;
    return link_free[link] = fmax(link_free[link], now) + took;
}

static void spread(const order_search *o, state *s, double now, double *link_free, int32_t value, int32_t home) {
    const berth_costs *c = o->c;
    double at[BERTH_MAX_DEVICES];
    uint64_t there = (uint64_t)1 << home;
    at[home] = now;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i], to = o->device[task];
        if (!(there >> to & 1)) at[to] = copy_at(o, now, link_free, value, home, to);
        there |= (uint64_t)1 << to;
        s->ready[task] = fmax(s->ready[task], at[to]);
        s->missing[task]--;
    }
    int32_t target = c->value_target[value];
    if (target < 0) return;
    if (!(there >> target & 1)) at[target] = copy_at(o, now, link_free, value, home, target);
    s->last = fmax(s->last, at[target]);
}

/* The schedule takes at least this, however it goes on. */
static double bound(const order_search *o, const state *s) {
    double work[BERTH_MAX_DEVICES] = {0}, shortest[BERTH_MAX_DEVICES], least = s->last;
    for (int32_t d = 0; d < o->c->n_devices; d++) shortest[d] = INFINITY;
    for (int32_t task = 0; task < o->c->n_tasks; task++) {
        if (s->placed >> task & 1) continue;
        int32_t d = o->device[task];
        least = fmax(least, start_of(o, s, task) + time_of(o, task) + tail_of(o, task));
        work[d] += time_of(o, task);
        shortest[d] = fmin(shortest[d], tail_of(o, task));
    }
    for (int32_t d = 0; d < o->c->n_devices; d++)
        if (work[d] > 0) least = fmax(least, s->idle[d] + work[d] + shortest[d]);
    return least;
}

/* A full order: the simulator has the last word on what it takes and whether memory allows it. */
static void finish(order_search *o, const state *s) {
    int32_t priority[BERTH_BLOCK_TASKS];
    for (int32_t i = 0; i < o->c->n_tasks; i++) priority[s->order[i]] = i;
    double ms = berth_sim_run(o->block->sim, o->device, priority);
    berth_search_step(o->search, o->c->n_tasks);
    if (!(ms < o->limit)) return;
    o->limit = ms;
    o->found = true;
    memcpy(o->priority, priority, (size_t)o->c->n_tasks * sizeof *priority);
}

static void go_on(order_search *o, const state *s);

static void put_next(order_search *o, const state *s, int32_t task, uint64_t possible) {
    const berth_costs *c = o->c;
    size_t square = (size_t)c->n_devices * (size_t)c->n_devices;
    double *link_free = o->block->links + ((size_t)s->n + 1) * square;
    state next = *s;
    double end = start_of(o, s, task) + time_of(o, task);
    berth_search_step(o->search, 1);
    memcpy(link_free, link_free - square, square * sizeof *link_free);
    next.order[next.n++] = task;
    next.placed |= (uint64_t)1 << task;
    next.before_last = possible;
    next.idle[o->device[task]] = end;
    next.last = fmax(next.last, end);
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
        spread(o, &next, end, link_free, c->out_values[i], o->device[task]);
    if (bound(o, &next) < o->limit) go_on(o, &next);
}

/* The tasks that must be tried next, among the possible ones. */
static uint64_t choices(const order_search *o, const state *s, uint64_t possible) {
    uint64_t wanted = 0;
    if (o->block->order_is_free) {
        int32_t newest = s->n ? s->order[s->n - 1] : -1;
        for (uint64_t rest = possible; rest; rest &= rest - 1) {
            int32_t task = __builtin_ctzll(rest);
            bool swappable = newest > task && s->before_last >> task & 1 && o->device[newest] != o->device[task];
            if (!swappable) wanted |= (uint64_t)1 << task;
        }
        return wanted;
    }
    int32_t first = -1;
    double soonest = INFINITY;
    for (uint64_t rest = possible; rest; rest &= rest - 1) {
        int32_t task = __builtin_ctzll(rest);
        double end = start_of(o, s, task) + time_of(o, task);
        if (end < soonest) soonest = end, first = task;
    }
    if (first < 0) return 0; /* what is left waits for a copy that never comes */
    for (uint64_t rest = possible; rest; rest &= rest - 1) {
        int32_t task = __builtin_ctzll(rest);
        bool rival = o->device[task] == o->device[first] && start_of(o, s, task) < soonest;
        if (task == first || rival) wanted |= (uint64_t)1 << task;
    }
    return wanted;
}

static void go_on(order_search *o, const state *s) {
    uint64_t possible = 0;
    if (!o->complete) return;
    if (berth_search_stop(o->search)) {
        o->complete = false;
        return;
    }
    if (s->n == o->c->n_tasks) {
        finish(o, s);
        return;
    }
    for (int32_t task = 0; task < o->c->n_tasks; task++)
        if (!(s->placed >> task & 1) && s->missing[task] == 0) possible |= (uint64_t)1 << task;
    uint64_t wanted = choices(o, s, possible);
    while (wanted && o->complete) {
        /* The longest tail first: mostly the best. */
        int32_t best = -1;
        for (uint64_t rest = wanted; rest; rest &= rest - 1) {
            int32_t task = __builtin_ctzll(rest);
            if (best < 0 || time_of(o, task) + tail_of(o, task) > time_of(o, best) + tail_of(o, best)) best = task;
        }
        wanted &= ~((uint64_t)1 << best);
        put_next(o, s, best, possible);
    }
}

double berth_block_order(const berth_block *block, berth_search *search, const int32_t *device, double limit,
                         int32_t *priority, bool *complete) {
    const berth_costs *c = block->costs;
    order_search o = {.block = block, .c = c, .search = search, .device = device, .limit = limit};
    state s = {0};
    o.priority = priority;
    o.complete = true;
    memset(block->links, 0, (size_t)c->n_devices * (size_t)c->n_devices * sizeof *block->links);
    for (int32_t task = 0; task < c->n_tasks; task++) s.missing[task] = c->in_start[task + 1] - c->in_start[task];
    for (int32_t i = 0; i < c->n_given; i++)
        spread(&o, &s, 0, block->links, c->given_values[i], c->value_home[c->given_values[i]]);
    go_on(&o, &s);
    *complete = o.complete;
    return o.found ? o.limit : INFINITY;
}
