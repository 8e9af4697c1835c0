/* SPDX-License-Identifier: Apache-2.0 */
/* `berth devices`. */
#ifndef BERTH_CLI_DEVICES_H
#define BERTH_CLI_DEVICES_H

#include "berth/device.h"
#include "cli/options.h"

extern const cli_command cli_devices;

/* The devices of --devices; without it (NULL) those that a workload brings, or cpu,gpu. */
berth_status cli_devices_for(berth_ctx *ctx, berth_device_set **out, const char *list, const char *profile,
                             const berth_graph *graph);

#endif
