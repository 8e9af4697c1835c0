/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/runtime.h: real devices: what a runtime on this machine can use, and how long a model takes on it.
 *
 * A runtime is a library that somebody else has built (ONNX Runtime, OpenVINO), loaded when it is needed. It never
 * comes into the calling process: each job is done by a worker, a process of its own that may crash, hang or eat memory
 * without harm. The worker is the command `berth worker`, or any program that calls berth_worker_run().
 */
#ifndef BERTH_RUNTIME_H
#define BERTH_RUNTIME_H

#include "berth/device.h"
#include "berth/read.h"
#include "berth/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_runtime berth_runtime;

typedef struct berth_runtime_options {
    const char *name;    /* "onnxruntime" or "openvino" */
    const char *library; /* path; NULL: $BERTH_ONNXRUNTIME or $BERTH_OPENVINO, then .deps/ of a checkout, then the
                            system's */
    const char *worker;  /* path of the program that is called with the argument `worker`; NULL: $BERTH_WORKER, then
                            `berth` in $PATH */
    int32_t threads;     /* of the CPU, for every candidate the same; 0: one per processor that we may use */
    double seconds;      /* limits of one job: wall clock ... */
    double memory_bytes; /* ... and resident memory; 0: nine tenths of what the system has to give */
    const char *store;   /* file that keeps what was measured (berth/store.h); "": the default one; NULL: none */
    bool resume;         /* runs that the store has are not made again: for a command that was killed */
    bool refresh;        /* profiles that the store has are taken again */
} berth_runtime_options;

/** onnxruntime, found, 0 threads, 300 s, most of the memory, no store. */
BERTH_API berth_runtime_options berth_runtime_options_default(void);

