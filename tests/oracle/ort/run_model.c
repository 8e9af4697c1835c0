/* SPDX-License-Identifier: Apache-2.0 */
/* run_model LIBRARY MODEL INPUT PREFIX DIM...: opens a model that has one input of floats with the loader that was
 * exported beside it, runs it on the numbers in the file INPUT, and writes output i to PREFIXi.raw. Prints the name of
 * the profile that ONNX Runtime has written: the loader gets a table of functions in which making options turns it on,
 * and is otherwise as every user has it. Exit status 1 and the message of ONNX Runtime if it cannot. */
#include <onnxruntime_c_api.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

OrtStatus *berth_load(const OrtApi *ort, const OrtEnv *env, const ORTCHAR_T *model, OrtSession **session);

enum { MOST_DIMS = 8, MOST_OUTPUTS = 8, FLOAT = 1 };

static const OrtApi *ort;
static const char *prefix;

static OrtStatus *make_options(OrtSessionOptions **out) {
    OrtStatus *status = ort->CreateSessionOptions(out);
    return status ? status : ort->EnableProfiling(*out, prefix);
}

static void try(OrtStatus *status) {
    if (!status) return;
    fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
    exit(1);
}

static OrtValue *read_input(const char *path, int n_dims, char **words) {
    int64_t dims[MOST_DIMS];
    size_t n = 1;
    OrtMemoryInfo *memory = NULL;
    OrtValue *value = NULL;
    for (int i = 0; i < n_dims; i++) n *= (size_t)(dims[i] = atoll(words[i]));
    float *numbers = calloc(n, sizeof *numbers); /* the value's for good */
    FILE *file = fopen(path, "rb");
    if (!file || fread(numbers, sizeof *numbers, n, file) != n) exit((perror(path), 2));
    fclose(file);
    try(ort->CreateCpuMemoryInfo(1, 0, &memory));
    try(ort->CreateTensorWithDataAsOrtValue(memory, numbers, n * sizeof *numbers, dims, (size_t)n_dims, FLOAT, &value));
    return value;
}

static void write_output(OrtValue *value, size_t i) {
    char path[4096];
    void *numbers = NULL;
    size_t n = 0;
    OrtTensorTypeAndShapeInfo *shape = NULL;
    try(ort->GetTensorTypeAndShape(value, &shape));
    try(ort->GetTensorShapeElementCount(shape, &n));
    try(ort->GetTensorMutableData(value, &numbers));
    snprintf(path, sizeof path, "%s%zu.raw", prefix, i);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(numbers, sizeof(float), n, file) != n || fclose(file) != 0) exit((perror(path), 2));
}

static void run(OrtSession *session, const OrtValue *input) {
    OrtAllocator *allocator = NULL;
    OrtValue *outputs[MOST_OUTPUTS] = {NULL};
    char *in = NULL, *out[MOST_OUTPUTS], *profile = NULL;
    size_t n = 0;
    try(ort->GetAllocatorWithDefaultOptions(&allocator));
    try(ort->SessionGetOutputCount(session, &n));
    if (n > MOST_OUTPUTS) exit(2);
    try(ort->SessionGetInputName(session, 0, allocator, &in));
    for (size_t i = 0; i < n; i++) try(ort->SessionGetOutputName(session, i, allocator, &out[i]));
    try(ort->Run(session, NULL, (const char *const *)&in, &input, 1, (const char *const *)out, n, outputs));
    for (size_t i = 0; i < n; i++) write_output(outputs[i], i);
    try(ort->SessionEndProfiling(session, allocator, &profile));
    printf("%s\n", profile);
}

int main(int argc, char **argv) {
    void *library = argc > 5 && argc - 5 <= MOST_DIMS ? dlopen(argv[1], RTLD_NOW) : NULL;
    const OrtApiBase *(*get_base)(void) = NULL;
    if (library) *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    if (!get_base)
        return fprintf(stderr, "%s\n", argc > 5 ? dlerror() : "run_model LIBRARY MODEL INPUT PREFIX DIM..."), 2;
    ort = get_base()->GetApi(25);
    prefix = argv[4];
    OrtApi table = *ort;
    OrtEnv *env = NULL;
    OrtSession *session = NULL;
    table.CreateSessionOptions = make_options;
    try(ort->CreateEnv(3, "test", &env));
    try(berth_load(&table, env, argv[2], &session));
    run(session, read_input(argv[3], argc - 5, argv + 5));
    ort->ReleaseSession(session);
    ort->ReleaseEnv(env);
    return 0;
}
