/* SPDX-License-Identifier: Apache-2.0 */
/* `hsdag`, the refinement policy: it looks at the current placement and its simulated schedule, draws proposals (a
 * group and a device, a place in the order), chooses one by a small network, tries it, and is paid for the improvement.
 *
 * A choice is kept as annealing keeps it: always if it is no worse, else with probability (ms / worse)^(1 / T), T
 * falling geometrically over the budget. The reward is the improvement of the logarithm of the makespan over the mean
 * change, at most 3 and at least 0; its advantage is against a running mean, over the running deviation. Every few
 * proposals the network learns from the last ones (chooser.h). No placement is tried twice, as far as it remembers.
 * With learning rate 0 it is the same search, choosing evenly: annealing among more proposals than are tried.
 *
 * The last part of the budget polishes: from the best placement, only what is no worse is kept. */
#include <math.h>

#include "learn/chooser.h"
#include "learn/joint.h"
#include "learn/proposal.h"
#include "learn/seeds.h"

enum { WEIGHTS_STREAM = 0x77656967 };

typedef struct refine {
    berth_search *search;
    berth_policy *policy;
    berth_arena arena;
    berth_stroll walk;
    berth_proposer proposer;
    berth_chooser chooser;
    berth_proposal *proposals; /* [n_proposals] */
    int32_t n_proposals;
    double hot, cold;        /* temperatures */
    double first_spent;      /* share of the budget that was spent before */
    double *mean, *variance; /* of rewards */
    bool is_polishing;
    berth_episode told; /* sums, until the end */
    int64_t n_tried, n_feasible, n_moved, n_groups;
} refine;

static double setting(const refine *r, berth_setting_id id) {
    return berth_settings_get(&r->policy->settings, id);
}

/* --- set-up ----------------------------------------------------------------------------------------------------- */

static berth_status adopt(refine *r) {
    berth_ctx *ctx = r->search->ctx;
    berth_params layout;
    bool fresh = false;
    berth_params_init(&layout, ctx);
    berth_chooser_declare(&layout, BERTH_SIGHT_COUNT, (int32_t)setting(r, BERTH_SET_HIDDEN));
    bool parses = (int)setting(r, BERTH_SET_GROUPING) == BERTH_GROUPING_PARSE;
    if (parses) berth_joins_declare(&layout);
    BERTH_TRY(berth_policy_adopt(ctx, r->policy, &layout, &fresh));
    if (!fresh) return BERTH_OK;
    berth_rng rng;
    berth_rng_init(&rng, r->search->rng.seed, WEIGHTS_STREAM);
    berth_chooser_reset(r->policy, &rng);
    if (parses) berth_joins_reset(r->policy, &rng);
    return BERTH_OK;
}

/* Temperatures are given for one unit: what a move changes goes with one over their number. */
static void set_temperatures(refine *r) {
    double n = r->walk.problem->n_units, of_one = (1 + 10 / n) / n;
    r->hot = setting(r, BERTH_SET_HOT) * of_one;
    r->cold = setting(r, BERTH_SET_COLD) * of_one;
}

/* The fewer evaluations there are, the more thought is given to each. */
static int32_t count_proposals(const refine *r) {
    static const double plenty = 2000, most_times = 8;
    double left = (double)berth_search_left(r->search), times = plenty / fmax(left, 1);
    return (int32_t)(setting(r, BERTH_SET_CANDIDATES) * fmin(fmax(times, 1), most_times));
}

static berth_status set_up(refine *r) {
    r->n_proposals = count_proposals(r);
    r->proposals = berth_arena_push(&r->arena, (size_t)r->n_proposals, sizeof *r->proposals);
    r->mean = berth_policy_number_at(r->policy, "reward.mean", 0);
    r->variance = berth_policy_number_at(r->policy, "reward.variance", 1);
    r->walk.source = BERTH_SOURCE_SAMPLE;
    r->first_spent = berth_search_spent(r->search);
    set_temperatures(r);
    BERTH_TRY(adopt(r));
    BERTH_TRY(berth_proposer_init(&r->proposer, &r->walk, r->policy, &r->arena));
    return berth_chooser_init(&r->chooser, r->search->ctx, r->policy, BERTH_SIGHT_COUNT, r->n_proposals, &r->arena);
}

