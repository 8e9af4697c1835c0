/* SPDX-License-Identifier: Apache-2.0 */
/* A handful of numbers that make an execution model, `queued` or `serial`, agree with whole runs: by how much times of
 * operations on each device are scaled, what handing an operation or a piece to a device takes, and what copies take
 * each way. */
#ifndef BERTH_PLACE_CALIBRATE_H
#define BERTH_PLACE_CALIBRATE_H

#include "cost/costs.h"

enum { BERTH_CALIBRATION_DEVICES = 8 }; /* at most */

typedef struct berth_calibrated_copies {
    double in_fixed_ms, in_ms_per_byte, out_fixed_ms, out_ms_per_byte;
} berth_calibrated_copies;

/* All at least 0; ms, and ms per byte. */
typedef struct berth_calibration {
    double run_ms;     /* of every run, whatever is where */
    double handing_ms; /* `queued`: of each operation on another device, on the host's clock; `serial`: of each piece */
    double scale[BERTH_CALIBRATION_DEVICES];
    /* Between the host, which is device 0, and each other; between two others by way of the host, as the sum. */
    berth_calibrated_copies copies[BERTH_CALIBRATION_DEVICES];
} berth_calibration;

typedef struct berth_observation {
    const int32_t *device; /* [n_tasks] 0: the host */
    double ms;
    bool is_held_out; /* not fitted to, to see how well others predict it */
    bool is_apart;    /* not fitted to, and not to be predicted: something else than a placement */
} berth_observation;

/* What a copy takes: out of a device and into another, neither of which is for the host. */
static inline double berth_calibration_fixed_ms(const berth_calibration *c, int32_t from, int32_t to) {
    return (from ? c->copies[from].out_fixed_ms : 0) + (to ? c->copies[to].in_fixed_ms : 0);
}
static inline double berth_calibration_ms_per_byte(const berth_calibration *c, int32_t from, int32_t to) {
    return (from ? c->copies[from].out_ms_per_byte : 0) + (to ? c->copies[to].in_ms_per_byte : 0);
}

/* Costs with times as they were measured (kernels alone on other devices), 2 devices or more, the host first.
 * From a guess in *fit to the best fit to the observations that are not held out, in mean |log(predicted / measured)|;
 * times that are not positive and finite do not count.
 * predicted [n] gets what the fit says of each. */
berth_status berth_calibrate(berth_ctx *ctx, const berth_costs *costs, const berth_observation *observations, int32_t n,
                             berth_calibration *fit, double *predicted);

/* Spearman's, of n pairs; ties share their rank. */
double berth_rank_correlation(const double *a, const double *b, int32_t n);

#endif