/** A device that the runtime knows, tried on this machine. */
typedef struct berth_found_device {
    const char *name;     /* as `--devices` takes it: "cpu", "webgpu", "cuda"; "CPU", "GPU.1", "CPU1:bf16" */
    const char *provider; /* as the runtime calls it */
    bool works;
    const char *reason;       /* why it does not, in the words of the runtime; "" if it does */
    double load_ms, first_ms; /* of a small model, if it works */
    bool is_alias;            /* not a device of its own, but a further name of one */
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

/** What it takes to copy so many bytes from the host to a device, and back. */
typedef struct berth_copy {
    int64_t bytes;
    double in_ms, out_ms;
} berth_copy;

/** How models are run. */
typedef struct berth_run_options {
    const berth_input_file *inputs; /* the rest is random */
    int32_t n_inputs;
    const berth_rule *io; /* inputs and outputs that lie on a device, by pattern; the rest lie on the host */
    int32_t n_io;
    bool synthesize;       /* make up weights whose files are missing */
    bool native_precision; /* devices may compute in a narrower type than the model's, such as TF32 */
    uint64_t seed;         /* of made-up inputs and weights, and of the order of processes */
    int32_t rounds;        /* processes of each candidate */
    int32_t least_runs;    /* in each process, after those that warm up ... */
    int32_t most_runs;     /* ... and at most, ... */
    double run_seconds;    /* ... as long as they take no longer than this */
    double seconds;        /* of all: after that no further round begins, but there is always one */
    /** Called after each process; may be NULL. */
    void (*progress)(void *user, const char *label, int32_t done, int32_t of);
    void *progress_user;
} berth_run_options;

/** 7 rounds of 5 to 50 runs in half a second each, no limit, random inputs, precision of the model. */
BERTH_API berth_run_options berth_run_options_default(void);

/** Times of whole runs. The interval holds the median with 95 % confidence. */
typedef struct berth_latency {
    double median_ms, low_ms, high_ms, p95_ms, p99_ms;
    double steady_ms;         /* mean of the medians of the two fastest processes: as if undisturbed */
    double protocol_ms;       /* mean of runs 6 to 10 of a process, as the HSDAG paper has it; NAN: there are fewer */
    double load_ms, first_ms; /* to load the model, and the first run; medians over processes */
    double peak_bytes;        /* resident memory of the process: the host's */
    double device_peak_bytes; /* most memory in use on the other device, weights included, by the runtime's own count;
                                 NAN: there is none, or nobody counts */
    double cores;             /* processors that it kept busy; 0: not known */
    int32_t runs;
} berth_latency;

/** How far outputs are from those of a reference run; over all outputs. */
typedef struct berth_difference {
    double max_abs, max_rel;
    double cosine;                /* of the least similar output */
    double mean_square, distance; /* mean squared and Euclidean, of the output where each is widest */
    bool equal;                   /* within the tolerance of their types */
} berth_difference;

BERTH_API berth_difference berth_difference_none(void);

/** A way to run the model, as it was measured. */
typedef struct berth_measured_run {
    const char *name;          /* "plan", or a device */
    const char *reason;        /* why it could not be run, or "" */
    const char *out_of_memory; /* the device whose memory did not suffice, if that was why, as far as one can tell */
    berth_latency latency;
    double gain, gain_low; /* of the plan over it, in the same rounds: median, and the lower end of the 95 % interval;
                              NAN: not known, the latter also where there were fewer than 5 rounds */
} berth_measured_run;

/** An operation that did not run where the placement says. */
typedef struct berth_deviation {
    int32_t op;
    const char *planned, *ran; /* devices; ran "": it is not known */
    const char *reason;        /* "fused into NAME", "forced to the CPU by the runtime", ... */
    bool explained;
} berth_deviation;

typedef struct berth_measured {
    const char *runtime, *runtime_version;
    berth_measured_run plan;
    int32_t n_singles;
    const berth_measured_run *singles; /* one for each device, as a stock session has it */
    const berth_measured_run *full;    /* [n_singles] the same in the model's own precision, if they need not have it;
                                          else NULL. What they gain over it is no gain of a placement. */
    int32_t best;                      /* fastest of them; -1: none runs */
    double gain, gain_low;             /* of the plan over that one; NAN: not known, or there is none */
    berth_difference outputs;          /* of the plan, to the CPU alone, else to the best device */
    bool is_only;                      /* no device runs it alone: there is nothing to compare with */
    int32_t n_deviations;
    const berth_deviation *deviations;
    int32_t n_checked; /* operations whose device is known from the runtime's own profile */
    int32_t n_pieces;  /* that the runtime has made of the placement; 0: it does not say */
    int32_t n_planned_pieces;
    const char *const *pieces; /* the device of each, in the order of execution */
    int32_t n_made_files;
} berth_measured;

/**
 * Run a placement and every single device of it, fairly: each in processes of its own that take turns, with the same
 * inputs and threads. Then the placement once more with the runtime's profile, to see where each operation ran.
 *
 * @param model      path of the file that the graph was read from
 * @param devices    names of the placement's devices, as the runtime knows them
 * @return BERTH_OK, also if some candidates cannot be run; BERTH_E_UNSUPPORTED (not a format that the runtime
 *         reads, or nothing at all can be run); BERTH_E_INFEASIBLE (more than one accelerator in one session);
 * BERTH_E_FORMAT (weights outside the model's folder); BERTH_E_ARG (weights or dimensions are missing); BERTH_E_IO;
 * BERTH_E_CANCELLED
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_measure(berth_ctx *ctx, berth_measured **out, berth_runtime *runtime,
                                                      const berth_graph *graph, const char *model,
                                                      const char *const *devices, int32_t n_devices,
                                                      const berth_placement *placement,
                                                      const berth_run_options *options);
BERTH_API void berth_measured_free(berth_measured *measured);
/** Append the members `runtime`, `measured`, `outputs`, `checked`, `deviations` and, where the runtime says what pieces
 * it has made, `planned_pieces` and `pieces` of an object that was begun. */
BERTH_API void berth_measured_write(berth_text *text, const berth_measured *measured, const berth_graph *graph);

/**
 * Be the worker: read a job from standard input, do it, answer on file descriptor 3.
 * @return BERTH_OK if an answer was given, be it that the job failed; BERTH_E_IO
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_worker_run(berth_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
