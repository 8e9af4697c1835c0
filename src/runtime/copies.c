/* SPDX-License-Identifier: Apache-2.0 */
/* One job, and a line through what it says. */
#include "runtime/copies.h"

#include "runtime/kept.h"
#include "runtime/kind.h"

#include <math.h>

berth_status berth_copies_take(berth_run_model *model, berth_arena *arena, const char *device, const berth_copy **out,
                               int32_t *n) {
    berth_runtime *runtime = model->runtime;
    const char *const devices[] = {device, NULL};
    berth_job job = {.kind = BERTH_JOB_COPY,
                     .runtime = runtime->kind->name,
                     .library = runtime->library,
                     .devices = devices,
                     .optimisation = BERTH_OPTIMISE_NONE,
                     .threads = runtime->threads};
    berth_answer answer;
    bool found = false;
    *out = NULL;
    *n = 0;
    if (!runtime->kind->times_copies || runtime->kind->is_host(device)) return BERTH_OK;
    const char *key = berth_arena_printf(arena, "copies 1\n%s\n%s", runtime->identity, device);
    if (!key) return berth_fail_nomem(model->ctx);
    BERTH_TRY(berth_kept_get_answer(model->ctx, runtime, arena, key, NULL, &answer, &found));
    berth_status status = BERTH_OK;
    if (!found) {
        status = berth_job_run(model->ctx, arena, &runtime->worker, &job, &answer, NULL);
        if (status == BERTH_OK) BERTH_TRY(berth_kept_put_answer(model->ctx, runtime, arena, key, &answer));
    }
    if (status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED) return status;
    if (status != BERTH_OK) {
        berth_log(model->ctx, BERTH_LOG_INFO, "what copies to %s take is not known: %s", device,
                  berth_ctx_message(model->ctx));
        return BERTH_OK;
    }
    *out = answer.copies;
    *n = answer.n_copies;
    return BERTH_OK;
}

void berth_copies_fit(const berth_copy *copies, int32_t n, bool from_host, double *fixed_ms, double *ms_per_byte) {
    static const double least_ms = 1e-4, least_per_byte = 1e-10;
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, fastest = INFINITY;
    for (int32_t i = 0; i < n; i++) {
        double x = (double)copies[i].bytes, y = fmax(from_host ? copies[i].in_ms : copies[i].out_ms, least_ms);
        double weight = 1 / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
        fastest = fmin(fastest, y);
    }
    double spread = w * wxx - wx * wx;
    *ms_per_byte = fmax(spread > 0 ? (w * wxy - wx * wy) / spread : 0, least_per_byte);
    /* no copy takes less than nothing, nor all of them more than the fastest */
    *fixed_ms = fmin(fmax((wy - *ms_per_byte * wx) / w, least_ms), fastest);
}
