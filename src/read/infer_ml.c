/* SPDX-License-Identifier: Apache-2.0 */
/* The classical models of ai.onnx.ml: rows of features in, labels and scores out. */
#include "read/infer_rows.h"

#include <inttypes.h>

/* The rows of the input: N of N x F, or one. */
static berth_dim rows_of(berth_infer *in) {
    berth_dims data;
    if (!berth_infer_dims(in, 0, &data)) return berth_dim_unknown();
    return data.rank == 2 ? data.at[0] : data.rank == 1 ? berth_dim_static(1) : berth_dim_unknown();
}

/* X with its last dimension replaced by as many as there are indices; one row if X is a vector. */
berth_status berth_infer_array_feature_extractor(berth_infer *in) {
    berth_dims dims, indices;
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_rank(in, 0, 1, BERTH_MAX_RANK));
    BERTH_TRY(berth_infer_rank(in, 1, 1, BERTH_MAX_RANK));
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    berth_dim count = berth_infer_dims(in, 1, &indices) ? indices.at[indices.rank - 1] : berth_dim_unknown();
    if (dims.rank == 1) {
        dims.rank = 2;
        dims.at[0] = berth_dim_static(1);
    }
    dims.at[dims.rank - 1] = count;
    return berth_infer_out(in, 0, type, &dims);
}

/* All inputs side by side, each as wide as the attribute says. */
berth_status berth_infer_feature_vectorizer(berth_infer *in) {
    berth_dims dims;
    int32_t n = 0;
    const int64_t *widths = berth_infer_ints(in, "inputdimensions", &n);
    int64_t sum = 0;
    berth_dims_blank(&dims, 2);
    dims.at[0] = rows_of(in);
    for (int32_t i = 0; i < n; i++) {
        if (widths[i] < 0) return berth_infer_refuse(in, "a width of %" PRId64, widths[i]);
        if (__builtin_add_overflow(sum, widths[i], &sum)) return berth_infer_overflow(in);
    }
    if (n > 0) dims.at[1] = berth_dim_static(sum);
    return berth_infer_out(in, 0, BERTH_TYPE_F32, &dims);
}

berth_status berth_infer_label_encoder(berth_infer *in) {
    static const struct {
        const char *name;
        berth_type type;
    } values[] = {
        {"values_int64s", BERTH_TYPE_I64}, {"values_floats", BERTH_TYPE_F32}, {"values_strings", BERTH_TYPE_STRING}};
    berth_type type = BERTH_TYPE_UNKNOWN;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (berth_infer_given(in, values[i].name)) type = values[i].type;
    return berth_infer_copy(in, 0, type, 0);
}

/* Integers become strings and the other way round. */
berth_status berth_infer_category_mapper(berth_infer *in) {
    berth_type from = berth_infer_type(in, 0);
    berth_type type = from == BERTH_TYPE_STRING ? BERTH_TYPE_I64
                      : from == BERTH_TYPE_I64  ? BERTH_TYPE_STRING
                                                : BERTH_TYPE_UNKNOWN;
    return berth_infer_copy(in, 0, type, 0);
}

berth_status berth_infer_one_hot_encoder(berth_infer *in) {
    berth_dims dims;
    int32_t n = 0;
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, BERTH_TYPE_F32, NULL);
    if (dims.rank == BERTH_MAX_RANK) return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
    bool ints = berth_infer_ints(in, "cats_int64s", &n) != NULL;
    dims.at[dims.rank++] = ints ? berth_dim_static(n) : berth_dim_unknown();
    return berth_infer_out(in, 0, BERTH_TYPE_F32, &dims);
}

/* Labels N of i64 or text; scores N x classes. */
berth_status berth_infer_classifier(berth_infer *in) {
    berth_dims labels, scores;
    int32_t n = 0;
    const char *names = berth_infer_given(in, "classlabels_int64s") ? "classlabels_int64s" : "classlabels_ints";
    bool ints = berth_infer_ints(in, names, &n) != NULL && n > 0;
    berth_dims_blank(&labels, 1);
    berth_dims_blank(&scores, 2);
    labels.at[0] = scores.at[0] = rows_of(in);
    if (ints) scores.at[1] = berth_dim_static(n);
    BERTH_TRY(berth_infer_out(in, 0, ints ? BERTH_TYPE_I64 : BERTH_TYPE_STRING, &labels));
    return berth_infer_out(in, 1, BERTH_TYPE_F32, &scores);
}

berth_status berth_infer_regressor(berth_infer *in) {
    berth_dims dims;
    const char *name = berth_infer_given(in, "n_targets") ? "n_targets" : "targets";
    int64_t targets = berth_infer_int(in, name, 1);
    if (targets < 1) return berth_infer_refuse(in, "'%s' is %" PRId64, name, targets);
    berth_dims_blank(&dims, 2);
    dims.at[0] = rows_of(in);
    dims.at[1] = berth_dim_static(targets);
    return berth_infer_out(in, 0, BERTH_TYPE_F32, &dims);
}
