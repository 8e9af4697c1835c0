/* SPDX-License-Identifier: Apache-2.0 */
/* What does not depend on the step before is one product for all steps: inputs of the encoder's gates, keys, and what
 * the encoder's states give to the decoder's gates. */
#include "learn/rnn_net.h"

#include <math.h>

enum {
    FEATURE,
    NEIGHBOUR,
    INPUT_BIAS,
    ENCODER_X,
    ENCODER_X_BIAS,
    ENCODER_H,
    ENCODER_H_BIAS,
    DECODER_E,
    DECODER_DEVICE,
    DECODER_CONTEXT,
    DECODER_X_BIAS,
    DECODER_H,
    DECODER_H_BIAS,
    KEY,
    QUERY,
    ATTENTION_BIAS,
    SCORE,
    OUTPUT,
    OUTPUT_BIAS,
    N_PARAMS
};

typedef struct shape {
    const char *name;
    int32_t rows, cols, fan_in;
} shape;

static shape shape_of(const berth_rnn_net *net, int param) {
    int32_t h = net->hidden, g = 3 * h, a = net->attention, d = net->n_devices, in = 3 * h; /* of the decoder */
    const shape shapes[N_PARAMS] = {
        [FEATURE] = {"input.feature", h, net->width, net->width},
        [NEIGHBOUR] = {"input.neighbour", net->n_vectors, h, net->width},
        [INPUT_BIAS] = {"input.bias", 1, h, net->width},
        [ENCODER_X] = {"encoder.x", g, h, h},
        [ENCODER_X_BIAS] = {"encoder.x_bias", 1, g, h},
        [ENCODER_H] = {"encoder.h", g, h, h},
        [ENCODER_H_BIAS] = {"encoder.h_bias", 1, g, h},
        [DECODER_E] = {"decoder.e", g, h, in},
        [DECODER_DEVICE] = {"decoder.device", d + 1, g, in},
        [DECODER_CONTEXT] = {"decoder.context", g, h, in},
        [DECODER_X_BIAS] = {"decoder.x_bias", 1, g, in},
        [DECODER_H] = {"decoder.h", g, h, h},
        [DECODER_H_BIAS] = {"decoder.h_bias", 1, g, h},
        [KEY] = {"attention.key", a, h, 2 * h},
        [QUERY] = {"attention.query", a, h, 2 * h},
        [ATTENTION_BIAS] = {"attention.bias", 1, a, 2 * h},
        [SCORE] = {"attention.score", 1, a, a},
        [OUTPUT] = {"output.weight", d, 2 * h, 2 * h},
        [OUTPUT_BIAS] = {"output.bias", 1, d, 2 * h},
    };
    return shapes[param];
}

bool berth_rnn_declare(const berth_rnn_net *net, berth_params *params) {
    for (int i = 0; i < N_PARAMS; i++) {
        shape s = shape_of(net, i);
        if (berth_params_add(params, s.name, s.rows, s.cols) != i) return false;
    }
    return true;
}

void berth_rnn_reset(const berth_rnn_net *net, berth_params *params, berth_rng *rng) {
    for (int i = 0; i < N_PARAMS; i++)
        berth_param_uniform(berth_params_at(params, i), 1 / sqrt((double)shape_of(net, i).fan_in), rng);
}

static berth_matrix *at(const berth_run *run, int param) {
    return berth_params_at(run->params, param);
}

static berth_matrix *linear(const berth_run *run, berth_matrix *x, int weight, int bias) {
    return berth_linear(run->tape, x, at(run, weight), bias < 0 ? NULL : at(run, bias));
}

/* The states of the encoder, one below the other. */
static berth_matrix *run_encoder(const berth_rnn_net *net, const berth_run *run, berth_matrix *gates,
                                 const int32_t *rows) {
    int32_t n = gates ? gates->rows : 0;
    berth_matrix **states = berth_tape_memory(run->tape, (size_t)n, sizeof(berth_matrix *));
    berth_matrix *h = berth_blank(run->tape, 1, net->hidden);
    if (!states) return NULL;
    for (int32_t i = 0; i < n; i++) {
        berth_matrix *u = linear(run, h, ENCODER_H, ENCODER_H_BIAS);
        states[i] = h = berth_gru(run->tape, berth_gather(run->tape, gates, rows + i, 1), u, h);
    }
    return berth_stack(run->tape, states, n);
}

void berth_rnn_encode(const berth_rnn_net *net, const berth_run *run, berth_matrix *features,
                      const berth_csr *neighbours, const berth_csr *transposed, const int32_t *rows,
                      const int32_t *last, int32_t n_placements, berth_rnn_code *out) {
    berth_matrix *x = linear(run, features, FEATURE, INPUT_BIAS);
    x = berth_add(run->tape, x, berth_sparse(run->tape, at(run, NEIGHBOUR), neighbours, transposed));
    x = berth_dropout(run->tape, x, run->dropout, run->rng);
    out->e = run_encoder(net, run, linear(run, x, ENCODER_X, ENCODER_X_BIAS), rows);
    out->gates = linear(run, out->e, DECODER_E, DECODER_X_BIAS);
    out->keys = linear(run, out->e, KEY, ATTENTION_BIAS);
    out->state = berth_gather(run->tape, out->e, last, n_placements);
}

berth_matrix *berth_rnn_decode(const berth_rnn_net *net, const berth_run *run, berth_rnn_code *code, const int32_t *row,
                               const int32_t *before, const uint64_t *mask) {
    berth_tape *tape = run->tape;
    (void)net;
    if (berth_tape_failed(tape)) return NULL;
    berth_matrix *scores = berth_additive(tape, linear(run, code->state, QUERY, -1), code->keys, at(run, SCORE));
    berth_matrix *share = berth_exp(tape, berth_log_softmax(tape, scores, NULL));
    berth_matrix *context = berth_matmul(tape, share, false, code->e, false);
    berth_matrix *x = linear(run, context, DECODER_CONTEXT, -1);
    x = berth_add(tape, x, berth_gather(tape, at(run, DECODER_DEVICE), before, code->state->rows));
    x = berth_add(tape, x, berth_gather(tape, code->gates, row, 1));
    code->state = berth_gru(tape, x, linear(run, code->state, DECODER_H, DECODER_H_BIAS), code->state);
    berth_matrix *logits = linear(run, berth_concat(tape, code->state, context), OUTPUT, OUTPUT_BIAS);
    return berth_log_softmax(tape, logits, mask);
}
