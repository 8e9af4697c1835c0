/* SPDX-License-Identifier: Apache-2.0 */
/* The problem of `contiguous` with its devices by kinds, its edges priced, and units dropped that take no time.
 *
 * A unit that takes no time anywhere and either reads nothing (and needs no memory) or is read by nothing may be left
 * out: what is left costs no more than before in any placement, so its optimum is a lower bound; and it is the optimum
 * if the units can be put back beside their neighbours at no cost. Their number is what makes graphs with many outputs
 * hard: n of them multiply the ideals by up to 2^n. */
#include "search/exact_contiguous.h"

#include <math.h>
#include <string.h>

enum { MAX_STATES = 512, MAX_TABLE = 1 << 24 /* entries by state, kind and task */ };

typedef struct build {
    berth_ctx *ctx;
    berth_contiguous *m;
    berth_contiguous_options options;
} build;

static void *push(build *b, size_t n, size_t size) {
    return berth_arena_push(&b->m->arena, n, size);
}

/* How many states there are with one more kind of so many devices; 0: too many. */
static int32_t count_states(const berth_contiguous *m, int32_t n_devices) {
    int64_t n = (int64_t)m->n_states * (n_devices + 1);
    return n <= MAX_STATES && n * (m->n_kinds + 2) * m->c->n_tasks <= MAX_TABLE ? (int32_t)n : 0;
}

/* Kinds as long as their states stay few; for bounds too many states become one, from which nothing is ever taken. */
static berth_status make_kinds(build *b) {
    berth_contiguous *m = b->m;
    const berth_costs *c = m->c;
    int32_t size[BERTH_MAX_DEVICES] = {0}, stride[BERTH_MAX_DEVICES] = {0};
    bool endless = false;
    m->n_states = 1;
    m->has_all_devices = true;
    for (int32_t d = 0; d < c->n_devices; d++) {
        uint64_t alike = m->problem->equal_devices[d];
        if (d == c->host || (alike & (((uint64_t)1 << d) - 1))) continue;
        int32_t count = __builtin_popcountll(alike), n_states = count_states(m, count);
        if (n_states == 0 && !b->options.for_bounds) {
            m->has_all_devices = false;
            continue;
        }
        endless |= n_states == 0;
        size[m->n_kinds] = count;
        stride[m->n_kinds] = m->n_states;
        m->kind_device[m->n_kinds] = d;
        m->kind_devices[m->n_kinds++] = alike;
        if (n_states > 0) m->n_states = n_states;
    }
    if (endless) m->n_states = 1;
    m->endless = endless;
    int32_t *after = push(b, (size_t)m->n_states * (size_t)m->n_kinds, sizeof *after);
    int32_t *left = push(b, (size_t)m->n_states * (size_t)m->n_kinds, sizeof *left);
    if (m->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t state = 0; state < m->n_states; state++)
        for (int32_t k = 0, rest = state; k < m->n_kinds; k++) {
            int32_t at = state * m->n_kinds + k;
            left[at] = endless ? size[k] : rest % (size[k] + 1);
            after[at] = endless ? 0 : left[at] > 0 ? state - stride[k] : -1;
            rest /= size[k] + 1;
        }
    m->after = after;
    m->left = left;
    return BERTH_OK;
}

static bool takes_no_time(const berth_contiguous *m, int32_t task) {
    for (int32_t d = 0; d < m->c->n_devices; d++)
        if (m->allowed[task] >> d & 1 && berth_contiguous_ms(m, task, d) > 0) return false;
    for (int32_t i = m->c->out_start[task]; i < m->c->out_start[task + 1]; i++)
        if (m->c->value_target[m->c->out_values[i]] >= 0) return false;
    return true;
}

/* None of the tasks next to it (`around`, one row per task) is kept, but for those of its own unit. */
static bool stands_alone(const build *b, const bool *is_kept, int32_t task, const int32_t *start,
                         const int32_t *around) {
    const int32_t *unit_of = b->m->problem->unit_of;
    for (int32_t i = start[task]; i < start[task + 1]; i++)
        if (is_kept[around[i]] && unit_of[around[i]] != unit_of[task]) return false;
    return true;
}

