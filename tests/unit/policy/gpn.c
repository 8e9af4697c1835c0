/* SPDX-License-Identifier: Apache-2.0 */
/* The graph parsing network where no recorded numbers reach: other shapes, dropout, self-loops, batches, gradients of
 * the assembled loss, memory, size. In double; what was recorded is compared by hsdag_oracle. */
#include "support.h"

#include <math.h>
#include <stdio.h>

#include "policy/head.h"

/* A network with its parameters and everything to run it. */
typedef struct network {
    berth_ctx *ctx;
    berth_params params;
    berth_gpn gpn;
    berth_head head;
    berth_tape *tape;
    berth_arena arena;
} network;

static berth_status build(network *n, berth_ctx *ctx, const berth_gpn_options *options, int32_t n_devices,
                          uint64_t seed) {
    berth_rng rng;
    *n = (network){.ctx = ctx};
    berth_arena_init(&n->arena, berth_ctx_allocator(ctx));
    berth_params_init(&n->params, ctx);
    if (!berth_gpn_declare(&n->gpn, &n->params, options) ||
        !berth_head_declare(&n->head, &n->params, options->width, options->hidden, n_devices))
        return berth_fail_nomem(ctx);
    BERTH_TRY(berth_params_fix(&n->params));
    berth_rng_init(&rng, seed, 1);
    berth_gpn_reset(&n->gpn, &n->params, &rng);
    berth_head_reset(&n->head, &n->params, &rng);
    return berth_tape_new(ctx, &n->tape);
}

static void destroy(network *n) {
    berth_tape_free(n->tape);
    berth_params_deinit(&n->params);
    berth_arena_deinit(&n->arena);
}

