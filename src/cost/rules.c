/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asks: pins and bans make times infinite, so that every method and the simulator keep to them; memory
 * rules set capacities; --io moves the ends of model inputs and outputs. A rule that has no effect because it names
 * nothing is refused; an operation that has no device left is reported with all that took them away. */
#include "cost/build.h"

#include "device/pattern.h"
#include "device/set.h"
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A line being put together; what does not fit is left out. */
typedef struct line {
    char text[800];
    size_t used;
} line;

static void add(line *l, const char *format, const char *word) {
    if (l->used >= sizeof l->text) return;
    int n = snprintf(l->text + l->used, sizeof l->text - l->used, format, word);
    if (n > 0) l->used += (size_t)n;
}

static berth_status find_device(const berth_costs_build *b, const char *name, const char *rule, int32_t *out) {
    *out = berth_device_find(b->devices, name);
    if (*out >= 0) return BERTH_OK;
    line known = {0};
    for (int32_t d = 0; d < b->devices->n_devices; d++) add(&known, d ? ", %s" : "%s", b->devices->devices[d].name);
    return berth_fail(b->ctx, BERTH_E_ARG, "%s names the device '%.80s'; there are %s", rule, name, known.text);
}

/* --- inputs and outputs ----------------------------------------------------------------------------------------- */

static bool names_tensor(const berth_costs_build *b, const char *pattern, int32_t tensor) {
    const berth_tensor *t = &b->graph->tensors[tensor];
    if (*t->name && (strcmp(pattern, t->name) == 0 || berth_pattern_matches(pattern, t->name))) return true;
    if (t->producer < 0 || *t->name) return false;
    const char *name = b->graph->ops[t->producer].name; /* inputs of an IR may be known by their layer alone */
    return strcmp(pattern, name) == 0 || berth_pattern_matches(pattern, name);
}

static berth_status apply_io(berth_costs_build *b, const berth_rule *rule) {
    int32_t device = b->costs->host;
    bool matched = false;
    int32_t named = berth_device_find(b->devices, rule->device);
    if (named >= 0 || strcmp(rule->device, "host") != 0)
        BERTH_TRY(find_device(b, rule->device, "an input or output rule", &device));
    for (int32_t i = 0; i < b->graph->n_inputs; i++) {
        int32_t tensor = b->graph->inputs[i], value = b->tensor_value[tensor];
        if (!names_tensor(b, rule->pattern, tensor)) continue;
        matched = true;
        if (value >= 0 && b->costs->value_producer[value] < 0) b->value_home[value] = device;
    }
    for (int32_t i = 0; i < b->graph->n_outputs; i++) {
        int32_t tensor = b->graph->outputs[i], value = b->tensor_value[tensor];
        if (!names_tensor(b, rule->pattern, tensor)) continue;
        matched = true;
        if (value >= 0) b->value_target[value] = device;
    }
    if (matched) return BERTH_OK;
    return berth_fail(b->ctx, BERTH_E_ARG, "the model has no input or output '%.200s'", rule->pattern);
}

berth_status berth_costs_apply_io(berth_costs_build *b) {
    for (int32_t i = 0; i < b->limits->n_io; i++) BERTH_TRY(apply_io(b, &b->limits->io[i]));
    return BERTH_OK;
}

/* --- memory, pins, bans ----------------------------------------------------------------------------------------- */

static berth_status apply_memory(berth_costs_build *b, const berth_memory_rule *rule) {
    int32_t device = -1;
    BERTH_TRY(find_device(b, rule->device, "a memory rule", &device));
    if (!(rule->bytes >= 0 && (rule->bytes <= BERTH_GREATEST_BYTES || isinf(rule->bytes))))
        return berth_fail(b->ctx, BERTH_E_ARG, "the memory of %.80s must be from 0 to %g bytes, not %g", rule->device,
                          BERTH_GREATEST_BYTES, rule->bytes);
    b->capacity[device] = rule->bytes;
    return BERTH_OK;
}

