/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from a view. Nodes come in the order of their first tasks: the groups of the paper and of its code are entered
 * by their first operation only, so that this order is topological for them. */
#include "learn/sequence.h"

#include <string.h>

typedef struct builder {
    berth_sequence *s;
    berth_arena *scratch;
    int32_t *step_of_node; /* -1: not seen, or without tasks */
    int32_t *order;        /* nodes with tasks */
    int32_t n_nodes;
} builder;

/* --- which nodes make a step ------------------------------------------------------------------------------------ */

static bool order_nodes(builder *b) {
    const berth_view *view = b->s->view;
    b->order = berth_arena_push(b->scratch, (size_t)view->n_nodes, sizeof *b->order);
    b->step_of_node = berth_arena_push(b->scratch, (size_t)view->n_nodes, sizeof *b->step_of_node);
    if (b->scratch->failed) return false;
    for (int32_t node = 0; node < view->n_nodes; node++) b->step_of_node[node] = -1;
    for (int32_t task = 0; task < view->costs->n_tasks; task++) {
        int32_t node = view->node_of[task];
        if (b->step_of_node[node] >= 0) continue;
        b->step_of_node[node] = 0;
        b->order[b->n_nodes++] = node;
    }
    return true;
}

/* The step of this stretch with that mask, a new one if there is none. */
static int32_t step_for(berth_sequence *s, uint64_t *allowed, int32_t first, uint64_t mask) {
    for (int32_t step = first; step < s->n_steps; step++)
        if (allowed[step] == mask) return step;
    allowed[s->n_steps] = mask;
    return s->n_steps++;
}

static bool cut_steps(builder *b, int32_t most) {
    berth_sequence *s = b->s;
    int32_t length = b->n_nodes / most + (b->n_nodes % most != 0), first = 0;
    uint64_t *allowed = berth_arena_push(&s->arena, (size_t)b->n_nodes, sizeof *allowed);
    int32_t *nodes = berth_arena_push(&s->arena, (size_t)b->n_nodes, sizeof *nodes);
    int32_t *start = berth_arena_push(&s->arena, (size_t)b->n_nodes + 2, sizeof *start);
    if (s->arena.failed) return false;
    for (int32_t i = 0; i < b->n_nodes; i++) {
        if (i % length == 0) first = s->n_steps;
        int32_t step = step_for(s, allowed, first, s->view->allowed[b->order[i]]);
        b->step_of_node[b->order[i]] = step;
        start[step + 2]++;
    }
    for (int32_t step = 0; step < s->n_steps; step++) start[step + 1] += start[step];
    for (int32_t i = 0; i < b->n_nodes; i++) nodes[start[b->step_of_node[b->order[i]] + 1]++] = b->order[i];
    s->nodes = nodes;
    s->node_start = start;
    s->allowed = allowed;
    return true;
}

/* --- what they hold and how they hang together ------------------------------------------------------------------ */

static bool list_tasks(builder *b) {
    berth_sequence *s = b->s;
    const berth_view *view = s->view;
    size_t n_tasks = (size_t)view->costs->n_tasks;
    int32_t *step_of = berth_arena_push(&s->arena, n_tasks, sizeof *step_of), n = 0;
    int32_t *tasks = berth_arena_push(&s->arena, n_tasks, sizeof *tasks);
    int32_t *start = berth_arena_push(&s->arena, (size_t)s->n_steps + 1, sizeof *start);
    if (s->arena.failed) return false;
    for (int32_t step = 0; step < s->n_steps; step++) {
        start[step] = n;
        for (int32_t i = s->node_start[step]; i < s->node_start[step + 1]; i++) {
            int32_t node = s->nodes[i];
            for (int32_t k = view->task_start[node]; k < view->task_start[node + 1]; k++) {
                step_of[view->tasks[k]] = step;
                tasks[n++] = view->tasks[k];
            }
        }
    }
    start[s->n_steps] = n;
    s->step_of = step_of;
    s->tasks = tasks;
    s->task_start = start;
    return true;
}

/* Rows of distinct steps: of each step in `from` those in `to`. */
static bool make_rows(builder *b, int32_t n, const int32_t *from, const int32_t *to, const int32_t **start,
                      const int32_t **index) {
    berth_sequence *s = b->s;
    int32_t *rows = berth_arena_push(&s->arena, (size_t)s->n_steps + 1, sizeof *rows);
    int32_t *targets = berth_arena_push(&s->arena, (size_t)n, sizeof *targets);
    int32_t *sources = berth_arena_push(b->scratch, (size_t)n, sizeof *sources);
    if (s->arena.failed || b->scratch->failed) return false;
    *start = rows;
    *index = targets;
    return berth_pairs_sort(b->scratch, s->n_steps, n, from, to, rows, sources, targets);
}

static bool link_steps(builder *b) {
    berth_sequence *s = b->s;
    const berth_costs *c = s->view->costs;
    int32_t n = c->pred_start[c->n_tasks];
    int32_t *from = berth_arena_push(b->scratch, (size_t)n, sizeof *from);
    int32_t *to = berth_arena_push(b->scratch, (size_t)n, sizeof *to);
    if (b->scratch->failed) return false;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        for (int32_t k = c->pred_start[task]; k < c->pred_start[task + 1]; k++) {
            from[k] = s->step_of[c->preds[k]];
            to[k] = s->step_of[task];
        }
    }
    return make_rows(b, n, from, to, &s->succ_start, &s->succs) && make_rows(b, n, to, from, &s->pred_start, &s->preds);
}

