/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint: SHA-256 over a byte string that is written straight into the hash. docs/formats.md defines it; the
 * Python twin in tests/oracle/fingerprint.py is written from there. Two rules make it canonical: tensors are numbered
 * as the operations first name them, not as a reader made them, and attributes are sorted by name. And one makes it
 * unambiguous: every text has its length in front and every list its count, so no two models share a byte string. */
#include "graph/fingerprint.h"

#include "base/sha256.h"
#include "base/sort.h"

#include <string.h>

typedef struct writer {
    const berth_graph *graph;
    berth_sha256 sha;
    int32_t *number; /* of each tensor: 1, 2, ...; 0: not met yet */
    int32_t *met;    /* tensors by number - 1 */
    int32_t n_met;
    int32_t *sorted; /* attributes of one operation, by name */
} writer;

static void put_number(writer *w, int64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
    berth_sha256_update(&w->sha, bytes, sizeof bytes);
}

static void put_double(writer *w, double value) {
    int64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    put_number(w, bits);
}

static void put_bytes(writer *w, const void *bytes, size_t n) {
    put_number(w, (int64_t)n);
    berth_sha256_update(&w->sha, bytes, n);
}

static void put_text(writer *w, const char *text) {
    put_bytes(w, text, strlen(text));
}

/* A tensor by its number, which it gets when it is first met; 0 for a port left out. */
static void put_tensor_number(writer *w, int32_t tensor) {
    if (tensor >= 0 && w->number[tensor] == 0) {
        w->met[w->n_met] = tensor;
        w->number[tensor] = ++w->n_met;
    }
    put_number(w, tensor < 0 ? 0 : w->number[tensor]);
}

static void put_tensor_numbers(writer *w, const int32_t *tensors, int32_t n) {
    put_number(w, n);
    for (int32_t i = 0; i < n; i++) put_tensor_number(w, tensors[i]);
}

/* Where a constant lies in the weights file is no part of the model. */
static bool is_location(const writer *w, const berth_op *op, const berth_attribute *attribute) {
    return w->graph->format == BERTH_FORMAT_OPENVINO_IR && strcmp(attribute->name, "offset") == 0 &&
           strcmp(op->type, "Const") == 0;
}

static bool comes_before(const void *attributes, int32_t a, int32_t b) {
    int side = strcmp(((const berth_attribute *)attributes)[a].name, ((const berth_attribute *)attributes)[b].name);
    return side < 0 || (side == 0 && a < b);
}

static void put_attribute(writer *w, const berth_attribute *attribute) {
    put_text(w, attribute->name);
    put_number(w, attribute->kind);
    put_number(w, attribute->is_list);
    switch (attribute->kind) {
    case BERTH_ATTRIBUTE_INTS:
        put_number(w, attribute->count);
        for (int32_t i = 0; i < attribute->count; i++) put_number(w, attribute->ints[i]);
        break;
    case BERTH_ATTRIBUTE_FLOATS:
        put_number(w, attribute->count);
        for (int32_t i = 0; i < attribute->count; i++) put_double(w, attribute->floats[i]);
        break;
    case BERTH_ATTRIBUTE_STRING:
    case BERTH_ATTRIBUTE_OPAQUE: put_bytes(w, attribute->string, (size_t)attribute->count); break;
    }
}

static void put_op(writer *w, const berth_op *op) {
    put_text(w, op->flags & BERTH_OP_UNNAMED ? "" : op->name);
    put_text(w, op->type);
    put_text(w, op->domain);
    int32_t n = 0;
    for (int32_t i = 0; i < op->n_attributes; i++)
        if (!is_location(w, op, &op->attributes[i])) w->sorted[n++] = i;
    berth_sort(w->sorted, (size_t)n, comes_before, op->attributes);
    put_number(w, n);
    for (int32_t i = 0; i < n; i++) put_attribute(w, &op->attributes[w->sorted[i]]);
    put_number(w, op->n_bodies);
    put_number(w, op->n_nested_ops);
    put_number(w, op->blob_bytes);
    put_tensor_numbers(w, op->inputs, op->n_inputs);
    put_tensor_numbers(w, op->n_captures ? op->inputs + op->n_inputs : NULL, op->n_captures);
    put_tensor_numbers(w, op->outputs, op->n_outputs);
}

