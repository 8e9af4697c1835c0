/* SPDX-License-Identifier: Apache-2.0 */
/* The door between an inference function and the graph: inputs and attributes come out checked, outputs go in merged
 * with what the file declares. Two rules keep memory within a small multiple of the file: an output of the same shape
 * as one of the inputs shares its dimensions, and the dimensions that are new come out of a budget in proportion to the
 * number of tensors (beyond it shapes stay unknown; only a file made to exhaust it gets there). */
#include "read/infer_op.h"

#include "read/onnx_tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

berth_status berth_infer_refuse(berth_infer *in, const char *format, ...) {
    char text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return berth_build_fail(in->b, BERTH_E_FORMAT, in->op->where, "%.60s '%.200s': %s", in->op->type, in->op->name,
                            text);
}

berth_status berth_infer_overflow(berth_infer *in) {
    return berth_infer_refuse(in, "dimensions multiply beyond 64 bits");
}

const char *berth_dims_text(const berth_dims *dims, char buffer[BERTH_DIMS_TEXT]) {
    size_t used = 0;
    if (dims->rank < 0) return "a shape of unknown rank";
    if (dims->rank == 0) return "a scalar";
    for (int32_t i = 0; i < dims->rank; i++) {
        if (used > BERTH_DIMS_TEXT - 30) {
            snprintf(buffer + used, BERTH_DIMS_TEXT - used, "x...");
            break;
        }
        const char *cross = i > 0 ? "x" : "";
        int n = berth_dim_is_static(&dims->at[i])
                    ? snprintf(buffer + used, BERTH_DIMS_TEXT - used, "%s%" PRId64, cross, dims->at[i].min)
                    : snprintf(buffer + used, BERTH_DIMS_TEXT - used, "%s?", cross);
        used += (size_t)n;
    }
    return buffer;
}

/* --- inputs --- */

static int32_t input_of(const berth_infer *in, int32_t port) {
    return port >= 0 && port < in->op->n_inputs ? in->op->inputs[port] : -1;
}

const berth_tensor *berth_infer_in(const berth_infer *in, int32_t port) {
    int32_t tensor = input_of(in, port);
    return tensor < 0 ? NULL : &in->graph->tensors[tensor];
}

berth_type berth_infer_type(const berth_infer *in, int32_t port) {
    const berth_tensor *tensor = berth_infer_in(in, port);
    return tensor ? tensor->type : BERTH_TYPE_UNKNOWN;
}

bool berth_infer_dims(const berth_infer *in, int32_t port, berth_dims *dims) {
    const berth_tensor *tensor = berth_infer_in(in, port);
    dims->rank = tensor ? tensor->shape.rank : -1;
    for (int32_t i = 0; i < dims->rank; i++) dims->at[i] = tensor->shape.dims[i];
    return dims->rank >= 0;
}

berth_status berth_infer_rank(berth_infer *in, int32_t port, int32_t low, int32_t high) {
    const berth_tensor *tensor = berth_infer_in(in, port);
    if (!tensor || tensor->shape.rank < 0 || (tensor->shape.rank >= low && tensor->shape.rank <= high)) return BERTH_OK;
    if (low == high)
        return berth_infer_refuse(in, "input %d has %d dimensions instead of %d", (int)port, (int)tensor->shape.rank,
                                  (int)low);
    return berth_infer_refuse(in, "input %d has %d dimensions, which is not within %d .. %d", (int)port,
                              (int)tensor->shape.rank, (int)low, (int)high);
}

bool berth_infer_scalar(berth_infer *in, int32_t port, int64_t *scalar) {
    const berth_value *value = berth_infer_value(in, port);
    if (!value || value->n != 1 || !value->ints || !berth_dim_is_static(&value->ints[0])) return false;
    *scalar = value->ints[0].min;
    return true;
}

/* --- attributes --- */

static const berth_attribute *attribute_of(berth_infer *in, const char *name, berth_attribute_kind kind) {
    static const char *const wanted[] = {"integers", "floating point numbers", "text", "a tensor"};
    const berth_attribute *attribute = berth_op_attribute(in->op, name);
    if (!attribute || attribute->kind == kind) return attribute;
    if (in->status == BERTH_OK)
        in->status = berth_infer_refuse(in, "attribute '%s' does not hold %s", name, wanted[kind]);
    return NULL;
}

