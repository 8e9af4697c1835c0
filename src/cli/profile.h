/* SPDX-License-Identifier: Apache-2.0 */
/* `berth profile`. */
#ifndef BERTH_CLI_PROFILE_H
#define BERTH_CLI_PROFILE_H

#include "cli/options.h"

extern const cli_command cli_profile;

#endif
