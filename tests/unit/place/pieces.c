/* SPDX-License-Identifier: Apache-2.0 */
/* Times of operations from timed pieces: cuts of real models, and a worker whose times are known. */
#include "place/pieces.h"

#include "faked.h"
#include "runtime/op_times.h"

static void cuts_share_the_work(void **state) {
    static const char *const models[] = {"models/resnet50.onnx", "models/bert_base.onnx", "models/googlenet.onnx",
                                         "models/mobilenet_v3_large.onnx", "tests/golden/cnn.onnx"};
    berth_ctx *ctx = NULL;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        berth_graph *graph = support_read(ctx, support_source(models[m]));
        berth_work *work = NULL;
        assert_int_equal(berth_work_compute(ctx, &work, graph), BERTH_OK);
        for (int32_t most = 1; most <= BERTH_MOST_PIECES; most++) {
            berth_arena arena;
            const int32_t *cuts = NULL;
            int32_t n = 0;
            double total = 0, largest_op = 0, largest_piece = 0;
            berth_arena_init(&arena, berth_ctx_allocator(ctx));
            assert_int_equal(berth_pieces_cut(ctx, &arena, graph, most, &cuts, &n), BERTH_OK);
            assert_true(n >= 1 && n <= most && cuts[0] == 0 && cuts[n] == berth_graph_op_count(graph));
            for (int32_t k = 0; k < n; k++) {
                double piece = 0;
                assert_true(cuts[k] < cuts[k + 1]);
                for (int32_t i = cuts[k]; i < cuts[k + 1]; i++) {
                    int32_t op = berth_graph_order(graph)[i];
                    if (berth_graph_op(graph, op)->flags & BERTH_OP_CONSTANT) continue;
                    double own = berth_op_times_weight(&work->ops[op]);
                    piece += own;
                    largest_op = fmax(largest_op, own);
                }
                assert_true(piece > 0);
                largest_piece = fmax(largest_piece, piece);
                total += piece;
            }
            if (largest_piece > 1.75 * total / most + largest_op)
                fail_msg("%s: a piece of %g of %g, in %d", models[m], largest_piece, total, (int)n);
            berth_arena_deinit(&arena);
        }
        berth_work_free(work);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

/* Products take 1 ms there and 4 here, the rest 4 there and 1 here; nothing but whole runs tells. */
static void take(faked *f, const char *words, double *ms) {
    berth_run_options how = berth_run_options_default();
    berth_run_model model;
    double host[2 * FAKED_BLOCK];
    how.rounds = 1;
    how.least_runs = how.most_runs = 3;
    for (int i = 0; i < 2 * FAKED_BLOCK; i++) host[i] = i < FAKED_BLOCK ? 4 : 1;
    faked_say(words);
    faked_forget(f);
    assert_int_equal(berth_run_model_init(&model, f->ctx, f->runtime, f->graph, f->model, &how), BERTH_OK);
    if (berth_pieces_take(&model, faked_devices, &how, host, ms) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
    berth_run_model_deinit(&model);
}

static void differences_tell(void **state) {
    faked *f = *state;
    static const char *const words[] = {"", "crash=split@3"}; /* some cuts may not run */
    for (int w = 0; w < 2; w++) {
        double ms[2 * FAKED_BLOCK] = {0}, products = 0, rest = 0;
        take(f, words[w], ms);
        for (int i = 0; i < FAKED_BLOCK; i++) {
            products += ms[i];
            rest += ms[FAKED_BLOCK + i];
            assert_true(ms[i] >= 0 && ms[FAKED_BLOCK + i] >= 0);
        }
        assert_true(fabs((products + rest) / f->other_ms - 1) < 0.01); /* all of it is what everything takes there */
        if (w == 0) assert_true(fabs(products - FAKED_BLOCK) < 2 && fabs(rest - 4 * FAKED_BLOCK) < 2);
    }
}

/* What does not run there stays on the host, and has no time there. */
static void some_stay_on_the_host(void **state) {
    double ms[2 * FAKED_BLOCK] = {0}, rest = 0;
    ms[0] = ms[FAKED_BLOCK] = INFINITY;
    take(*state, "other=36.5", ms); /* 7 products, 1 that stays at 4, 7 others at 4 and 1 that stays at 1, 3 changes */
    assert_true(isinf(ms[0]) && isinf(ms[FAKED_BLOCK]));
    for (int i = 1; i < FAKED_BLOCK; i++) rest += ms[i] + ms[FAKED_BLOCK + i];
    assert_true(fabs(rest - 31.5) < 0.1);
}

static void a_device_must_run(void **state) {
    faked *f = *state;
    berth_run_options how = berth_run_options_default();
    berth_run_model model;
    double host[2 * FAKED_BLOCK] = {0}, ms[2 * FAKED_BLOCK] = {0};
    how.rounds = 1;
    faked_say("crash=other");
    assert_int_equal(berth_run_model_init(&model, f->ctx, f->runtime, f->graph, f->model, &how), BERTH_OK);
    assert_int_equal(berth_pieces_take(&model, faked_devices, &how, host, ms), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "webgpu"));
    berth_run_model_deinit(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_share_the_work),
        cmocka_unit_test_setup_teardown(differences_tell, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(some_stay_on_the_host, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_device_must_run, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
