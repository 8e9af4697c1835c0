/* SPDX-License-Identifier: Apache-2.0 */
/* `berth measure`. */
#ifndef BERTH_CLI_MEASURE_H
#define BERTH_CLI_MEASURE_H

#include "cli/options.h"

extern const cli_command cli_measure;

#endif
