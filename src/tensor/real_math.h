/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a berth_real. */
#ifndef BERTH_TENSOR_REAL_MATH_H
#define BERTH_TENSOR_REAL_MATH_H

#include <math.h>

#include "tensor/real.h"

#ifdef BERTH_REAL_DOUBLE
static inline double berth_real_exp(double x) {
    return exp(x);
}
static inline double berth_real_tanh(double x) {
    return tanh(x);
}
#else
static inline float berth_real_exp(float x) {
    return expf(x);
}
static inline float berth_real_tanh(float x) {
    return tanhf(x);
}
#endif

/* By tanh, which does not overflow. */
static inline berth_real berth_real_sigmoid(berth_real x) {
    return (berth_real)0.5 * berth_real_tanh((berth_real)0.5 * x) + (berth_real)0.5;
}

#endif
