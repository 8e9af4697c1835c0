/* SPDX-License-Identifier: Apache-2.0 */
/* A window that slides over the spatial dimensions: what convolutions and pools share. */
#ifndef BERTH_READ_INFER_WINDOW_H
#define BERTH_READ_INFER_WINDOW_H

#include "read/infer_op.h"

typedef enum berth_auto_pad { BERTH_PAD_GIVEN, BERTH_PAD_SAME, BERTH_PAD_NONE } berth_auto_pad;

typedef struct berth_window {
    int32_t n; /* spatial dimensions */
    berth_auto_pad auto_pad;
    bool ceil_mode;
    berth_dim kernel[BERTH_MAX_RANK];
    int64_t stride[BERTH_MAX_RANK], dilation[BERTH_MAX_RANK];
    int64_t pad_begin[BERTH_MAX_RANK], pad_end[BERTH_MAX_RANK];
} berth_window;

/* Read kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for n spatial dimensions. A kernel that the
 * attribute does not give is not known. */
berth_status berth_window_read(berth_infer *in, berth_window *window, int32_t n);
/* Positions of the window along spatial dimension i of that size. */
berth_status berth_window_count(berth_infer *in, const berth_window *window, int32_t i, const berth_dim *size,
                                berth_dim *count);
/* (kernel - 1) * dilation + 1; false beyond 64 bits. The kernel must be static. */
bool berth_window_extent(const berth_window *window, int32_t i, int64_t *extent);

#endif