static void make(network *n, berth_ctx *ctx, const berth_gpn_options *options, int32_t n_devices, uint64_t seed) {
    if (build(n, ctx, options, n_devices, seed) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
}

static void forward(network *n, const berth_real *x, const berth_links *links, berth_rng *rng,
                    const berth_gpn_pass *given, berth_gpn_pass *out) {
    berth_run run = {.tape = n->tape, .params = &n->params, .rng = rng};
    berth_matrix *input = berth_input(n->tape, x, links->n_nodes, n->gpn.options.width);
    if (berth_gpn_forward(n->ctx, &n->gpn, run, &n->arena, input, links, given, out) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(n->ctx));
}

/* A random graph: a tree if it is to be connected, and further edges. */
typedef struct graph {
    berth_arena arena;
    berth_links links;
    berth_real *x;
} graph;

static graph draw_graph(berth_ctx *ctx, uint64_t *seed, int32_t n, int32_t n_more, bool connected, int32_t width) {
    graph g;
    int32_t n_edges = 0;
    berth_arena_init(&g.arena, berth_ctx_allocator(ctx));
    int32_t *from = berth_arena_push(&g.arena, (size_t)(n + n_more), sizeof *from);
    int32_t *to = berth_arena_push(&g.arena, (size_t)(n + n_more), sizeof *to);
    g.x = berth_arena_push(&g.arena, (size_t)n * (size_t)width, sizeof *g.x);
    assert_non_null(g.x);
    for (int32_t v = 1; v < n && connected; v++) {
        from[n_edges] = (int32_t)support_below(seed, (uint32_t)v);
        to[n_edges++] = v;
    }
    for (int32_t i = 0; i < n_more; i++) {
        from[n_edges] = (int32_t)support_below(seed, (uint32_t)n);
        to[n_edges++] = (int32_t)support_below(seed, (uint32_t)n);
    }
    for (int32_t i = 0; i < n * width; i++) g.x[i] = (berth_real)support_below(seed, 1000) / 500 - (berth_real)1;
    assert_true(berth_links_build(&g.arena, n, n_edges, from, to, 1, NULL, &g.links));
    return g;
}

static berth_gpn_options small_options(int32_t width) {
    berth_gpn_options options = berth_gpn_options_paper(width);
    options.hidden = 10;
    options.dropout_network = 0;
    return options;
}

/* --- shapes ----------------------------------------------------------------------------------------------------- */

static void parameters_of_the_paper(void **state) {
    network n;
    berth_gpn_options options = berth_gpn_options_paper(12);
    make(&n, *state, &options, 2, 1);
    assert_int_equal(n.params.n, 139151);
    assert_non_null(berth_params_find(&n.params, "gpnn.parsing_net.edge_net.mlp.4.weight"));
    destroy(&n);
    options = berth_gpn_options_paper(17);
    make(&n, *state, &options, 2, 1);
    assert_int_equal(n.params.n, 141076);
    destroy(&n);
}

/* Uniform within the limits of each layer's kind, and spread over them; norms and biases of convolutions as stated. */
static void initial_weights(void **state) {
    static const struct {
        const char *name;
        double limit;
    } uniform[] = {{"gpnn.input_trans.mlp.0.weight", 0.5},
                   {"gpnn.input_trans.mlp.0.bias", 0.5},
                   {"gpnn.gnn1.gnn.3.lin.weight", 0.15309310892},
                   {"gpnn.deepsets_pre.mlp.0.bias", 0.08838834764},
                   {"classifier.0.weight", 0.5},
                   {"classifier.2.bias", 0.08838834764}};
    network n;
    berth_gpn_options options = berth_gpn_options_paper(4);
    make(&n, *state, &options, 8, 2);
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform; i++) {
        const berth_matrix *m = berth_params_find(&n.params, uniform[i].name);
        double most = 0, mean = 0, count = m->rows * m->cols;
        for (int32_t k = 0; k < m->rows * m->cols; k++) {
            most = fmax(most, fabs((double)m->value[k]));
            mean += (double)m->value[k] / count;
        }
        assert_true(most <= uniform[i].limit && most > 0.7 * uniform[i].limit);
        assert_true(fabs(mean) < 2 * uniform[i].limit / sqrt(count));
    }
    assert_true((double)berth_params_find(&n.params, "gpnn.gnn1.gnn.0.bias")->value[5] == 0);
    assert_true((double)berth_params_find(&n.params, "gpnn.gnn2.norm.weight")->value[5] == 1);
    assert_true((double)berth_params_find(&n.params, "gpnn.input_trans.mlp.1.bias")->value[5] == 0);
    destroy(&n);
}

/* Of a node without neighbours a convolution is W x + b. */
static void convolution_of_an_isolated_node(void **state) {
    berth_links links;
    berth_csr sums;
    berth_arena arena;
    const int32_t from[] = {0, 0}, to[] = {1, 2};
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_true(berth_links_build(&arena, 4, 2, from, to, 1, NULL, &links));
    assert_true(berth_gcn_sums(&arena, &links, &sums));
    assert_int_equal(sums.start[4] - sums.start[3], 1);
    assert_int_equal(sums.index[sums.start[3]], 3);
    assert_true((double)sums.weight[sums.start[3]] == 1);
    /* Degrees with themselves: 3 2 2 1. */
    assert_true(fabs((double)sums.weight[0] - 1 / 3.) < 1e-15);
    assert_true(fabs((double)sums.weight[1] - 1 / sqrt(6)) < 1e-15);
    berth_arena_deinit(&arena);
}

/* --- where merging ends (shared/HSDAG.md 4.4) -------------------------------------------------------------------- */

static int32_t clusters_of(network *n, const graph *g, berth_rng *rng) {
    berth_gpn_pass pass;
    berth_tape_clear(n->tape);
    berth_tape_record(n->tape, false);
    berth_arena_empty(&n->arena);
    forward(n, g->x, &g->links, rng, NULL, &pass);
    return pass.n_clusters;
}

