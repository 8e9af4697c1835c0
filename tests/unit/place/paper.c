/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's protocol on its simulated testbed: rows that must agree with each other and with what a plan says. */
#include "support.h"

#include "base/json.h"

#include <math.h>

static const char *const quick[] = {"CPU-only", "GPU-only", "greedy, CPU first", "greedy, GPU first", "hsdag",
                                    "min-cut",  "auto"};

static berth_paper_options options(void) {
    berth_paper_options how = berth_paper_options_default();
    how.models = support_source("models");
    how.arms = quick;
    how.n_arms = sizeof quick / sizeof *quick;
    how.evaluations = 60;
    how.seconds = 1;
    how.threads = 1;
    return how;
}

static const berth_paper_row *row_of(const berth_paper *paper, const char *model, const char *arm) {
    for (int32_t i = 0; i < paper->n_rows; i++)
        if (strcmp(paper->rows[i].model, model) == 0 && strcmp(paper->rows[i].arm, arm) == 0) return &paper->rows[i];
    fail_msg("no row %s, %s", model, arm);
    return NULL;
}

static void check_model(const berth_paper *paper, const char *model) {
    double cpu = row_of(paper, model, "CPU-only")->predicted_ms, gpu = row_of(paper, model, "GPU-only")->predicted_ms;
    assert_true(cpu > 0 && gpu > 0 && cpu != gpu);
    assert_true(row_of(paper, model, "CPU-only")->share == 0 && row_of(paper, model, "GPU-only")->share == 1);
    assert_true(row_of(paper, model, "CPU-only")->gain_cpu == 0);
    /* Either device of the testbed can run everything, so the rule of priorities is one device alone. */
    assert_true(row_of(paper, model, "greedy, CPU first")->predicted_ms == cpu);
    assert_true(row_of(paper, model, "greedy, GPU first")->predicted_ms == gpu);
    for (size_t i = 4; i < sizeof quick / sizeof *quick; i++) {
        const berth_paper_row *row = row_of(paper, model, quick[i]);
        assert_true(row->predicted_ms <= fmin(cpu, gpu) * (1 + 1e-12));
        assert_true(fabs(row->gain_best - (1 - row->predicted_ms / fmin(cpu, gpu))) < 1e-12);
        assert_true(fabs(row->gain_cpu - (1 - row->predicted_ms / cpu)) < 1e-12);
        assert_true(isnan(row->median_ms) && isnan(row->protocol_ms) && isnan(row->outputs.cosine));
        assert_true(*row->reason == 0 && row->evaluations > 0 && row->search_seconds >= 0);
    }
}

static void rows_agree(void **state) {
    berth_ctx *ctx = *state;
    berth_paper_options how = options();
    berth_paper *paper = NULL;
    assert_int_equal(berth_paper_run(ctx, &paper, &how), BERTH_OK);
    assert_true(paper->simulated && paper->n_rows == 3 * how.n_arms);
    check_model(paper, "inception_v3");
    check_model(paper, "resnet50");
    check_model(paper, "bert_base");
    berth_paper_free(paper);
}

static void only_what_is_asked_for(void **state) {
    berth_ctx *ctx = *state;
    static const char *const model = "resnet", *const nonsense = "hsda";
    berth_paper_options how = options();
    berth_paper *paper = NULL;
    how.cases = &model;
    how.n_cases = 1;
    how.n_arms = 1;
    assert_int_equal(berth_paper_run(ctx, &paper, &how), BERTH_OK);
    assert_int_equal(paper->n_rows, 1);
    assert_string_equal(paper->rows[0].model, "resnet50");
    berth_paper_free(paper);
    how.arms = &nonsense;
    assert_int_equal(berth_paper_run(ctx, &paper, &how), BERTH_E_ARG);
    assert_null(paper);
    assert_non_null(strstr(berth_ctx_message(ctx), "hsda"));
}

static void as_json(void **state) {
    berth_ctx *ctx = *state;
    berth_paper_options how = options();
    berth_paper *paper = NULL;
    berth_text *text = NULL;
    berth_arena arena;
    const berth_json *root = NULL;
    how.n_arms = 2;
    assert_int_equal(berth_paper_run(ctx, &paper, &how), BERTH_OK);
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_paper_write(text, paper, true);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(berth_json_parse(ctx, &arena, "paper", berth_text_string(text), berth_text_size(text), 8, &root),
                     BERTH_OK);
    const berth_json *rows = berth_json_get(root, "results");
    assert_non_null(rows);
    assert_int_equal(rows->count, paper->n_rows);
    berth_arena_deinit(&arena);
    berth_text_free(text);
    berth_paper_free(paper);
}

static berth_status run(berth_ctx *ctx, void *user) {
    berth_paper *paper = NULL;
    berth_status status = berth_paper_run(ctx, &paper, user);
    berth_paper_free(paper);
    return status;
}

static void every_allocation_may_fail(void **state) {
    static const char *const model = "resnet";
    berth_paper_options how = options();
    (void)state;
    how.cases = &model;
    how.n_cases = 1;
    how.n_arms = 3;
    assert_true(support_ladder(run, &how, support_is_slow() ? 400 : support_is_optimised() ? 3 : 40) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree),
        cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(as_json),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("place.paper", tests, support_open, support_close);
}
