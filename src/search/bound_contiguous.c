/* SPDX-License-Identifier: Apache-2.0 */
/* What `contiguous` takes at least.
 *
 * Latency: along a path of tasks every task runs on the host or in a part. A path enters a part at most once, since
 * parts are convex, and each entry takes one device for good; entering costs the copy in, leaving the copy out, and
 * what stands on the path inside the part runs one after another. So, backwards over the tasks and for every state
 * (which devices are left), with v the values from t to u:
 *
 *     host(t, s)    = time + max over u of enter(v, u, s)
 *     part(t, d, s) = time + max over u of min(part(u, d, s), out(v) + enter(v, u, s)), and what goes to a target
 *     enter(v, u, s) = min(host(u, s), min over d in s of in(v) + part(u, d, s - d))
 *
 * The same tables tell a search what must follow a step. A bound of what is left after some tasks are done may only
 * look at tasks that are not done.
 *
 * Throughput: prices (exact_contiguous_load.c). */
#include "search/exact_contiguous.h"

#include <math.h>

typedef struct tails {
    berth_contiguous *m;
    berth_arena scratch;
    size_t n_states, n_kinds;
    double *host;     /* [task * n_states + state] */
    double *part;     /* [(task * n_kinds + kind) * n_states + state] */
    double *in, *out; /* [edge * n_kinds + kind] */
    double *enter, *root, *leave, *arrive;
} tails;

static double *row(double *table, const tails *t, int32_t task, int32_t kind) {
    return table + ((size_t)task * t->n_kinds + (size_t)kind) * t->n_states;
}

/* Copies along every edge, in and out, all values of the edge together. */
static bool price_edges(tails *t) {
    berth_contiguous *m = t->m;
    const berth_costs *c = m->c;
    int32_t *edge_of = berth_arena_push(&t->scratch, (size_t)c->n_tasks, sizeof *edge_of);
    t->in = berth_arena_push(&t->scratch, (size_t)m->n_edges * t->n_kinds, sizeof *t->in);
    t->out = berth_arena_push(&t->scratch, (size_t)m->n_edges * t->n_kinds, sizeof *t->out);
    if (t->scratch.failed) return false;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++) edge_of[m->edge_from[e]] = e;
        for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++) {
            int32_t value = m->in_values[i], producer = c->value_producer[value];
            for (size_t k = 0; producer >= 0 && k < t->n_kinds; k++) {
                size_t at = (size_t)edge_of[producer] * t->n_kinds + k;
                t->in[at] += berth_costs_copy(c, value, c->host, m->kind_device[k]);
                t->out[at] += berth_costs_copy(c, value, m->kind_device[k], c->host);
            }
        }
    }
    return true;
}

static double find_enter(const tails *t, int32_t edge, int32_t state) {
    const berth_contiguous *m = t->m;
    int32_t to = m->edge_to[edge];
    double best = t->host[(size_t)to * t->n_states + (size_t)state];
    for (size_t k = 0; k < t->n_kinds; k++) {
        int32_t after = m->after[(size_t)state * t->n_kinds + k];
        if (after < 0) continue;
        double ms = t->in[(size_t)edge * t->n_kinds + k] + row(t->part, t, to, (int32_t)k)[after];
        if (ms < best) best = ms;
    }
    return best;
}

/* What follows an edge whose first task is in a part of the kind. */
static double find_leave(const tails *t, int32_t edge, int32_t kind, int32_t state) {
    double out = t->out[(size_t)edge * t->n_kinds + (size_t)kind];
    double left = out + t->enter[(size_t)edge * t->n_states + (size_t)state];
    double stayed = row(t->part, t, t->m->edge_to[edge], kind)[state];
    return left < stayed ? left : stayed;
}

/* Copies of the task's values to targets: out of a part, and on to a device that has been used up. */
static double targets_of(const tails *t, int32_t task, int32_t device, int32_t state) {
    const berth_contiguous *m = t->m;
    const berth_costs *c = m->c;
    double out = 0, on = 0;
    for (int32_t i = m->out_start[task]; i < m->out_start[task + 1]; i++) {
        int32_t value = m->out_values[i], target = c->value_target[value];
        if (target < 0 || target == device) continue;
        if (device != c->host) out += berth_costs_copy(c, value, device, c->host);
        if (target != c->host && state == 0 && !m->endless) on = fmax(on, berth_costs_copy(c, value, c->host, target));
    }
    return out + on;
}

