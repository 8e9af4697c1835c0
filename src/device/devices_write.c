/* SPDX-License-Identifier: Apache-2.0 */
/* A device set as a devices.json. Links are written by ms_per_byte, because a bandwidth would not always read back to
 * the same bits. */
#include "berth/device.h"
#include "berth/text.h"

static void write_device(berth_text *text, const berth_device *device) {
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "name", device->name);
    berth_json_string(text, "kind", device->kind);
    berth_json_inline(text);
    berth_json_object_begin(text, "flops_per_s");
    for (int type = 0; type < BERTH_TYPE_COUNT; type++)
        if (device->flops[type] > 0) berth_json_double(text, berth_type_name((berth_type)type), device->flops[type]);
    berth_json_object_end(text);
    berth_json_double(text, "bytes_per_s", device->bandwidth);
    berth_json_double(text, "launch_ms", device->launch_ms);
    berth_json_double(text, "memory_bytes", device->memory_bytes);
    berth_json_inline(text);
    berth_json_object_begin(text, "efficiency");
    for (int cls = BERTH_WORK_FREE + 1; cls < BERTH_WORK_CLASS_COUNT; cls++)
        berth_json_double(text, berth_work_class_name((berth_work_class)cls), device->efficiency[cls]);
    berth_json_object_end(text);
    berth_json_inline(text);
    berth_json_array_begin(text, "unsupported");
    for (int32_t i = 0; i < device->n_unsupported; i++) berth_json_string(text, NULL, device->unsupported[i]);
    berth_json_array_end(text);
    berth_json_object_end(text);
}

static void write_link(berth_text *text, const berth_device_set *set, int32_t from, int32_t to) {
    const berth_link *link = &set->links[from * set->n_devices + to];
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "from", set->devices[from].name);
    berth_json_string(text, "to", set->devices[to].name);
    berth_json_double(text, "fixed_ms", link->fixed_ms);
    berth_json_double(text, "ms_per_byte", link->ms_per_byte);
    berth_json_bool(text, "parallel", !link->queued);
    berth_json_object_end(text);
}

void berth_device_set_write(berth_text *text, const char *key, const berth_device_set *set) {
    berth_json_object_begin(text, key);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "source", set->source);
    berth_json_string(text, "execution_model", berth_model_name(set->model));
    berth_json_double(text, "piece_ms", set->piece_ms);
    berth_json_string(text, "host", set->devices[set->host].name);
    berth_json_array_begin(text, "devices");
    for (int32_t d = 0; d < set->n_devices; d++) write_device(text, &set->devices[d]);
    berth_json_array_end(text);
    berth_json_array_begin(text, "links");
    for (int32_t from = 0; from < set->n_devices; from++)
        for (int32_t to = 0; to < set->n_devices; to++)
            if (from != to) write_link(text, set, from, to);
    berth_json_array_end(text);
    berth_json_object_end(text);
}
