/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the library and the module that goes with it, and setting up devices.
 *
 * Further names of the CPU's plugin are made known by a plugins.xml, which is gone before the first run. Properties are
 * set on devices, not on models: HETERO hands those of a model on to all of its devices alike.
 *
 * The pieces of a model that HETERO has split take all processors, whatever number of threads was asked for, and would
 * beat a single device by that alone. So threads are not asked for at all: the process gets as many processors as the
 * job has threads, before the library is loaded, and every candidate has the same. */
#define _GNU_SOURCE /* NOLINT: affinity masks are Linux's own */
#include "runtime/ov.h"

#include "base/processors.h"
#include "runtime/ov_types.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

berth_status berth_ov_check(const berth_ov *ov, int code, berth_status status, const char *what) {
    if (code == 0) return BERTH_OK;
    const char *why = ov->api->get_last_err_msg();
    char line[BERTH_OV_ERROR];
    snprintf(line, sizeof line, "%s", why && *why ? why : "no reason given");
    for (char *at = line; *at; at++)
        if (*at == '\n') *at = ' ';
    return berth_fail(ov->ctx, status, "%s: %.800s", what, line);
}

/* --- the library ------------------------------------------------------------------------------------------------ */

static berth_status narrow(berth_ctx *ctx, int32_t threads) {
    cpu_set_t all, some;
    if (threads <= 0 || sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) <= threads) return BERTH_OK;
    CPU_ZERO(&some);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&some) < threads; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &some);
    if (sched_setaffinity(0, sizeof some, &some) == 0) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_UNSUPPORTED, "this process cannot be kept to %d processors", (int)threads);
}

/* Where the processor's tiles cannot be used, OpenVINO is kept from them, unless the user has said what it may use. */
static void avoid_tiles(berth_ov *ov) {
    if (!berth_processor_hides_tiles() || getenv("ONEDNN_MAX_CPU_ISA") || getenv("DNNL_MAX_CPU_ISA")) return;
    ov->avoids_tiles = setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", 0) == 0;
}

static berth_status find_functions(berth_ov *ov, void *library, const char *path) {
    ov_api *api = berth_arena_push(ov->arena, 1, sizeof *api);
    const char *missing = NULL;
    if (!api) return berth_fail_nomem(ov->ctx);
        /* A pointer to a function out of a pointer to an object, as POSIX has it. */
#define OV_FIND(returns, name, takes)                   \
    *(void **)&api->name = dlsym(library, "ov_" #name); \
    if (!api->name && !missing) missing = "ov_" #name;
    OV_FUNCTIONS(OV_FIND)
#undef OV_FIND
    *(void **)&api->text_free = dlsym(library, "ov_free");
    if (!api->text_free && !missing) missing = "ov_free";
    if (missing)
        return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "%.600s: this is not OpenVINO's C library: it lacks %s", path,
                          missing);
    ov->api = api;
    return BERTH_OK;
}

static berth_status read_version(berth_ov *ov, const char *path) {
    ov_version version = {0};
    BERTH_TRY(berth_ov_check(ov, ov->api->get_openvino_version(&version), BERTH_E_UNSUPPORTED, "version"));
    ov->version = berth_arena_string(ov->arena, version.build, strcspn(version.build, "-"));
    ov->api->version_free(&version);
    if (!ov->version) return berth_fail_nomem(ov->ctx);
    if (!berth_ov_version(ov->version, &ov->year, &ov->number))
        return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "%.600s: '%.60s' is no version of OpenVINO", path, ov->version);
    if (ov->year >= BERTH_OV_OLDEST) return BERTH_OK;
    return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "%.600s: OpenVINO %.40s is too old: %d.0 or newer is needed", path,
                      ov->version, BERTH_OV_OLDEST);
}

/* --- the module ------------------------------------------------------------------------------------------------- */

/* Beside the program, as it is built, or where it was installed. */
static const char *find_module(const berth_ov *ov) {
    static const char *const places[] = {
        "berth_openvino.so", "../lib/berth/berth_openvino.so", "../lib64/berth/berth_openvino.so",
        "../lib/x86_64-linux-gnu/berth/berth_openvino.so", "../lib/aarch64-linux-gnu/berth/berth_openvino.so"};
    const char *given = getenv("BERTH_OPENVINO_MODULE");
    char program[PATH_SIZE];
    if (given && *given) return given;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return NULL;
    program[n] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *path = berth_arena_printf(ov->arena, "%s/%s", program, places[i]);
        if (path && access(path, R_OK) == 0) return path;
    }
    return NULL;
}

/* The module needs the very library that is loaded: another one is not found, and so it is not loaded twice. */
static void load_module(berth_ov *ov) {
    const berth_ov_module *(*get)(void) = NULL;
    char *error = berth_arena_push(ov->arena, BERTH_OV_ERROR, 1);
    const char *path = find_module(ov);
    ov->no_module = "berth was built without OpenVINO's package (scripts/setup runtime fetches it)";
    if (!path || !error) return;
    ov->no_module = error;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(error, BERTH_OV_ERROR, "berth's module was built for another OpenVINO than %.40s: %.600s", ov->version,
                 dlerror());
        return;
    }
    *(void **)&get = dlsym(handle, BERTH_OV_MODULE_SYMBOL);
    if (!get || get()->version != BERTH_OV_MODULE_VERSION)
        snprintf(error, BERTH_OV_ERROR, "%.600s: this is no module of this version of berth", path);
    else if (get()->check(error) == 0)
        ov->module = get();
}

berth_status berth_ov_need_module(const berth_ov *ov) {
    if (ov->module) return BERTH_OK;
    return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "OpenVINO %.40s cannot place operations: %s", ov->version,
                      ov->no_module);
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

