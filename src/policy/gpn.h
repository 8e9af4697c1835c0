/* SPDX-License-Identifier: Apache-2.0 */
/* The graph parsing network of HSDAG (shared/HSDAG.md 4): features of nodes in, clusters and features of clusters out.
 *
 * A round scores every link, parses the scores into communities and pools nodes into them; rounds follow until nothing
 * merges, or until max_rounds. Scores are differentiated as factors of the pooled features, communities are not. Graphs
 * of a batch are parsed each on its own and stop each at its own round, but share all products. */
#ifndef BERTH_POLICY_GPN_H
#define BERTH_POLICY_GPN_H

#include "policy/layers.h"
#include "policy/parse.h"

typedef struct berth_gpn_options {
    int32_t width;            /* of features, in and out */
    int32_t hidden;           /* 128 in the paper, as the numbers behind it */
    int32_t layer_trans;      /* 2: of input and output transform */
    int32_t layer_gnn1;       /* 2: before scores */
    int32_t layer_gnn2;       /* 1: before pooling */
    int32_t layer_deepsets;   /* 1: before and after pooling */
    int32_t layer_parsingnet; /* 2: of the edge network */
    bool act_final;           /* true */
    double dropout_network;   /* 0.2 */
    double dropout_parsing;   /* 0: share of links that a round does not score */
    bool self_loops;          /* false: a node may choose itself */
    bool symmetric;           /* false: one score for both directions */
    int32_t max_rounds;       /* 0: until nothing merges */
} berth_gpn_options;

typedef struct berth_gpn {
    berth_gpn_options options;
    berth_mlp input_trans, edge_net, deepsets_pre, deepsets_post, output_trans;
    berth_gnn gnn1, gnn2;
} berth_gpn;

/* As published; width is the caller's. */
berth_gpn_options berth_gpn_options_paper(int32_t width);
/* Declares all parameters as gpnn.*; false: no memory. */
bool berth_gpn_declare(berth_gpn *gpn, berth_params *params, const berth_gpn_options *options);
void berth_gpn_reset(const berth_gpn *gpn, berth_params *params, berth_rng *rng);

/* One round, for whoever wants to look inside. */
typedef struct berth_gpn_round berth_gpn_round;
struct berth_gpn_round {
    berth_gpn_round *next;
    berth_links links;   /* what it started from */
    berth_scored scored; /* its pairs and their scores */
    berth_parsed parsed;
    berth_matrix *z;     /* nodes, as scored */
    berth_matrix *score; /* pairs x 1 */
    berth_matrix *nu;    /* communities x 1 */
    berth_matrix *h;     /* communities */
};

typedef struct berth_gpn_pass {
    berth_matrix *start; /* after the input transform */
    berth_gpn_round *rounds;
    int32_t n_rounds;
    int32_t n_clusters;
    const int32_t *cluster_of;    /* [n_nodes] */
    const int32_t *cluster_start; /* [n_graphs + 1]: clusters of a graph */
    const int32_t *group;         /* [n_nodes] as drawn by a grouper (head.h), else NULL */
    berth_matrix *f;              /* clusters x width */
} berth_gpn_pass;

/* Runs the network on `run`, whose dropout is set to the options'. Arrays are in the arena, until both it and the tape
 * are emptied. With `given`, a pass over the same links, its communities are used instead of parsing again: what the
 * log-probability of what was chosen then is under other parameters. BERTH_OK, BERTH_E_NOMEM, BERTH_E_NUMERIC (a score
 * that is no number). */
berth_status berth_gpn_forward(berth_ctx *ctx, const berth_gpn *gpn, berth_run run, berth_arena *arena, berth_matrix *x,
                               const berth_links *links, const berth_gpn_pass *given, berth_gpn_pass *out);
/* The same without parsing: every node is a cluster (encoder-placer). */
berth_status berth_gpn_encode(berth_ctx *ctx, const berth_gpn *gpn, berth_run run, berth_arena *arena, berth_matrix *x,
                              const berth_links *links, berth_gpn_pass *out);

#endif
