/* SPDX-License-Identifier: Apache-2.0 */
/* Where the library is, and which devices really work with it. */
#include "runtime/kind.h"

#include "base/memory.h"
#include "base/processors.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

berth_runtime_options berth_runtime_options_default(void) {
    return (berth_runtime_options){.name = "onnxruntime", .seconds = 300};
}

/* --- finding ---------------------------------------------------------------------------------------------------- */

static bool is_there(const char *path) {
    return access(path, R_OK) == 0;
}

/* The folder of fetched runtimes: $BERTH_RUNTIMES, or .deps of the checkout that the program lies in. */
static const char *find_folder(berth_arena *arena) {
    const char *given = getenv("BERTH_RUNTIMES");
    char path[4096];
    if (given && *given) return given;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return ".deps";
    path[n] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash) *slash = 0;
    }
    return berth_arena_printf(arena, "%s/.deps", path);
}

/* The first file that one of the patterns matches, each behind `folder` (NULL: as it is), into the runtime. */
static void look(berth_runtime *runtime, const char *folder, const char *const *patterns) {
    for (; *patterns && !runtime->library; patterns++) {
        const char *pattern = folder ? berth_arena_printf(&runtime->arena, "%s/%s", folder, *patterns) : *patterns;
        glob_t found = {0};
        if (pattern && glob(pattern, 0, NULL, &found) == 0 && is_there(found.gl_pathv[0]))
            runtime->library = berth_arena_string(&runtime->arena, found.gl_pathv[0], strlen(found.gl_pathv[0]));
        globfree(&found);
    }
}

static berth_status find_library(berth_ctx *ctx, berth_runtime *runtime, const char *given) {
    const berth_runtime_kind *kind = runtime->kind;
    const char *by_environment = getenv(kind->variable), *folder = find_folder(&runtime->arena);
    if (!given && by_environment && *by_environment) given = by_environment;
    if (given) {
        runtime->library = berth_arena_string(&runtime->arena, given, strlen(given));
        if (!is_there(given)) return berth_fail(ctx, BERTH_E_IO, "%.600s: there is no such library", given);
    }
    if (folder) look(runtime, folder, kind->fetched);
    look(runtime, NULL, kind->installed);
    if (runtime->arena.failed) return berth_fail_nomem(ctx);
    if (runtime->library) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_IO,
                      "%s was not found: not in %.400s/%s and not in the system's folders; "
                      "give --library FILE, set %s, or run scripts/setup runtime",
                      kind->title, folder, kind->name, kind->variable);
}

static const char *find_in_path(berth_arena *arena, const char *name) {
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        const char *path = berth_arena_printf(arena, "%.*s/%s", (int)n, at, name);
        if (path && access(path, X_OK) == 0) return path;
        at += n + (at[n] == ':');
    }
    return NULL;
}

static berth_status find_worker(berth_ctx *ctx, berth_runtime *runtime, const char *given) {
    const char *by_environment = getenv("BERTH_WORKER");
    if (!given && by_environment && *by_environment) given = by_environment;
    if (given)
        runtime->worker.program = berth_arena_string(&runtime->arena, given, strlen(given));
    else
        runtime->worker.program = find_in_path(&runtime->arena, "berth");
    if (runtime->arena.failed) return berth_fail_nomem(ctx);
    if (runtime->worker.program && access(runtime->worker.program, X_OK) == 0) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_IO, "there is no program to run models with: %.600s",
                      given ? given : "no 'berth' in $PATH, and BERTH_WORKER is not set");
}

/* What a time depends on besides the model: the library (as a file), the processor, threads. */
static berth_status identify(berth_ctx *ctx, berth_runtime *runtime) {
    struct stat info = {0};
    char processor[256];
    berth_processor_name(processor, sizeof processor);
    stat(runtime->library, &info);
    runtime->identity =
        berth_arena_printf(&runtime->arena, "%s\n%s\n%lld %lld\n%s\nthreads %d", runtime->kind->name, runtime->library,
                           (long long)info.st_size, (long long)info.st_mtime, processor, (int)runtime->threads);
    return runtime->identity ? BERTH_OK : berth_fail_nomem(ctx);
}

