/* SPDX-License-Identifier: Apache-2.0 */
/* How many processors this process may use; at least 1. */
#ifndef BERTH_BASE_PROCESSORS_H
#define BERTH_BASE_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

int32_t berth_processors(void);

/* Whether the processor announces matrix tiles (Intel's AMX) without saying how large they are, as inside some virtual
 * machines: libraries that ask, as oneDNN does, set up tiles of no size and die of an illegal instruction. */
bool berth_processor_hides_tiles(void);

#endif
