/* SPDX-License-Identifier: Apache-2.0 */
/* Peak memory of the run just made (defined in sim.h).
 *
 * Every (value, device) where the value lies has one span of positions: its bytes are added to the change at the first
 * and subtracted from the change after the last, and one sweep over the positions sums up. Bytes are whole numbers, so
 * that the sums are exact in any order. */
#include "simulate/sim_impl.h"

#include "base/sort.h"

#include <string.h>

typedef struct state {
    berth_sim *sim;
    const berth_costs *c;
    const int32_t *device;
    int32_t last; /* position */
    bool by_time; /* `concurrent` */
    bool by_host; /* copies go through the host */

    /* of the value at hand */
    int32_t first_reader[BERTH_MAX_DEVICES], last_reader[BERTH_MAX_DEVICES]; /* positions, where a bit is set */
    double last_end[BERTH_MAX_DEVICES];                                      /* when all readers there have ended */
    uint64_t readers;                                                        /* bit per device */
} state;

static bool starts_before(const void *user, int32_t a, int32_t b) {
    const double *start = user;
    return start[a] < start[b] || (start[a] == start[b] && a < b);
}

/* Tasks by start, then number. Without priorities the run left them by start, and only equal starts are to be sorted.
 */
static void sort_by_start(berth_sim *sim) {
    int32_t n = sim->costs->n_tasks, *order = sim->order;
    const double *start = sim->start;
    bool by_start = true;
    for (int32_t i = 1; i < n; i++) by_start &= start[order[i - 1]] <= start[order[i]];
    if (!by_start) {
        berth_sort(order, (size_t)n, starts_before, start);
        return;
    }
    for (int32_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && start[order[k]] == start[order[i]];) k++;
        if (k - i > 1) berth_sort(order + i, (size_t)(k - i), starts_before, start);
    }
}

/* The first position that starts at or after the time; the number of positions if there is none. What is looked for is
 * mostly near, so the steps away from there double until they are past it. */
static int32_t first_from(const state *s, double time, int32_t near) {
    const double *start = s->sim->start_at;
    int32_t low = near, high = near, n = s->c->n_tasks;
    if (n == 0) return 0;
    if (start[near] < time) { /* low: starts before; high: does not, or n */
        for (int32_t step = 1; high < n && start[high] < time; step *= 2) {
            low = high;
            high = n - high > step ? high + step : n;
        }
    } else {
        for (int32_t step = 1; low >= 0 && start[low] >= time; step *= 2) {
            high = low;
            low = low >= step ? low - step : -1;
        }
    }
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (start[middle] < time)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static void add_span(state *s, int32_t d, double bytes, int32_t from, int32_t to) {
    size_t n_devices = (size_t)s->c->n_devices;
    s->sim->change[(size_t)from * n_devices + (size_t)d] += bytes;
    s->sim->change[(size_t)(to + 1) * n_devices + (size_t)d] -= bytes;
}

static void find_readers(state *s, int32_t value) {
    const berth_costs *c = s->c;
    s->readers = 0;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i], d = s->device[task], at = s->sim->position[task];
        uint64_t bit = (uint64_t)1 << d;
        if (!(s->readers & bit) || at < s->first_reader[d]) s->first_reader[d] = at;
        if (!(s->readers & bit) || at > s->last_reader[d]) s->last_reader[d] = at;
        if (!(s->readers & bit) || s->sim->end[task] > s->last_end[d]) s->last_end[d] = s->sim->end[task];
        s->readers |= bit;
    }
}

/* Where a copy of the value to this device happens, if in the order of positions. */
static int32_t copy_position(const state *s, int32_t d) {
    return s->readers >> d & 1 ? s->first_reader[d] : s->last;
}

static int32_t last_use(const state *s, int32_t d, int32_t at_least) {
    if (!(s->readers >> d & 1)) return at_least;
    int32_t at = larger(at_least, s->last_reader[d]);
    return s->by_time ? larger(at, first_from(s, s->last_end[d], at) - 1) : at;
}

/* The spans of a value, made at that position, on the devices to which it is copied; returns the last position of
 * copies that leave home. */
static int32_t add_copies(state *s, int32_t value, uint64_t where, int32_t home, int32_t made) {
    const berth_costs *c = s->c;
    int32_t left = -1;
    for (uint64_t rest = where; rest; rest &= rest - 1) {
        int32_t d = __builtin_ctzll(rest), from = copy_position(s, d);
        if (s->by_time) {
            double arrival = s->sim->arrived[(size_t)value * (size_t)c->n_devices + (size_t)d];
            from = first_from(s, arrival, made);
            left = larger(left, from - 1);
            from = smaller(from, s->last);
        } else {
            left = larger(left, from);
        }
        if (s->by_host && d == c->host && home != c->host) continue;
        add_span(s, d, c->value_bytes[value], from, c->value_target[value] == d ? s->last : last_use(s, d, from));
    }
    return left;
}

