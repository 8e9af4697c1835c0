/* SPDX-License-Identifier: Apache-2.0 */
/* The suites: what is placed, on what, and the optimum where it is known (from exhaustive or label-setting searches, or
 * proven by `exact`; see docs/performance.md). */
#include "cli/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Topcuoglu, Hariri and Wu (2002), figure 2: ten tasks on three machines. */
static const char topcuoglu[] =
    "task,dir_succ,p0,p1,p2,pc00,pc01,pc02,pc10,pc11,pc12,pc20,pc21,pc22\n"
    "1,\"2,3,4,5,6\",14,16,9,\"0,0,0,0,0\",\"18,12,9,11,14\",\"18,12,9,11,14\",\"18,12,9,11,14\",\"0,0,0,0,0\",\"18,12,9,11,14\",\"18,12,9,11,14\",\"18,12,9,11,14\",\"0,0,0,0,0\"\n"
    "2,\"8,9\",13,19,18,\"0,0\",\"19,16\",\"19,16\",\"19,16\",\"0,0\",\"19,16\",\"19,16\",\"19,16\",\"0,0\"\n"
    "3,7,11,13,19,0,23,23,23,0,23,23,23,0\n"
    "4,\"8,9\",13,8,17,\"0,0\",\"27,23\",\"27,23\",\"27,23\",\"0,0\",\"27,23\",\"27,23\",\"27,23\",\"0,0\"\n"
    "5,9,12,13,10,0,13,13,13,0,13,13,13,0\n"
    "6,8,13,16,9,0,15,15,15,0,15,15,15,0\n"
    "7,10,7,15,11,0,17,17,17,0,17,17,17,0\n"
    "8,10,5,11,14,0,11,11,11,0,11,11,11,0\n"
    "9,10,18,12,20,0,13,13,13,0,13,13,13,0\n"
    "10,,21,7,16,,,,,,,,,\n";

static const struct {
    const char *name, *path; /* below the folder of workloads */
    berth_objective objective;
    double optimum_ms;
} workloads[] = {
    {"msr/latency/layer_bert24", "msr/latency/layer_bert24.json", BERTH_OBJECTIVE_LATENCY, 100.2185},
    {"msr/latency/layer_gnmt", "msr/latency/layer_gnmt.json", BERTH_OBJECTIVE_LATENCY, 225.6479},
    {"msr/latency/op_bert_l-3", "msr/latency/op_bert_l-3.json", BERTH_OBJECTIVE_LATENCY, 408.4744},
    {"msr/latency/op_resnet50", "msr/latency/op_resnet50.json", BERTH_OBJECTIVE_LATENCY, 651.1208},
    {"msr/throughput/layer_gnmt", "msr/throughput/layer_gnmt.json", BERTH_OBJECTIVE_THROUGHPUT, 32.9107},
    {"msr/throughput/op_bert_l-3", "msr/throughput/op_bert_l-3.json", BERTH_OBJECTIVE_THROUGHPUT, 27.9186},
    {"moirai/example-1", "moirai/example-1.csv", BERTH_OBJECTIVE_LATENCY, 30},
    {"moirai/GoogLeNet", "moirai/GoogLeNet.csv", BERTH_OBJECTIVE_LATENCY, NAN},
    {"moirai/inceptionv4", "moirai/inceptionv4.csv", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/cholesky_4", "dagbench/classic_benchmarks/cholesky_4/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/cholesky_6", "dagbench/classic_benchmarks/cholesky_6/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/fft_8", "dagbench/classic_benchmarks/fft_8/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/fft_32", "dagbench/classic_benchmarks/fft_32/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/gauss_elim_5", "dagbench/classic_benchmarks/gauss_elim_5/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/gauss_elim_10", "dagbench/classic_benchmarks/gauss_elim_10/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/lu_decomp_4", "dagbench/classic_benchmarks/lu_decomp_4/graph.json", BERTH_OBJECTIVE_LATENCY, NAN},
    {"dagbench/mapreduce_16m_8r", "dagbench/classic_benchmarks/mapreduce_16m_8r/graph.json", BERTH_OBJECTIVE_LATENCY,
     NAN},
};

static const struct {
    const char *name, *path; /* below the folder of models */
} models[] = {
    {"bert_base.onnx", "bert_base.onnx"},
    {"densenet121.onnx", "densenet121.onnx"},
    {"googlenet.onnx", "googlenet.onnx"},
    {"inception_v3.onnx", "inception_v3.onnx"},
    {"mobilenet_v3_large.onnx", "mobilenet_v3_large.onnx"},
    {"resnet50.onnx", "resnet50.onnx"},
    {"vit_base.onnx", "vit_base.onnx"},
    {"bert_base.xml", "ir/bert_base.xml"},
    {"inception_v3.xml", "ir/inception_v3.xml"},
    {"resnet50.xml", "ir/resnet50.xml"},
};

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof *(array)))

typedef struct walk {
    berth_ctx *ctx;
    const bench_values *values;
    bench_case_fn run;
    void *user;
    int32_t n_run, n_files;  /* cases that were run, and those of them that came from files */
    char missing[PATH_SIZE]; /* the last file that was not there; "": all were */
} walk;

/* --workload: any part of the name. */
static bool is_wanted(const walk *w, const char *name) {
    cli_scan at = w->values->workloads.start;
    if (w->values->workloads.n == 0) return true;
    for (const char *part; (part = cli_list_next(&w->values->workloads, &at));)
        if (strstr(name, part)) return true;
    return false;
}

