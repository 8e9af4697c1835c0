/* SPDX-License-Identifier: Apache-2.0 */
/* What runtimes differ in, on our side: a row for each. What they do alike (processes, rounds, statistics, outputs, the
 * store) stands elsewhere in the folder and asks the row. The worker's side of a runtime is a row in worker.c. */
#ifndef BERTH_RUNTIME_KIND_H
#define BERTH_RUNTIME_KIND_H

#include "berth/work.h"
#include "runtime/model.h"

/* Where an operation ran, as the runtime itself says. */
typedef struct berth_seen {
    const char *device; /* as --devices takes it; NULL: nothing is known of it, or it was folded away */
    int32_t unit;       /* operations that were fused have the same */
    bool is_root;       /* the one of its unit that the others were fused into */
} berth_seen;

/* What is seen of a session. */
typedef struct berth_sight {
    berth_seen *ops;           /* [n_ops] */
    const char *const *pieces; /* the device of each, in the order of execution */
    int32_t n_pieces;          /* 0: the runtime does not say */
} berth_sight;

typedef struct berth_runtime_kind {
    const char *name;             /* "onnxruntime" */
    const char *title;            /* "ONNX Runtime" */
    const char *variable;         /* of the environment: path of the library */
    const char *const *fetched;   /* where it may lie in the folder of fetched runtimes; globs; NULL ends them */
    const char *const *installed; /* in the system; globs */
    berth_model model;            /* how a session executes a placement: what is calibrated */
    bool binds_io;                /* inputs and outputs may lie on a device */
    bool times_copies;            /* has an answer to BERTH_JOB_COPY */
    bool keeps_on_host;           /* may run on the CPU what is placed elsewhere */
    bool places_first;            /* before it fuses: a placement can break kernels, whose parts nobody has measured */
    bool stock_differs;           /* a stock session computes otherwise than the pieces of a placement do */

    /* The devices to try, by name and what they stand for, into the runtime's list; the first must work. */
    berth_status (*list_devices)(berth_ctx *ctx, berth_runtime *runtime);
    /* Can one session have these? The first is where inputs and outputs lie. */
    berth_status (*check_devices)(berth_ctx *ctx, const char *const *devices, int32_t n);
    /* The processor that the host itself runs on. */
    bool (*is_host)(const char *device);
    /* The type that a device was told to compute in; BERTH_TYPE_UNKNOWN: none of its own. */
    berth_type (*precision)(const char *device);
    berth_type native; /* the least that devices may compute in if they need not keep to the model's type */

    /* Of a model (model.h): files into its scratch folder, then candidates. */
    berth_status (*gather)(berth_run_model *model, const char *path, const berth_run_options *options);
    berth_status (*place)(berth_run_model *model, const char *const *devices, int32_t n_devices, const int32_t *device,
                          berth_candidate *out);
    berth_status (*single)(berth_run_model *model, const char *device, berth_candidate *out);

    /* What each operation takes when everything is on that device, from one process with the runtime's own profile:
     * ms [n_ops], see op_times.h. */
    berth_status (*op_times)(berth_run_model *model, berth_arena *arena, const char *device, const berth_work *work,
                             bool native_precision, double *ms);
    /* Where a candidate's operations run, from one such process; in the arena, but for `ops`, which is there. */
    berth_status (*places)(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                           bool native_precision, berth_sight *out);
} berth_runtime_kind;

/* Row `index`; NULL past the end. */
const berth_runtime_kind *berth_runtime_kind_at(int32_t index);
/* NULL: there is none of that name. */
const berth_runtime_kind *berth_runtime_kind_find(const char *name);

/* The rows. */
extern const berth_runtime_kind berth_ort_kind, berth_ov_kind;

#endif
