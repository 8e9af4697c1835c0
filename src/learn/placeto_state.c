/* SPDX-License-Identifier: Apache-2.0 */
/* Placeto: what a node looks like. Costs and sizes stand still; done and current bits, start times and devices change
 * with every step. */
#include "learn/placeto_state.h"

#include <math.h>
#include <string.h>

/* --- columns ---------------------------------------------------------------------------------------------------- */

/* After n_devices columns of times. */
enum { OUTPUT, DONE, AT_HAND, BEGIN, DEVICE };

int32_t berth_placeto_width(int32_t n_devices) {
    return 2 * n_devices + DEVICE;
}

static int32_t n_devices_of(const berth_placeto_state *s) {
    return s->sequence->problem->costs->n_devices;
}

static berth_real *row_of(const berth_placeto_state *s, int32_t step) {
    return s->features + (size_t)step * (size_t)s->width;
}

static berth_real *column_of(const berth_placeto_state *s, int32_t step, int32_t column) {
    return row_of(s, step) + n_devices_of(s) + column;
}

/* Time of a step on a device; where it cannot run, the longest of where it can. */
static double step_ms(const berth_sequence *q, int32_t step, int32_t device) {
    const berth_costs *c = q->problem->costs;
    double ms = 0;
    for (int32_t i = q->task_start[step]; i < q->task_start[step + 1]; i++)
        ms += c->time_ms[(size_t)q->tasks[i] * (size_t)c->n_devices + (size_t)device];
    return ms;
}

static double longest_ms(const berth_sequence *q, int32_t step) {
    double most = 0;
    for (int32_t d = 0; d < q->problem->costs->n_devices; d++)
        if (q->allowed[step] >> d & 1) most = fmax(most, step_ms(q, step, d));
    return most;
}

/* What it takes on average to copy what other steps read from this one. */
static double output_ms(const berth_sequence *q, int32_t step) {
    const berth_costs *c = q->problem->costs;
    double sum = 0;
    int64_t n_links = 0;
    for (int32_t from = 0; from < c->n_devices; from++) {
        for (int32_t to = 0; to < c->n_devices; to++) {
            double ms = 0;
            for (int32_t i = q->task_start[step]; i < q->task_start[step + 1]; i++)
                for (int32_t k = c->out_start[q->tasks[i]]; k < c->out_start[q->tasks[i] + 1]; k++)
                    ms += berth_costs_copy(c, c->out_values[k], from, to);
            if (from == to || !(ms < INFINITY)) continue;
            sum += ms;
            n_links++;
        }
    }
    return n_links > 0 ? sum / (double)n_links : 0;
}

/* log(1 + x / mean) of a block of columns. */
static void scale_columns(berth_placeto_state *s, int32_t first, int32_t n) {
    double sum = 0;
    for (int32_t step = 0; step < s->sequence->n_steps; step++)
        for (int32_t i = first; i < first + n; i++) sum += (double)row_of(s, step)[i];
    double mean = sum / s->sequence->n_steps / n;
    for (int32_t step = 0; step < s->sequence->n_steps; step++)
        for (int32_t i = first; i < first + n; i++)
            row_of(s, step)[i] = (berth_real)log1p(mean > 0 ? (double)row_of(s, step)[i] / mean : 0);
}

static void fill_costs(berth_placeto_state *s) {
    const berth_sequence *q = s->sequence;
    int32_t n_devices = n_devices_of(s);
    for (int32_t step = 0; step < q->n_steps; step++) {
        double most = longest_ms(q, step);
        for (int32_t d = 0; d < n_devices; d++)
            row_of(s, step)[d] = (berth_real)(q->allowed[step] >> d & 1 ? step_ms(q, step, d) : most);
        *column_of(s, step, OUTPUT) = (berth_real)output_ms(q, step);
    }
    scale_columns(s, 0, n_devices);
    scale_columns(s, n_devices + OUTPUT, 1);
}

static void show_device(berth_placeto_state *s, int32_t step) {
    berth_real *hot = column_of(s, step, DEVICE);
    for (int32_t d = 0; d < n_devices_of(s); d++) hot[d] = d == s->device[step];
}

