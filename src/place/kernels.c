/* SPDX-License-Identifier: Apache-2.0 */
/* Fused groups, cut before every operation that has weights of its own. But a bias or a scale may have the rank of what
 * it is added to, and belongs to the product or norm before it all the same. */
#include "place/kernels.h"

#include "graph/kind.h"

#include <math.h>

static bool is_epilogue(const berth_graph *graph, int32_t op) {
    const berth_kind *kind = berth_kind_find(graph, berth_graph_op(graph, op));
    return kind && (kind->traits & BERTH_KIND_EPILOGUE);
}

/* It ends what another operation of the group has begun, a few places before. */
static bool has_head(const berth_graph *graph, const berth_groups *groups, int32_t k) {
    enum { MOST_BETWEEN = 16 };
    int32_t start = groups->member_start[groups->group_of[groups->members[k]]];
    if (!is_epilogue(graph, groups->members[k])) return false;
    for (int32_t i = k - 1; i >= start && i >= k - MOST_BETWEEN; i--) {
        const berth_op *op = berth_graph_op(graph, groups->members[i]);
        if (op->flags & (BERTH_OP_CONSTANT | BERTH_OP_INPUT)) continue;
        if (!is_epilogue(graph, groups->members[i])) return true;
    }
    return false;
}

bool berth_kernel_begins(const berth_graph *graph, const berth_groups *groups, int32_t k) {
    const berth_op *op = berth_graph_op(graph, groups->members[k]);
    if (groups->member_start[groups->group_of[groups->members[k]]] == k) return true;
    if (has_head(graph, groups, k)) return false;
    for (int32_t i = 0; i < op->n_inputs; i++) {
        const berth_tensor *tensor = op->inputs[i] < 0 ? NULL : berth_graph_tensor(graph, op->inputs[i]);
        if (tensor && (tensor->flags & BERTH_TENSOR_CONSTANT) && tensor->shape.rank > 1) return true;
    }
    return false;
}

/* The devices that the costs allow for an operation; all, if it does not run. */
static uint64_t devices_of(const berth_costs *c, int32_t op) {
    uint64_t mask = 0;
    if (c->op_task[op] < 0) return UINT64_MAX;
    for (int32_t d = 0; d < c->n_devices; d++)
        if (c->time_ms[(size_t)c->op_task[op] * (size_t)c->n_devices + (size_t)d] < INFINITY) mask |= UINT64_C(1) << d;
    return mask;
}

berth_status berth_kernels_find(berth_ctx *ctx, const berth_costs *costs, int32_t *kernel_of) {
    berth_groups *groups = NULL;
    int32_t n = 0, current = 0;
    uint64_t allowed = 0;
    BERTH_TRY(berth_groups_build(ctx, &groups, costs->graph, BERTH_GROUP_FUSED));
    for (int32_t k = 0; k < groups->n_ops; k++) {
        int32_t op = groups->members[k];
        uint64_t own = devices_of(costs, op);
        if (berth_kernel_begins(costs->graph, groups, k)) {
            current = n++;
            allowed = UINT64_MAX;
        }
        if (allowed == UINT64_MAX) allowed = own; /* that of the first that runs */
        kernel_of[op] = own == allowed || own == UINT64_MAX ? current : n++;
    }
    berth_groups_free(groups);
    return BERTH_OK;
}
