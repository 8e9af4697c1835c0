/* SPDX-License-Identifier: Apache-2.0 */
/* A job for the worker and its answer: all that the two processes know of each other.
 *
 * A job is one JSON object on the worker's standard input, the answer one on file descriptor 3. A job that fails
 * answers {"error": {"status": N, "message": "..."}}; a worker that dies answers nothing, and how it died is the
 * error. Tensors travel as .npy files in a folder that our side makes and removes. */
#ifndef BERTH_RUNTIME_JOB_H
#define BERTH_RUNTIME_JOB_H

#include "base/child.h"
#include "base/json.h"
#include "berth/runtime.h"
#include "berth/text.h"

typedef enum berth_job_kind {
    BERTH_JOB_PROBE, /* does the library load, and does this device run a small model? */
    BERTH_JOB_RUN,   /* run a model so many times */
    BERTH_JOB_COPY,  /* what do copies to this device and back take, by size? */
    BERTH_JOB_KINDS
} berth_job_kind;

/* How far the runtime may rewrite the model. */
typedef enum berth_optimisation { BERTH_OPTIMISE_NONE, BERTH_OPTIMISE_BASIC, BERTH_OPTIMISE_ALL } berth_optimisation;

/* A tensor of the model in a file. */
typedef struct berth_job_file {
    const char *name, *file;
} berth_job_file;

/* Where an input or output of the model lies, if not on the host. */
typedef struct berth_job_place {
    const char *name, *device;
} berth_job_place;

typedef struct berth_job {
    berth_job_kind kind;
    const char *runtime; /* "onnxruntime", "openvino" */
    const char *library; /* path */
    /* devices by our names, in the order in which they may take what is not assigned, NULL ends them: for ONNX Runtime
     * those besides the CPU, for OpenVINO all. A probe has one. */
    const char *const *devices;

    const char *model;      /* path */
    const char *folder;     /* of its external data, or NULL: where the model lies */
    const char *assignment; /* which operations run where: ONNX Runtime's own words about the marks in the model; for
                               OpenVINO a file (ov_map.h); NULL: the runtime's own choice */
    berth_optimisation optimisation;
    int32_t threads;       /* at least 1 */
    bool waits;            /* the host waits for every kernel, where the device can be told so: for profiles */
    bool native_precision; /* devices may compute in a narrower type than the model's */
    const berth_job_file *inputs;
    int32_t n_inputs;
    const berth_job_place *io; /* inputs and outputs that lie on a device of the job */
    int32_t n_io;
    int32_t least_runs, most_runs; /* counted ones; the first, and others until they are steady, are not */
    double run_seconds;            /* no more runs after so many seconds of them, but the least */
    const char *output_folder;     /* gets a file for each output of the last run; or NULL */
    const char *profile;           /* prefix of the path of the runtime's own profile; or NULL */
    const char *rewritten;         /* path that gets the model as the runtime has rewritten it; or NULL */
} berth_job;

/* What the worker found. In the arena of the call. */
typedef struct berth_answer {
    const char *version;     /* of the library */
    const char *description; /* of the device, if it says */
    double load_ms, first_ms;
    int32_t n_warm, n_runs;
    const double *runs_ms; /* [n_runs] in the order in which they were made */
    int32_t n_outputs;
    const berth_job_file *outputs;
    const char *profile;          /* path of the file that was written, or NULL */
    double peak_bytes;            /* resident memory of the worker */
    double cores;                 /* time of all its threads over the clock's, during the runs; 0: not known */
    const char *const *available; /* of a probe: all devices that the library lists, NULL ends them; or NULL */
    double device_peak_bytes;     /* most memory in use on the first of the job's devices; 0: not known */
    int32_t n_copies;
    const berth_copy *copies; /* in the order of their sizes */
} berth_answer;

/* How workers are run. */
typedef struct berth_worker {
    const char *program; /* is called as `program worker` */
    double seconds;      /* limits of one job */
    double memory_bytes;
} berth_worker;

/* One job in a process of its own.
 * @return BERTH_OK; BERTH_E_LIMIT (the worker took too long or too much memory; `end`, if not NULL, says which);
 *         BERTH_E_IO (it crashed or could not be started); BERTH_E_FORMAT (no answer to this job); BERTH_E_CANCELLED;
 *         what the job failed with */
berth_status berth_job_run(berth_ctx *ctx, berth_arena *arena, const berth_worker *worker, const berth_job *job,
                           berth_answer *answer, berth_child_end *end);

/* The parent sizes and divides by what it asked for: an answer of other than so many runs, or of times that are none,
 * is broken: BERTH_E_FORMAT. */
berth_status berth_answer_check(berth_ctx *ctx, const berth_job *job, const berth_answer *answer);

/* The two sides of the wire, for the worker and for tests. */
void berth_job_write(berth_text *text, const berth_job *job);
berth_status berth_job_read(berth_ctx *ctx, berth_arena *arena, const char *bytes, size_t size, berth_job *job);
void berth_answer_write(berth_text *text, const berth_answer *answer);
berth_status berth_answer_read(berth_ctx *ctx, berth_arena *arena, const char *bytes, size_t size,
                               berth_answer *answer);

#endif
