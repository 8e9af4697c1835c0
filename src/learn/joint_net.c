/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of the encoder serves all placements of an update, since what nodes look like does not depend on what was
 * drawn; only clusters differ, and those of all placements stand one below the other.
 *
 * Devices start out in proportion to a power of the speed that the cluster has there, by a fixed term beside the
 * head's: the first draws are then about as good as a greedy choice, instead of spread over devices that nobody would
 * take. */
#include "learn/joint_net.h"

#include "base/leader.h"

#include <math.h>
#include <string.h>

/* --- set-up ----------------------------------------------------------------------------------------------------- */

static void list_rows(berth_joint_net *net) {
    const berth_links *links = &net->rollout.view->links;
    int32_t n = 0;
    for (int32_t v = 0; v < links->n_nodes; v++) {
        net->row_start[v] = n;
        net->row_from[n] = net->row_to[n] = v;
        n++;
        for (int32_t pair = links->start[v]; pair < links->start[v + 1]; pair++, n++) {
            net->row_from[n] = v;
            net->row_to[n] = links->target[pair];
        }
    }
    net->row_start[links->n_nodes] = net->n_rows = n;
}

static void sum_times(berth_joint_net *net) {
    const berth_view *view = net->rollout.view;
    const berth_costs *c = view->costs;
    size_t n_devices = (size_t)c->n_devices;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (size_t d = 0; d < n_devices; d++)
            if (view->allowed[view->node_of[task]] >> d & 1)
                net->time[(size_t)view->node_of[task] * n_devices + d] += c->time_ms[(size_t)task * n_devices + d];
}

berth_status berth_joint_net_open(berth_joint_net *net, berth_search *search, berth_policy *policy,
                                  berth_arena *arena) {
    BERTH_TRY(berth_rollout_open(&net->rollout, search, policy));
    const berth_view *view = net->rollout.view;
    size_t n = (size_t)view->n_nodes, n_rows = n + (size_t)view->links.n_pairs;
    net->row_start = berth_arena_push(arena, n + 1, sizeof *net->row_start);
    net->row_from = berth_arena_push(arena, n_rows, sizeof *net->row_from);
    net->row_to = berth_arena_push(arena, n_rows, sizeof *net->row_to);
    net->time = berth_arena_push(arena, n * (size_t)view->costs->n_devices, sizeof *net->time);
    net->root = berth_arena_push(arena, n, sizeof *net->root);
    net->number = berth_arena_push(arena, n, sizeof *net->number);
    net->mask = berth_arena_push(arena, n, sizeof *net->mask);
    net->first = berth_arena_push(arena, (size_t)net->rollout.grouper.n_groups, sizeof *net->first);
    if (arena->failed || !berth_gcn_sums(arena, &view->links, &net->sums)) return berth_fail_nomem(search->ctx);
    list_rows(net);
    sum_times(net);
    return BERTH_OK;
}

void berth_joint_net_close(berth_joint_net *net) {
    berth_rollout_close(&net->rollout);
}

bool berth_joint_draw_init(const berth_joint_net *net, berth_arena *arena, berth_joint_draw *draw) {
    size_t n = (size_t)net->rollout.view->n_nodes;
    *draw = (berth_joint_draw){.choice = berth_arena_push(arena, n, sizeof *draw->choice),
                               .cluster_of = berth_arena_push(arena, n, sizeof *draw->cluster_of),
                               .device = berth_arena_push(arena, n, sizeof *draw->device),
                               .score = INFINITY};
    return !arena->failed;
}

void berth_joint_draw_copy(const berth_joint_net *net, berth_joint_draw *to, const berth_joint_draw *from) {
    size_t n = (size_t)net->rollout.view->n_nodes;
    memcpy(to->choice, from->choice, n * sizeof *to->choice);
    memcpy(to->cluster_of, from->cluster_of, n * sizeof *to->cluster_of);
    memcpy(to->device, from->device, n * sizeof *to->device);
    to->n_clusters = from->n_clusters;
    to->score = from->score;
}

