/* SPDX-License-Identifier: Apache-2.0 */
/* The shape functions of the table, by file. A row of infer_table.c names one of these for each operation type. */
#ifndef BERTH_READ_INFER_ROWS_H
#define BERTH_READ_INFER_ROWS_H

#include "read/infer_op.h"

/* The row of an operation type, or NULL. */
const berth_infer_row *berth_infer_row_of(const char *type, const char *domain);
/* All rows, sorted by type and domain, for tests. */
const berth_infer_row *berth_infer_rows(size_t *n);

/* infer_elementwise.c */
berth_status berth_infer_same(berth_infer *in);
berth_status berth_infer_same_f32(berth_infer *in);
berth_status berth_infer_test(berth_infer *in);
berth_status berth_infer_like(berth_infer *in);
berth_status berth_infer_arithmetic(berth_infer *in);
berth_status berth_infer_compare(berth_infer *in);
berth_status berth_infer_where(berth_infer *in);
berth_status berth_infer_prelu(berth_infer *in);
berth_status berth_infer_cast(berth_infer *in);
berth_status berth_infer_cast_like(berth_infer *in);
berth_status berth_infer_bit_cast(berth_infer *in);
berth_status berth_infer_dropout(berth_infer *in);
berth_status berth_infer_bias(berth_infer *in);

/* infer_quant.c */
berth_status berth_infer_quantize(berth_infer *in);
berth_status berth_infer_dequantize(berth_infer *in);
berth_status berth_infer_dynamic_quantize(berth_infer *in);
berth_status berth_infer_qlinear_binary(berth_infer *in);
berth_status berth_infer_qlinear_where(berth_infer *in);
berth_status berth_infer_qlinear_concat(berth_infer *in);

/* infer_conv.c */
berth_status berth_infer_conv(berth_infer *in);
berth_status berth_infer_nhwc_conv(berth_infer *in);
berth_status berth_infer_conv_integer(berth_infer *in);
berth_status berth_infer_qlinear_conv(berth_infer *in);
berth_status berth_infer_conv_transpose(berth_infer *in);

/* infer_pool.c */
berth_status berth_infer_pool(berth_infer *in);
berth_status berth_infer_nhwc_pool(berth_infer *in);
berth_status berth_infer_global_pool(berth_infer *in);
berth_status berth_infer_max_unpool(berth_infer *in);
berth_status berth_infer_max_roi_pool(berth_infer *in);
berth_status berth_infer_roi_align(berth_infer *in);

/* infer_matmul.c */
berth_status berth_infer_matmul(berth_infer *in);
berth_status berth_infer_matmul_integer(berth_infer *in);
berth_status berth_infer_matmul_to_f32(berth_infer *in);
berth_status berth_infer_qlinear_matmul(berth_infer *in);
berth_status berth_infer_fused_matmul(berth_infer *in);
berth_status berth_infer_matmul_nbits(berth_infer *in);
berth_status berth_infer_gemm(berth_infer *in);
berth_status berth_infer_qgemm(berth_infer *in);
berth_status berth_infer_det(berth_infer *in);

/* infer_einsum.c */
berth_status berth_infer_einsum(berth_infer *in);

/* infer_attention.c */
berth_status berth_infer_attention(berth_infer *in);
berth_status berth_infer_ms_attention(berth_infer *in);
berth_status berth_infer_qattention(berth_infer *in);
berth_status berth_infer_multi_head_attention(berth_infer *in);
berth_status berth_infer_group_query_attention(berth_infer *in);
berth_status berth_infer_embed_layer_norm(berth_infer *in);
berth_status berth_infer_skip_layer_norm(berth_infer *in);

/* infer_reduce.c */
berth_status berth_infer_reduce(berth_infer *in);
berth_status berth_infer_arg_reduce(berth_infer *in);
berth_status berth_infer_softmax(berth_infer *in);
berth_status berth_infer_layer_norm(berth_infer *in);
berth_status berth_infer_batch_norm(berth_infer *in);
berth_status berth_infer_top_k(berth_infer *in);
berth_status berth_infer_loss(berth_infer *in);

/* infer_move.c */
berth_status berth_infer_concat(berth_infer *in);
berth_status berth_infer_split(berth_infer *in);
berth_status berth_infer_transpose(berth_infer *in);
berth_status berth_infer_pad(berth_infer *in);
berth_status berth_infer_tile(berth_infer *in);
berth_status berth_infer_expand(berth_infer *in);
berth_status berth_infer_center_crop_pad(berth_infer *in);

/* infer_reshape.c */
berth_status berth_infer_reshape(berth_infer *in);
berth_status berth_infer_flatten(berth_infer *in);
berth_status berth_infer_squeeze(berth_infer *in);
berth_status berth_infer_unsqueeze(berth_infer *in);
berth_status berth_infer_shape_of(berth_infer *in);
berth_status berth_infer_size(berth_infer *in);

/* infer_create.c */
berth_status berth_infer_constant_of_shape(berth_infer *in);
berth_status berth_infer_range(berth_infer *in);
berth_status berth_infer_random(berth_infer *in);
berth_status berth_infer_multinomial(berth_infer *in);
berth_status berth_infer_one_hot(berth_infer *in);
berth_status berth_infer_window(berth_infer *in);
berth_status berth_infer_mel_weight(berth_infer *in);
berth_status berth_infer_dft(berth_infer *in);
berth_status berth_infer_stft(berth_infer *in);
berth_status berth_infer_other(berth_infer *in);
berth_status berth_infer_int_scalar(berth_infer *in);
berth_status berth_infer_bool_scalar(berth_infer *in);

/* infer_index.c */
berth_status berth_infer_slice(berth_infer *in);
berth_status berth_infer_gather(berth_infer *in);
berth_status berth_infer_gather_elements(berth_infer *in);
berth_status berth_infer_gather_nd(berth_infer *in);
berth_status berth_infer_non_zero(berth_infer *in);
berth_status berth_infer_non_max_suppression(berth_infer *in);
berth_status berth_infer_unique(berth_infer *in);
berth_status berth_infer_compress(berth_infer *in);

/* infer_image.c */
berth_status berth_infer_resize(berth_infer *in);
berth_status berth_infer_upsample(berth_infer *in);
berth_status berth_infer_depth_to_space(berth_infer *in);
berth_status berth_infer_space_to_depth(berth_infer *in);
berth_status berth_infer_grid_sample(berth_infer *in);
berth_status berth_infer_affine_grid(berth_infer *in);
berth_status berth_infer_col2im(berth_infer *in);

/* infer_recurrent.c */
berth_status berth_infer_recurrent(berth_infer *in);

/* infer_ml.c */
berth_status berth_infer_array_feature_extractor(berth_infer *in);
berth_status berth_infer_feature_vectorizer(berth_infer *in);
berth_status berth_infer_label_encoder(berth_infer *in);
berth_status berth_infer_category_mapper(berth_infer *in);
berth_status berth_infer_one_hot_encoder(berth_infer *in);
berth_status berth_infer_classifier(berth_infer *in);
berth_status berth_infer_regressor(berth_infer *in);

#endif