bool berth_infer_given(const berth_infer *in, const char *name) {
    return berth_op_attribute(in->op, name) != NULL;
}

int64_t berth_infer_int(berth_infer *in, const char *name, int64_t fallback) {
    const berth_attribute *attribute = attribute_of(in, name, BERTH_ATTRIBUTE_INTS);
    if (!attribute) return fallback;
    if (attribute->count == 1) return attribute->ints[0];
    if (in->status == BERTH_OK)
        in->status = berth_infer_refuse(in, "attribute '%s' has %d values instead of one", name, (int)attribute->count);
    return fallback;
}

const int64_t *berth_infer_ints(berth_infer *in, const char *name, int32_t *n) {
    const berth_attribute *attribute = attribute_of(in, name, BERTH_ATTRIBUTE_INTS);
    *n = attribute ? attribute->count : 0;
    return attribute ? attribute->ints : NULL;
}

bool berth_infer_says(berth_infer *in, const char *name, const char *text, bool fallback) {
    const berth_attribute *attribute = attribute_of(in, name, BERTH_ATTRIBUTE_STRING);
    if (!attribute) return fallback;
    return (size_t)attribute->count == strlen(text) && memcmp(attribute->string, text, strlen(text)) == 0;
}

/* The entries of an input: known only if all of them are. */
static berth_status list_of_input(berth_infer *in, const char *name, int32_t port, berth_list *list) {
    const berth_tensor *tensor = berth_infer_in(in, port);
    if (!tensor) return BERTH_OK;
    list->state = BERTH_LIST_UNKNOWN;
    list->n = -1;
    int64_t elements = berth_shape_elements(&tensor->shape);
    if (elements > BERTH_MAX_RANK) return berth_infer_refuse(in, "'%s' has %" PRId64 " entries", name, elements);
    list->n = (int32_t)elements;
    const berth_value *value = berth_infer_value(in, port);
    if (!value || !value->ints) return BERTH_OK;
    for (int32_t i = 0; i < value->n; i++) {
        if (!berth_dim_is_static(&value->ints[i])) return BERTH_OK;
        list->at[i] = value->ints[i].min;
    }
    list->state = BERTH_LIST_KNOWN;
    return BERTH_OK;
}

berth_status berth_infer_list(berth_infer *in, const char *name, int32_t port, berth_list *list) {
    list->state = BERTH_LIST_ABSENT;
    list->n = 0;
    int32_t n = 0;
    const int64_t *ints = berth_infer_ints(in, name, &n);
    if (!ints) return list_of_input(in, name, port, list);
    if (n > BERTH_MAX_RANK) return berth_infer_refuse(in, "'%s' has %d entries", name, (int)n);
    for (int32_t i = 0; i < n; i++) list->at[i] = ints[i];
    list->n = n;
    list->state = BERTH_LIST_KNOWN;
    return BERTH_OK;
}

berth_status berth_infer_axis(berth_infer *in, int64_t axis, int32_t rank, int32_t *out) {
    if (axis < -(int64_t)rank || axis >= rank)
        return berth_infer_refuse(in, "axis %" PRId64 " of %d dimensions", axis, (int)rank);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return BERTH_OK;
}

berth_status berth_infer_axes(berth_infer *in, const berth_list *list, int32_t rank, bool marks[BERTH_MAX_RANK]) {
    memset(marks, 0, BERTH_MAX_RANK * sizeof *marks);
    for (int32_t i = 0; i < list->n; i++) {
        int32_t axis = 0;
        BERTH_TRY(berth_infer_axis(in, list->at[i], rank, &axis));
        marks[axis] = true;
    }
    return BERTH_OK;
}

berth_type berth_infer_type_named(berth_infer *in, const char *name, berth_type fallback) {
    int64_t number = berth_infer_int(in, name, 0);
    berth_type type = berth_onnx_element(number);
    if (type == BERTH_TYPE_COUNT && in->status == BERTH_OK)
        in->status = berth_infer_refuse(in, "'%s' is %" PRId64 ", which is no element type", name, number);
    return type == BERTH_TYPE_COUNT || type == BERTH_TYPE_UNKNOWN ? fallback : type;
}

