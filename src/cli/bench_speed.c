/* SPDX-License-Identifier: Apache-2.0 */
/* `berth bench --speed`: counts per second on one core, and how the cost of an operation grows with their number. */
#include "cli/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 96 };
typedef struct speed {
    berth_ctx *ctx;
    berth_text *text;
    const bench_values *values;
    double seconds; /* for each row */
} speed;

static void put_row(const speed *s, const char *name, double per_second, int32_t n_ops) {
    char count[CLI_SCALED_SIZE];
    if (s->values->json) {
        berth_json_inline(s->text);
        berth_json_object_begin(s->text, NULL);
        berth_json_string(s->text, "name", name);
        berth_json_double(s->text, "per_second", per_second);
        if (n_ops > 0) berth_json_double(s->text, "ns_per_operation", 1e9 / per_second / n_ops);
        berth_json_object_end(s->text);
        return;
    }
    berth_text_printf(s->text, "%-44s  %10s / s", name, cli_scaled(per_second, "", count));
    if (n_ops > 0) berth_text_printf(s->text, "  %8.2f ns per operation", 1e9 / per_second / n_ops);
    berth_text_printf(s->text, "\n");
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static berth_status read_pace(berth_ctx *ctx, const char *path, double seconds, double *per_second) {
    double fastest = 1e30, end = now() + seconds;
    do {
        berth_graph *graph = NULL;
        double start = now();
        berth_status status = berth_graph_read(ctx, &graph, path, NULL);
        if (status != BERTH_OK) return status;
        berth_graph_free(graph);
        if (now() - start < fastest) fastest = now() - start;
    } while (now() < end);
    *per_second = 1 / fastest;
    return BERTH_OK;
}

static berth_status put_reading(const speed *s) {
    static const char *const names[][2] = {{"resnet50/read", "ir/resnet50.xml"},
                                           {"bert_base/read", "ir/bert_base.xml"},
                                           {"vit_base/read", "vit_base.onnx"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_SIZE];
        double per_second = 0;
        snprintf(path, sizeof path, "%s/%s", s->values->models, names[i][1]);
        berth_status status = read_pace(s->ctx, path, s->seconds, &per_second);
        if (status != BERTH_OK) return status;
        put_row(s, names[i][0], per_second, 0);
    }
    return BERTH_OK;
}

static berth_status put_pace(const speed *s, const char *name, berth_pace_kind kind, const berth_graph *graph,
                             const berth_device_set *devices, const berth_place_options *how, bool per_operation) {
    double per_second = 0;
    berth_status status = berth_measure_pace(s->ctx, &per_second, kind, graph, devices, how, s->seconds);
    if (status == BERTH_OK) put_row(s, name, per_second, per_operation ? berth_graph_op_count(graph) : 0);
    return status;
}

/* The 237 groups of ResNet-50 by the rule of the code. */
static berth_status put_resnet(const speed *s) {
    char path[PATH_SIZE], name[NAME_SIZE];
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_place_options how = berth_place_options_default();
    how.grouped = true;
    how.group = BERTH_GROUP_CODE;
    how.piece_ms = 0;
    snprintf(path, sizeof path, "%s/ir/resnet50.xml", s->values->models);
    berth_status status = berth_graph_read(s->ctx, &graph, path, NULL);
    if (status == BERTH_OK)
        status = berth_device_set_read(s->ctx, &devices, s->values->devices ? s->values->devices : "cpu,gpu");
    for (int m = 0; m < BERTH_MODEL_COUNT && status == BERTH_OK; m++) {
        how.model = (berth_model)m;
        snprintf(name, sizeof name, "resnet50/%s/evaluations", berth_model_name(how.model));
        status = put_pace(s, name, BERTH_PACE_EVALUATIONS, graph, devices, &how, false);
        snprintf(name, sizeof name, "resnet50/%s/moves", berth_model_name(how.model));
        if (status == BERTH_OK) status = put_pace(s, name, BERTH_PACE_MOVES, graph, devices, &how, false);
    }
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static berth_status put_growth_at(const speed *s, int32_t n_ops) {
    static const berth_model models[] = {BERTH_MODEL_SERIAL, BERTH_MODEL_QUEUED, BERTH_MODEL_CONCURRENT};
    char name[NAME_SIZE];
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_place_options how = berth_place_options_default();
    berth_status status = berth_graph_generate(s->ctx, &graph, BERTH_GENERATED_BRANCHES, n_ops, 0);
    if (status == BERTH_OK)
        status = berth_device_set_read(s->ctx, &devices, s->values->devices ? s->values->devices : "cpu,gpu");
    for (size_t i = 0; i < sizeof models / sizeof *models && status == BERTH_OK; i++) {
        how.model = models[i];
        snprintf(name, sizeof name, "branches-%" PRId32 "/%s/evaluations", n_ops, berth_model_name(how.model));
        status = put_pace(s, name, BERTH_PACE_EVALUATIONS, graph, devices, &how, true);
    }
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

berth_status cli_bench_speed(berth_ctx *ctx, berth_text *text, const bench_values *values, double seconds) {
    speed s = {ctx, text, values, seconds};
    if (values->json) berth_json_array_begin(text, "speed");
    berth_status status = put_reading(&s);
    if (status == BERTH_OK) status = put_resnet(&s);
    for (int32_t n = 1000; n <= 1000000 && status == BERTH_OK; n *= 10) status = put_growth_at(&s, n);
    if (values->json) berth_json_array_end(text);
    return status;
}
