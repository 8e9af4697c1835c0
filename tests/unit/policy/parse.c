/* SPDX-License-Identifier: Apache-2.0 */
/* Dominant-edge parsing against the 120 recorded cases of the published parser, a naive twin written from the words of
 * shared/HSDAG.md 4.3, and what must hold whatever the scores. */
#include "support.h"

#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "policy/parse.h"

enum { MAX_NODES = 64, MAX_PAIRS = MAX_NODES * MAX_NODES };

/* Pairs as the twin sees them: a list in sorted order. */
typedef struct problem {
    int n_nodes, n_pairs;
    int from[MAX_PAIRS], to[MAX_PAIRS];
    berth_real score[MAX_PAIRS];
} problem;

typedef struct answer {
    int n_communities, community[MAX_NODES];
    int n_pooled, pooled[MAX_PAIRS][2];
    double nu[MAX_NODES], lambda[MAX_NODES];
} answer;

/* --- the twin --------------------------------------------------------------------------------------------------- */

static int twin_best(const problem *p, int node) {
    int best = -1;
    for (int e = 0; e < p->n_pairs; e++)
        if (p->from[e] == node && p->to[e] != node && (best < 0 || p->score[e] > p->score[best])) best = e;
    for (int e = 0; best >= 0 && e < p->n_pairs; e++)
        if (p->from[e] == node && p->to[e] == node && p->score[e] > p->score[best]) best = e;
    return best;
}

static void twin_set(const problem *p, const int *best, bool *alive, int seed, bool *in_set) {
    memset(in_set, 0, MAX_NODES * sizeof *in_set);
    in_set[seed] = in_set[p->to[best[seed]]] = true;
    for (bool grew = true; grew;) {
        grew = false;
        for (int w = 0; w < p->n_nodes; w++)
            if (best[w] >= 0 && alive[w] && in_set[p->to[best[w]]]) {
                alive[w] = false;
                in_set[w] = true;
                grew = true;
            }
    }
}

static void twin_parse(const problem *p, answer *out) {
    static bool inside[MAX_PAIRS];
    int best[MAX_NODES];
    bool alive[MAX_NODES], in_set[MAX_NODES];
    memset(inside, 0, sizeof inside);
    memset(out, 0, sizeof *out);
    for (int v = 0; v < p->n_nodes; v++) {
        best[v] = twin_best(p, v);
        alive[v] = best[v] >= 0;
    }
    while (true) {
        int seed = -1;
        for (int v = 0; v < p->n_nodes; v++)
            if (alive[v] && (seed < 0 || p->score[best[v]] > p->score[best[seed]])) seed = v;
        if (seed < 0) break;
        twin_set(p, best, alive, seed, in_set);
        for (int v = 0; v < p->n_nodes; v++)
            if (in_set[v]) out->community[v] = out->n_communities;
        for (int e = 0; e < p->n_pairs; e++)
            if (in_set[p->from[e]] && in_set[p->to[e]]) inside[e] = true;
        out->n_communities++;
    }
    for (int v = 0; v < p->n_nodes; v++) {
        if (best[v] >= 0) continue;
        out->community[v] = out->n_communities++;
        for (int e = 0; e < p->n_pairs; e++)
            if (p->from[e] == v) inside[e] = true;
    }
    for (int a = 0; a < out->n_communities; a++)
        for (int b = 0; b < out->n_communities; b++) {
            bool linked = false;
            for (int e = 0; e < p->n_pairs; e++)
                if (!inside[e] && out->community[p->from[e]] == a && out->community[p->to[e]] == b) linked = true;
            if (!linked) continue;
            out->pooled[out->n_pooled][0] = a;
            out->pooled[out->n_pooled++][1] = b;
        }
    for (int e = 0; e < p->n_pairs; e++)
        if (inside[e]) {
            out->nu[out->community[p->from[e]]] += (double)p->score[e];
            out->lambda[out->community[p->from[e]]]++;
        }
    for (int c = 0; c < out->n_communities; c++) {
        if (out->lambda[c] == 0) out->lambda[c] = out->nu[c] = 1;
        out->nu[c] /= out->lambda[c];
    }
}

