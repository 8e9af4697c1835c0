/* SPDX-License-Identifier: Apache-2.0 */
/* `berth devices`. */
#ifndef BERTH_CLI_DEVICES_H
#define BERTH_CLI_DEVICES_H

#include "cli/options.h"

extern const cli_command cli_devices;

#endif
