/* SPDX-License-Identifier: Apache-2.0 */
/* Placeto: its networks. Messages run along the edges forwards and backwards through small shared networks; what is
 * gathered about a node from its parents, children and from nodes beside it gives the scores of its devices. */
#include "learn/placeto_net.h"

static bool declare(berth_mlp *mlp, berth_params *params, const char *name, int32_t in, int32_t hidden, int32_t out) {
    *mlp = (berth_mlp){.n_layers = 2};
    return berth_mlp_declare(mlp, params, name, in, hidden, out);
}

bool berth_placeto_declare(berth_placeto_net *net, berth_params *params) {
    static const char *const sends[] = {"send.forward", "send.backward"};
    static const char *const receives[] = {"receive.forward", "receive.backward"};
    static const char *const pools[BERTH_PLACETO_SETS] = {"pool.ancestors", "pool.descendants", "pool.parallel"};
    int32_t h = net->hidden, e = net->embedding = h > 4 ? h / 4 : 1;
    if (!declare(&net->embed, params, "embed", net->width, h, e)) return false;
    for (int way = 0; way < 2; way++)
        if (!declare(&net->send[way], params, sends[way], e, h, e) ||
            !declare(&net->receive[way], params, receives[way], e, h, e))
            return false;
    for (int set = 0; set < BERTH_PLACETO_SETS; set++)
        if (!declare(&net->pool[set], params, pools[set], 2 * e, h, 2 * e)) return false;
    return declare(&net->head, params, "head", 2 * e * (1 + BERTH_PLACETO_SETS), h, net->n_devices);
}

void berth_placeto_reset(const berth_placeto_net *net, berth_params *params, berth_rng *rng) {
    berth_mlp_reset(&net->embed, params, rng);
    for (int way = 0; way < 2; way++) {
        berth_mlp_reset(&net->send[way], params, rng);
        berth_mlp_reset(&net->receive[way], params, rng);
    }
    for (int set = 0; set < BERTH_PLACETO_SETS; set++) berth_mlp_reset(&net->pool[set], params, rng);
    berth_mlp_reset(&net->head, params, rng);
}

static berth_matrix *pass_messages(const berth_placeto_net *net, const berth_run *run, berth_matrix *x, int way,
                                   const berth_placeto_look *look) {
    for (int32_t round = 0; round < net->n_rounds; round++) {
        berth_matrix *sent = berth_mlp_forward(&net->send[way], run, x);
        berth_matrix *got = berth_sparse(run->tape, sent, &look->mean[way], &look->transposed[way]);
        x = berth_add(run->tape, x, berth_mlp_forward(&net->receive[way], run, got));
    }
    return x;
}

berth_matrix *berth_placeto_forward(const berth_placeto_net *net, const berth_run *run, berth_matrix *features,
                                    const berth_placeto_look *look, const uint64_t *mask) {
    berth_tape *tape = run->tape;
    berth_matrix *x = berth_mlp_forward(&net->embed, run, features);
    x = berth_concat(tape, pass_messages(net, run, x, 0, look), pass_messages(net, run, x, 1, look));
    berth_matrix *all = berth_gather(tape, x, &look->node, 1);
    for (int set = 0; set < BERTH_PLACETO_SETS; set++) {
        berth_matrix *members = berth_gather(tape, x, look->set[set], look->span[set][1]);
        members = berth_mlp_forward(&net->pool[set], run, members);
        all = berth_concat(tape, all, berth_segment_mean(tape, members, look->span[set], 1));
    }
    return berth_log_softmax(tape, berth_mlp_forward(&net->head, run, all), mask);
}
