/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of processes with a worker that answers what the test wants: turns, failures, intervals, gains. */
#include "runtime/trial.h"

#include "faked.h"
#include "runtime/model.h"
#include "runtime/stats.h"

enum { N = 3, ROUNDS = 6 };

typedef struct turns {
    const char *label[N * ROUNDS * 4];
    int n, of;
} turns;

static void note(void *user, const char *label, int32_t done, int32_t of) {
    turns *t = user;
    assert_int_equal(done, t->n + 1);
    t->label[t->n++] = label;
    t->of = of;
}

typedef struct running {
    berth_run_model model;
    berth_candidate candidates[N]; /* cpu, other, split */
    berth_trial_options how;
    berth_trial_result results[N];
    turns turns;
} running;

/* The first half of the operations there. */
static void place_half(faked *f, running *r, berth_candidate *out) {
    int32_t device[2 * FAKED_BLOCK] = {0};
    for (int i = 0; i < FAKED_BLOCK; i++) device[i] = 1;
    assert_int_equal(berth_run_model_place(&r->model, faked_devices, 2, device, "split", out), BERTH_OK);
    (void)f;
}

static void open_trial(faked *f, running *r) {
    berth_run_options options = berth_run_options_default();
    memset(r, 0, sizeof *r);
    assert_int_equal(berth_run_model_init(&r->model, f->ctx, f->runtime, f->graph, f->model, &options), BERTH_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(berth_run_model_single(&r->model, faked_devices[i], &r->candidates[i]), BERTH_OK);
    place_half(f, r, &r->candidates[2]);
    r->how = (berth_trial_options){.inputs = r->model.inputs,
                                   .n_inputs = r->model.n_inputs,
                                   .rounds = ROUNDS,
                                   .least_runs = 3,
                                   .most_runs = 5,
                                   .run_seconds = 1,
                                   .until = INFINITY,
                                   .seed = 1,
                                   .folder = r->model.scratch,
                                   .progress = note,
                                   .progress_user = &r->turns};
    faked_forget(f);
}

static void run_trial(faked *f, running *r, const char *how) {
    faked_say(how);
    r->turns.n = 0;
    faked_forget(f);
    assert_int_equal(berth_trial_run(f->ctx, &r->model.arena, f->runtime, r->candidates, N, &r->how, r->results),
                     BERTH_OK);
}

static void times_are_those_of_the_worker(void **state) {
    faked *f = *state;
    running r;
    open_trial(f, &r);
    run_trial(f, &r, "");
    const double wanted[N] = {f->cpu_ms, f->other_ms, f->split_ms};
    for (int i = 0; i < N; i++) {
        const berth_latency *l = &r.results[i].latency;
        assert_int_equal(r.results[i].status, BERTH_OK);
        assert_true(r.results[i].n_rounds == ROUNDS && l->runs == 3 * ROUNDS);
        assert_true(fabs(l->median_ms / wanted[i] - 1.001) < 1e-9); /* the second of three, each a little slower */
        for (int k = 0; k < ROUNDS; k++) assert_true(fabs(r.results[i].round_ms[k] / wanted[i] - 1.001) < 1e-9);
        assert_true(l->low_ms <= l->median_ms && l->median_ms <= l->high_ms && l->p95_ms <= l->p99_ms);
        assert_true(l->load_ms == 3 && fabs(l->first_ms - 2 * wanted[i]) < 1e-9 && l->peak_bytes > 0);
        assert_int_equal(r.results[i].n_outputs, 1);
        assert_true(isnan(l->device_peak_bytes)); /* never made up */
    }
    assert_string_equal(berth_runtime_version(f->runtime), "1.99.0");
    berth_difference difference;
    assert_int_equal(berth_trial_compare(f->ctx, &r.model.arena, f->graph, &r.results[2], &r.results[0],
                                         BERTH_TYPE_UNKNOWN, NULL, &difference),
                     BERTH_OK);
    assert_true(difference.equal && difference.max_abs == 0 && difference.cosine > 0.999);
    berth_run_model_deinit(&r.model);
}

/* The most over all processes, where the runtime says; nothing for one without such a device. */
static void memory_is_what_the_device_says(void **state) {
    faked *f = *state;
    running r;
    open_trial(f, &r);
    run_trial(f, &r, "counts");
    assert_true(isnan(r.results[0].latency.device_peak_bytes));
    for (int i = 1; i < N; i++) assert_true(r.results[i].latency.device_peak_bytes == 1000 + ROUNDS - 1);
    berth_run_model_deinit(&r.model);
}

/* Everyone has a turn in every round; the order changes from round to round, and only by the seed. */
static void turns_are_drawn(void **state) {
    faked *f = *state;
    running r;
    char order[4][N * ROUNDS + 1];
    open_trial(f, &r);
    for (int t = 0; t < 4; t++) {
        r.how.seed = t < 2 ? 11 : 10 + (uint64_t)t;
        run_trial(f, &r, "");
        assert_true(r.turns.n == N * ROUNDS && r.turns.of == N * ROUNDS);
        for (int i = 0; i < r.turns.n; i++) order[t][i] = r.turns.label[i][0];
        order[t][N * ROUNDS] = 0;
        for (int round = 0; round < ROUNDS; round++) {
            const char *turn = order[t] + (size_t)round * N;
            assert_true(memchr(turn, 'c', N) && memchr(turn, 'w', N) && memchr(turn, 's', N));
        }
    }
    assert_string_equal(order[0], order[1]);
    assert_true(strcmp(order[0], order[2]) != 0 || strcmp(order[0], order[3]) != 0);
    int changes = 0;
    for (int round = 1; round < ROUNDS; round++)
        changes += memcmp(order[0] + (size_t)round * N, order[0] + (size_t)(round - 1) * N, N) != 0;
    assert_true(changes > 0);
    berth_run_model_deinit(&r.model);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One whose two fastest processes are far apart has more turns, until they are not or there are no more; what it takes
 * undisturbed is what those two say. */
static void disagreement_is_settled(void **state) {
    static const double agreement = 0.02;
    faked *f = *state;
    running r;
    int32_t n_more = 0;
    open_trial(f, &r);
    r.how.rounds = 2;
    r.how.more_rounds = 3;
    run_trial(f, &r, "");
    for (int i = 0; i < N; i++) assert_true(r.results[i].n_rounds == 2 && r.results[i].unrest == 0);
    assert_int_equal(r.turns.n, 2 * N);
    run_trial(f, &r, "noise=0.5");
    for (int i = 0; i < N; i++) {
        const berth_trial_result *result = &r.results[i];
        double ms[5];
        assert_in_range(result->n_rounds, 2, 5);
        for (int32_t n = 2; n <= result->n_rounds; n++) {
            memcpy(ms, result->round_ms, (size_t)n * sizeof *ms);
            qsort(ms, (size_t)n, sizeof *ms, compare_doubles);
            assert_true(n == result->n_rounds || ms[1] / ms[0] - 1 > agreement); /* or it would have ended there */
        }
        assert_true(result->n_rounds == 5 || result->unrest <= agreement);
        assert_true(fabs(result->steady_ms - (ms[0] + ms[1]) / 2) < 1e-12);
        assert_true(fabs(result->unrest - (ms[1] / ms[0] - 1)) < 1e-12);
        n_more += result->n_rounds - 2;
    }
    assert_true(n_more > 0 && r.turns.n == 2 * N + n_more && r.turns.of == r.turns.n);
    r.how.until = 0; /* no time for more */
    run_trial(f, &r, "noise=0.5");
    for (int i = 0; i < N; i++) {
        assert_int_equal(r.results[i].n_rounds, 1);
        assert_true(r.results[i].steady_ms == r.results[i].round_ms[0] && r.results[i].unrest == 0);
    }
    berth_run_model_deinit(&r.model);
}

/* However one fails, the others have all their turns, and it has no more. */
static void one_fails(void **state) {
    faked *f = *state;
    static const struct {
        const char *how, *fragment;
        berth_status status;
        int32_t rounds;
    } cases[] = {
        {"crash=split", "signal 11", BERTH_E_IO, 0},
        {"crash=split@2", "signal 11", BERTH_E_IO, 2},
        {"hang=split@1", "took longer than its 3 s", BERTH_E_LIMIT, 1},
        {"silent=split", "ended with status 0", BERTH_E_IO, 0},
        {"garbage=split", "answer of the worker", BERTH_E_FORMAT, 0},
        {"fail=split@3", "the runtime says no", BERTH_E_UNSUPPORTED, 3},
        {"many=split", "500 runs", BERTH_E_FORMAT, 0},
        {"none=split@1", "0 runs", BERTH_E_FORMAT, 1},
        {"negative=split@1", "took -", BERTH_E_FORMAT, 1},
    };
    running r;
    open_trial(f, &r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->runtime->worker.seconds = strstr(cases[i].how, "hang") ? 3 : 60;
        run_trial(f, &r, cases[i].how);
        const berth_trial_result *bad = &r.results[2];
        if (bad->status != cases[i].status || !strstr(bad->reason, cases[i].fragment))
            fail_msg("%s: %d, %s", cases[i].how, bad->status, bad->reason);
        assert_null(strchr(bad->reason, '\n'));
        assert_int_equal(bad->n_rounds, cases[i].rounds);
        assert_int_equal(faked_jobs(f, "split"), cases[i].rounds + 1);
        for (int k = 0; k < 2; k++)
            assert_true(r.results[k].status == BERTH_OK && r.results[k].n_rounds == ROUNDS && !*r.results[k].reason);
    }
    berth_run_model_deinit(&r.model);
}

static bool always(void *user) {
    (void)user;
    return true;
}

static void time_is_up(void **state) {
    faked *f = *state;
    running r;
    open_trial(f, &r);
    r.how.until = berth_trial_clock() - 1;
    run_trial(f, &r, "");
    for (int i = 0; i < N; i++) assert_int_equal(r.results[i].n_rounds, 1);
    r.how.spare_from = 2;
    run_trial(f, &r, "");
    for (int i = 0; i < N; i++) {
        assert_int_equal(r.results[i].n_rounds, i < 2);
        assert_true(r.results[i].status == BERTH_OK && (r.results[i].latency.runs > 0) == (i < 2));
    }
    r.how.spare_from = 0;
    r.how.until = INFINITY;
    berth_ctx_set_cancel(f->ctx, always, NULL);
    assert_int_equal(berth_trial_run(f->ctx, &r.model.arena, f->runtime, r.candidates, N, &r.how, r.results),
                     BERTH_E_CANCELLED);
    berth_run_model_deinit(&r.model);
}

static void outputs_differ(void **state) {
    faked *f = *state;
    running r;
    berth_difference difference;
    open_trial(f, &r);
    r.how.rounds = 1;
    run_trial(f, &r, "differ=split");
    assert_int_equal(berth_trial_compare(f->ctx, &r.model.arena, f->graph, &r.results[2], &r.results[0],
                                         BERTH_TYPE_UNKNOWN, NULL, &difference),
                     BERTH_OK);
    assert_true(!difference.equal && fabs(difference.max_abs - 1) < 1e-6 && fabs(difference.max_rel - 2) < 1e-6);
    run_trial(f, &r, "shape=split");
    assert_int_equal(berth_trial_compare(f->ctx, &r.model.arena, f->graph, &r.results[2], &r.results[0],
                                         BERTH_TYPE_UNKNOWN, NULL, &difference),
                     BERTH_E_NUMERIC);
    berth_run_model_deinit(&r.model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_are_those_of_the_worker, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(memory_is_what_the_device_says, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(turns_are_drawn, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(disagreement_is_settled, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(one_fails, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(time_is_up, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(outputs_differ, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