static bool is_droppable(const build *b, const bool *is_kept, int32_t unit, bool sinks) {
    const berth_problem *p = b->m->problem;
    const berth_costs *c = b->m->c;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
        int32_t task = p->unit_tasks[i];
        if (!is_kept[task] || !takes_no_time(b->m, task)) return false;
        if (sinks) {
            if (!stands_alone(b, is_kept, task, c->succ_start, c->succs)) return false;
            continue;
        }
        bool reads_given = false;
        for (int32_t k = c->in_start[task]; k < c->in_start[task + 1]; k++)
            reads_given |= c->value_producer[c->in_values[k]] < 0;
        if (reads_given || (c->task_memory && c->task_memory[task] > 0)) return false;
        if (!stands_alone(b, is_kept, task, c->pred_start, c->preds)) return false;
    }
    return true;
}

static void drop(build *b, bool *is_kept, int32_t unit) {
    const berth_problem *p = b->m->problem;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
        is_kept[p->unit_tasks[i]] = false;
        b->m->n_dropped++;
    }
}

/* Where memory is a peak over positions, a missing reader may lengthen the life of a value: nothing is dropped then. */
static berth_status choose_tasks(build *b) {
    berth_contiguous *m = b->m;
    const berth_problem *p = m->problem;
    bool *is_kept = push(b, (size_t)m->c->n_tasks, sizeof *is_kept);
    if (m->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t task = 0; task < m->c->n_tasks; task++) is_kept[task] = true;
    m->is_kept = is_kept;
    if (!b->options.drop || (p->memory_binds && !m->c->task_memory)) return BERTH_OK;
    for (int32_t unit = p->n_units - 1; unit >= 0; unit--)
        if (is_droppable(b, is_kept, unit, true)) drop(b, is_kept, unit);
    for (int32_t unit = 0; unit < p->n_units; unit++)
        if (is_droppable(b, is_kept, unit, false)) drop(b, is_kept, unit);
    return BERTH_OK;
}

static bool is_value_kept(const berth_contiguous *m, int32_t value) {
    int32_t producer = m->c->value_producer[value];
    return producer < 0 || m->is_kept[producer];
}

/* Rows of another CSR that belong to kept tasks or values, with those of their items that are kept. */
static berth_status keep_rows(build *b, int32_t n, bool items_are_tasks, bool rows_are_tasks, const int32_t *from_start,
                              const int32_t *from, const int32_t **out_start, const int32_t **out) {
    int32_t *start = push(b, (size_t)n + 1, sizeof *start), *items = push(b, (size_t)from_start[n], sizeof *items);
    if (b->m->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t row = 0; row < n; row++) {
        bool row_kept = rows_are_tasks ? b->m->is_kept[row] : is_value_kept(b->m, row);
        start[row + 1] = start[row];
        for (int32_t i = from_start[row]; row_kept && i < from_start[row + 1]; i++)
            if (items_are_tasks ? b->m->is_kept[from[i]] : is_value_kept(b->m, from[i]))
                items[start[row + 1]++] = from[i];
    }
    *out_start = start;
    *out = items;
    return BERTH_OK;
}

static berth_status make_values(build *b) {
    berth_contiguous *m = b->m;
    const berth_costs *c = m->c;
    BERTH_TRY(keep_rows(b, c->n_tasks, false, true, c->in_start, c->in_values, &m->in_start, &m->in_values));
    BERTH_TRY(keep_rows(b, c->n_tasks, false, true, c->out_start, c->out_values, &m->out_start, &m->out_values));
    BERTH_TRY(keep_rows(b, c->n_values, true, false, c->reader_start, c->readers, &m->reader_start, &m->readers));
    double *given_ms = push(b, (size_t)c->n_values, sizeof *given_ms);
    int32_t *targeted = push(b, (size_t)c->n_values, sizeof *targeted);
    if (m->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t target = c->value_target[v], home = c->value_producer[v] < 0 ? c->value_home[v] : -1;
        if (home >= 0) given_ms[v] = berth_costs_copy(c, v, home, c->host);
        if (home >= 0 && target >= 0 && target != home) m->base_ms = fmax(m->base_ms, given_ms[v]);
        if (target >= 0 && target != c->host && target != home) targeted[m->n_targeted++] = v;
    }
    m->given_ms = given_ms;
    m->targeted = targeted;
    return BERTH_OK;
}

