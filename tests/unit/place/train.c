/* SPDX-License-Identifier: Apache-2.0 */
/* Training: equal arguments give equal files, however often it is interrupted; what diverges leaves the last good
 * state; what does not belong together is not resumed. */
#include "support.h"

#include "learn/policy.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { N_LESSONS = 3 };

typedef struct fixture {
    berth_ctx *ctx;
    berth_lesson lessons[N_LESSONS];
    berth_graph *graphs[N_LESSONS];
    berth_device_set *devices[N_LESSONS];
    char path[64];
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    for (int i = 0; i < N_LESSONS; i++) {
        berth_case item = {(berth_generated)i, 10 + 3 * i, 3, i == 2 ? BERTH_CASE_MEMORY : BERTH_CASE_CONCURRENT, 5};
        assert_int_equal(berth_case_generate(f.ctx, &f.graphs[i], &f.devices[i], &item), BERTH_OK);
        f.lessons[i] = (berth_lesson){.graph = f.graphs[i], .devices = f.devices[i]};
    }
    snprintf(f.path, sizeof f.path, "/tmp/berth-train-%ld.ckpt", (long)getpid());
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    for (int i = 0; i < N_LESSONS; i++) {
        berth_device_set_free(f->devices[i]);
        berth_graph_free(f->graphs[i]);
    }
    berth_ctx_free(f->ctx);
    return 0;
}

static berth_train_options options(const fixture *f, const char *method, int64_t episodes) {
    static const char *const ours[] = {"steps=4", "candidates=8"}, *const published[] = {"steps=4", "hidden=16"},
                             *const rnn[] = {"steps=4", "rnn_hidden=16"};
    berth_train_options how = berth_train_options_default();
    how.method = method;
    how.set = strcmp(method, "hsdag") == 0 ? ours : strcmp(method, "rnn") == 0 ? rnn : published;
    how.n_set = support_is_slow() ? 2 : 0;
    how.episodes = episodes;
    how.output = f->path;
    how.threads = 1;
    how.seed = 3;
    how.evaluations = strcmp(method, "hsdag") != 0 ? 0 : support_is_slow() ? 25 : 60;
    return how;
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 24);
    *size = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

