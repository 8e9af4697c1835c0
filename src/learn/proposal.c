/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing proposals, and looking at them. They are drawn as annealing draws its moves (search/local_walk.c): around the
 * critical chain or anywhere, to the device of a neighbour or any. What is drawn is cheap and plenty; choosing is the
 * policy's business. */
#include "learn/proposal.h"

#include <math.h>

static const double order_share = 0.2, place_share = 0.5, swap_share = 0.33, group_share = 0.5;

berth_status berth_proposer_init(berth_proposer *proposer, berth_stroll *walk, berth_policy *policy,
                                 berth_arena *arena) {
    const berth_settings *settings = &policy->settings;
    size_t n = (size_t)walk->problem->n_units * (size_t)walk->costs->n_devices;
    double grow = berth_settings_get(settings, BERTH_SET_GROW);
    *proposer = (berth_proposer){
        .walk = walk,
        .grow = grow < BERTH_STROLL_UNITS ? (int32_t)grow : BERTH_STROLL_UNITS,
        .may_grow = berth_settings_get(settings, BERTH_SET_GROUPING) != BERTH_GROUPING_NONE,
        .may_parse = berth_settings_get(settings, BERTH_SET_GROUPING) == BERTH_GROUPING_PARSE,
        .may_order = walk->has_order && berth_settings_get(settings, BERTH_SET_ORDER) != 0,
        .critical = berth_settings_get(settings, BERTH_SET_CRITICAL),
    };
    proposer->tried = berth_arena_push(arena, n, sizeof *proposer->tried);
    proposer->last = berth_arena_push(arena, n, sizeof *proposer->last);
    proposer->tried_at = berth_arena_push(arena, n, sizeof *proposer->tried_at);
    proposer->seen = berth_arena_push(arena, BERTH_PROPOSAL_SEEN, sizeof *proposer->seen);
    BERTH_TRY(berth_shapes_init(&proposer->shapes, walk, arena));
    BERTH_TRY(berth_outlook_init(&proposer->outlook, walk, arena));
    if (!proposer->may_parse) return BERTH_OK;
    return berth_joins_init(&proposer->joins, walk, &proposer->outlook, policy, arena);
}

void berth_proposer_deinit(berth_proposer *proposer) {
    berth_outlook_deinit(&proposer->outlook);
    berth_joins_deinit(&proposer->joins);
}

/* --- remembering ------------------------------------------------------------------------------------------------ */

/* SplitMix64. */
static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_units(const int32_t *units, int32_t n, int32_t to) {
    uint64_t sum = 0; /* whatever their order */
    for (int32_t i = 0; i < n; i++) sum += scramble((uint64_t)units[i] * BERTH_MAX_DEVICES + (uint64_t)to + 1);
    return sum;
}

static int32_t task_at(const berth_proposer *p, int32_t place) {
    return place >= 0 && place < p->walk->costs->n_tasks ? p->walk->by_priority[place] : -1;
}

/* Two tasks one after the other in the order; -1 is before the first and after the last. */
static uint64_t hash_pair(int32_t one, int32_t next) {
    return scramble(((uint64_t)(uint32_t)one << 32 | (uint32_t)next) ^ UINT64_C(0x9e3779b97f4a7c15));
}

/* A placement is the sum over its units and over the pairs of its order, so that what a proposal leads to is known from
 * what it changes. */
static uint64_t hash_current(const berth_proposer *p) {
    uint64_t sum = 0;
    for (int32_t unit = 0; unit < p->walk->problem->n_units; unit++)
        sum += hash_units(&unit, 1, berth_stroll_device(p->walk, unit));
    for (int32_t i = 0; p->walk->has_order && i <= p->walk->costs->n_tasks; i++)
        sum += hash_pair(task_at(p, i - 1), task_at(p, i));
    return sum;
}

/* What changes in the order if a task is taken out and put in elsewhere. */
static uint64_t hash_shift(const berth_proposer *p, int32_t task, int32_t place) {
    int32_t old = p->walk->priority[task], left = task_at(p, old - 1), right = task_at(p, old + 1);
    if (place == old) return 0;
    int32_t before = task_at(p, place > old ? place : place - 1), after = task_at(p, place > old ? place + 1 : place);
    return hash_pair(left, right) - hash_pair(left, task) - hash_pair(task, right) + hash_pair(before, task) +
           hash_pair(task, after) - hash_pair(before, after);
}