static void connected_graphs_end_as_one_cluster(void **state) {
    uint64_t seed = 3;
    for (int i = 0; i < support_cases(200); i++) {
        network n;
        berth_gpn_options options = small_options(3);
        graph g = draw_graph(*state, &seed, 1 + (int32_t)support_below(&seed, 60), (int32_t)support_below(&seed, 40),
                             true, 3);
        make(&n, *state, &options, 2, (uint64_t)i);
        assert_int_equal(clusters_of(&n, &g, NULL), 1);
        destroy(&n);
        berth_arena_deinit(&g.arena);
    }
}

/* Of several components each ends as one. */
static void components_end_as_one_cluster_each(void **state) {
    uint64_t seed = 4;
    for (int i = 0; i < support_cases(200); i++) {
        network n;
        berth_gpn_options options = small_options(3);
        int32_t count = 2 + (int32_t)support_below(&seed, 40), label[42], n_components = 0;
        graph g = draw_graph(*state, &seed, count, count / 2, false, 3);
        for (int32_t v = 0; v < count; v++) label[v] = v;
        for (int32_t round = 0; round < count; round++)
            for (int32_t e = 0; e < g.links.n_pairs; e++)
                if (label[g.links.source[e]] < label[g.links.target[e]])
                    label[g.links.target[e]] = label[g.links.source[e]];
        for (int32_t v = 0; v < count; v++) n_components += label[v] == v;
        make(&n, *state, &options, 2, (uint64_t)i);
        assert_int_equal(clusters_of(&n, &g, NULL), n_components);
        destroy(&n);
        berth_arena_deinit(&g.arena);
    }
}

/* Dropout makes scores differ by direction, by which clusters survive; symmetric scores undo that; self-loops let nodes
 * stop by themselves. */
static void dropout_and_self_loops_leave_several(void **state) {
    uint64_t seed = 5;
    int n_dropout = 0, n_symmetric = 0, n_loops = 0, total = support_cases(40);
    for (int i = 0; i < total; i++) {
        network n;
        berth_gpn_options options = small_options(3);
        berth_rng rng;
        berth_rng_init(&rng, 7, (uint64_t)i);
        graph g = draw_graph(*state, &seed, 100, 20, true, 3);
        options.dropout_network = 0.2;
        options.hidden = 64;
        make(&n, *state, &options, 2, (uint64_t)i);
        n_dropout += clusters_of(&n, &g, &rng) > 1;
        n.gpn.options.symmetric = true;
        n_symmetric += clusters_of(&n, &g, &rng) > 1;
        n.gpn.options.dropout_network = 0;
        n.gpn.options.self_loops = true;
        n.gpn.options.max_rounds = 1;
        n_loops += clusters_of(&n, &g, &rng) > 1;
        destroy(&n);
        berth_arena_deinit(&g.arena);
    }
    print_message("dropout leaves several in %d of %d\n", n_dropout, total);
    assert_true(n_dropout > 0 || total < 40);
    assert_int_equal(n_symmetric, 0);
    assert_int_equal(n_loops, total);
}

/* --- batches ---------------------------------------------------------------------------------------------------- */

