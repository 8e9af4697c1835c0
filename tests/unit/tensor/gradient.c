/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the table of operations against central differences, in double: 32 random cases each, of shapes from one
 * element to several blocks of the kernels, on parameters (where gradients add up), on fresh matrices of the tape, and
 * on matrices that are used twice. */
#include "support.h"

#include "tensor/node.h"
#include "tensor/params.h"

#include <math.h>

enum { MOST_ROWS = 40, MOST_COLS = 70, LEAVES = 4, CASES = 32 };

/* One call of an operation: its leaves (their shapes; values come later) and what it is told. */
typedef struct call {
    uint64_t state;
    int32_t n_leaves, rows[LEAVES], cols[LEAVES];
    double kinks[2]; /* values of the first leaf to stay away from */
    bool apart;      /* all values at least 0.01 apart, over all leaves */
    bool flag[2];
    double low, high;
    int32_t n, index[2][MOST_ROWS + 1], start[2][MOST_ROWS + 1], column[2][MOST_ROWS * MOST_COLS];
    berth_real weight[2][MOST_ROWS * MOST_COLS];
    uint64_t mask[MOST_ROWS];
    berth_csr csr, transposed;
} call;

typedef struct trial {
    void (*shape)(call *it);
    berth_matrix *(*apply)(berth_tape *tape, const call *it, berth_matrix **in);
} trial;

static double uniform(uint64_t *state) {
    return (double)(support_random(state) >> 11) * 0x1p-53;
}

static int32_t below(call *it, int32_t n) {
    return (int32_t)support_below(&it->state, (uint32_t)n);
}

/* Mostly small, often 1, sometimes past the blocks of the kernels. */
static int32_t size(call *it, int32_t most) {
    int32_t n = 1 + below(it, below(it, 3) ? 6 : most);
    return below(it, 4) ? n : 1;
}

static void leaf(call *it, int32_t rows, int32_t cols) {
    it->rows[it->n_leaves] = rows;
    it->cols[it->n_leaves++] = cols;
}

static void one(call *it) {
    leaf(it, size(it, MOST_ROWS), size(it, MOST_COLS));
}

/* --- the trials ------------------------------------------------------------------------------------------------- */

static void linear_shape(call *it) {
    int32_t out = size(it, MOST_COLS);
    one(it);
    leaf(it, out, it->cols[0]);
    if (below(it, 2)) leaf(it, 1, out);
}

static berth_matrix *linear(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_linear(tape, in[0], in[1], it->n_leaves > 2 ? in[2] : NULL);
}

static void matmul_shape(call *it) {
    int32_t m = size(it, MOST_ROWS), n = size(it, MOST_ROWS), k = size(it, MOST_ROWS);
    for (int i = 0; i < 2; i++) it->flag[i] = below(it, 2);
    leaf(it, it->flag[0] ? k : m, it->flag[0] ? m : k);
    leaf(it, it->flag[1] ? n : k, it->flag[1] ? k : n);
}

static berth_matrix *matmul(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_matmul(tape, in[0], it->flag[0], in[1], it->flag[1]);
}

static void broadcast_shape(call *it) {
    one(it);
    leaf(it, below(it, 2) ? it->rows[0] : 1, below(it, 2) ? it->cols[0] : 1);
}

static berth_matrix *add(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_add(tape, in[0], in[1]);
}

static berth_matrix *sub(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_sub(tape, in[0], in[1]);
}

static berth_matrix *mul(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_mul(tape, in[0], in[1]);
}

static void min_shape(call *it) {
    one(it);
    leaf(it, it->rows[0], it->cols[0]);
    it->apart = true;
}

static berth_matrix *min(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_min(tape, in[0], in[1]);
}

static berth_matrix *scale(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_scale(tape, in[0], -2.5);
}

static berth_matrix *relu(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_relu(tape, in[0]);
}

static berth_matrix *hyperbolic(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_tanh(tape, in[0]);
}

static berth_matrix *sigmoid(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_sigmoid(tape, in[0]);
}