/* --- dimensions --- */

bool berth_dim_agree(const berth_dim *a, const berth_dim *b) {
    return !berth_dim_is_static(a) || !berth_dim_is_static(b) || a->min == b->min;
}

/* Some exporters write one of these for every dimension that is not known; then equal symbols say nothing. */
static bool is_placeholder(const char *symbol) {
    static const char *const words[] = {"None", "?", "-1", "unk", "unknown", "dynamic"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(symbol, words[i]) == 0) return true;
    return false;
}

bool berth_dim_equal(const berth_dim *a, const berth_dim *b) {
    if (berth_dim_is_static(a) || berth_dim_is_static(b)) return a->min == b->min && a->max == b->max;
    return a->symbol && b->symbol && strcmp(a->symbol, b->symbol) == 0 && !is_placeholder(a->symbol);
}

berth_dim berth_dim_best(const berth_dim *a, const berth_dim *b) {
    if (berth_dim_is_static(a)) return *a;
    if (berth_dim_is_static(b)) return *b;
    return a->symbol ? *a : *b;
}

bool berth_dim_add(berth_dim *dim, const berth_dim *by) {
    if (berth_dim_is(by, 0)) return true;
    if (berth_dim_is(dim, 0)) {
        *dim = *by;
        return true;
    }
    bool known = berth_dim_is_static(dim) && berth_dim_is_static(by);
    int64_t sum = 0;
    if (known && __builtin_add_overflow(dim->min, by->min, &sum)) return false;
    *dim = known ? berth_dim_static(sum) : berth_dim_unknown();
    return true;
}

bool berth_dim_multiply(berth_dim *dim, const berth_dim *by) {
    if (berth_dim_is(by, 1) || berth_dim_is(dim, 0)) return true;
    if (berth_dim_is(dim, 1) || berth_dim_is(by, 0)) {
        *dim = *by;
        return true;
    }
    bool known = berth_dim_is_static(dim) && berth_dim_is_static(by);
    int64_t product = 0;
    if (known && __builtin_mul_overflow(dim->min, by->min, &product)) return false;
    *dim = known ? berth_dim_static(product) : berth_dim_unknown();
    return true;
}

bool berth_dims_product(const berth_dims *dims, int32_t first, int32_t end, berth_dim *product) {
    *product = berth_dim_static(1);
    for (int32_t i = first; i < end; i++)
        if (berth_dim_is(&dims->at[i], 0)) {
            *product = berth_dim_static(0);
            return true;
        }
    for (int32_t i = first; i < end; i++)
        if (!berth_dim_multiply(product, &dims->at[i])) return false;
    return true;
}

void berth_dims_blank(berth_dims *dims, int32_t rank) {
    dims->rank = rank;
    for (int32_t i = 0; i < rank; i++) dims->at[i] = berth_dim_unknown();
}

/* One dimension against one: a size other than 1 decides, for the other must be that size or 1. */
static bool broadcast_dim(berth_dim *dim, const berth_dim *more) {
    if (!berth_dim_agree(dim, more) && !berth_dim_is(dim, 1) && !berth_dim_is(more, 1)) return false;
    if (berth_dim_is(more, 1) || berth_dim_equal(dim, more)) return true;
    if (berth_dim_is(dim, 1) || berth_dim_is_static(more))
        *dim = *more;
    else if (!berth_dim_is_static(dim))
        *dim = berth_dim_unknown();
    return true;
}

berth_status berth_infer_broadcast(berth_infer *in, berth_dims *dims, const berth_dims *more) {
    if (dims->rank < 0 || more->rank < 0) {
        dims->rank = -1;
        return BERTH_OK;
    }
    berth_dims before;
    berth_dims_assign(&before, dims);
    if (more->rank > dims->rank) {
        int32_t extra = more->rank - dims->rank;
        memmove(dims->at + extra, dims->at, (size_t)dims->rank * sizeof *dims->at);
        for (int32_t i = 0; i < extra; i++) dims->at[i] = berth_dim_static(1);
        dims->rank = more->rank;
    }
    int32_t skip = dims->rank - more->rank;
    for (int32_t i = 0; i < more->rank; i++)
        if (!broadcast_dim(&dims->at[skip + i], &more->at[i])) {
            char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
            return berth_infer_refuse(in, "%s and %s do not broadcast", berth_dims_text(&before, a),
                                      berth_dims_text(more, b));
        }
    return BERTH_OK;
}

