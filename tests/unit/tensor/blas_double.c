/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c where berth_real is double. */
#include "blas.c"
