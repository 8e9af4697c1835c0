/* SPDX-License-Identifier: Apache-2.0 */
/* See naive_sim.h. Every question is answered by looking at all tasks, values and devices again. */
#include "naive_sim.h"

#include <math.h>
#include <string.h>

typedef struct naive {
    const berth_costs *c;
    const int32_t *device, *priority;
    naive_result out;
    int order[NAIVE_MAX_TASKS]; /* tasks by position */
    bool there[NAIVE_MAX_VALUES][NAIVE_MAX_DEVICES];
    double arrival[NAIVE_MAX_VALUES][NAIVE_MAX_DEVICES];
} naive;

static double time_of(const naive *s, int task) {
    return s->c->time_ms[task * s->c->n_devices + s->device[task]];
}

static double copy_fixed(const naive *s, int from, int to) {
    return s->c->copy_table ? 0 : s->c->copy_fixed[from * s->c->n_devices + to];
}

static double copy_rest(const naive *s, int value, int from, int to) {
    int nd = s->c->n_devices;
    if (s->c->copy_table) return s->c->copy_table[(value * nd + from) * nd + to];
    return s->c->value_amount[value] * s->c->copy_per_unit[from * nd + to];
}

static double copy_of(const naive *s, int value, int from, int to) {
    return copy_fixed(s, from, to) + copy_rest(s, value, from, to);
}

static int home(const naive *s, int value) {
    int producer = s->c->value_producer[value];
    return producer >= 0 ? s->device[producer] : s->c->value_home[value];
}

static bool reads(const naive *s, int task, int value) {
    for (int i = s->c->reader_start[value]; i < s->c->reader_start[value + 1]; i++)
        if (s->c->readers[i] == task) return true;
    return false;
}

static bool is_read_on(const naive *s, int value, int d) {
    for (int task = 0; task < s->c->n_tasks; task++)
        if (s->device[task] == d && reads(s, task, value)) return true;
    return false;
}

static bool is_wanted_on(const naive *s, int value, int d) {
    return s->c->value_target[value] == d || is_read_on(s, value, d);
}

static bool is_wanted_away(const naive *s, int value) {
    for (int d = 0; d < s->c->n_devices; d++)
        if (d != home(s, value) && is_wanted_on(s, value, d)) return true;
    return false;
}

static bool follows(const naive *s, int task, int before) {
    for (int v = 0; v < s->c->n_values; v++)
        if (s->c->value_producer[v] == before && reads(s, task, v)) return true;
    return false;
}

/* --- serial --- */

static void find_levels(const naive *s, int *level) {
    for (int t = 0; t < s->c->n_tasks; t++) {
        level[t] = 0;
        for (int p = 0; p < t; p++) {
            if (!follows(s, t, p)) continue;
            int least = level[p] + (s->device[p] != s->device[t] ? 1 : 0);
            if (least > level[t]) level[t] = least;
        }
    }
}

/* piece[t]: the smallest task of t's piece, by spreading the smaller number until nothing changes. */
static void find_pieces(const naive *s, const int *level, int *piece) {
    int n = s->c->n_tasks;
    for (int t = 0; t < n; t++) piece[t] = t;
    for (bool changed = true; changed;) {
        changed = false;
        for (int t = 0; t < n; t++)
            for (int p = 0; p < t; p++) {
                if (!follows(s, t, p) || s->device[p] != s->device[t] || level[p] != level[t]) continue;
                if (piece[p] == piece[t]) continue;
                int smaller = piece[p] < piece[t] ? piece[p] : piece[t];
                piece[p] = piece[t] = smaller;
                changed = true;
            }
    }
}

static bool comes_later(const naive *s, const int *level, int a, int b) {
    if (level[a] != level[b]) return level[a] > level[b];
    if (s->device[a] != s->device[b]) return s->device[a] > s->device[b];
    return a > b;
}

