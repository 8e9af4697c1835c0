/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a devices.json. What is accepted has sensible numbers and, written and read again, the same text. */
#include "device/set.h"
#include "promise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static berth_device_set *parse(berth_ctx *ctx, const char *bytes, size_t size) {
    berth_device_set *set = NULL;
    berth_arena arena;
    const berth_json *root = NULL;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_json_parse(ctx, &arena, "fuzz", bytes, size, 16, &root);
    if (status == BERTH_OK) status = berth_device_set_parse(ctx, &set, "fuzz", root);
    PROMISE((status == BERTH_OK) == (set != NULL));
    PROMISE(status == BERTH_OK || status == BERTH_E_FORMAT || status == BERTH_E_LIMIT);
    PROMISE(status == BERTH_OK || (*berth_ctx_message(ctx) && !strchr(berth_ctx_message(ctx), '\n')));
    berth_arena_deinit(&arena);
    return set;
}

static void check(const berth_device_set *set) {
    int32_t n = set->n_devices;
    PROMISE(n >= 1 && n <= BERTH_MAX_DEVICES && set->host >= 0 && set->host < n);
    PROMISE(set->model < BERTH_MODEL_COUNT && set->piece_ms >= 0 && isfinite(set->piece_ms));
    for (int32_t d = 0; d < n; d++) {
        const berth_device *device = &set->devices[d];
        PROMISE(device->bandwidth > 0 && device->launch_ms >= 0 && device->memory_bytes >= 0);
        PROMISE(berth_device_find(set, device->name) == d);
        for (int cls = 0; cls < BERTH_WORK_CLASS_COUNT; cls++)
            PROMISE(device->efficiency[cls] > 0 && device->efficiency[cls] <= 1);
    }
    for (int32_t i = 0; i < n * n; i++)
        PROMISE(isfinite(set->links[i].fixed_ms) && isfinite(set->links[i].ms_per_byte));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    berth_ctx *ctx = NULL;
    berth_text *first = NULL, *second = NULL;
    PROMISE(berth_ctx_new(&ctx, NULL) == BERTH_OK);
    berth_device_set *set = parse(ctx, (const char *)data, size), *back = NULL;
    if (set) {
        check(set);
        PROMISE(berth_text_new(ctx, &first) == BERTH_OK && berth_text_new(ctx, &second) == BERTH_OK);
        berth_device_set_write(first, NULL, set);
        back = parse(ctx, berth_text_string(first), berth_text_size(first));
        PROMISE(back);
        berth_device_set_write(second, NULL, back);
        PROMISE(strcmp(berth_text_string(first), berth_text_string(second)) == 0);
    }
    berth_text_free(first);
    berth_text_free(second);
    berth_device_set_free(back);
    berth_device_set_free(set);
    berth_ctx_free(ctx);
    return 0;
}
