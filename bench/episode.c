/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds of one episode of `hsdag:code` (20 placements and the update) on one thread, fastest and median:
 *
 *     bench_episode [MODEL...] [--episodes N] [--method NAME]
 *
 * The published code takes 1.37, 2.16 and 3.47 s for ResNet-50, Inception-V3 and BERT-base. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/read.h"
#include "learn/learn.h"

enum { MOST = 10000 };

typedef struct record {
    double seconds[MOST];
    double clusters;
    int n;
} record;

static void keep(void *user, const berth_episode *episode) {
    record *r = user;
    if (r->n < MOST) r->seconds[r->n++] = episode->seconds;
    r->clusters += episode->clusters;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static berth_status run(berth_ctx *ctx, const berth_problem *problem, const char *method, int n_episodes, record *r) {
    berth_search *search = NULL;
    berth_settings settings;
    BERTH_TRY(berth_settings_default(ctx, &settings, method));
    settings.value[BERTH_SET_EPISODES] = n_episodes;
    const berth_learn learn = {.settings = &settings, .episode = keep, .user = r};
    BERTH_TRY(berth_search_new(ctx, &search, problem, 1, (berth_budget){INT64_MAX, INFINITY}, 1));
    search->learn = &learn;
    berth_status status =
        strcmp(method, "hsdag:paper") == 0 ? berth_learn_hsdag_paper(search) : berth_learn_hsdag_code(search);
    berth_search_free(search);
    return status;
}

static berth_status open_and_run(berth_ctx *ctx, const char *path, const char *method, int n_episodes, record *r) {
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_costs *costs = NULL;
    berth_problem *problem = NULL;
    berth_cost_options options = berth_cost_options_default();
    berth_status status = berth_graph_read(ctx, &graph, path, NULL);
    if (status == BERTH_OK) status = berth_device_set_read(ctx, &devices, "paper");
    if (status == BERTH_OK) status = berth_costs_new(ctx, &costs, graph, devices, &options);
    if (status == BERTH_OK) status = berth_problem_new(ctx, &problem, costs, NULL, NULL);
    if (status == BERTH_OK) status = run(ctx, problem, method, n_episodes, r);
    berth_problem_free(problem);
    berth_costs_free(costs);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

int main(int n_args, char **args) {
    static const char *const usual[] = {"models/ir/resnet50.xml", "models/ir/inception_v3.xml",
                                        "models/ir/bert_base.xml"};
    const char *paths[64], *method = "hsdag:code";
    int n_paths = 0, n_episodes = 10;
    for (int i = 1; i < n_args; i++) {
        if (strcmp(args[i], "--episodes") == 0 && i + 1 < n_args)
            n_episodes = (int)strtol(args[++i], NULL, 10);
        else if (strcmp(args[i], "--method") == 0 && i + 1 < n_args)
            method = args[++i];
        else if (n_paths < 64)
            paths[n_paths++] = args[i];
    }
    for (int i = 0; n_paths == 0 && i < 3; i++) paths[i] = usual[i];
    if (n_paths == 0) n_paths = 3;
    berth_ctx *ctx = NULL;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return 1;
    for (int i = 0; i < n_paths; i++) {
        static record r;
        memset(&r, 0, sizeof r);
        if (open_and_run(ctx, paths[i], method, n_episodes, &r) != BERTH_OK || r.n == 0) {
            fprintf(stderr, "%s: %s\n", paths[i], berth_ctx_message(ctx));
            return 1;
        }
        qsort(r.seconds, (size_t)r.n, sizeof *r.seconds, by_size);
        printf("%-28s %s  fastest %.4f s, median %.4f s of %d episodes; %.1f clusters\n", paths[i], method,
               r.seconds[0], r.seconds[r.n / 2], r.n, r.clusters / r.n);
    }
    berth_ctx_free(ctx);
    return 0;
}