/* --- outputs --- */

static bool declaration_fits(const berth_shape *declared, const berth_dims *dims) {
    if (declared->rank < 0) return true;
    if (declared->rank != dims->rank) return false;
    /* Some exporters declare 0 where they mean a dimension that is not known. */
    for (int32_t i = 0; i < declared->rank; i++)
        if (!berth_dim_is(&declared->dims[i], 0) && !berth_dim_agree(&declared->dims[i], &dims->at[i])) return false;
    return true;
}

/* What the file declares against what follows; the result is in `dims`. A declaration that contradicts is only a note
 * that someone forgot (a batch size changed by hand, say): runtimes go by what follows, with a warning, and so do we.
 */
static void merge_declared(berth_infer *in, const berth_tensor *tensor, berth_dims *dims) {
    const berth_shape *declared = &tensor->shape;
    if (!declaration_fits(declared, dims)) {
        berth_dims other = {.rank = declared->rank};
        for (int32_t i = 0; i < other.rank; i++) other.at[i] = declared->dims[i];
        char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
        berth_log(in->b->ctx, in->n_ignored++ ? BERTH_LOG_INFO : BERTH_LOG_WARNING,
                  "the file declares %s for '%.100s', which follows to be %s: the declaration is ignored",
                  berth_dims_text(&other, a), tensor->name, berth_dims_text(dims, b));
        return;
    }
    for (int32_t i = 0; i < declared->rank; i++) dims->at[i] = berth_dim_best(&dims->at[i], &declared->dims[i]);
}

static bool same_dims(const berth_shape *shape, const berth_dims *dims) {
    if (shape->rank != dims->rank) return false;
    for (int32_t i = 0; i < shape->rank; i++) {
        const berth_dim *a = &shape->dims[i], *b = &dims->at[i];
        if (a->min != b->min || a->max != b->max || a->symbol != b->symbol) return false;
    }
    return true;
}

/* The dimensions in memory that lives as long as the graph. */
static void store_dims(berth_infer *in, berth_tensor *tensor, const berth_dims *dims) {
    enum { LOOKED_AT = 4 };
    if (same_dims(&tensor->shape, dims)) return;
    for (int32_t port = 0; port < in->op->n_inputs && port < LOOKED_AT; port++) {
        const berth_tensor *input = berth_infer_in(in, port);
        if (input && same_dims(&input->shape, dims)) {
            tensor->shape = input->shape;
            return;
        }
    }
    if (dims->rank > in->dim_room) return;
    in->dim_room -= dims->rank;
    berth_dim *copy = berth_arena_copy(&in->graph->arena, dims->at, (size_t)dims->rank, sizeof *copy);
    if (copy) tensor->shape = (berth_shape){dims->rank, copy};
}

berth_status berth_infer_out(berth_infer *in, int32_t port, berth_type type, const berth_dims *dims) {
    if (port >= in->op->n_outputs || in->op->outputs[port] < 0) return BERTH_OK;
    berth_tensor *tensor = &in->graph->tensors[in->op->outputs[port]];
    if (type != BERTH_TYPE_UNKNOWN && tensor->type != BERTH_TYPE_UNKNOWN && type != tensor->type)
        return berth_infer_refuse(in, "the file declares '%.100s' as %s, which follows to be %s", tensor->name,
                                  berth_type_name(tensor->type), berth_type_name(type));
    if (type != BERTH_TYPE_UNKNOWN) tensor->type = type;
    if (!dims || dims->rank < 0) return BERTH_OK;
    berth_dims merged;
    berth_dims_assign(&merged, dims);
    merge_declared(in, tensor, &merged);
    store_dims(in, tensor, &merged);
    return BERTH_OK;
}

berth_status berth_infer_copy(berth_infer *in, int32_t port, berth_type type, int32_t from) {
    berth_dims dims;
    berth_infer_dims(in, from, &dims);
    return berth_infer_out(in, port, type, &dims);
}
