/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of all rows are computed at once, when the placement or the weights have changed; drawing then only reads
 * them. A row that leads to another device is no choice. Of a unit with very many neighbours only as many draw as there
 * is room for. */
#include "learn/joins.h"

#include "search/rank.h"
#include "tensor/ops.h"

#include <math.h>
#include <string.h>

enum { HIDDEN = 16 };

/* What is seen of a row. */
enum { ONE, ITSELF, LATER, COPY, GAP, SLACK, OTHER_SLACK, BOTH_CRITICAL, TIME, OTHER_TIME, DEGREE, OTHER_DEGREE };
_Static_assert(OTHER_DEGREE + 1 == BERTH_JOINS_SIGHTS, "all sights have room");

void berth_joins_declare(berth_params *layout) {
    berth_params_add(layout, "join.hidden.weight", HIDDEN, BERTH_JOINS_SIGHTS);
    berth_params_add(layout, "join.hidden.bias", 1, HIDDEN);
    berth_params_add(layout, "join.score.weight", 1, HIDDEN);
    berth_params_add(layout, "join.score.bias", 1, 1);
}

void berth_joins_reset(berth_policy *policy, berth_rng *rng) {
    double limit = 1 / sqrt(BERTH_JOINS_SIGHTS);
    berth_param_uniform(berth_params_find(&policy->params, "join.hidden.weight"), limit, rng);
    berth_param_uniform(berth_params_find(&policy->params, "join.hidden.bias"), limit, rng);
    berth_param_uniform(berth_params_find(&policy->params, "join.score.weight"), 0.1 / sqrt(HIDDEN), rng);
    berth_param_fill(berth_params_find(&policy->params, "join.score.bias"), 0);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

/* Adds a row from one unit to another, or more copies to the one that is there; before there is room it only counts. */
static void add_row(berth_joins *j, int32_t *fill, int32_t *met, int32_t unit, int32_t other, bool later, double copy) {
    if (!j->row_other) {
        if (met[other] != unit) j->row_start[unit + 1]++;
        met[other] = unit;
        return;
    }
    int32_t at = met[other];
    if (at < j->row_start[unit] || at >= j->row_start[unit] + fill[unit] || j->row_other[at] != other) {
        at = met[other] = j->row_start[unit] + fill[unit]++;
        j->row_other[at] = other;
        j->row_later[at] = later;
    }
    j->row_copy[at] += copy;
}

/* Rows of one unit after another, so that `met` can tell whether this one was there already. */
static void add_rows(berth_joins *j, const berth_rank *rank, int32_t *fill, int32_t *met) {
    const berth_problem *p = j->walk->problem;
    const berth_costs *c = j->walk->costs;
    for (int32_t unit = 0; unit < p->n_units; unit++) {
        add_row(j, fill, met, unit, unit, false, 0);
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
            int32_t task = p->unit_tasks[i];
            for (int32_t k = c->in_start[task]; k < c->in_start[task + 1]; k++) {
                int32_t v = c->in_values[k], producer = c->value_producer[v];
                if (producer >= 0) add_row(j, fill, met, unit, p->unit_of[producer], false, rank->mean_copy[v]);
            }
            for (int32_t k = c->out_start[task]; k < c->out_start[task + 1]; k++) {
                int32_t v = c->out_values[k];
                for (int32_t r = c->reader_start[v]; r < c->reader_start[v + 1]; r++)
                    add_row(j, fill, met, unit, p->unit_of[c->readers[r]], true, rank->mean_copy[v]);
            }
        }
    }
}