/* A pin bars all devices but one, a ban that one. */
static berth_status apply_rule(berth_costs_build *b, const berth_rule *rule, bool is_pin) {
    int32_t device = -1, matched = 0, tasks = 0;
    BERTH_TRY(find_device(b, rule->device, is_pin ? "a pin" : "a ban", &device));
    for (int32_t op = 0; op < b->graph->n_ops; op++) {
        if (!berth_pattern_matches_op(rule->pattern, &b->graph->ops[op])) continue;
        int32_t task = b->costs->op_task[op];
        matched++;
        if (task < 0) continue;
        tasks++;
        double *row = b->time_ms + (size_t)task * b->n_devices;
        for (int32_t d = 0; d < b->devices->n_devices; d++)
            if ((d == device) != is_pin) row[d] = INFINITY;
    }
    if (matched == 0)
        return berth_fail(b->ctx, BERTH_E_ARG, "the %s '%.200s' matches neither name nor type of any operation",
                          is_pin ? "pin" : "ban", rule->pattern);
    if (tasks == 0)
        berth_log(b->ctx, BERTH_LOG_WARNING,
                  "the %s '%.200s' matches only constants, inputs or outputs, which are not placed",
                  is_pin ? "pin" : "ban", rule->pattern);
    return BERTH_OK;
}

/* --- nothing left ----------------------------------------------------------------------------------------------- */

/* Devices that could not run it even without rules: those whose times are infinite though no rule names them. */
static uint64_t barred_by_rules(const berth_costs_build *b, const berth_op *op, line *why) {
    uint64_t barred = 0, pinned_to = 0;
    for (int32_t i = 0; i < b->limits->n_pins; i++) {
        const berth_rule *rule = &b->limits->pins[i];
        uint64_t bit = (uint64_t)1 << berth_device_find(b->devices, rule->device);
        if (!berth_pattern_matches_op(rule->pattern, op)) continue;
        barred |= ~bit;
        if (!(pinned_to & bit)) add(why, why->used ? ", pinned to %.80s" : "pinned to %.80s", rule->device);
        pinned_to |= bit;
    }
    for (int32_t i = 0; i < b->limits->n_bans; i++) {
        const berth_rule *rule = &b->limits->bans[i];
        uint64_t bit = (uint64_t)1 << berth_device_find(b->devices, rule->device);
        if (!berth_pattern_matches_op(rule->pattern, op) || (barred & bit & ~pinned_to)) continue;
        add(why, why->used ? ", banned from %.80s" : "banned from %.80s", rule->device);
        barred |= bit;
    }
    return barred;
}

static berth_status fail_nowhere(const berth_costs_build *b, int32_t task) {
    const berth_op *op = &b->graph->ops[b->costs->task_op[task]];
    line why = {0};
    uint64_t barred = barred_by_rules(b, op, &why);
    for (int32_t d = 0; d < b->devices->n_devices; d++)
        if (!(barred >> d & 1))
            add(&why, why.used ? ", not supported by %.80s" : "not supported by %.80s", b->devices->devices[d].name);
    return berth_fail(b->ctx, BERTH_E_INFEASIBLE, "operation '%.200s' (%.80s) may run nowhere: %s", op->name, op->type,
                      why.text);
}

berth_status berth_costs_apply_rules(berth_costs_build *b) {
    const berth_limits *limits = b->limits;
    for (int32_t i = 0; i < limits->n_memory; i++) BERTH_TRY(apply_memory(b, &limits->memory[i]));
    for (int32_t i = 0; i < limits->n_pins; i++) BERTH_TRY(apply_rule(b, &limits->pins[i], true));
    for (int32_t i = 0; i < limits->n_bans; i++) BERTH_TRY(apply_rule(b, &limits->bans[i], false));
    for (int32_t task = 0; task < b->costs->n_tasks; task++) {
        const double *row = b->time_ms + (size_t)task * b->n_devices;
        bool somewhere = false;
        for (size_t d = 0; d < b->n_devices; d++) somewhere |= isfinite(row[d]);
        if (!somewhere) return fail_nowhere(b, task);
    }
    return BERTH_OK;
}