/* Of the placement that a proposal leads to. */
static uint64_t hash(const berth_proposer *p, const berth_proposal *q) {
    int32_t here = berth_stroll_device(p->walk, q->units[0]);
    uint64_t sum = p->current;
    if (q->kind != BERTH_PROPOSAL_ORDER)
        sum += hash_units(q->units, q->n_units, q->to) - hash_units(q->units, q->n_units, here);
    if (q->kind == BERTH_PROPOSAL_SWAP)
        sum += hash_units(q->others, q->n_others, here) - hash_units(q->others, q->n_others, q->to);
    if (q->kind == BERTH_PROPOSAL_ORDER || q->kind == BERTH_PROPOSAL_PLACE) sum += hash_shift(p, q->task, q->place);
    return sum;
}

static uint64_t *place_of(const berth_proposer *p, uint64_t sum, uint64_t *key) {
    *key = scramble(sum) | 1; /* 0 is nothing */
    return &p->seen[*key / 2 % BERTH_PROPOSAL_SEEN];
}

static void remember(berth_proposer *p, uint64_t sum) {
    uint64_t key, *place = place_of(p, sum, &key);
    *place = key;
}

bool berth_proposer_knows(const berth_proposer *proposer, const berth_proposal *proposal) {
    uint64_t key, *place = place_of(proposer, hash(proposer, proposal), &key);
    return *place == key;
}

void berth_proposer_look(berth_proposer *proposer) {
    berth_outlook_read(&proposer->outlook);
    berth_joins_forget(&proposer->joins);
    proposer->state++;
    proposer->current = hash_current(proposer);
    remember(proposer, proposer->current);
}

/* --- drawing ---------------------------------------------------------------------------------------------------- */

static bool by_chance(berth_proposer *p, double share) {
    return berth_rng_uniform(p->walk->rng) < share;
}

static int32_t draw_below(berth_proposer *p, int32_t n) {
    return (int32_t)berth_rng_below(p->walk->rng, (uint32_t)n);
}

static int32_t draw_task(berth_proposer *p) {
    const berth_stroll *w = p->walk;
    if (w->n_critical > 0 && by_chance(p, p->critical)) return w->critical[draw_below(p, w->n_critical)];
    return draw_below(p, w->costs->n_tasks);
}

static int32_t draw_unit(berth_proposer *p) {
    return p->walk->problem->unit_of[draw_task(p)];
}

static bool draw_order(berth_proposer *p, berth_proposal *out) {
    enum { MOST_PASSED = 4 };
    int32_t task = draw_task(p), n = 1 + draw_below(p, MOST_PASSED);
    out->kind = BERTH_PROPOSAL_ORDER;
    out->task = task;
    out->to = p->walk->device[task];
    out->units[0] = p->walk->problem->unit_of[task];
    out->n_units = 1;
    out->place = berth_stroll_find_place(p->walk, task, out->to, n, by_chance(p, 0.5));
    return out->place != p->walk->priority[task];
}

static bool all_allow(const berth_problem *problem, const int32_t *units, int32_t n, int32_t d) {
    for (int32_t i = 0; i < n; i++)
        if (!berth_problem_allows(problem, units[i], d)) return false;
    return true;
}

static bool draw_swap(berth_proposer *p, berth_proposal *out) {
    enum { MOST_SWAPPED = 3 };
    const berth_problem *problem = p->walk->problem;
    int32_t one = draw_unit(p), other = draw_below(p, problem->n_units);
    int32_t here = berth_stroll_device(p->walk, one), there = berth_stroll_device(p->walk, other);
    if (here == there) return false;
    out->kind = BERTH_PROPOSAL_SWAP;
    out->to = there;
    out->n_units = berth_stroll_grow(p->walk, one, 1 + draw_below(p, p->may_grow ? MOST_SWAPPED : 1), out->units);
    out->n_others = berth_stroll_grow(p->walk, other, 1 + draw_below(p, p->may_grow ? MOST_SWAPPED : 1), out->others);
    return all_allow(problem, out->units, out->n_units, there) && all_allow(problem, out->others, out->n_others, here);
}

/* A group around a unit; its number. */
static int32_t draw_group(berth_proposer *p, int32_t unit, berth_proposal *out) {
    out->units[0] = unit;
    if (!p->may_grow || !by_chance(p, group_share)) return 1;
    if (p->may_parse) {
        int32_t n = berth_joins_draw(&p->joins, unit, BERTH_STROLL_UNITS, out->units, &out->parse);
        p->failed |= n == 0;
        return n;
    }
    return berth_shapes_grow(&p->shapes, unit, 1 + draw_below(p, p->grow), out->units);
}