static bool build_rows(berth_joins *j, berth_arena *arena) {
    size_t n = (size_t)j->walk->problem->n_units;
    berth_rank rank;
    j->row_start = berth_arena_push(arena, n + 1, sizeof *j->row_start);
    int32_t *fill = berth_arena_push(arena, n, sizeof *fill), *met = berth_arena_push(arena, n, sizeof *met);
    if (arena->failed || !berth_rank_build(arena, j->walk->problem, &rank)) return false;
    memset(met, -1, n * sizeof *met);
    add_rows(j, &rank, fill, met);
    for (size_t unit = 0; unit < n; unit++) j->row_start[unit + 1] += j->row_start[unit];
    size_t n_rows = (size_t)j->row_start[n];
    int32_t *other = berth_arena_push(arena, n_rows, sizeof *other);
    j->row_later = berth_arena_push(arena, n_rows, sizeof *j->row_later);
    j->row_copy = berth_arena_push(arena, n_rows, sizeof *j->row_copy);
    j->sights = berth_arena_push(arena, n_rows * BERTH_JOINS_SIGHTS, sizeof *j->sights);
    j->score = berth_arena_push(arena, n_rows, sizeof *j->score);
    if (arena->failed) return false;
    j->row_other = other;
    memset(met, -1, n * sizeof *met);
    add_rows(j, &rank, fill, met);
    return true;
}

static void push_ring(berth_joins *j, berth_arena *arena) {
    size_t w = (size_t)j->window, rows = w * BERTH_JOINS_ROWS * BERTH_JOINS_SIGHTS, draws = w * BERTH_JOINS_DRAWS;
    j->kept = berth_arena_push(arena, rows, sizeof *j->kept);
    j->rows = berth_arena_push(arena, rows, sizeof *j->rows);
    j->kept_n = berth_arena_push(arena, w, sizeof *j->kept_n);
    j->kept_start = berth_arena_push(arena, draws + w, sizeof *j->kept_start);
    j->kept_picked = berth_arena_push(arena, draws, sizeof *j->kept_picked);
    j->kept_log_p = berth_arena_push(arena, w, sizeof *j->kept_log_p);
    j->advantage = berth_arena_push(arena, w, sizeof *j->advantage);
    j->segment = berth_arena_push(arena, draws + 1, sizeof *j->segment);
    j->picked = berth_arena_push(arena, draws, sizeof *j->picked);
    j->group = berth_arena_push(arena, w + 1, sizeof *j->group);
    j->old_log_p = berth_arena_push(arena, w, sizeof *j->old_log_p);
    j->group_advantage = berth_arena_push(arena, w, sizeof *j->group_advantage);
}

/* Updates differ in size from one to the next: room for the largest, so that the tape need not grow into it. */
static berth_status reserve(berth_joins *j) {
    size_t rows = (size_t)j->window * BERTH_JOINS_ROWS, draws = (size_t)j->window * BERTH_JOINS_DRAWS;
    size_t all = (size_t)j->row_start[j->walk->problem->n_units];
    if (rows < all) rows = all;
    if (!berth_tape_memory(j->tape, rows * (4 * HIDDEN + 8) + draws * 32 + (1 << 14), sizeof(berth_real)))
        return berth_fail_nomem(j->walk->search->ctx);
    berth_tape_clear(j->tape);
    return BERTH_OK;
}

berth_status berth_joins_init(berth_joins *joins, const berth_stroll *walk, const berth_outlook *outlook,
                              berth_policy *policy, berth_arena *arena) {
    size_t n = (size_t)walk->problem->n_units;
    *joins = (berth_joins){.walk = walk, .outlook = outlook, .policy = policy, .is_stale = true};
    joins->window = (int32_t)berth_settings_get(&policy->settings, BERTH_SET_WINDOW);
    joins->hidden_weight = berth_params_find(&policy->params, "join.hidden.weight");
    joins->hidden_bias = berth_params_find(&policy->params, "join.hidden.bias");
    joins->score_weight = berth_params_find(&policy->params, "join.score.weight");
    joins->score_bias = berth_params_find(&policy->params, "join.score.bias");
    joins->units = berth_arena_push(arena, n, sizeof *joins->units);
    joins->mark = berth_arena_push(arena, n, sizeof *joins->mark);
    joins->drawn = berth_arena_push(arena, n, sizeof *joins->drawn);
    joins->choice = berth_arena_push(arena, n, sizeof *joins->choice);
    push_ring(joins, arena);
    if (arena->failed || !build_rows(joins, arena)) return berth_fail_nomem(walk->search->ctx);
    BERTH_TRY(berth_tape_new(walk->search->ctx, &joins->tape));
    return reserve(joins);
}

