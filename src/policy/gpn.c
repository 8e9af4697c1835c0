/* SPDX-License-Identifier: Apache-2.0 */
/* Round by round (shared/HSDAG.md 4.2, whose letters are used here).
 *
 * A link's two directions differ only by the dropout after the edge network's first layer, since z_u * z_v does not
 * know which is which: everything before it is computed once per link. Both graph networks start from the same h and
 * share its neighbourhood sums.
 *
 * Where graphs of a batch stop at different rounds, the rows of those that are done are set aside, and the others go on
 * as a smaller batch. */
#include "policy/gpn.h"

#include <math.h>
#include <string.h>

berth_gpn_options berth_gpn_options_paper(int32_t width) {
    return (berth_gpn_options){.width = width,
                               .hidden = 128,
                               .layer_trans = 2,
                               .layer_gnn1 = 2,
                               .layer_gnn2 = 1,
                               .layer_deepsets = 1,
                               .layer_parsingnet = 2,
                               .act_final = true,
                               .dropout_network = 0.2};
}

bool berth_gpn_declare(berth_gpn *gpn, berth_params *params, const berth_gpn_options *o) {
    *gpn = (berth_gpn){
        .options = *o,
        .input_trans = {.n_layers = o->layer_trans, .act_final = o->act_final, .norm = BERTH_MLP_INSERT},
        .gnn1 = {.n_layers = o->layer_gnn1, .act_final = o->act_final},
        .edge_net = {.n_layers = o->layer_parsingnet, .act_final = false, .norm = BERTH_MLP_INSERT},
        .gnn2 = {.n_layers = o->layer_gnn2, .act_final = o->act_final},
        .deepsets_pre = {.n_layers = o->layer_deepsets, .act_final = o->act_final, .norm = BERTH_MLP_POST},
        .deepsets_post = {.n_layers = o->layer_deepsets, .act_final = o->act_final, .norm = BERTH_MLP_POST},
        .output_trans = {.n_layers = o->layer_trans, .act_final = o->act_final, .norm = BERTH_MLP_PLAIN},
    };
    int32_t h = o->hidden;
    return berth_mlp_declare(&gpn->input_trans, params, "gpnn.input_trans", o->width, h, h) &&
           berth_gnn_declare(&gpn->gnn1, params, "gpnn.gnn1", h) &&
           berth_mlp_declare(&gpn->edge_net, params, "gpnn.parsing_net.edge_net", h, h, 1) &&
           berth_gnn_declare(&gpn->gnn2, params, "gpnn.gnn2", h) &&
           berth_mlp_declare(&gpn->deepsets_pre, params, "gpnn.deepsets_pre", h, h, h) &&
           berth_mlp_declare(&gpn->deepsets_post, params, "gpnn.deepsets_post", h, h, h) &&
           berth_mlp_declare(&gpn->output_trans, params, "gpnn.output_trans", h, h, o->width);
}

void berth_gpn_reset(const berth_gpn *gpn, berth_params *params, berth_rng *rng) {
    berth_mlp_reset(&gpn->input_trans, params, rng);
    berth_gnn_reset(&gpn->gnn1, params, rng);
    berth_mlp_reset(&gpn->edge_net, params, rng);
    berth_gnn_reset(&gpn->gnn2, params, rng);
    berth_mlp_reset(&gpn->deepsets_pre, params, rng);
    berth_mlp_reset(&gpn->deepsets_post, params, rng);
    berth_mlp_reset(&gpn->output_trans, params, rng);
}

/* --- scores ----------------------------------------------------------------------------------------------------- */

/* What is scored: links once, by their smaller node first, then self-loops; and for every pair, in the order of sources
 * and targets, the row of its score, those of the second direction behind those of the first. */
typedef struct scoring {
    int32_t n_rows, n_pairs;
    int32_t *u, *v; /* [n_rows] */
    int32_t *start, *target, *row;
} scoring;

