/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the worker: answers jobs without any runtime, as $BERTH_FAKE_WORKER says, in words parted by blanks.
 *
 * A job is of the kind "cpu" or "other", if everything is on that device, or "split". What a run takes is the sum of
 * its operations, of which a MatMul takes 4 ms on the CPU and 1 ms on the other device, and everything else 1 ms on the
 * CPU and 4 ms on the other, and half a millisecond for every change of device in the order of the file. A third
 * device, "NPU", takes 0.25 ms for each of the first four operations and 6 ms for everything else.
 *
 *     cpu=7 other=8 split=2.5    what a run of that kind takes, instead
 *     noise=0.1                  times are off by so much, by the process
 *     narrow=0.5                 times are so much of themselves where precision need not be the model's
 *     crash=KIND[@N]             it crashes, or does so from its N-th process on, from 0; KIND "any": of all;
 *                                likewise:
 *     hang, kill (as the system does if memory is short), memory (takes all of it), gone (the other device), differ
 *     (other outputs), near (almost the same), shape (other outputs' shapes), silent (no answer), garbage (no JSON),
 *     many (more runs than asked for), none (no runs), negative (times), fail (an error of the runtime)
 *     kept=TYPE strays=TYPE      operations of that type are seen on the CPU: always, or only in a split
 *     counts                     the other device says what memory it uses: 1000 bytes and one more in each process
 *     poison=N                   splits that have operation N on the other device do what `poisoned` says: crash (that
 *                                is, if it says nothing), hang, fail, differ
 *     room=N                     no more than N operations fit on the other device beside some on the CPU
 *     slow=0.1                   a process takes so many seconds more
 *     quiet                      the other device does not say what its kernels take
 *     elsewhere                  (OpenVINO) the first operation is said to have run on the last device
 *     refuses                    (OpenVINO) the other device is said not to run the first operation, and does not if it
 * is placed there
 *
 * For OpenVINO the first device is "CPU0", and placements come as maps.
 *
 * A line for every job with its kind goes to $BERTH_FAKE_LOG. */
#include "support.h"

#include "base/child.h"
#include "base/file.h"
#include "base/text.h"
#include "runtime/job.h"
#include "runtime/npy.h"
#include "runtime/ov_map.h"
#include "runtime/ov_report.h"
#include "trouble.h"

#include <stdio.h>
#include <time.h>

enum { MOST_OPS = 1000, PROFILED_RUNS = 4 };

typedef struct work {
    berth_ctx *ctx;
    berth_arena arena;
    berth_job job;
    berth_graph *graph;
    const char *model;
    size_t model_size;
    int device[MOST_OPS]; /* 0: the CPU, 1: the other, 2: the third */
    const char *kind;
    int process; /* how many of this kind were before */
    int total;   /* how many of any kind */
} work;

static void try(work *w, berth_status status) {
    if (status == BERTH_OK) return;
    fprintf(stderr, "fake worker: %s\n", berth_ctx_message(w->ctx));
    _exit(9);
}

/* The value of "name=...", or NULL. */
static const char *setting(const char *name) {
    const char *at = getenv("BERTH_FAKE_WORKER");
    size_t n = strlen(name);
    for (; at && *at; at += strspn(at, " ")) {
        if (strncmp(at, name, n) == 0 && (at[n] == '=' || at[n] == ' ' || at[n] == 0)) return at + n + (at[n] == '=');
        at += strcspn(at, " ");
    }
    return NULL;
}

static bool is_told(const work *w, const char *what) {
    const char *value = setting(what);
    bool any = value && strncmp(value, "any", 3) == 0;
    size_t n = any ? 3 : strlen(w->kind);
    if (!value || (!any && strncmp(value, w->kind, n) != 0)) return false;
    int before = any ? w->total : w->process;
    return value[n] == '@' ? before >= atoi(value + n + 1) : value[n] == ' ' || value[n] == 0;
}

/* Marks stand on the operations in the order of the file: 'a' is the first device of the placement, the CPU. */
static void find_places(work *w) {
    static const char key[] = "layer_ann\x12\x01";
    int32_t n = berth_graph_op_count(w->graph), op = 0, n_other = 0;
    size_t k = sizeof key - 1;
    bool is_single = !w->job.assignment;
    for (int32_t i = 0; i < n; i++) w->device[i] = is_single && w->job.devices[0] != NULL;
    for (size_t i = 0; i + k < w->model_size && !is_single && op < n; i++)
        if (memcmp(w->model + i, key, k) == 0) w->device[op++] = w->model[i + k] != 'a';
    for (int32_t i = 0; i < n; i++) n_other += w->device[i];
    w->kind = n_other == 0 ? "cpu" : n_other == n ? "other" : "split";
}

static bool is_openvino(const work *w) {
    return strcmp(w->job.runtime, "openvino") == 0;
}

static void find_places_in_map(work *w) {
    const berth_ov_mark *marks = NULL;
    size_t n_marks = 0;
    int32_t n = berth_graph_op_count(w->graph), n_other = 0;
    if (w->job.assignment) try(w, berth_ov_map_read(w->ctx, &w->arena, w->job.assignment, &marks, &n_marks));
    for (int32_t i = 0; i < n; i++) {
        const char *device = w->job.devices[0];
        for (size_t k = 0; k < n_marks; k++)
            if (strcmp(marks[k].name, berth_graph_op(w->graph, i)->name) == 0) device = marks[k].device;
        w->device[i] = strcmp(device, "CPU0") == 0 ? 0 : strcmp(device, "NPU") == 0 ? 2 : 1;
        n_other += w->device[i] != 0;
    }
    w->kind = n_other == 0 ? "cpu" : n_other == n ? "other" : "split";
}

static double op_ms(const work *w, int32_t op) {
    bool is_matrix = strcmp(berth_graph_op(w->graph, op)->type, "MatMul") == 0;
    if (w->device[op] == 2) return op < 4 ? 0.25 : 6;
    return is_matrix == (w->device[op] == 0) ? 4 : 1;
}

static double run_ms(const work *w) {
    const char *given = setting(w->kind), *noise = setting("noise");
    double sum = 0;
    for (int32_t i = 0; i < berth_graph_op_count(w->graph); i++)
        sum += op_ms(w, i) + (i > 0 && w->device[i] != w->device[i - 1] ? 0.5 : 0);
    if (given) sum = strtod(given, NULL);
    uint64_t random = (uint64_t)w->process * 31 + (uint64_t)w->kind[0];
    if (noise) sum *= 1 + strtod(noise, NULL) * (2 * (double)support_below(&random, 1001) / 1000 - 1);
    if (setting("narrow") && w->job.native_precision) sum *= strtod(setting("narrow"), NULL);
    return sum;
}

static void take_number(work *w) {
    const char *path = getenv("BERTH_FAKE_LOG");
    char line[64];
    FILE *log = path ? fopen(path, "a+") : NULL;
    if (!log) return;
    rewind(log);
    for (; fgets(line, sizeof line, log); w->total++) w->process += strncmp(line, w->kind, strlen(w->kind)) == 0;
    fprintf(log, "%s\n", w->kind);
    fclose(log);
}

static void put_file(work *w, const char *path, const char *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0) try(w, BERTH_E_IO);
}