/* --- comparing -------------------------------------------------------------------------------------------------- */

static void check_links(const berth_links *links) {
    assert_int_equal(links->start[0], 0);
    assert_int_equal(links->start[links->n_nodes], links->n_pairs);
    for (int32_t v = 0; v < links->n_nodes; v++)
        for (int32_t e = links->start[v]; e < links->start[v + 1]; e++) {
            assert_int_equal(links->source[e], v);
            assert_true(links->target[e] != v);
            if (e > links->start[v]) assert_true(links->target[e - 1] < links->target[e]);
            assert_int_equal(links->source[links->back[e]], links->target[e]);
            assert_int_equal(links->target[links->back[e]], v);
        }
}

/* Offsets of rows; pairs are sorted. */
static berth_scored scored_of(const problem *p, int32_t *start, int32_t *target, int32_t *graph_start) {
    memset(start, 0, (MAX_NODES + 1) * sizeof *start);
    for (int e = 0; e < p->n_pairs; e++) {
        start[p->from[e] + 1]++;
        target[e] = p->to[e];
    }
    for (int v = 0; v < p->n_nodes; v++) start[v + 1] += start[v];
    graph_start[0] = 0;
    graph_start[1] = p->n_nodes;
    return (berth_scored){p->n_nodes, p->n_pairs, 1, start, target, graph_start, p->score};
}

static void check_parsed(const problem *p, const berth_parsed *got, const answer *want, int shift_node,
                         int shift_community) {
    for (int v = 0; v < p->n_nodes; v++)
        assert_int_equal(got->community[shift_node + v], shift_community + want->community[v]);
    for (int c = 0; c < want->n_communities; c++)
        for (int32_t i = got->member_start[shift_community + c]; i < got->member_start[shift_community + c + 1]; i++)
            assert_int_equal(got->community[got->members[i]], shift_community + c);
}

static void check_problem(berth_ctx *ctx, const problem *p, const answer *want, double tolerance) {
    int32_t start[MAX_NODES + 1], target[MAX_PAIRS], graph_start[2];
    berth_scored scored = scored_of(p, start, target, graph_start);
    berth_parsed got;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_true(berth_parse(&arena, &scored, &got));
    assert_int_equal(got.n_communities, want->n_communities);
    check_parsed(p, &got, want, 0, 0);
    check_links(&got.pooled);
    assert_int_equal(got.pooled.n_pairs, want->n_pooled);
    for (int e = 0; e < want->n_pooled; e++) {
        assert_int_equal(got.pooled.source[e], want->pooled[e][0]);
        assert_int_equal(got.pooled.target[e], want->pooled[e][1]);
    }
    for (int c = 0; c < want->n_communities; c++) {
        assert_true(fabs(berth_parsed_nu(&got, p->score, c) - want->nu[c]) <= tolerance);
        assert_true(berth_parsed_lambda(&got, c) == want->lambda[c]);
    }
    assert_int_equal(got.merged, want->n_communities < p->n_nodes);
    berth_arena_deinit(&arena);
}

/* --- recorded cases --------------------------------------------------------------------------------------------- */

static const berth_json *member(const berth_json *object, const char *key) {
    const berth_json *found = berth_json_get(object, key);
    if (!found) fail_msg("no '%s'", key);
    return found;
}

static void read_pairs(const berth_json *list, int *n, int (*out)[2]) {
    *n = 0;
    for (const berth_json *pair = list->child; pair; pair = pair->next) {
        out[*n][0] = (int)pair->child->integer;
        out[(*n)++][1] = (int)pair->child->next->integer;
    }
}