/* Several graphs side by side give what each gives alone, whatever round it stops at. */
static void batches_give_what_each_gives(void **state) {
    enum { PARTS = 6, WIDTH = 3 };
    uint64_t seed = 6;
    for (int i = 0; i < support_cases(100); i++) {
        graph parts[PARTS];
        const berth_links *links[PARTS];
        berth_links all;
        berth_gpn_pass together, alone;
        network n;
        berth_gpn_options options = small_options(WIDTH);
        options.self_loops = i % 3 == 0;
        options.max_rounds = i % 4;
        berth_real x[PARTS * 30 * WIDTH];
        int32_t n_nodes = 0, n_clusters = 0;
        make(&n, *state, &options, 3, (uint64_t)i);
        for (int p = 0; p < PARTS; p++) {
            int32_t count = p == 2 ? 1 : 1 + (int32_t)support_below(&seed, 30);
            parts[p] = draw_graph(*state, &seed, count, count / 3, i % 2, WIDTH);
            links[p] = &parts[p].links;
            memcpy(x + n_nodes * WIDTH, parts[p].x, (size_t)(count * WIDTH) * sizeof *x);
            n_nodes += count;
        }
        assert_true(berth_links_join(&n.arena, links, PARTS, &all));
        forward(&n, x, &all, NULL, NULL, &together);
        n_nodes = 0;
        for (int p = 0; p < PARTS; p++) {
            forward(&n, parts[p].x, &parts[p].links, NULL, NULL, &alone);
            assert_int_equal(together.cluster_start[p], n_clusters);
            assert_int_equal(together.cluster_start[p + 1] - n_clusters, alone.n_clusters);
            for (int32_t v = 0; v < parts[p].links.n_nodes; v++)
                assert_int_equal(together.cluster_of[n_nodes + v], n_clusters + alone.cluster_of[v]);
            for (int32_t k = 0; k < alone.n_clusters * WIDTH; k++) {
                double a = (double)together.f->value[n_clusters * WIDTH + k], b = (double)alone.f->value[k];
                assert_true(fabs(a - b) <= 1e-10 * fmax(1, fabs(b)));
            }
            n_nodes += parts[p].links.n_nodes;
            n_clusters += alone.n_clusters;
            berth_arena_deinit(&parts[p].arena);
        }
        assert_int_equal(together.n_clusters, n_clusters);
        destroy(&n);
    }
}

/* --- gradients -------------------------------------------------------------------------------------------------- */

typedef struct checked {
    network n;
    graph g;
    berth_grouper grouper;
    berth_gpn_pass pass;
    int32_t action[64];
    int kind; /* 0: parsing, 1: encoder, 2: grouper */
    bool has_pass;
} checked;

/* -1.7 x the log-probability of fixed actions, with fixed communities and fixed dropouts. */
static double loss_of(checked *c, bool backward) {
    berth_rng rng, draws;
    berth_gpn_pass pass;
    berth_arena arena;
    berth_rng_init(&rng, 11, 2);
    berth_rng_init(&draws, 11, 3);
    berth_arena_init(&arena, berth_ctx_allocator(c->n.ctx));
    berth_tape_clear(c->n.tape);
    berth_run run = {.tape = c->n.tape, .params = &c->n.params, .rng = &rng};
    berth_matrix *x = berth_input(c->n.tape, c->g.x, c->g.links.n_nodes, c->n.gpn.options.width), *of_groups = NULL;
    berth_arena *used = c->has_pass ? &arena : &c->n.arena;
    const berth_gpn_pass *given = c->has_pass ? &c->pass : NULL;
    berth_status status;
    if (c->kind == 0)
        status = berth_gpn_forward(c->n.ctx, &c->n.gpn, run, used, x, &c->g.links, given, &pass);
    else if (c->kind == 1)
        status = berth_gpn_encode(c->n.ctx, &c->n.gpn, run, used, x, &c->g.links, &pass);
    else
        status = berth_grouper_forward(c->n.ctx, &c->grouper, &c->n.gpn, run, used, x, &c->g.links, &draws, given,
                                       &pass, &of_groups);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(c->n.ctx));
    if (!c->has_pass) {
        c->pass = pass;
        c->has_pass = true;
    }
    berth_matrix *log_p = berth_head_forward(&c->n.head, &run, pass.f, NULL);
    berth_matrix *sum = berth_sum(c->n.tape, berth_pick(c->n.tape, log_p, c->action));
    if (of_groups) sum = berth_add(c->n.tape, sum, berth_sum(c->n.tape, of_groups));
    berth_matrix *loss = berth_scale(c->n.tape, sum, -1.7);
    assert_non_null(loss);
    double value = (double)loss->value[0];
    if (backward) {
        berth_params_zero_grad(&c->n.params);
        assert_int_equal(berth_tape_backward(c->n.tape, loss), BERTH_OK);
    }
    berth_arena_deinit(&arena);
    return value;
}

