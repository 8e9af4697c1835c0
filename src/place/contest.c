/* SPDX-License-Identifier: Apache-2.0 */
/* The referee and the search, brought together. */
#include "place/contest.h"

#include "place/place.h"
#include "place/spread.h"

#include <math.h>

/* Every device with all that it can run, the rest on the host: as a runtime does that is told to use that device. What
 * the user has pinned or banned is not asked here: this is what he would have without any plan. */
static berth_status run_singles(berth_ctx *ctx, berth_contest *contest, const berth_contest_job *job) {
    berth_cost_options how = berth_cost_options_default();
    berth_costs *costs = NULL;
    berth_arena arena;
    how.profile = job->place->profile;
    BERTH_TRY(berth_costs_new(ctx, &costs, job->subject.graph, job->set, &how));
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    int32_t *task_device = berth_arena_push(&arena, (size_t)costs->n_tasks, sizeof *task_device);
    int32_t *op_device = berth_arena_push(&arena, (size_t)costs->n_ops, sizeof *op_device);
    berth_status status = arena.failed ? berth_fail_nomem(ctx) : BERTH_OK;
    for (int32_t d = 0; d < job->subject.n_devices && status == BERTH_OK; d++) {
        for (int32_t task = 0; task < costs->n_tasks; task++)
            task_device[task] =
                costs->time_ms[(size_t)task * (size_t)costs->n_devices + (size_t)d] < INFINITY ? d : costs->host;
        berth_spread(job->subject.graph, costs, task_device, op_device);
        status = berth_referee_run_single(&contest->referee, d, op_device);
    }
    berth_arena_deinit(&arena);
    berth_costs_free(costs);
    return status;
}

static berth_status search(berth_ctx *ctx, berth_contest *contest, const berth_contest_job *job) {
    berth_runner runner = {
        .run = berth_referee_run, .user = &contest->referee, .starts = job->starts, .n_starts = job->n_starts};
    berth_status status = berth_place_by(ctx, &contest->plan, job->subject.graph, job->set, job->place, &runner);
    const char *reason = berth_referee_reason(&contest->referee);
    bool in_vain = reason && contest->referee.tally.failed == contest->referee.tally.placements;
    if (in_vain && (status == BERTH_E_INFEASIBLE || status == BERTH_E_LIMIT))
        return berth_fail(ctx, BERTH_E_UNSUPPORTED, "it could be run neither on one device nor on several: %.700s",
                          reason);
    return status;
}

berth_status berth_contest_run(berth_ctx *ctx, berth_contest *contest, const berth_contest_job *job) {
    berth_run_options run = job->real->profile.run;
    *contest = (berth_contest){0};
    run.least_runs = job->real->least_runs;
    run.most_runs = job->real->most_runs;
    run.run_seconds = job->real->run_seconds;
    BERTH_TRY(berth_referee_init(&contest->referee, ctx, &job->subject, &run));
    BERTH_TRY(run_singles(ctx, contest, job));
    BERTH_TRY(search(ctx, contest, job));
    contest->single = berth_referee_best_single(&contest->referee, job->allowed);
    contest->n_splits =
        berth_referee_best_splits(&contest->referee, contest->single, contest->splits, BERTH_CONTEST_SPLITS);
    return BERTH_OK;
}

void berth_contest_free(berth_contest *contest) {
    berth_plan_free(contest->plan);
    berth_referee_deinit(&contest->referee);
}
