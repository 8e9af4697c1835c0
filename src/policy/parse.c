/* SPDX-License-Identifier: Apache-2.0 */
/* Dominant-edge parsing, step by step as numbered in shared/HSDAG.md 4.3.
 *
 * Who is drawn to a node is kept as lists, so that a community grows by following them; marking the pairs inside it
 * walks the rows of its nodes. A node is in at most two growing sets: once as the dominant of a seed, once by its own
 * dominant. All else being counting sorts, only the order of the seeds needs comparisons. */
#include "policy/parse.h"

#include <string.h>

#include "base/sort.h"

typedef struct parser {
    const berth_scored *in;
    int32_t *best;                 /* [n_nodes] pair with the largest score, -1: no pair leaves the node */
    int32_t *rev_first, *rev_next; /* [n_nodes] nodes drawn to a node, as a list; -1: end */
    int32_t *order;                /* [n_nodes] seeds to try, of one graph */
    int32_t *stamp;                /* [n_nodes] the newest set that a node was in, plus one */
    int32_t *set;                  /* [n_nodes] the growing community, which is also the queue */
    bool *alive;                   /* [n_nodes] drawn to another node, and not yet taken */
    bool *inside;                  /* [n_pairs] */
    int32_t *community;            /* [n_nodes] */
    int32_t n_communities;
} parser;

static int32_t dominant(const parser *p, int32_t node) {
    return p->in->target[p->best[node]];
}

/* 1: the best pair of a node that has a neighbour; of equal ones the first, a self-pair last. */
static int32_t best_pair(const berth_scored *in, int32_t node) {
    int32_t best = -1, self = -1;
    for (int32_t pair = in->start[node]; pair < in->start[node + 1]; pair++) {
        if (in->target[pair] == node)
            self = pair;
        else if (best < 0 || in->score[pair] > in->score[best])
            best = pair;
    }
    return best >= 0 && self >= 0 && in->score[self] > in->score[best] ? self : best;
}

static void find_dominants(parser *p) {
    for (int32_t node = 0; node < p->in->n_nodes; node++) {
        p->best[node] = best_pair(p->in, node);
        p->rev_first[node] = -1;
    }
    for (int32_t node = p->in->n_nodes - 1; node >= 0; node--) {
        if (p->best[node] < 0) continue;
        p->alive[node] = true;
        p->rev_next[node] = p->rev_first[dominant(p, node)];
        p->rev_first[dominant(p, node)] = node;
    }
}

static bool seeds_before(const void *user, int32_t a, int32_t b) {
    const parser *p = user;
    berth_real x = p->in->score[p->best[a]], y = p->in->score[p->best[b]];
    return x > y || (x == y && a < b);
}

/* Adds a node to the growing set unless it is there. */
static void add(parser *p, int32_t node, int32_t *n) {
    if (p->stamp[node] == p->n_communities + 1) return;
    p->stamp[node] = p->n_communities + 1;
    p->set[(*n)++] = node;
}

static void mark_inside(parser *p, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        for (int32_t pair = p->in->start[p->set[i]]; pair < p->in->start[p->set[i] + 1]; pair++)
            if (p->stamp[p->in->target[pair]] == p->n_communities + 1) p->inside[pair] = true;
}

/* 3: the community of a seed. */
static void grow(parser *p, int32_t seed) {
    int32_t n = 0;
    add(p, seed, &n);
    add(p, dominant(p, seed), &n);
    for (int32_t head = 0; head < n; head++)
        for (int32_t w = p->rev_first[p->set[head]]; w >= 0; w = p->rev_next[w]) {
            if (!p->alive[w]) continue;
            p->alive[w] = false;
            add(p, w, &n);
        }
    for (int32_t i = 0; i < n; i++) p->community[p->set[i]] = p->n_communities;
    mark_inside(p, n);
    p->n_communities++;
}

/* 2 to 4 for one graph. */
static void parse_graph(parser *p, int32_t first, int32_t end) {
    int32_t n = 0;
    for (int32_t node = first; node < end; node++)
        if (p->best[node] >= 0) p->order[n++] = node;
    berth_sort(p->order, (size_t)n, seeds_before, p);
    for (int32_t i = 0; i < n; i++)
        if (p->alive[p->order[i]]) grow(p, p->order[i]);
    for (int32_t node = first; node < end; node++) {
        if (p->best[node] >= 0) continue;
        p->set[0] = node;
        p->stamp[node] = p->n_communities + 1;
        p->community[node] = p->n_communities;
        mark_inside(p, 1);
        p->n_communities++;
    }
}

/* Rows of the items that have a key >= 0, by key. */
static bool list_by(berth_arena *arena, int32_t n_rows, int32_t n, const int32_t *key, const int32_t **start_out,
                    const int32_t **items_out) {
    int32_t *start = berth_arena_push(arena, (size_t)n_rows + 2, sizeof *start);
    int32_t n_items = 0;
    for (int32_t i = 0; i < n; i++) n_items += key[i] >= 0;
    int32_t *items = berth_arena_push(arena, (size_t)n_items, sizeof *items);
    if (arena->failed) return false;
    /* Counted two places up, so that filling moves each start to its own place. */
    for (int32_t i = 0; i < n; i++)
        if (key[i] >= 0) start[key[i] + 2]++;
    for (int32_t row = 1; row <= n_rows; row++) start[row + 1] += start[row];
    for (int32_t i = 0; i < n; i++)
        if (key[i] >= 0) items[start[key[i] + 1]++] = i;
    *start_out = start;
    *items_out = items;
    return true;
}

