/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO IR, in two ways. An input that begins with a byte below 16 is a recipe: its bytes choose layers, ports,
 * shapes and edges, and the document written from them is well formed, mostly valid, and here and there wrong in one
 * detail; so mutations of few bytes reach the linking of graphs. Any other input is the document itself. */
#include "promise.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a recipe to a document ------------------------------------------------------------------------------- */

enum { MAX_TEXT = 1 << 15, MAX_LAYERS = 32, MAX_OUTPUTS = 128 };

typedef struct cook {
    const uint8_t *recipe;
    size_t n, at;
    char *text;
    size_t size;
    bool old; /* the syntax before version 10 */
    struct {
        unsigned layer, port;
    } outputs[MAX_OUTPUTS];
    unsigned n_outputs;
    struct {
        unsigned from_layer, from_port, to_layer, to_port;
    } edges[4 * MAX_LAYERS];
    unsigned n_edges;
} cook;

static unsigned take(cook *c) {
    return c->at < c->n ? c->recipe[c->at++] : 0;
}

/* True for one byte in 256: something is to be wrong. */
static bool spoil(cook *c) {
    return take(c) == 0xa5;
}

static void put(cook *c, const char *format, ...) BERTH_PRINTF(2, 3);

static void put(cook *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(c->text + c->size, MAX_TEXT - c->size, format, args);
    va_end(args);
    c->size += (size_t)n < MAX_TEXT - c->size ? (size_t)n : MAX_TEXT - c->size - 1;
}

static const char *pick(cook *c, const char *const *words, size_t n) {
    return words[take(c) % n];
}

static void put_dims(cook *c) {
    static const char *const sizes[] = {
        "1", "2", "3", "7", "224", "-1", "0", "?", " 5 ", "4294967296", "9223372036854775807", "-2"};
    unsigned rank = take(c) % 6;
    for (unsigned i = 0; i < rank; i++) {
        unsigned which = take(c);
        put(c, "<dim>%s</dim>", sizes[which < 0xf0 ? which % 8 : which % 12]);
    }
    if (spoil(c)) put(c, "<rt_info><dim>x</dim></rt_info>");
}

static const char *put_type(cook *c) {
    static const char *const types[] = {"FP32", "FP16", "I64", "I32", "U8",   "BOOL",    "STRING", "U4",
                                        "U1",   "U3",   "f32", "NF4", "BF16", "dynamic", "F8E4M3", "FP33"};
    unsigned which = take(c);
    return types[which < 0xf8 ? which % 15 : 15];
}

static void put_outputs(cook *c, unsigned layer, unsigned first, unsigned n) {
    if (n == 0) return;
    put(c, "<output>");
    for (unsigned i = 0; i < n; i++) {
        unsigned port = spoil(c) ? first : first + i;
        put(c, "<port id=\"%u\"", port);
        if (!c->old || take(c) % 2) put(c, " precision=\"%s\"", put_type(c));
        if (take(c) % 4 == 0) put(c, " names=\"t%u,x\\,y\"", take(c) % 8);
        put(c, ">");
        put_dims(c);
        put(c, "</port>");
        if (c->n_outputs < MAX_OUTPUTS) {
            c->outputs[c->n_outputs].layer = layer;
            c->outputs[c->n_outputs++].port = port;
        }
    }
    put(c, "</output>");
}

static void put_inputs(cook *c, unsigned layer, unsigned n) {
    if (n == 0) return;
    put(c, "<input>");
    for (unsigned i = 0; i < n; i++) {
        put(c, "<port id=\"%u\">", i);
        if (take(c) % 4 == 0) put_dims(c);
        put(c, "</port>");
        if (c->n_edges == sizeof c->edges / sizeof *c->edges || spoil(c)) continue;
        unsigned from = take(c) % c->n_outputs;
        c->edges[c->n_edges].from_layer = c->outputs[from].layer;
        c->edges[c->n_edges].from_port = c->outputs[from].port;
        c->edges[c->n_edges].to_layer = spoil(c) ? take(c) : layer;
        c->edges[c->n_edges++].to_port = spoil(c) ? take(c) : i;
    }
    put(c, "</input>");
}

static void put_body(cook *c, const char *name, unsigned depth) {
    unsigned n = take(c) % 4;
    put(c, "<%s><layers>", name);
    for (unsigned i = 0; i < n; i++) {
        put(c, "<layer id=\"%u\" type=\"Add\"><data offset=\"%u\" size=\"4\"/>", i, take(c));
        if (depth < 80 && take(c) % 4 == 0) put_body(c, "body", depth + 1);
        put(c, "</layer>");
    }
    put(c, "</layers><rt_info><a/></rt_info></%s>", name);
}