void berth_joins_deinit(berth_joins *joins) {
    berth_tape_free(joins->tape);
}

/* --- seeing and scoring ----------------------------------------------------------------------------------------- */

static berth_real soft(const berth_joins *j, double ms) {
    return (berth_real)fmin(asinh(ms / j->outlook->scale), 10);
}

static berth_join_sight see_unit(const berth_joins *j, int32_t unit) {
    const berth_outlook *o = j->outlook;
    const berth_problem *p = o->problem;
    int32_t first = p->unit_tasks[p->unit_start[unit]], last = p->unit_tasks[p->unit_start[unit + 1] - 1];
    double time = 0, slack = INFINITY;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
        int32_t task = p->unit_tasks[i];
        time += o->costs->time_ms[(size_t)task * (size_t)o->costs->n_devices + (size_t)j->walk->device[task]];
        slack = fmin(slack, berth_outlook_slack(o, task));
    }
    return (berth_join_sight){
        .start = o->start[first],
        .end = o->end[last],
        .is_critical = o->has_times && berth_outlook_is_critical(o, slack),
        .time = soft(j, time),
        .slack_share = (berth_real)fmin(4 * slack / o->ms, 2),
        .degree = 1 / (berth_real)(j->row_start[unit + 1] - j->row_start[unit]),
    };
}

static void see_row(const berth_joins *j, int32_t row, const berth_join_sight *one, const berth_join_sight *other,
                    berth_real *sight) {
    double gap = j->row_later[row] ? other->start - one->end : one->start - other->end;
    bool is_itself = one == other;
    sight[ONE] = 1;
    sight[ITSELF] = is_itself;
    sight[LATER] = j->row_later[row];
    sight[COPY] = soft(j, j->row_copy[row]);
    sight[GAP] = is_itself ? 0 : soft(j, fmax(gap, 0));
    sight[SLACK] = one->slack_share;
    sight[OTHER_SLACK] = is_itself ? 0 : other->slack_share;
    sight[BOTH_CRITICAL] = one->is_critical && other->is_critical;
    sight[TIME] = one->time;
    sight[OTHER_TIME] = is_itself ? 0 : other->time;
    sight[DEGREE] = one->degree;
    sight[OTHER_DEGREE] = is_itself ? 0 : other->degree;
}

static berth_matrix *score_rows(berth_joins *j, const berth_real *sights, int32_t n) {
    berth_matrix *x = berth_input(j->tape, sights, n, BERTH_JOINS_SIGHTS);
    berth_matrix *hidden = berth_relu(j->tape, berth_linear(j->tape, x, j->hidden_weight, j->hidden_bias));
    return berth_linear(j->tape, hidden, j->score_weight, j->score_bias);
}

static bool score_all(berth_joins *j) {
    int32_t n_units = j->walk->problem->n_units, n_rows = j->row_start[n_units];
    for (int32_t unit = 0; unit < n_units; unit++) j->units[unit] = see_unit(j, unit);
    for (int32_t unit = 0; unit < n_units; unit++)
        for (int32_t row = j->row_start[unit]; row < j->row_start[unit + 1]; row++)
            see_row(j, row, &j->units[unit], &j->units[j->row_other[row]],
                    j->sights + (size_t)row * BERTH_JOINS_SIGHTS);
    berth_tape_record(j->tape, false);
    berth_matrix *score = score_rows(j, j->sights, n_rows);
    if (score) memcpy(j->score, score->value, (size_t)n_rows * sizeof *j->score);
    berth_tape_clear(j->tape);
    berth_tape_record(j->tape, true);
    j->is_stale = false;
    return score != NULL;
}

