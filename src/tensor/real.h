/* SPDX-License-Identifier: Apache-2.0 */
/* The number that networks compute with: float in use; double in a second build of tensor/, policy/ and learn/ (with
 * BERTH_REAL_DOUBLE), where gradients can be checked to 1e-7 and more. */
#ifndef BERTH_TENSOR_REAL_H
#define BERTH_TENSOR_REAL_H

#ifdef BERTH_REAL_DOUBLE
typedef double berth_real;
#else
typedef float berth_real;
#endif

#endif
