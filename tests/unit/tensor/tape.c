/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "tensor/ops.h"
#include "tensor/params.h"

#include <math.h>

typedef struct net {
    berth_params params;
    berth_tape *tape;
    berth_rng rng;
    double drop;
    berth_real x[6 * 8];
} net;

static berth_status net_init(net *n, berth_ctx *ctx) {
    berth_params_init(&n->params, ctx);
    n->tape = NULL;
    n->drop = 0.25;
    if (berth_params_add(&n->params, "w", 8, 8) < 0 || berth_params_add(&n->params, "b", 1, 8) < 0 ||
        berth_params_add(&n->params, "gain", 1, 8) < 0 || berth_params_add(&n->params, "shift", 1, 8) < 0)
        return BERTH_E_NOMEM;
    BERTH_TRY(berth_params_fix(&n->params));
    berth_rng_init(&n->rng, 1, 2);
    for (int32_t i = 0; i < 4; i++) berth_param_uniform(berth_params_at(&n->params, i), 0.5, &n->rng);
    for (int i = 0; i < 48; i++) n->x[i] = (berth_real)sin(i);
    return berth_tape_new(ctx, &n->tape);
}

static void net_deinit(net *n) {
    berth_params_deinit(&n->params);
    berth_tape_free(n->tape);
}

/* A pass of `depth` layers over the kinds of operations that take memory of their own. */
static berth_matrix *forward(net *n, int depth) {
    static const int32_t start[] = {0, 2, 2, 6}, column[] = {0, 1, 2};
    berth_matrix *h = berth_input(n->tape, n->x, 6, 8);
    for (int i = 0; i < depth; i++) {
        h = berth_linear(n->tape, h, berth_params_at(&n->params, 0), berth_params_at(&n->params, 1));
        h = berth_layer_norm(n->tape, h, berth_params_at(&n->params, 2), berth_params_at(&n->params, 3), 1e-5);
        h = berth_dropout(n->tape, berth_relu(n->tape, h), n->drop, &n->rng);
    }
    berth_matrix *parts[] = {berth_segment_max(n->tape, h, start, 3), berth_segment_sum(n->tape, h, start, 3)};
    h = berth_stack(n->tape, parts, 2);
    h = berth_concat(n->tape, berth_detach(n->tape, h), h);
    h = berth_segment_mean(n->tape, berth_log_softmax(n->tape, h, NULL), start, 3);
    return berth_sum(n->tape, berth_pick(n->tape, h, column));
}

static berth_status train(net *n, int depth) {
    berth_adam adam = {.rate = 1e-2, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    berth_tape_clear(n->tape);
    berth_params_zero_grad(&n->params);
    BERTH_TRY(berth_tape_backward(n->tape, forward(n, depth)));
    assert_true(isfinite(berth_params_step(&n->params, &adam)));
    return BERTH_OK;
}

static double undropped_loss(net *n) {
    berth_tape_clear(n->tape);
    n->drop = 0;
    double loss = (double)forward(n, 2)->value[0];
    n->drop = 0.25;
    return loss;
}

static berth_status two_passes(berth_ctx *ctx, void *user) {
    (void)user;
    net n;
    berth_status status = net_init(&n, ctx);
    /* The second needs more blocks than the first; what fails once must work again after a clear. */
    if (status == BERTH_OK) status = train(&n, 2);
    if (status == BERTH_OK) status = train(&n, 60);
    net_deinit(&n);
    return status;
}

static void ladder(void **state) {
    (void)state;
    assert_true(support_ladder(two_passes, NULL, 1) > 8);
}

/* Counts allocations, and refuses them when told. */
typedef struct counter {
    long n;
    bool refuse;
} counter;

static void *count_resize(void *user, void *old, size_t old_size, size_t new_size) {
    counter *c = user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    c->n++;
    return c->refuse ? NULL : realloc(old, new_size);
}

static berth_ctx *counting_ctx(counter *c) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, &(berth_allocator){.resize = count_resize, .user = c}), BERTH_OK);
    return ctx;
}

static void allocates_nothing_after_warm_up(void **state) {
    (void)state;
    counter c = {0};
    berth_ctx *ctx = counting_ctx(&c);
    net n;
    assert_int_equal(net_init(&n, ctx), BERTH_OK);
    assert_int_equal(train(&n, 50), BERTH_OK);
    berth_tape_clear(n.tape);
    long before = c.n;
    size_t bytes = berth_tape_bytes(n.tape);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(train(&n, 50), BERTH_OK);
        assert_int_equal(train(&n, 10), BERTH_OK);
    }
    assert_int_equal(c.n, before);
    assert_int_equal(berth_tape_bytes(n.tape), bytes);
    net_deinit(&n);
    berth_ctx_free(ctx);
}