static bool draw_move(berth_proposer *p, berth_proposal *out) {
    enum { MOST_PASSED = 3 };
    const berth_problem *problem = p->walk->problem;
    int32_t unit = draw_unit(p), n_kept = 0;
    out->kind = BERTH_PROPOSAL_MOVE;
    out->to = berth_stroll_draw_device(p->walk, unit);
    if (out->to < 0) return false;
    int32_t n = draw_group(p, unit, out);
    for (int32_t i = 0; i < n; i++)
        if (berth_problem_allows(problem, out->units[i], out->to)) out->units[n_kept++] = out->units[i];
    out->n_units = n_kept;
    if (n_kept == 0) return false;
    bool is_task = problem->unit_start[unit + 1] - problem->unit_start[unit] == 1;
    if (!p->may_order || n_kept > 1 || !is_task || !by_chance(p, place_share)) return true;
    out->kind = BERTH_PROPOSAL_PLACE;
    out->task = problem->unit_tasks[problem->unit_start[unit]];
    out->place =
        berth_stroll_find_place(p->walk, out->task, out->to, 1 + draw_below(p, MOST_PASSED), by_chance(p, 0.5));
    return true;
}

bool berth_proposer_draw(berth_proposer *proposer, berth_proposal *out) {
    out->parse.n = 0;
    if (proposer->may_order && by_chance(proposer, order_share)) return draw_order(proposer, out);
    if (proposer->walk->may_swap && by_chance(proposer, swap_share)) return draw_swap(proposer, out);
    return draw_move(proposer, out);
}

/* --- seeing ----------------------------------------------------------------------------------------------------- */

static berth_real within(double x, double most) {
    return (berth_real)(x > most ? most : x < -most ? -most : x);
}

/* A copy without a link takes for ever: that is far away, too. */
static berth_real soft(const berth_outlook *s, double ms) {
    static const double far_away = 10;
    return within(asinh(ms / s->scale), far_away);
}

static void see_guess(const berth_outlook *s, const berth_guess *g, berth_real *sight) {
    double shorter = s->ms * (1 - 1e-9) - g->path, tiny = 1e-9 * s->scale;
    bool is_shorter = shorter > 0 && g->path > 0;
    sight[BERTH_SIGHT_SIZE] = (berth_real)(log2(g->n_tasks) / 3);
    sight[BERTH_SIGHT_RATIO] = within(log((g->time + tiny) / (g->old_time + tiny)), 4);
    sight[BERTH_SIGHT_TIME] = soft(s, g->time - g->old_time);
    sight[BERTH_SIGHT_COPIES] = soft(s, g->copies);
    sight[BERTH_SIGHT_SUM] = soft(s, g->time - g->old_time + g->copies);
    sight[BERTH_SIGHT_DELAY] = soft(s, g->delay);
    sight[BERTH_SIGHT_PATH] = g->path > 0 ? soft(s, g->path - s->ms) : 0;
    sight[BERTH_SIGHT_SHORTER] = is_shorter;
    sight[BERTH_SIGHT_SLACK] = within(4 * g->slack / s->ms, 2);
    sight[BERTH_SIGHT_CRITICAL] = (berth_real)g->n_critical / (berth_real)g->n_tasks;
    sight[BERTH_SIGHT_HAS_CRITICAL] = g->n_critical > 0;
    sight[BERTH_SIGHT_PROMISE] = g->n_critical > 0 && is_shorter;
    sight[BERTH_SIGHT_CRITICAL_TIME] = soft(s, g->critical_time);
    sight[BERTH_SIGHT_WAIT] = soft(s, g->wait / g->n_tasks);
    sight[BERTH_SIGHT_BUSY] = (berth_real)g->busy;
    sight[BERTH_SIGHT_LATE] = soft(s, g->late);
    sight[BERTH_SIGHT_PUSH] = soft(s, g->push);
    if (g->n_near == 0) return;
    sight[BERTH_SIGHT_NEAR_THERE] = (berth_real)g->near_there / (berth_real)g->n_near;
    sight[BERTH_SIGHT_NEAR_HERE] = (berth_real)g->near_here / (berth_real)g->n_near;
}

/* Memory that is left on a device if so many bytes come to it, over its capacity. */
static double room_left(const berth_outlook *s, int32_t d, double bytes) {
    double capacity = s->costs->capacity[d];
    if (!(capacity > 0)) return bytes > 0 ? -1 : 1;
    return capacity < INFINITY ? (capacity - s->peak[d] - bytes) / capacity : 1;
}

