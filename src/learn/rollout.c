/* SPDX-License-Identifier: Apache-2.0 */
/* From settings to a network, and from a network to placements. Random numbers are split into three streams (weights,
 * dropout, choices) of a seed drawn from the search, so that a sample can be played again from where its dropouts
 * began. */
#include "learn/rollout.h"

#include <math.h>
#include <string.h>

berth_feature_options berth_settings_features(const berth_settings *s) {
    return (berth_feature_options){
        .type = berth_settings_get(s, BERTH_SET_FEATURE_TYPE) != 0,
        .shape = berth_settings_get(s, BERTH_SET_FEATURE_SHAPE) != 0,
        .in_degree = berth_settings_get(s, BERTH_SET_FEATURE_IN_DEGREE) != 0,
        .out_degree = berth_settings_get(s, BERTH_SET_FEATURE_OUT_DEGREE) != 0,
        .fractal = berth_settings_get(s, BERTH_SET_FEATURE_FRACTAL) != 0,
        .cost = berth_settings_get(s, BERTH_SET_FEATURE_COST) != 0,
        .position = (berth_position)berth_settings_get(s, BERTH_SET_FEATURE_POSITION),
        .position_width = (int32_t)berth_settings_get(s, BERTH_SET_POSITION_WIDTH),
    };
}