/* --- clusters --------------------------------------------------------------------------------------------------- */

/* Those that share no device stay apart. */
static void join(berth_joint_net *net, int32_t a, int32_t b) {
    a = berth_leader_find(net->root, a);
    b = berth_leader_find(net->root, b);
    if (a == b || (net->mask[a] & net->mask[b]) == 0) return;
    net->mask[a] &= net->mask[b];
    net->root[b] = a;
}

static void find_clusters(berth_joint_net *net, berth_joint_draw *draw) {
    const berth_view *view = net->rollout.view;
    int32_t n = view->n_nodes;
    for (int32_t v = 0; v < n; v++) {
        net->root[v] = v;
        net->number[v] = -1;
        net->mask[v] = view->allowed[v];
    }
    switch (net->rollout.architecture) {
    case BERTH_JOINT:
        for (int32_t v = 0; v < n; v++) join(net, v, net->row_to[draw->choice[v]]);
        break;
    case BERTH_GROUPER_PLACER:
        for (int32_t g = 0; g < net->rollout.grouper.n_groups; g++) net->first[g] = -1;
        for (int32_t v = 0; v < n; v++) {
            int32_t *first = &net->first[draw->choice[v]];
            if (*first < 0) *first = v;
            join(net, *first, v);
        }
        break;
    case BERTH_ENCODER_PLACER: break;
    }
    draw->n_clusters = 0;
    for (int32_t v = 0; v < n; v++) {
        int32_t root = berth_leader_find(net->root, v);
        if (net->number[root] < 0) net->number[root] = draw->n_clusters++;
        draw->cluster_of[v] = net->number[root];
    }
}

/* --- the network ------------------------------------------------------------------------------------------------ */

static berth_run running(berth_joint_net *net) {
    return (berth_run){.tape = net->rollout.tape, .params = &net->rollout.policy->params};
}

/* As far as the log-probabilities of parents or groups. */
static berth_status encode(berth_joint_net *net, berth_joint_pass *pass) {
    const berth_rollout *r = &net->rollout;
    const berth_gpn *gpn = &r->gpn;
    berth_run run = running(net);
    berth_tape *t = run.tape;
    *pass = (berth_joint_pass){0};
    pass->hidden = berth_mlp_forward(&gpn->input_trans, &run, berth_input(t, r->start, r->view->n_nodes, r->width));
    pass->summed = berth_sparse(t, pass->hidden, &net->sums, &net->sums);
    if (!pass->summed) return berth_fail_nomem(r->search->ctx);
    if (r->architecture == BERTH_ENCODER_PLACER) return BERTH_OK;
    berth_matrix *z = berth_gnn_forward(&gpn->gnn1, &run, pass->hidden, pass->summed, &net->sums);
    if (r->architecture == BERTH_JOINT) {
        berth_matrix *both = berth_gather_mul(t, z, net->row_from, net->row_to, net->n_rows);
        berth_matrix *score = berth_mlp_forward(&gpn->edge_net, &run, both);
        pass->choices = berth_segment_log_softmax(t, score, net->row_start, r->view->n_nodes);
    } else {
        berth_matrix *score = berth_linear(t, z, berth_params_at(run.params, r->grouper.weight),
                                           berth_params_at(run.params, r->grouper.bias));
        pass->choices = berth_log_softmax(t, score, NULL);
    }
    return pass->choices ? BERTH_OK : berth_fail_nomem(r->search->ctx);
}

