/* SPDX-License-Identifier: Apache-2.0 */
/* An opened runtime, as the rest of the folder sees it. */
#ifndef BERTH_RUNTIME_RUNTIME_H
#define BERTH_RUNTIME_RUNTIME_H

#include "berth/runtime.h"
#include "runtime/job.h"
#include "store/store.h"

struct berth_runtime {
    berth_arena arena;
    const struct berth_runtime_kind *kind; /* kind.h */
    const char *library, *version;
    berth_worker worker;
    int32_t threads;
    berth_found_device *devices;
    int32_t n_devices;
    bool tried;         /* the devices */
    berth_store *store; /* NULL: none */
    bool resume, refresh;
    const char *identity; /* of library, machine and threads, for keys of the store */
};

/* The library has said which it is. */
berth_status berth_runtime_note_version(berth_ctx *ctx, berth_runtime *runtime, const char *version);

#endif