static void read_case(const berth_json *item, problem *p, answer *want) {
    static int pairs[MAX_PAIRS][2];
    int n = 0;
    memset(want, 0, sizeof *want);
    p->n_nodes = (int)member(item, "nodes")->integer;
    read_pairs(member(item, "pairs"), &p->n_pairs, pairs);
    for (int e = 0; e < p->n_pairs; e++) {
        p->from[e] = pairs[e][0];
        p->to[e] = pairs[e][1];
    }
    for (const berth_json *s = member(item, "score")->child; s; s = s->next) p->score[n++] = (berth_real)s->number;
    n = 0;
    for (const berth_json *c = member(item, "community")->child; c; c = c->next) want->community[n++] = (int)c->integer;
    read_pairs(member(item, "pooled"), &want->n_pooled, want->pooled);
    for (const berth_json *v = member(item, "nu")->child; v; v = v->next) want->nu[want->n_communities++] = v->number;
    n = 0;
    for (const berth_json *v = member(item, "lambda")->child; v; v = v->next) want->lambda[n++] = v->number;
}

static void recorded_cases(void **state) {
    static problem p;
    static answer want, twin;
    const char *path = support_source("tests/fixtures/hsdag/parse_cases.json"), *bytes = NULL;
    const berth_json *cases = NULL;
    size_t size = 0;
    int n = 0;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_int_equal(berth_file_read(*state, &arena, path, 1 << 24, &bytes, &size), BERTH_OK);
    assert_int_equal(berth_json_parse(*state, &arena, path, bytes, size, 16, &cases), BERTH_OK);
    for (const berth_json *item = cases->child; item; item = item->next, n++) {
        read_case(item, &p, &want);
        check_problem(*state, &p, &want, 1e-12);
        twin_parse(&p, &twin);
        check_problem(*state, &p, &twin, 1e-12);
    }
    assert_int_equal(n, 120);
    berth_arena_deinit(&arena);
}

/* --- the two cases by hand of HSDAG.md 4.3 ---------------------------------------------------------------------- */

static void path_with_symmetric_scores(void **state) {
    const problem p = {4, 6, {0, 1, 1, 2, 2, 3}, {1, 0, 2, 1, 3, 2}, {0.9, 0.9, 0.5, 0.5, 0.8, 0.8}};
    const answer want = {2, {0, 0, 1, 1}, 2, {{0, 1}, {1, 0}}, {0.9, 0.8}, {2, 2}};
    check_problem(*state, &p, &want, 1e-15);
}

static void path_with_a_stolen_node(void **state) {
    const problem p = {4, 6, {0, 1, 1, 2, 2, 3}, {1, 0, 2, 1, 3, 2}, {0.9, 0.2, 0.6, 0.3, 0.7, 0.8}};
    const answer want = {2, {0, 1, 1, 1}, 0, {{0}}, {0.9, 0.52}, {1, 5}};
    check_problem(*state, &p, &want, 1e-15);
}

/* --- random graphs ---------------------------------------------------------------------------------------------- */

typedef struct how {
    bool symmetric, self_pairs, connected;
    uint32_t levels; /* of scores: few give ties */
} how;

static void draw(uint64_t *seed, how h, problem *p) {
    static bool linked[MAX_NODES][MAX_NODES];
    static berth_real score[MAX_NODES][MAX_NODES];
    memset(linked, 0, sizeof linked);
    p->n_nodes = 1 + (int)support_below(seed, 24);
    p->n_pairs = 0;
    uint32_t percent = support_below(seed, 40);
    for (int u = 0; u < p->n_nodes; u++)
        for (int v = 0; v <= u; v++) {
            bool chain = h.connected && v == u - 1;
            linked[u][v] = linked[v][u] = u == v ? h.self_pairs : chain || support_below(seed, 100) < percent;
            score[u][v] = (berth_real)(1 + support_below(seed, h.levels)) / (berth_real)(h.levels + 1);
            score[v][u] = h.symmetric ? score[u][v]
                                      : (berth_real)(1 + support_below(seed, h.levels)) / (berth_real)(h.levels + 1);
        }
    for (int u = 0; u < p->n_nodes; u++)
        for (int v = 0; v < p->n_nodes; v++) {
            if (!linked[u][v]) continue;
            p->from[p->n_pairs] = u;
            p->to[p->n_pairs] = v;
            p->score[p->n_pairs++] = score[u][v];
        }
}

