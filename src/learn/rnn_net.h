/* SPDX-License-Identifier: Apache-2.0 */
/* The network of `rnn`: a sequence of groups to a sequence of devices.
 *
 *     x_i       = drop(W f_i + sum over neighbours k of a_k + b)        f: features; a: a vector for each group
 *     e_i       = GRU(x_i; e_(i-1))                                     states of the encoder
 *     s_0       = e_n
 *     context_j = sum over i of softmax_i(v . tanh(K e_i + Q s_(j-1))) e_i
 *     s_j       = GRU(e_j, device of j - 1, context_j; s_(j-1))
 *     device of j ~ softmax(O [s_j, context_j])
 */
#ifndef BERTH_LEARN_RNN_NET_H
#define BERTH_LEARN_RNN_NET_H

#include "policy/layers.h"

typedef struct berth_rnn_net {
    int32_t width;     /* features of a group, at least 1 */
    int32_t n_vectors; /* for neighbours */
    int32_t hidden;    /* states */
    int32_t attention; /* keys and queries */
    int32_t n_devices;
} berth_rnn_net;

/* Declares the parameters; nothing else may be declared before them. False: no memory. */
bool berth_rnn_declare(const berth_rnn_net *net, berth_params *params);
/* PyTorch's initial weights. */
void berth_rnn_reset(const berth_rnn_net *net, berth_params *params, berth_rng *rng);

/* What the encoder made of the groups, and the state of the decoder: a row for each placement that is drawn. */
typedef struct berth_rnn_code {
    berth_matrix *e;     /* groups x hidden */
    berth_matrix *gates; /* what each group's e gives to the decoder's gates */
    berth_matrix *keys;
    berth_matrix *state; /* placements x hidden */
} berth_rnn_code;

/* features: groups x width; neighbours: groups x n_vectors. rows[n] = n, for at least as many as groups; `last` has
 * n_placements times the number of the last group. All are borrowed until the tape is cleared. */
void berth_rnn_encode(const berth_rnn_net *net, const berth_run *run, berth_matrix *features,
                      const berth_csr *neighbours, const berth_csr *transposed, const int32_t *rows,
                      const int32_t *last, int32_t n_placements, berth_rnn_code *out);
/* Log-probabilities of devices for group *row: placements x devices. `before` are the devices of the last group,
 * n_devices at the start. */
berth_matrix *berth_rnn_decode(const berth_rnn_net *net, const berth_run *run, berth_rnn_code *code, const int32_t *row,
                               const int32_t *before, const uint64_t *mask);

#endif