static berth_matrix *exponential(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_exp(tape, in[0]);
}

static berth_matrix *square(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_square(tape, in[0]);
}

static void clamp_shape(call *it) {
    one(it);
    it->kinks[0] = it->low = -0.7;
    it->kinks[1] = it->high = 0.4;
}

static berth_matrix *clamp(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_clamp(tape, in[0], it->low, it->high);
}

static berth_matrix *dropout(berth_tape *tape, const call *it, berth_matrix **in) {
    berth_rng rng;
    berth_rng_init(&rng, it->state, 3);
    return berth_dropout(tape, in[0], 0.3, &rng);
}

static berth_matrix *relu_dropout(berth_tape *tape, const call *it, berth_matrix **in) {
    berth_rng rng;
    berth_rng_init(&rng, it->state, 3);
    return berth_relu_dropout(tape, in[0], 0.3, &rng);
}

/* Over a copy: parameters must stay. */
static berth_matrix *relu_dropout_over(berth_tape *tape, const call *it, berth_matrix **in) {
    berth_rng rng;
    berth_rng_init(&rng, it->state, 3);
    return berth_relu_dropout_over(tape, berth_scale(tape, in[0], 1), it->state % 2 ? 0.3 : 0, &rng);
}

static void norm_shape(call *it) {
    one(it);
    leaf(it, 1, it->cols[0]);
    leaf(it, 1, it->cols[0]);
}

static berth_matrix *layer_norm(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_layer_norm(tape, in[0], in[1], in[2], 1e-2);
}

static void add_norm_shape(call *it) {
    norm_shape(it);
    leaf(it, it->rows[0], it->cols[0]);
}

/* Of two matrices, or of one twice. */
static berth_matrix *add_norm(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_add_norm(tape, in[0], it->state % 3 == 0 ? in[0] : in[3], in[1], in[2], 1e-2);
}

/* A random matrix, row by row, and its transposed; rows without any element, and repeated ones, among them. */
static void sparse_shape(call *it) {
    one(it);
    int32_t rows = size(it, MOST_ROWS), cols = it->rows[0], n = 0, k = 0;
    for (int32_t r = 0; r < rows; r++) {
        it->start[0][r] = n;
        for (int32_t e = below(it, 4); e > 0; e--, n++) {
            it->column[0][n] = below(it, cols);
            it->weight[0][n] = uniform(&it->state) - 0.5;
        }
    }
    it->start[0][rows] = n;
    for (int32_t c = 0; c < cols; c++) {
        it->start[1][c] = k;
        for (int32_t r = 0; r < rows; r++)
            for (int32_t e = it->start[0][r]; e < it->start[0][r + 1]; e++)
                if (it->column[0][e] == c) it->column[1][k] = r, it->weight[1][k++] = it->weight[0][e];
    }
    it->start[1][cols] = k;
    bool weighted = below(it, 2);
    it->csr = (berth_csr){rows, cols, it->start[0], it->column[0], weighted ? it->weight[0] : NULL};
    it->transposed = (berth_csr){cols, rows, it->start[1], it->column[1], weighted ? it->weight[1] : NULL};
}

static berth_matrix *sparse(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_sparse(tape, in[0], &it->csr, &it->transposed);
}

static void index_shape(call *it) {
    one(it);
    it->n = size(it, MOST_ROWS);
    for (int32_t i = 0; i < it->n; i++)
        for (int k = 0; k < 2; k++) it->index[k][i] = below(it, it->rows[0]);
}

static berth_matrix *gather(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_gather(tape, in[0], it->index[0], it->n);
}

static berth_matrix *gather_mul(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_gather_mul(tape, in[0], it->index[0], it->index[1], it->n);
}

/* Cuts the rows of the first leaf into segments, some of them empty. */
static void cut(call *it) {
    int32_t n = 0, row = 0;
    it->start[0][0] = 0;
    while (n < MOST_ROWS - 1 && row < it->rows[0]) {
        row += below(it, 3) ? 1 + below(it, it->rows[0] - row) : 0;
        it->start[0][++n] = row;
    }
    it->start[0][++n] = it->rows[0];
    it->n = n;
}

