/* SPDX-License-Identifier: Apache-2.0 */
/* Nelder and Mead's simplex over the logarithms of the numbers, with the simulator itself as the model. Logarithms keep
 * them positive and make a step of a tenth mean the same for all. */
#include "place/calibrate.h"

#include "simulate/sim.h"

#include <math.h>
#include <string.h>

enum {
    D = BERTH_CALIBRATION_DEVICES,
    PER_COPIES = 4,
    MOST = 2 + D + PER_COPIES * (D - 1), /* numbers */
    STEPS = 400,                         /* for each number, at most */
    RESTARTS = 4
};
static const double smallest = 1e-12, largest = 1e12;

typedef struct fitter {
    berth_ctx *ctx;
    const berth_costs *measured;
    berth_costs costs; /* the same, with the numbers of the fit in it */
    berth_sim *sim;
    double *time_ms;
    double copy_fixed[D * D], copy_per_unit[D * D], launch_ms[D];
    const berth_observation *observations;
    int32_t n;
    int n_devices, n_numbers;
    double *rows; /* [n * n_numbers] `serial`: what one of each number adds to each run; else NULL */
    double start[MOST];
} fitter;

static void apply(fitter *f, const berth_calibration *c) {
    size_t n_devices = (size_t)f->n_devices, n = (size_t)f->measured->n_tasks * n_devices;
    for (size_t i = 0; i < n; i++) f->time_ms[i] = f->measured->time_ms[i] * c->scale[i % n_devices];
    if (f->costs.model == BERTH_MODEL_SERIAL) f->costs.piece_ms = c->handing_ms;
    for (int d = 1; d < f->n_devices && f->costs.model != BERTH_MODEL_SERIAL; d++) f->launch_ms[d] = c->handing_ms;
    for (int from = 0; from < f->n_devices; from++)
        for (int to = 0; to < f->n_devices; to++) {
            if (from == to) continue;
            f->copy_fixed[from * f->n_devices + to] = berth_calibration_fixed_ms(c, from, to);
            f->copy_per_unit[from * f->n_devices + to] = berth_calibration_ms_per_byte(c, from, to);
        }
}

/* Where the numbers of a fit are, in the order of the fitter's vectors. */
static void list_numbers(berth_calibration *c, int n_devices, double **at) {
    int n = 0;
    at[n++] = &c->run_ms;
    at[n++] = &c->handing_ms;
    for (int d = 0; d < n_devices; d++) at[n++] = &c->scale[d];
    for (int d = 1; d < n_devices; d++) {
        at[n++] = &c->copies[d].in_fixed_ms;
        at[n++] = &c->copies[d].in_ms_per_byte;
        at[n++] = &c->copies[d].out_fixed_ms;
        at[n++] = &c->copies[d].out_ms_per_byte;
    }
}

static void from_logs(const fitter *f, const double *x, double *numbers) {
    for (int i = 0; i < f->n_numbers; i++) numbers[i] = exp(fmax(fmin(x[i], 50), -50));
}

static berth_calibration fit_of(const fitter *f, const double *numbers) {
    berth_calibration c = {0};
    double *at[MOST] = {NULL};
    list_numbers(&c, f->n_devices, at);
    for (int i = 0; i < f->n_numbers; i++) *at[i] = numbers[i];
    return c;
}

static void to_logs(const fitter *f, berth_calibration c, double *x) {
    double *at[MOST] = {NULL};
    list_numbers(&c, f->n_devices, at);
    for (int i = 0; i < f->n_numbers; i++) x[i] = log(fmin(fmax(*at[i], smallest), largest));
}

static double predict(fitter *f, const berth_calibration *c, int32_t i) {
    return c->run_ms + berth_sim_run(f->sim, f->observations[i].device, NULL);
}

