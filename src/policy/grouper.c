/* SPDX-License-Identifier: Apache-2.0 */
/* Grouper-placer: a learnt assignment to a fixed number of groups, in place of parsing. The encoder is that of the
 * parsing network, and so is the pooling; the weights nu and lambda, which come from scores, are 1. Unlike communities,
 * the assignment is drawn and has a log-probability, through which the grouper learns. */
#include "policy/head.h"

#include <math.h>

bool berth_grouper_declare(berth_grouper *grouper, berth_params *params, int32_t hidden, int32_t n_groups) {
    grouper->n_groups = n_groups;
    grouper->weight = berth_params_add(params, "grouper.weight", n_groups, hidden);
    grouper->bias = berth_params_add(params, "grouper.bias", 1, n_groups);
    return grouper->weight >= 0 && grouper->bias >= 0;
}

void berth_grouper_reset(const berth_grouper *grouper, berth_params *params, berth_rng *rng) {
    berth_matrix *weight = berth_params_at(params, grouper->weight);
    berth_param_uniform(weight, 1 / sqrt(weight->cols), rng);
    berth_param_uniform(berth_params_at(params, grouper->bias), 1 / sqrt(weight->cols), rng);
}

/* Numbers the groups of each graph that got a node, in the order of the groups, and lists their nodes. */
static bool list_clusters(berth_arena *arena, const berth_links *links, int32_t n_groups, const int32_t *group,
                          berth_gpn_pass *out, int32_t **start_out, int32_t **members_out) {
    size_t n = (size_t)links->n_nodes;
    int32_t *number = berth_arena_push(arena, (size_t)n_groups, sizeof *number);
    int32_t *cluster_of = berth_arena_push(arena, n, sizeof *cluster_of);
    int32_t *cluster_start = berth_arena_push(arena, (size_t)links->n_graphs + 1, sizeof *cluster_start);
    int32_t *start = berth_arena_push(arena, n + 2, sizeof *start);
    int32_t *members = berth_arena_push(arena, n, sizeof *members), m = 0;
    if (arena->failed) return false;
    for (int32_t g = 0; g < links->n_graphs; g++) {
        int32_t first = links->graph_start[g], end = links->graph_start[g + 1];
        for (int32_t k = 0; k < n_groups; k++) number[k] = -1;
        for (int32_t v = first; v < end; v++) number[group[v]] = 0;
        for (int32_t k = 0; k < n_groups; k++)
            if (number[k] == 0) number[k] = m++;
        for (int32_t v = first; v < end; v++) {
            cluster_of[v] = number[group[v]];
            start[cluster_of[v] + 2]++;
        }
        cluster_start[g + 1] = m;
    }
    for (int32_t c = 1; c <= m; c++) start[c + 1] += start[c];
    for (int32_t v = 0; v < links->n_nodes; v++) members[start[cluster_of[v] + 1]++] = v;
    out->n_clusters = m;
    out->cluster_of = cluster_of;
    out->cluster_start = cluster_start;
    *start_out = start;
    *members_out = members;
    return true;
}

static bool pool(const berth_gpn *gpn, const berth_run *run, berth_arena *arena, berth_matrix *y, int32_t *start,
                 int32_t *members, berth_gpn_pass *out) {
    int32_t n = y ? y->rows : 0, *each = berth_arena_push(arena, (size_t)n + 1, sizeof *each);
    if (!each || !y) return false;
    for (int32_t v = 0; v <= n; v++) each[v] = v;
    berth_csr rows = {out->n_clusters, n, start, members, NULL};
    berth_csr back = {n, out->n_clusters, each, out->cluster_of, NULL};
    berth_matrix *q = berth_sparse(run->tape, berth_mlp_forward(&gpn->deepsets_pre, run, y), &rows, &back);
    out->f = berth_mlp_forward(&gpn->output_trans, run, berth_mlp_forward(&gpn->deepsets_post, run, q));
    return out->f != NULL;
}

berth_status berth_grouper_forward(berth_ctx *ctx, const berth_grouper *grouper, const berth_gpn *gpn, berth_run run,
                                   berth_arena *arena, berth_matrix *x, const berth_links *links, berth_rng *draws,
                                   const berth_gpn_pass *given, berth_gpn_pass *out, berth_matrix **log_p) {
    berth_csr sums;
    int32_t *start, *members, *group = berth_arena_push(arena, (size_t)links->n_nodes, sizeof *group);
    *out = (berth_gpn_pass){0};
    run.dropout = gpn->options.dropout_network;
    if (!group || !berth_gcn_sums(arena, links, &sums)) return berth_fail_nomem(ctx);
    berth_matrix *h = out->start = berth_mlp_forward(&gpn->input_trans, &run, x);
    berth_matrix *summed = berth_sparse(run.tape, h, &sums, &sums);
    berth_matrix *z = berth_gnn_forward(&gpn->gnn1, &run, h, summed, &sums);
    berth_matrix *logits = berth_linear(run.tape, z, berth_params_at(run.params, grouper->weight),
                                        berth_params_at(run.params, grouper->bias));
    berth_matrix *all = berth_log_softmax(run.tape, logits, NULL);
    if (!all) return berth_fail_nomem(ctx);
    if (given)
        for (int32_t v = 0; v < links->n_nodes; v++) group[v] = given->group[v];
    else
        BERTH_TRY(berth_draw(ctx, all, draws, group));
    out->group = group;
    *log_p = berth_pick(run.tape, all, group);
    if (!list_clusters(arena, links, grouper->n_groups, group, out, &start, &members)) return berth_fail_nomem(ctx);
    berth_matrix *y = berth_gnn_forward(&gpn->gnn2, &run, h, summed, &sums);
    return pool(gpn, &run, arena, y, start, members, out) ? BERTH_OK : berth_fail_nomem(ctx);
}
