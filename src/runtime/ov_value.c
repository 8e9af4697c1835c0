/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of OpenVINO from and to .npy tensors. */
#include "runtime/ov.h"

#include "runtime/ov_types.h"

#include <string.h>

berth_status berth_ov_value(const berth_ov *ov, const berth_npy *from, int type, ov_tensor **out) {
    berth_type wanted = berth_ov_type(ov->year, ov->number, type);
    ov_shape shape = {.rank = from->rank, .dims = (int64_t *)from->dims}; /* NOLINT: it is copied */
    char kind;
    int32_t item_size;
    *out = NULL;
    if (wanted == BERTH_TYPE_STRING)
        return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "OpenVINO's C interface takes no strings");
    if (!berth_npy_type(wanted, &kind, &item_size) || kind != from->kind || item_size != from->item_size)
        return berth_fail(ov->ctx, BERTH_E_ARG, "a tensor of numpy's type %c%d is given where the model wants %s",
                          from->kind, (int)from->item_size, berth_type_name(wanted));
    /* The library does not write to what is given as an input. */
    void *data = (void *)from->data; /* NOLINT(clang-diagnostic-cast-qual) */
    return berth_ov_check(ov, ov->api->tensor_create_from_host_ptr(type, shape, data, out), BERTH_E_IO, "input");
}

berth_status berth_ov_to_npy(const berth_ov *ov, const ov_tensor *value, berth_npy *out) {
    ov_shape shape = {0};
    int type = 0;
    void *data = NULL;
    *out = (berth_npy){.count = 1};
    BERTH_TRY(berth_ov_check(ov, ov->api->tensor_get_element_type(value, &type), BERTH_E_IO, "output"));
    BERTH_TRY(berth_ov_check(ov, ov->api->tensor_get_byte_size(value, &out->size), BERTH_E_IO, "output"));
    BERTH_TRY(berth_ov_check(ov, ov->api->tensor_get_shape(value, &shape), BERTH_E_IO, "output"));
    bool fits = shape.rank <= BERTH_NPY_RANK;
    for (int64_t i = 0; i < shape.rank && fits; i++) out->count *= out->dims[i] = shape.dims[i];
    out->rank = (int32_t)shape.rank;
    ov->api->shape_free(&shape);
    berth_type known = berth_ov_type(ov->year, ov->number, type);
    if (!fits || !berth_npy_type(known, &out->kind, &out->item_size) || out->kind == 'S')
        return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "an output of type %s cannot be kept in a file",
                          berth_type_name(known));
    BERTH_TRY(berth_ov_check(ov, ov->api->tensor_data(value, &data), BERTH_E_IO, "output"));
    out->data = data;
    return BERTH_OK;
}