static double run_serial(naive *s) {
    int n = s->c->n_tasks, level[NAIVE_MAX_TASKS], piece[NAIVE_MAX_TASKS];
    double clock = 0;
    find_levels(s, level);
    find_pieces(s, level, piece);
    for (int t = 0; t < n; t++) s->order[t] = t;
    if (s->c->piece_ms > 0)
        for (int i = 0; i < n; i++)
            for (int k = 0; k + 1 < n; k++)
                if (comes_later(s, level, s->order[k], s->order[k + 1])) {
                    int swapped = s->order[k];
                    s->order[k] = s->order[k + 1];
                    s->order[k + 1] = swapped;
                }
    for (int i = 0; i < n; i++) {
        int t = s->order[i], d = s->device[t];
        if (s->c->piece_ms > 0 && piece[t] == t) {
            clock += s->c->piece_ms;
            s->out.n_pieces++;
        }
        for (int v = 0; v < s->c->n_values; v++) {
            if (!reads(s, t, v) || home(s, v) == d || s->there[v][d]) continue;
            s->there[v][d] = true;
            s->out.n_copies++;
            clock += copy_of(s, v, home(s, v), d);
        }
        s->out.start[t] = clock;
        clock += time_of(s, t);
        s->out.end[t] = clock;
    }
    for (int v = 0; v < s->c->n_values; v++) {
        int target = s->c->value_target[v];
        if (target < 0 || target == home(s, v) || s->there[v][target]) continue;
        s->out.n_copies++;
        clock += copy_of(s, v, home(s, v), target);
    }
    return clock;
}

/* --- queued --- */

static void order_for_queue(naive *s) {
    int n = s->c->n_tasks;
    bool done[NAIVE_MAX_TASKS] = {false};
    if (!s->priority) {
        for (int i = 0; i < n; i++) s->order[i] = s->c->file_order[i];
        return;
    }
    for (int i = 0; i < n; i++) {
        int best = -1;
        for (int t = 0; t < n; t++) {
            bool possible = !done[t];
            for (int p = 0; p < t; p++)
                if (follows(s, t, p) && !done[p]) possible = false;
            if (possible && (best < 0 || s->priority[t] < s->priority[best])) best = t;
        }
        done[best] = true;
        s->order[i] = best;
    }
}

static void queue_bring(naive *s, double *q, int value, int to) {
    int host = s->c->host, from = home(s, value);
    if (from == to || s->there[value][to]) return;
    if (from != host && !s->there[value][host]) {
        q[host] = fmax(q[host], q[from]);
        q[host] += copy_fixed(s, from, host);
        q[host] += copy_rest(s, value, from, host);
        s->there[value][host] = true;
        s->out.n_copies++;
    }
    if (to != host) {
        q[host] += copy_fixed(s, host, to);
        q[to] = fmax(q[to], q[host]) + copy_rest(s, value, host, to);
        s->there[value][to] = true;
        s->out.n_copies++;
    }
}

static double run_queued(naive *s) {
    double q[NAIVE_MAX_DEVICES] = {0}, last = 0; /* q[host] is the host's clock */
    int host = s->c->host;
    order_for_queue(s);
    for (int i = 0; i < s->c->n_tasks; i++) {
        int t = s->order[i], d = s->device[t];
        for (int v = 0; v < s->c->n_values; v++)
            if (reads(s, t, v)) queue_bring(s, q, v, d);
        if (d != host) {
            if (time_of(s, t) != 0) q[host] += s->c->launch_ms[d];
            q[d] = fmax(q[d], q[host]);
        }
        s->out.start[t] = q[d];
        q[d] += time_of(s, t);
        s->out.end[t] = q[d];
    }
    for (int v = 0; v < s->c->n_values; v++)
        if (s->c->value_target[v] >= 0) queue_bring(s, q, v, s->c->value_target[v]);
    for (int d = 0; d < s->c->n_devices; d++) last = fmax(last, q[d]);
    return last;
}

/* --- concurrent --- */

typedef struct schedule {
    bool started[NAIVE_MAX_TASKS], completed[NAIVE_MAX_TASKS];
    double link_free[NAIVE_MAX_DEVICES][NAIVE_MAX_DEVICES];
    double now, last;
    int turn[NAIVE_MAX_TASKS]; /* with priorities: its place in the order of all */
} schedule;

static void make_value(naive *s, schedule *m, int value) {
    int from = home(s, value);
    for (int to = 0; to < s->c->n_devices; to++) {
        if (to == from || !is_wanted_on(s, value, to)) continue;
        double start = m->now;
        if (s->c->link_queued[from * s->c->n_devices + to]) start = fmax(start, m->link_free[from][to]);
        s->arrival[value][to] = start + copy_of(s, value, from, to);
        if (s->c->link_queued[from * s->c->n_devices + to]) m->link_free[from][to] = s->arrival[value][to];
        if (s->c->value_target[value] == to) m->last = fmax(m->last, s->arrival[value][to]);
        s->out.n_copies++;
    }
    s->arrival[value][from] = m->now;
}