static bool names_type(const char *given, const char *type) {
    size_t n = strlen(type);
    return given && strncmp(given, type, n) == 0 && (given[n] == ' ' || given[n] == 0);
}

static void put_node(berth_text *text, const work *w, int32_t op) {
    const char *name = berth_graph_op(w->graph, op)->name, *type = berth_graph_op(w->graph, op)->type;
    bool is_kept =
        names_type(setting("kept"), type) || (strcmp(w->kind, "split") == 0 && names_type(setting("strays"), type));
    const char *provider = w->device[op] && !is_kept ? "WebGpuExecutionProvider" : "CPUExecutionProvider";
    berth_text_printf(text,
                      ",\n{\"cat\":\"Node\",\"name\":\"%s_kernel_time\",\"dur\":%.0f,\"args\":{\"op_name\":\"%s\","
                      "\"provider\":\"%s\"}}",
                      name, w->device[op] ? 5 : 1000 * op_ms(w, op), type, provider);
    if (w->device[op] && !setting("quiet"))
        berth_text_printf(text, ",\n{\"cat\":\"Api\",\"name\":\"%s&%s&k\",\"dur\":%.0f}", name, type,
                          1000 * op_ms(w, op));
}

/* The profile, and the model as it was "rewritten": not at all. */
static const char *put_profile(work *w) {
    char *path = berth_arena_printf(&w->arena, "%s_fake.json", w->job.profile);
    berth_text *text = NULL;
    try(w, berth_text_new(w->ctx, &text));
    berth_text_printf(text, "[{}");
    for (int run = 0; run < PROFILED_RUNS; run++) {
        for (int32_t i = 0; i < berth_graph_op_count(w->graph); i++) put_node(text, w, i);
        berth_text_printf(text, ",\n{\"cat\":\"Session\",\"name\":\"model_run\",\"dur\":1}");
    }
    berth_text_printf(text, "]\n");
    put_file(w, path, berth_text_string(text), berth_text_size(text));
    berth_text_free(text);
    if (w->job.rewritten) put_file(w, w->job.rewritten, w->model, w->model_size);
    return path;
}