static bool sum_needs(builder *b) {
    berth_sequence *s = b->s;
    const berth_costs *c = s->view->costs;
    double *need = berth_arena_push(&s->arena, (size_t)s->n_steps, sizeof *need);
    bool *counted = berth_arena_push(b->scratch, (size_t)c->n_weights, sizeof *counted);
    if (s->arena.failed || b->scratch->failed) return false;
    s->need = need;
    for (int32_t i = 0; s->problem->memory_binds && i < c->n_tasks; i++) {
        int32_t task = s->tasks[i];
        double *mine = &need[s->step_of[task]];
        if (c->task_memory) *mine += c->task_memory[task];
        for (int32_t k = c->weight_start[task]; !c->task_memory && k < c->weight_start[task + 1]; k++) {
            if (!counted[c->weights[k]]) *mine += c->weight_bytes[c->weights[k]];
            counted[c->weights[k]] = true;
        }
    }
    return true;
}

berth_status berth_sequence_new(berth_search *search, const berth_settings *settings, int32_t most,
                                berth_sequence **out) {
    const berth_problem *p = search->problem;
    const berth_view_source source = {p->costs, p->n_units, p->unit_of, p->allowed};
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    berth_arena scratch;
    berth_sequence *s = berth_resize(allocator, NULL, 0, 1, sizeof *s);
    *out = s;
    if (!s) return berth_fail_nomem(search->ctx);
    berth_arena_init(&s->arena, allocator);
    berth_arena_init(&scratch, allocator);
    s->problem = p;
    builder b = {.s = s, .scratch = &scratch};
    berth_status status = berth_view_new(search->ctx, &s->view, &source,
                                         (berth_view_rule)berth_settings_get(settings, BERTH_SET_COLOCATE));
    if (status == BERTH_OK &&
        !(order_nodes(&b) && cut_steps(&b, most) && list_tasks(&b) && link_steps(&b) && sum_needs(&b)))
        status = berth_fail_nomem(search->ctx);
    berth_arena_deinit(&scratch);
    if (status != BERTH_OK) {
        berth_sequence_free(s);
        *out = NULL;
    }
    return status;
}

void berth_sequence_free(berth_sequence *s) {
    if (!s) return;
    berth_allocator allocator = s->arena.allocator;
    berth_view_free(s->view);
    berth_arena_deinit(&s->arena);
    berth_resize(&allocator, s, 1, 0, sizeof *s);
}

void berth_sequence_spread(const berth_sequence *s, const int32_t *of_step, int32_t *device) {
    for (int32_t task = 0; task < s->problem->costs->n_tasks; task++) device[task] = of_step[s->step_of[task]];
}

/* --- while a placement is being made ---------------------------------------------------------------------------- */

bool berth_making_init(berth_making *m, berth_arena *arena, const berth_sequence *sequence) {
    size_t n = (size_t)sequence->n_steps;
    m->sequence = sequence;
    m->device = berth_arena_push(arena, n, sizeof *m->device);
    m->used = berth_arena_push(arena, (size_t)sequence->problem->costs->n_devices, sizeof *m->used);
    m->waits = berth_arena_push(arena, n, sizeof *m->waits);
    m->before = berth_arena_push(arena, (size_t)sequence->problem->costs->n_devices, sizeof *m->before);
    return !arena->failed;
}

void berth_making_restart(berth_making *m) {
    size_t n_devices = (size_t)m->sequence->problem->costs->n_devices;
    memset(m->used, 0, n_devices * sizeof *m->used);
    memset(m->before, 0, n_devices * sizeof *m->before);
}

/* The parts, other than that of `device`, whose outputs the step reads, itself or through the host. */
static uint64_t waits_on(const berth_making *m, int32_t step, int32_t device) {
    const berth_sequence *s = m->sequence;
    uint64_t parts = 0;
    for (int32_t k = s->pred_start[step]; k < s->pred_start[step + 1] && s->preds[k] < step; k++)
        if (m->device[s->preds[k]] != device) parts |= m->waits[s->preds[k]];
    return parts;
}

/* They, and what must have ended before they begin. */
static uint64_t with_before(const berth_making *m, uint64_t parts) {
    uint64_t all = parts;
    for (uint64_t left = parts; left; left &= left - 1) all |= m->before[__builtin_ctzll(left)];
    return all;
}

uint64_t berth_making_mask(const berth_making *m, int32_t step) {
    const berth_costs *c = m->sequence->problem->costs;
    uint64_t mask = m->sequence->allowed[step];
    for (int32_t d = 0; d < c->n_devices; d++) {
        uint64_t bit = UINT64_C(1) << d;
        if (m->sequence->need[step] > 0 && m->used[d] + m->sequence->need[step] > c->capacity[d]) mask &= ~bit;
        if (c->model == BERTH_MODEL_CONTIGUOUS && d != c->host && with_before(m, waits_on(m, step, d)) & bit)
            mask &= ~bit;
    }
    return mask ? mask : m->sequence->allowed[step];
}

static void put_in_part(berth_making *m, int32_t step, int32_t device) {
    const berth_costs *c = m->sequence->problem->costs;
    uint64_t bit = UINT64_C(1) << device;
    m->waits[step] = device == c->host ? waits_on(m, step, -1) : bit;
    if (device == c->host) return;
    m->before[device] |= with_before(m, waits_on(m, step, device));
    for (int32_t d = 0; d < c->n_devices; d++)
        if (m->before[d] & bit) m->before[d] |= m->before[device];
}

void berth_making_put(berth_making *m, int32_t step, int32_t device) {
    m->device[step] = device;
    m->used[device] += m->sequence->need[step];
    if (m->sequence->problem->costs->model == BERTH_MODEL_CONTIGUOUS) put_in_part(m, step, device);
}