/* --- the search ------------------------------------------------------------------------------------------------- */

/* How much of what was left at the start is spent, 0 to 1. */
static double progress(const refine *r) {
    double spent = berth_search_spent(r->search);
    return r->first_spent < 1 ? (spent - r->first_spent) / (1 - r->first_spent) : 1;
}

/* A draw may come to nothing, so that few are wanted but many tried. 0: there was nothing, or nothing `fresh`. */
static int32_t draw_some(refine *r, bool fresh) {
    berth_real *sight = berth_chooser_sights(&r->chooser);
    int32_t n = 0, most = 8 * r->n_proposals + 256;
    for (int32_t tries = 0; n < r->n_proposals && tries < most; tries++) {
        if (!berth_proposer_draw(&r->proposer, &r->proposals[n])) continue;
        if (fresh && berth_proposer_knows(&r->proposer, &r->proposals[n])) continue;
        berth_proposer_see(&r->proposer, &r->proposals[n], sight + (size_t)n * BERTH_SIGHT_COUNT);
        n++;
    }
    return n;
}

/* What was tried is not tried again: to undo a step that was kept although it was worse would look like an improvement,
 * be paid as one, and lead nowhere. Only a walk that is hemmed in by what it knows steps back. */
static int32_t draw_proposals(refine *r) {
    int32_t n = draw_some(r, true);
    return n > 0 || r->is_polishing ? n : draw_some(r, false);
}

static void reward(refine *r, const berth_proposal *proposal, double change) {
    static const double slowly = 0.98, most = 3, least = 1e-12;
    double paid = change < 0 ? fmin(-change / (r->proposer.mean_change + least), most) : 0;
    double advantage = paid - *r->mean;
    *r->mean = slowly * *r->mean + (1 - slowly) * paid;
    *r->variance = slowly * *r->variance + (1 - slowly) * advantage * advantage;
    advantage /= sqrt(*r->variance) + 1e-6;
    berth_chooser_reward(&r->chooser, advantage);
    if (r->proposer.may_parse) berth_joins_reward(&r->proposer.joins, &proposal->parse, advantage);
}

static bool is_kept(refine *r, double change, double done) {
    if (change <= 0) return true;
    if (r->is_polishing || !(change < INFINITY)) return false;
    double temperature = r->hot * pow(r->cold / r->hot, done);
    return berth_rng_uniform(r->walk.rng) < exp(-change / temperature);
}

static void note(refine *r, const berth_proposal *proposal, double ms) {
    r->n_tried++;
    r->told.entropy += r->chooser.entropy;
    if (proposal->kind == BERTH_PROPOSAL_MOVE) {
        r->n_moved += proposal->n_units;
        r->n_groups++;
    }
    if (!(ms < INFINITY)) return;
    r->told.mean_ms += ms;
    r->n_feasible++;
}

/* One proposal, tried. *ended: there is nothing to propose. */
static berth_status step(refine *r, double done, bool *ended) {
    static const double infeasible = 0.3, least = -10; /* what is not feasible counts as a change of so much */
    int32_t n = draw_proposals(r), picked;
    if (r->proposer.failed) return berth_fail_nomem(r->search->ctx);
    *ended = n == 0;
    if (*ended) return BERTH_OK;
    BERTH_TRY(berth_chooser_draw(&r->chooser, n, r->walk.rng, &picked));
    const berth_proposal *proposal = &r->proposals[picked];
    double before = r->walk.ms, ms = berth_proposer_try(&r->proposer, proposal), change = log(ms / before);
    if (r->search->is_masked) { /* it could not be run: nothing is known of it but that */
        berth_proposer_mask(&r->proposer);
        berth_stroll_drop(&r->walk);
        return BERTH_OK;
    }
    berth_proposer_note(&r->proposer, proposal, fmax(fmin(change, infeasible), least));
    note(r, proposal, ms);
    reward(r, proposal, change);
    if (is_kept(r, change, done)) {
        berth_stroll_keep(&r->walk);
        berth_proposer_look(&r->proposer);
    } else {
        berth_stroll_drop(&r->walk);
    }
    return BERTH_OK;
}