static bool make_room(berth_arena *arena, const berth_links *links, scoring *s) {
    size_t n = (size_t)links->n_nodes, n_pairs = (size_t)links->n_pairs + n;
    s->u = berth_arena_push(arena, n_pairs, sizeof *s->u);
    s->v = berth_arena_push(arena, n_pairs, sizeof *s->v);
    s->start = berth_arena_push(arena, n + 1, sizeof *s->start);
    s->target = berth_arena_push(arena, n_pairs, sizeof *s->target);
    s->row = berth_arena_push(arena, n_pairs, sizeof *s->row);
    return !arena->failed;
}

/* One row per link that is not dropped; row_of [n_pairs] gets it for both pairs of the link, -1 where dropped. */
static void list_rows(const berth_gpn_options *o, const berth_links *links, berth_rng *rng, scoring *s,
                      int32_t *row_of) {
    for (int32_t pair = 0; pair < links->n_pairs; pair++) {
        int32_t u = links->source[pair], v = links->target[pair];
        if (u > v) {
            row_of[pair] = row_of[links->back[pair]];
        } else if (o->dropout_parsing > 0 && berth_rng_uniform(rng) < o->dropout_parsing) {
            row_of[pair] = -1;
        } else {
            row_of[pair] = s->n_rows;
            s->u[s->n_rows] = u;
            s->v[s->n_rows++] = v;
        }
    }
}

static void add_pair(scoring *s, int32_t target, int32_t row) {
    s->target[s->n_pairs] = target;
    s->row[s->n_pairs++] = row;
}

static bool list_pairs(berth_arena *arena, const berth_gpn_options *o, const berth_links *links, berth_rng *rng,
                       bool two_ways, scoring *s) {
    int32_t *row_of = berth_arena_push(arena, (size_t)links->n_pairs, sizeof *row_of);
    if (!row_of || !make_room(arena, links, s)) return false;
    list_rows(o, links, rng, s, row_of);
    int32_t n_links = s->n_rows, n_all = n_links + (o->self_loops ? links->n_nodes : 0);
    for (int32_t node = 0; node < links->n_nodes; node++) {
        bool self_is_due = o->self_loops;
        for (int32_t pair = links->start[node]; pair < links->start[node + 1]; pair++) {
            int32_t target = links->target[pair];
            if (self_is_due && target > node) {
                add_pair(s, node, n_links + node);
                self_is_due = false;
            }
            if (row_of[pair] >= 0) add_pair(s, target, row_of[pair] + (two_ways && target < node ? n_all : 0));
        }
        if (self_is_due) add_pair(s, node, n_links + node);
        s->start[node + 1] = s->n_pairs;
    }
    for (int32_t node = 0; o->self_loops && node < links->n_nodes; node++)
        s->u[s->n_rows] = s->v[s->n_rows] = node, s->n_rows++;
    return true;
}

/* s_uv := sigmoid(EdgeMLP(z_u * z_v)) for every pair. */
static bool score_pairs(const berth_gpn *gpn, const berth_run *run, berth_arena *arena, berth_gpn_round *round) {
    const berth_links *links = &round->links;
    bool two_ways = run->dropout > 0 && !gpn->options.symmetric && gpn->edge_net.n_layers > 1;
    scoring s = {0};
    if (!list_pairs(arena, &gpn->options, links, run->rng, two_ways, &s)) return false;
    berth_matrix *shared = berth_gather_mul(run->tape, round->z, s.u, s.v, s.n_rows), *way[2];
    shared = berth_mlp_layer(&gpn->edge_net, run, 0, shared);
    way[0] = berth_mlp_after(&gpn->edge_net, run, 0, shared, !two_ways);
    if (two_ways) {
        way[1] = berth_mlp_after(&gpn->edge_net, run, 0, shared, false);
        way[0] = berth_stack(run->tape, way, 2);
    }
    round->score = berth_gather(run->tape, berth_sigmoid(run->tape, way[0]), s.row, s.n_pairs);
    round->scored = (berth_scored){.n_nodes = links->n_nodes,
                                   .n_pairs = s.n_pairs,
                                   .n_graphs = links->n_graphs,
                                   .start = s.start,
                                   .target = s.target,
                                   .graph_start = links->graph_start,
                                   .score = round->score ? round->score->value : NULL};
    return round->score != NULL;
}