static int64_t run(fixture *f, int32_t n, const berth_train_options *how) {
    berth_policy *policy = NULL;
    if (berth_train(f->ctx, &policy, f->lessons, n, how) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
    int64_t episodes = berth_policy_episodes(policy);
    berth_policy_free(policy);
    return episodes;
}

/* How many graphs a method can learn on with one network. */
static int32_t lessons_of(const char *method) {
    return strcmp(method, "hsdag") == 0 ? N_LESSONS : 1;
}

static void pieces_make_the_same_whole(void **state) {
    fixture *f = *state;
    for (int m = 0; berth_learned_method(m); m++) {
        const char *method = berth_learned_method(m);
        int32_t n = lessons_of(method);
        size_t size[3];
        char *bytes[3];
        for (int i = 0; i < 3; i++) {
            unlink(f->path);
            berth_train_options how = options(f, method, 7);
            how.threads = 1 + i;
            how.save_seconds = i == 2 ? 0 : 1000;
            if (i > 0) {
                how.resume = true;
                for (how.episodes = 1; how.episodes < 7; how.episodes += 1 + i)
                    assert_int_equal(run(f, n, &how), how.episodes);
                how.episodes = 7;
            }
            assert_int_equal(run(f, n, &how), 7);
            bytes[i] = read_file(f->path, &size[i]);
        }
        for (int i = 1; i < 3; i++) {
            assert_int_equal(size[0], size[i]);
            assert_memory_equal(bytes[0], bytes[i], size[0]);
        }
        for (int i = 0; i < 3; i++) free(bytes[i]);
    }
}

/* Another seed is another training. */
static void seeds_matter(void **state) {
    fixture *f = *state;
    size_t size[2];
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        berth_train_options how = options(f, "hsdag", 3);
        how.seed = (uint64_t)i;
        run(f, N_LESSONS, &how);
        bytes[i] = read_file(f->path, &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_not_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static bool cancel_later(void *user) {
    return --*(int *)user <= 0;
}

/* Cancelled at any moment, it keeps whole episodes; going on gives the same as never stopping. */
static void cancelling_loses_nothing(void **state) {
    fixture *f = *state;
    size_t size[2];
    berth_train_options how = options(f, "hsdag", 6);
    run(f, N_LESSONS, &how);
    char *whole = read_file(f->path, &size[0]);
    unlink(f->path);
    how.resume = true;
    int64_t done = 0;
    for (int patience = 1, tries = 0; done < 6 && tries < 2000; tries++, patience += 1 + patience / 8) {
        int left = patience;
        berth_ctx_set_cancel(f->ctx, cancel_later, &left);
        int64_t now = run(f, N_LESSONS, &how);
        assert_true(now >= done);
        done = now;
    }
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
    assert_int_equal(done, 6);
    char *pieces = read_file(f->path, &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(whole, pieces, size[0]);
    free(whole);
    free(pieces);
}

static void refuse(fixture *f, const berth_train_options *how, int32_t n, berth_status status, const char *fragment) {
    berth_policy *policy = NULL;
    assert_int_equal(berth_train(f->ctx, &policy, f->lessons, n, how), status);
    assert_null(policy);
    if (!strstr(berth_ctx_message(f->ctx), fragment)) fail_msg("%s", berth_ctx_message(f->ctx));
}

static void what_differs_is_not_resumed(void **state) {
    fixture *f = *state;
    const char *set = "learning_rate=0.5";
    berth_train_options how = options(f, "hsdag", 2), other;
    run(f, 2, &how);
    how.resume = true;
    how.episodes = 4;
    refuse(f, &how, 3, BERTH_E_ARG, "other graphs, devices or options");
    other = how;
    other.seed = 9;
    refuse(f, &other, 2, BERTH_E_ARG, "its seed is another");
    other = how;
    other.set = &set;
    other.n_set = 1;
    refuse(f, &other, 2, BERTH_E_ARG, "setting learning_rate is another");
    other = options(f, "rnn", 4);
    other.resume = true;
    refuse(f, &other, 2, BERTH_E_ARG, "policy of hsdag");
    other = how;
    other.evaluations = 61;
    refuse(f, &other, 2, BERTH_E_ARG, "other graphs, devices or options");
    other = how;
    other.piece_ms = 3;
    refuse(f, &other, 2, BERTH_E_ARG, "other graphs, devices or options");
    assert_int_equal(run(f, 2, &how), 4);
    FILE *file = fopen(f->path, "w");
    fputs("no policy", file);
    fclose(file);
    refuse(f, &how, 2, BERTH_E_FORMAT, "no policy of berth");
}

static void nonsense_is_refused(void **state) {
    fixture *f = *state;
    berth_train_options how = options(f, "heft", 2);
    refuse(f, &how, 1, BERTH_E_ARG, "not a method that learns");
    how = options(f, "hsdag", 2);
    refuse(f, &how, 0, BERTH_E_ARG, "nothing to learn on");
    how.episodes = -1;
    refuse(f, &how, 1, BERTH_E_ARG, "must be positive");
    how = options(f, "hsdag", 2);
    how.output = "/nowhere/policy.ckpt";
    refuse(f, &how, 1, BERTH_E_IO, "/nowhere");
}

/* A policy of another training is where this one starts; its history is not this one's. */
static void starts_from_another(void **state) {
    fixture *f = *state;
    char first[80];
    size_t size[2];
    snprintf(first, sizeof first, "%s.first", f->path);
    berth_train_options how = options(f, "hsdag", 2);
    how.output = first;
    run(f, 1, &how);
    how = options(f, "hsdag", 1);
    run(f, N_LESSONS, &how);
    char *fresh = read_file(f->path, &size[0]);
    how.policy = first;
    assert_int_equal(run(f, N_LESSONS, &how), 1);
    char *second = read_file(f->path, &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_not_equal(fresh, second, size[0]);
    how.method = "rnn";
    refuse(f, &how, 1, BERTH_E_ARG, "policy of hsdag");
    free(fresh);
    free(second);
    unlink(first);
}

/* Weights at which everything blows up: said, and the file has the state before that. */
static void divergence_keeps_the_last_good_state(void **state) {
    fixture *f = *state;
    for (int m = 0; berth_learned_method(m); m++) {
        const char *method = berth_learned_method(m);
        berth_train_options how = options(f, method, 2);
        berth_policy *policy = NULL;
        unlink(f->path);
        run(f, 1, &how);
        assert_int_equal(berth_policy_load(f->ctx, &policy, f->path), BERTH_OK);
        for (size_t i = 0; i < policy->params.n; i++) policy->params.value[i] *= 1e30F;
        assert_int_equal(berth_policy_save(f->ctx, policy, f->path), BERTH_OK);
        berth_policy_free(policy);
        how.resume = true;
        how.episodes = 5;
        refuse(f, &how, 1, BERTH_E_NUMERIC, "episode 3: ");
        if (berth_policy_load(f->ctx, &policy, f->path) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
        assert_int_equal(berth_policy_episodes(policy), 2);
        berth_policy_free(policy);
    }
}

static void every_lesson_has_its_turn(void **state) {
    (void)state;
    int moved = 0;
    for (int64_t round = 0; round < 5; round++) {
        int seen[7] = {0};
        for (int i = 0; i < 7; i++) {
            int32_t lesson = berth_train_lesson(11, 7, 7 * round + i);
            assert_true(lesson >= 0 && lesson < 7);
            seen[lesson]++;
            moved += lesson != i;
        }
        for (int i = 0; i < 7; i++) assert_int_equal(seen[i], 1);
    }
    assert_true(moved > 10);
    assert_int_equal(berth_train_lesson(1, 5000, 5003), 3);
}

typedef struct seen {
    int64_t n;
    double seconds;
} seen;

static void count(void *user, const berth_train_progress *p) {
    seen *s = user;
    assert_int_equal(p->episode, ++s->n);
    assert_int_equal(p->episodes, 4);
    assert_true(p->seconds >= s->seconds && p->last->best_ms > 0 && p->last->best_ms <= p->last->mean_ms);
    s->seconds = p->seconds;
}

static void history_is_kept(void **state) {
    fixture *f = *state;
    seen s = {0};
    berth_policy *policy = NULL;
    berth_train_options how = options(f, "hsdag:code", 4);
    how.n_set = 0;
    how.train = count;
    how.train_user = &s;
    assert_int_equal(berth_train(f->ctx, &policy, f->lessons, 1, &how), BERTH_OK);
    assert_int_equal(s.n, 4);
    assert_int_equal(berth_policy_episodes(policy), 4);
    assert_true(berth_policy_size(policy) > 100000);
    for (int i = 0; i < 4; i++) {
        const berth_episode *row = berth_policy_episode(policy, i);
        assert_true(row->clusters >= 1 && row->entropy > 0 && row->seconds > 0);
    }
    berth_policy_free(policy);
}

static berth_status train(berth_ctx *ctx, void *user) {
    berth_case item = {BERTH_GENERATED_LAYERS, 8, 2, BERTH_CASE_CONCURRENT, 5};
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_policy *policy = NULL;
    berth_status status = berth_case_generate(ctx, &graph, &devices, &item);
    berth_lesson lesson = {.graph = graph, .devices = devices};
    const char *set = "candidates=8";
    berth_train_options how = berth_train_options_default();
    how.set = &set;
    how.n_set = 1;
    how.output = user;
    how.episodes = 2;
    how.evaluations = 40;
    how.threads = 1;
    unlink(how.output);
    if (status == BERTH_OK) status = berth_train(ctx, &policy, &lesson, 1, &how);
    berth_policy_free(policy);
    how.resume = true;
    how.episodes = 3;
    if (status == BERTH_OK) status = berth_train(ctx, &policy, &lesson, 1, &how);
    if (status == BERTH_OK) berth_policy_free(policy);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static void ladder(void **state) {
    fixture *f = *state;
    support_ladder(train, f->path, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_make_the_same_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seeds_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelling_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_differs_is_not_resumed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(starts_from_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(divergence_keeps_the_last_good_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(history_is_kept, set_up, tear_down),
        cmocka_unit_test(every_lesson_has_its_turn),
        cmocka_unit_test_setup_teardown(ladder, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("place.train", tests, NULL, NULL);
}
