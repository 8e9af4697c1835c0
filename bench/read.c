/* SPDX-License-Identifier: Apache-2.0 */
/* How fast models are read, and whether weights cost anything.
 *
 *     bench_read BERTH SOURCE
 *
 * First every bundled model is read and validated in this process. Then ONNX files of 1 GiB with their weights inside
 * are inspected by the command beside twins of the same graph whose weights are elsewhere: alternately, in processes of
 * their own, once the files are in the page cache. Both must give the same answer. Exit code 1 if a limit is broken. */
#include "berth/berth.h"
#include "big_onnx.h"
#include "timing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_RUNS = 50, INSPECT_RUNS = 40, PATH_SIZE = 4096 };

#define LIMIT_BERT_MS 15.0
#define LIMIT_RATIO   1.5
#define LIMIT_MIB     64.0

static bool read_once(berth_ctx *ctx, const char *path, timing *t) {
    double start = timing_now_ms();
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read(ctx, &graph, path, NULL);
    if (status == BERTH_OK) status = berth_graph_check(ctx, graph);
    timing_add(t, timing_now_ms() - start);
    berth_graph_free(graph);
    if (status != BERTH_OK) fprintf(stderr, "bench_read: %s\n", berth_ctx_message(ctx));
    return status == BERTH_OK;
}

static bool measure_reading(berth_ctx *ctx, const char *source) {
    static const struct {
        const char *name;
        double limit_ms; /* 0: none */
    } models[] = {
        {"ir/bert_base.xml", LIMIT_BERT_MS},
        {"ir/inception_v3.xml", 0},
        {"ir/resnet50.xml", 0},
        {"bert_base.onnx", 0},
        {"densenet121.onnx", 0},
        {"googlenet.onnx", 0},
        {"inception_v3.onnx", 0},
        {"mobilenet_v3_large.onnx", 0},
        {"resnet50.onnx", 0},
        {"vit_base.onnx", 0},
    };
    bool good = true;
    printf("reading and validating, %d runs:\n", READ_RUNS);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char path[PATH_SIZE];
        timing t = {0};
        snprintf(path, sizeof path, "%s/models/%s", source, models[i].name);
        for (int run = 0; run < READ_RUNS; run++)
            if (!read_once(ctx, path, &t)) return false;
        printf("  %-24s fastest %6.2f ms, median %6.2f ms\n", models[i].name, timing_fastest(&t), timing_median(&t));
        if (models[i].limit_ms > 0) good &= timing_limit("  fastest", timing_fastest(&t), models[i].limit_ms, "ms");
    }
    return good;
}

typedef struct inspection {
    char model[PATH_SIZE], answer[PATH_SIZE];
    timing t;
    double peak_mib;
} inspection;

/* `berth inspect --json` in a process of its own, its answer into a file. */
static bool inspect_once(const char *berth, inspection *what) {
    fflush(stdout);
    double start = timing_now_ms();
    pid_t child = fork();
    if (child == 0) {
        int out = open(what->answer, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out >= 0 && dup2(out, STDOUT_FILENO) >= 0)
            execl(berth, berth, "inspect", "--json", what->model, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("bench_read: child");
        return false;
    }
    timing_add(&what->t, timing_now_ms() - start);
    double mib = (double)usage.ru_maxrss / 1024;
    if (mib > what->peak_mib) what->peak_mib = mib;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench_read: %s inspect %s failed\n", berth, what->model);
        return false;
    }
    return true;
}

static bool same_content(const char *a, const char *b) {
    FILE *first = fopen(a, "rb"), *second = fopen(b, "rb");
    int x = EOF, y = EOF;
    bool same = first && second;
    while (same && (x = fgetc(first), y = fgetc(second), x != EOF || y != EOF)) same = x == y;
    if (first) fclose(first);
    if (second) fclose(second);
    return same;
}

static void read_through(const char *path) {
    char block[1 << 16];
    int file = open(path, O_RDONLY);
    while (file >= 0 && read(file, block, sizeof block) > 0) {
    }
    if (file >= 0) close(file);
}

static bool compare_twins(const char *berth, inspection *inside, inspection *outside) {
    read_through(inside->model);
    read_through(outside->model);
    for (int run = 0; run < INSPECT_RUNS; run++)
        if (!inspect_once(berth, inside) || !inspect_once(berth, outside)) return false;
    printf("  weights inside:    fastest %6.2f ms, median %6.2f ms, peak %5.1f MiB\n", timing_fastest(&inside->t),
           timing_median(&inside->t), inside->peak_mib);
    printf("  weights elsewhere: fastest %6.2f ms, median %6.2f ms, peak %5.1f MiB\n", timing_fastest(&outside->t),
           timing_median(&outside->t), outside->peak_mib);
    bool same = same_content(inside->answer, outside->answer);
    printf("  the answers are %s\n", same ? "the same" : "DIFFERENT");
    bool good = timing_limit("  time", timing_fastest(&inside->t) / timing_fastest(&outside->t), LIMIT_RATIO, "times");
    good &= timing_limit("  peak memory", inside->peak_mib, LIMIT_MIB, "MiB");
    return good && same;
}

static bool measure_weights(const char *berth, const char *folder, int layers, int width) {
    big_onnx model = {layers, width, false}, twin = {layers, width, true};
    inspection inside = {0}, outside = {0};
    snprintf(inside.model, PATH_SIZE, "%s/inside.onnx", folder);
    snprintf(inside.answer, PATH_SIZE, "%s/inside.json", folder);
    snprintf(outside.model, PATH_SIZE, "%s/outside.onnx", folder);
    snprintf(outside.answer, PATH_SIZE, "%s/outside.json", folder);
    printf("\nONNX, %d layers, %.2f GiB of weights, %d runs each:\n", layers,
           (double)big_onnx_payload(&model) / (1 << 30), INSPECT_RUNS);
    bool good = big_onnx_write(&model, inside.model) && big_onnx_write(&twin, outside.model);
    if (!good) perror("bench_read: writing the model");
    good = good && compare_twins(berth, &inside, &outside);
    remove(inside.model);
    remove(inside.answer);
    remove(outside.model);
    remove(outside.answer);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bench_read BERTH SOURCE\n");
        return 2;
    }
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_SIZE / 2];
    snprintf(folder, sizeof folder, "%s/berth-bench-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    berth_ctx *ctx = NULL;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return 1;
    bool good = measure_reading(ctx, argv[2]);
    berth_ctx_free(ctx);
    /* Few large weights as in a big CNN, many smaller ones as in a deep transformer. */
    good &= measure_weights(argv[1], folder, 203, 1152);
    good &= measure_weights(argv[1], folder, 2049, 362);
    rmdir(folder);
    return good ? 0 : 1;
}