static bool are_numbers(const berth_matrix *a) {
    double sum = 0;
    for (int32_t i = 0; i < a->rows * a->cols; i++) sum += (double)a->value[i];
    return isfinite(sum);
}

/* --- pooling ---------------------------------------------------------------------------------------------------- */

/* nu_c: mean score of the pairs inside, 1 where there are none; and nu_c * lambda_c. */
static berth_matrix *weigh(const berth_run *run, berth_gpn_round *round) {
    const berth_parsed *p = &round->parsed;
    berth_matrix *inside = berth_gather(run->tape, round->score, p->inside, p->inside_start[p->n_communities]);
    berth_matrix *nu = berth_segment_mean(run->tape, inside, p->inside_start, p->n_communities);
    berth_matrix *none = berth_blank(run->tape, p->n_communities, 1);
    berth_matrix *lambda = berth_blank(run->tape, p->n_communities, 1);
    for (int32_t c = 0; none && lambda && c < p->n_communities; c++) {
        none->value[c] = p->inside_start[c] == p->inside_start[c + 1] ? 1 : 0;
        lambda->value[c] = (berth_real)berth_parsed_lambda(p, c);
    }
    round->nu = berth_add(run->tape, nu, none);
    return berth_mul(run->tape, round->nu, lambda);
}

/* q_c = sum of p_v over the nodes of community c. */
static berth_matrix *sum_members(const berth_run *run, berth_arena *arena, const berth_parsed *p, int32_t n_nodes,
                                 berth_matrix *x) {
    int32_t *each = berth_arena_push(arena, (size_t)n_nodes + 1, sizeof *each);
    for (int32_t v = 0; each && v <= n_nodes; v++) each[v] = v;
    if (!each) return NULL;
    berth_csr members = {p->n_communities, n_nodes, p->member_start, p->members, NULL};
    berth_csr community = {n_nodes, p->n_communities, each, p->community, NULL};
    return berth_sparse(run->tape, x, &members, &community);
}

/* Rows of graphs that are one node already stay as they are: h[c] := h of the node. NULL if there are none. */
static const int32_t *find_single(berth_arena *arena, const berth_gpn_round *round, bool *all) {
    const int32_t *graph_start = round->links.graph_start;
    int32_t n_single = 0, m = round->parsed.n_communities;
    for (int32_t g = 0; g < round->links.n_graphs; g++) n_single += graph_start[g + 1] - graph_start[g] == 1;
    *all = n_single == round->links.n_graphs;
    int32_t *index = n_single > 0 ? berth_arena_push(arena, (size_t)m, sizeof *index) : NULL;
    for (int32_t c = 0; index && c < m; c++) index[c] = c;
    for (int32_t g = 0; index && g < round->links.n_graphs; g++)
        if (graph_start[g + 1] - graph_start[g] == 1) index[round->parsed.pooled.graph_start[g]] = m + graph_start[g];
    return index;
}

/* h := DSpost(sum of DSpre(GNN2(h))) * nu * lambda. */
static void pool(const berth_gpn *gpn, const berth_run *run, berth_arena *arena, berth_gpn_round *round,
                 berth_matrix *h, berth_matrix *summed, const berth_csr *sums) {
    bool all_single = false;
    const int32_t *kept = find_single(arena, round, &all_single);
    berth_matrix *weight = weigh(run, round);
    round->h = h;
    if (all_single) return;
    berth_matrix *y = berth_gnn_forward(&gpn->gnn2, run, h, summed, sums);
    berth_matrix *p = berth_mlp_forward(&gpn->deepsets_pre, run, y);
    berth_matrix *q = sum_members(run, arena, &round->parsed, round->links.n_nodes, p);
    round->h = berth_mul(run->tape, berth_mlp_forward(&gpn->deepsets_post, run, q), weight);
    if (!kept) return;
    berth_matrix *both[] = {round->h, h};
    round->h = berth_gather(run->tape, berth_stack(run->tape, both, 2), kept, round->parsed.n_communities);
}