/* The first n characters of the library's path are its folder. */
static void put_plugin(FILE *file, const char *name, const char *library, int n) {
    fprintf(file, "<plugin name=\"%s\" location=\"", name);
    for (int i = 0; i < n; i++) {
        char c = library[i];
        if (c == '&' || c == '<' || c == '"')
            fprintf(file, "&#%d;", c);
        else
            fputc(c, file);
    }
    fprintf(file, "lib%s.so\"/>\n", berth_ov_device_plugin());
}

static berth_status write_plugins(const berth_ov *ov, FILE *file) {
    char library[PATH_MAX]; /* a relative path would be looked for beside the list */
    const char *slash = realpath(ov->job->library, library) ? strrchr(library, '/') : NULL;
    int n = slash ? (int)(slash - library) + 1 : 0;
    fprintf(file, "<ie><plugins>\n");
    for (int32_t i = 0; i < ov->n_devices; i++)
        if (ov->devices[i].is_alias) put_plugin(file, ov->devices[i].name, library, n);
    fprintf(file, "</plugins></ie>\n");
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) return berth_fail(ov->ctx, BERTH_E_IO, "cannot write a list of plugins");
    return BERTH_OK;
}

static berth_status create_core(berth_ov *ov) {
    const char *folder = getenv("TMPDIR");
    char path[PATH_SIZE];
    bool has_alias = false;
    for (int32_t i = 0; i < ov->n_devices; i++) has_alias |= ov->devices[i].is_alias;
    if (!has_alias) return berth_ov_check(ov, ov->api->core_create(&ov->core), BERTH_E_UNSUPPORTED, "OpenVINO");
    snprintf(path, sizeof path, "%s/berth-plugins-XXXXXX.xml", folder && *folder ? folder : "/tmp");
    int fd = mkstemps(path, 4);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        if (fd >= 0) close(fd);
        return berth_fail(ov->ctx, BERTH_E_IO, "cannot write a list of plugins, %.600s", path);
    }
    berth_status status = write_plugins(ov, file);
    if (status == BERTH_OK)
        status = berth_ov_check(ov, ov->api->core_create_with_config(path, &ov->core), BERTH_E_UNSUPPORTED, "OpenVINO");
    unlink(path);
    return status;
}

/* A CPU that lacks a type computes in another one, silently. */
static berth_status check_precision(const berth_ov *ov, const berth_ov_device *device, const char *value) {
    char *can = NULL;
    if (strcmp(value, "f32") == 0) return BERTH_OK;
    BERTH_TRY(berth_ov_check(ov, ov->api->core_get_property(ov->core, device->name, "OPTIMIZATION_CAPABILITIES", &can),
                             BERTH_E_UNSUPPORTED, device->name));
    bool has = strstr(can, strcmp(value, "bf16") == 0 ? "BF16" : "FP16") != NULL;
    ov->api->text_free(can);
    if (has) return BERTH_OK;
    return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "%s does not compute in %.20s here", device->name, value);
}

/* Precision is the same on all devices, unless a device was told another or may choose. */
static berth_status set_up_device(const berth_ov *ov, const berth_ov_device *device) {
    static const char hint[] = "INFERENCE_PRECISION_HINT";
    for (int32_t i = 0; i < device->n; i++) {
        bool is_hint = strcmp(device->keys[i], hint) == 0;
        if (is_hint) BERTH_TRY(check_precision(ov, device, device->values[i]));
        int failed = ov->api->core_set_property(ov->core, device->name, device->keys[i], device->values[i], NULL);
        /* what a version lacks that nobody has asked for needs no mending there */
        if (i < device->n_told) BERTH_TRY(berth_ov_check(ov, failed, BERTH_E_ARG, device->keys[i]));
    }
    if (berth_ov_device_is_told(device) || ov->job->native_precision) return BERTH_OK;
    return berth_ov_check(ov, ov->api->core_set_property(ov->core, device->name, hint, "f32", NULL),
                          BERTH_E_UNSUPPORTED, device->name);
}

static berth_status take_devices(berth_ov *ov) {
    while (ov->job->devices[ov->n_devices]) ov->n_devices++;
    ov->devices = berth_arena_push(ov->arena, (size_t)ov->n_devices + 1, sizeof *ov->devices);
    if (!ov->devices) return berth_fail_nomem(ov->ctx);
    BERTH_TRY(berth_ov_device_check(ov->ctx, ov->job->devices, ov->n_devices));
    for (int32_t i = 0; i < ov->n_devices; i++) {
        BERTH_TRY(berth_ov_device_parse(ov->ctx, ov->job->devices[i], &ov->devices[i]));
        if (ov->job->assignment) berth_ov_device_mend(&ov->devices[i]);
    }
    return BERTH_OK;
}

berth_status berth_ov_open(berth_ov *ov, berth_ctx *ctx, berth_arena *arena, const berth_job *job) {
    *ov = (berth_ov){.ctx = ctx, .arena = arena, .job = job, .version = ""};
    BERTH_TRY(take_devices(ov));
    BERTH_TRY(narrow(ctx, job->threads));
    avoid_tiles(ov);
    void *handle = dlopen(job->library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return berth_fail(ctx, BERTH_E_IO, "cannot load OpenVINO: %.800s", dlerror());
    BERTH_TRY(find_functions(ov, handle, job->library));
    BERTH_TRY(read_version(ov, job->library));
    load_module(ov);
    BERTH_TRY(create_core(ov));
    for (int32_t i = 0; i < ov->n_devices; i++) BERTH_TRY(set_up_device(ov, &ov->devices[i]));
    return BERTH_OK;
}

void berth_ov_close(berth_ov *ov) {
    if (ov->core) ov->api->core_free(ov->core);
    ov->core = NULL;
}