static void segment_shape(call *it) {
    one(it);
    it->apart = true;
    cut(it);
}

static berth_matrix *segment_sum(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_segment_sum(tape, in[0], it->start[0], it->n);
}

static berth_matrix *segment_mean(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_segment_mean(tape, in[0], it->start[0], it->n);
}

static berth_matrix *segment_max(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_segment_max(tape, in[0], it->start[0], it->n);
}

static void concat_shape(call *it) {
    one(it);
    leaf(it, it->rows[0], size(it, MOST_COLS));
}

static berth_matrix *concat(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_concat(tape, in[0], in[1]);
}

static void columns_shape(call *it) {
    one(it);
    it->n = below(it, it->cols[0]);
    it->index[0][0] = below(it, it->cols[0] - it->n + 1);
}

static berth_matrix *columns(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_columns(tape, in[0], it->n, it->index[0][0]);
}

static void stack_shape(call *it) {
    one(it);
    while (it->n_leaves < LEAVES && below(it, 3)) leaf(it, size(it, MOST_ROWS), it->cols[0]);
}

static berth_matrix *stack(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_stack(tape, in, it->n_leaves);
}

/* At most 64 columns, each row with at least one that may be chosen, now and then all. */
static void choice_shape(call *it) {
    leaf(it, size(it, MOST_ROWS), size(it, 64));
    for (int32_t r = 0; r < it->rows[0]; r++) {
        uint64_t all = it->cols[0] == 64 ? UINT64_MAX : (UINT64_C(1) << it->cols[0]) - 1;
        it->mask[r] = below(it, 3) ? support_random(&it->state) & all : all;
        if (!it->mask[r]) it->mask[r] = UINT64_C(1) << below(it, it->cols[0]);
        it->column[0][r] = below(it, it->cols[0]);
    }
    it->flag[0] = below(it, 2);
}

static berth_matrix *log_softmax(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_log_softmax(tape, in[0], it->flag[0] ? it->mask : NULL);
}

static void choice_segments_shape(call *it) {
    leaf(it, size(it, MOST_ROWS), 1);
    cut(it);
}

static berth_matrix *segment_log_softmax(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_segment_log_softmax(tape, in[0], it->start[0], it->n);
}

static berth_matrix *pick(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_pick(tape, in[0], it->column[0]);
}

/* Masked log-probabilities under it, as in use; the derivative of -INFINITY would otherwise not be asked for. */
static berth_matrix *entropy(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_entropy(tape, it->flag[0] ? berth_log_softmax(tape, in[0], it->mask) : in[0]);
}

static berth_matrix *segment_entropy(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_segment_entropy(tape, in[0], it->start[0], it->n);
}

static void gru_shape(call *it) {
    int32_t rows = size(it, MOST_ROWS), cols = size(it, MOST_COLS / 3);
    leaf(it, rows, 3 * cols);
    leaf(it, rows, 3 * cols);
    leaf(it, rows, cols);
}

static berth_matrix *gru(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_gru(tape, in[0], in[1], in[2]);
}

static void additive_shape(call *it) {
    one(it);
    leaf(it, size(it, MOST_ROWS), it->cols[0]);
    leaf(it, 1, it->cols[0]);
}

static berth_matrix *additive(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_additive(tape, in[0], in[1], in[2]);
}

static berth_matrix *sum(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_sum(tape, in[0]);
}

static berth_matrix *mean(berth_tape *tape, const call *it, berth_matrix **in) {
    (void)it;
    return berth_mean(tape, in[0]);
}

static void dot_shape(call *it) {
    one(it);
    for (int32_t i = 0; i < it->rows[0] * it->cols[0]; i++) it->weight[0][i] = uniform(&it->state) - 0.5;
}

