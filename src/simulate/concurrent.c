/* SPDX-License-Identifier: Apache-2.0 */
/* `concurrent` without priorities: list scheduling, event by event (defined in sim.h).
 *
 * Copies are not events: when a producer ends, the arrival of its values everywhere is known, so that a task whose
 * producers have all ended is either ready at once or waits in one heap for its last arrival. The next moment is the
 * earliest end of a running task or the heap's first. What happens on different devices at one moment touches neither
 * the same ready tasks nor the same links, so that devices are gone through as sets of bits, in the order of their
 * numbers.
 *
 * The smallest ready task of each device lies apart, the others in a tree of bits: networks are so close to
 * chains that most tasks never see the tree. Who waits for a task stands in one row of `wants`, whatever the number of
 * its values. */
#include "simulate/sim_impl.h"

#include <math.h>
#include <string.h>

/* All functions that take a run are inline: its fields then live in registers. */
typedef struct run {
    berth_sim *sim;
    const int32_t *device;
    berth_lane *lane;
    double now;
    double last;       /* latest end or arrival at a target */
    uint64_t ready;    /* devices with a ready task */
    uint64_t more;     /* devices with several */
    uint64_t busy;     /* devices with a running one */
    int32_t n_waiting; /* tasks in the heap */
    int32_t n_started;
} run;

/* Add an item to a heap of `at` items. Ties are left to chance: all arrivals of a moment are taken before it goes on.
 */
static void push_arrival(berth_arrival *heap, int32_t at, berth_arrival item) {
    for (; at > 0 && item.time < heap[(at - 1) / 2].time; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

/* Take the first item out of a heap of which n items are left then. The first time of an empty heap is INFINITY. */
static int32_t pop_arrival(berth_arrival *heap, int32_t n) {
    int32_t task = heap[0].task, at = 0;
    berth_arrival item = heap[n];
    if (n == 0) item.time = INFINITY;
    for (int32_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1].time < heap[child].time) child++;
        if (heap[child].time >= item.time) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
    return task;
}

static inline void make_ready(run *r, int32_t task) {
    int32_t d = r->device[task];
    uint64_t bit = (uint64_t)1 << d;
    int32_t *first = &r->lane[d].first;
    if (r->ready & bit) {
        r->more |= bit;
        berth_ready_insert(&r->sim->ready[d], task < *first ? *first : task);
        if (task > *first) return;
    }
    r->ready |= bit;
    *first = task;
}

static inline int32_t take_ready(run *r, int32_t d) {
    uint64_t bit = (uint64_t)1 << d;
    int32_t task = r->lane[d].first;
    if (r->more & bit) {
        berth_ready *others = &r->sim->ready[d];
        r->lane[d].first = berth_ready_pop(others);
        if (berth_ready_is_empty(others)) r->more &= ~bit;
    } else {
        r->ready &= ~bit;
    }
    return task;
}

/* An input of the task will be there at `time`. */
static inline void deliver(run *r, int32_t task, double time) {
    berth_need *need = &r->sim->need[task];
    if (time > need->time) need->time = time;
    if (--need->missing > 0) return;
    if (need->time <= r->now)
        make_ready(r, task);
    else
        push_arrival(r->sim->waiting, r->n_waiting++, (berth_arrival){need->time, task});
}

/* Values have come into being on a device: tell everybody who wants them when they are there. */
static inline void spread(run *r, const berth_want *want, const berth_want *end, int32_t home) {
    berth_sim *sim = r->sim;
    int32_t value = -1;
    uint64_t there = 0; /* devices to which this value was copied */
    for (; want < end; want++) {
        int32_t task = want->task, to = task < 0 ? ~task : r->device[task];
        double time = r->now;
        if (to != home) {
            if (want->value != value) there = 0;
            value = want->value;
            time = there >> to & 1 ? sim->arrived[(size_t)value * (size_t)sim->costs->n_devices + (size_t)to]
                                   : berth_sim_copy_now(sim, value, home, to, r->now);
            there |= (uint64_t)1 << to;
        }
        if (task >= 0)
            deliver(r, task, time);
        else if (time > r->last)
            r->last = time;
    }
}

static inline void start_on(run *r, int32_t d) {
    berth_sim *sim = r->sim;
    int32_t task = take_ready(r, d);
    double end = r->now + sim->costs->time_ms[(size_t)task * (size_t)sim->costs->n_devices + (size_t)d];
    berth_need *need = &sim->need[task];
    need->time = 0; /* as the next run wants to find it */
    need->missing = need->n_inputs;
    r->busy |= (uint64_t)1 << d;
    r->lane[d].running = task;
    r->lane[d].end = end;
    sim->start[task] = r->now;
    sim->end[task] = end;
    sim->order[r->n_started++] = task;
    if (end > r->last) r->last = end;
}

/* The next moment, and which devices end a task then. */
static inline double next_moment(const run *r, uint64_t *ending) {
    double next = r->sim->waiting[0].time;
    *ending = 0;
    for (uint64_t busy = r->busy; busy; busy &= busy - 1) {
        double end = r->lane[__builtin_ctzll(busy)].end;
        if (end > next) continue;
        if (end < next) *ending = 0;
        next = end;
        *ending |= busy & -busy;
    }
    return next;
}

/* After a run in which a task or copy never ended: the state that every run starts from and a complete one leaves. */
static void clean_up(berth_sim *sim, uint64_t more) {
    for (; more; more &= more - 1) {
        berth_ready *set = &sim->ready[__builtin_ctzll(more)];
        while (!berth_ready_is_empty(set)) berth_ready_pop(set);
    }
    for (int32_t task = 0; task < sim->costs->n_tasks; task++) {
        sim->need[task].time = 0;
        sim->need[task].missing = sim->need[task].n_inputs;
    }
}

double berth_sim_concurrent(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    if (priority) return berth_sim_ordered(sim, device, priority);
    const berth_costs *c = sim->costs;
    const int32_t *row = sim->want_start;
    run r = {.sim = sim, .device = device, .lane = sim->lane};
    memset(sim->link_free, 0, (size_t)c->n_devices * (size_t)c->n_devices * sizeof *sim->link_free);
    sim->waiting[0].time = INFINITY;
    for (int32_t i = 0; i < sim->n_sources; i++) make_ready(&r, sim->sources[i]);
    for (int32_t i = 0; i < c->n_given; i++)
        spread(&r, sim->wants + row[c->n_tasks + i], sim->wants + row[c->n_tasks + i + 1],
               c->value_home[c->given_values[i]]);
    for (;;) {
        for (uint64_t starting = r.ready & ~r.busy; starting; starting &= starting - 1)
            start_on(&r, __builtin_ctzll(starting));
        uint64_t ending;
        r.now = next_moment(&r, &ending);
        if (r.now == INFINITY) break;
        r.busy ^= ending;
        for (; ending; ending &= ending - 1) {
            int32_t d = __builtin_ctzll(ending), task = r.lane[d].running;
            spread(&r, sim->wants + row[task], sim->wants + row[task + 1], d);
        }
        while (sim->waiting[0].time <= r.now) make_ready(&r, pop_arrival(sim->waiting, --r.n_waiting));
    }
    if (r.n_started == c->n_tasks) return r.last;
    clean_up(sim, r.more);
    return INFINITY;
}