static how any_how(uint64_t *seed) {
    return (how){support_below(seed, 2), support_below(seed, 3) == 0, support_below(seed, 2),
                 support_below(seed, 2) ? 4 : 1 << 20};
}

static void like_the_twin(void **state) {
    static problem p;
    static answer want;
    uint64_t seed = 1;
    for (int i = 0; i < support_cases(4000); i++) {
        draw(&seed, any_how(&seed), &p);
        twin_parse(&p, &want);
        check_problem(*state, &p, &want, 1e-12);
    }
}

static int component(const int *parent, int v) {
    while (parent[v] != v) v = parent[v];
    return v;
}

/* With symmetric scores nobody is stolen: communities are the components of the graph of dominant edges. */
static void symmetric_scores_give_components(void **state) {
    static problem p;
    uint64_t seed = 2;
    for (int i = 0; i < support_cases(4000); i++) {
        int32_t start[MAX_NODES + 1], target[MAX_PAIRS], graph_start[2];
        int parent[MAX_NODES];
        draw(&seed, (how){true, i % 4 == 0, i % 2, i % 3 ? 3 : 1 << 20}, &p);
        berth_scored scored = scored_of(&p, start, target, graph_start);
        berth_parsed got;
        berth_arena arena;
        berth_arena_init(&arena, berth_ctx_allocator(*state));
        assert_true(berth_parse(&arena, &scored, &got));
        for (int v = 0; v < p.n_nodes; v++) parent[v] = v;
        for (int v = 0; v < p.n_nodes; v++) {
            int best = twin_best(&p, v);
            if (best >= 0) parent[component(parent, v)] = component(parent, p.to[best]);
        }
        for (int u = 0; u < p.n_nodes; u++)
            for (int v = 0; v < p.n_nodes; v++)
                assert_int_equal(component(parent, u) == component(parent, v), got.community[u] == got.community[v]);
        berth_arena_deinit(&arena);
    }
}

/* --- batches ---------------------------------------------------------------------------------------------------- */

/* Several graphs side by side are parsed as each is alone. */
static void batches_are_parsed_one_by_one(void **state) {
    enum { PARTS = 5 };
    static problem parts[PARTS];
    static answer want[PARTS];
    static berth_real score[PARTS * MAX_PAIRS];
    static int32_t target[PARTS * MAX_PAIRS];
    uint64_t seed = 3;
    for (int i = 0; i < support_cases(300); i++) {
        int32_t start[PARTS * MAX_NODES + 1] = {0}, graph_start[PARTS + 1] = {0}, n = 0, m = 0;
        for (int part = 0; part < PARTS; part++) {
            const problem *p = &parts[part];
            draw(&seed, any_how(&seed), &parts[part]);
            twin_parse(p, &want[part]);
            for (int e = 0; e < p->n_pairs; e++) {
                start[n + p->from[e] + 1]++;
                target[m] = n + p->to[e];
                score[m++] = p->score[e];
            }
            n += p->n_nodes;
            graph_start[part + 1] = n;
        }
        for (int32_t v = 0; v < n; v++) start[v + 1] += start[v];
        berth_scored scored = {n, m, PARTS, start, target, graph_start, score};
        berth_parsed got;
        berth_arena arena;
        berth_arena_init(&arena, berth_ctx_allocator(*state));
        assert_true(berth_parse(&arena, &scored, &got));
        for (int part = 0, c = 0; part < PARTS; part++) {
            check_parsed(&parts[part], &got, &want[part], graph_start[part], c);
            assert_int_equal(got.pooled.graph_start[part], c);
            c += want[part].n_communities;
            assert_int_equal(got.pooled.graph_start[part + 1], c);
        }
        check_links(&got.pooled);
        berth_arena_deinit(&arena);
    }
}

