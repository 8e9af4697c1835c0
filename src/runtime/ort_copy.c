/* SPDX-License-Identifier: Apache-2.0 */
/* What copies take, by size and direction: a model of one Identity on the device, with its input here or there and its
 * output here or there. What is left when the run that copies nothing is taken away is the copy. Runs that end there
 * are waited for by a copy of one number, which is not part of them and is taken away as well. */
#include "runtime/ort.h"
#include "runtime/stats.h"
#include "runtime/timing.h"

#include <math.h>

enum { SIZES = 7, LEAST_RUNS = 5, MOST_RUNS = 30, WARM = 3 };
static const double run_seconds = 0.1;
static const int64_t smallest = 4096, factor = 4;

typedef struct copier {
    const berth_ort *ort;
    ort_session *session;
    ort_memory *there;
    ort_value *here_value, *there_value;
    berth_ort_fence fence;
} copier;

/* Inputs are bound anew for every run: that is when they are copied. */
static berth_status run_once(const copier *c, const ort_value *from, const ort_memory *to, double *ms) {
    const ort_api *api = c->ort->api;
    ort_binding *binding = NULL;
    BERTH_TRY(berth_ort_check(c->ort, api->CreateIoBinding(c->session, &binding), BERTH_E_IO, "binding"));
    berth_status status =
        berth_ort_check(c->ort, api->BindOutputToDevice(binding, "y", to), BERTH_E_UNSUPPORTED, "binding");
    double start = berth_timing_now_ms();
    if (status == BERTH_OK)
        status = berth_ort_check(c->ort, api->BindInput(binding, "x", from), BERTH_E_UNSUPPORTED, "binding");
    if (status == BERTH_OK) status = berth_ort_run_bound(c->ort, c->session, binding);
    if (status == BERTH_OK && to == c->there) status = berth_ort_fence_wait(c->ort, &c->fence);
    *ms = berth_timing_now_ms() - start;
    api->ReleaseIoBinding(binding);
    return status;
}

static berth_status time_one(const copier *c, const ort_value *from, const ort_memory *to, double *ms) {
    double runs[MOST_RUNS], ignored, end = berth_timing_now_ms() + 1e3 * run_seconds;
    size_t n = 0;
    for (int i = 0; i < WARM; i++) BERTH_TRY(run_once(c, from, to, &ignored));
    while (n < MOST_RUNS && (n < LEAST_RUNS || berth_timing_now_ms() < end))
        BERTH_TRY(run_once(c, from, to, &runs[n++]));
    *ms = berth_stats_quantile(runs, n, 0.5);
    return BERTH_OK;
}

/* Waiting alone, for a device that has nothing to do. */
static berth_status time_fence(const copier *c, double *ms) {
    double runs[LEAST_RUNS];
    for (int i = -WARM; i < LEAST_RUNS; i++) {
        double start = berth_timing_now_ms();
        BERTH_TRY(berth_ort_fence_wait(c->ort, &c->fence));
        if (i >= 0) runs[i] = berth_timing_now_ms() - start;
    }
    *ms = berth_stats_quantile(runs, LEAST_RUNS, 0.5);
    return BERTH_OK;
}

static berth_status time_size(copier *c, berth_copy *out) {
    const berth_ort *ort = c->ort;
    double in = 0, inside = 0, back = 0, fence = 0;
    int64_t n = out->bytes / (int64_t)sizeof(float);
    float *numbers = berth_arena_push(ort->arena, (size_t)n, sizeof *numbers);
    if (!numbers) return berth_fail_nomem(ort->ctx);
    berth_npy x = {.kind = 'f', .item_size = 4, .rank = 1, .dims = {n}, .count = n, .data = numbers};
    x.size = (size_t)out->bytes;
    BERTH_TRY(berth_ort_value(ort, &x, 1, &c->here_value));
    BERTH_TRY(berth_ort_move(ort, c->session, c->there, c->here_value, &c->there_value));
    BERTH_TRY(time_one(c, c->here_value, c->there, &in));
    BERTH_TRY(time_one(c, c->there_value, c->there, &inside));
    BERTH_TRY(time_one(c, c->there_value, ort->memory, &back));
    BERTH_TRY(time_fence(c, &fence));
    out->in_ms = fmax(in - inside, 0);
    out->out_ms = fmax(back - (inside - fence), 0);
    return BERTH_OK;
}

static berth_status time_sizes(copier *c, berth_answer *answer) {
    berth_arena *arena = c->ort->arena;
    berth_copy *copies = berth_arena_push(arena, SIZES, sizeof *copies);
    if (!copies) return berth_fail_nomem(c->ort->ctx);
    answer->copies = copies;
    int64_t bytes = smallest;
    for (int i = 0; i < SIZES; i++, bytes *= factor) {
        copies[i].bytes = bytes;
        berth_mark mark = berth_arena_mark(arena);
        berth_status status = time_size(c, &copies[i]);
        if (c->there_value) c->ort->api->ReleaseValue(c->there_value);
        if (c->here_value) c->ort->api->ReleaseValue(c->here_value);
        c->here_value = c->there_value = NULL;
        berth_arena_release(arena, mark);
        BERTH_TRY(status);
        answer->n_copies++;
    }
    return BERTH_OK;
}

berth_status berth_ort_copies(const berth_ort *ort, const berth_job *job, berth_answer *answer) {
    copier c = {.ort = ort};
    if (!job->devices[0]) return berth_fail(ort->ctx, BERTH_E_ARG, "copies are between the CPU and another device");
    BERTH_TRY(berth_ort_memory_of(ort, job->devices[0], &c.there));
    berth_status status = berth_ort_identity(ort, job->devices[0], 1, &c.session);
    if (status == BERTH_OK) status = berth_ort_fence_open(ort, job->devices[0], &c.fence);
    if (status == BERTH_OK) status = time_sizes(&c, answer);
    berth_ort_fence_close(ort, &c.fence);
    if (c.session) ort->api->ReleaseSession(c.session);
    ort->api->ReleaseMemoryInfo(c.there);
    return status;
}