/* Members of all clusters of all draws, and the same by node. */
static bool list_members(const berth_joint_net *net, berth_arena *arena, const berth_joint_draw *const *draws,
                         int32_t n, berth_csr *members, berth_csr *clusters) {
    int32_t n_nodes = net->rollout.view->n_nodes, m = 0;
    size_t all = (size_t)n * (size_t)n_nodes;
    int32_t *start = berth_arena_push(arena, all + 2, sizeof *start);
    int32_t *index = berth_arena_push(arena, all, sizeof *index);
    int32_t *back_start = berth_arena_push(arena, (size_t)n_nodes + 1, sizeof *back_start);
    int32_t *back = berth_arena_push(arena, all, sizeof *back);
    if (arena->failed) return false;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t v = 0; v < n_nodes; v++) {
            int32_t cluster = m + draws[i]->cluster_of[v];
            back[(size_t)v * (size_t)n + (size_t)i] = cluster;
            start[cluster + 2]++;
        }
        m += draws[i]->n_clusters;
    }
    for (int32_t c = 1; c <= m; c++) start[c + 1] += start[c];
    for (int32_t i = 0; i < n; i++)
        for (int32_t v = 0; v < n_nodes; v++) index[start[back[(size_t)v * (size_t)n + (size_t)i] + 1]++] = v;
    for (int32_t v = 0; v <= n_nodes; v++) back_start[v] = v * n;
    *members = (berth_csr){m, n_nodes, start, index, NULL};
    *clusters = (berth_csr){n_nodes, m, back_start, back, NULL};
    return true;
}

/* What stands beside the head, and which devices there are, for each cluster. */
static bool weigh_devices(const berth_joint_net *net, berth_arena *arena, const berth_csr *members, berth_matrix *prior,
                          uint64_t **mask_out) {
    static const double trust = 4;
    const berth_view *view = net->rollout.view;
    int32_t n_devices = view->costs->n_devices;
    double *time = berth_arena_push(arena, (size_t)n_devices, sizeof *time);
    uint64_t *mask = berth_arena_push(arena, (size_t)members->rows + 1, sizeof *mask);
    if (!time || !mask || !prior) return false;
    for (int32_t c = 0; c < members->rows; c++) {
        double least = INFINITY;
        mask[c] = UINT64_MAX;
        for (int32_t d = 0; d < n_devices; d++) time[d] = 0;
        for (int32_t i = members->start[c]; i < members->start[c + 1]; i++) {
            mask[c] &= view->allowed[members->index[i]];
            for (int32_t d = 0; d < n_devices; d++)
                time[d] += net->time[(size_t)members->index[i] * (size_t)n_devices + (size_t)d];
        }
        for (int32_t d = 0; d < n_devices; d++)
            if (mask[c] >> d & 1) least = fmin(least, time[d]);
        for (int32_t d = 0; d < n_devices; d++)
            prior->value[(size_t)c * (size_t)n_devices + (size_t)d] =
                (mask[c] >> d & 1) && least > 0 ? (berth_real)fmax(-trust * log(time[d] / least), -10) : 0;
    }
    *mask_out = mask;
    return true;
}

/* Log-probabilities of the devices of all clusters. */
static berth_status head(berth_joint_net *net, berth_arena *arena, const berth_joint_draw *const *draws, int32_t n,
                         berth_joint_pass *pass) {
    const berth_rollout *r = &net->rollout;
    const berth_gpn *gpn = &r->gpn;
    berth_run run = running(net);
    berth_tape *t = run.tape;
    berth_csr members, clusters;
    uint64_t *mask;
    if (!list_members(net, arena, draws, n, &members, &clusters)) return berth_fail_nomem(r->search->ctx);
    berth_matrix *prior = berth_blank(t, members.rows, r->view->costs->n_devices);
    if (!weigh_devices(net, arena, &members, prior, &mask)) return berth_fail_nomem(r->search->ctx);
    berth_matrix *y = berth_gnn_forward(&gpn->gnn2, &run, pass->hidden, pass->summed, &net->sums);
    berth_matrix *q = berth_sparse(t, berth_mlp_forward(&gpn->deepsets_pre, &run, y), &members, &clusters);
    berth_matrix *f = berth_mlp_forward(&gpn->output_trans, &run, berth_mlp_forward(&gpn->deepsets_post, &run, q));
    pass->devices = berth_log_softmax(t, berth_add(t, berth_head_forward(&r->head, &run, f, NULL), prior), mask);
    pass->n_clusters = members.rows;
    return pass->devices ? BERTH_OK : berth_fail_nomem(r->search->ctx);
}

