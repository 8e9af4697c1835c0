/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX shape inference. One pass over the operations in topological order: the row of the operation's type computes
 * types and shapes of the outputs from those of the inputs (infer_*.c, by family), then, where they are small, their
 * values (infer_value.c), on which shapes further down may depend. Time is linear in the file; memory is bounded by the
 * two budgets below, in proportion to the number of tensors. */
#include "read/infer.h"

#include <inttypes.h>

#include "read/infer_rows.h"

#include <string.h>

/* Shapes of real models have up to six dimensions, and few tensors are part of a shape computation. */
enum { FREE_VALUES = 1 << 16, VALUES_PER_TENSOR = 4, FREE_DIMS = 1 << 16, DIMS_PER_TENSOR = 16 };

/* ConstantOfShape's element is not the content of its output. */
static void drop_fill(berth_infer *in) {
    if (strcmp(in->op->type, "ConstantOfShape") != 0 || in->op->n_outputs < 1 || in->op->outputs[0] < 0) return;
    berth_tensor *tensor = &in->graph->tensors[in->op->outputs[0]];
    tensor->content = NULL;
    tensor->content_size = 0;
}

static berth_status infer_op(berth_infer *in) {
    const berth_infer_row *row = berth_infer_row_of(in->op->type, in->op->domain);
    if (row) {
        BERTH_TRY(row->shape(in));
        BERTH_TRY(in->status);
        if (row->value) row->value(in);
    }
    drop_fill(in);
    return in->scratch.failed || in->graph->arena.failed ? berth_fail_nomem(in->b->ctx) : BERTH_OK;
}

berth_status berth_onnx_infer(berth_build *b, int64_t opset) {
    berth_graph *graph = b->graph;
    berth_infer in = {.b = b, .graph = graph, .opset = opset};
    in.value_room = FREE_VALUES + (int64_t)VALUES_PER_TENSOR * graph->n_tensors;
    in.dim_room = FREE_DIMS + (int64_t)DIMS_PER_TENSOR * graph->n_tensors;
    berth_arena_init(&in.scratch, berth_ctx_allocator(b->ctx));
    in.values = berth_arena_push(&in.scratch, (size_t)graph->n_tensors, sizeof *in.values);
    berth_status status = in.values ? BERTH_OK : berth_fail_nomem(b->ctx);
    for (int32_t i = 0; i < graph->n_ops && status == BERTH_OK; i++) {
        in.op = &graph->ops[graph->order[i]];
        status = infer_op(&in);
    }
    berth_arena_deinit(&in.scratch);
    if (in.n_ignored > 1)
        berth_log(b->ctx, BERTH_LOG_WARNING, "declared shapes ignored besides that one: %" PRId32, in.n_ignored - 1);
    return status;
}
