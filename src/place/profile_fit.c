/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement of the times of operations with those of whole runs. */
#include "place/profiler.h"

#include "runtime/copies.h"
#include "runtime/kind.h"

#include <math.h>
#include <string.h>

static const double serial_handing_ms = 0.02;

static berth_status tasks_of(berth_profiler *p, const int32_t *op_device, const int32_t **out) {
    int32_t *device = berth_arena_push(&p->model.arena, (size_t)p->costs->n_tasks, sizeof *device);
    if (!device) return berth_fail_nomem(p->ctx);
    for (int32_t task = 0; task < p->costs->n_tasks; task++) device[task] = op_device[p->costs->task_op[task]];
    *out = device;
    return BERTH_OK;
}

static int32_t count_pieces(const berth_profiler *p, const int32_t *device) {
    int32_t pieces = 1;
    for (int32_t i = 1; i < p->costs->n_tasks; i++) pieces += device[i] != device[i - 1];
    return pieces;
}

static void judge(berth_profiler *p, double *measured, double *predicted) {
    berth_profile *out = &p->out->profile;
    int32_t n = 0;
    double sum = 0;
    for (int32_t i = 0; i < out->n_runs; i++) {
        if (p->observations[i].is_apart || (p->options->held_out > 0 && !out->runs[i].is_held_out)) continue;
        measured[n] = out->runs[i].measured_ms;
        predicted[n] = out->runs[i].predicted_ms;
        sum += fabs(predicted[n] / measured[n] - 1);
        n++;
    }
    bool tells = p->options->held_out > 0 ? n > 0 : n > p->n_devices;
    out->mean_error = tells ? sum / n : NAN;
    out->rank_correlation = tells ? berth_rank_correlation(predicted, measured, n) : NAN;
}

static bool is_serial(const berth_profiler *p) {
    return p->runtime->kind->model == BERTH_MODEL_SERIAL;
}

/* Where the fit begins. On a queue handing over takes what is left of everything on the other device, and copies begin
 * as they are alone or, where that is not known, as a slow bus has them; pieces that follow each other hand tensors
 * over in the host's memory. */
static void guess(berth_profiler *p) {
    const berth_profile *out = &p->out->profile;
    double sum[BERTH_CALIBRATION_DEVICES] = {0}, n = fmax(p->costs->n_tasks, 1);
    berth_calibrated_copies copies = {
        .in_fixed_ms = 0.05, .in_ms_per_byte = 2e-7, .out_fixed_ms = 0.1, .out_ms_per_byte = 2e-7};
    for (int32_t task = 0; task < p->costs->n_tasks; task++)
        for (int32_t d = 0; d < p->n_devices; d++) {
            double ms = p->costs->time_ms[(size_t)task * (size_t)p->n_devices + (size_t)d];
            if (isfinite(ms)) sum[d] += ms;
        }
    if (out->n_copies >= 2) {
        berth_copies_fit(out->copies, out->n_copies, true, &copies.in_fixed_ms, &copies.in_ms_per_byte);
        berth_copies_fit(out->copies, out->n_copies, false, &copies.out_fixed_ms, &copies.out_ms_per_byte);
    }
    if (is_serial(p)) copies.in_fixed_ms = copies.out_fixed_ms = serial_handing_ms;
    p->fit = (berth_calibration){.run_ms = 0.01 * p->observations[0].ms};
    p->fit.handing_ms = is_serial(p) ? serial_handing_ms : fmax((p->observations[1].ms - sum[1]) / n, 1e-4);
    for (int32_t d = 0; d < p->n_devices; d++) {
        p->fit.scale[d] = d == 0 || is_serial(p) ? p->observations[d].ms / fmax(sum[d], 1e-6) : 1;
        p->fit.copies[d] = copies;
    }
}

static berth_status take_fit(berth_profiler *p) {
    const berth_calibration *fit = &p->fit;
    double launch_ms = is_serial(p) ? 0 : fit->handing_ms;
    double *scale = berth_arena_push(&p->out->arena, (size_t)p->n_devices, sizeof *scale);
    if (!scale) return berth_fail_nomem(p->ctx);
    memcpy(scale, fit->scale, (size_t)p->n_devices * sizeof *scale);
    p->out->profile.fit = (berth_fit){fit->run_ms, scale};
    p->draft->set.piece_ms = is_serial(p) ? fit->handing_ms : 0;
    for (int32_t d = 1; d < p->n_devices; d++) p->draft->devices[d].launch_ms = launch_ms;
    for (int32_t a = 0; a < p->n_devices; a++)
        for (int32_t b = 0; b < p->n_devices; b++)
            if (a != b)
                p->draft->links[(size_t)a * (size_t)p->n_devices + (size_t)b] =
                    (berth_link){berth_calibration_fixed_ms(fit, a, b), berth_calibration_ms_per_byte(fit, a, b), true};
    for (int32_t op = 0; op < p->out->profile.n_ops; op++)
        for (int32_t d = 0; d < p->n_devices; d++) {
            double *ms = berth_profiler_time(p, op, d);
            *ms = *ms * fit->scale[d] + (d > 0 && p->costs->op_task[op] >= 0 ? launch_ms : 0);
        }
    if (p->costs->n_tasks == 0) return BERTH_OK;
    int32_t first = p->costs->task_op[0]; /* what every run takes has to be somewhere */
    for (int32_t d = 0; d < p->n_devices; d++) *berth_profiler_time(p, first, d) += fit->run_ms;
    return BERTH_OK;
}

static berth_status calibrate(berth_profiler *p) {
    berth_profile *out = &p->out->profile;
    double *predicted = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *predicted);
    double *measured = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *measured);
    berth_profiled_run *runs = (berth_profiled_run *)out->runs;
    if (p->model.arena.failed) return berth_fail_nomem(p->ctx);
    for (int32_t i = 0; i < p->n_runs; i++) {
        BERTH_TRY(tasks_of(p, p->op_device[i], &p->observations[i].device));
        runs[i].n_pieces = count_pieces(p, p->observations[i].device);
    }
    guess(p);
    BERTH_TRY(berth_calibrate(p->ctx, p->costs, p->observations, p->n_runs, &p->fit, predicted));
    for (int32_t i = 0; i < p->n_runs; i++) runs[i].predicted_ms = predicted[i];
    judge(p, measured, predicted);
    return take_fit(p);
}

/* One device alone: only the sum can be wrong. */
static berth_status scale_single(berth_profiler *p) {
    static const double one = 1;
    double sum = 0, ms = p->observations[0].ms;
    for (int32_t op = 0; op < p->out->profile.n_ops; op++)
        sum += isfinite(*berth_profiler_time(p, op, 0)) ? *berth_profiler_time(p, op, 0) : 0;
    for (int32_t op = 0; op < p->out->profile.n_ops && sum > 0; op++) *berth_profiler_time(p, op, 0) *= ms / sum;
    p->out->profile.fit.scale = &one;
    return BERTH_OK;
}

berth_status berth_profiler_fit(berth_profiler *p) {
    if (p->n_devices > 1) return calibrate(p);
    return scale_single(p);
}