static berth_status refuse_name(berth_ctx *ctx, const char *name) {
    char list[200] = "";
    size_t used = 0;
    for (int32_t i = 0; berth_runtime_kind_at(i) && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", berth_runtime_kind_at(i)->name);
    return berth_fail(ctx, BERTH_E_ARG, "there is no runtime '%.60s'; there is: %s", name, list);
}

berth_status berth_runtime_new(berth_ctx *ctx, berth_runtime **out, const berth_runtime_options *options) {
    *out = NULL;
    const berth_runtime_kind *kind = berth_runtime_kind_find(options->name);
    if (!kind) return refuse_name(ctx, options->name);
    berth_runtime *runtime = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *runtime);
    if (!runtime) return berth_fail_nomem(ctx);
    berth_arena_init(&runtime->arena, berth_ctx_allocator(ctx));
    runtime->kind = kind;
    runtime->version = "";
    runtime->threads = options->threads > 0 ? options->threads : berth_processors();
    runtime->worker = (berth_worker){NULL, options->seconds, options->memory_bytes};
    if (options->memory_bytes <= 0) runtime->worker.memory_bytes = 0.9 * berth_memory_available();
    berth_status status = find_library(ctx, runtime, options->library);
    if (status == BERTH_OK) status = find_worker(ctx, runtime, options->worker);
    if (status == BERTH_OK) status = identify(ctx, runtime);
    runtime->resume = options->resume;
    runtime->refresh = options->refresh;
    if (status == BERTH_OK && options->store)
        status = berth_store_open(ctx, &runtime->store, *options->store ? options->store : NULL);
    if (status == BERTH_OK)
        *out = runtime;
    else
        berth_runtime_free(runtime);
    return status;
}

void berth_runtime_free(berth_runtime *runtime) {
    if (!runtime) return;
    berth_allocator allocator = runtime->arena.allocator;
    berth_store_close(runtime->store);
    berth_arena_deinit(&runtime->arena);
    berth_resize(&allocator, runtime, 1, 0, sizeof *runtime);
}

const char *berth_runtime_name(const berth_runtime *runtime) {
    return runtime->kind->name;
}

const char *berth_runtime_library(const berth_runtime *runtime) {
    return runtime->library;
}

const char *berth_runtime_version(const berth_runtime *runtime) {
    return runtime->version;
}

berth_status berth_runtime_note_version(berth_ctx *ctx, berth_runtime *runtime, const char *version) {
    if (*runtime->version) return BERTH_OK;
    const char *kept = berth_arena_string(&runtime->arena, version, strlen(version));
    if (!kept) return berth_fail_nomem(ctx);
    runtime->version = kept;
    return BERTH_OK;
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static berth_status try_device(berth_ctx *ctx, berth_runtime *runtime, berth_found_device *device) {
    const char *const names[] = {device->name, NULL};
    berth_job job = {.kind = BERTH_JOB_PROBE,
                     .runtime = runtime->kind->name,
                     .library = runtime->library,
                     .devices = names,
                     .optimisation = BERTH_OPTIMISE_NONE,
                     .threads = runtime->threads,
                     .native_precision = true};
    berth_answer answer;
    berth_status status = berth_job_run(ctx, &runtime->arena, &runtime->worker, &job, &answer, NULL);
    if (status == BERTH_E_CANCELLED || status == BERTH_E_NOMEM) return status;
    device->works = status == BERTH_OK;
    device->reason = "";
    if (device->works) {
        runtime->version = answer.version;
        device->load_ms = answer.load_ms;
        device->first_ms = answer.first_ms;
        if (!*device->provider && answer.description) device->provider = answer.description;
        return BERTH_OK;
    }
    const char *why = berth_ctx_message(ctx);
    device->reason = berth_arena_string(&runtime->arena, why, strlen(why));
    return device->reason ? BERTH_OK : berth_fail_nomem(ctx);
}

berth_status berth_runtime_devices(berth_ctx *ctx, berth_runtime *runtime, const berth_found_device **out, int32_t *n) {
    *out = NULL;
    *n = 0;
    if (!runtime->tried) {
        BERTH_TRY(runtime->kind->list_devices(ctx, runtime));
        for (int32_t i = 0; i < runtime->n_devices; i++) {
            BERTH_TRY(try_device(ctx, runtime, &runtime->devices[i]));
            if (i > 0 || runtime->devices[i].works) continue;
            /* Without the CPU nothing works: the library is the reason. */
            return berth_fail(ctx, BERTH_E_UNSUPPORTED, "%s", runtime->devices[i].reason);
        }
        runtime->tried = true;
    }
    *out = runtime->devices;
    *n = runtime->n_devices;
    return BERTH_OK;
}
