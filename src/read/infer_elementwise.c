/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on each element: the output has the shape of the input, or the shape to which the inputs broadcast. */
#include "read/infer_rows.h"

berth_status berth_infer_same(berth_infer *in) {
    return berth_infer_copy(in, 0, berth_infer_type(in, 0), 0);
}

berth_status berth_infer_same_f32(berth_infer *in) {
    return berth_infer_copy(in, 0, BERTH_TYPE_F32, 0);
}

/* IsNaN and the like. */
berth_status berth_infer_test(berth_infer *in) {
    return berth_infer_copy(in, 0, BERTH_TYPE_BOOL, 0);
}

/* EyeLike, RandomNormalLike and the like: the type is the attribute's, else the input's. */
berth_status berth_infer_like(berth_infer *in) {
    return berth_infer_copy(in, 0, berth_infer_type_named(in, "dtype", berth_infer_type(in, 0)), 0);
}

/* Before opset 7 the second input spreads along an axis of the first, whose shape the output has. */
static bool spreads(berth_infer *in) {
    return in->opset > 0 && in->opset < 7 && in->op->n_inputs == 2;
}

static berth_status broadcast_from(berth_infer *in, berth_type type, int32_t first) {
    berth_dims dims, more;
    berth_infer_dims(in, first, &dims);
    for (int32_t port = first + 1; port < in->op->n_inputs && !spreads(in); port++) {
        berth_infer_dims(in, port, &more);
        BERTH_TRY(berth_infer_broadcast(in, &dims, &more));
    }
    return berth_infer_out(in, 0, type, &dims);
}

berth_status berth_infer_arithmetic(berth_infer *in) {
    return broadcast_from(in, berth_infer_type(in, 0), 0);
}

berth_status berth_infer_compare(berth_infer *in) {
    return broadcast_from(in, BERTH_TYPE_BOOL, 0);
}

berth_status berth_infer_where(berth_infer *in) {
    return broadcast_from(in, berth_infer_type(in, 1), 0);
}

/* The second input broadcasts to the first, not the other way round. */
static berth_status one_way(berth_infer *in) {
    berth_dims data, dims, more;
    if (!berth_infer_dims(in, 0, &data) || !berth_infer_dims(in, 1, &more)) return berth_infer_same(in);
    berth_dims_assign(&dims, &data);
    BERTH_TRY(berth_infer_broadcast(in, &dims, &more));
    bool agree = dims.rank == data.rank;
    for (int32_t i = 0; agree && i < dims.rank; i++) agree = berth_dim_agree(&dims.at[i], &data.at[i]);
    if (!agree) return berth_infer_refuse(in, "input 1 does not broadcast to input 0");
    return berth_infer_same(in);
}

/* Before opset 7 a slope of C elements goes with data of N x C x H x W. */
berth_status berth_infer_prelu(berth_infer *in) {
    return in->opset < 7 ? berth_infer_same(in) : one_way(in);
}

/* BiasGelu, FastGelu, BiasAdd: a bias for the last dimension, which may be left out. */
berth_status berth_infer_bias(berth_infer *in) {
    return one_way(in);
}

berth_status berth_infer_cast(berth_infer *in) {
    if (!berth_infer_given(in, "to")) return berth_infer_refuse(in, "'to' is missing");
    return berth_infer_copy(in, 0, berth_infer_type_named(in, "to", BERTH_TYPE_UNKNOWN), 0);
}

berth_status berth_infer_cast_like(berth_infer *in) {
    return berth_infer_copy(in, 0, berth_infer_type(in, 1), 0);
}

/* The same bits under another type of the same width. */
berth_status berth_infer_bit_cast(berth_infer *in) {
    berth_type from = berth_infer_type(in, 0), to = berth_infer_type_named(in, "to", BERTH_TYPE_UNKNOWN);
    if (berth_type_bits(from) && berth_type_bits(to) && berth_type_bits(from) != berth_type_bits(to))
        return berth_infer_refuse(in, "%s and %s differ in width", berth_type_name(from), berth_type_name(to));
    return berth_infer_copy(in, 0, to, 0);
}

/* The mask was of the data's type before opset 10. */
berth_status berth_infer_dropout(berth_infer *in) {
    BERTH_TRY(berth_infer_same(in));
    return berth_infer_copy(in, 1, in->opset < 10 ? berth_infer_type(in, 0) : BERTH_TYPE_BOOL, 0);
}
