/* SPDX-License-Identifier: Apache-2.0 */
/* Devices for generated graphs: unlike in everything that a placement can use. One that computes fast may be slow to
 * reach, one with much bandwidth may be poor at products. */
#include "berth/bench.h"

#include "base/rng.h"
#include "device/set.h"

#include <math.h>
#include <stdio.h>

/* Between low and high, each factor equally likely. */
static double draw(berth_rng *rng, double low, double high) {
    return low * pow(high / low, berth_rng_uniform(rng));
}

static bool draw_device(berth_device_draft *draft, int32_t index, berth_rng *rng) {
    berth_device *device = &draft->devices[index];
    *device = (berth_device){
        .name = berth_arena_printf(&draft->arena, index ? "acc.%d" : "cpu", (int)index - 1),
        .kind = index ? "acc" : "cpu",
        .flops = {[BERTH_TYPE_F32] = draw(rng, 0.4e12, 3e12)},
        .bandwidth = draw(rng, 40e9, 300e9),
        .launch_ms = draw(rng, 0.001, 0.006),
        .memory_bytes = INFINITY,
    };
    for (int cls = 0; cls < BERTH_WORK_CLASS_COUNT; cls++)
        device->efficiency[cls] = cls == BERTH_WORK_FREE ? 1 : draw(rng, 0.15, 0.9);
    return device->name != NULL;
}

berth_status berth_device_set_generate(berth_ctx *ctx, berth_device_set **out, int32_t n, uint64_t seed) {
    char source[48];
    berth_device_draft *draft = NULL;
    berth_rng rng;
    bool drawn = true;
    *out = NULL;
    snprintf(source, sizeof source, "generated:%d:%llu", (int)n, (unsigned long long)seed);
    BERTH_TRY(berth_device_draft_new(ctx, &draft, n, source));
    berth_rng_init(&rng, seed, (uint64_t)n);
    for (int32_t d = 0; d < n && drawn; d++) drawn = draw_device(draft, d, &rng);
    bool queued = berth_rng_below(&rng, 2) == 1;
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = from + 1; to < n; to++) {
            berth_link link = {draw(&rng, 0.003, 0.015), 1e3 / draw(&rng, 12e9, 60e9), queued};
            draft->links[from * n + to] = draft->links[to * n + from] = link;
        }
    draft->set.model = BERTH_MODEL_CONCURRENT;
    draft->set.piece_ms = 0.05;
    if (drawn) {
        *out = &draft->set;
        return BERTH_OK;
    }
    berth_device_set_free(&draft->set);
    return berth_fail_nomem(ctx);
}