/* 6: pairs inside, by the community that their source ended in. */
static bool list_inside(berth_arena *arena, const parser *p, berth_parsed *out) {
    int32_t *key = berth_arena_push(arena, (size_t)p->in->n_pairs, sizeof *key);
    if (!key) return false;
    for (int32_t node = 0; node < p->in->n_nodes; node++)
        for (int32_t pair = p->in->start[node]; pair < p->in->start[node + 1]; pair++)
            key[pair] = p->inside[pair] ? p->community[node] : -1;
    return list_by(arena, p->n_communities, p->in->n_pairs, key, &out->inside_start, &out->inside);
}

static const int32_t *pool_graphs(berth_arena *arena, const parser *p) {
    int32_t *graph_start = berth_arena_push(arena, (size_t)p->in->n_graphs + 1, sizeof *graph_start);
    if (!graph_start) return NULL;
    /* A graph's communities have consecutive numbers, and the last of them the largest. */
    for (int32_t g = 0; g < p->in->n_graphs; g++) {
        graph_start[g + 1] = graph_start[g];
        for (int32_t node = p->in->graph_start[g]; node < p->in->graph_start[g + 1]; node++)
            if (p->community[node] >= graph_start[g + 1]) graph_start[g + 1] = p->community[node] + 1;
    }
    return graph_start;
}

/* 5: the pairs that are left, between communities. */
static bool pool(berth_arena *arena, const parser *p, berth_links *out) {
    size_t n_pairs = (size_t)p->in->n_pairs;
    int32_t *from = berth_arena_push(arena, n_pairs, sizeof *from);
    int32_t *to = berth_arena_push(arena, n_pairs, sizeof *to);
    int32_t *start = berth_arena_push(arena, (size_t)p->n_communities + 1, sizeof *start);
    int32_t *cursor = berth_arena_push(arena, (size_t)p->n_communities, sizeof *cursor);
    const int32_t *graph_start = pool_graphs(arena, p);
    int32_t n = 0;
    if (arena->failed) return false;
    for (int32_t node = 0; node < p->in->n_nodes; node++)
        for (int32_t pair = p->in->start[node]; pair < p->in->start[node + 1]; pair++) {
            if (p->inside[pair]) continue;
            from[n] = p->community[node];
            to[n++] = p->community[p->in->target[pair]];
        }
    int32_t *source = berth_arena_push(arena, (size_t)n, sizeof *source);
    int32_t *target = berth_arena_push(arena, (size_t)n, sizeof *target);
    int32_t *back = berth_arena_push(arena, (size_t)n, sizeof *back);
    if (arena->failed || !berth_pairs_sort(arena, p->n_communities, n, from, to, start, source, target)) return false;
    *out = (berth_links){.n_nodes = p->n_communities,
                         .n_pairs = start[p->n_communities],
                         .n_graphs = p->in->n_graphs,
                         .start = start,
                         .source = source,
                         .target = target,
                         .back = back,
                         .graph_start = graph_start};
    berth_links_turn(out, cursor, back);
    return true;
}

bool berth_parse(berth_arena *arena, const berth_scored *scored, berth_parsed *out) {
    size_t n = (size_t)scored->n_nodes;
    parser p = {.in = scored,
                .best = berth_arena_push(arena, n, sizeof *p.best),
                .rev_first = berth_arena_push(arena, n, sizeof *p.rev_first),
                .rev_next = berth_arena_push(arena, n, sizeof *p.rev_next),
                .order = berth_arena_push(arena, n, sizeof *p.order),
                .stamp = berth_arena_push(arena, n, sizeof *p.stamp),
                .set = berth_arena_push(arena, n + 1, sizeof *p.set),
                .alive = berth_arena_push(arena, n, sizeof *p.alive),
                .inside = berth_arena_push(arena, (size_t)scored->n_pairs, sizeof *p.inside),
                .community = berth_arena_push(arena, n, sizeof *p.community)};
    if (arena->failed) return false;
    find_dominants(&p);
    for (int32_t g = 0; g < scored->n_graphs; g++) parse_graph(&p, scored->graph_start[g], scored->graph_start[g + 1]);
    *out = (berth_parsed){
        .n_communities = p.n_communities, .community = p.community, .merged = p.n_communities < scored->n_nodes};
    return list_inside(arena, &p, out) && pool(arena, &p, &out->pooled) &&
           list_by(arena, p.n_communities, scored->n_nodes, p.community, &out->member_start, &out->members);
}

double berth_parsed_nu(const berth_parsed *parsed, const berth_real *score, int32_t community) {
    int32_t first = parsed->inside_start[community], end = parsed->inside_start[community + 1];
    double sum = 0;
    for (int32_t i = first; i < end; i++) sum += (double)score[parsed->inside[i]];
    return end > first ? sum / (end - first) : 1;
}

double berth_parsed_lambda(const berth_parsed *parsed, int32_t community) {
    int32_t n = parsed->inside_start[community + 1] - parsed->inside_start[community];
    return n > 0 ? n : 1;
}
