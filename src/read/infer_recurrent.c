/* SPDX-License-Identifier: Apache-2.0 */
/* RNN, GRU and LSTM: X is S x B x I, or B x S x I with layout 1. Y is S x D x B x H (B x S x D x H), the last states
 * are D x B x H (B x D x H); D directions. */
#include "read/infer_rows.h"

#include <inttypes.h>

static berth_status hidden_size(berth_infer *in, berth_dim *hidden) {
    berth_dims weights;
    *hidden = berth_dim_unknown();
    if (berth_infer_given(in, "hidden_size")) {
        int64_t size = berth_infer_int(in, "hidden_size", 0);
        if (size < 1) return berth_infer_refuse(in, "'hidden_size' is %" PRId64, size);
        *hidden = berth_dim_static(size);
    } else if (berth_infer_dims(in, 2, &weights)) {
        *hidden = weights.at[2]; /* of the recurrence */
    }
    return BERTH_OK;
}

berth_status berth_infer_recurrent(berth_infer *in) {
    berth_dims data, y, last;
    berth_dim hidden, directions = berth_dim_static(berth_infer_says(in, "direction", "bidirectional", false) ? 2 : 1);
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_rank(in, 0, 3, 3));
    BERTH_TRY(berth_infer_rank(in, 2, 3, 3));
    BERTH_TRY(hidden_size(in, &hidden));
    bool batch_first = berth_infer_int(in, "layout", 0) != 0;
    if (!berth_infer_dims(in, 0, &data)) berth_dims_blank(&data, 3);
    berth_dim batch = data.at[batch_first ? 0 : 1];
    y = (berth_dims){.rank = 4, .at = {data.at[0], batch_first ? data.at[1] : directions, directions, hidden}};
    if (!batch_first) y.at[2] = batch;
    last = (berth_dims){.rank = 3, .at = {directions, batch, hidden}};
    if (batch_first) {
        last.at[0] = batch;
        last.at[1] = directions;
    }
    BERTH_TRY(berth_infer_out(in, 0, type, &y));
    BERTH_TRY(berth_infer_out(in, 1, type, &last));
    return berth_infer_out(in, 2, type, &last); /* LSTM: the last cell */
}
