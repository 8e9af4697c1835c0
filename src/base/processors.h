/* SPDX-License-Identifier: Apache-2.0 */
/* How many processors this process may use; at least 1. */
#ifndef BERTH_BASE_PROCESSORS_H
#define BERTH_BASE_PROCESSORS_H

#include <stdint.h>

int32_t berth_processors(void);

#endif
