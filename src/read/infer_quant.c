/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisation. Scales and zero points stand between the data inputs; the type of a quantised output is that of its
 * zero point. */
#include "read/infer_rows.h"

berth_status berth_infer_quantize(berth_infer *in) {
    berth_type type = berth_infer_type_named(in, "output_dtype", BERTH_TYPE_U8);
    return berth_infer_copy(in, 0, berth_infer_in(in, 2) ? berth_infer_type(in, 2) : type, 0);
}

berth_status berth_infer_dequantize(berth_infer *in) {
    return berth_infer_copy(in, 0, berth_infer_type_named(in, "output_dtype", berth_infer_type(in, 1)), 0);
}

berth_status berth_infer_dynamic_quantize(berth_infer *in) {
    berth_dims scalar = {.rank = 0};
    BERTH_TRY(berth_infer_copy(in, 0, BERTH_TYPE_U8, 0));
    BERTH_TRY(berth_infer_out(in, 1, BERTH_TYPE_F32, &scalar));
    return berth_infer_out(in, 2, BERTH_TYPE_U8, &scalar);
}

/* QLinearAdd, QLinearMul: A, its scale, its zero point, B, its scale, its zero point, ... */
berth_status berth_infer_qlinear_binary(berth_infer *in) {
    berth_dims dims, more;
    berth_infer_dims(in, 0, &dims);
    berth_infer_dims(in, 3, &more);
    BERTH_TRY(berth_infer_broadcast(in, &dims, &more));
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

/* Condition, X with scale and zero point, Y with scale and zero point. */
berth_status berth_infer_qlinear_where(berth_infer *in) {
    berth_dims dims, more;
    berth_infer_dims(in, 0, &dims);
    for (int32_t port = 1; port <= 4; port += 3) {
        berth_infer_dims(in, port, &more);
        BERTH_TRY(berth_infer_broadcast(in, &dims, &more));
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 1), &dims);
}