/* --- drawing and playing again ---------------------------------------------------------------------------------- */

static void draw_parents(berth_joint_net *net, const berth_real *log_p, int32_t *choice) {
    for (int32_t v = 0; v < net->rollout.view->n_nodes; v++) {
        int32_t row = net->row_start[v], end = net->row_start[v + 1];
        double left = berth_rng_uniform(&net->rollout.draws);
        for (; row < end - 1; row++) {
            left -= exp((double)log_p[row]);
            if (left < 0) break;
        }
        choice[v] = row;
    }
}

berth_status berth_joint_sample(berth_joint_net *net, berth_arena *arena, berth_joint_draw *draws, int32_t n,
                                berth_joint_pass *pass) {
    berth_rollout *r = &net->rollout;
    const berth_joint_draw **list = berth_arena_push(arena, (size_t)n, sizeof *list);
    if (!list) return berth_fail_nomem(r->search->ctx);
    BERTH_TRY(encode(net, pass));
    for (int32_t i = 0; i < n; i++) {
        list[i] = &draws[i];
        if (r->architecture == BERTH_JOINT) draw_parents(net, pass->choices->value, draws[i].choice);
        if (r->architecture == BERTH_GROUPER_PLACER)
            BERTH_TRY(berth_draw(r->search->ctx, pass->choices, &r->draws, draws[i].choice));
        find_clusters(net, &draws[i]);
    }
    BERTH_TRY(head(net, arena, list, n, pass));
    int32_t *device = berth_arena_push(arena, (size_t)pass->n_clusters, sizeof *device);
    if (!device) return berth_fail_nomem(r->search->ctx);
    BERTH_TRY(berth_draw(r->search->ctx, pass->devices, &r->draws, device));
    for (int32_t i = 0; i < n; device += draws[i++].n_clusters)
        memcpy(draws[i].device, device, (size_t)draws[i].n_clusters * sizeof *device);
    return BERTH_OK;
}

berth_status berth_joint_replay(berth_joint_net *net, berth_arena *arena, const berth_joint_draw *const *draws,
                                int32_t n, berth_joint_pass *pass) {
    berth_rollout *r = &net->rollout;
    size_t n_nodes = (size_t)r->view->n_nodes;
    int32_t *choice = berth_arena_push(arena, (size_t)n * n_nodes, sizeof *choice);
    int32_t *node = berth_arena_push(arena, (size_t)n * n_nodes, sizeof *node);
    if (arena->failed) return berth_fail_nomem(r->search->ctx);
    BERTH_TRY(encode(net, pass));
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t v = 0; v < n_nodes; v++) {
            choice[i * n_nodes + v] = draws[i]->choice[v];
            node[i * n_nodes + v] = (int32_t)v;
        }
    if (r->architecture == BERTH_JOINT)
        pass->of_choices = berth_gather(r->tape, pass->choices, choice, n * (int32_t)n_nodes);
    if (r->architecture == BERTH_GROUPER_PLACER)
        pass->of_choices =
            berth_pick(r->tape, berth_gather(r->tape, pass->choices, node, n * (int32_t)n_nodes), choice);
    if (pass->choices && !pass->of_choices) return berth_fail_nomem(r->search->ctx);
    return head(net, arena, draws, n, pass);
}

void berth_joint_spread(const berth_joint_net *net, const berth_joint_draw *draw, int32_t *device) {
    const berth_view *view = net->rollout.view;
    for (int32_t task = 0; task < view->costs->n_tasks; task++)
        device[task] = draw->device[draw->cluster_of[view->node_of[task]]];
}