/* --- batches ---------------------------------------------------------------------------------------------------- */

/* Where a pass stands. Graphs are numbered as in the whole batch. */
typedef struct course {
    berth_arena *arena;
    int32_t n_nodes, n_graphs;    /* of the whole batch */
    int32_t *graph_of;            /* [n_graphs] graph of each block that is still going on */
    int32_t *row_of;              /* [n_nodes] current node, or, once its graph is done, row among all done */
    int32_t *done_first, *done_n; /* [n_graphs] rows of its clusters among all done */
    const int32_t *graph_start;   /* [n_graphs + 1] nodes of the whole batch */
    berth_matrix **parts;         /* rows that were set aside, in the order they were */
    int32_t n_parts, n_done;
} course;

static bool begin(berth_arena *arena, const berth_links *links, course *c) {
    size_t n_graphs = (size_t)links->n_graphs;
    *c = (course){.arena = arena,
                  .n_nodes = links->n_nodes,
                  .n_graphs = links->n_graphs,
                  .graph_of = berth_arena_push(arena, n_graphs, sizeof *c->graph_of),
                  .row_of = berth_arena_push(arena, (size_t)links->n_nodes, sizeof *c->row_of),
                  .done_first = berth_arena_push(arena, n_graphs, sizeof *c->done_first),
                  .done_n = berth_arena_push(arena, n_graphs, sizeof *c->done_n),
                  .graph_start = links->graph_start,
                  .parts = berth_arena_push(arena, n_graphs, sizeof *c->parts)};
    if (arena->failed) return false;
    for (int32_t g = 0; g < links->n_graphs; g++) c->graph_of[g] = g;
    for (int32_t v = 0; v < links->n_nodes; v++) c->row_of[v] = v;
    return true;
}

/* Links of the blocks `kept` (ascending) of a batch, as a batch; index gets their nodes. */
static bool take_blocks(berth_arena *arena, const berth_links *from, const int32_t *kept, int32_t n_kept,
                        berth_links *out, int32_t *index) {
    int32_t *start = berth_arena_push(arena, (size_t)from->n_nodes + 1, sizeof *start);
    int32_t *source = berth_arena_push(arena, (size_t)from->n_pairs, sizeof *source);
    int32_t *target = berth_arena_push(arena, (size_t)from->n_pairs, sizeof *target);
    int32_t *back = berth_arena_push(arena, (size_t)from->n_pairs, sizeof *back);
    int32_t *graph_start = berth_arena_push(arena, (size_t)n_kept + 1, sizeof *graph_start), n = 0, m = 0;
    if (arena->failed) return false;
    for (int32_t i = 0; i < n_kept; i++) {
        int32_t first = from->graph_start[kept[i]], end = from->graph_start[kept[i] + 1];
        int32_t by_nodes = n - first, by_pairs = m - from->start[first];
        for (int32_t v = first; v < end; v++) {
            for (int32_t pair = from->start[v]; pair < from->start[v + 1]; pair++, m++) {
                source[m] = v + by_nodes;
                target[m] = from->target[pair] + by_nodes;
                back[m] = from->back[pair] + by_pairs;
            }
            index[n] = v;
            start[++n] = m;
        }
        graph_start[i + 1] = n;
    }
    *out = (berth_links){n, m, n_kept, start, source, target, back, graph_start};
    return true;
}

/* Moves nodes to their communities and sorts blocks into those that go on, listed in `going`, and those that are done,
 * whose communities are listed in `done`. Gives the number of blocks that go on. */