static void find_host(tails *t, int32_t task) {
    const berth_contiguous *m = t->m;
    double time = m->allowed[task] >> m->c->host & 1 ? berth_contiguous_ms(m, task, m->c->host) : INFINITY;
    for (size_t state = 0; state < t->n_states; state++) {
        double most = targets_of(t, task, m->c->host, (int32_t)state);
        for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++)
            most = fmax(most, t->enter[(size_t)m->succ_edges[i] * t->n_states + state]);
        t->host[(size_t)task * t->n_states + state] = time + most;
    }
}

static void find_part(tails *t, int32_t task, int32_t kind) {
    const berth_contiguous *m = t->m;
    int32_t device = m->kind_device[kind];
    double time = m->allowed[task] >> device & 1 ? berth_contiguous_ms(m, task, device) : INFINITY;
    for (size_t state = 0; state < t->n_states; state++) {
        double most = targets_of(t, task, device, (int32_t)state);
        for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++)
            most = fmax(most, find_leave(t, m->succ_edges[i], kind, (int32_t)state));
        row(t->part, t, task, kind)[state] = time + most;
    }
}

/* From the start of the model; given values are all that a task waits for here. */
static double find_root(const tails *t, int32_t task, int32_t state) {
    const berth_contiguous *m = t->m;
    const berth_costs *c = m->c;
    double ready = 0;
    for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++)
        ready = fmax(ready, m->given_ms[m->in_values[i]]);
    double best = ready + t->host[(size_t)task * t->n_states + (size_t)state];
    for (size_t k = 0; k < t->n_kinds; k++) {
        int32_t after = m->after[(size_t)state * t->n_kinds + k], device = m->kind_device[k];
        if (after < 0) continue;
        double in = 0, start = 0;
        for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++) {
            int32_t value = m->in_values[i];
            if (c->value_producer[value] >= 0 || c->value_home[value] == device) continue;
            in += berth_costs_copy(c, value, c->host, device);
            start = fmax(start, m->given_ms[value]);
        }
        best = fmin(best, start + in + row(t->part, t, task, (int32_t)k)[after]);
    }
    return best;
}

/* When the task can have ended on a device, if at the earliest its values from outside the device arrive as they can
 * (`own`: ends of the tasks before it on the same device). */
static double find_end(const tails *t, int32_t task, int32_t kind, const double *own) {
    const berth_contiguous *m = t->m;
    int32_t device = kind < m->n_kinds ? m->kind_device[kind] : m->c->host;
    double start = 0;
    if (!(m->allowed[task] >> device & 1)) return INFINITY;
    for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++) {
        double ready = t->arrive[e];
        if (kind < m->n_kinds)
            ready = fmin(ready + t->in[(size_t)e * t->n_kinds + (size_t)kind],
                         own[(size_t)m->edge_from[e] * (t->n_kinds + 1)]);
        start = fmax(start, ready);
    }
    return start + berth_contiguous_ms(m, task, device);
}

/* Forwards, with any device as often as one likes: when the value of each edge can be on the host. */
static bool find_arrivals(tails *t) {
    const berth_contiguous *m = t->m;
    double *end = berth_arena_push(&t->scratch, (size_t)m->c->n_tasks * (t->n_kinds + 1), sizeof *end);
    if (!end) return false;
    for (int32_t task = 0; task < m->c->n_tasks; task++) {
        if (!m->is_kept[task]) continue;
        double *ends = end + (size_t)task * (t->n_kinds + 1);
        for (int32_t kind = 0; kind <= m->n_kinds; kind++) ends[kind] = find_end(t, task, kind, end + kind);
        for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++) {
            int32_t e = m->succ_edges[i];
            t->arrive[e] = ends[t->n_kinds];
            for (size_t k = 0; k < t->n_kinds; k++)
                t->arrive[e] = fmin(t->arrive[e], ends[k] + t->out[(size_t)e * t->n_kinds + k]);
        }
    }
    return true;
}

static void find_leaves(tails *t, int32_t block) {
    const berth_contiguous *m = t->m;
    for (int32_t kind = 0; kind < m->n_kinds; kind++)
        for (int32_t state = 0; state < m->n_states; state++) {
            double most = 0;
            for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
                int32_t task = m->block_tasks[k];
                for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++)
                    if (m->block_of[m->edge_to[m->succ_edges[i]]] != block)
                        most = fmax(most, find_leave(t, m->succ_edges[i], kind, state));
            }
            row(t->leave, t, block, kind)[state] = most;
        }
}

