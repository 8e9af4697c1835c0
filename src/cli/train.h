/* SPDX-License-Identifier: Apache-2.0 */
/* `berth train`. */
#ifndef BERTH_CLI_TRAIN_H
#define BERTH_CLI_TRAIN_H

#include "cli/options.h"

extern const cli_command cli_train;

#endif