berth_gpn_options berth_settings_network(const berth_settings *s, int32_t width) {
    berth_gpn_options options = berth_gpn_options_paper(width);
    options.hidden = (int32_t)berth_settings_get(s, BERTH_SET_HIDDEN);
    options.layer_trans = (int32_t)berth_settings_get(s, BERTH_SET_LAYER_TRANS);
    options.layer_gnn1 = (int32_t)berth_settings_get(s, BERTH_SET_LAYER_GNN);
    options.layer_parsingnet = (int32_t)berth_settings_get(s, BERTH_SET_LAYER_PARSINGNET);
    options.dropout_network = berth_settings_get(s, BERTH_SET_DROPOUT_NETWORK);
    options.dropout_parsing = berth_settings_get(s, BERTH_SET_DROPOUT_PARSING);
    options.act_final = berth_settings_get(s, BERTH_SET_ACT_FINAL) != 0;
    options.self_loops = berth_settings_get(s, BERTH_SET_IGNORE_SELF_LOOP) == 0;
    options.symmetric = berth_settings_get(s, BERTH_SET_SYMMETRIC) != 0;
    options.max_rounds = (int32_t)berth_settings_get(s, BERTH_SET_MAX_ROUNDS);
    return options;
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* What the columns of a plan mean, as a number: a policy must not go on with others (FNV-1a, 52 bits). */
static double plan_digest(const berth_feature_plan *plan) {
    uint64_t hash = 14695981039346656037u;
    for (int32_t i = 0; i < plan->n_types; i++)
        for (const char *c = plan->types[i];; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
            if (!*c) break;
        }
    for (int32_t i = 0; i < plan->n_in; i++) hash = (hash ^ (uint32_t)plan->in_degrees[i]) * 1099511628211u;
    hash = (hash ^ (uint32_t)plan->n_dims) * 1099511628211u;
    for (int32_t i = 0; i < plan->n_out; i++) hash = (hash ^ (uint32_t)plan->out_degrees[i]) * 1099511628211u;
    return (double)(hash >> 12);
}

static berth_status fill_features(berth_rollout *r) {
    berth_ctx *ctx = r->search->ctx;
    berth_feature_options options = berth_settings_features(&r->policy->settings);
    berth_feature_plan *plan = NULL;
    const berth_view *view = r->view;
    BERTH_TRY(berth_feature_plan_new(ctx, &plan, &options, &view, 1));
    if (plan->width == 0) { /* types of a problem without a graph: a network needs one input at least */
        berth_feature_plan_free(plan);
        options.position = BERTH_POSITION_RANK;
        BERTH_TRY(berth_feature_plan_new(ctx, &plan, &options, &view, 1));
    }
    berth_status status = BERTH_OK;
    double digest = plan_digest(plan);
    r->width = plan->width;
    r->start =
        berth_resize(berth_ctx_allocator(ctx), NULL, 0, (size_t)view->n_nodes * (size_t)r->width + 1, sizeof *r->start);
    if (!r->start)
        status = berth_fail_nomem(ctx);
    else if (*berth_policy_number_at(r->policy, "features", digest) != digest)
        status = berth_fail(ctx, BERTH_E_ARG, "the policy learnt on a graph with other types or degrees of operations");
    else
        status = berth_features_fill(ctx, plan, view, r->start);
    berth_feature_plan_free(plan);
    return status;
}

static berth_status make_network(berth_rollout *r, berth_rng *weights) {
    const berth_settings *s = &r->policy->settings;
    berth_gpn_options options = berth_settings_network(s, r->width);
    bool fresh = false, ok;
    berth_params layout;
    berth_params_init(&layout, r->search->ctx);
    ok = berth_gpn_declare(&r->gpn, &layout, &options) &&
         berth_head_declare(&r->head, &layout, r->width, options.hidden, r->view->costs->n_devices);
    if (ok && r->architecture == BERTH_GROUPER_PLACER)
        ok = berth_grouper_declare(&r->grouper, &layout, options.hidden,
                                   (int32_t)berth_settings_get(s, BERTH_SET_GROUPS));
    if (!ok) {
        berth_params_deinit(&layout);
        return berth_fail_nomem(r->search->ctx);
    }
    BERTH_TRY(berth_policy_adopt(r->search->ctx, r->policy, &layout, &fresh));
    if (!fresh) return BERTH_OK;
    berth_gpn_reset(&r->gpn, &r->policy->params, weights);
    berth_head_reset(&r->head, &r->policy->params, weights);
    if (r->architecture == BERTH_GROUPER_PLACER) berth_grouper_reset(&r->grouper, &r->policy->params, weights);
    return BERTH_OK;
}

berth_status berth_rollout_open(berth_rollout *r, berth_search *search, berth_policy *policy) {
    const berth_problem *p = search->problem;
    const berth_view_source source = {p->costs, p->n_units, p->unit_of, p->allowed};
    const berth_settings *s = &policy->settings;
    uint64_t seed = (uint64_t)berth_rng_next(&search->rng) << 32 | berth_rng_next(&search->rng);
    berth_rng weights;
    *r = (berth_rollout){.search = search,
                         .policy = policy,
                         .architecture = (berth_architecture)berth_settings_get(s, BERTH_SET_ARCHITECTURE)};
    berth_rng_init(&weights, seed, 1);
    berth_rng_init(&r->drops, seed, 2);
    berth_rng_init(&r->draws, seed, 3);
    BERTH_TRY(
        berth_view_new(search->ctx, &r->view, &source, (berth_view_rule)berth_settings_get(s, BERTH_SET_COLOCATE)));
    BERTH_TRY(fill_features(r));
    BERTH_TRY(make_network(r, &weights));
    r->device =
        berth_resize(berth_ctx_allocator(search->ctx), NULL, 0, (size_t)p->costs->n_tasks + 1, sizeof *r->device);
    if (!r->device) return berth_fail_nomem(search->ctx);
    return berth_tape_new(search->ctx, &r->tape);
}

void berth_rollout_close(berth_rollout *r) {
    const berth_allocator *allocator = berth_ctx_allocator(r->search->ctx);
    size_t n_tasks = (size_t)r->search->problem->costs->n_tasks;
    berth_tape_free(r->tape);
    if (r->device) berth_resize(allocator, r->device, n_tasks + 1, 0, sizeof *r->device);
    if (r->start)
        berth_resize(allocator, r->start, (size_t)r->view->n_nodes * (size_t)r->width + 1, 0, sizeof *r->start);
    berth_view_free(r->view);
    *r = (berth_rollout){.search = r->search};
}

/* --- samples ---------------------------------------------------------------------------------------------------- */

/* The network as far as clusters; *of_groups is the log-probability of the grouping where that is drawn, else NULL. */
static berth_status find_clusters(berth_rollout *r, berth_arena *arena, berth_sample *sample,
                                  const berth_gpn_pass *given, berth_matrix **of_groups) {
    berth_run run = {.tape = r->tape, .params = &r->policy->params, .rng = &r->drops};
    berth_matrix *x = berth_input(r->tape, sample->x, r->view->n_nodes, r->width);
    berth_ctx *ctx = r->search->ctx;
    *of_groups = NULL;
    switch (r->architecture) {
    case BERTH_ENCODER_PLACER: return berth_gpn_encode(ctx, &r->gpn, run, arena, x, &r->view->links, &sample->pass);
    case BERTH_GROUPER_PLACER:
        return berth_grouper_forward(ctx, &r->grouper, &r->gpn, run, arena, x, &r->view->links, &r->draws, given,
                                     &sample->pass, of_groups);
    case BERTH_JOINT: break;
    }
    return berth_gpn_forward(ctx, &r->gpn, run, arena, x, &r->view->links, given, &sample->pass);
}

static berth_status weigh(berth_rollout *r, berth_sample *sample, berth_matrix *devices, berth_matrix *of_groups) {
    berth_matrix *log_p = berth_sum(r->tape, berth_pick(r->tape, devices, sample->action));
    if (of_groups) log_p = berth_add(r->tape, log_p, berth_sum(r->tape, of_groups));
    sample->log_p = log_p;
    sample->entropy = berth_sum(r->tape, berth_entropy(r->tape, devices));
    return sample->log_p && sample->entropy ? BERTH_OK : berth_fail_nomem(r->search->ctx);
}

berth_status berth_rollout_sample(berth_rollout *r, berth_arena *arena, const berth_real *x, berth_sample *out) {
    berth_ctx *ctx = r->search->ctx;
    berth_run run = {.tape = r->tape, .params = &r->policy->params};
    berth_matrix *of_groups;
    *out = (berth_sample){.x = x, .drops = r->drops};
    BERTH_TRY(find_clusters(r, arena, out, NULL, &of_groups));
    berth_matrix *devices = berth_head_forward(&r->head, &run, out->pass.f, NULL);
    out->action = berth_arena_push(arena, (size_t)out->pass.n_clusters, sizeof *out->action);
    if (!devices || !out->action) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_draw(ctx, devices, &r->draws, out->action));
    for (int32_t task = 0; task < r->view->costs->n_tasks; task++)
        r->device[task] = out->action[out->pass.cluster_of[r->view->node_of[task]]];
    return weigh(r, out, devices, of_groups);
}

berth_status berth_rollout_replay(berth_rollout *r, berth_arena *arena, berth_sample *sample) {
    berth_run run = {.tape = r->tape, .params = &r->policy->params};
    berth_rng now = r->drops;
    berth_gpn_pass given = sample->pass;
    berth_matrix *of_groups;
    r->drops = sample->drops;
    berth_status status = find_clusters(r, arena, sample, &given, &of_groups);
    r->drops = now;
    berth_matrix *devices = status == BERTH_OK ? berth_head_forward(&r->head, &run, sample->pass.f, NULL) : NULL;
    sample->pass = given; /* what is in the arena of the replay goes with it */
    BERTH_TRY(status);
    return devices ? weigh(r, sample, devices, of_groups) : berth_fail_nomem(r->search->ctx);
}

void berth_rollout_advance(const berth_rollout *r, const berth_sample *sample, berth_real *x) {
    for (int32_t node = 0; node < r->view->n_nodes; node++) {
        const berth_real *row = sample->pass.f->value + (size_t)sample->pass.cluster_of[node] * (size_t)r->width;
        for (int32_t i = 0; i < r->width; i++) x[(size_t)node * (size_t)r->width + (size_t)i] += row[i];
    }
}