static void put_tensor(writer *w, const berth_tensor *tensor) {
    put_text(w, tensor->name);
    put_text(w, berth_type_name(tensor->type));
    put_number(w, tensor->shape.rank);
    for (int32_t i = 0; i < tensor->shape.rank; i++) {
        const berth_dim *dim = &tensor->shape.dims[i];
        put_number(w, dim->min);
        put_number(w, dim->max);
        put_text(w, dim->symbol ? dim->symbol : "");
    }
    put_number(w, (tensor->flags & BERTH_TENSOR_INITIALIZER) != 0);
    put_number(w, tensor->content != NULL);
    if (tensor->content) put_bytes(w, tensor->content, (size_t)tensor->content_size);
}

/* A table that the file may not have. */
static void put_doubles(writer *w, const double *values, size_t n) {
    put_number(w, values ? (int64_t)n : -1);
    for (size_t i = 0; values && i < n; i++) put_double(w, values[i]);
}

static void put_given(writer *w, const berth_given_costs *given) {
    size_t n_devices = (size_t)given->n_devices, n_ops = (size_t)w->graph->n_ops;
    size_t n_edges = (size_t)w->graph->n_edges + (size_t)w->graph->n_captures;
    put_number(w, given->n_devices);
    for (size_t i = 0; i < n_devices; i++) put_text(w, given->device_names[i]);
    put_doubles(w, given->op_ms, n_ops * n_devices);
    put_doubles(w, given->edge_ms, n_edges * n_devices * n_devices);
    put_doubles(w, given->edge_amount, n_edges);
    put_doubles(w, given->link_ms, n_devices * n_devices);
    put_doubles(w, given->op_memory, n_ops);
    put_doubles(w, given->capacity, n_devices);
    put_number(w, given->colour ? (int64_t)n_ops : -1);
    for (size_t i = 0; given->colour && i < n_ops; i++) put_number(w, given->colour[i]);
    put_number(w, given->backward ? (int64_t)n_ops : -1);
    for (size_t i = 0; given->backward && i < n_ops; i++) put_number(w, given->backward[i]);
    put_number(w, given->max_cpus);
}

static void put_graph(writer *w) {
    const berth_graph *graph = w->graph;
    put_text(w, "berth fingerprint 1");
    put_tensor_numbers(w, graph->inputs, graph->n_inputs);
    put_number(w, graph->n_ops);
    for (int32_t op = 0; op < graph->n_ops; op++) put_op(w, &graph->ops[op]);
    put_tensor_numbers(w, graph->outputs, graph->n_outputs);
    for (int32_t t = 0; t < graph->n_tensors; t++) /* what nothing names comes last, in file order */
        if (w->number[t] == 0) w->met[w->n_met++] = t;
    put_number(w, w->n_met);
    for (int32_t i = 0; i < w->n_met; i++) put_tensor(w, &graph->tensors[w->met[i]]);
    put_number(w, graph->given != NULL);
    if (graph->given) put_given(w, graph->given);
}

bool berth_graph_fingerprint_set(berth_graph *graph) {
    int32_t most = 0;
    for (int32_t op = 0; op < graph->n_ops; op++)
        if (graph->ops[op].n_attributes > most) most = graph->ops[op].n_attributes;
    berth_mark mark = berth_arena_mark(&graph->arena);
    writer w = {.graph = graph};
    w.number = berth_arena_push(&graph->arena, (size_t)graph->n_tensors, sizeof *w.number);
    w.met = berth_arena_push(&graph->arena, (size_t)graph->n_tensors, sizeof *w.met);
    w.sorted = berth_arena_push(&graph->arena, (size_t)most, sizeof *w.sorted);
    bool ready = !graph->arena.failed;
    if (ready) {
        unsigned char digest[BERTH_SHA256_SIZE];
        berth_sha256_init(&w.sha);
        put_graph(&w);
        berth_sha256_finish(&w.sha, digest);
        berth_sha256_hex(digest, graph->fingerprint);
    }
    berth_arena_release(&graph->arena, mark);
    return ready;
}