static berth_matrix *dot(berth_tape *tape, const call *it, berth_matrix **in) {
    return berth_dot(tape, in[0], it->weight[0]);
}

static const trial trials[] = {
    [BERTH_TAPE_LINEAR] = {linear_shape, linear},
    [BERTH_TAPE_MATMUL] = {matmul_shape, matmul},
    [BERTH_TAPE_ADD] = {broadcast_shape, add},
    [BERTH_TAPE_SUB] = {broadcast_shape, sub},
    [BERTH_TAPE_MUL] = {broadcast_shape, mul},
    [BERTH_TAPE_MIN] = {min_shape, min},
    [BERTH_TAPE_SCALE] = {one, scale},
    [BERTH_TAPE_RELU] = {one, relu},
    [BERTH_TAPE_TANH] = {one, hyperbolic},
    [BERTH_TAPE_SIGMOID] = {one, sigmoid},
    [BERTH_TAPE_EXP] = {one, exponential},
    [BERTH_TAPE_SQUARE] = {one, square},
    [BERTH_TAPE_CLAMP] = {clamp_shape, clamp},
    [BERTH_TAPE_DROPOUT] = {one, dropout},
    [BERTH_TAPE_RELU_DROPOUT] = {one, relu_dropout},
    [BERTH_TAPE_RELU_DROPOUT_OVER] = {one, relu_dropout_over},
    [BERTH_TAPE_LAYER_NORM] = {norm_shape, layer_norm},
    [BERTH_TAPE_ADD_NORM] = {add_norm_shape, add_norm},
    [BERTH_TAPE_SPARSE] = {sparse_shape, sparse},
    [BERTH_TAPE_GATHER] = {index_shape, gather},
    [BERTH_TAPE_GATHER_MUL] = {index_shape, gather_mul},
    [BERTH_TAPE_SEGMENT_SUM] = {segment_shape, segment_sum},
    [BERTH_TAPE_SEGMENT_MEAN] = {segment_shape, segment_mean},
    [BERTH_TAPE_SEGMENT_MAX] = {segment_shape, segment_max},
    [BERTH_TAPE_CONCAT] = {concat_shape, concat},
    [BERTH_TAPE_COLUMNS] = {columns_shape, columns},
    [BERTH_TAPE_STACK] = {stack_shape, stack},
    [BERTH_TAPE_LOG_SOFTMAX] = {choice_shape, log_softmax},
    [BERTH_TAPE_SEGMENT_LOG_SOFTMAX] = {choice_segments_shape, segment_log_softmax},
    [BERTH_TAPE_PICK] = {choice_shape, pick},
    [BERTH_TAPE_ENTROPY] = {choice_shape, entropy},
    [BERTH_TAPE_SEGMENT_ENTROPY] = {choice_segments_shape, segment_entropy},
    [BERTH_TAPE_GRU] = {gru_shape, gru},
    [BERTH_TAPE_ADDITIVE] = {additive_shape, additive},
    [BERTH_TAPE_SUM] = {one, sum},
    [BERTH_TAPE_MEAN] = {one, mean},
    [BERTH_TAPE_DOT] = {dot_shape, dot},
};
_Static_assert(sizeof trials / sizeof *trials == BERTH_TAPE_COUNT, "every operation needs a trial");

/* --- the check -------------------------------------------------------------------------------------------------- */

/* How leaves reach the operation: themselves, as fresh matrices of the tape, or fresh ones that it gets twice. */
typedef enum use { PLAIN, FRESH, TWICE, USES } use;

static berth_matrix *apply(berth_tape *tape, const trial *how, const call *it, berth_params *leaves, use used) {
    berth_matrix *in[LEAVES] = {0};
    for (int32_t i = 0; i < it->n_leaves; i++) {
        in[i] = berth_params_at(leaves, i);
        if (used != PLAIN) in[i] = berth_scale(tape, in[i], 1);
    }
    berth_matrix *out = how->apply(tape, it, in);
    return used == TWICE ? berth_add(tape, out, berth_scale(tape, how->apply(tape, it, in), 0.5)) : out;
}