static berth_status learn(refine *r) {
    int32_t epochs = (int32_t)setting(r, BERTH_SET_EPOCHS);
    for (int32_t i = 0; i < epochs; i++) {
        berth_params_zero_grad(&r->policy->params);
        BERTH_TRY(berth_chooser_backward(&r->chooser));
        if (r->proposer.may_parse) BERTH_TRY(berth_joins_backward(&r->proposer.joins));
        BERTH_TRY(berth_policy_step(r->search->ctx, r->policy, NULL));
    }
    berth_joins_forget(&r->proposer.joins);
    return BERTH_OK;
}

static void polish(refine *r) {
    r->is_polishing = true;
    berth_stroll_offer(&r->walk);
    berth_stroll_return(&r->walk);
    r->walk.source = BERTH_SOURCE_POLISHED_SAMPLE;
    berth_proposer_look(&r->proposer);
}

static berth_status search(refine *r) {
    int32_t steps = (int32_t)setting(r, BERTH_SET_STEPS);
    double share = setting(r, BERTH_SET_POLISH);
    bool ended = false;
    berth_proposer_look(&r->proposer);
    for (int64_t n = 1; !ended && r->walk.ms > 0 && !berth_search_stop(r->search); n++) {
        double done = progress(r);
        if (!r->is_polishing && done >= 1 - share) {
            polish(r);
            continue;
        }
        BERTH_TRY(step(r, share < 1 ? fmin(done / (1 - share), 1) : 1, &ended));
        if (n % steps == 0 && setting(r, BERTH_SET_LEARNING_RATE) > 0) BERTH_TRY(learn(r));
    }
    berth_stroll_offer(&r->walk);
    return BERTH_OK;
}

static void tell(refine *r, double seconds) {
    const berth_learn *learn = r->search->learn;
    if (!learn || !learn->episode || r->n_tried == 0) return;
    r->told.mean_ms = r->n_feasible > 0 ? r->told.mean_ms / (double)r->n_feasible : r->search->best_ms;
    r->told.entropy /= (double)r->n_tried;
    r->told.clusters = r->walk.problem->n_units;
    if (r->n_moved > 0) r->told.clusters *= (double)r->n_groups / (double)r->n_moved;
    r->told.best_ms = r->search->best_ms;
    r->told.seconds = seconds;
    learn->episode(learn->user, &r->told);
}

static berth_status run(refine *r) {
    double started = berth_search_clock();
    bool has_start = false;
    BERTH_TRY(berth_learn_seeds(r->search, (int)setting(r, BERTH_SET_SEEDS)));
    BERTH_TRY(berth_stroll_init(&r->walk, r->search, "hsdag", &has_start));
    berth_status status = BERTH_OK;
    if (has_start) {
        status = set_up(r);
        if (status == BERTH_OK) status = search(r);
        if (status == BERTH_OK) tell(r, berth_search_clock() - started);
        berth_chooser_deinit(&r->chooser);
        berth_proposer_deinit(&r->proposer);
    }
    berth_stroll_deinit(&r->walk);
    return status;
}

static berth_status learn_refine(berth_search *search, berth_policy *policy) {
    refine r = {.search = search, .policy = policy};
    berth_arena_init(&r.arena, berth_ctx_allocator(search->ctx));
    berth_status status = run(&r);
    berth_arena_deinit(&r.arena);
    return status;
}

berth_status berth_learn_hsdag(berth_search *search) {
    berth_policy *policy;
    berth_status status = BERTH_OK;
    BERTH_TRY(berth_policy_begin(search, "hsdag", &policy));
    int design = (int)berth_settings_get(&policy->settings, BERTH_SET_DESIGN);
    if (design == BERTH_DESIGN_REFINE) status = learn_refine(search, policy);
    if (design == BERTH_DESIGN_JOINT) status = berth_learn_joint(search, policy);
    berth_policy_end(search, policy);
    return design == BERTH_DESIGN_FAITHFUL ? berth_learn_faithful(search, "hsdag") : status;
}
