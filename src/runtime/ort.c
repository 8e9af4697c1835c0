/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the library, and sessions as a job wants them. */
#include "runtime/ort.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

berth_status berth_ort_check(const berth_ort *ort, ort_status *status, berth_status code, const char *what) {
    if (!status) return BERTH_OK;
    code = berth_fail(ort->ctx, code, "%s: %.800s", what, ort->api->GetErrorMessage(status));
    ort->api->ReleaseStatus(status);
    return code;
}

/* --- the library ------------------------------------------------------------------------------------------------ */

static berth_status find_table(berth_ort *ort, void *library, const char *path) {
    const ort_base *(*get_base)(void) = NULL;
    /* A pointer to a function out of a pointer to an object, as POSIX has it. */
    *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    if (!get_base) return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "%.600s: this is not ONNX Runtime", path);
    const ort_base *base = get_base();
    ort->version = base->GetVersionString();
    void *const *table = base->GetApi(ORT_API_WANTED);
    if (!table)
        return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED,
                          "%.600s: ONNX Runtime %.40s is too old: 1.%d or newer is needed", path, ort->version,
                          ORT_API_WANTED);
    ort_api *api = berth_arena_push(ort->arena, 1, sizeof *api);
    if (!api) return berth_fail_nomem(ort->ctx);
#define ORT_TAKE(number, returns, name, takes) memcpy(&api->name, &table[number], sizeof api->name);
    ORT_FUNCTIONS(ORT_TAKE)
#undef ORT_TAKE
    ort->api = api;
    return BERTH_OK;
}

berth_status berth_ort_open(berth_ort *ort, berth_ctx *ctx, berth_arena *arena, const char *library) {
    *ort = (berth_ort){.ctx = ctx, .arena = arena};
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return berth_fail(ctx, BERTH_E_IO, "cannot load ONNX Runtime: %.800s", dlerror());
    BERTH_TRY(find_table(ort, handle, library));
    BERTH_TRY(berth_ort_check(ort, ort->api->CreateEnv(ORT_LOG_ERROR, "berth", &ort->env), BERTH_E_IO, "ONNX Runtime"));
    BERTH_TRY(berth_ort_check(ort, ort->api->GetAllocatorWithDefaultOptions(&ort->allocator), BERTH_E_IO, "allocator"));
    return berth_ort_check(ort, ort->api->CreateCpuMemoryInfo(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &ort->memory),
                           BERTH_E_IO, "memory");
}

void berth_ort_close(berth_ort *ort) {
    if (!ort->api) return;
    if (ort->memory) ort->api->ReleaseMemoryInfo(ort->memory);
    if (ort->env) ort->api->ReleaseEnv(ort->env);
}

/* --- sessions --------------------------------------------------------------------------------------------------- */

/* TF32 is another precision than the model's. */
static berth_status append_cuda(const berth_ort *ort, const berth_job *job, const berth_ort_provider *provider,
                                ort_options *options) {
    const char *keys[] = {provider->wide}, *values[] = {provider->wide_value};
    ort_cuda *cuda = NULL;
    BERTH_TRY(berth_ort_check(ort, ort->api->CreateCudaOptions(&cuda), BERTH_E_UNSUPPORTED, "cuda"));
    berth_status status =
        berth_ort_check(ort, ort->api->UpdateCudaOptions(cuda, keys, values, job->native_precision ? 0 : 1),
                        BERTH_E_UNSUPPORTED, "cuda");
    if (status == BERTH_OK)
        status = berth_ort_check(ort, ort->api->AppendCudaV2(options, cuda), BERTH_E_UNSUPPORTED, "cuda");
    ort->api->ReleaseCudaOptions(cuda);
    return status;
}

static berth_status append_devices(const berth_ort *ort, const berth_job *job, ort_options *options) {
    for (int32_t i = 0; job->devices[i]; i++) {
        const berth_ort_provider *provider = berth_ort_provider_of(job->devices[i]);
        if (!provider) return berth_fail(ort->ctx, BERTH_E_ARG, "ONNX Runtime has no device '%.60s'", job->devices[i]);
        if (provider->append == BERTH_APPEND_NONE) continue;
        if (provider->append == BERTH_APPEND_BY_NAME)
            BERTH_TRY(berth_ort_check(ort, ort->api->AppendProvider(options, provider->word, NULL, NULL, 0),
                                      BERTH_E_UNSUPPORTED, provider->device));
        else if (strcmp(provider->device, "cuda") == 0)
            BERTH_TRY(append_cuda(ort, job, provider, options));
        else
            return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "%s: this version of berth cannot run it",
                              provider->device);
    }
    return BERTH_OK;
}

static berth_status configure(const berth_ort *ort, const berth_job *job, ort_options *options) {
    static const int levels[] = {ORT_OPTIMISE_NONE, ORT_OPTIMISE_BASIC, ORT_OPTIMISE_ALL};
    const ort_api *api = ort->api;
    const struct {
        const char *key, *value;
    } entries[] = {
        {"session.intra_op.allow_spinning", "0"}, /* or the pool of one run slows down the next */
        {"session.inter_op.allow_spinning", "0"},
        {"session.model_external_initializers_file_folder_path", job->folder},
        {"session.layer_assignment_settings", job->assignment},
        /* else the weights would be written into the rewritten model, up to 2 GiB of them */
        {"session.optimized_model_external_initializers_file_name", job->rewritten ? "rewritten.weights" : NULL},
        {"session.optimized_model_external_initializers_min_size_in_bytes", job->rewritten ? "1024" : NULL},
    };
    BERTH_TRY(berth_ort_check(ort, api->SetSessionGraphOptimizationLevel(options, levels[job->optimisation]),
                              BERTH_E_ARG, "optimisation"));
    if (job->threads > 0)
        BERTH_TRY(berth_ort_check(ort, api->SetIntraOpNumThreads(options, job->threads), BERTH_E_ARG, "threads"));
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i].value)
            BERTH_TRY(berth_ort_check(ort, api->AddSessionConfigEntry(options, entries[i].key, entries[i].value),
                                      BERTH_E_UNSUPPORTED, entries[i].key));
    if (job->rewritten)
        BERTH_TRY(
            berth_ort_check(ort, api->SetOptimizedModelFilePath(options, job->rewritten), BERTH_E_IO, "rewritten"));
    if (job->profile)
        BERTH_TRY(berth_ort_check(ort, api->EnableProfiling(options, job->profile), BERTH_E_IO, "profile"));
    return append_devices(ort, job, options);
}

berth_status berth_ort_session(const berth_ort *ort, const berth_job *job, const void *bytes, size_t size,
                               ort_session **out) {
    ort_options *options = NULL;
    *out = NULL;
    BERTH_TRY(berth_ort_check(ort, ort->api->CreateSessionOptions(&options), BERTH_E_IO, "options"));
    berth_status status = configure(ort, job, options);
    if (status == BERTH_OK)
        status = bytes ? berth_ort_check(ort, ort->api->CreateSessionFromArray(ort->env, bytes, size, options, out),
                                         BERTH_E_UNSUPPORTED, "ONNX Runtime")
                       : berth_ort_check(ort, ort->api->CreateSession(ort->env, job->model, options, out),
                                         BERTH_E_UNSUPPORTED, "ONNX Runtime");
    ort->api->ReleaseSessionOptions(options);
    return status;
}