/* A file may be offered several times, on other devices. */
static void note_missing(walk *w, const char *path) {
    if (strcmp(w->missing, path) != 0) cli_bench_missing(w->values, path);
    snprintf(w->missing, sizeof w->missing, "%s", path);
}

static berth_status offer(walk *w, const bench_case *item) {
    if (!is_wanted(w, item->workload)) return BERTH_OK;
    if (item->path && access(item->path, R_OK) != 0) {
        note_missing(w, item->path);
        return BERTH_OK;
    }
    w->n_run++;
    w->n_files += item->path != NULL;
    return w->run(w->user, item);
}

/* Nothing was there of what was wanted, or of the folder that was named: reading one of the files says why. */
static berth_status check_found(const walk *w) {
    berth_graph *graph = NULL;
    if (!*w->missing || (w->n_run > 0 && !(w->values->data && w->n_files == 0))) return BERTH_OK;
    berth_status status = berth_graph_read(w->ctx, &graph, w->missing, NULL);
    berth_graph_free(graph);
    return status;
}

/* --data, else data/ below $BERTH_SHARED, else below ../shared. */
static const char *data_path(const walk *w, const char *relative, char path[PATH_SIZE]) {
    const char *shared = getenv("BERTH_SHARED");
    if (w->values->data)
        snprintf(path, PATH_SIZE, "%s/%s", w->values->data, relative);
    else
        snprintf(path, PATH_SIZE, "%s/data/workloads/%s", shared ? shared : "../shared", relative);
    return path;
}

static berth_status walk_workloads(walk *w) {
    berth_model model = w->values->model ? berth_model_find(w->values->model) : BERTH_MODEL_COUNT;
    berth_status status = offer(w, &(bench_case){
                                       .suite = "workloads",
                                       .workload = "topcuoglu",
                                       .model = model,
                                       .optimum_ms = w->values->model ? NAN : 73,
                                       .text = topcuoglu,
                                   });
    for (int32_t i = 0; i < LENGTH(workloads) && status == BERTH_OK; i++) {
        char path[PATH_SIZE];
        status = offer(w, &(bench_case){
                              .suite = "workloads",
                              .workload = workloads[i].name,
                              .model = model,
                              .objective = workloads[i].objective,
                              .optimum_ms = w->values->model ? NAN : workloads[i].optimum_ms,
                              .path = data_path(w, workloads[i].path, path),
                          });
    }
    return status;
}

/* On each of the device lists and under each execution model, unless the user names one. */
static berth_status walk_settings(walk *w, bench_case item) {
    static const char *const lists[] = {"paper", "cpu,gpu,igpu,npu"};
    for (int32_t l = 0; l < (w->values->devices ? 1 : LENGTH(lists)); l++)
        for (int m = 0; m < BERTH_MODEL_COUNT; m++) {
            if (w->values->model && berth_model_find(w->values->model) != (berth_model)m) continue;
            item.devices = w->values->devices ? w->values->devices : lists[l];
            item.model = (berth_model)m;
            berth_status status = offer(w, &item);
            if (status != BERTH_OK) return status;
        }
    return BERTH_OK;
}

static berth_status walk_models(walk *w) {
    for (int32_t i = 0; i < LENGTH(models); i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", w->values->models, models[i].path);
        bench_case item = {.suite = "models", .workload = models[i].name, .optimum_ms = NAN, .path = path};
        berth_status status = walk_settings(w, item);
        if (status != BERTH_OK) return status;
    }
    return BERTH_OK;
}

static berth_status walk_generated(walk *w) {
    static const int32_t sizes[] = {100, 1000, 10000, 100000};
    for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++)
        for (int32_t i = 0; i < LENGTH(sizes); i++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%d", berth_generated_name((berth_generated)kind), (int)sizes[i]);
            bench_case item = {.suite = "generated",
                               .workload = name,
                               .optimum_ms = NAN,
                               .kind = (berth_generated)kind,
                               .n_ops = sizes[i]};
            berth_status status = walk_settings(w, item);
            if (status != BERTH_OK) return status;
        }
    return BERTH_OK;
}

berth_status cli_bench_walk(berth_ctx *ctx, const bench_values *values, const char *suite, bench_case_fn run,
                            void *user) {
    static const struct {
        const char *name;
        berth_status (*walk)(walk *w);
    } suites[] = {{"workloads", walk_workloads}, {"models", walk_models}, {"generated", walk_generated}};
    walk w = {.ctx = ctx, .values = values, .run = run, .user = user};
    berth_status status = BERTH_E_ARG;
    for (int32_t i = 0; i < LENGTH(suites); i++) {
        if (strcmp(suite, "all") != 0 && strcmp(suite, suites[i].name) != 0) continue;
        status = suites[i].walk(&w);
        if (status != BERTH_OK) break;
    }
    return status == BERTH_OK ? check_found(&w) : status;
}

berth_status cli_bench_load(berth_ctx *ctx, const bench_case *item, berth_graph **graph, berth_device_set **devices) {
    berth_status status;
    if (item->path)
        status = berth_graph_read(ctx, graph, item->path, NULL);
    else if (item->text)
        status = berth_graph_read_memory(ctx, graph, item->text, strlen(item->text), item->workload, NULL);
    else
        status = berth_graph_generate(ctx, graph, item->kind, item->n_ops, 0);
    if (status != BERTH_OK) return status;
    return item->devices ? berth_device_set_read(ctx, devices, item->devices)
                         : berth_device_set_given(ctx, devices, *graph);
}
