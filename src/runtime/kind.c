/* SPDX-License-Identifier: Apache-2.0 */
/* The table of runtimes. */
#include "runtime/kind.h"

#include <string.h>

static const berth_runtime_kind *const rows[] = {&berth_ort_kind, &berth_ov_kind};

const berth_runtime_kind *berth_runtime_kind_at(int32_t index) {
    return index >= 0 && index < (int32_t)(sizeof rows / sizeof *rows) ? rows[index] : NULL;
}

const berth_runtime_kind *berth_runtime_kind_find(const char *name) {
    for (int32_t i = 0; berth_runtime_kind_at(i); i++)
        if (strcmp(rows[i]->name, name) == 0) return rows[i];
    return NULL;
}
