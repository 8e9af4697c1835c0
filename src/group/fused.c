/* SPDX-License-Identifier: Apache-2.0 */
#include "group/group.h"

bool berth_group_fuse(const berth_graph *graph, berth_arena *scratch, int32_t *leader) {
    (void)scratch;
    for (int32_t op = 0; op < graph->n_ops; op++) leader[op] = op;
    return true;
}
