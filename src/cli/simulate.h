/* SPDX-License-Identifier: Apache-2.0 */
/* `berth simulate`. */
#ifndef BERTH_CLI_SIMULATE_H
#define BERTH_CLI_SIMULATE_H

#include "cli/options.h"

extern const cli_command cli_simulate;

#endif
