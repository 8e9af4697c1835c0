/* SPDX-License-Identifier: Apache-2.0 */
/* `berth export`. */
#ifndef BERTH_CLI_EXPORT_H
#define BERTH_CLI_EXPORT_H

#include "cli/options.h"

extern const cli_command cli_export;

#endif