void berth_joins_forget(berth_joins *joins) {
    joins->is_stale = true;
}

/* --- drawing ---------------------------------------------------------------------------------------------------- */

static bool is_choice(const berth_joins *j, int32_t unit, int32_t row) {
    return berth_stroll_device(j->walk, j->row_other[row]) == berth_stroll_device(j->walk, unit);
}

/* The unit draws, if it has not yet; false: no room for more draws. */
static bool draw_choice(berth_joins *j, int32_t unit, berth_parse_record *record) {
    double most = -INFINITY, sum = 0;
    int32_t last = j->row_start[unit]; /* itself is always one */
    if (j->drawn[unit] == j->round) return true;
    if (record->n == BERTH_JOINS_DRAWS) return false;
    for (int32_t row = j->row_start[unit]; row < j->row_start[unit + 1]; row++)
        if (is_choice(j, unit, row)) most = fmax(most, j->score[row]);
    for (int32_t row = j->row_start[unit]; row < j->row_start[unit + 1]; row++)
        if (is_choice(j, unit, row)) sum += exp(j->score[row] - most);
    double left = berth_rng_uniform(j->walk->rng) * sum;
    for (int32_t row = j->row_start[unit]; row < j->row_start[unit + 1] && left >= 0; row++) {
        if (!is_choice(j, unit, row)) continue;
        last = row;
        left -= exp(j->score[row] - most);
    }
    j->drawn[unit] = j->round;
    j->choice[unit] = last;
    record->unit[record->n] = unit;
    record->row[record->n++] = last;
    return true;
}

static int32_t join(berth_joins *j, int32_t unit, int32_t *units, int32_t n, int32_t most) {
    if (n == most || j->mark[unit] == j->round) return n;
    j->mark[unit] = j->round;
    units[n] = unit;
    return n + 1;
}

int32_t berth_joins_draw(berth_joins *joins, int32_t unit, int32_t most, int32_t *units, berth_parse_record *record) {
    berth_joins *j = joins;
    int32_t n = 0;
    record->n = 0;
    if (j->is_stale && !score_all(j)) return 0;
    j->round++;
    n = join(j, unit, units, n, most);
    for (int32_t head = 0; head < n; head++) {
        int32_t one = units[head];
        if (!draw_choice(j, one, record)) break;
        n = join(j, j->row_other[j->choice[one]], units, n, most);
        for (int32_t row = j->row_start[one]; row < j->row_start[one + 1] && n < most; row++) {
            int32_t other = j->row_other[row];
            if (other == one || !is_choice(j, one, row) || !draw_choice(j, other, record)) continue;
            if (j->row_other[j->choice[other]] == one) n = join(j, other, units, n, most);
        }
    }
    return n;
}

/* --- learning --------------------------------------------------------------------------------------------------- */

/* Takes down the choices that a unit had. False: no room. */
static bool keep_draw(berth_joins *j, int32_t unit, int32_t row) {
    size_t slot = (size_t)j->next;
    int32_t *start = j->kept_start + slot * (BERTH_JOINS_DRAWS + 1), at = j->kept_n[slot], end = start[at];
    berth_real *kept = j->kept + slot * BERTH_JOINS_ROWS * BERTH_JOINS_SIGHTS;
    double most = -INFINITY, sum = 0;
    if (end + j->row_start[unit + 1] - j->row_start[unit] > BERTH_JOINS_ROWS) return false;
    for (int32_t i = j->row_start[unit]; i < j->row_start[unit + 1]; i++) {
        if (!is_choice(j, unit, i)) continue;
        if (i == row) j->kept_picked[slot * BERTH_JOINS_DRAWS + (size_t)at] = end;
        most = fmax(most, j->score[i]);
        memcpy(kept + (size_t)end++ * BERTH_JOINS_SIGHTS, j->sights + (size_t)i * BERTH_JOINS_SIGHTS,
               BERTH_JOINS_SIGHTS * sizeof *kept);
    }
    for (int32_t i = j->row_start[unit]; i < j->row_start[unit + 1]; i++)
        if (is_choice(j, unit, i)) sum += exp(j->score[i] - most);
    j->kept_log_p[slot] += (berth_real)(j->score[row] - most - log(sum));
    start[at + 1] = end;
    j->kept_n[slot]++;
    return true;
}

