/* SPDX-License-Identifier: Apache-2.0 */
/* A binding names a model input and gives all its dimensions. Where the file calls a dimension by a symbol, the binding
 * gives the symbol its value, and every declared dimension of that symbol takes it. Two bindings must not give one
 * symbol two values. Shapes are replaced, never written to: tensors may share them. */
#include "read/onnx_bind.h"

#include "graph/element.h"

#include <inttypes.h>
#include <string.h>

/* Values of symbols; a map from the symbol to a row. */
typedef struct symbols {
    berth_map rows;
    BERTH_VEC(int64_t) values;
} symbols;

static berth_status fail_unknown(berth_build *b, const char *input) {
    const berth_graph *graph = b->graph;
    char list[400] = "";
    size_t used = 0;
    for (int32_t i = 0; i < graph->n_inputs && used < sizeof list - 1; i++) {
        const char *name = graph->tensors[graph->inputs[i]].name;
        size_t n = strlen(name), room = sizeof list - 1 - used;
        if (n + 2 > room) n = room > 2 ? room - 2 : 0;
        if (i > 0 && n) memcpy(list + used, ", ", 2), used += 2;
        memcpy(list + used, name, n);
        used += n;
    }
    return berth_build_fail(b, BERTH_E_ARG, -1, "there is no model input '%.100s'; the inputs are: %s", input, list);
}

static berth_status bind_symbol(berth_build *b, symbols *s, const char *symbol, int64_t value) {
    bool fresh = false;
    int32_t *row = berth_map_insert(&s->rows, symbol, strlen(symbol), (int32_t)s->values.n, &fresh);
    if (!row) return berth_fail_nomem(b->ctx);
    if (fresh)
        return berth_vec_push(berth_ctx_allocator(b->ctx), &s->values, value) ? BERTH_OK : berth_fail_nomem(b->ctx);
    if (s->values.items[*row] == value) return BERTH_OK;
    return berth_build_fail(b, BERTH_E_ARG, -1, "the dimension '%.100s' is bound to both %" PRId64 " and %" PRId64,
                            symbol, s->values.items[*row], value);
}

static berth_status bind_input(berth_build *b, symbols *s, berth_tensor *tensor, const berth_shape_binding *binding) {
    const berth_shape *shape = &tensor->shape;
    if (binding->rank < 0 || binding->rank > BERTH_MAX_RANK || (shape->rank >= 0 && shape->rank != binding->rank))
        return berth_build_fail(b, BERTH_E_ARG, -1, "the input '%.200s' has %d dimensions, the shape given has %d",
                                tensor->name, (int)shape->rank, (int)binding->rank);
    berth_dim *dims = berth_arena_push(berth_build_arena(b), (size_t)binding->rank, sizeof *dims);
    if (!dims) return berth_fail_nomem(b->ctx);
    for (int32_t i = 0; i < binding->rank; i++) {
        int64_t value = binding->dims[i];
        dims[i] = berth_dim_static(value);
        if (value < 0)
            return berth_build_fail(b, BERTH_E_ARG, -1, "the shape given for '%.200s' has dimension %" PRId64,
                                    tensor->name, value);
        if (shape->rank < 0) continue;
        const berth_dim *old = &shape->dims[i];
        if (berth_dim_is_static(old) && old->min != value)
            return berth_build_fail(b, BERTH_E_ARG, -1,
                                    "dimension %d of the input '%.200s' is %" PRId64 ", the shape given has %" PRId64,
                                    (int)i, tensor->name, old->min, value);
        dims[i].symbol = old->symbol;
        if (old->symbol && !berth_dim_is_static(old)) BERTH_TRY(bind_symbol(b, s, old->symbol, value));
    }
    tensor->shape = (berth_shape){binding->rank, dims};
    if (berth_shape_product_fits(&tensor->shape, berth_type_bits(tensor->type))) return BERTH_OK;
    return berth_build_fail(b, BERTH_E_ARG, -1, "the shape given for '%.200s' goes beyond 64 bits", tensor->name);
}

static berth_status bind_all(berth_build *b, symbols *s, const berth_read_options *options) {
    for (int32_t i = 0; i < options->n_shapes; i++) {
        const berth_shape_binding *binding = &options->shapes[i];
        int32_t index = berth_build_find(b, binding->input, strlen(binding->input));
        if (index < 0 || !(b->graph->tensors[index].flags & BERTH_TENSOR_INPUT)) return fail_unknown(b, binding->input);
        BERTH_TRY(bind_input(b, s, &b->graph->tensors[index], binding));
    }
    return BERTH_OK;
}

/* Give every declared dimension of a bound symbol its value. */
static berth_status spread(berth_build *b, const symbols *s) {
    for (int32_t t = 0; t < b->graph->n_tensors; t++) {
        berth_tensor *tensor = &b->graph->tensors[t];
        berth_dim *dims = NULL;
        for (int32_t i = 0; i < tensor->shape.rank; i++) {
            const berth_dim *old = &tensor->shape.dims[i];
            if (!old->symbol || berth_dim_is_static(old)) continue;
            const int32_t *row = berth_map_find(&s->rows, old->symbol, strlen(old->symbol));
            if (!row) continue;
            size_t rank = (size_t)tensor->shape.rank;
            if (!dims) dims = berth_arena_copy(berth_build_arena(b), tensor->shape.dims, rank, sizeof *dims);
            if (!dims) return berth_fail_nomem(b->ctx);
            dims[i].min = dims[i].max = s->values.items[*row];
        }
        if (dims) tensor->shape.dims = dims;
    }
    return BERTH_OK;
}

berth_status berth_onnx_bind(berth_build *b, const berth_read_options *options) {
    if (options->n_shapes == 0) return BERTH_OK;
    symbols s = {0};
    berth_map_init(&s.rows, b->ctx);
    berth_status status = bind_all(b, &s, options);
    if (status == BERTH_OK) status = spread(b, &s);
    berth_map_deinit(&s.rows);
    berth_vec_free(berth_ctx_allocator(b->ctx), &s.values);
    return status;
}