/* The starts of the schedule that the simulator ran last. */
static void show_schedule(berth_placeto_state *s) {
    const berth_sequence *q = s->sequence;
    const double *starts = berth_sim_starts(s->scores->search->sim);
    for (int32_t step = 0; step < q->n_steps; step++) {
        double first = INFINITY;
        for (int32_t i = q->task_start[step]; i < q->task_start[step + 1]; i++)
            first = fmin(first, starts[q->tasks[i]]);
        *column_of(s, step, BEGIN) = (berth_real)(s->scores->ms > 0 ? fmin(first / s->scores->ms, 1) : 0);
    }
}

/* --- graph ------------------------------------------------------------------------------------------------------ */

/* Means over the rows of one side, and their transposed, whose rows are those of the other side. */
static bool make_means(berth_arena *arena, int32_t n, const int32_t *start, const int32_t *index,
                       const int32_t *other_start, const int32_t *other, berth_csr *mean, berth_csr *transposed) {
    berth_real *weight = berth_arena_push(arena, (size_t)start[n], sizeof *weight);
    berth_real *other_weight = berth_arena_push(arena, (size_t)other_start[n], sizeof *other_weight);
    if (arena->failed) return false;
    for (int32_t row = 0; row < n; row++)
        for (int32_t k = start[row]; k < start[row + 1]; k++) weight[k] = 1 / (berth_real)(start[row + 1] - start[row]);
    for (int32_t k = 0; k < other_start[n]; k++)
        other_weight[k] = 1 / (berth_real)(start[other[k] + 1] - start[other[k]]);
    *mean = (berth_csr){n, n, start, index, weight};
    *transposed = (berth_csr){n, n, other_start, other, other_weight};
    return true;
}

/* Appends to `order` what can be reached from a step and was not seen; returns how many. The list is its own queue. */
static int32_t reach(berth_placeto_state *s, int32_t step, const int32_t *start, const int32_t *index, int32_t *order) {
    int32_t n = 0;
    for (int32_t next = -1; next < n; next++) {
        int32_t at = next < 0 ? step : order[next];
        for (int32_t k = start[at]; k < start[at + 1]; k++) {
            if (s->seen[index[k]]) continue;
            s->seen[index[k]] = 1;
            order[n++] = index[k];
        }
    }
    return n;
}

static void look_from(berth_placeto_state *s, int32_t step) {
    const berth_sequence *q = s->sequence;
    memset(s->seen, 0, (size_t)q->n_steps);
    s->seen[step] = 1;
    int32_t *order = s->order, n_above = reach(s, step, q->pred_start, q->preds, order);
    int32_t n_below = reach(s, step, q->succ_start, q->succs, order + n_above), n = n_above + n_below;
    for (int32_t other = 0; other < q->n_steps; other++)
        if (!s->seen[other]) order[n++] = other;
    const int32_t sizes[BERTH_PLACETO_SETS] = {n_above, n_below, n - n_above - n_below};
    s->look.node = step;
    for (int i = 0; i < BERTH_PLACETO_SETS; order += sizes[i++]) {
        s->look.set[i] = order;
        s->look.span[i][1] = sizes[i];
    }
}

/* --- placements ------------------------------------------------------------------------------------------------- */

bool berth_placeto_state_init(berth_placeto_state *s, berth_arena *arena, const berth_sequence *q,
                              berth_scores *scores) {
    size_t n = (size_t)q->n_steps;
    const berth_costs *c = q->problem->costs;
    *s = (berth_placeto_state){.sequence = q, .scores = scores, .width = berth_placeto_width(c->n_devices)};
    s->features = berth_arena_push(arena, n * (size_t)s->width, sizeof *s->features);
    s->device = berth_arena_push(arena, n, sizeof *s->device);
    s->best_device = berth_arena_push(arena, n, sizeof *s->best_device);
    s->best_begins = berth_arena_push(arena, n, sizeof *s->best_begins);
    s->task_device = berth_arena_push(arena, (size_t)c->n_tasks, sizeof *s->task_device);
    s->order = berth_arena_push(arena, n, sizeof *s->order);
    s->seen = berth_arena_push(arena, n, sizeof *s->seen);
    s->used = berth_arena_push(arena, (size_t)c->n_devices, sizeof *s->used);
    if (arena->failed) return false;
    fill_costs(s);
    return make_means(arena, q->n_steps, q->pred_start, q->preds, q->succ_start, q->succs, &s->look.mean[0],
                      &s->look.transposed[0]) &&
           make_means(arena, q->n_steps, q->succ_start, q->succs, q->pred_start, q->preds, &s->look.mean[1],
                      &s->look.transposed[1]);
}

