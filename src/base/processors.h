/* SPDX-License-Identifier: Apache-2.0 */
/* Which processors this process runs on, and how many it may use; at least 1. */
#ifndef BERTH_BASE_PROCESSORS_H
#define BERTH_BASE_PROCESSORS_H

#include <stddef.h>
#include <stdint.h>

int32_t berth_processors(void);

/* What the processor is called, or "unknown". */
void berth_processor_name(char *name, size_t size);

#endif