/* Every operation a node of its own, and a piece for every change of device. */
static const char *put_report(work *w) {
    static const char *const names[] = {"CPU0", "CPU1", "NPU"};
    int32_t n = berth_graph_op_count(w->graph);
    const char **pieces = berth_arena_push(&w->arena, (size_t)n, sizeof *pieces);
    berth_ov_report_node *nodes = berth_arena_push(&w->arena, (size_t)n, sizeof *nodes);
    const char *refused[] = {berth_graph_op(w->graph, 0)->name};
    bool refuses = setting("refuses") && w->device[0] == 1 && !w->job.assignment;
    berth_ov_reported report = {0, refuses, n, pieces, refused, nodes};
    berth_text *text = NULL;
    for (int32_t i = 0; i < n; i++) {
        const char *name = berth_graph_op(w->graph, i)->name;
        if (i == 0 || w->device[i] != w->device[i - 1]) pieces[report.n_pieces++] = names[w->device[i]];
        nodes[i] =
            (berth_ov_report_node){{name, "Any", name, op_ms(w, i), i + 1 < n ? i + 1 : -1}, report.n_pieces - 1};
    }
    report.n_nodes = 0;
    for (int32_t i = 0; i < n; i++) /* NPU's own runtime model has no operations in it */
        if (w->device[i] == 0 || !setting("quiet")) nodes[report.n_nodes++] = nodes[i];
    for (int32_t i = 0; i < report.n_nodes; i++) nodes[i].node.reader = i + 1 < report.n_nodes ? i + 1 : -1;
    if (setting("elsewhere")) nodes[0].piece = report.n_pieces - 1;
    try(w, berth_text_new(w->ctx, &text));
    berth_ov_report_write(text, &report);
    put_file(w, w->job.profile, berth_text_string(text), berth_text_size(text));
    berth_text_free(text);
    return w->job.profile;
}

static bool is_poisoned(const work *w) {
    const char *op = setting("poison");
    return op && strcmp(w->kind, "split") == 0 && w->device[atoi(op)];
}

static bool differs(const work *w) {
    const char *how = setting("poisoned");
    return is_told(w, "differ") || (is_poisoned(w) && how && strncmp(how, "differ", 6) == 0);
}

static void put_outputs(work *w, berth_answer *answer) {
    int32_t n = 0;
    const int32_t *outputs = berth_graph_outputs(w->graph, &n);
    berth_job_file *files = berth_arena_push(&w->arena, (size_t)n, sizeof *files);
    for (int32_t i = 0; i < n; i++) {
        const berth_tensor *tensor = berth_graph_tensor(w->graph, outputs[i]);
        berth_npy npy = {.kind = 'f', .item_size = 4, .rank = tensor->shape.rank, .count = 1};
        for (int32_t d = 0; d < npy.rank; d++) npy.count *= npy.dims[d] = tensor->shape.dims[d].min;
        if (is_told(w, "shape")) npy.rank = 1, npy.dims[0] = npy.count;
        float *values = berth_arena_push(&w->arena, (size_t)npy.count, sizeof *values);
        for (int64_t k = 0; k < npy.count; k++)
            values[k] = 0.5f + (differs(w) ? 1 : 0) + (is_told(w, "near") ? 0.02f : 0);
        npy.data = values;
        npy.size = (size_t)npy.count * sizeof *values;
        files[i] = (berth_job_file){tensor->name, berth_arena_printf(&w->arena, "%s/o%d.npy", w->job.output_folder, i)};
        try(w, berth_npy_write(w->ctx, files[i].file, &npy));
    }
    answer->outputs = files;
    answer->n_outputs = n;
}

static void be_poisoned(const work *w, const char *refused, size_t size) {
    const char *how = setting("poisoned");
    if (!is_poisoned(w) || differs(w)) return;
    if (how && strncmp(how, "hang", 4) == 0) make_trouble("hang");
    if (how && strncmp(how, "fail", 4) == 0) _exit(write(BERTH_CHILD_ANSWER_FD, refused, size) < 0);
    make_trouble("crash");
}

