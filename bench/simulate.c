/* SPDX-License-Identifier: Apache-2.0 */
/* How fast placements are evaluated.
 *
 *     bench_simulate BERTH SOURCE
 *
 * Full evaluations under every model and single moves under `serial` on the bundled ResNet-50, then on chains of
 * residual blocks from 10^3 to 10^6 tasks: the time per task may not grow with their number. Half of the placements
 * are drawn task by task (every second value is copied), half in runs of tasks, as searches see them. One core. Exit
 * code 1 if a limit is broken. */
#include "berth/berth.h"
#include "chain.h"
#include "simulate/sim.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PLACEMENTS = 64, RUNS = 150, PATH_SIZE = 4096 };

#define LIMIT_EVALUATIONS 50000.0
#define LIMIT_MOVES       5e6
#define LIMIT_GROWTH      4.0

typedef struct placements {
    int32_t n, count;
    int32_t *device; /* [count * n] */
} placements;

static placements draw_placements(const berth_costs *c, int32_t count) {
    placements p = {c->n_tasks, count, calloc((size_t)c->n_tasks * (size_t)count, sizeof *p.device)};
    for (int32_t i = 0; i < count && p.device; i++)
        for (int32_t task = 0, d = 0; task < p.n; task++) {
            if (i % 2 == 0 || chain_below(15) == 0) d = (int32_t)chain_below((uint32_t)c->n_devices);
            p.device[(size_t)i * (size_t)p.n + (size_t)task] = d;
        }
    return p;
}

/* --- measuring -------------------------------------------------------------------------------------------------- */

/* Milliseconds of one evaluation: the fastest of all runs of each placement, the mean of placements. They take turns,
 * so that no branch predictor knows one by heart. */
static double time_evaluations(berth_sim *sim, const placements *p, int runs) {
    double fastest[N_PLACEMENTS], sum = 0, makespans = 0;
    for (int run = 0; run < runs; run++)
        for (int32_t i = 0; i < p->count; i++) {
            double before = timing_now_ms();
            makespans += berth_sim_run(sim, p->device + (size_t)i * (size_t)p->n, NULL);
            double took = timing_now_ms() - before;
            if (run == 0 || took < fastest[i]) fastest[i] = took;
        }
    for (int32_t i = 0; i < p->count; i++) sum += fastest[i];
    if (!(makespans < INFINITY)) fprintf(stderr, "bench_simulate: a placement cannot be run\n");
    return sum / p->count;
}

/* Milliseconds of one try; a move is made after every hundred. */
static double time_moves(berth_sim *sim, const placements *p, int32_t n_devices) {
    enum { N = 1 << 14 };
    static int32_t task[N], to[N];
    timing t = {0};
    double sum = 0;
    for (int i = 0; i < N; i++) {
        task[i] = (int32_t)chain_below((uint32_t)p->n);
        to[i] = (int32_t)chain_below((uint32_t)n_devices);
    }
    for (int run = 0; run < RUNS; run++) {
        berth_sim_load(sim, p->device, NULL);
        double before = timing_now_ms();
        for (int i = 0; i < N; i++) {
            sum += berth_sim_try(sim, &task[i], 1, to[i]);
            if (i % 100 == 0) berth_sim_move(sim, &task[i], 1, to[i]);
        }
        timing_add(&t, (timing_now_ms() - before) / N);
    }
    if (!(sum < INFINITY)) fprintf(stderr, "bench_simulate: a placement cannot be run\n");
    return timing_fastest(&t);
}

static bool at_least(const char *what, double value, double limit) {
    bool good = value >= limit;
    printf("  %s: %.0f per second (at least %.0f): %s\n", what, value, limit, good ? "ok" : "BROKEN");
    return good;
}

static bool measure(berth_ctx *ctx, const berth_costs *c, double limit) {
    static const char *const names[] = {"serial", "queued", "concurrent", "contiguous"};
    berth_sim *sim = NULL;
    if (berth_sim_new(ctx, &sim, c) != BERTH_OK) return false;
    placements p = draw_placements(c, N_PLACEMENTS);
    if (c->model == BERTH_MODEL_CONTIGUOUS) /* few of the others are convex */
        for (int32_t i = 0; i < p.count; i++)
            for (int32_t task = 0; task < p.n; task++)
                p.device[i * p.n + task] = task > i && task < p.n / 2 + i % (p.n / 3 + 1);
    double per_second = 1000 / time_evaluations(sim, &p, RUNS);
    bool good = true;
    if (limit > 0)
        good = at_least(names[c->model], per_second, limit);
    else
        printf("  %s: %.0f per second\n", names[c->model], per_second);
    if (c->model == BERTH_MODEL_SERIAL)
        good &= at_least("single moves", 1000 / time_moves(sim, &p, c->n_devices), LIMIT_MOVES);
    free(p.device);
    berth_sim_free(sim);
    return good;
}

static bool measure_models(berth_ctx *ctx, const char *source) {
    bool good = true;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/models/ir/resnet50.xml", source);
    berth_graph *graph = NULL;
    berth_device_set *set = NULL;
    if (berth_graph_read(ctx, &graph, path, NULL) != BERTH_OK ||
        berth_device_set_read(ctx, &set, "cpu,gpu") != BERTH_OK)
        good = false;
    for (int model = 0; model < BERTH_MODEL_COUNT && good; model++) {
        berth_cost_options options = berth_cost_options_default();
        berth_costs *c = NULL;
        options.model = (berth_model)model;
        if (berth_costs_new(ctx, &c, graph, set, &options) != BERTH_OK) return false;
        if (model == 0) printf("ResNet-50, %d tasks on 2 devices, evaluations:\n", (int)c->n_tasks);
        good &= measure(ctx, c, model == BERTH_MODEL_CONCURRENT ? LIMIT_EVALUATIONS : 0);
        berth_costs_free(c);
    }
    berth_device_set_free(set);
    berth_graph_free(graph);
    return good;
}

static bool measure_growth(berth_ctx *ctx) {
    bool good = true;
    double first[3] = {0};
    printf("\nns per task:    serial   queued  concurrent\n");
    for (int32_t n = 1000; n <= 1000000; n *= 10) {
        printf("%10d tasks", (int)n);
        for (int model = 0; model < 3; model++) {
            berth_sim *sim = NULL;
            berth_costs *c = chain_costs(ctx, n, (berth_model)model);
            if (!c || berth_sim_new(ctx, &sim, c) != BERTH_OK) return false;
            placements p = draw_placements(c, n < 4000 ? N_PLACEMENTS : 4);
            double ns = time_evaluations(sim, &p, n < 1000000 ? 40 : 15) * 1e6 / n;
            printf("  %7.1f", ns);
            if (n == 1000) first[model] = ns;
            good &= ns <= LIMIT_GROWTH * first[model];
            free(p.device);
            berth_sim_free(sim);
            berth_costs_free(c);
        }
        printf("\n");
    }
    printf("growth at most %g times: %s\n", LIMIT_GROWTH, good ? "ok" : "BROKEN");
    return good;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bench_simulate BERTH SOURCE\n");
        return 2;
    }
    berth_ctx *ctx = NULL;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return 1;
    bool good = measure_models(ctx, argv[2]);
    if (berth_ctx_message(ctx)[0]) fprintf(stderr, "bench_simulate: %s\n", berth_ctx_message(ctx));
    good &= measure_growth(ctx);
    berth_ctx_free(ctx);
    return good ? 0 : 1;
}