/* Slope of the loss along a random direction: by the gradient, and by differences of the loss. */
static void check_direction(checked *c, uint64_t *seed) {
    berth_params *p = &c->n.params;
    const double step = 1e-6;
    double slope = 0, *direction = calloc(p->n, sizeof *direction), at[2];
    berth_real *start = calloc(p->n, sizeof *start);
    loss_of(c, true);
    for (size_t i = 0; i < p->n; i++) {
        direction[i] = (double)support_below(seed, 2001) / 1000 - 1;
        slope += direction[i] * (double)p->grad[i];
        start[i] = p->value[i];
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < p->n; i++) p->value[i] = start[i] + (berth_real)((side ? step : -step) * direction[i]);
        at[side] = loss_of(c, false);
    }
    memcpy(p->value, start, p->n * sizeof *start);
    double measured = (at[1] - at[0]) / (2 * step);
    if (!(fabs(measured - slope) <= 1e-6 * fmax(1, fabs(slope))))
        fail_msg("kind %d: slope %.12g, by differences %.12g", c->kind, slope, measured);
    free(direction);
    free(start);
}

static void assembled_loss_has_its_gradient(void **state) {
    uint64_t seed = 8;
    for (int i = 0; i < support_cases(60); i++) {
        checked c = {.kind = i % 5 == 3 ? 1 : i % 5 == 4 ? 2 : 0};
        int32_t n_devices = 2 + (int32_t)support_below(&seed, 3);
        berth_gpn_options options = small_options(4);
        options.dropout_network = i % 2 ? 0.2 : 0;
        options.dropout_parsing = i % 7 == 0 ? 0.2 : 0;
        options.self_loops = i % 3 == 0;
        options.symmetric = i % 4 == 0;
        options.layer_trans = 1 + (int32_t)support_below(&seed, 3);
        options.layer_gnn1 = (int32_t)support_below(&seed, 4);
        options.layer_gnn2 = (int32_t)support_below(&seed, 3);
        options.layer_deepsets = (int32_t)support_below(&seed, 3);
        options.layer_parsingnet = 1 + (int32_t)support_below(&seed, 3);
        options.act_final = i % 6 != 0;
        options.max_rounds = i % 4 == 1 ? 1 : 0;
        berth_rng rng;
        berth_rng_init(&rng, (uint64_t)i, 1);
        c.n = (network){.ctx = *state};
        berth_arena_init(&c.n.arena, berth_ctx_allocator(*state));
        berth_params_init(&c.n.params, *state);
        assert_true(berth_gpn_declare(&c.n.gpn, &c.n.params, &options));
        assert_true(berth_head_declare(&c.n.head, &c.n.params, 4, 7, n_devices));
        assert_true(berth_grouper_declare(&c.grouper, &c.n.params, options.hidden, 3));
        assert_int_equal(berth_params_fix(&c.n.params), BERTH_OK);
        berth_gpn_reset(&c.n.gpn, &c.n.params, &rng);
        berth_head_reset(&c.n.head, &c.n.params, &rng);
        berth_grouper_reset(&c.grouper, &c.n.params, &rng);
        assert_int_equal(berth_tape_new(*state, &c.n.tape), BERTH_OK);
        c.g = draw_graph(*state, &seed, 2 + (int32_t)support_below(&seed, 25), 6, i % 3 != 1, 4);
        for (int k = 0; k < 64; k++) c.action[k] = (int32_t)support_below(&seed, (uint32_t)n_devices);
        for (int k = 0; k < 3; k++) check_direction(&c, &seed);
        berth_arena_deinit(&c.g.arena);
        destroy(&c.n);
    }
}

/* Where scores matter to the loss their network gets a gradient. */
static void scores_get_a_gradient(void **state) {
    uint64_t seed = 9;
    checked c = {.kind = 0};
    berth_gpn_options options = small_options(4);
    options.max_rounds = 1;
    make(&c.n, *state, &options, 2, 1);
    c.g = draw_graph(*state, &seed, 30, 10, true, 4);
    loss_of(&c, true);
    double sum = 0;
    const berth_matrix *w = berth_params_find(&c.n.params, "gpnn.parsing_net.edge_net.mlp.0.weight");
    for (int32_t i = 0; i < w->rows * w->cols; i++) sum += fabs((double)w->grad[i]);
    assert_true(sum > 1e-6);
    berth_arena_deinit(&c.g.arena);
    destroy(&c.n);
}

