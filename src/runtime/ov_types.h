/* SPDX-License-Identifier: Apache-2.0 */
/* How OpenVINO numbers element types in its C interface: not the same in all versions. */
#ifndef BERTH_RUNTIME_OV_TYPES_H
#define BERTH_RUNTIME_OV_TYPES_H

#include "berth/graph.h"

enum { BERTH_OV_OLDEST = 2024 };

/* The year and the number in it of a version such as "2026.4.1-22982-..."; false: it is none. */
bool berth_ov_version(const char *text, int *year, int *number);
/* Which of ours a number is; BERTH_TYPE_UNKNOWN: none that has a size. */
berth_type berth_ov_type(int year, int number, int type);
/* The number of one of ours; -1: it has none of its own. */
int berth_ov_type_number(int year, int number, berth_type type);

#endif