static void run_short(const work *w) {
    static const char words[] = "{\"error\":{\"status\":-4,\"message\":\"Failed to allocate memory for requested "
                                "buffer of size 4096\"}}";
    int32_t n = 0;
    for (int32_t i = 0; i < berth_graph_op_count(w->graph); i++) n += w->device[i];
    if (setting("room") && strcmp(w->kind, "split") == 0 && n > atoi(setting("room")))
        _exit(write(BERTH_CHILD_ANSWER_FD, words, sizeof words - 1) < 0);
}

static void dawdle(void) {
    const char *given = setting("slow");
    double seconds = given ? strtod(given, NULL) : 0;
    struct timespec rest = {.tv_sec = (time_t)seconds};
    rest.tv_nsec = (long)(1e9 * (seconds - (double)rest.tv_sec));
    while (nanosleep(&rest, &rest) != 0) {
    }
}

static void misbehave(const work *w) {
    static const char refused[] = "{\"error\":{\"status\":-4,\"message\":\"the runtime says no\"}}";
    static const char *const troubles[] = {"crash", "kill", "memory", "hang"};
    static const char gone[] = "{\"error\":{\"status\":-4,\"message\":\"webgpu: no such device\"}}";
    be_poisoned(w, refused, sizeof refused - 1);
    run_short(w);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (is_told(w, troubles[i])) make_trouble(troubles[i]);
    if (w->job.devices[0] && is_told(w, "gone")) _exit(write(BERTH_CHILD_ANSWER_FD, gone, sizeof gone - 1) < 0);
    if (is_told(w, "silent")) make_trouble("vanish");
    if (is_told(w, "garbage")) _exit(write(BERTH_CHILD_ANSWER_FD, "]}what", 6) != 6);
    bool cannot = setting("refuses") && is_openvino(w) && w->job.assignment && w->device[0] == 1;
    if (is_told(w, "fail") || cannot) _exit(write(BERTH_CHILD_ANSWER_FD, refused, sizeof refused - 1) < 0);
}

static void answer_run(work *w, berth_answer *answer) {
    int32_t n = is_told(w, "none") ? 0 : is_told(w, "many") ? 100 * w->job.most_runs : w->job.least_runs;
    double *runs = berth_arena_push(&w->arena, (size_t)n, sizeof *runs), ms = run_ms(w);
    for (int32_t i = 0; i < n; i++) runs[i] = is_told(w, "negative") ? -ms : ms * (1 + 1e-3 * i);
    answer->runs_ms = runs;
    answer->n_runs = n;
    answer->load_ms = 3;
    answer->first_ms = 2 * ms;
    if (w->job.devices[0] && setting("counts")) answer->device_peak_bytes = 1000 + w->process;
    if (w->job.output_folder) put_outputs(w, answer);
    if (w->job.profile) answer->profile = is_openvino(w) ? put_report(w) : put_profile(w);
}

int main(void) {
    work w = {.kind = "cpu"};
    berth_answer answer = {.version = "1.99.0"};
    berth_text *text = NULL;
    const char *bytes = NULL;
    size_t size = 0;
    if (berth_ctx_new(&w.ctx, NULL) != BERTH_OK) return 9;
    berth_arena_init(&w.arena, berth_ctx_allocator(w.ctx));
    try(&w, berth_file_read(w.ctx, &w.arena, "-", 1 << 24, &bytes, &size));
    try(&w, berth_job_read(w.ctx, &w.arena, bytes, size, &w.job));
    if (w.job.kind == BERTH_JOB_RUN) {
        try(&w, berth_graph_read(w.ctx, &w.graph, w.job.model, NULL));
        try(&w, berth_file_read(w.ctx, &w.arena, w.job.model, 1 << 24, &w.model, &w.model_size));
        if (berth_graph_op_count(w.graph) > MOST_OPS) return 9;
        (is_openvino(&w) ? find_places_in_map : find_places)(&w);
        take_number(&w);
        dawdle();
        misbehave(&w);
        answer_run(&w, &answer);
    }
    if (w.job.kind == BERTH_JOB_COPY) {
        static const berth_copy copies[] = {{1000, 0.3, 0.4}, {2000, 0.4, 0.6}};
        answer.copies = copies;
        answer.n_copies = 2;
    }
    try(&w, berth_text_new(w.ctx, &text));
    berth_answer_write(text, &answer);
    bool sent =
        write(BERTH_CHILD_ANSWER_FD, berth_text_string(text), berth_text_size(text)) == (ssize_t)berth_text_size(text);
    berth_text_free(text);
    berth_graph_free(w.graph);
    berth_arena_deinit(&w.arena);
    berth_ctx_free(w.ctx);
    return sent ? 0 : 9;
}