/* --- choosing --------------------------------------------------------------------------------------------------- */

static void draws_follow_the_probabilities(void **state) {
    enum { ROWS = 20000 };
    static berth_real log_p[ROWS * 4];
    static int32_t column[ROWS];
    const double p[4] = {0.1, 0.6, 0, 0.3};
    int count[4] = {0};
    berth_rng rng;
    berth_rng_init(&rng, 1, 1);
    for (int i = 0; i < ROWS * 4; i++) log_p[i] = (berth_real)log(p[i % 4]);
    berth_matrix m = {.rows = ROWS, .cols = 4, .value = log_p};
    assert_int_equal(berth_draw(*state, &m, &rng, column), BERTH_OK);
    for (int i = 0; i < ROWS; i++) count[column[i]]++;
    for (int k = 0; k < 4; k++) assert_true(fabs(count[k] / (double)ROWS - p[k]) < 0.02);
    assert_int_equal(count[2], 0);
    log_p[7] = log_p[4] = log_p[5] = log_p[6] = (berth_real)NAN;
    assert_int_equal(berth_draw(*state, &m, &rng, column), BERTH_E_NUMERIC);
}

static void masked_devices_are_never_drawn(void **state) {
    uint64_t seed = 10, mask[12];
    network n;
    berth_gpn_options options = small_options(4);
    berth_gpn_pass pass;
    berth_rng rng;
    int32_t column[12];
    berth_rng_init(&rng, 1, 1);
    make(&n, *state, &options, 5, 1);
    graph g = draw_graph(*state, &seed, 12, 0, false, 4); /* no edges: 12 clusters */
    forward(&n, g.x, &g.links, NULL, NULL, &pass);
    assert_int_equal(pass.n_clusters, 12);
    for (int i = 0; i < 12; i++) mask[i] = 1 + support_below(&seed, 31);
    berth_run run = {.tape = n.tape, .params = &n.params};
    berth_matrix *log_p = berth_head_forward(&n.head, &run, pass.f, mask);
    for (int k = 0; k < 50; k++) {
        assert_int_equal(berth_draw(*state, log_p, &rng, column), BERTH_OK);
        for (int i = 0; i < 12; i++) assert_true(mask[i] >> column[i] & 1);
    }
    berth_arena_deinit(&g.arena);
    destroy(&n);
}

/* Weights that are no numbers are noticed, not parsed. */
static void no_numbers_are_noticed(void **state) {
    uint64_t seed = 12;
    network n;
    berth_gpn_pass pass;
    berth_gpn_options options = small_options(4);
    make(&n, *state, &options, 2, 1);
    graph g = draw_graph(*state, &seed, 12, 4, true, 4);
    n.params.value[3] = (berth_real)NAN;
    berth_run run = {.tape = n.tape, .params = &n.params};
    berth_matrix *x = berth_input(n.tape, g.x, 12, 4);
    assert_int_equal(berth_gpn_forward(*state, &n.gpn, run, &n.arena, x, &g.links, NULL, &pass), BERTH_E_NUMERIC);
    berth_arena_deinit(&g.arena);
    destroy(&n);
}

/* --- memory and size -------------------------------------------------------------------------------------------- */

typedef struct meter {
    long calls;
} meter;

static void *count_calls(void *user, void *old, size_t old_size, size_t new_size) {
    (void)old_size;
    ((meter *)user)->calls++;
    if (new_size) return realloc(old, new_size);
    free(old);
    return NULL;
}