/* Copies that pass through the host lie there from the first to the last of them; returns where home sends its one. */
static int32_t add_host(state *s, int32_t value, uint64_t where, int32_t left) {
    int32_t host = s->c->host, first = s->last;
    for (uint64_t rest = where; rest; rest &= rest - 1) first = smaller(first, copy_position(s, __builtin_ctzll(rest)));
    int32_t to = s->c->value_target[value] == host ? s->last : last_use(s, host, left);
    add_span(s, host, s->c->value_bytes[value], first, to);
    return first;
}

/* Its one reader runs where it was made, as most do. */
static void place_near(state *s, int32_t value, int32_t home, int32_t from) {
    int32_t reader = s->c->readers[s->c->reader_start[value]], to = larger(from, s->sim->position[reader]);
    if (s->by_time) to = larger(to, first_from(s, s->sim->end[reader], to) - 1);
    add_span(s, home, s->c->value_bytes[value], from, to);
}

static void place_value(state *s, int32_t value) {
    const berth_costs *c = s->c;
    int32_t producer = c->value_producer[value], target = c->value_target[value];
    int32_t home = producer < 0 ? c->value_home[value] : s->device[producer];
    int32_t from = producer < 0 ? 0 : s->sim->position[producer];
    int32_t first = c->reader_start[value], n_readers = c->reader_start[value + 1] - first;
    if (n_readers == 1 && target < 0 && s->device[c->readers[first]] == home) {
        place_near(s, value, home, from);
        return;
    }
    find_readers(s, value);
    uint64_t where = s->readers;
    if (target >= 0) where |= (uint64_t)1 << target;
    where &= ~((uint64_t)1 << home);
    int32_t left = add_copies(s, value, where, home, from);
    if (where && s->by_host && home != c->host) left = add_host(s, value, where, left);
    int32_t to = last_use(s, home, larger(from, left));
    add_span(s, home, c->value_bytes[value], from, target == home ? s->last : to);
}

static void add_weights(state *s) {
    const berth_costs *c = s->c;
    berth_sim *sim = s->sim;
    berth_sim_next_generation(sim);
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->weight_start[task]; i < c->weight_start[task + 1]; i++) {
            int32_t d = s->device[task];
            size_t at = (size_t)c->weights[i] * (size_t)c->n_devices + (size_t)d;
            if (sim->weight_stamp[at] == sim->generation) continue;
            sim->weight_stamp[at] = sim->generation;
            sim->held[d] += c->weight_bytes[c->weights[i]];
        }
}

/* Leaves the changes as it wants to find them next time. */
static void sweep(const state *s, double *peak) {
    double *held = s->sim->held, *change = s->sim->change;
    int32_t n_devices = s->c->n_devices;
    memcpy(peak, held, (size_t)n_devices * sizeof *peak);
    for (int32_t at = 0; at <= s->last + 1; at++, change += n_devices)
        for (int32_t d = 0; d < n_devices; d++) {
            held[d] += change[d];
            change[d] = 0;
            if (held[d] > peak[d]) peak[d] = held[d];
        }
}

static void begin(state *s, berth_sim *sim, const int32_t *device) {
    const berth_costs *c = sim->costs;
    *s = (state){.sim = sim, .c = c, .device = device, .last = larger(c->n_tasks - 1, 0)};
    s->by_time = c->model == BERTH_MODEL_CONCURRENT;
    s->by_host = c->model == BERTH_MODEL_QUEUED || c->model == BERTH_MODEL_CONTIGUOUS;
    memset(sim->held, 0, (size_t)c->n_devices * sizeof *sim->held);
    if (c->task_memory)
        for (int32_t task = 0; task < c->n_tasks; task++) sim->held[device[task]] += c->task_memory[task];
    else
        add_weights(s);
}

/* What lies there beside the weights. */
static void add_values(state *s, double *peak) {
    berth_sim *sim = s->sim;
    int32_t n = s->c->n_tasks;
    if (s->by_time) sort_by_start(sim);
    for (int32_t i = 0; i < n; i++) sim->position[sim->order[i]] = i;
    for (int32_t i = 0; i < n && s->by_time; i++) sim->start_at[i] = sim->start[sim->order[i]];
    for (int32_t v = 0; v < s->c->n_values; v++) place_value(s, v);
    sweep(s, peak);
}

static void finish(state *s, double *peak) {
    if (s->c->task_memory)
        memcpy(peak, s->sim->held, (size_t)s->c->n_devices * sizeof *peak);
    else
        add_values(s, peak);
}

void berth_sim_peaks(berth_sim *sim, const int32_t *device, double *peak) {
    state s;
    begin(&s, sim, device);
    finish(&s, peak);
}

static bool is_within(const berth_costs *c, const double *bytes) {
    for (int32_t d = 0; d < c->n_devices; d++)
        if (bytes[d] > c->capacity[d]) return false;
    return true;
}

bool berth_sim_fits(berth_sim *sim, const int32_t *device) {
    state s;
    begin(&s, sim, device);
    if (!is_within(sim->costs, sim->held)) return false;
    finish(&s, sim->peak);
    return is_within(sim->costs, sim->peak);
}
