/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of protobuf messages for tests, and on it just enough of ONNX to write small models, good and bad.
 *
 *     proto graph = {0};
 *     proto_message(&graph, 1, onnx_node("Relu", "x", "y"));    takes the inner message and frees it
 *     proto_message(&graph, 11, onnx_value("x", 1, "2,3"));
 *     proto model = onnx_model(graph);
 *     ... model.bytes, model.n ...
 *     proto_free(&model);
 */
#ifndef BERTH_TESTS_PROTO_H
#define BERTH_TESTS_PROTO_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct proto {
    char *bytes;
    size_t n, capacity;
} proto;

static inline void proto_free(proto *p) {
    free(p->bytes);
    *p = (proto){0};
}

static inline void proto_raw(proto *p, const void *bytes, size_t n) {
    if (p->n + n > p->capacity) {
        p->capacity = (p->n + n) * 2;
        p->bytes = realloc(p->bytes, p->capacity);
        if (!p->bytes) abort();
    }
    if (n) memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
}

static inline void proto_varint(proto *p, uint64_t value) {
    do {
        unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        proto_raw(p, &byte, 1);
        value >>= 7;
    } while (value);
}

static inline void proto_tag(proto *p, uint32_t field, int wire_type) {
    proto_varint(p, (uint64_t)field << 3 | (uint64_t)wire_type);
}

static inline void proto_int(proto *p, uint32_t field, int64_t value) {
    proto_tag(p, field, 0);
    proto_varint(p, (uint64_t)value);
}

static inline void proto_bytes(proto *p, uint32_t field, const void *bytes, size_t n) {
    proto_tag(p, field, 2);
    proto_varint(p, n);
    proto_raw(p, bytes, n);
}

static inline void proto_text(proto *p, uint32_t field, const char *text) {
    proto_bytes(p, field, text, strlen(text));
}

static inline void proto_float(proto *p, uint32_t field, float value) {
    proto_tag(p, field, 5);
    proto_raw(p, &value, sizeof value);
}

static inline void proto_message(proto *p, uint32_t field, proto inner) {
    proto_bytes(p, field, inner.bytes, inner.n);
    proto_free(&inner);
}

/* One text field for each of the names, which are parted by commas; "a,,b" has an empty one, "" none. */
static inline void proto_names(proto *p, uint32_t field, const char *names) {
    while (*names) {
        size_t n = strcspn(names, ",");
        proto_bytes(p, field, names, n);
        names += n;
        if (*names == ',') names++;
    }
}

static inline proto onnx_node(const char *type, const char *inputs, const char *outputs) {
    proto node = {0};
    proto_names(&node, 1, inputs);
    proto_names(&node, 2, outputs);
    if (*type) proto_text(&node, 4, type);
    return node;
}

/* Dimensions as text: "2,n,3"; NULL: no shape. */
static inline proto onnx_type(int element, const char *dims) {
    proto type = {0}, tensor = {0}, shape = {0};
    proto_int(&tensor, 1, element);
    while (dims && *dims) {
        size_t n = strcspn(dims, ",");
        proto dim = {0};
        if ((*dims >= '0' && *dims <= '9') || *dims == '-')
            proto_int(&dim, 1, strtoll(dims, NULL, 10));
        else
            proto_bytes(&dim, 2, dims, n);
        proto_message(&shape, 1, dim);
        dims += n;
        if (*dims == ',') dims++;
    }
    if (dims) proto_message(&tensor, 2, shape);
    proto_message(&type, 1, tensor);
    return type;
}

static inline proto onnx_value(const char *name, int element, const char *dims) {
    proto value = {0};
    proto_text(&value, 1, name);
    proto_message(&value, 2, onnx_type(element, dims));
    return value;
}

/* A tensor of that name, element type and one dimension (negative: a scalar), without data. */
static inline proto onnx_tensor(const char *name, int element, int64_t n) {
    proto tensor = {0};
    if (n >= 0) proto_int(&tensor, 1, n);
    proto_int(&tensor, 2, element);
    proto_text(&tensor, 8, name);
    return tensor;
}

static inline proto onnx_raw_tensor(const char *name, int element, int64_t n, size_t size) {
    proto tensor = onnx_tensor(name, element, n);
    char *zeros = calloc(size + 1, 1);
    if (!zeros) abort();
    proto_bytes(&tensor, 9, zeros, size);
    free(zeros);
    return tensor;
}

static inline proto onnx_attribute(const char *name, int type) {
    proto attribute = {0};
    proto_text(&attribute, 1, name);
    if (type) proto_int(&attribute, 20, type);
    return attribute;
}

static inline proto onnx_model(proto graph) {
    proto model = {0}, opset = {0};
    proto_int(&model, 1, 8);
    proto_message(&model, 7, graph);
    proto_int(&opset, 2, 17);
    proto_message(&model, 8, opset);
    return model;
}

#endif
