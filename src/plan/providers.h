/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as execution providers of ONNX Runtime, and the setting that puts operations on them. */
#ifndef BERTH_PLAN_PROVIDERS_H
#define BERTH_PLAN_PROVIDERS_H

#include "plan/export.h"
#include "runtime/providers.h"

enum { BERTH_PROVIDER_OPTIONS = 2 };

typedef struct berth_provider_option {
    const char *key, *value;
} berth_provider_option;

typedef struct berth_provider {
    const char *name; /* "CUDAExecutionProvider" */
    berth_append append;
    const char *word; /* short name, or family of calls */
    int32_t n_options;
    berth_provider_option options[BERTH_PROVIDER_OPTIONS];
    const char *card; /* which of several, or NULL */
    const char *tag;  /* layer_ann of the operations on it */
    bool guessed;     /* the default of a device that is only described */
} berth_provider;

/* One session: the CPU and at most one accelerator. */
typedef struct berth_session {
    int32_t n;                   /* 1 or 2 */
    berth_provider providers[2]; /* in the order of registration: the CPU last */
    const int32_t *of_device;    /* [devices of the plan]: which provider; -1: no operation is there */
    const char *settings;        /* value of session.layer_assignment_settings */
} berth_session;

/* Which providers the plan needs. A device is found by the user's rules, then by its name in the table, a number behind
 * its last dot being the number of the card. Defaults for described devices are said in the log. Texts go to `arena`.
 * BERTH_OK; BERTH_E_ARG; BERTH_E_INFEASIBLE (more than one accelerator); BERTH_E_NOMEM. */
berth_status berth_session_find(const berth_export *e, berth_arena *arena, berth_session *out);

#endif
