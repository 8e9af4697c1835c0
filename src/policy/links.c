/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs are sorted by two counting sorts, first by target, then stably by source, after which repeats stand side by
 * side. The way back needs no search: going through all pairs by source visits the pairs of each target's row in the
 * row's own order. */
#include "policy/links.h"

#include <string.h>

/* order = positions 0 .. n - 1 of `key` by key, stably; `count` has room for n_keys + 1 zeros. */
static void count_sort(int32_t n_keys, int32_t n, const int32_t *key, const int32_t *before, int32_t *count,
                       int32_t *order) {
    for (int32_t i = 0; i < n; i++) count[key[i] + 1]++;
    for (int32_t k = 0; k < n_keys; k++) count[k + 1] += count[k];
    for (int32_t i = 0; i < n; i++) {
        int32_t item = before ? before[i] : i;
        order[count[key[item]]++] = item;
    }
}

bool berth_pairs_sort(berth_arena *scratch, int32_t n_rows, int32_t n, const int32_t *from, const int32_t *to,
                      int32_t *start, int32_t *source, int32_t *target) {
    int32_t *by_target = berth_arena_push(scratch, (size_t)n, sizeof *by_target);
    int32_t *by_source = berth_arena_push(scratch, (size_t)n, sizeof *by_source);
    int32_t *count_target = berth_arena_push(scratch, (size_t)n_rows + 1, sizeof *count_target);
    int32_t *count_source = berth_arena_push(scratch, (size_t)n_rows + 1, sizeof *count_source);
    if (scratch->failed) return false;
    count_sort(n_rows, n, to, NULL, count_target, by_target);
    count_sort(n_rows, n, from, by_target, count_source, by_source);
    int32_t kept = 0, row = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t u = from[by_source[i]], v = to[by_source[i]];
        if (u == v || (kept > 0 && source[kept - 1] == u && target[kept - 1] == v)) continue;
        while (row < u) start[++row] = kept;
        source[kept] = u;
        target[kept++] = v;
    }
    while (row < n_rows) start[++row] = kept;
    return true;
}

void berth_links_turn(const berth_links *links, int32_t *cursor, int32_t *back) {
    memcpy(cursor, links->start, (size_t)links->n_nodes * sizeof *cursor);
    for (int32_t pair = 0; pair < links->n_pairs; pair++) back[pair] = cursor[links->target[pair]]++;
}

static bool finish(berth_arena *arena, berth_links *links) {
    int32_t *back = berth_arena_push(arena, (size_t)links->n_pairs, sizeof *back);
    int32_t *cursor = berth_arena_push(arena, (size_t)links->n_nodes, sizeof *cursor);
    if (arena->failed) return false;
    berth_links_turn(links, cursor, back);
    links->back = back;
    return true;
}

bool berth_links_build(berth_arena *arena, int32_t n_nodes, int32_t n_edges, const int32_t *from, const int32_t *to,
                       int32_t n_graphs, const int32_t *graph_start, berth_links *out) {
    size_t n = 2 * (size_t)n_edges;
    int32_t *both_from = berth_arena_push(arena, n, sizeof *both_from);
    int32_t *both_to = berth_arena_push(arena, n, sizeof *both_to);
    int32_t *start = berth_arena_push(arena, (size_t)n_nodes + 1, sizeof *start);
    int32_t *source = berth_arena_push(arena, n, sizeof *source);
    int32_t *target = berth_arena_push(arena, n, sizeof *target);
    int32_t *blocks = berth_arena_push(arena, (size_t)n_graphs + 2, sizeof *blocks);
    if (arena->failed) return false;
    for (size_t i = 0; i < (size_t)n_edges; i++) {
        both_from[2 * i] = both_to[2 * i + 1] = from[i];
        both_from[2 * i + 1] = both_to[2 * i] = to[i];
    }
    if (!berth_pairs_sort(arena, n_nodes, (int32_t)n, both_from, both_to, start, source, target)) return false;
    if (graph_start)
        memcpy(blocks, graph_start, ((size_t)n_graphs + 1) * sizeof *blocks);
    else
        blocks[1] = n_nodes;
    *out = (berth_links){.n_nodes = n_nodes,
                         .n_pairs = start[n_nodes],
                         .n_graphs = graph_start ? n_graphs : 1,
                         .start = start,
                         .source = source,
                         .target = target,
                         .graph_start = blocks};
    return finish(arena, out);
}

typedef struct joined {
    int32_t *start, *source, *target, *back, *graph_start;
    int32_t n_nodes, n_pairs, n_graphs; /* so far */
} joined;

static void append(joined *all, const berth_links *part) {
    for (int32_t v = 0; v < part->n_nodes; v++) all->start[all->n_nodes + v] = all->n_pairs + part->start[v];
    for (int32_t pair = 0; pair < part->n_pairs; pair++) {
        all->source[all->n_pairs + pair] = all->n_nodes + part->source[pair];
        all->target[all->n_pairs + pair] = all->n_nodes + part->target[pair];
        all->back[all->n_pairs + pair] = all->n_pairs + part->back[pair];
    }
    for (int32_t g = 0; g < part->n_graphs; g++)
        all->graph_start[all->n_graphs + g] = all->n_nodes + part->graph_start[g];
    all->n_nodes += part->n_nodes;
    all->n_pairs += part->n_pairs;
    all->n_graphs += part->n_graphs;
}

bool berth_links_join(berth_arena *arena, const berth_links *const *parts, int32_t n_parts, berth_links *out) {
    size_t n_nodes = 0, n_pairs = 0, n_graphs = 0;
    for (int32_t i = 0; i < n_parts; i++) {
        n_nodes += (size_t)parts[i]->n_nodes;
        n_pairs += (size_t)parts[i]->n_pairs;
        n_graphs += (size_t)parts[i]->n_graphs;
    }
    joined all = {.start = berth_arena_push(arena, n_nodes + 1, sizeof(int32_t)),
                  .source = berth_arena_push(arena, n_pairs, sizeof(int32_t)),
                  .target = berth_arena_push(arena, n_pairs, sizeof(int32_t)),
                  .back = berth_arena_push(arena, n_pairs, sizeof(int32_t)),
                  .graph_start = berth_arena_push(arena, n_graphs + 1, sizeof(int32_t))};
    if (arena->failed) return false;
    for (int32_t i = 0; i < n_parts; i++) append(&all, parts[i]);
    all.start[n_nodes] = all.n_pairs;
    all.graph_start[n_graphs] = all.n_nodes;
    *out = (berth_links){all.n_nodes, all.n_pairs, all.n_graphs, all.start,
                         all.source,  all.target,  all.back,     all.graph_start};
    return true;
}