/* Complete one task that ends now, the smallest; false if there is none. */
static bool complete_one(naive *s, schedule *m) {
    for (int t = 0; t < s->c->n_tasks; t++) {
        if (!m->started[t] || m->completed[t] || s->out.end[t] != m->now) continue;
        m->completed[t] = true;
        for (int v = 0; v < s->c->n_values; v++)
            if (s->c->value_producer[v] == t) make_value(s, m, v);
        return true;
    }
    return false;
}

static bool has_inputs(const naive *s, const schedule *m, int task) {
    for (int v = 0; v < s->c->n_values; v++)
        if (reads(s, task, v) && !(s->arrival[v][s->device[task]] <= m->now)) return false;
    return true;
}

static bool start_one(naive *s, schedule *m, int *n_started) {
    for (int d = 0; d < s->c->n_devices; d++) {
        int best = -1;
        bool busy = false;
        for (int t = 0; t < s->c->n_tasks; t++) {
            if (s->device[t] != d) continue;
            if (m->started[t] && !m->completed[t]) busy = true;
            if (m->started[t] || (!s->priority && !has_inputs(s, m, t))) continue;
            if (best < 0 || (s->priority && m->turn[t] < m->turn[best])) best = t;
        }
        if (busy || best < 0 || !has_inputs(s, m, best)) continue;
        m->started[best] = true;
        s->out.start[best] = m->now;
        s->out.end[best] = m->now + time_of(s, best);
        m->last = fmax(m->last, s->out.end[best]);
        s->order[(*n_started)++] = best;
        return true;
    }
    return false;
}

static double next_moment(const naive *s, const schedule *m) {
    double next = INFINITY;
    for (int t = 0; t < s->c->n_tasks; t++)
        if (m->started[t] && !m->completed[t]) next = fmin(next, s->out.end[t]);
    for (int v = 0; v < s->c->n_values; v++)
        for (int d = 0; d < s->c->n_devices; d++)
            if (s->arrival[v][d] > m->now) next = fmin(next, s->arrival[v][d]);
    return next;
}

/* By start, then number. */
static void sort_by_start(naive *s) {
    const double *start = s->out.start;
    for (int i = 0; i < s->c->n_tasks; i++)
        for (int k = 0; k + 1 < s->c->n_tasks; k++) {
            int a = s->order[k], b = s->order[k + 1];
            if (start[a] < start[b] || (start[a] == start[b] && a < b)) continue;
            s->order[k] = b;
            s->order[k + 1] = a;
        }
}

static double run_concurrent(naive *s) {
    schedule m = {.now = 0};
    int n_started = 0;
    if (s->priority) {
        order_for_queue(s);
        for (int i = 0; i < s->c->n_tasks; i++) m.turn[s->order[i]] = i;
    }
    for (int v = 0; v < s->c->n_values; v++)
        for (int d = 0; d < s->c->n_devices; d++) s->arrival[v][d] = INFINITY;
    for (int v = 0; v < s->c->n_values; v++)
        if (s->c->value_producer[v] < 0) make_value(s, &m, v);
    while (m.now < INFINITY) {
        while (complete_one(s, &m)) {
        }
        while (start_one(s, &m, &n_started)) {
        }
        m.now = next_moment(s, &m);
    }
    if (n_started < s->c->n_tasks) return INFINITY;
    sort_by_start(s);
    return m.last;
}

/* --- contiguous --- */

/* When each value is on the host; NAN: not known yet. */
static double inputs_on_host(const naive *s, const double *on_host, const bool *member, int d) {
    double latest = 0;
    for (int v = 0; v < s->c->n_values; v++) {
        if (d != s->c->host && home(s, v) == d) continue;
        for (int t = 0; t < s->c->n_tasks; t++)
            if (member[t] && reads(s, t, v)) latest = on_host[v] >= 0 && latest >= 0 ? fmax(latest, on_host[v]) : NAN;
    }
    return latest;
}

static void finish_host(naive *s, double *on_host, int t, double start) {
    s->out.start[t] = start;
    s->out.end[t] = start + time_of(s, t);
    for (int v = 0; v < s->c->n_values; v++)
        if (s->c->value_producer[v] == t) on_host[v] = s->out.end[t];
}