static int32_t sort_blocks(course *c, const berth_gpn_round *round, bool last, int32_t *going, int32_t *done,
                           int32_t *n_done) {
    const int32_t *before = round->links.graph_start, *after = round->parsed.pooled.graph_start;
    int32_t n_going = 0;
    for (int32_t b = 0; b < round->links.n_graphs; b++) {
        int32_t g = c->graph_of[b], n_after = after[b + 1] - after[b];
        bool goes_on = !last && n_after < before[b + 1] - before[b];
        if (!goes_on) {
            c->done_first[g] = c->n_done + *n_done;
            c->done_n[g] = n_after;
            for (int32_t i = 0; i < n_after; i++) done[(*n_done)++] = after[b] + i;
        } else {
            going[n_going++] = b;
        }
        for (int32_t v = c->graph_start[g]; v < c->graph_start[g + 1]; v++) {
            int32_t community = round->parsed.community[c->row_of[v]];
            c->row_of[v] = goes_on ? community : c->done_first[g] + community - after[b];
        }
    }
    return n_going;
}

/* After a round: what goes on (links with n_graphs 0 if nothing does). False: no memory. */
static bool proceed(course *c, berth_tape *tape, const berth_gpn_round *round, bool last, berth_links *links,
                    berth_matrix **h) {
    int32_t m = round->parsed.n_communities, n_done = 0;
    int32_t *going = berth_arena_push(c->arena, (size_t)round->links.n_graphs, sizeof *going);
    int32_t *done = berth_arena_push(c->arena, (size_t)m, sizeof *done);
    int32_t *index = berth_arena_push(c->arena, (size_t)m, sizeof *index);
    if (c->arena->failed) return false;
    int32_t n_going = sort_blocks(c, round, last, going, done, &n_done);
    if (n_going == round->links.n_graphs) {
        *links = round->parsed.pooled;
        *h = round->h;
        return true;
    }
    c->parts[c->n_parts++] = n_going == 0 ? round->h : berth_gather(tape, round->h, done, n_done);
    c->n_done += n_done;
    if (!take_blocks(c->arena, &round->parsed.pooled, going, n_going, links, index)) return false;
    /* Blocks that were done are taken out of the numbers of those that go on. */
    for (int32_t i = 0; i < n_going; i++) {
        int32_t g = c->graph_of[i] = c->graph_of[going[i]];
        int32_t by = links->graph_start[i] - round->parsed.pooled.graph_start[going[i]];
        for (int32_t v = c->graph_start[g]; v < c->graph_start[g + 1]; v++) c->row_of[v] += by;
    }
    *h = n_going > 0 ? berth_gather(tape, round->h, index, links->n_nodes) : NULL;
    return true;
}