/* Where everything happens one after the other, what a run takes is a sum in which every number is a factor once. */
static void find_rows(fitter *f) {
    size_t n = (size_t)f->n_numbers;
    for (size_t k = 0; k < n; k++) {
        double numbers[MOST] = {0};
        numbers[k] = 1;
        berth_calibration one = fit_of(f, numbers);
        apply(f, &one);
        for (int32_t i = 0; i < f->n; i++) f->rows[(size_t)i * n + k] = predict(f, &one, i);
    }
}

static double predict_by_row(const fitter *f, const double *numbers, int32_t i) {
    double sum = 0;
    for (int k = 0; k < f->n_numbers; k++) sum += f->rows[(size_t)i * (size_t)f->n_numbers + (size_t)k] * numbers[k];
    return sum;
}

/* How far off it is, and a little of how far the numbers are from the guess: what the runs do not tell stays there. */
static double loss_at(fitter *f, const double *x) {
    static const double pull = 1e-4;
    double sum = 0, away = 0, numbers[MOST] = {0};
    int32_t n = 0;
    from_logs(f, x, numbers);
    berth_calibration c = fit_of(f, numbers);
    if (!f->rows) apply(f, &c);
    for (int32_t i = 0; i < f->n; i++) {
        double measured = f->observations[i].ms;
        if (f->observations[i].is_held_out || f->observations[i].is_apart) continue;
        if (!(measured > 0 && measured < INFINITY)) continue;
        double ms = f->rows ? predict_by_row(f, numbers, i) : predict(f, &c, i);
        sum += ms < INFINITY ? fabs(log(ms / measured)) : 10;
        n++;
    }
    for (int i = 0; i < f->n_numbers; i++) away += (x[i] - f->start[i]) * (x[i] - f->start[i]);
    return sum / fmax(n, 1) + pull * away;
}

/* --- the simplex ------------------------------------------------------------------------------------------------ */

typedef struct simplex {
    double x[MOST + 1][MOST], loss[MOST + 1];
} simplex;

static void begin(fitter *f, simplex *s, const double *x, double step) {
    for (int k = 0; k <= f->n_numbers; k++) {
        memcpy(s->x[k], x, sizeof s->x[k]);
        if (k > 0) s->x[k][k - 1] += step;
        s->loss[k] = loss_at(f, s->x[k]);
    }
}

/* From the worst corner through the middle of the others, so many times as far. */
static double look(fitter *f, const simplex *s, int worst, double far, double *x) {
    int n = f->n_numbers;
    for (int i = 0; i < n; i++) {
        double middle = 0;
        for (int k = 0; k <= n; k++)
            if (k != worst) middle += s->x[k][i] / n;
        x[i] = middle + far * (middle - s->x[worst][i]);
    }
    return loss_at(f, x);
}

static void take(simplex *s, int k, const double *x, double loss) {
    memcpy(s->x[k], x, sizeof s->x[k]);
    s->loss[k] = loss;
}

static void shrink(fitter *f, simplex *s, int best) {
    for (int k = 0; k <= f->n_numbers; k++) {
        if (k == best) continue;
        for (int i = 0; i < f->n_numbers; i++)
            s->x[k][i] = s->x[best][i] + (1 - 1.0 / f->n_numbers) * (s->x[k][i] - s->x[best][i]);
        s->loss[k] = loss_at(f, s->x[k]);
    }
}

/* One step; false: it stands still. With many numbers it goes less far at once, as Gao and Han (2012) have it: a
 * simplex of many corners grows flat otherwise. */
static bool step(fitter *f, simplex *s) {
    int best = 0, worst = 0, second = 0;
    double x[MOST] = {0}, further[MOST] = {0}, numbers = f->n_numbers;
    double longer = 1 + 2 / numbers, shorter = 0.75 - 0.5 / numbers;
    for (int k = 1; k <= f->n_numbers; k++) {
        if (s->loss[k] < s->loss[best]) best = k;
        if (s->loss[k] > s->loss[worst]) worst = k;
    }
    second = best;
    for (int k = 0; k <= f->n_numbers; k++)
        if (k != worst && s->loss[k] > s->loss[second]) second = k;
    if (s->loss[worst] - s->loss[best] < 1e-9) return false;
    double loss = look(f, s, worst, 1, x);
    if (loss < s->loss[best]) {
        double more = look(f, s, worst, longer, further);
        if (more < loss)
            take(s, worst, further, more);
        else
            take(s, worst, x, loss);
    } else if (loss < s->loss[second]) {
        take(s, worst, x, loss);
    } else {
        double less = look(f, s, worst, loss < s->loss[worst] ? shorter : -shorter, further);
        if (less < fmin(loss, s->loss[worst]))
            take(s, worst, further, less);
        else
            shrink(f, s, best);
    }
    return true;
}