static double finish_part(naive *s, double *on_host, int d, double clock) {
    const berth_costs *c = s->c;
    for (int t = 0; t < c->n_tasks; t++)
        for (int v = 0; v < c->n_values; v++) {
            if (s->device[t] != d || !reads(s, t, v) || home(s, v) == d || s->there[v][d]) continue;
            s->there[v][d] = true;
            s->out.n_copies++;
            clock += copy_of(s, v, c->host, d);
        }
    for (int t = 0; t < c->n_tasks; t++) {
        if (s->device[t] != d) continue;
        s->out.start[t] = clock;
        clock += time_of(s, t);
        s->out.end[t] = clock;
    }
    for (int t = 0; t < c->n_tasks; t++)
        for (int v = 0; v < c->n_values; v++)
            if (s->device[t] == d && c->value_producer[v] == t && is_wanted_away(s, v)) {
                clock += copy_of(s, v, d, c->host);
                s->out.n_copies++;
            }
    for (int v = 0; v < c->n_values; v++)
        if (c->value_producer[v] >= 0 && home(s, v) == d) on_host[v] = clock;
    return clock;
}

static double run_contiguous(naive *s) {
    const berth_costs *c = s->c;
    double on_host[NAIVE_MAX_VALUES], last = 0;
    bool done[NAIVE_MAX_TASKS] = {false};
    for (int t = 0; t < c->n_tasks; t++) s->order[t] = t;
    for (int v = 0; v < c->n_values; v++) {
        on_host[v] = NAN;
        if (c->value_producer[v] >= 0) continue;
        on_host[v] = 0;
        if (home(s, v) != c->host && is_wanted_away(s, v)) {
            on_host[v] = copy_of(s, v, home(s, v), c->host);
            s->out.n_copies++;
            last = fmax(last, on_host[v]);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int d = 0; d < c->n_devices; d++)
            for (int t = 0; t < c->n_tasks; t++) {
                if (s->device[t] != d || done[t]) continue;
                bool member[NAIVE_MAX_TASKS] = {false};
                for (int u = 0; u < c->n_tasks; u++) member[u] = d == c->host ? u == t : s->device[u] == d;
                double start = inputs_on_host(s, on_host, member, d);
                if (isnan(start)) continue;
                if (d == c->host) {
                    finish_host(s, on_host, t, start);
                    last = fmax(last, s->out.end[t]);
                } else {
                    last = fmax(last, finish_part(s, on_host, d, start));
                }
                for (int u = 0; u < c->n_tasks; u++) done[u] = done[u] || member[u];
                changed = true;
            }
    }
    for (int t = 0; t < c->n_tasks; t++)
        if (!done[t]) return INFINITY;
    for (int v = 0; v < c->n_values; v++) {
        int target = c->value_target[v];
        if (target < 0 || target == home(s, v) || target == c->host || is_read_on(s, v, target)) continue;
        s->out.n_copies++;
        last = fmax(last, on_host[v] + copy_of(s, v, c->host, target));
    }
    return last;
}

/* --- loads --- */

static double largest_load(naive *s) {
    const berth_costs *c = s->c;
    double largest = 0;
    for (int d = 0; d < c->n_devices; d++) {
        double load = 0;
        for (int t = 0; t < c->n_tasks; t++)
            if (s->device[t] == d) load += time_of(s, t);
        if (d == c->host) {
            load /= c->max_cpus > 1 ? c->max_cpus : 1;
        } else {
            for (int v = 0; v < c->n_values; v++) {
                if (home(s, v) != d && is_wanted_on(s, v, d)) load += copy_of(s, v, c->host, d);
                if (home(s, v) == d && is_wanted_away(s, v)) load += copy_of(s, v, d, c->host);
            }
        }
        s->out.load[d] = load;
        largest = fmax(largest, load);
    }
    return largest;
}

/* --- memory --- */

static int position_of(const naive *s, int task) {
    for (int i = 0; i < s->c->n_tasks; i++)
        if (s->order[i] == task) return i;
    return -1;
}

static int first_reader(const naive *s, int value, int d) {
    for (int i = 0; i < s->c->n_tasks; i++)
        if (s->device[s->order[i]] == d && reads(s, s->order[i], value)) return i;
    return s->c->n_tasks - 1;
}

/* The last position that starts before the time; -1 if there is none. */
static int last_before(const naive *s, double time) {
    int last = -1;
    for (int i = 0; i < s->c->n_tasks; i++)
        if (s->out.start[s->order[i]] < time) last = i;
    return last;
}

/* One copy of a value: where it leaves, where it arrives, and at which position. */
typedef struct copy {
    int from, to;
    int kept;    /* the last position at which it still lies where it comes from because of this copy */
    int arrives; /* the first position at which it lies where it goes */
} copy;