static berth_status make_edges(build *b) {
    berth_contiguous *m = b->m;
    const berth_costs *c = m->c;
    size_t n = (size_t)c->n_tasks, room = (size_t)c->pred_start[n];
    int32_t *from = push(b, room, sizeof *from), *to = push(b, room, sizeof *to);
    int32_t *pred_start = push(b, n + 1, sizeof *pred_start), *succ_start = push(b, n + 2, sizeof *succ_start);
    int32_t *succ_edges = push(b, room, sizeof *succ_edges);
    if (m->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        for (int32_t i = c->pred_start[task]; m->is_kept[task] && i < c->pred_start[task + 1]; i++) {
            if (!m->is_kept[c->preds[i]]) continue;
            from[m->n_edges] = c->preds[i];
            to[m->n_edges++] = task;
            succ_start[c->preds[i] + 2]++;
        }
        pred_start[task + 1] = m->n_edges;
    }
    for (size_t i = 1; i <= n + 1; i++) succ_start[i] += succ_start[i - 1];
    for (int32_t e = 0; e < m->n_edges; e++) succ_edges[succ_start[from[e] + 1]++] = e;
    m->edge_from = from;
    m->edge_to = to;
    m->pred_start = pred_start;
    m->succ_start = succ_start;
    m->succ_edges = succ_edges;
    return BERTH_OK;
}

static berth_status choose_masks(build *b) {
    berth_contiguous *m = b->m;
    if (b->options.for_bounds) {
        m->allowed = m->problem->task_allowed;
        return BERTH_OK;
    }
    uint64_t *allowed = push(b, (size_t)m->c->n_tasks, sizeof *allowed);
    if (!allowed) return berth_fail_nomem(b->ctx);
    for (int32_t task = 0; task < m->c->n_tasks; task++) allowed[task] = m->problem->allowed[m->problem->unit_of[task]];
    m->allowed = allowed;
    return BERTH_OK;
}

static berth_status build_model(build *b) {
    BERTH_TRY(choose_masks(b));
    BERTH_TRY(make_kinds(b));
    BERTH_TRY(choose_tasks(b));
    BERTH_TRY(make_values(b));
    BERTH_TRY(make_edges(b));
    if (!b->options.for_bounds) BERTH_TRY(berth_contiguous_make_blocks(b->ctx, b->m, b->options.most_blocks));
    return b->m->throughput ? berth_contiguous_make_prices(b->ctx, b->m) : berth_contiguous_make_tails(b->ctx, b->m);
}

berth_status berth_contiguous_new(berth_search *search, berth_contiguous **out, berth_contiguous_options options) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    berth_contiguous *m = berth_resize(allocator, NULL, 0, 1, sizeof *m);
    if (!m) return berth_fail_nomem(search->ctx);
    berth_arena_init(&m->arena, allocator);
    m->problem = search->problem;
    m->c = search->problem->costs;
    m->throughput = m->c->objective == BERTH_OBJECTIVE_THROUGHPUT;
    m->weighs_host = m->c->task_memory && m->problem->memory_binds && m->c->capacity[m->c->host] < INFINITY;
    build b = {.ctx = search->ctx, .m = m, .options = options};
    berth_status status = build_model(&b);
    if (status == BERTH_OK)
        *out = m;
    else
        berth_contiguous_free(m);
    return status;
}

void berth_contiguous_free(berth_contiguous *m) {
    if (!m) return;
    berth_allocator allocator = m->arena.allocator;
    berth_arena_deinit(&m->arena);
    berth_resize(&allocator, m, 1, 0, sizeof *m);
}