static void put_source(cook *c, bool is_const) {
    static const char *const shapes[] = {
        "1,3,8,8", "", "?", "-1,4", "1..10", "..10", "5..", "...", "2, 3", "1,,2", "4294967296,4294967296,4294967296",
        "[1]"};
    unsigned which = take(c);
    const char *shape = is_const && which < 0xf0 ? which % 2 ? "2,3" : "" : shapes[which % 12];
    if (c->old && is_const) {
        put(c, "<blobs><custom offset=\"%u\" size=\"%u\"/></blobs>", take(c), spoil(c) ? 1 : 4 * take(c));
    } else if (!c->old || take(c) % 2) {
        put(c, "<data element_type=\"%s\" shape=\"%s\"", put_type(c), shape);
        if (is_const) put(c, " offset=\"%u\" size=\"%s\"", take(c), spoil(c) ? "1" : "64");
        put(c, "/>");
    }
}

static void put_layer(cook *c, unsigned index) {
    static const struct {
        const char *name;
        unsigned n_inputs, n_outputs;
    } types[] = {
        {"Parameter", 0, 1}, {"Const", 0, 1},        {"Convolution", 2, 1}, {"ReLU", 1, 1},     {"Add", 2, 1},
        {"Concat", 3, 1},    {"Split", 2, 3},        {"If", 2, 2},          {"Loop", 3, 2},     {"ShapeOf", 1, 1},
        {"Squeeze", 1, 1},   {"Reshape", 2, 1},      {"Result", 1, 0},      {"Tokenize", 1, 4}, {"ReadValue", 0, 1},
        {"Input", 0, 1},     {"FakeQuantize", 5, 1},
    };
    static const char *const attributes[] = {"strides=\"1,1\"", "axis=\"1\"", "mode=\"&lt;\" a=\"&#10;\"", ""};
    unsigned which = index == 0 ? 0 : take(c) % (sizeof types / sizeof *types), id = spoil(c) ? 0 : index;
    bool is_source = which < 2 || which == 15;
    const char *name = which == 0 && c->old ? "Input" : types[which].name;
    put(c, "<layer id=\"%u\" name=\"%s%u\" type=\"%s\"", id, take(c) % 16 ? "l" : "", index, name);
    if (!c->old)
        put(c, " version=\"opset%u\"", take(c) % 16);
    else
        put(c, " precision=\"%s\"", put_type(c));
    put(c, ">");
    if (is_source)
        put_source(c, which == 1 || (which == 15 && take(c) % 2));
    else
        put(c, "<data %s/>", pick(c, attributes, 4));
    put_inputs(c, index, types[which].n_inputs);
    put_outputs(c, index, types[which].n_inputs, types[which].n_outputs);
    if (which == 7) put_body(c, "then_body", 0), put_body(c, "else_body", 0);
    if (which == 8) put_body(c, "body", 0), put(c, "<port_map><input axis=\"%u\"/></port_map>", take(c));
    if (c->old && !is_source && take(c) % 2) put(c, "<weights offset=\"0\" size=\"%u\"/>", take(c));
    put(c, "</layer>\n");
}

static void write_document(cook *c) {
    unsigned version = 4 + take(c) % 8, n_layers = 1 + take(c) % MAX_LAYERS;
    c->old = version < 10;
    put(c, "<?xml version=\"1.0\"?>\n<net name=\"recipe\" version=\"%u\"><layers>\n", version);
    for (unsigned i = 0; i < n_layers && (i == 0 || c->at < c->n); i++) put_layer(c, i);
    put(c, "</layers><edges>\n");
    for (unsigned i = 0; i < c->n_edges; i++)
        put(c, "<edge from-layer=\"%u\" from-port=\"%u\" to-layer=\"%u\" to-port=\"%u\"/>\n", c->edges[i].from_layer,
            c->edges[i].from_port, c->edges[i].to_layer, c->edges[i].to_port);
    put(c, "</edges></net>\n");
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

static void run(const char *bytes, size_t size, const berth_read_options *options) {
    hold_promises(bytes, size, options, ((size_t)1 << 20) + 64 * size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    berth_read_options options = berth_read_options_default();
    options.max_inflated = 1 << 20; /* bytes packed by chance must not cost the fuzzer its speed */
    if (size == 0 || data[0] >= 16) {
        run((const char *)data, size, &options);
        return 0;
    }
    cook c = {.recipe = data + 1, .n = size - 1, .text = malloc(MAX_TEXT)};
    if (!c.text) return 0;
    write_document(&c);
    const berth_shape_binding binding = {"l0", data[0] % 4, (const int64_t[]){1, 3, 8, 8}};
    options.shapes = &binding;
    options.n_shapes = data[0] % 2;
    run(c.text, c.size, &options);
    free(c.text);
    return 0;
}
