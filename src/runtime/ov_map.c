/* SPDX-License-Identifier: Apache-2.0 */
/* Placements to and from JSON. */
#include "runtime/ov_map.h"

#include "base/file.h"
#include "base/json.h"
#include "runtime/ov_device.h"

#include <string.h>

enum { MOST_BYTES = 1 << 28, MAX_DEPTH = 8 };

bool berth_ov_map_has(const berth_op *op) {
    return !(op->flags & (BERTH_OP_CONSTANT | BERTH_OP_INPUT | BERTH_OP_OUTPUT));
}

const char *berth_ov_map_tensor(const berth_graph *graph, const berth_op *op) {
    for (int32_t i = 0; i < op->n_outputs; i++)
        if (op->outputs[i] >= 0 && *berth_graph_tensor(graph, op->outputs[i])->name)
            return berth_graph_tensor(graph, op->outputs[i])->name;
    return "";
}

void berth_ov_map_write(berth_text *text, const berth_graph *graph, const char *const *devices, int32_t n_devices,
                        const int32_t *device) {
    berth_json_inline(text);
    berth_json_array_begin(text, "devices");
    for (int32_t d = 0; d < n_devices; d++) berth_json_string(text, NULL, devices[d]);
    berth_json_array_end(text);
    berth_json_array_begin(text, "operations");
    for (int32_t i = 0; i < berth_graph_op_count(graph); i++) {
        const berth_op *op = berth_graph_op(graph, i);
        if (!berth_ov_map_has(op)) continue;
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", op->name);
        berth_json_string(text, "tensor", berth_ov_map_tensor(graph, op));
        berth_json_string(text, "device", devices[device[i]]);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static berth_status read_mark(berth_ctx *ctx, berth_arena *arena, const char *path, const berth_json *item,
                              berth_ov_mark *out) {
    const char *device = NULL;
    BERTH_TRY(berth_json_want_string(ctx, path, item, "name", &out->name));
    BERTH_TRY(berth_json_want_string(ctx, path, item, "tensor", &out->tensor));
    BERTH_TRY(berth_json_want_string(ctx, path, item, "device", &device));
    out->device = berth_arena_string(arena, device, strcspn(device, ":"));
    return out->device ? BERTH_OK : berth_fail_nomem(ctx);
}

berth_status berth_ov_map_read(berth_ctx *ctx, berth_arena *arena, const char *path, const berth_ov_mark **out,
                               size_t *n) {
    const char *bytes = NULL;
    size_t size = 0;
    const berth_json *root = NULL, *list = NULL;
    *n = 0;
    BERTH_TRY(berth_file_read(ctx, arena, path, MOST_BYTES, &bytes, &size));
    BERTH_TRY(berth_json_parse(ctx, arena, path, bytes, size, MAX_DEPTH, &root));
    BERTH_TRY(berth_json_want(ctx, path, root, "operations", BERTH_JSON_ARRAY, &list));
    berth_ov_mark *marks = berth_arena_push(arena, (size_t)list->count, sizeof *marks);
    if (!marks) return berth_fail_nomem(ctx);
    for (const berth_json *item = list->child; item; item = item->next)
        BERTH_TRY(read_mark(ctx, arena, path, item, &marks[(*n)++]));
    *out = marks;
    return BERTH_OK;
}