/* Puts the rows of all graphs in their order and applies the output transform. */
static bool finish(const berth_gpn *gpn, const berth_run *run, course *c, berth_gpn_pass *out) {
    int32_t *cluster_of = berth_arena_push(c->arena, (size_t)c->n_nodes, sizeof *cluster_of);
    int32_t *start = berth_arena_push(c->arena, (size_t)c->n_graphs + 1, sizeof *start);
    int32_t *index = berth_arena_push(c->arena, (size_t)c->n_done, sizeof *index), n = 0;
    if (c->arena->failed) return false;
    for (int32_t g = 0; g < c->n_graphs; g++) {
        for (int32_t v = c->graph_start[g]; v < c->graph_start[g + 1]; v++)
            cluster_of[v] = n + c->row_of[v] - c->done_first[g];
        for (int32_t i = 0; i < c->done_n[g]; i++) index[n++] = c->done_first[g] + i;
        start[g + 1] = n;
    }
    berth_matrix *h = c->n_parts == 1 ? c->parts[0] : berth_stack(run->tape, c->parts, c->n_parts);
    if (c->n_parts > 1) h = berth_gather(run->tape, h, index, n);
    out->n_clusters = n;
    out->cluster_of = cluster_of;
    out->cluster_start = start;
    out->f = berth_mlp_forward(&gpn->output_trans, run, h);
    return out->f != NULL;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

/* One round from h on round->links. */
static berth_status go_round(berth_ctx *ctx, const berth_gpn *gpn, const berth_run *run, berth_arena *arena,
                             berth_gpn_round *round, berth_matrix *h, const berth_gpn_round *given) {
    berth_csr sums;
    if (!berth_gcn_sums(arena, &round->links, &sums)) return berth_fail_nomem(ctx);
    berth_matrix *summed = berth_sparse(run->tape, h, &sums, &sums);
    round->z = berth_gnn_forward(&gpn->gnn1, run, h, summed, &sums);
    if (!score_pairs(gpn, run, arena, round)) return berth_fail_nomem(ctx);
    if (!are_numbers(round->score)) return berth_fail(ctx, BERTH_E_NUMERIC, "scores of edges are no longer numbers");
    if (given)
        round->parsed = given->parsed;
    else if (!berth_parse(arena, &round->scored, &round->parsed))
        return berth_fail_nomem(ctx);
    pool(gpn, run, arena, round, h, summed, &sums);
    return round->h ? BERTH_OK : berth_fail_nomem(ctx);
}

berth_status berth_gpn_forward(berth_ctx *ctx, const berth_gpn *gpn, berth_run run, berth_arena *arena, berth_matrix *x,
                               const berth_links *links, const berth_gpn_pass *given, berth_gpn_pass *out) {
    const berth_gpn_round *given_round = given ? given->rounds : NULL;
    berth_gpn_round **tail = &out->rounds;
    berth_links current = *links;
    course c;
    *out = (berth_gpn_pass){0};
    run.dropout = gpn->options.dropout_network;
    if (!begin(arena, links, &c)) return berth_fail_nomem(ctx);
    berth_matrix *h = out->start = berth_mlp_forward(&gpn->input_trans, &run, x);
    while (current.n_graphs > 0) {
        berth_gpn_round *round = berth_arena_push(arena, 1, sizeof *round);
        if (!round) return berth_fail_nomem(ctx);
        *tail = round;
        tail = &round->next;
        round->links = current;
        BERTH_TRY(go_round(ctx, gpn, &run, arena, round, h, given_round));
        out->n_rounds++;
        bool last = given ? !given_round->next : out->n_rounds == gpn->options.max_rounds;
        if (!proceed(&c, run.tape, round, last, &current, &h)) return berth_fail_nomem(ctx);
        given_round = given ? given_round->next : NULL;
    }
    return finish(gpn, &run, &c, out) ? BERTH_OK : berth_fail_nomem(ctx);
}

berth_status berth_gpn_encode(berth_ctx *ctx, const berth_gpn *gpn, berth_run run, berth_arena *arena, berth_matrix *x,
                              const berth_links *links, berth_gpn_pass *out) {
    berth_csr sums;
    *out = (berth_gpn_pass){.n_clusters = links->n_nodes, .cluster_start = links->graph_start};
    run.dropout = gpn->options.dropout_network;
    int32_t *cluster_of = berth_arena_push(arena, (size_t)links->n_nodes, sizeof *cluster_of);
    if (!cluster_of || !berth_gcn_sums(arena, links, &sums)) return berth_fail_nomem(ctx);
    for (int32_t v = 0; v < links->n_nodes; v++) cluster_of[v] = v;
    out->cluster_of = cluster_of;
    out->start = berth_mlp_forward(&gpn->input_trans, &run, x);
    berth_matrix *z =
        berth_gnn_forward(&gpn->gnn1, &run, out->start, berth_sparse(run.tape, out->start, &sums, &sums), &sums);
    out->f = berth_mlp_forward(&gpn->output_trans, &run, z);
    return out->f ? BERTH_OK : berth_fail_nomem(ctx);
}
