/* SPDX-License-Identifier: Apache-2.0 */
/* Three devices of OpenVINO, with a worker that answers what the test wants: profiles and the closed loop. */
#include "berth/real.h"

#include "faked.h"

enum { THIRD = 4 }; /* the third device is best for so many operations, and for no others */

static const char *const three[] = {"CPU0", "CPU1:bf16", "NPU"};

static berth_profile_options quick_profile(void) {
    berth_profile_options how = berth_profile_options_default();
    how.processes = 1;
    how.placements = 10;
    how.run.rounds = 1;
    how.run.least_runs = how.run.most_runs = 3;
    return how;
}

static berth_profile *take_profile(faked *f, const char *words) {
    berth_profile_options how = quick_profile();
    berth_profile *profile = NULL;
    how.held_out = 10;
    faked_say(words);
    faked_forget(f);
    if (berth_profile_take(f->ctx, &profile, f->runtime, f->graph, f->model, three, 3, &how) != BERTH_OK)
        fail_msg("%s: %s", words, berth_ctx_message(f->ctx));
    return profile;
}

static double time_of(const berth_profile *p, int32_t op, int32_t d) {
    return p->op_ms[3 * op + d];
}

/* Runs use all of them, and each operation is fastest where it is. */
static void times_are_found(void **state) {
    berth_profile *p = take_profile(*state, "");
    int32_t used[3] = {0, 0, 0};
    assert_true(p->n_devices == 3 && p->n_runs == 3 + 2 * 10 + 10);
    for (int32_t i = 3; i < p->n_runs; i++)
        for (int d = 0; d < 3; d++) used[d] += strchr(p->runs[i].placement, '0' + d) != NULL;
    for (int d = 0; d < 3; d++) assert_true(used[d] >= 8);
    if (!(p->mean_error < 0.05 && p->rank_correlation > 0.95))
        fail_msg("off by %.2f %%, rank correlation %.4f", 100 * p->mean_error, p->rank_correlation);
    for (int32_t op = 1; op < p->n_ops; op++) { /* the first has what every run takes */
        int32_t best = op < THIRD ? 2 : op < FAKED_BLOCK ? 1 : 0;
        for (int32_t d = 0; d < 3; d++)
            if (d != best) assert_true(time_of(p, op, d) > 2 * time_of(p, op, best));
    }
    const berth_link *links = p->devices->links; /* between two others by way of the host */
    assert_true(fabs(links[1 * 3 + 2].fixed_ms - links[1 * 3].fixed_ms - links[2].fixed_ms) < 1e-12);
    assert_true(fabs(links[2 * 3 + 1].ms_per_byte - links[2 * 3].ms_per_byte - links[1].ms_per_byte) < 1e-12);
    assert_true(p->fit.scale[0] > 0.5 && p->fit.scale[1] > 0.5 && p->fit.scale[2] > 0.5);
    berth_profile_free(p);
}

/* A runtime model without operations, as NPU's: nothing is free there; pieces tell what it takes. */
static void a_silent_device(void **state) {
    berth_profile *p = take_profile(*state, "quiet");
    double cheap = 0, dear = 0;
    for (int32_t op = 0; op < p->n_ops; op++) {
        assert_true(isfinite(time_of(p, op, 1)) && isfinite(time_of(p, op, 2)));
        *(op < THIRD ? &cheap : &dear) += time_of(p, op, 2);
    }
    assert_true(cheap > 0.2 && cheap < 10 && dear > 50); /* they take 1 ms and 72 ms */
    berth_profile_free(p);
}

