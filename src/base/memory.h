/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a process may take now without harm to others, in bytes; INFINITY: it is not known. */
#ifndef BERTH_BASE_MEMORY_H
#define BERTH_BASE_MEMORY_H

double berth_memory_available(void);

#endif
