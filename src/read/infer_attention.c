/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, as ONNX has it since opset 23 and as ONNX Runtime fuses it (domain com.microsoft). Letters: B batch, S
 * query length, L key length, P past length, T = P + L, N heads, H size of a head, D = N H. */
#include "read/infer_rows.h"

#include <inttypes.h>

/* dim / by where it is known and whole, else not known. `by` < 1 counts as not given. */
static berth_dim divided(const berth_dim *dim, int64_t by) {
    if (by < 1 || !berth_dim_is_static(dim) || dim->min % by) return berth_dim_unknown();
    return berth_dim_static(dim->min / by);
}

static berth_status times(berth_infer *in, berth_dim *dim, int64_t by) {
    berth_dim factor = by < 1 ? berth_dim_unknown() : berth_dim_static(by);
    return berth_dim_multiply(dim, &factor) ? BERTH_OK : berth_infer_overflow(in);
}

static void four(berth_dims *dims, berth_dim a, berth_dim b, berth_dim c, berth_dim d) {
    dims->rank = 4;
    dims->at[0] = a;
    dims->at[1] = b;
    dims->at[2] = c;
    dims->at[3] = d;
}

/* An input of B x N x L x H, or of B x L x N H with the number of heads given aside, as the former. */
static void heads_of(berth_infer *in, int32_t port, int64_t heads, berth_dims *dims) {
    berth_dims flat;
    berth_dims_blank(dims, 4);
    berth_infer_dims(in, port, &flat);
    if (flat.rank == 4) berth_dims_assign(dims, &flat);
    if (flat.rank == 3)
        four(dims, flat.at[0], heads < 1 ? berth_dim_unknown() : berth_dim_static(heads), flat.at[1],
             divided(&flat.at[2], heads));
}

/* P + L: keys of the past, if there are any, and of now. */
static berth_status total_length(berth_infer *in, int32_t past, const berth_dim *length, berth_dim *total) {
    berth_dims dims;
    *total = *length;
    if (!berth_infer_in(in, past)) return BERTH_OK;
    berth_dim before = berth_dim_unknown();
    if (berth_infer_dims(in, past, &dims) && dims.rank == 4) before = dims.at[2];
    return berth_dim_add(total, &before) ? BERTH_OK : berth_infer_overflow(in);
}

/* Q, K, V, mask, past key, past value; Y, present key, present value, Q K'. */
berth_status berth_infer_attention(berth_infer *in) {
    berth_dims q, k, v, dims;
    berth_type type = berth_infer_type(in, 0);
    int64_t q_heads = berth_infer_int(in, "q_num_heads", 0), kv_heads = berth_infer_int(in, "kv_num_heads", 0);
    for (int32_t port = 0; port < 3; port++) BERTH_TRY(berth_infer_rank(in, port, 3, 4));
    heads_of(in, 0, q_heads, &q);
    heads_of(in, 1, kv_heads, &k);
    heads_of(in, 2, kv_heads, &v);
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    if (dims.rank == 4) {
        four(&dims, q.at[0], q.at[1], q.at[2], v.at[3]);
    } else {
        dims = (berth_dims){.rank = 3};
        dims.at[0] = q.at[0];
        dims.at[1] = q.at[2];
        dims.at[2] = v.at[3];
        BERTH_TRY(times(in, &dims.at[2], q_heads));
    }
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));
    berth_dim total;
    BERTH_TRY(total_length(in, 4, &k.at[2], &total));
    four(&dims, k.at[0], k.at[1], total, k.at[3]);
    BERTH_TRY(berth_infer_out(in, 1, berth_infer_type(in, 1), &dims));
    four(&dims, v.at[0], v.at[1], total, v.at[3]);
    BERTH_TRY(berth_infer_out(in, 2, berth_infer_type(in, 2), &dims));
    four(&dims, q.at[0], q.at[1], q.at[2], total);
    return berth_infer_out(in, 3, type, &dims);
}

/* B x S x D_in, weights D_in x (D_q + D_k + D_v); `past` is the port of 2 x B x N x P x H. */
static berth_status ms_attention(berth_infer *in, berth_type type, int32_t past) {
    berth_dims dims, weights, before;
    int32_t n = 0;
    const int64_t *sizes = berth_infer_ints(in, "qkv_hidden_sizes", &n);
    int64_t heads = berth_infer_int(in, "num_heads", 0);
    BERTH_TRY(berth_infer_rank(in, 0, 3, 3));
    BERTH_TRY(berth_infer_rank(in, 1, 2, 2));
    if (sizes && (n != 3 || sizes[2] < 0)) return berth_infer_refuse(in, "'qkv_hidden_sizes' is malformed");
    if (!berth_infer_dims(in, 0, &dims)) berth_dims_blank(&dims, 3);
    dims.at[2] = berth_dim_unknown();
    if (sizes)
        dims.at[2] = berth_dim_static(sizes[2]);
    else if (berth_infer_dims(in, 1, &weights))
        dims.at[2] = divided(&weights.at[1], 3);
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));

    berth_dims present = {.rank = 5};
    berth_dim length = dims.at[1];
    present.at[0] = berth_dim_static(2);
    present.at[1] = dims.at[0];
    present.at[2] = heads < 1 ? berth_dim_unknown() : berth_dim_static(heads);
    present.at[4] = divided(&dims.at[2], heads);
    if (berth_infer_in(in, past)) {
        berth_dim earlier = berth_dim_unknown();
        if (berth_infer_dims(in, past, &before) && before.rank == 5) earlier = before.at[3];
        if (berth_infer_int(in, "past_present_share_buffer", 0))
            length = earlier;
        else if (!berth_dim_add(&length, &earlier))
            return berth_infer_overflow(in);
    }
    present.at[3] = length;
    return berth_infer_out(in, 1, type, &present);
}