static double evaluate(berth_placeto_state *s, berth_source source) {
    berth_sequence_spread(s->sequence, s->device, s->task_device);
    return berth_scores_of(s->scores, s->task_device, source);
}

/* The device of `mask` where it runs fastest. */
static int32_t fastest(const berth_sequence *q, int32_t step, uint64_t mask) {
    int32_t best = -1;
    for (int32_t d = 0; d < q->problem->costs->n_devices; d++)
        if ((mask >> d & 1) && (best < 0 || step_ms(q, step, d) < step_ms(q, step, best))) best = d;
    return best;
}

/* The devices of a step where what surely lies there leaves room for it; all that are allowed if there is none. */
static uint64_t with_room(const berth_placeto_state *s, int32_t step) {
    const berth_sequence *q = s->sequence;
    uint64_t mask = q->allowed[step];
    for (int32_t d = 0; q->need[step] > 0 && d < n_devices_of(s); d++)
        if (s->used[d] + q->need[step] > q->problem->costs->capacity[d]) mask &= ~(UINT64_C(1) << d);
    return mask ? mask : q->allowed[step];
}

/* Keeps s->device, which was just evaluated, if it is the best. */
static void keep_best(berth_placeto_state *s, double score) {
    if (!(score < s->best_score)) return;
    s->best_score = score;
    s->best_feasible = s->scores->ms < INFINITY;
    for (int32_t step = 0; step < s->sequence->n_steps; step++) {
        s->best_device[step] = s->device[step];
        s->best_begins[step] = *column_of(s, step, BEGIN);
    }
}

static void try_seed(berth_placeto_state *s) {
    double score = evaluate(s, BERTH_SOURCE_SEED);
    if (s->scores->ms < INFINITY) show_schedule(s);
    keep_best(s, score);
}

bool berth_placeto_find_first(berth_placeto_state *s) {
    const berth_sequence *q = s->sequence;
    s->best_score = INFINITY;
    for (int32_t d = 0; d < n_devices_of(s) && !berth_search_stop(s->scores->search); d++) {
        for (int32_t step = 0; step < q->n_steps; step++)
            s->device[step] = q->allowed[step] >> d & 1 ? d : fastest(q, step, q->allowed[step]);
        try_seed(s);
    }
    if (s->best_score < INFINITY && !s->best_feasible && !berth_search_stop(s->scores->search)) {
        memset(s->used, 0, (size_t)n_devices_of(s) * sizeof *s->used);
        for (int32_t step = 0; step < q->n_steps; step++) {
            s->device[step] = fastest(q, step, with_room(s, step));
            s->used[s->device[step]] += q->need[step];
        }
        try_seed(s);
    }
    return s->best_score < INFINITY;
}

void berth_placeto_restart(berth_placeto_state *s) {
    memset(s->used, 0, (size_t)n_devices_of(s) * sizeof *s->used);
    for (int32_t step = 0; step < s->sequence->n_steps; step++) {
        s->device[step] = s->best_device[step];
        s->used[s->device[step]] += s->sequence->need[step];
        *column_of(s, step, DONE) = *column_of(s, step, AT_HAND) = 0;
        *column_of(s, step, BEGIN) = s->best_begins[step];
        show_device(s, step);
    }
    s->score = s->best_score;
    s->feasible = s->best_feasible;
}

uint64_t berth_placeto_take(berth_placeto_state *s, int32_t step) {
    int32_t old = s->look.node;
    *column_of(s, old, AT_HAND) = 0;
    *column_of(s, step, AT_HAND) = 1;
    look_from(s, step);
    s->used[s->device[step]] -= s->sequence->need[step];
    uint64_t mask = with_room(s, step);
    s->used[s->device[step]] += s->sequence->need[step];
    return mask;
}

double berth_placeto_put(berth_placeto_state *s, int32_t device) {
    int32_t step = s->look.node, old = s->device[step];
    s->device[step] = device;
    double score = evaluate(s, BERTH_SOURCE_SAMPLE), gain = s->score - score;
    bool runs = s->scores->ms < INFINITY;
    *column_of(s, step, DONE) = 1;
    if (isnan(score) || (!runs && s->feasible)) {
        s->device[step] = old;
        return gain;
    }
    s->used[old] -= s->sequence->need[step];
    s->used[device] += s->sequence->need[step];
    s->score = score;
    s->feasible = runs;
    show_device(s, step);
    if (runs) show_schedule(s);
    keep_best(s, score);
    return gain;
}
