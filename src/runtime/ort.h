/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime in the worker: the library, sessions, values. Nothing of this runs in our own process. */
#ifndef BERTH_RUNTIME_ORT_H
#define BERTH_RUNTIME_ORT_H

#include "runtime/job.h"
#include "runtime/npy.h"
#include "runtime/ort_api.h"

/* An execution provider, by our name of the device. */
typedef struct berth_ort_provider {
    const char *device; /* "webgpu" */
    const char *name;   /* "WebGpuExecutionProvider", as placements and profiles say */
    const char *append; /* what appends it to a session, or NULL: it is always there; CUDA has a way of its own */
    bool compiles;      /* takes whole sub-graphs, so that operations have no times of their own */
    const char *waits;  /* variable of the environment that, set to 1, makes the host wait for every kernel; or NULL */
} berth_ort_provider;

/* The row of that index or device; NULL: none. */
const berth_ort_provider *berth_ort_provider_at(int32_t index);
const berth_ort_provider *berth_ort_provider_of(const char *device);

typedef struct berth_ort {
    berth_ctx *ctx;
    berth_arena *arena;
    const ort_api *api;
    const char *version;
    ort_env *env;
    ort_memory *memory;
    ort_allocator *allocator;
} berth_ort;

berth_status berth_ort_open(berth_ort *ort, berth_ctx *ctx, berth_arena *arena, const char *library);
/* The library itself stays: many cannot be unloaded. */
void berth_ort_close(berth_ort *ort);
/* BERTH_OK, or `code` with the library's own words behind ours. Releases the status. */
berth_status berth_ort_check(const berth_ort *ort, ort_status *status, berth_status code, const char *what);

/* A session as the job says. `bytes` NULL: the model's file. */
berth_status berth_ort_session(const berth_ort *ort, const berth_job *job, const void *bytes, size_t size,
                               ort_session **out);

/* Values in and out. */
berth_status berth_ort_value(const berth_ort *ort, const berth_npy *from, int type, ort_value **out);
berth_status berth_ort_to_npy(const berth_ort *ort, ort_value *value, berth_npy *out);

/* The jobs. */
berth_status berth_ort_work(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_answer *answer);

#endif