static int list_copies(const naive *s, int value, copy *copies) {
    const berth_costs *c = s->c;
    int n = 0, from = home(s, value), last = c->n_tasks - 1;
    bool by_host = (c->model == BERTH_MODEL_QUEUED || c->model == BERTH_MODEL_CONTIGUOUS) && from != c->host;
    int to_host = last;
    for (int d = 0; d < c->n_devices; d++) {
        if (d == from || !is_wanted_on(s, value, d)) continue;
        int at = first_reader(s, value, d);
        if (at < to_host) to_host = at;
        if (by_host && d == c->host) continue;
        copies[n] = (copy){by_host ? c->host : from, d, at, at};
        if (c->model == BERTH_MODEL_CONCURRENT) {
            copies[n].kept = last_before(s, s->arrival[value][d]);
            copies[n].arrives = copies[n].kept + 1 < last ? copies[n].kept + 1 : last;
        }
        n++;
    }
    if (by_host && is_wanted_away(s, value)) copies[n++] = (copy){from, c->host, to_host, to_host};
    return n;
}

/* From which to which position the value lies on the device; false if it never does. */
static bool lies(const naive *s, int value, int d, int *from, int *to) {
    const berth_costs *c = s->c;
    copy copies[NAIVE_MAX_DEVICES + 1];
    int n = list_copies(s, value, copies);
    *from = -1;
    if (d == home(s, value)) *from = c->value_producer[value] < 0 ? 0 : position_of(s, c->value_producer[value]);
    for (int i = 0; i < n; i++)
        if (copies[i].to == d) *from = copies[i].arrives;
    if (*from < 0) return false;
    *to = *from;
    for (int i = 0; i < c->n_tasks; i++) {
        int task = s->order[i];
        if (s->device[task] != d || !reads(s, task, value)) continue;
        if (i > *to) *to = i;
        if (c->model == BERTH_MODEL_CONCURRENT && last_before(s, s->out.end[task]) > *to)
            *to = last_before(s, s->out.end[task]);
    }
    for (int i = 0; i < n; i++)
        if (copies[i].from == d && copies[i].kept > *to) *to = copies[i].kept;
    if (c->value_target[value] == d) *to = c->n_tasks - 1;
    return true;
}

static bool has_weight(const naive *s, int weight, int d) {
    for (int t = 0; t < s->c->n_tasks; t++)
        for (int i = s->c->weight_start[t]; i < s->c->weight_start[t + 1]; i++)
            if (s->device[t] == d && s->c->weights[i] == weight) return true;
    return false;
}

static double peak_of(const naive *s, int d) {
    const berth_costs *c = s->c;
    double peak = 0;
    if (c->task_memory) {
        for (int t = 0; t < c->n_tasks; t++)
            if (s->device[t] == d) peak += c->task_memory[t];
        return peak;
    }
    double held[NAIVE_MAX_TASKS] = {0};
    for (int w = 0; w < c->n_weights; w++)
        for (int at = 0; at < c->n_tasks; at++)
            if (has_weight(s, w, d)) held[at] += c->weight_bytes[w];
    for (int v = 0; v < c->n_values; v++) {
        int from = 0, to = 0;
        if (!lies(s, v, d, &from, &to)) continue;
        for (int at = from; at <= to; at++) held[at] += c->value_bytes[v];
    }
    for (int at = 0; at < c->n_tasks; at++) peak = fmax(peak, held[at]);
    return peak;
}

naive_result naive_sim_run(const berth_costs *costs, const int32_t *device, const int32_t *priority) {
    static double (*const models[])(naive *) = {
        [BERTH_MODEL_SERIAL] = run_serial,
        [BERTH_MODEL_QUEUED] = run_queued,
        [BERTH_MODEL_CONCURRENT] = run_concurrent,
        [BERTH_MODEL_CONTIGUOUS] = run_contiguous,
    };
    naive s = {.c = costs, .device = device, .priority = priority};
    s.out.ms = s.out.makespan = INFINITY;
    for (int t = 0; t < costs->n_tasks; t++)
        if (time_of(&s, t) == INFINITY) return s.out;
    s.out.makespan = models[costs->model](&s);
    if (s.out.makespan == INFINITY) return s.out;
    s.out.ran = true;
    s.out.ms = costs->objective == BERTH_OBJECTIVE_THROUGHPUT ? largest_load(&s) : s.out.makespan;
    for (int d = 0; d < costs->n_devices; d++) {
        s.out.peak[d] = peak_of(&s, d);
        if (s.out.peak[d] > costs->capacity[d]) s.out.ms = INFINITY;
    }
    return s.out;
}