static void see_memory(const berth_proposer *p, const berth_proposal *proposal, double bytes, berth_real *sight) {
    const berth_outlook *s = &p->outlook;
    int32_t here = berth_stroll_device(p->walk, proposal->units[0]);
    double room = room_left(s, proposal->to, bytes);
    if (proposal->kind == BERTH_PROPOSAL_SWAP) room = fmin(room, room_left(s, here, -bytes));
    sight[BERTH_SIGHT_ROOM] = within(5 * room, 3);
    sight[BERTH_SIGHT_FULL] = room < 0;
}

static size_t memory_of(const berth_proposer *p, const berth_proposal *proposal) {
    return (size_t)proposal->units[0] * (size_t)p->walk->costs->n_devices + (size_t)proposal->to;
}

void berth_proposer_see(berth_proposer *proposer, const berth_proposal *proposal, berth_real sight[BERTH_SIGHT_COUNT]) {
    berth_outlook *s = &proposer->outlook;
    int32_t here = berth_stroll_device(proposer->walk, proposal->units[0]);
    size_t at = memory_of(proposer, proposal);
    berth_guess guess, other;
    for (int i = 0; i < BERTH_SIGHT_COUNT; i++) sight[i] = 0;
    if (proposal->kind == BERTH_PROPOSAL_ORDER) {
        berth_outlook_guess_order(s, proposal->task, proposal->place, &guess);
        guess.busy = proposal->place > s->rank[proposal->task];
    } else {
        int32_t place = proposal->kind == BERTH_PROPOSAL_PLACE ? proposal->place : -1;
        berth_outlook_guess_move(s, proposal->units, proposal->n_units, proposal->to, place, &guess);
    }
    if (proposal->kind == BERTH_PROPOSAL_SWAP) {
        berth_outlook_guess_move(s, proposal->others, proposal->n_others, here, -1, &other);
        berth_guess_join(&guess, &other);
    }
    see_guess(s, &guess, sight);
    sight[BERTH_SIGHT_ONE] = 1;
    sight[BERTH_SIGHT_ORDER] = proposal->kind == BERTH_PROPOSAL_ORDER;
    sight[BERTH_SIGHT_PLACE] = proposal->kind == BERTH_PROPOSAL_PLACE;
    sight[BERTH_SIGHT_SWAP] = proposal->kind == BERTH_PROPOSAL_SWAP;
    sight[BERTH_SIGHT_LOAD_THERE] = within(s->load[proposal->to] / s->ms, 2);
    sight[BERTH_SIGHT_LOAD_HERE] = within(s->load[here] / s->ms, 2);
    sight[BERTH_SIGHT_TRIED] = (berth_real)log1p(proposer->tried[at]);
    sight[BERTH_SIGHT_LAST] = proposer->last[at];
    sight[BERTH_SIGHT_AGAIN] = proposer->tried_at[at] == proposer->state;
    if (proposer->walk->problem->memory_binds && proposal->kind != BERTH_PROPOSAL_ORDER)
        see_memory(proposer, proposal, guess.bytes, sight);
}

/* --- trying ----------------------------------------------------------------------------------------------------- */

double berth_proposer_try(berth_proposer *proposer, const berth_proposal *proposal) {
    const berth_proposal *q = proposal;
    proposer->tried_last = hash(proposer, q); /* of where it leads from here: the walk is elsewhere afterwards */
    switch (q->kind) {
    case BERTH_PROPOSAL_PLACE: return berth_stroll_try_at(proposer->walk, q->units[0], q->to, q->place);
    case BERTH_PROPOSAL_ORDER: return berth_stroll_try_order(proposer->walk, q->task, q->place);
    case BERTH_PROPOSAL_SWAP:
        return berth_stroll_try_swap(proposer->walk, q->units, q->n_units, q->others, q->n_others);
    case BERTH_PROPOSAL_MOVE: break;
    }
    return berth_stroll_try(proposer->walk, q->units, q->n_units, q->to);
}

void berth_proposer_mask(berth_proposer *proposer) {
    remember(proposer, proposer->tried_last);
}

void berth_proposer_note(berth_proposer *proposer, const berth_proposal *proposal, double change) {
    static const double slowly = 0.98;
    double size = fabs(change), mean = proposer->mean_change;
    size_t at = memory_of(proposer, proposal);
    proposer->mean_change = mean > 0 ? slowly * mean + (1 - slowly) * size : size;
    remember(proposer, proposer->tried_last);
    proposer->tried[at]++;
    proposer->tried_at[at] = proposer->state;
    proposer->last[at] = proposer->mean_change > 0 ? (float)within(change / proposer->mean_change, 3) : 0;
}
