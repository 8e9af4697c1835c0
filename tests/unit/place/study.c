/* SPDX-License-Identifier: Apache-2.0 */
/* Studies: runs are made once, whatever happens to the file; parts make the whole; ratios and verdicts follow from the
 * lines, by numbers that are added up again here. */
#include "support.h"

#include "place/study.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    char path[64], other[64];
    const char *results[2];
    berth_study_options how;
} fixture;

static const char *const cases[] = {"layers/4/serial", "transformer/4/serial"};
static const char *const arms[] = {"greedy", "seeds + local", "random"};

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    snprintf(f.path, sizeof f.path, "/tmp/berth-study-%ld.jsonl", (long)getpid());
    snprintf(f.other, sizeof f.other, "/tmp/berth-study-%ld-2.jsonl", (long)getpid());
    f.results[0] = f.path;
    f.results[1] = f.other;
    f.how = berth_study_options_default();
    f.how.results = f.results;
    f.how.n_results = 1;
    f.how.models = support_source("models");
    f.how.cases = cases;
    f.how.n_cases = 2;
    f.how.arms = arms;
    f.how.n_arms = 3;
    f.how.n_seeds = 2;
    f.how.evaluations = 60;
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    unlink(f->other);
    berth_ctx_free(f->ctx);
    return 0;
}

static int count_lines(const char *path) {
    FILE *file = fopen(path, "r");
    int n = 0;
    for (int c; file && (c = fgetc(file)) != EOF;) n += c == '\n';
    if (file) fclose(file);
    return n;
}

