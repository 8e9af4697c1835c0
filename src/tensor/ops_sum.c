/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a whole matrix: one number. */
#include "tensor/node.h"
#include "tensor/reduce.h"

static berth_matrix *reduce(berth_tape *tape, berth_tape_op_id op, berth_matrix *a, const berth_real *constant) {
    return berth_tape_push(tape, &(berth_node){.op = op, .in = {a}, .constant = constant}, 1, 1, 0);
}

berth_matrix *berth_sum(berth_tape *tape, berth_matrix *a) {
    return reduce(tape, BERTH_TAPE_SUM, a, NULL);
}

berth_matrix *berth_mean(berth_tape *tape, berth_matrix *a) {
    return reduce(tape, BERTH_TAPE_MEAN, a, NULL);
}

berth_matrix *berth_dot(berth_tape *tape, berth_matrix *a, const berth_real *constant) {
    return reduce(tape, BERTH_TAPE_DOT, a, constant);
}

/* Adds g to every element of the gradient of a. */
static void spread(berth_matrix *a, berth_real g) {
    if (!a->grad) return;
    bool set = berth_grad_set(a);
    for (size_t i = 0; i < berth_count(a); i++) a->grad[i] = (set ? 0 : a->grad[i]) + g;
}

void berth_sum_forward(berth_node *node) {
    node->out.value[0] = (berth_real)berth_sum_of(berth_count(node->in[0]), node->in[0]->value);
}

void berth_sum_backward(const berth_node *node) {
    spread(node->in[0], node->out.grad[0]);
}

/* The mean of nothing is 0. */
static double share(const berth_matrix *a) {
    size_t n = berth_count(a);
    return n ? 1 / (double)n : 0;
}

void berth_mean_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    node->out.value[0] = (berth_real)(berth_sum_of(berth_count(a), a->value) * share(a));
}

void berth_mean_backward(const berth_node *node) {
    spread(node->in[0], (berth_real)((double)node->out.grad[0] * share(node->in[0])));
}

void berth_dot_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    node->out.value[0] = (berth_real)berth_dot_of(berth_count(a), a->value, node->constant);
}

void berth_dot_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    if (!a->grad) return;
    bool set = berth_grad_set(a);
    berth_real g = node->out.grad[0];
    for (size_t i = 0; i < berth_count(a); i++) a->grad[i] = (set ? 0 : a->grad[i]) + g * node->constant[i];
}
