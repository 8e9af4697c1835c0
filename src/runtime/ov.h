/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO in the worker: the library, the module beside it, devices, values. Nothing of this runs in our own process.
 */
#ifndef BERTH_RUNTIME_OV_H
#define BERTH_RUNTIME_OV_H

#include "runtime/job.h"
#include "runtime/npy.h"
#include "runtime/ov_api.h"
#include "runtime/ov_device.h"
#include "runtime/ov_module.h"

typedef struct berth_ov {
    berth_ctx *ctx;
    berth_arena *arena;
    const berth_job *job;
    const ov_api *api;
    const char *version; /* "2026.4.1-22982-..." */
    int year, number;    /* of it */
    ov_core *core;
    const berth_ov_module *module; /* NULL: there is none for this version */
    const char *no_module;         /* why not */
    bool avoids_tiles;             /* the processor's (base/processors.h) */
    int32_t n_devices;
    berth_ov_device *devices; /* of the job */
} berth_ov;

/* The library, with the devices of the job known to it and set up. The module is looked for, too, but may be missing.
 */
berth_status berth_ov_open(berth_ov *ov, berth_ctx *ctx, berth_arena *arena, const berth_job *job);
/* The library itself stays. */
void berth_ov_close(berth_ov *ov);
/* BERTH_OK if `code` is 0, else `status` with the library's own words behind ours, in one line. */
berth_status berth_ov_check(const berth_ov *ov, int code, berth_status status, const char *what);
/* The module, or why there is none: BERTH_E_UNSUPPORTED. */
berth_status berth_ov_need_module(const berth_ov *ov);

/* Values in and out: a tensor that borrows the data; one that stays the library's. */
berth_status berth_ov_value(const berth_ov *ov, const berth_npy *from, int type, ov_tensor **out);
berth_status berth_ov_to_npy(const berth_ov *ov, const ov_tensor *value, berth_npy *out);

/* What was compiled, as the job's `profile` (ov_report.h) says it. */
berth_status berth_ov_report(const berth_ov *ov, ov_compiled *compiled, const ov_request *request,
                             const char *const *refused, int32_t n_refused);

/* The jobs. */
berth_status berth_ov_work(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_answer *answer);

#endif