/* The sum of all finite results, each with a weight of its own. */
static double loss(berth_tape *tape, const trial *how, const call *it, berth_params *leaves, use used) {
    berth_tape_clear(tape);
    const berth_matrix *out = apply(tape, how, it, leaves, used);
    assert_non_null(out);
    double sum = 0;
    for (size_t i = 0; i < berth_count(out); i++)
        if (out->value[i] > -INFINITY) sum += out->value[i] * cos((double)i);
    return sum;
}

static void backward(berth_tape *tape, const trial *how, const call *it, berth_params *leaves, use used) {
    static berth_real weight[MOST_ROWS * MOST_COLS * 4];
    berth_tape_clear(tape);
    berth_params_zero_grad(leaves);
    berth_matrix *out = apply(tape, how, it, leaves, used);
    assert_non_null(out);
    for (size_t i = 0; i < berth_count(out); i++) weight[i] = out->value[i] > -INFINITY ? cos((double)i) : 0;
    assert_int_equal(berth_tape_backward(tape, berth_dot(tape, out, weight)), BERTH_OK);
}

static void fill(call *it, berth_params *leaves) {
    for (size_t i = 0; i < leaves->n; i++) {
        double x = 2 * uniform(&it->state) - 1;
        for (int k = 0; k < 2; k++)
            if (fabs(x - it->kinks[k]) < 0.02) x += x < it->kinks[k] ? -0.04 : 0.04;
        leaves->value[i] = x;
    }
    /* A shuffled ladder, so that no two come near each other. */
    for (size_t i = 0; it->apart && i < leaves->n; i++) {
        size_t other = (size_t)below(it, (int32_t)i + 1);
        leaves->value[i] = leaves->value[other];
        leaves->value[other] = 0.02 * (double)i - 0.5;
    }
}

static void check(const berth_tape_op *op, const trial *how, call *it, berth_ctx *ctx, berth_tape *tape) {
    static const char *const names[LEAVES] = {"a", "b", "c", "d"};
    berth_params leaves;
    berth_params_init(&leaves, ctx);
    for (int32_t i = 0; i < it->n_leaves; i++)
        assert_int_equal(berth_params_add(&leaves, names[i], it->rows[i], it->cols[i]), i);
    assert_int_equal(berth_params_fix(&leaves), BERTH_OK);
    fill(it, &leaves);
    for (use used = PLAIN; used < USES; used++) {
        backward(tape, how, it, &leaves, used);
        for (size_t i = 0; i < leaves.n; i += leaves.n < 64 ? 1 : leaves.n / 64) {
            const double step = 1e-5, x = leaves.value[i];
            leaves.value[i] = x + step;
            double up = loss(tape, how, it, &leaves, used);
            leaves.value[i] = x - step;
            double slope = (up - loss(tape, how, it, &leaves, used)) / (2 * step), got = leaves.grad[i];
            leaves.value[i] = x;
            if (!(fabs(slope - got) <= 1e-7 * fmax(1, fabs(slope))))
                fail_msg("%s, use %d, element %zu: %.12g by differences, %.12g by backward", op->name, (int)used, i,
                         slope, got);
        }
    }
    berth_params_deinit(&leaves);
}

static void every_operation(void **state) {
    (void)state;
    static call call_of_case;
    berth_ctx *ctx = NULL;
    berth_tape *tape = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_tape_new(ctx, &tape), BERTH_OK);
    for (int op = 0; op < BERTH_TAPE_COUNT; op++) {
        assert_non_null(berth_tape_ops[op].name);
        for (int n = 0; n < support_cases(CASES); n++) {
            call_of_case = (call){.state = (uint64_t)(1000 * op + n)};
            trials[op].shape(&call_of_case);
            check(&berth_tape_ops[op], &trials[op], &call_of_case, ctx, tape);
        }
    }
    berth_tape_free(tape);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation)};
    return cmocka_run_group_tests_name("tensor.gradient", tests, NULL, NULL);
}
