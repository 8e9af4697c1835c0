/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of OpenVINO as `--devices` takes them: a name of OpenVINO's ("CPU", "GPU.1", "NPU") or a further name of the
 * CPU's plugin ("CPU0", "CPU1"), and properties behind it, each after a colon: "CPU1:bf16" computes in that type,
 * "CPU1:KEY:VALUE" sets any property. Everything that makes a device what it is stands in its name, so plans, profiles
 * and the store tell devices apart; and no '=' does, which parts names from devices in options. */
#ifndef BERTH_RUNTIME_OV_DEVICE_H
#define BERTH_RUNTIME_OV_DEVICE_H

#include "base/arena.h"
#include "berth/graph.h"

enum { BERTH_OV_PROPERTIES = 8, BERTH_OV_WORD = 64 };

typedef struct berth_ov_device {
    char name[BERTH_OV_WORD]; /* as OpenVINO gets it */
    bool is_alias;            /* of the CPU's plugin */
    int32_t n, n_told;        /* properties; those that its name says come first */
    char keys[BERTH_OV_PROPERTIES][BERTH_OV_WORD], values[BERTH_OV_PROPERTIES][BERTH_OV_WORD];
} berth_ov_device;

/* BERTH_OK; BERTH_E_ARG (with what is wrong) */
berth_status berth_ov_device_parse(berth_ctx *ctx, const char *text, berth_ov_device *out);
/* What it has to be told besides if it gets pieces of a model and not the whole: where attention is one kernel, bf16
 * and its mask comes from another piece, OpenVINO 2026.4 computes wrong numbers. Unless its name says otherwise. */
void berth_ov_device_mend(berth_ov_device *device);
/* Whether its precision is settled: it was told one, or has only one. Others are told that of the model. */
bool berth_ov_device_is_told(const berth_ov_device *device);
/* The library that the CPU and its further names are in. */
const char *berth_ov_device_plugin(void);
/* The type that it was told to compute in; BERTH_TYPE_UNKNOWN: it was told none. */
berth_type berth_ov_device_precision(const char *text);
/* It is the CPU, or an alias. */
bool berth_ov_device_is_cpu(const char *text);
/* Two of them must not share a name within one session. BERTH_OK; BERTH_E_ARG. */
berth_status berth_ov_device_check(berth_ctx *ctx, const char *const *devices, int32_t n);

#endif