static void all_three_are_used(void **state) {
    faked *f = *state;
    berth_real_options options = berth_real_options_default();
    options.place.seconds = 30;
    options.place.threads = 1;
    options.place.evaluations = 2000;
    options.profile = quick_profile();
    static const char *const words[] = {"", "noise=0.02", "quiet"};
    for (int i = 0; i < 3 && (i == 0 || support_is_optimised()); i++) {
        berth_real_plan *real = NULL;
        faked_say(words[i]);
        faked_forget(f);
        assert_int_equal(berth_place_real(f->ctx, &real, f->runtime, f->graph, f->model, three, 3, &options), BERTH_OK);
        if (!real->is_split) fail_msg("%s: %s", words[i], real->verdict);
        for (int32_t op = 0; op < 2 * FAKED_BLOCK && i < 2; op++)
            if (op != FAKED_BLOCK - 1 && op != FAKED_BLOCK) /* these may be fused, and take the same on both */
                assert_int_equal(real->plan->ops[op].device, op < THIRD ? 2 : op < FAKED_BLOCK ? 1 : 0);
        assert_true(real->measured->n_singles == 3 && real->measured->outputs.equal);
        assert_true(real->measured->gain_low > 0.5); /* 14 to 17 ms, and the best alone 40 ms */
        berth_real_plan_free(real);
    }
}

/* Memory of a device that the placement uses, not of the first in the list. */
static void the_one_that_is_short(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, three, 1);
    for (int32_t op = 0; op < 2 * FAKED_BLOCK; op++) m.placement->device[op] = op < THIRD ? 2 : 0;
    faked_say("room=2");
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, three, 3, m.placement, &m.how),
                     BERTH_OK);
    assert_non_null(m.out->plan.out_of_memory);
    assert_string_equal(m.out->plan.out_of_memory, "NPU");
    faked_case_close(&m);
}

/* What there is no time for is left out, told, and not taken for a good fit. */
static void time_is_kept(void **state) {
    faked *f = *state;
    static const char *const words[] = {"slow=0.05", "slow=0.05 quiet"};
    for (int i = 0; i < 2; i++) {
        berth_profile_options how = quick_profile();
        berth_profile *p = NULL;
        how.run.rounds = 2;
        how.run.seconds = 0.5;
        faked_say(words[i]);
        faked_forget(f);
        assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, three, 3, &how), BERTH_OK);
        assert_true(p->n_wanted == 20 && p->n_left_out > 0 && p->n_runs == 3 + p->n_wanted - p->n_left_out);
        /* stock sessions do not count beside placements of the same, and as many runs as devices fit in any case */
        assert_true(isnan(p->mean_error) == (p->n_runs <= 2 * 3));
        assert_true(isnan(p->rank_correlation) == (p->n_runs <= 2 * 3));
        /* what must be run in any case, and one more: profiles, single devices twice, also beside pieces */
        if (!support_is_slow()) assert_true(faked_jobs(f, NULL) <= (i ? 22 : 16));
        berth_profile_free(p);
    }
}

/* One that is forced onto two of the three stays off the third. */
static void bans_hold(void **state) {
    faked *f = *state;
    static const berth_rule bans[] = {{"MatMul", "NPU"}, {"Relu", "CPU0"}};
    berth_limits limits = {.bans = bans, .n_bans = 2};
    berth_real_options options = berth_real_options_default();
    berth_real_plan *real = NULL;
    options.place.seconds = 30;
    options.place.threads = 1;
    options.place.evaluations = 2000;
    options.place.limits = &limits;
    options.profile = quick_profile();
    faked_say("");
    assert_int_equal(berth_place_real(f->ctx, &real, f->runtime, f->graph, f->model, three, 3, &options), BERTH_OK);
    for (int32_t op = 0; op < 2 * FAKED_BLOCK; op++)
        assert_int_not_equal(real->plan->ops[op].device, op < FAKED_BLOCK ? 2 : 0);
    berth_real_plan_free(real);
}

static void too_many(void **state) {
    faked *f = *state;
    static const char *const nine[] = {"CPU0", "CPU1", "CPU2", "CPU3", "CPU4", "CPU5", "CPU6", "CPU7", "CPU8"};
    berth_profile_options how = quick_profile();
    berth_profile *p = NULL;
    assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, nine, 9, &how), BERTH_E_INFEASIBLE);
    assert_null(p);
    assert_int_equal(faked_jobs(f, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_are_found, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(a_silent_device, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(all_three_are_used, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(bans_hold, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(the_one_that_is_short, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(time_is_kept, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(too_many, faked_open_ov, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
