/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as JSON (docs/formats.md). The order of keys is that of the file; whatever differs between equal runs stands
 * behind everything else and only on request. */
#include "berth/plan.h"

static void write_model(berth_text *text, const berth_plan *plan) {
    berth_json_object_begin(text, "model");
    berth_json_string(text, "name", plan->model_name);
    berth_json_string(text, "format", plan->model_format);
    berth_json_string(text, "fingerprint", plan->fingerprint);
    berth_json_object_end(text);
}

static void write_dims(berth_text *text, const char *key, const int64_t *dims, int32_t rank) {
    if (rank < 0) {
        berth_json_null(text, key);
        return;
    }
    berth_json_array_begin(text, key);
    for (int32_t k = 0; k < rank; k++)
        if (dims[k] < 0)
            berth_json_null(text, NULL);
        else
            berth_json_int(text, NULL, dims[k]);
    berth_json_array_end(text);
}

static void write_shapes(berth_text *text, const berth_shape_binding *shapes, int32_t n) {
    berth_json_array_begin(text, "shapes");
    for (int32_t i = 0; i < n; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "input", shapes[i].input);
        write_dims(text, "shape", shapes[i].dims, shapes[i].rank);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static void write_inputs(berth_text *text, const berth_plan *plan) {
    berth_json_array_begin(text, "inputs");
    for (int32_t i = 0; i < plan->n_inputs; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", plan->inputs[i].name);
        berth_json_string(text, "type", plan->inputs[i].type);
        write_dims(text, "shape", plan->inputs[i].dims, plan->inputs[i].rank);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    write_shapes(text, plan->shapes, plan->n_shapes);
}

static void write_cases(berth_text *text, const berth_plan *plan) {
    berth_json_array_begin(text, "cases");
    for (int32_t i = 0; i < plan->n_cases; i++) {
        const berth_plan_case *c = &plan->cases[i];
        berth_json_object_begin(text, NULL);
        berth_json_double(text, "weight", c->weight);
        write_shapes(text, c->shapes, c->n_shapes);
        berth_json_bool(text, "measured", c->measured);
        berth_json_double(text, "ms", c->ms);
        berth_json_double(text, "best_ms", c->best_ms);
        berth_json_double(text, "loss", c->loss);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static void write_rules(berth_text *text, const char *key, const berth_rule *rules, int32_t n) {
    berth_json_array_begin(text, key);
    for (int32_t i = 0; i < n; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "pattern", rules[i].pattern);
        if (rules[i].device) berth_json_string(text, "device", rules[i].device);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static void write_limits(berth_text *text, const berth_limits *limits) {
    berth_json_object_begin(text, "limits");
    berth_json_array_begin(text, "memory");
    for (int32_t i = 0; i < limits->n_memory; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "device", limits->memory[i].device);
        berth_json_double(text, "bytes", limits->memory[i].bytes);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    write_rules(text, "io", limits->io, limits->n_io);
    write_rules(text, "pins", limits->pins, limits->n_pins);
    write_rules(text, "bans", limits->bans, limits->n_bans);
    write_rules(text, "together", limits->together, limits->n_together);
    berth_json_object_end(text);
}

static void write_assumptions(berth_text *text, const berth_plan *plan) {
    berth_json_string(text, "costs", plan->costs);
    if (plan->profile) {
        berth_json_object_begin(text, "profile");
        berth_json_string(text, "path", plan->profile);
        berth_json_string(text, "sha256", plan->profile_sha256);
        berth_json_object_end(text);
    } else {
        berth_json_null(text, "profile");
    }
    if (plan->devices) {
        berth_device_set_write(text, "devices", plan->devices);
    } else { /* of a workload, read back from a file: only the names are known */
        berth_json_object_begin(text, "devices");
        berth_json_array_begin(text, "devices");
        for (int32_t d = 0; d < plan->n_devices; d++) {
            berth_json_inline(text);
            berth_json_object_begin(text, NULL);
            berth_json_string(text, "name", plan->device_names[d]);
            berth_json_object_end(text);
        }
        berth_json_array_end(text);
        berth_json_object_end(text);
    }
    berth_json_string(text, "execution_model", berth_model_name(plan->execution_model));
    berth_json_double(text, "piece_ms", plan->piece_ms);
    berth_json_string(text, "objective", plan->objective == BERTH_OBJECTIVE_LATENCY ? "latency" : "throughput");
    write_limits(text, &plan->limits);
}

static void write_settings(berth_text *text, const berth_plan *plan) {
    if (plan->n_settings == 0) {
        berth_json_null(text, "settings");
        return;
    }
    berth_json_object_begin(text, "settings");
    for (int32_t i = 0; i < plan->n_settings; i++) {
        const berth_plan_setting *setting = &plan->settings[i];
        if (setting->word)
            berth_json_string(text, setting->name, setting->word);
        else if (setting->is_switch)
            berth_json_bool(text, setting->name, setting->number != 0);
        else
            berth_json_double(text, setting->name, setting->number);
    }
    berth_json_object_end(text);
}

static void write_answer(berth_text *text, const berth_plan *plan) {
    berth_json_string(text, "method", plan->method);
    berth_json_string(text, "found_by", plan->found_by);
    if (plan->group)
        berth_json_string(text, "group", plan->group);
    else
        berth_json_null(text, "group");
    berth_json_string(text, "source", plan->source);
    berth_json_int(text, "seed", (int64_t)plan->seed);
    write_settings(text, plan);
    if (plan->policy_sha256)
        berth_json_string(text, "policy_sha256", plan->policy_sha256);
    else
        berth_json_null(text, "policy_sha256");
    berth_json_double(text, "makespan_ms", plan->makespan_ms);
    berth_json_double(text, "lower_bound_ms", plan->lower_bound_ms);
    berth_json_double(text, "gap", plan->gap);
    berth_json_inline(text);
    berth_json_object_begin(text, "single_ms");
    for (int32_t d = 0; d < plan->n_devices; d++) berth_json_double(text, plan->device_names[d], plan->single_ms[d]);
    berth_json_object_end(text);
    if (plan->order) {
        berth_json_inline(text);
        berth_json_array_begin(text, "order");
        for (int32_t i = 0; i < plan->n_order; i++) berth_json_int(text, NULL, plan->order[i]);
        berth_json_array_end(text);
    } else {
        berth_json_null(text, "order");
    }
    berth_json_array_begin(text, "placement");
    for (int32_t i = 0; i < plan->n_ops; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_int(text, "index", i);
        berth_json_string(text, "name", plan->ops[i].name);
        berth_json_string(text, "type", plan->ops[i].type);
        berth_json_string(text, "device", plan->device_names[plan->ops[i].device]);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static void write_runs(berth_text *text, const berth_plan_runs *runs) {
    berth_json_string(text, "evaluate", "measured");
    berth_json_inline(text);
    berth_json_object_begin(text, "evaluation_runs");
    berth_json_int(text, "placements", runs->placements);
    berth_json_int(text, "made", runs->made);
    berth_json_int(text, "stored", runs->stored);
    berth_json_int(text, "failed", runs->failed);
    berth_json_int(text, "repeated", runs->repeated);
    berth_json_object_end(text);
}

static void write_search(berth_text *text, const berth_plan *plan) {
    berth_json_bool(text, "interrupted", plan->interrupted);
    berth_json_int(text, "evaluations", plan->evaluations);
    berth_json_double(text, "seconds", plan->seconds);
    berth_json_array_begin(text, "methods");
    for (int32_t i = 0; i < plan->n_methods; i++) {
        const berth_plan_method *row = &plan->methods[i];
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "method", row->method);
        berth_json_double(text, "makespan_ms", row->makespan_ms);
        berth_json_int(text, "evaluations", row->evaluations);
        berth_json_double(text, "seconds", row->seconds);
        berth_json_bool(text, "feasible", row->makespan_ms - row->makespan_ms == 0);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

/* Also where nothing was run in the end: exports compute in it. */
static void write_precision(berth_text *text) {
    berth_json_inline(text);
    berth_json_object_begin(text, "runtime");
    berth_json_string(text, "precision", "native");
    berth_json_object_end(text);
}

void berth_plan_write(berth_text *text, const berth_plan *plan, bool search) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "berth", plan->version);
    write_model(text, plan);
    write_inputs(text, plan);
    write_assumptions(text, plan);
    write_answer(text, plan);
    if (plan->n_cases > 0) write_cases(text, plan);
    if (plan->runs) write_runs(text, plan->runs);
    if (plan->verdict) berth_json_string(text, "verdict", plan->verdict);
    if (plan->measured)
        berth_measured_write(text, plan->measured, plan->graph);
    else if (plan->native_precision)
        write_precision(text);
    if (search && plan->searched) write_search(text, plan);
    berth_json_object_end(text);
}