void berth_joins_reward(berth_joins *joins, const berth_parse_record *record, double advantage) {
    size_t slot = (size_t)joins->next;
    joins->kept_n[slot] = 0;
    joins->kept_log_p[slot] = 0;
    joins->kept_start[slot * (BERTH_JOINS_DRAWS + 1)] = 0;
    joins->advantage[slot] = (berth_real)advantage;
    for (int32_t i = 0; record && i < record->n; i++)
        if (!keep_draw(joins, record->unit[i], record->row[i])) break;
    joins->next = (joins->next + 1) % joins->window;
    if (joins->n_kept < joins->window) joins->n_kept++;
}

/* All groups one below the other: their rows by draws, their draws by group. The number of groups. */
static int32_t lay_out(berth_joins *j) {
    int32_t n_groups = 0, n_draws = 0, n_rows = 0;
    for (int32_t slot = 0; slot < j->n_kept; slot++) {
        const int32_t *start = j->kept_start + (size_t)slot * (BERTH_JOINS_DRAWS + 1);
        int32_t n = j->kept_n[slot];
        if (n == 0) continue;
        memcpy(j->rows + (size_t)n_rows * BERTH_JOINS_SIGHTS,
               j->kept + (size_t)slot * BERTH_JOINS_ROWS * BERTH_JOINS_SIGHTS,
               (size_t)start[n] * BERTH_JOINS_SIGHTS * sizeof *j->rows);
        j->group[n_groups] = n_draws;
        j->old_log_p[n_groups] = j->kept_log_p[slot];
        j->group_advantage[n_groups++] = j->advantage[slot];
        for (int32_t i = 0; i < n; i++, n_draws++) {
            j->segment[n_draws] = n_rows + start[i];
            j->picked[n_draws] = n_rows + j->kept_picked[(size_t)slot * BERTH_JOINS_DRAWS + (size_t)i];
        }
        n_rows += start[n];
    }
    j->segment[n_draws] = n_rows;
    j->group[n_groups] = n_draws;
    return n_groups;
}

berth_status berth_joins_backward(berth_joins *joins) {
    berth_joins *j = joins;
    berth_tape *t = j->tape;
    double clip = berth_settings_get(&j->policy->settings, BERTH_SET_CLIP);
    int32_t n = lay_out(j), n_draws = j->group[n];
    if (n == 0) return BERTH_OK;
    berth_matrix *log_p =
        berth_segment_log_softmax(t, score_rows(j, j->rows, j->segment[n_draws]), j->segment, n_draws);
    berth_matrix *of_group = berth_segment_sum(t, berth_gather(t, log_p, j->picked, n_draws), j->group, n);
    berth_matrix *change = berth_sub(t, of_group, berth_input(t, j->old_log_p, n, 1));
    berth_matrix *ratio = berth_exp(t, berth_clamp(t, change, -10, 10)); /* far from what could still be told apart */
    berth_matrix *advantage = berth_input(t, j->group_advantage, n, 1), *gain = berth_mul(t, ratio, advantage);
    if (clip > 0) gain = berth_min(t, gain, berth_mul(t, berth_clamp(t, ratio, 1 - clip, 1 + clip), advantage));
    berth_status status = berth_tape_backward(t, berth_scale(t, berth_mean(t, gain), -1));
    berth_tape_clear(t);
    return status;
}