static void failure_is_sticky_until_clear(void **state) {
    (void)state;
    counter c = {0};
    berth_ctx *ctx = counting_ctx(&c);
    net n;
    assert_int_equal(net_init(&n, ctx), BERTH_OK);
    c.refuse = true;
    berth_matrix *loss = forward(&n, 3);
    assert_null(loss);
    assert_true(berth_tape_failed(n.tape));
    c.refuse = false;
    /* Not even what would fit now. */
    assert_null(berth_relu(n.tape, berth_params_at(&n.params, 0)));
    assert_int_equal(berth_tape_backward(n.tape, loss), BERTH_E_NOMEM);
    berth_tape_clear(n.tape);
    assert_false(berth_tape_failed(n.tape));
    assert_int_equal(berth_tape_backward(n.tape, forward(&n, 3)), BERTH_OK);
    /* A NULL among the operands fails the tape, wherever it came from. */
    assert_null(berth_add(n.tape, berth_params_at(&n.params, 0), NULL));
    assert_true(berth_tape_failed(n.tape));
    net_deinit(&n);
    berth_ctx_free(ctx);
}

static void values_are_aligned(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    berth_tape *tape = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_tape_new(ctx, &tape), BERTH_OK);
    for (int32_t n = 1; n < 400; n += 7) {
        const berth_matrix *a = berth_scale(tape, berth_blank(tape, n, 3), 2);
        assert_int_equal((uintptr_t)a->value % 64, 0);
        for (int32_t i = 0; i < 3 * n; i++) assert_true(a->value[i] == 0);
    }
    berth_tape_free(tape);
    berth_ctx_free(ctx);
}

/* What the loss does not depend on, what is cut off, what is only read, and what is not recorded. */
static void gradients_go_where_they_should(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    net n;
    assert_int_equal(net_init(&n, ctx), BERTH_OK);
    berth_matrix *b = berth_params_at(&n.params, 1), *gain = berth_params_at(&n.params, 2);
    berth_matrix *x = berth_input(n.tape, n.x, 1, 8), *y = berth_mul(n.tape, b, x), *aside = berth_square(n.tape, b);
    berth_matrix *loss = berth_sum(n.tape, berth_add(n.tape, y, berth_mul(n.tape, berth_detach(n.tape, y), gain)));
    assert_null(x->grad);
    assert_null(berth_relu(n.tape, x)->grad);
    for (int pass = 1; pass <= 2; pass++) {
        assert_int_equal(berth_tape_backward(n.tape, loss), BERTH_OK);
        for (int i = 0; i < 8; i++) {
            assert_true(aside->grad[i] == 0);
            assert_true(y->grad[i] == 1);
            /* Parameters add up; and b only by the way that is not cut. */
            assert_true(fabsf(b->grad[i] - (float)pass * n.x[i]) < 1e-6f);
            assert_true(fabsf(gain->grad[i] - (float)pass * y->value[i]) < 1e-6f);
        }
    }
    /* Another loss on the same tape: only its own part. */
    berth_params_zero_grad(&n.params);
    assert_int_equal(berth_tape_backward(n.tape, berth_sum(n.tape, aside)), BERTH_OK);
    for (int i = 0; i < 8; i++) {
        assert_true(fabsf(b->grad[i] - 2 * b->value[i]) < 1e-6f);
        assert_true(y->grad[i] == 0 && gain->grad[i] == 0);
    }
    berth_tape_clear(n.tape);
    berth_tape_record(n.tape, false);
    assert_null(berth_relu(n.tape, b)->grad);
    net_deinit(&n);
    berth_ctx_free(ctx);
}

/* The same seed gives the same parameters to the bit, and the loss falls. */
static void trains(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    net n[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(net_init(&n[k], ctx), BERTH_OK);
        double before = undropped_loss(&n[k]);
        for (int step = 0; step < 100; step++) assert_int_equal(train(&n[k], 2), BERTH_OK);
        assert_true(undropped_loss(&n[k]) < before - 0.1);
    }
    assert_memory_equal(n[0].params.value, n[1].params.value, n[0].params.n * sizeof(berth_real));
    net_deinit(&n[0]);
    net_deinit(&n[1]);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ladder),
        cmocka_unit_test(allocates_nothing_after_warm_up),
        cmocka_unit_test(failure_is_sticky_until_clear),
        cmocka_unit_test(values_are_aligned),
        cmocka_unit_test(gradients_go_where_they_should),
        cmocka_unit_test(trains),
    };
    return cmocka_run_group_tests_name("tensor.tape", tests, NULL, NULL);
}