/* Tasks that wait for no other, and those that a given value may keep waiting longer than others do. */
static bool is_root(const berth_contiguous *m, int32_t task) {
    if (m->pred_start[task] == m->pred_start[task + 1]) return true;
    for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++)
        if (m->given_ms[m->in_values[i]] > 0) return true;
    return false;
}

static bool fill(tails *t) {
    berth_contiguous *m = t->m;
    size_t n = (size_t)m->c->n_tasks;
    t->host = berth_arena_push(&t->scratch, n * t->n_states, sizeof *t->host);
    t->part = berth_arena_push(&t->scratch, n * t->n_states * t->n_kinds, sizeof *t->part);
    t->enter = berth_arena_push(&m->arena, (size_t)m->n_edges * t->n_states, sizeof *t->enter);
    t->root = berth_arena_push(&m->arena, n * t->n_states, sizeof *t->root);
    int32_t *roots = berth_arena_push(&m->arena, n, sizeof *roots);
    t->leave = berth_arena_push(&m->arena, (size_t)m->n_blocks * t->n_states * t->n_kinds, sizeof *t->leave);
    t->arrive = berth_arena_push(&m->arena, (size_t)m->n_edges, sizeof *t->arrive);
    if (t->scratch.failed || m->arena.failed || !price_edges(t) || !find_arrivals(t)) return false;
    for (int32_t task = m->c->n_tasks - 1; task >= 0; task--) {
        if (!m->is_kept[task]) continue;
        find_host(t, task);
        for (int32_t kind = 0; kind < m->n_kinds; kind++) find_part(t, task, kind);
        for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++)
            for (int32_t state = 0; state < m->n_states; state++)
                t->enter[(size_t)e * t->n_states + (size_t)state] = find_enter(t, e, state);
        if (!is_root(m, task)) continue;
        roots[m->n_roots++] = task;
        for (int32_t state = 0; state < m->n_states; state++)
            t->root[(size_t)task * t->n_states + (size_t)state] = find_root(t, task, state);
    }
    m->roots = roots;
    for (int32_t block = 0; block < m->n_blocks; block++) find_leaves(t, block);
    m->enter = t->enter;
    m->root = t->root;
    m->leave = t->leave;
    m->arrive = t->arrive;
    return true;
}

berth_status berth_contiguous_make_tails(berth_ctx *ctx, berth_contiguous *m) {
    tails t = {.m = m, .n_states = (size_t)m->n_states, .n_kinds = (size_t)m->n_kinds};
    berth_arena_init(&t.scratch, berth_ctx_allocator(ctx));
    bool made = fill(&t);
    berth_arena_deinit(&t.scratch);
    return made ? BERTH_OK : berth_fail_nomem(ctx);
}

/* Shared by all devices, and the longest task by itself. */
static double bound_load(const berth_contiguous *m) {
    double longest = 0, shared = 0, cores = m->c->max_cpus > 1 ? m->c->max_cpus : 1;
    for (int32_t task = 0; task < m->c->n_tasks; task++) {
        double fastest = INFINITY;
        for (int32_t d = 0; d < m->c->n_devices; d++)
            if (m->allowed[task] >> d & 1)
                fastest = fmin(fastest, berth_contiguous_ms(m, task, d) / (d == m->c->host ? cores : 1));
        longest = fmax(longest, fastest);
        shared += m->price[(size_t)task * (size_t)m->n_states + (size_t)m->n_states - 1];
    }
    return fmax(longest, shared);
}

static double bound_latency(const berth_contiguous *m) {
    double most = m->base_ms;
    for (int32_t i = 0; i < m->n_roots; i++)
        most = fmax(most, m->root[(size_t)m->roots[i] * (size_t)m->n_states + (size_t)m->n_states - 1]);
    return most;
}

berth_status berth_search_bound_contiguous(berth_search *search) {
    berth_contiguous *m = NULL;
    BERTH_TRY(berth_contiguous_new(search, &m, (berth_contiguous_options){.for_bounds = true}));
    /* The simulator adds in another order: leave room for its rounding. */
    double bound = (m->throughput ? bound_load(m) : bound_latency(m)) * (1 - 1e-12);
    if (bound < INFINITY) berth_search_bound(search, bound);
    berth_contiguous_free(m);
    return BERTH_OK;
}
