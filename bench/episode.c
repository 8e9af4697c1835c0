/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the published policy learns.
 *
 *     bench_episode BERTH SOURCE
 *
 * Seconds of processor time of one episode of `hsdag:code` (20 placements and the update) on one thread, beside what
 * the published code takes; then of one sample on chains of 10^2 to 10^5 tasks: the time per task may not grow with
 * their number. Exit code 1 if a limit is broken. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "berth/read.h"
#include "chain.h"
#include "learn/learn.h"

enum { PATH_SIZE = 4096, EPISODES = 10, MOST = 64 };

#define LIMIT_RATIO  10.0 /* times as fast as the published code */
#define LIMIT_GROWTH 4.0

/* Processor seconds, since others may be at work on the machine. */
static double cpu_now(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

typedef struct record {
    double last, seconds[MOST];
    int n;
} record;

static void keep(void *user, const berth_episode *episode) {
    record *r = user;
    double now = cpu_now();
    (void)episode;
    if (r->n < MOST) r->seconds[r->n++] = now - r->last;
    r->last = now;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static berth_status learn(berth_ctx *ctx, const berth_costs *costs, int n_steps, int n_episodes, record *r) {
    berth_problem *problem = NULL;
    berth_search *search = NULL;
    berth_settings settings;
    BERTH_TRY(berth_settings_default(ctx, &settings, "hsdag:code"));
    settings.value[BERTH_SET_EPISODES] = n_episodes;
    settings.value[BERTH_SET_STEPS] = n_steps;
    const berth_learn what = {.settings = &settings, .episode = keep, .user = r};
    BERTH_TRY(berth_problem_new(ctx, &problem, costs, NULL, NULL));
    berth_status status = berth_search_new(ctx, &search, problem, 1, (berth_budget){INT64_MAX, INFINITY}, 1);
    r->n = 0;
    r->last = cpu_now();
    if (status == BERTH_OK) {
        search->learn = &what;
        status = berth_learn_hsdag_code(search);
    }
    berth_search_free(search);
    berth_problem_free(problem);
    qsort(r->seconds, (size_t)r->n, sizeof *r->seconds, by_size);
    return status;
}

static bool measure_model(berth_ctx *ctx, const char *source, const char *name, double published) {
    char path[PATH_SIZE];
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_costs *costs = NULL;
    record r = {0};
    berth_cost_options options = berth_cost_options_default();
    snprintf(path, sizeof path, "%s/models/ir/%s.xml", source, name);
    berth_status status = berth_graph_read(ctx, &graph, path, NULL);
    if (status == BERTH_OK) status = berth_device_set_read(ctx, &devices, "paper");
    if (status == BERTH_OK) status = berth_costs_new(ctx, &costs, graph, devices, &options);
    if (status == BERTH_OK) status = learn(ctx, costs, 20, EPISODES, &r);
    berth_costs_free(costs);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    if (status != BERTH_OK || r.n < 2) return false;
    double ratio = published / r.seconds[r.n / 2];
    printf("  %-14s fastest %.4f s, median %.4f s; published %.2f s, %.1f times (at least %.0f): %s\n", name,
           r.seconds[0], r.seconds[r.n / 2], published, ratio, LIMIT_RATIO, ratio >= LIMIT_RATIO ? "ok" : "BROKEN");
    return ratio >= LIMIT_RATIO;
}

static bool measure_growth(berth_ctx *ctx) {
    double first = 0;
    bool good = true;
    printf("\nhsdag:code, one sample and its part of the update:\n");
    for (int32_t n = 100; n <= 100000; n *= 10) {
        record r = {0};
        int n_steps = n >= 100000 ? 2 : 10;
        berth_costs *costs = chain_costs(ctx, n, BERTH_MODEL_SERIAL);
        if (!costs || learn(ctx, costs, n_steps, 3, &r) != BERTH_OK) return false;
        double us = r.seconds[0] * 1e6 / n_steps / n;
        printf("%10d tasks  %9.3f ms, %6.2f us per task\n", (int)n, r.seconds[0] * 1e3 / n_steps, us);
        if (n == 1000) first = us;
        if (n > 1000) good &= us <= LIMIT_GROWTH * first;
        berth_costs_free(costs);
    }
    printf("growth from 10^3 tasks on at most %g times: %s\n", LIMIT_GROWTH, good ? "ok" : "BROKEN");
    return good;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bench_episode BERTH SOURCE\n");
        return 2;
    }
    berth_ctx *ctx = NULL;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return 1;
    printf("hsdag:code, one episode of 20 samples, one thread, processor time:\n");
    bool good = measure_model(ctx, argv[2], "resnet50", 1.37);
    good &= measure_model(ctx, argv[2], "inception_v3", 2.16);
    good &= measure_model(ctx, argv[2], "bert_base", 3.47);
    good &= measure_growth(ctx);
    if (berth_ctx_message(ctx)[0]) fprintf(stderr, "bench_episode: %s\n", berth_ctx_message(ctx));
    berth_ctx_free(ctx);
    return good ? 0 : 1;
}