/* A pass and its way back allocate nothing once their memory is there. */
static void warm_steps_allocate_nothing(void **state) {
    meter m = {0};
    berth_ctx *ctx = NULL;
    berth_allocator allocator = {count_calls, &m};
    checked c = {.kind = 0};
    uint64_t seed = 13;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, &allocator), BERTH_OK);
    berth_gpn_options options = small_options(4);
    options.dropout_network = 0.2;
    make(&c.n, ctx, &options, 2, 1);
    c.g = draw_graph(ctx, &seed, 40, 10, true, 4);
    long calls = 0;
    for (int step = 0; step < 12; step++) {
        berth_rng rng;
        berth_gpn_pass pass;
        berth_rng_init(&rng, 1, (uint64_t)step % 3);
        berth_tape_clear(c.n.tape);
        berth_arena_empty(&c.n.arena);
        forward(&c.n, c.g.x, &c.g.links, &rng, NULL, &pass);
        assert_int_equal(berth_tape_backward(c.n.tape, berth_sum(c.n.tape, pass.f)), BERTH_OK);
        if (step == 5) calls = m.calls;
    }
    assert_int_equal(m.calls, calls);
    berth_arena_deinit(&c.g.arena);
    destroy(&c.n);
    berth_ctx_free(ctx);
}

static berth_status climb(berth_ctx *ctx, void *user) {
    const graph *g = user;
    network n;
    berth_gpn_options options = small_options(4);
    berth_rng rng;
    berth_gpn_pass pass;
    berth_rng_init(&rng, 1, 1);
    options.dropout_network = 0.2;
    options.self_loops = true;
    berth_status status = build(&n, ctx, &options, 2, 1);
    if (status == BERTH_OK) {
        berth_run run = {.tape = n.tape, .params = &n.params, .rng = &rng};
        berth_matrix *x = berth_input(n.tape, g->x, g->links.n_nodes, 4);
        status = berth_gpn_forward(ctx, &n.gpn, run, &n.arena, x, &g->links, NULL, &pass);
        if (status == BERTH_OK)
            status = berth_tape_backward(n.tape, berth_sum(n.tape, berth_head_forward(&n.head, &run, pass.f, NULL)));
    }
    destroy(&n);
    return status;
}

static void runs_out_of_memory_cleanly(void **state) {
    uint64_t seed = 14;
    graph g = draw_graph(*state, &seed, 40, 10, true, 4), batch = g;
    const berth_links *parts[] = {&g.links, &g.links};
    support_ladder(climb, &g, 1);
    assert_true(berth_links_join(&g.arena, parts, 2, &batch.links));
    batch.x = berth_arena_push(&g.arena, 80 * 4, sizeof *batch.x);
    assert_non_null(batch.x);
    support_ladder(climb, &batch, 1);
    berth_arena_deinit(&g.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parameters_of_the_paper, support_open, support_close),
        cmocka_unit_test_setup_teardown(initial_weights, support_open, support_close),
        cmocka_unit_test_setup_teardown(convolution_of_an_isolated_node, support_open, support_close),
        cmocka_unit_test_setup_teardown(connected_graphs_end_as_one_cluster, support_open, support_close),
        cmocka_unit_test_setup_teardown(components_end_as_one_cluster_each, support_open, support_close),
        cmocka_unit_test_setup_teardown(dropout_and_self_loops_leave_several, support_open, support_close),
        cmocka_unit_test_setup_teardown(batches_give_what_each_gives, support_open, support_close),
        cmocka_unit_test_setup_teardown(assembled_loss_has_its_gradient, support_open, support_close),
        cmocka_unit_test_setup_teardown(scores_get_a_gradient, support_open, support_close),
        cmocka_unit_test_setup_teardown(draws_follow_the_probabilities, support_open, support_close),
        cmocka_unit_test_setup_teardown(masked_devices_are_never_drawn, support_open, support_close),
        cmocka_unit_test_setup_teardown(no_numbers_are_noticed, support_open, support_close),
        cmocka_unit_test_setup_teardown(warm_steps_allocate_nothing, support_open, support_close),
        cmocka_unit_test_setup_teardown(runs_out_of_memory_cleanly, support_open, support_close),
    };
    return cmocka_run_group_tests_name("policy.gpn", tests, NULL, NULL);
}