berth_status berth_infer_ms_attention(berth_infer *in) {
    return ms_attention(in, berth_infer_type(in, 0), 4);
}

/* Input, weights, bias, their scales, mask, their zero points, past. */
berth_status berth_infer_qattention(berth_infer *in) {
    return ms_attention(in, berth_infer_type(in, 3), 8);
}

/* Query B x S x D or packed B x S x N x 3 x H; key and value B x L x D, B x N x L x H or packed B x L x N x 2 x H. */
berth_status berth_infer_multi_head_attention(berth_infer *in) {
    berth_dims query, key, value, dims;
    berth_type type = berth_infer_type(in, 0);
    int64_t heads = berth_infer_int(in, "num_heads", 0);
    if (!berth_infer_dims(in, 0, &query) || (query.rank != 3 && query.rank != 5))
        return berth_infer_out(in, 0, type, NULL);
    berth_dims_assign(&dims, &query);
    dims.rank = 3;
    berth_dim head = query.rank == 5 ? query.at[4] : divided(&query.at[2], heads), head_v = head;
    if (berth_infer_in(in, 2)) {
        heads_of(in, 2, heads, &value);
        head_v = value.at[3];
    }
    dims.at[2] = head_v;
    BERTH_TRY(times(in, &dims.at[2], heads));
    if (berth_infer_dims(in, 2, &value) && value.rank == 3) dims.at[2] = value.at[2];
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));

    berth_dim length = query.at[1], total, n = heads < 1 ? berth_dim_unknown() : berth_dim_static(heads);
    bool has_key = berth_infer_dims(in, 1, &key);
    if (berth_infer_in(in, 1)) length = !has_key ? berth_dim_unknown() : key.rank == 4 ? key.at[2] : key.at[1];
    /* Keys of four dimensions are those of a cross attention, complete as they are. */
    BERTH_TRY(total_length(in, has_key && key.rank == 4 ? -1 : 6, &length, &total));
    four(&dims, query.at[0], n, total, head);
    BERTH_TRY(berth_infer_out(in, 1, type, &dims));
    four(&dims, query.at[0], n, total, head_v);
    return berth_infer_out(in, 2, type, &dims);
}

/* Query B x S x D, or D of query, key and value packed where no key is given. */
berth_status berth_infer_group_query_attention(berth_infer *in) {
    berth_dims query, dims;
    berth_type type = berth_infer_type(in, 0);
    int64_t heads = berth_infer_int(in, "num_heads", 0), kv_heads = berth_infer_int(in, "kv_num_heads", 0), all;
    BERTH_TRY(berth_infer_rank(in, 0, 3, 3));
    if (heads < 1 || kv_heads < 1 || __builtin_mul_overflow(kv_heads, 2, &all) ||
        __builtin_add_overflow(all, heads, &all))
        return berth_infer_refuse(in, "%" PRId64 " heads, %" PRId64 " of keys", heads, kv_heads);
    if (!berth_infer_dims(in, 0, &query)) berth_dims_blank(&query, 3);
    berth_dim head = divided(&query.at[2], berth_infer_in(in, 1) ? heads : all);
    berth_dims_assign(&dims, &query);
    dims.at[2] = head;
    BERTH_TRY(times(in, &dims.at[2], heads));
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));
    four(&dims, query.at[0], berth_dim_static(kv_heads), berth_dim_unknown(), head);
    BERTH_TRY(berth_infer_out(in, 1, type, &dims));
    return berth_infer_out(in, 2, type, &dims);
}

/* ids, segments, word embeddings V x H; B x S x H, mask of B, and the sum before normalising. */
berth_status berth_infer_embed_layer_norm(berth_infer *in) {
    berth_dims ids, words, dims, batch;
    berth_type type = berth_infer_type(in, 2);
    BERTH_TRY(berth_infer_rank(in, 0, 2, 2));
    BERTH_TRY(berth_infer_rank(in, 2, 2, 2));
    berth_dims_blank(&dims, 3);
    berth_dims_blank(&batch, 1);
    if (berth_infer_dims(in, 0, &ids)) {
        dims.at[0] = batch.at[0] = ids.at[0];
        dims.at[1] = ids.at[1];
    }
    if (berth_infer_dims(in, 2, &words)) dims.at[2] = words.at[1];
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));
    BERTH_TRY(berth_infer_out(in, 1, BERTH_TYPE_I32, &batch));
    return berth_infer_out(in, 2, type, &dims);
}

/* Y, mean, inverse standard deviation, the sum before normalising. */
berth_status berth_infer_skip_layer_norm(berth_infer *in) {
    berth_dims dims;
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_same(in));
    BERTH_TRY(berth_infer_copy(in, 3, type, 0));
    if (berth_infer_dims(in, 0, &dims) && dims.rank > 0) dims.at[dims.rank - 1] = berth_dim_static(1);
    BERTH_TRY(berth_infer_out(in, 1, BERTH_TYPE_F32, &dims));
    return berth_infer_out(in, 2, BERTH_TYPE_F32, &dims);
}
