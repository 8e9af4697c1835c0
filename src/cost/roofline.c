/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline estimate (Williams, Waterman, Patterson 2009): an operation takes as long as its arithmetic or its
 * memory traffic, whichever is longer, each at the share of the peak that its class of work reaches; and the launch
 * before it. What is not known counts as nothing: an operation of unknown size takes the launch alone, and one line
 * says how many there are. */
#include "cost/roofline.h"

#include "base/map.h"
#include "cost/build.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

berth_type berth_roofline_type(const berth_graph *graph, const berth_op *op, berth_work_class cls) {
    bool is_product = cls == BERTH_WORK_CONV || cls == BERTH_WORK_DEPTHWISE || cls == BERTH_WORK_MATMUL;
    int32_t tensor = is_product ? (op->n_inputs > 0 ? op->inputs[0] : -1) : (op->n_outputs > 0 ? op->outputs[0] : -1);
    berth_type type = tensor < 0 ? BERTH_TYPE_UNKNOWN : graph->tensors[tensor].type;
    return type == BERTH_TYPE_UNKNOWN ? BERTH_TYPE_F32 : type;
}

static berth_type signed_sibling(berth_type type) {
    switch (type) {
    case BERTH_TYPE_U64: return BERTH_TYPE_I64;
    case BERTH_TYPE_U32: return BERTH_TYPE_I32;
    case BERTH_TYPE_U16: return BERTH_TYPE_I16;
    case BERTH_TYPE_U8: return BERTH_TYPE_I8;
    case BERTH_TYPE_U4: return BERTH_TYPE_I4;
    case BERTH_TYPE_U2: return BERTH_TYPE_I2;
    default: return BERTH_TYPE_F32;
    }
}

double berth_roofline_rate(const berth_device *device, berth_type type) {
    if (device->flops[type] > 0) return device->flops[type];
    type = signed_sibling(type);
    return device->flops[type] > 0 ? device->flops[type] : device->flops[BERTH_TYPE_F32];
}

/* Tensors are read and written once. What only moves data reads no more than it writes: few rows of a large table. */
static double traffic(const berth_op_work *work) {
    double in = (double)work->parameter_bytes + (double)work->input_bytes, out = (double)work->output_bytes;
    return out + (work->cls == BERTH_WORK_MOVE && out > 0 && in > out ? out : in);
}

double berth_roofline_ms(const berth_device *device, const berth_op_work *work, berth_type type) {
    if (work->cls == BERTH_WORK_FREE) return 0;
    double rate = berth_roofline_rate(device, type), share = device->efficiency[work->cls];
    if (!(rate > 0)) return INFINITY;
    double compute = work->flops / (rate * share), memory = traffic(work) / (device->bandwidth * share);
    return 1e3 * (compute > memory ? compute : memory);
}

/* --- all tasks on all devices ----------------------------------------------------------------------------------- */

/* Bit d: device d cannot run operations of that type. The map has the index into `masks`. */
typedef struct unsupported {
    berth_map types;
    uint64_t *masks;
} unsupported;

static berth_status index_unsupported(berth_costs_build *b, unsupported *u) {
    size_t n = 0;
    int32_t used = 0;
    for (size_t d = 0; d < b->n_devices; d++) n += (size_t)b->devices->devices[d].n_unsupported;
    u->masks = berth_arena_push(&b->scratch, n, sizeof *u->masks);
    if (!u->masks) return berth_fail_nomem(b->ctx);
    for (size_t d = 0; d < b->n_devices; d++) {
        const berth_device *device = &b->devices->devices[d];
        for (int32_t i = 0; i < device->n_unsupported; i++) {
            bool fresh = false;
            const char *type = device->unsupported[i];
            const int32_t *at = berth_map_insert(&u->types, type, strlen(type), used, &fresh);
            if (!at) return berth_fail_nomem(b->ctx);
            used += fresh;
            u->masks[*at] |= (uint64_t)1 << d;
        }
    }
    return BERTH_OK;
}

static berth_status estimate_task(berth_costs_build *b, const unsupported *u, const berth_op_work *work, int32_t task) {
    const berth_op *op = &b->graph->ops[b->costs->task_op[task]];
    const int32_t *listed = berth_map_find(&u->types, op->type, strlen(op->type));
    uint64_t barred = listed ? u->masks[*listed] : 0;
    berth_type type = berth_roofline_type(b->graph, op, work->cls);
    double *row = b->time_ms + (size_t)task * b->n_devices;
    for (size_t d = 0; d < b->n_devices; d++) {
        const berth_device *device = &b->devices->devices[d];
        bool has_rate = work->cls == BERTH_WORK_FREE || berth_roofline_rate(device, type) > 0;
        bool launches = work->cls != BERTH_WORK_FREE && !berth_costs_launch_apart(b->costs, (int32_t)d);
        row[d] = INFINITY;
        if ((barred >> d & 1) || !has_rate) continue;
        row[d] = berth_roofline_ms(device, work, type) + (launches ? device->launch_ms : 0);
        if (!(row[d] >= 0 && row[d] < INFINITY))
            return berth_fail(b->ctx, BERTH_E_NUMERIC, "operation '%.200s' (%.80s) would take %g ms on %.80s", op->name,
                              op->type, row[d], device->name);
    }
    return BERTH_OK;
}

static berth_status estimate(berth_costs_build *b, unsupported *u, const berth_work *work) {
    int32_t unknown = 0;
    BERTH_TRY(index_unsupported(b, u));
    for (int32_t task = 0; task < b->costs->n_tasks; task++) {
        const berth_op_work *row = &work->ops[b->costs->task_op[task]];
        unknown += !row->known;
        BERTH_TRY(estimate_task(b, u, row, task));
    }
    if (unknown > 0)
        berth_log(b->ctx, BERTH_LOG_WARNING,
                  "%" PRId32 " of %" PRId32 " operations are of unknown type or shape: only what is known of them "
                  "counts",
                  unknown, b->costs->n_tasks);
    return BERTH_OK;
}

berth_status berth_costs_estimate(berth_costs_build *b) {
    berth_work *work = NULL;
    unsupported u = {0};
    BERTH_TRY(berth_work_compute(b->ctx, &work, b->graph));
    berth_map_init(&u.types, b->ctx);
    berth_status status = estimate(b, &u, work);
    berth_map_deinit(&u.types);
    berth_work_free(work);
    return status;
}
