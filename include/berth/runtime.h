/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/runtime.h: real devices: what a runtime on this machine can use, and how long a model takes on it.
 *
 * A runtime is a library that somebody else has built (ONNX Runtime), loaded when it is needed. It never comes into
 * the calling process: each job is done by a worker, a process of its own that may crash, hang or eat memory without
 * harm. The worker is the command `berth worker`, or any program that calls berth_worker_run().
 */
#ifndef BERTH_RUNTIME_H
#define BERTH_RUNTIME_H

#include "berth/device.h"
#include "berth/read.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_runtime berth_runtime;

typedef struct berth_runtime_options {
    const char *name;    /* "onnxruntime" */
    const char *library; /* path; NULL: $BERTH_ONNXRUNTIME, then .deps/ of a checkout, then the system's */
    const char *worker;  /* path of the program that is called with the argument `worker`; NULL: $BERTH_WORKER, then
                            `berth` in $PATH */
    int32_t threads;     /* of the CPU, for every candidate the same; 0: one per processor that we may use */
    double seconds;      /* limits of one job: wall clock ... */
    double memory_bytes; /* ... and resident memory */
} berth_runtime_options;

/** onnxruntime, found, 0 threads, 300 s, no limit of memory. */
BERTH_API berth_runtime_options berth_runtime_options_default(void);

/** A device that the runtime knows, tried on this machine. */
typedef struct berth_found_device {
    const char *name;     /* as `--devices` takes it: "cpu", "webgpu", "cuda" */
    const char *provider; /* as the runtime calls it */
    bool works;
    const char *reason;       /* why it does not, in the words of the runtime; "" if it does */
    double load_ms, first_ms; /* of a small model, if it works */
} berth_found_device;

/**
 * Find the library. Nothing is loaded yet.
 * @return BERTH_OK; BERTH_E_ARG (no such runtime); BERTH_E_IO (no library or no worker was found; the message says
 *         where it was looked for and what to do)
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_runtime_new(berth_ctx *ctx, berth_runtime **out,
                                                          const berth_runtime_options *options);
BERTH_API void berth_runtime_free(berth_runtime *runtime);
BERTH_API const char *berth_runtime_name(const berth_runtime *runtime);
BERTH_API const char *berth_runtime_library(const berth_runtime *runtime);
/** Known once devices were tried; "" before. */
BERTH_API const char *berth_runtime_version(const berth_runtime *runtime);

/**
 * Try every device that the runtime knows, each in a process of its own; the second call remembers.
 * @param n  their number; the array is the runtime's
 * @return BERTH_OK, also if none works; BERTH_E_UNSUPPORTED (the library is too old, or none); BERTH_E_CANCELLED
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_runtime_devices(berth_ctx *ctx, berth_runtime *runtime,
                                                              const berth_found_device **out, int32_t *n);

/** A file (.npy) for a model input. */
typedef struct berth_input_file {
    const char *name, *file;
} berth_input_file;

/** Times of whole runs. The interval holds the median with 95 % confidence. */
typedef struct berth_latency {
    double median_ms, low_ms, high_ms, p95_ms, p99_ms;
    double load_ms, first_ms; /* to load the model, and the first run; medians over processes */
    double peak_bytes;        /* resident memory of the process */
    int32_t runs;
} berth_latency;

/** How far outputs are from those of a reference run; over all outputs. */
typedef struct berth_difference {
    double max_abs, max_rel;
    double cosine; /* of the least similar output */
    bool equal;    /* within the tolerance of their types */
} berth_difference;

BERTH_API berth_difference berth_difference_none(void);

/**
 * Be the worker: read a job from standard input, do it, answer on file descriptor 3.
 * @return BERTH_OK if an answer was given, be it that the job failed; BERTH_E_IO
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_worker_run(berth_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