static void links_joined_and_built(void **state) {
    const int32_t from[] = {2, 0, 1, 1, 0}, to[] = {1, 1, 2, 0, 0};
    berth_links a, b, all;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_true(berth_links_build(&arena, 4, 5, from, to, 1, NULL, &a));
    check_links(&a);
    assert_int_equal(a.n_pairs, 4); /* 0-1 and 1-2, both ways */
    assert_int_equal(a.start[3], 4);
    assert_true(berth_links_build(&arena, 2, 1, from + 1, to + 1, 1, NULL, &b));
    assert_true(berth_links_join(&arena, (const berth_links *const[]){&b, &a, &b}, 3, &all));
    check_links(&all);
    assert_int_equal(all.n_nodes, 8);
    assert_int_equal(all.n_graphs, 3);
    assert_int_equal(all.graph_start[1], 2);
    assert_int_equal(all.graph_start[2], 6);
    assert_int_equal(all.graph_start[3], 8);
    assert_int_equal(all.target[all.start[3]], 2);
    assert_int_equal(all.target[all.start[3] + 1], 4);
    berth_arena_deinit(&arena);
}

/* --- memory and size -------------------------------------------------------------------------------------------- */

static berth_status climb(berth_ctx *ctx, void *user) {
    const problem *p = user;
    int32_t start[MAX_NODES + 1], target[MAX_PAIRS], graph_start[2];
    berth_scored scored = scored_of(p, start, target, graph_start);
    berth_parsed got;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    bool ok = berth_parse(&arena, &scored, &got);
    berth_arena_deinit(&arena);
    return ok ? BERTH_OK : berth_fail_nomem(ctx);
}

static void runs_out_of_memory_cleanly(void **state) {
    static problem p;
    uint64_t seed = 4;
    (void)state;
    do draw(&seed, (how){false, false, true, 1 << 20}, &p);
    while (p.n_nodes < 20);
    support_ladder(climb, &p, 1);
}

/* A star, all of whose nodes are drawn to one, and a path of rising scores, the longest chain of dominants. */
static void large_graphs_take_no_square(void **state) {
    enum { N = 300000 };
    for (int kind = 0; kind < 2; kind++) {
        berth_arena arena;
        berth_links links;
        berth_parsed got;
        berth_arena_init(&arena, berth_ctx_allocator(*state));
        int32_t *from = berth_arena_push(&arena, N, sizeof *from), *to = berth_arena_push(&arena, N, sizeof *to);
        berth_real *score = berth_arena_push(&arena, 2 * N, sizeof *score);
        assert_non_null(score);
        for (int32_t i = 0; i < N - 1; i++) {
            from[i] = kind == 0 ? 0 : i;
            to[i] = i + 1;
        }
        assert_true(berth_links_build(&arena, N, N - 1, from, to, 1, NULL, &links));
        for (int32_t e = 0; e < links.n_pairs; e++)
            score[e] = (berth_real)(links.source[e] + links.target[e]) / (berth_real)(2 * N);
        berth_scored scored = {N, links.n_pairs, 1, links.start, links.target, links.graph_start, score};
        assert_true(berth_parse(&arena, &scored, &got));
        assert_int_equal(got.n_communities, 1);
        berth_arena_deinit(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recorded_cases, support_open, support_close),
        cmocka_unit_test_setup_teardown(path_with_symmetric_scores, support_open, support_close),
        cmocka_unit_test_setup_teardown(path_with_a_stolen_node, support_open, support_close),
        cmocka_unit_test_setup_teardown(like_the_twin, support_open, support_close),
        cmocka_unit_test_setup_teardown(symmetric_scores_give_components, support_open, support_close),
        cmocka_unit_test_setup_teardown(batches_are_parsed_one_by_one, support_open, support_close),
        cmocka_unit_test_setup_teardown(links_joined_and_built, support_open, support_close),
        cmocka_unit_test_setup_teardown(runs_out_of_memory_cleanly, support_open, support_close),
        cmocka_unit_test_setup_teardown(large_graphs_take_no_square, support_open, support_close),
    };
    return cmocka_run_group_tests_name("policy.parse", tests, NULL, NULL);
}
