/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime in the worker: the library, sessions, values. Nothing of this runs in our own process. */
#ifndef BERTH_RUNTIME_ORT_H
#define BERTH_RUNTIME_ORT_H

#include "runtime/job.h"
#include "runtime/npy.h"
#include "runtime/ort_api.h"
#include "runtime/providers.h"

enum { BERTH_ORT_SMALL = 64 }; /* bytes of a model of one operation, at most */

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

/* Values elsewhere (ort_bind.c). The memory of a device, by the name that the library has for it; release it. */
berth_status berth_ort_memory_of(const berth_ort *ort, const char *device, ort_memory **out);
/* A session on that device whose output y is its input x. */
berth_status berth_ort_identity(const berth_ort *ort, const char *device, int type, ort_session **out);
/* What `from` holds, in that memory, by a session as above, which must outlive it. */
berth_status berth_ort_move(const berth_ort *ort, ort_session *identity, const ort_memory *memory,
                            const ort_value *from, ort_value **out);
/* The most bytes of a device's memory that a session has had in use, weights included, by the library's own count; 0:
 * it does not count. */
double berth_ort_peak(const berth_ort *ort, ort_session *session, const char *device);

/* Waits until a device has done everything that it was told before. */
typedef struct berth_ort_fence {
    ort_session *session;
    ort_value *there; /* NULL: nothing is needed, since the library itself waits */
} berth_ort_fence;
berth_status berth_ort_fence_open(const berth_ort *ort, const char *device, berth_ort_fence *fence);
berth_status berth_ort_fence_wait(const berth_ort *ort, const berth_ort_fence *fence);
void berth_ort_fence_close(const berth_ort *ort, berth_ort_fence *fence);

/* A run, until everything that it was to write is written, as far as the library knows. */
berth_status berth_ort_run_bound(const berth_ort *ort, ort_session *session, ort_binding *binding);

/* Runs whose inputs and outputs lie where the job says (ort_io.c). */
typedef struct berth_ort_io {
    const berth_job *job;
    size_t n_in, n_out;
    char *const *in_names, *const *out_names;
    const int *types; /* [n_in] */
    ort_value **in;   /* [n_in] on the host; io_open moves those that lie elsewhere */
    ort_session *session;
    ort_binding *binding;     /* NULL: there is no such input or output */
    ort_session **identities; /* [n_in] that have moved inputs, and own them */
    berth_ort_fence fence;    /* of the device that outputs lie on */
} berth_ort_io;

/* Does one of these lie on a device of the job? */
bool berth_ort_io_wanted(const berth_job *job, char *const *names, size_t n);
berth_status berth_ort_io_open(const berth_ort *ort, ort_session *session, berth_ort_io *io);
berth_status berth_ort_io_run(const berth_ort *ort, berth_ort_io *io);
void berth_ort_io_close(const berth_ort *ort, berth_ort_io *io);

/* The jobs. */
berth_status berth_ort_copies(const berth_ort *ort, const berth_job *job, berth_answer *answer);
berth_status berth_ort_work(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_answer *answer);

#endif
