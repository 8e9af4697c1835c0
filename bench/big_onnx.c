/* SPDX-License-Identifier: Apache-2.0 */
/* A model file of any size, written field by field. Protobuf puts the length of a message before its content, and the
 * graph is one message around everything: so the graph is produced twice by the same code, first only counted, then
 * written. Payloads are never held in memory. Field numbers are those of onnx.proto. */
#include "big_onnx.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { VARINT = 0, BYTES = 2 };        /* wire types */
enum { FLOAT = 1, DATA_EXTERNAL = 1 }; /* TensorProto.DataType, TensorProto.DataLocation */

/* Where bytes go: to a file, or, without one, only into the count. */
typedef struct sink {
    FILE *file;
    uint64_t size;
} sink;

static void put(sink *out, const void *bytes, size_t n) {
    if (out->file) fwrite(bytes, 1, n, out->file);
    out->size += n;
}

/* A message small enough to be put together before it is written. */
typedef struct message {
    size_t size;
    unsigned char bytes[512];
} message;

static void add_bytes(message *m, const void *bytes, size_t n) {
    assert(m->size + n <= sizeof m->bytes);
    memcpy(m->bytes + m->size, bytes, n);
    m->size += n;
}

static void add_varint(message *m, uint64_t value) {
    for (; value >= 0x80; value >>= 7) add_bytes(m, &(unsigned char){(unsigned char)(value | 0x80)}, 1);
    add_bytes(m, &(unsigned char){(unsigned char)value}, 1);
}

static void add_int(message *m, int field, uint64_t value) {
    add_varint(m, (uint64_t)field << 3 | VARINT);
    add_varint(m, value);
}

/* The start of a field of `n` bytes that follow. */
static void add_head(message *m, int field, uint64_t n) {
    add_varint(m, (uint64_t)field << 3 | BYTES);
    add_varint(m, n);
}

static void add_string(message *m, int field, const char *text) {
    add_head(m, field, strlen(text));
    add_bytes(m, text, strlen(text));
}

static void add_message(message *m, int field, const message *inner) {
    add_head(m, field, inner->size);
    add_bytes(m, inner->bytes, inner->size);
}

static void put_message(sink *out, int field, const message *m) {
    message head = {0};
    add_head(&head, field, m->size);
    put(out, head.bytes, head.size);
    put(out, m->bytes, m->size);
}

static void put_node(sink *out, const char *type, int layer, const char *first, const char *second) {
    message node = {0};
    char name[64];
    add_string(&node, 1, first);
    if (second) add_string(&node, 1, second);
    snprintf(name, sizeof name, "%s_%d", type, layer);
    add_string(&node, 2, name);
    add_string(&node, 3, name);
    add_string(&node, 4, type);
    put_message(out, 1, &node);
}

static void put_value(sink *out, int field, const char *name, int width) {
    message one = {0}, wide = {0}, shape = {0}, tensor = {0}, type = {0}, value = {0};
    add_int(&one, 1, 1);
    add_int(&wide, 1, (uint64_t)width);
    add_message(&shape, 1, &one);
    add_message(&shape, 1, &wide);
    add_int(&tensor, 1, FLOAT);
    add_message(&tensor, 2, &shape);
    add_message(&type, 1, &tensor);
    add_string(&value, 1, name);
    add_message(&value, 2, &type);
    put_message(out, field, &value);
}

static void add_entry(message *tensor, const char *key, const char *text) {
    message entry = {0};
    add_string(&entry, 1, key);
    add_string(&entry, 2, text);
    add_message(tensor, 13, &entry);
}

/* Written out, not left as a hole: the pages are to be in the cache as those of a real file. */
static void put_payload(sink *out, uint64_t n) {
    static const char pattern[1 << 16] = "weights";
    if (!out->file) {
        out->size += n;
        return;
    }
    for (; n > sizeof pattern; n -= sizeof pattern) put(out, pattern, sizeof pattern);
    put(out, pattern, n);
}

static void put_weight(sink *out, const big_onnx *model, const char *name, int rank, uint64_t *offset) {
    uint64_t width = (uint64_t)model->width, n = (rank == 2 ? width * width : width) * sizeof(float);
    message tensor = {0}, head = {0};
    for (int i = 0; i < rank; i++) add_int(&tensor, 1, width);
    add_int(&tensor, 2, FLOAT);
    add_string(&tensor, 8, name);
    if (model->external) {
        char number[32];
        add_entry(&tensor, "location", "weights.bin");
        snprintf(number, sizeof number, "%llu", (unsigned long long)*offset);
        add_entry(&tensor, "offset", number);
        snprintf(number, sizeof number, "%llu", (unsigned long long)n);
        add_entry(&tensor, "length", number);
        add_int(&tensor, 14, DATA_EXTERNAL);
    } else {
        add_head(&tensor, 9, n);
    }
    add_head(&head, 5, tensor.size + (model->external ? 0 : n));
    put(out, head.bytes, head.size);
    put(out, tensor.bytes, tensor.size);
    if (!model->external) put_payload(out, n);
    *offset += n;
}

static void put_graph(sink *out, const big_onnx *model) {
    char before[64] = "input", weight[64], bias[64], name[64];
    for (int layer = 0; layer < model->layers; layer++) {
        snprintf(weight, sizeof weight, "weight_%d", layer);
        put_node(out, "MatMul", layer, before, weight);
        snprintf(name, sizeof name, "MatMul_%d", layer);
        snprintf(bias, sizeof bias, "bias_%d", layer);
        put_node(out, "Add", layer, name, bias);
        snprintf(name, sizeof name, "Add_%d", layer);
        put_node(out, "Relu", layer, name, NULL);
        snprintf(before, sizeof before, "Relu_%d", layer);
    }
    message graph_name = {0};
    add_string(&graph_name, 2, "big");
    put(out, graph_name.bytes, graph_name.size);
    uint64_t offset = 0;
    for (int layer = 0; layer < model->layers; layer++) {
        snprintf(weight, sizeof weight, "weight_%d", layer);
        put_weight(out, model, weight, 2, &offset);
        snprintf(bias, sizeof bias, "bias_%d", layer);
        put_weight(out, model, bias, 1, &offset);
    }
    put_value(out, 11, "input", model->width);
    put_value(out, 12, before, model->width);
}

uint64_t big_onnx_payload(const big_onnx *model) {
    uint64_t width = (uint64_t)model->width;
    return (uint64_t)model->layers * (width * width + width) * sizeof(float);
}

bool big_onnx_write(const big_onnx *model, const char *path) {
    sink count = {0}, out = {fopen(path, "wbx"), 0};
    if (!out.file) return false;
    put_graph(&count, model);
    message head = {0}, opset = {0};
    add_int(&head, 1, 8); /* ir_version */
    add_head(&head, 7, count.size);
    put(&out, head.bytes, head.size);
    put_graph(&out, model);
    add_string(&opset, 1, "");
    add_int(&opset, 2, 17);
    put_message(&out, 8, &opset);
    bool good = !ferror(out.file);
    return fclose(out.file) == 0 && good;
}
