/* SPDX-License-Identifier: Apache-2.0 */
/* Why a placement cannot be run, in the order in which the simulator finds out: a task where it cannot run, a copy
 * where no link leads, parts that wait for one another, memory.
 *
 * Under `contiguous` a task that never started waits for another one outside its part that never did. Following such
 * waits from part to part must come back to a part; what lies between is the circle to report. */
#include "simulate/refusal.h"

#include "graph/graph.h"
#include "simulate/sim_impl.h"

#include <math.h>
#include <stdio.h>

enum { NAME_SIZE = 250 };

typedef struct name {
    char text[NAME_SIZE];
} name;

static name device_name(const berth_costs *c, int32_t d) {
    name n;
    if (c->devices)
        snprintf(n.text, sizeof n.text, "'%s'", c->devices->devices[d].name);
    else
        snprintf(n.text, sizeof n.text, "%d", (int)d);
    return n;
}

static name task_name(const berth_costs *c, int32_t task) {
    name n;
    int32_t op = c->task_op[task];
    if (c->graph)
        snprintf(n.text, sizeof n.text, "'%s' (%s)", c->graph->ops[op].name, c->graph->ops[op].type);
    else
        snprintf(n.text, sizeof n.text, "%d", (int)op);
    return n;
}

static name value_name(const berth_costs *c, int32_t value) {
    name n;
    int32_t tensor = c->value_tensor[value], producer = c->value_producer[value];
    if (c->graph && c->graph->tensors[tensor].name[0])
        snprintf(n.text, sizeof n.text, "tensor '%s'", c->graph->tensors[tensor].name);
    else if (c->graph && producer >= 0)
        snprintf(n.text, sizeof n.text, "the result of '%s'", c->graph->ops[c->task_op[producer]].name);
    else
        snprintf(n.text, sizeof n.text, "tensor %d", (int)tensor);
    return n;
}

/* The first copy that never ends. */
typedef struct dead_end {
    bool found;
    int32_t value, from, to;
} dead_end;

static void look_at_copy(void *user, int32_t value, int32_t from, int32_t to, double start, double end) {
    dead_end *d = user;
    (void)start;
    if (d->found || end < INFINITY) return;
    *d = (dead_end){true, value, from, to};
}

static void look_at_piece(void *user, int32_t task, int32_t device, double start, double end) {
    (void)user, (void)task, (void)device, (void)start, (void)end;
}

/* A task that never started and that this one (or, of a part, any of its tasks) waits for: a predecessor outside the
 * part; -1 if there is none. */
static int32_t waits_for(const berth_sim *sim, const int32_t *device, int32_t task, int32_t *waiting) {
    const berth_costs *c = sim->costs;
    int32_t d = device[task];
    bool part = d != c->host;
    for (int32_t t = part ? 0 : task; t < (part ? c->n_tasks : task + 1); t++) {
        if (device[t] != d) continue;
        for (int32_t i = c->pred_start[t]; i < c->pred_start[t + 1]; i++) {
            int32_t pred = c->preds[i];
            if (!isnan(sim->start[pred]) || (part && device[pred] == d)) continue;
            *waiting = t;
            return pred;
        }
    }
    return -1;
}

static berth_status refuse_parts(berth_ctx *ctx, berth_sim *sim, const int32_t *device) {
    const berth_costs *c = sim->costs;
    int32_t at = 0, waiting = 0, part = -1;
    uint64_t seen = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) sim->start[task] = NAN;
    (void)berth_sim_contiguous(sim, device, NULL);
    while (at < c->n_tasks && !(isnan(sim->start[at]) && device[at] != c->host)) at++;
    while (at >= 0 && at < c->n_tasks) { /* until a part comes again */
        if (device[at] != c->host) {
            part = device[at];
            if (seen >> part & 1) break;
            seen |= (uint64_t)1 << part;
        }
        at = waits_for(sim, device, at, &waiting);
    }
    if (part < 0 || at < 0) return berth_fail(ctx, BERTH_E_INFEASIBLE, "parts of the placement wait for one another");
    int32_t pred = waits_for(sim, device, at, &waiting), needs = pred;
    while (device[needs] == c->host) {
        int32_t unused = 0;
        needs = waits_for(sim, device, needs, &unused);
    }
    if (device[needs] == part)
        return berth_fail(ctx, BERTH_E_INFEASIBLE,
                          "the operations on device %s are not one convex part: %s waits for %s, which needs a result "
                          "of the same part",
                          device_name(c, part).text, task_name(c, waiting).text, task_name(c, pred).text);
    return berth_fail(ctx, BERTH_E_INFEASIBLE,
                      "the parts on devices %s and %s wait for one another: %s needs the result of %s",
                      device_name(c, part).text, device_name(c, device[needs]).text, task_name(c, waiting).text,
                      task_name(c, pred).text);
}

static berth_status refuse_memory(berth_ctx *ctx, berth_sim *sim, const int32_t *device) {
    const berth_costs *c = sim->costs;
    berth_sim_peaks(sim, device, sim->peak);
    for (int32_t d = 0; d < c->n_devices; d++)
        if (sim->peak[d] > c->capacity[d])
            return berth_fail(ctx, BERTH_E_INFEASIBLE, "device %s needs %.15g bytes of memory, %.15g more than it has",
                              device_name(c, d).text, sim->peak[d], sim->peak[d] - c->capacity[d]);
    return berth_fail(ctx, BERTH_E_INFEASIBLE, "the placement takes longer than any number can say");
}

berth_status berth_sim_refusal(berth_ctx *ctx, berth_sim *sim, const int32_t *device, const int32_t *priority) {
    const berth_costs *c = sim->costs;
    for (int32_t task = 0; task < c->n_tasks; task++)
        if (c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)device[task]] == INFINITY)
            return berth_fail(ctx, BERTH_E_INFEASIBLE, "operation %s cannot run on device %s", task_name(c, task).text,
                              device_name(c, device[task]).text);
    dead_end d = {0};
    berth_recorder recorder = {look_at_copy, look_at_piece, &d};
    sim->recorder = &recorder;
    double ms = sim->model(sim, device, priority);
    sim->recorder = NULL;
    if (d.found)
        return berth_fail(ctx, BERTH_E_INFEASIBLE, "%s cannot be copied from device %s to %s",
                          value_name(c, d.value).text, device_name(c, d.from).text, device_name(c, d.to).text);
    if (c->model == BERTH_MODEL_CONTIGUOUS && !(ms < INFINITY)) return refuse_parts(ctx, sim, device);
    return refuse_memory(ctx, sim, device);
}