static void append(const char *path, const char *text) {
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void run(fixture *f) {
    if (berth_study_run(f->ctx, &f->how) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
}

static void runs_are_made_once(void **state) {
    fixture *f = *state;
    const int n = 2 * (1 + 2 + 2); /* greedy draws nothing at random */
    run(f);
    assert_int_equal(count_lines(f->path), n);
    run(f);
    assert_int_equal(count_lines(f->path), n);
    /* Cut the last line short, as whoever was killed did: that run is made again, and the rest is not lost. */
    FILE *file = fopen(f->path, "r+");
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftruncate(fileno(file), ftell(file) - 40), 0);
    fclose(file);
    run(f);
    assert_int_equal(count_lines(f->path), n + 1);
    run(f);
    assert_int_equal(count_lines(f->path), n + 1);
    /* What is in another file counts too; what has another budget does not. */
    assert_int_equal(rename(f->path, f->other), 0);
    f->how.n_results = 2;
    run(f);
    assert_int_equal(count_lines(f->path), 0);
    f->how.evaluations = 61;
    run(f);
    assert_int_equal(count_lines(f->path), n);
}

static void parts_make_the_whole(void **state) {
    fixture *f = *state;
    berth_study_rows whole, parts;
    f->how.n_parts = 3;
    for (f->how.part = 0; f->how.part < 3; f->how.part++) run(f);
    f->how.part = 0;
    f->how.n_parts = 1;
    assert_int_equal(berth_study_rows_read(f->ctx, &parts, &f->how), BERTH_OK);
    int n = count_lines(f->path);
    run(f); /* nothing is missing */
    assert_int_equal(count_lines(f->path), n);
    unlink(f->path);
    run(f);
    assert_int_equal(berth_study_rows_read(f->ctx, &whole, &f->how), BERTH_OK);
    assert_int_equal(whole.n_rows, parts.n_rows);
    for (int32_t item = 0; item < whole.n_cases; item++)
        for (int32_t arm = 0; arm < whole.n_arms; arm++)
            for (int32_t seed = 0; seed < 2; seed++) {
                const berth_study_row *a = berth_study_rows_at(&whole, "learn", item, arm, seed);
                const berth_study_row *b = berth_study_rows_at(&parts, "learn", item, arm, seed);
                assert_true((a != NULL) == (b != NULL));
                if (!a) continue;
                assert_true(a->makespan_ms == b->makespan_ms && a->evaluations == b->evaluations);
                assert_memory_equal(a->marks_ms, b->marks_ms, sizeof a->marks_ms);
                assert_true(a->marks_ms[BERTH_STUDY_MARKS - 1] == a->makespan_ms);
            }
    berth_study_rows_free(&whole);
    berth_study_rows_free(&parts);
}

static bool cancel(void *user) {
    return --*(int *)user <= 0;
}

static void cancelling_keeps_what_was_done(void **state) {
    fixture *f = *state;
    int left = 40, tries = 0;
    berth_ctx_set_cancel(f->ctx, cancel, &left);
    assert_int_equal(berth_study_run(f->ctx, &f->how), BERTH_E_CANCELLED);
    assert_true(count_lines(f->path) < 10);
    for (int patience = 40; count_lines(f->path) < 10 && tries < 200; tries++, patience += 20) {
        left = patience;
        berth_status status = berth_study_run(f->ctx, &f->how);
        assert_true(status == BERTH_OK || status == BERTH_E_CANCELLED);
    }
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
    run(f);
    assert_int_equal(count_lines(f->path), 10);
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static void put(fixture *f, const char *name, const char *arm, int seed, double ms) {
    char line[512], number[32] = "null";
    if (isfinite(ms)) snprintf(number, sizeof number, "%.17g", ms);
    snprintf(line, sizeof line,
             "{\"suite\": \"learn\", \"case\": \"%s\", \"arm\": \"%s\", \"seed\": %d, \"budget\": 60, "
             "\"makespan_ms\": %s, \"marks_ms\": [null, 9, %s, 1, 1], \"evaluations\": 60, \"seconds\": 0.5, "
             "\"cpu_seconds\": 0.25, \"source\": \"sample\"}\n",
             name, arm, seed, number, number);
    append(f->path, line);
}

static int32_t find(const char *arm) {
    int32_t index = berth_study_arm_find("learn", arm);
    assert_true(index >= 0);
    return index;
}

/* Made-up lines of two arms on three cases, whose means are added up by hand. */
static void ratios_add_up(void **state) {
    fixture *f = *state;
    static const struct {
        const char *name;
        double a[2], b[2];
    } made[] = {
        {"layers/4/concurrent", {2, 3}, {1, 1}},
        {"layers/4/memory", {1, 1}, {2, 4}},
        {"googlenet.onnx/4/concurrent", {5, 5}, {5, 1}},
    };
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int seed = 0; seed < 2; seed++) {
            put(f, made[i].name, "single", seed, made[i].a[seed]);
            put(f, made[i].name, "random", seed, made[i].b[seed]);
            sum += log(made[i].a[seed] / made[i].b[seed]);
        }
    put(f, "layers/4/concurrent", "single", 1, 77); /* a second line of the same run does not count */
    put(f, "no/such/case", "single", 1, 77);
    put(f, "layers/4/concurrent", "no such arm", 1, 77);
    put(f, "layers/4/concurrent", "single", 7, 77);
    append(f->path, "{\"suite\": \"learn\"}\nnot JSON\n[]\n\n{\"suite\": 5, \"arm\": {}}\n");
    berth_study_rows rows;
    assert_int_equal(berth_study_rows_read(f->ctx, &rows, &f->how), BERTH_OK);
    assert_int_equal(rows.n_rows, 12);
    berth_ratio_query query = {find("single"), BERTH_STUDY_FINAL, find("random"), BERTH_STUDY_FINAL, .skip = NULL};
    berth_ratio ratio = berth_study_ratio(&rows, "learn", &query);
    assert_true(fabs(log(ratio.mean) - sum / 6) < 1e-12);
    assert_int_equal(ratio.n_cases, 3);
    assert_int_equal(ratio.n_pairs, 6);
    assert_int_equal(ratio.n_better, 2);
    assert_int_equal(ratio.n_worse, 3);
    /* Two architectures: a resample is one of them, or both. */
    double layers = (log(2) + log(3) + log(0.5) + log(0.25)) / 4, google = log(5) / 2;
    assert_true(fabs(log(ratio.low) - fmin(layers, google)) < 1e-12);
    assert_true(fabs(log(ratio.high) - fmax(layers, google)) < 1e-12);
    query.one_seed = true;
    query.seed = 1;
    ratio = berth_study_ratio(&rows, "learn", &query);
    assert_true(fabs(log(ratio.mean) - (log(3) + log(0.25) + log(5)) / 3) < 1e-12);
    query = (berth_ratio_query){find("single"), 1, find("random"), BERTH_STUDY_FINAL, .one_seed = true};
    ratio = berth_study_ratio(&rows, "learn", &query);
    assert_true(fabs(log(ratio.mean) - (log(9) + log(4.5) + log(1.8)) / 3) < 1e-12);
    query = (berth_ratio_query){find("single"), BERTH_STUDY_FINAL, find("rnn"), BERTH_STUDY_FINAL, .skip = NULL};
    assert_true(isnan(berth_study_ratio(&rows, "learn", &query).mean));
    berth_study_rows_free(&rows);
}

/* What found nothing counts as ten times the worst that anybody found. */
static void nothing_is_worse_than_anything(void **state) {
    fixture *f = *state;
    berth_study_rows rows;
    put(f, "layers/4/concurrent", "single", 0, INFINITY);
    put(f, "layers/4/concurrent", "random", 0, 4);
    put(f, "layers/4/concurrent", "rnn", 0, 6);
    assert_int_equal(berth_study_rows_read(f->ctx, &rows, &f->how), BERTH_OK);
    berth_ratio_query query = {find("single"), BERTH_STUDY_FINAL, find("random"), BERTH_STUDY_FINAL, .skip = NULL};
    assert_true(fabs(berth_study_ratio(&rows, "learn", &query).mean - 15) < 1e-12);
    berth_study_rows_free(&rows);
}

static char *report(fixture *f, bool json) {
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
    assert_int_equal(berth_study_report(f->ctx, text, &f->how, json), BERTH_OK);
    char *copy = strdup(berth_text_string(text));
    berth_text_free(text);
    return copy;
}

static void expect(fixture *f, const char *fragment) {
    char *text = report(f, false);
    if (!strstr(text, fragment)) fail_msg("'%s' is not in:\n%s", fragment, text);
    free(text);
}

/* Each verdict can be had, and can be had the other way. */
static void verdicts_follow_from_the_lines(void **state) {
    fixture *f = *state;
    expect(f, "open   hsdag not worse than its control on any case\n");
    for (int seed = 0; seed < 2; seed++) {
        put(f, "layers/4/concurrent", "hsdag", seed, 9);
        put(f, "layers/4/concurrent", "hsdag, rate 0", seed, 10);
        put(f, "layers/4/concurrent", "single", seed, 9);
        put(f, "layers/4/concurrent", "single, rate 0", seed, 10);
        put(f, "layers/4/concurrent", "seeds + anneal", seed, 10);
        put(f, "layers/4/concurrent", "rnn", seed, 9);
        put(f, "bert_base.xml/2/cut", "hsdag", seed, 10.2);
        put(f, "googlenet.onnx/4/concurrent", "scratch, 100", seed, 10);
        put(f, "googlenet.onnx/4/concurrent", "pretrained, 100", seed, 8.9);
        put(f, "layers/4/serial", "hsdag", seed, 5);
        put(f, "layers/4/serial", "seeds + anneal", seed, 5);
    }
    put(f, "bert_base.xml/2/cut", "min-cut", 0, 10);
    expect(f, "holds  single devices as only seeds, no polish: better than its control, surely\n");
    expect(f, "holds  hsdag not worse than its control on any case\n");
    expect(f, "holds  hsdag not worse than other learned arms, random, greedy, metis on any case\n");
    expect(f, "holds  hsdag at most seeds + anneal on 4 and 8 devices, concurrent or memory\n       0.9000");
    expect(f, "holds  ... and 3 % below it (an aim)\n");
    expect(f, "holds  pretrained at 100 evaluations 10 % below from scratch, on the models\n       0.8900");
    expect(f, "FAILS  two devices, serial, no overhead: within 1 % of min-cut\n       1.0200");
    expect(f, "left out above: layers/4/serial\n");
    put(f, "layers/4/memory", "hsdag", 0, 11);
    put(f, "layers/4/memory", "hsdag, rate 0", 0, 10);
    put(f, "layers/4/memory", "metis", 0, 10.5);
    put(f, "layers/4/memory", "seeds + anneal", 0, 2);
    expect(
        f,
        "FAILS  hsdag not worse than its control on any case\n       worse on layers/4/memory (hsdag, rate 0, 1.1000)");
    expect(f, "FAILS  hsdag not worse than other learned arms, random, greedy, metis on any case\n       worse on "
              "layers/4/memory (metis, 1.0476)\n");
    expect(f, "FAILS  hsdag at most seeds + anneal");
    char *json = report(f, true);
    assert_non_null(strstr(json, "\"state\": \"FAILS\""));
    assert_non_null(strstr(json, "\"layers/4/memory\""));
    free(json);
}

/* --- tables ----------------------------------------------------------------------------------------------------- */

/* Every arm can be run: its method is one, its settings are taken; and names are unique. */
static void tables_are_sound(void **state) {
    fixture *f = *state;
    for (int s = 0; berth_study_name(s); s++) {
        const char *suite = berth_study_name(s);
        berth_study_case a, b;
        int n_cases = 0, n_arms = 0;
        for (; berth_study_case_at(suite, n_cases, &a); n_cases++) {
            for (int i = 0; i < n_cases; i++) {
                berth_study_case_at(suite, i, &b);
                assert_string_not_equal(a.name, b.name);
            }
            berth_graph *graph = NULL;
            berth_device_set *devices = NULL;
            if (berth_study_case_load(f->ctx, &a, f->how.models, &graph, &devices) != BERTH_OK)
                fail_msg("%s: %s", a.name, berth_ctx_message(f->ctx));
            assert_int_equal(devices->n_devices, a.how.n_devices);
            berth_device_set_free(devices);
            berth_graph_free(graph);
        }
        for (; berth_study_arm_at(suite, n_arms); n_arms++) {
            const berth_arm *arm = berth_study_arm_at(suite, n_arms);
            assert_int_equal(berth_study_arm_find(suite, arm->name), n_arms);
            if (arm->base) assert_true(berth_study_arm_find(suite, arm->base) >= 0);
            bool known = false, learns = arm->set[0] != NULL;
            for (int i = 0; berth_method_name(i); i++) known |= strcmp(berth_method_name(i), arm->method) == 0;
            assert_true(known);
            berth_settings settings;
            if (learns) assert_int_equal(berth_settings_default(f->ctx, &settings, arm->method), BERTH_OK);
            for (int i = 0; i < 6 && arm->set[i]; i++)
                if (berth_settings_set(f->ctx, &settings, arm->set[i]) != BERTH_OK)
                    fail_msg("%s: %s", arm->name, berth_ctx_message(f->ctx));
        }
        assert_true(n_cases >= 8 && n_arms >= 15);
    }
}

static void nonsense_is_refused(void **state) {
    fixture *f = *state;
    const char *none = "no such arm";
    berth_study_options how = f->how;
    how.suite = "everything";
    assert_int_equal(berth_study_run(f->ctx, &how), BERTH_E_ARG);
    how = f->how;
    how.arms = &none;
    how.n_arms = 1;
    assert_int_equal(berth_study_run(f->ctx, &how), BERTH_E_ARG);
    how = f->how;
    how.n_results = 0;
    assert_int_equal(berth_study_run(f->ctx, &how), BERTH_E_ARG);
    how = f->how;
    how.part = 1;
    assert_int_equal(berth_study_run(f->ctx, &how), BERTH_E_ARG);
    f->results[0] = "/nowhere/results";
    assert_int_equal(berth_study_run(f->ctx, &f->how), BERTH_E_IO);
}

static berth_status study(berth_ctx *ctx, void *user) {
    berth_study_options how = ((fixture *)user)->how;
    berth_text *text = NULL;
    how.n_cases = 1;
    how.n_arms = 2;
    how.n_seeds = 1;
    unlink(how.results[0]);
    berth_status status = berth_study_run(ctx, &how);
    if (status == BERTH_OK) status = berth_text_new(ctx, &text);
    if (status == BERTH_OK) status = berth_study_report(ctx, text, &how, true);
    if (status == BERTH_OK) status = berth_text_status(text);
    berth_text_free(text);
    return status;
}

static void ladder(void **state) {
    support_ladder(study, *state, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_are_made_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_make_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelling_keeps_what_was_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ratios_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_worse_than_anything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verdicts_follow_from_the_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_are_sound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ladder, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("place.study", tests, NULL, NULL);
}