static void minimise(fitter *f, double *x) {
    static const double steps[RESTARTS] = {1, 0.5, 0.5, 0.1};
    for (int round = 0; round < RESTARTS; round++) {
        simplex s = {0};
        int best = 0;
        begin(f, &s, x, steps[round]);
        int most = STEPS * f->n_numbers * (f->rows ? f->n_devices : 1);
        for (int i = 0; i < most && !berth_cancelled(f->ctx) && step(f, &s);) i++;
        for (int k = 1; k <= f->n_numbers; k++)
            if (s.loss[k] < s.loss[best]) best = k;
        memcpy(x, s.x[best], sizeof s.x[best]);
    }
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

berth_status berth_calibrate(berth_ctx *ctx, const berth_costs *costs, const berth_observation *observations, int32_t n,
                             berth_calibration *fit, double *predicted) {
    int n_devices = costs->n_devices;
    fitter f = {.ctx = ctx, .measured = costs, .costs = *costs, .observations = observations, .n = n};
    size_t n_times = (size_t)n_devices * (size_t)costs->n_tasks;
    bool is_linear = costs->model == BERTH_MODEL_SERIAL;
    double x[MOST] = {0};
    if (n_devices < 2 || n_devices > D || costs->host != 0 || costs->copy_table)
        return berth_fail(ctx, BERTH_E_ARG, "calibration is for a host and 1 to %d other devices", D - 1);
    f.n_devices = n_devices;
    f.n_numbers = 2 + n_devices + PER_COPIES * (n_devices - 1);
    size_t n_all = n_times + 1 + (is_linear ? (size_t)n * (size_t)f.n_numbers : 0);
    f.time_ms = berth_resize(berth_ctx_allocator(ctx), NULL, 0, n_all, sizeof *f.time_ms);
    if (!f.time_ms) return berth_fail_nomem(ctx);
    f.rows = is_linear ? f.time_ms + n_times + 1 : NULL;
    f.costs.time_ms = f.time_ms;
    f.costs.copy_fixed = f.copy_fixed;
    f.costs.copy_per_unit = f.copy_per_unit;
    f.costs.launch_ms = f.launch_ms;
    berth_status status = berth_sim_new(ctx, &f.sim, &f.costs);
    if (status == BERTH_OK && is_linear) find_rows(&f);
    if (status == BERTH_OK) {
        to_logs(&f, *fit, f.start);
        memcpy(x, f.start, sizeof x);
        minimise(&f, x);
        from_logs(&f, x, x);
        *fit = fit_of(&f, x);
        apply(&f, fit);
        for (int32_t i = 0; i < n; i++) predicted[i] = predict(&f, fit, i);
    }
    berth_sim_free(f.sim);
    berth_resize(berth_ctx_allocator(ctx), f.time_ms, n_all, 0, sizeof *f.time_ms);
    return status;
}

static double rank_of(const double *values, int32_t n, int32_t i) {
    double below = 0, equal = 0;
    for (int32_t k = 0; k < n; k++) {
        below += values[k] < values[i];
        equal += values[k] == values[i];
    }
    return below + (equal - 1) / 2;
}

double berth_rank_correlation(const double *a, const double *b, int32_t n) {
    double middle = (n - 1) / 2.0, ab = 0, aa = 0, bb = 0;
    for (int32_t i = 0; i < n; i++) {
        double x = rank_of(a, n, i) - middle, y = rank_of(b, n, i) - middle;
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
