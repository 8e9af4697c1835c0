/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: the table of formats, and the two that are a single text. */
#include "plan/export.h"

#include "base/map.h"
#include "berth/print.h"
#include "read/readers.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name, *summary;
    bool needs_file;
    berth_export_fn write;
} formats[] = {
    {"onnx", "the model with the placement in it, for ONNX Runtime", true, berth_export_onnx},
    {"openvino", "a map, loaders in Python and C++, and the IR with notes, for OpenVINO", true, berth_export_openvino},
    {"json", "a map from operations to devices", false, berth_export_json},
    {"dot", "a drawing for Graphviz, a colour per device", false, berth_export_dot},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const char *berth_export_format_name(int32_t format) {
    return format >= 0 && format < N_FORMATS ? formats[format].name : NULL;
}

const char *berth_export_format_summary(int32_t format) {
    return format >= 0 && format < N_FORMATS ? formats[format].summary : NULL;
}

bool berth_export_format_needs_file(int32_t format) {
    return format >= 0 && format < N_FORMATS && formats[format].needs_file;
}

int32_t berth_export_format_find(const char *name) {
    for (int32_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0) return i;
    return -1;
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

static berth_status open_model(berth_export *e) {
    berth_read_options read = berth_read_options_default();
    read.shapes = e->plan->shapes;
    read.n_shapes = e->plan->n_shapes;
    BERTH_TRY(berth_source_open(e->ctx, &e->source, e->model, &read));
    BERTH_TRY(berth_source_read(e->ctx, &e->graph, &e->source, &read));
    return berth_plan_fit(e->ctx, &e->placement, e->plan, e->graph, e->options.force);
}

berth_status berth_export_open(berth_ctx *ctx, berth_export **out, const berth_plan *plan, const char *model,
                               const berth_export_options *options) {
    *out = NULL;
    berth_export *e = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *e);
    if (!e) return berth_fail_nomem(ctx);
    *e = (berth_export){.ctx = ctx, .plan = plan, .model = model};
    if (options) e->options = *options;
    berth_status status = open_model(e);
    if (status == BERTH_OK)
        *out = e;
    else
        berth_export_free(e);
    return status;
}

void berth_export_free(berth_export *e) {
    if (!e) return;
    berth_placement_free(e->placement);
    berth_graph_free(e->graph);
    berth_source_close(e->ctx, &e->source);
    berth_resize(berth_ctx_allocator(e->ctx), e, 1, 0, sizeof *e);
}

berth_status berth_export_write(const berth_export *e, int32_t format, const char *output) {
    if (!berth_export_format_name(format)) return berth_fail(e->ctx, BERTH_E_ARG, "there is no such export format");
    if (formats[format].needs_file && strcmp(output, "-") == 0)
        return berth_fail(e->ctx, BERTH_E_ARG, "an export to %s is several files: it needs the name of one",
                          formats[format].name);
    return formats[format].write(e, output);
}

/* --- a map ------------------------------------------------------------------------------------------------------ */

berth_status berth_export_stage(const berth_export *e, berth_arena *arena, berth_stage *stage, const char *output,
                                const char *ending, const berth_text *text) {
    const char *path = berth_arena_printf(arena, "%s%s", output, ending);
    if (!path || berth_text_status(text) != BERTH_OK) return berth_fail_nomem(e->ctx);
    BERTH_TRY(berth_stage_begin(stage, path));
    return berth_stage_put(stage, berth_text_string(text), berth_text_size(text));
}

void berth_export_put_model(const berth_export *e, berth_text *text) {
    berth_json_object_begin(text, "model");
    berth_json_string(text, "name", berth_graph_name(e->graph));
    berth_json_string(text, "format", berth_format_name(berth_graph_format(e->graph)));
    berth_json_string(text, "fingerprint", berth_graph_fingerprint(e->graph));
    berth_json_object_end(text);
}

/* Names need not be distinct in a model, but keys must be: of operations of one name the first has it, and the others
 * get "#index" behind it. `names` holds which operation has which name. */
static const char *distinct_name(const berth_export *e, berth_arena *arena, berth_map *names, int32_t op) {
    const char *name = berth_graph_op(e->graph, op)->name;
    for (const int32_t *owner = berth_map_find(names, name, strlen(name)); owner && *owner != op;) {
        name = berth_arena_printf(arena, "%s#%" PRId32, name, op);
        if (!name) return NULL;
        owner = berth_map_insert(names, name, strlen(name), op, NULL);
        if (!owner) return NULL;
    }
    return name;
}

static berth_status take_names(const berth_export *e, berth_map *names) {
    for (int32_t op = 0; op < e->placement->n_ops; op++) {
        const char *name = berth_graph_op(e->graph, op)->name;
        if (!berth_map_insert(names, name, strlen(name), op, NULL)) return berth_fail_nomem(e->ctx);
    }
    return BERTH_OK;
}

static berth_status put_map(const berth_export *e, berth_text *text, berth_arena *arena, berth_map *names) {
    BERTH_TRY(take_names(e, names));
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "berth", berth_version());
    berth_export_put_model(e, text);
    berth_json_inline(text);
    berth_json_array_begin(text, "devices");
    for (int32_t d = 0; d < e->plan->n_devices; d++) berth_json_string(text, NULL, e->plan->device_names[d]);
    berth_json_array_end(text);
    berth_json_object_begin(text, "operations");
    for (int32_t op = 0; op < e->placement->n_ops; op++) {
        const char *name = distinct_name(e, arena, names, op);
        if (!name) return berth_fail_nomem(e->ctx);
        berth_json_string(text, name, e->plan->device_names[e->placement->device[op]]);
    }
    berth_json_object_end(text);
    berth_json_object_end(text);
    return BERTH_OK;
}

berth_status berth_export_json(const berth_export *e, const char *output) {
    berth_text *text = NULL;
    berth_arena arena;
    berth_map names;
    BERTH_TRY(berth_text_new(e->ctx, &text));
    berth_arena_init(&arena, berth_ctx_allocator(e->ctx));
    berth_map_init(&names, e->ctx);
    berth_status status = put_map(e, text, &arena, &names);
    if (status == BERTH_OK) status = berth_text_write(e->ctx, text, output);
    berth_map_deinit(&names);
    berth_arena_deinit(&arena);
    berth_text_free(text);
    return status;
}

/* --- a drawing -------------------------------------------------------------------------------------------------- */

berth_status berth_export_dot(const berth_export *e, const char *output) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(e->ctx, &text));
    berth_dot_classes devices = {e->plan->n_devices, e->plan->device_names, e->placement->device};
    berth_graph_dot(text, e->graph, &devices);
    berth_status status = berth_text_write(e->ctx, text, output);
    berth_text_free(text);
    return status;
}
