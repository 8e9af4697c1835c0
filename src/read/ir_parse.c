/* SPDX-License-Identifier: Apache-2.0 */
/* The XML of OpenVINO IR, walked once from front to back by expat.
 *
 * A table of rules says which element may stand inside which and what it means there; what no rule names is skipped
 * with all it contains (rt_info, meta_data, pre-process, statistics, ...). A nested graph (the bodies of If, Loop and
 * TensorIterator) is counted, and hashed with its wiring, so that two models that differ only inside a body are told
 * apart; annotations and positions in the .bin stay out of the hash.
 *
 * expat copies what it is fed, so it is fed in pieces; they are large, because inside a long token it starts over at
 * each. Document type declarations are refused, and with them every entity that could grow.
 *
 * expat takes no user pointer with its allocator. The door is kept in a thread-local variable, which is set only
 * while this file is at work. */
#include "base/sha256.h"
#include "read/ir.h"
#include "read/ir_text.h"
#include "read/sized.h"

#include <expat.h>
#include <inttypes.h>
#include <string.h>

enum { LARGEST_PIECE = 1 << 24, CANCEL_EVERY = 1 << 12, LONGEST_DIM = 31 };

typedef enum element {
    DOCUMENT, /* outside of everything */
    NET,
    LAYERS,
    LAYER,
    DATA,
    INPUT,
    OUTPUT,
    INPUT_PORT,
    OUTPUT_PORT,
    DIM,
    BLOBS,
    BLOB,
    EDGES,
    EDGE,
    WIRING, /* how a nested graph hangs in its layer */
    BODY,   /* a nested graph; below it: */
    BODY_LAYERS,
    BODY_LAYER,
    BODY_OTHER,
    SKIPPED,
} element;

typedef struct rule {
    uint8_t parent, is; /* element */
    bool once;
    const char *name; /* NULL: any */
} rule;

/* The first rule that fits counts. */
static const rule rules[] = {
    {DOCUMENT, NET, false, "net"},
    {NET, LAYERS, true, "layers"},
    {NET, EDGES, true, "edges"},
    {LAYERS, LAYER, false, "layer"},
    {EDGES, EDGE, false, "edge"},
    {LAYER, DATA, true, "data"},
    {LAYER, INPUT, true, "input"},
    {LAYER, OUTPUT, true, "output"},
    {INPUT, INPUT_PORT, false, "port"},
    {OUTPUT, OUTPUT_PORT, false, "port"},
    {INPUT_PORT, DIM, false, "dim"},
    {OUTPUT_PORT, DIM, false, "dim"},
    {LAYER, BLOBS, true, "blobs"},
    {BLOBS, BLOB, false, NULL},
    {LAYER, BLOB, true, "weights"},
    {LAYER, BLOB, true, "biases"},
    {LAYER, BLOB, true, "custom"},
    {LAYER, WIRING, true, "port_map"},
    {LAYER, WIRING, true, "then_port_map"},
    {LAYER, WIRING, true, "else_port_map"},
    {LAYER, WIRING, true, "back_edges"},
    {LAYER, BODY, true, "body"},
    {LAYER, BODY, true, "then_body"},
    {LAYER, BODY, true, "else_body"},
    {BODY, BODY_LAYERS, false, "layers"},
    {BODY_LAYERS, BODY_LAYER, false, "layer"},
    {BODY_LAYER, BODY, false, "body"},
    {BODY_LAYER, BODY, false, "then_body"},
    {BODY_LAYER, BODY, false, "else_body"},
    {BODY, SKIPPED, false, "rt_info"},
    {BODY_LAYER, SKIPPED, false, "rt_info"},
    {BODY_OTHER, SKIPPED, false, "rt_info"},
    {BODY, BODY_OTHER, false, NULL},
    {BODY_LAYERS, BODY_OTHER, false, NULL},
    {BODY_LAYER, BODY_OTHER, false, NULL},
    {BODY_OTHER, BODY_OTHER, false, NULL},
    {WIRING, BODY_OTHER, false, NULL},
};
_Static_assert(sizeof rules / sizeof *rules <= 64, "one bit per rule says that it was seen");

typedef struct parser {
    berth_ir *ir;
    XML_Parser xml;
    berth_status status;
    int64_t lines_before; /* blank lines left out in front */
    int64_t n_elements;
    size_t max_depth;
    BERTH_VEC(uint8_t) open; /* element */
    uint64_t seen_in_net, seen_in_layer;
    berth_dim dims[BERTH_MAX_RANK];
    int32_t rank;
    char dim[LONGEST_DIM + 1]; /* the text of a <dim>, without the blanks before it */
    size_t dim_size;
    bool dim_is_cut;
    bool has_layers;
    size_t hash_depth; /* depth of the element being hashed, or 0 */
    berth_sha256 hash;
} parser;

static int64_t current_line(const parser *p) {
    return p->lines_before + (int64_t)XML_GetCurrentLineNumber(p->xml);
}

/* The first failure ends the parse. */
static void settle(parser *p, berth_status status) {
    if (status == BERTH_OK || p->status != BERTH_OK) return;
    p->status = status;
    XML_StopParser(p->xml, XML_FALSE);
}

static element innermost(const parser *p) {
    return p->open.n ? (element)p->open.items[p->open.n - 1] : DOCUMENT;
}

/* The rule for an element inside another, or NULL: skip it. */
static const rule *find_rule(element parent, const char *name) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].parent == parent && (!rules[i].name || strcmp(rules[i].name, name) == 0)) return &rules[i];
    return NULL;
}

static berth_status mark_seen(parser *p, const rule *r, const char *name) {
    if (!r->once) return BERTH_OK;
    uint64_t *seen = r->parent == NET ? &p->seen_in_net : &p->seen_in_layer;
    uint64_t bit = (uint64_t)1 << (r - rules);
    if (*seen & bit) return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "a second <%.100s>", name);
    *seen |= bit;
    return BERTH_OK;
}

static void hash_text(parser *p, char mark, const char *text) {
    berth_sha256_update(&p->hash, &mark, 1);
    berth_sha256_update(&p->hash, text, strlen(text));
}

/* Marks below 9 cannot occur in XML, so that no two documents give the same bytes. An offset beside a size is a place
 * in the .bin. */
static void hash_start(parser *p, const char *name, berth_ir_attributes attributes) {
    bool is_stored = berth_ir_attribute(attributes, "size");
    hash_text(p, 1, name);
    for (; *attributes; attributes += 2) {
        if (is_stored && strcmp(attributes[0], "offset") == 0) continue;
        hash_text(p, 2, attributes[0]);
        hash_text(p, 3, attributes[1]);
    }
}

static berth_status start_net(parser *p, berth_ir_attributes attributes) {
    berth_ir *ir = p->ir;
    int64_t line = current_line(p);
    const char *version = berth_ir_attribute(attributes, "version");
    if (!version || !berth_ir_text_int(version, strlen(version), &ir->version))
        return berth_build_fail(ir->b, BERTH_E_FORMAT, line, "<net> has %s version", version ? "a bad" : "no");
    if (ir->version < 4 || ir->version > 11)
        return berth_build_fail(ir->b, BERTH_E_UNSUPPORTED, line,
                                "this is OpenVINO IR version %" PRId64 "; 4 to 11 are read", ir->version);
    ir->b->graph->version = ir->version;
    const char *name = berth_ir_attribute(attributes, "name");
    if (name) ir->b->graph->name = berth_arena_string(ir->arena, name, strlen(name));
    return ir->b->graph->name ? BERTH_OK : berth_fail_nomem(ir->ctx);
}

static berth_status start_nested(parser *p, element parent, element is) {
    if (parent == LAYER) {
        p->hash_depth = p->open.n;
        berth_sha256_init(&p->hash);
    }
    if (is == BODY) p->ir->layer.op.n_bodies++;
    if (is == BODY_LAYER) p->ir->layer.op.n_nested_ops++;
    return BERTH_OK;
}

static berth_status start_known(parser *p, element parent, element is, berth_ir_attributes attributes) {
    switch (is) {
    case NET: return start_net(p, attributes);
    case LAYERS: p->has_layers = true; return BERTH_OK;
    case LAYER: p->seen_in_layer = 0; return berth_ir_layer_begin(p->ir, attributes, current_line(p));
    case DATA: return berth_ir_layer_data(p->ir, attributes, current_line(p));
    case INPUT_PORT:
    case OUTPUT_PORT: p->rank = 0; return berth_ir_layer_port(p->ir, is == OUTPUT_PORT, attributes, current_line(p));
    case DIM:
        p->dim_size = 0;
        p->dim_is_cut = false;
        return BERTH_OK;
    case BLOB: return berth_ir_layer_blob(p->ir, attributes, current_line(p));
    case EDGE: return berth_ir_layer_edge(p->ir, attributes, current_line(p));
    case WIRING:
    case BODY:
    case BODY_LAYER: return start_nested(p, parent, is);
    default: return BERTH_OK;
    }
}

static berth_status start_element(parser *p, const char *name, berth_ir_attributes attributes) {
    element parent = innermost(p);
    const rule *r = find_rule(parent, name);
    if (parent == DOCUMENT && !r)
        return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p),
                                "the root element is <%.100s>; OpenVINO IR has <net>", name);
    if (p->open.n >= p->max_depth)
        return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "elements are nested more than %zu deep",
                                p->max_depth);
    if (p->n_elements++ % CANCEL_EVERY == 0 && berth_cancelled(p->ir->ctx))
        return berth_fail(p->ir->ctx, BERTH_E_CANCELLED, "%s: interrupted", p->ir->b->source);
    element is = r ? (element)r->is : SKIPPED;
    if (!berth_vec_push(p->ir->allocator, &p->open, (uint8_t)is)) return berth_fail_nomem(p->ir->ctx);
    if (r) BERTH_TRY(mark_seen(p, r, name));
    BERTH_TRY(start_known(p, parent, is, attributes));
    if (p->hash_depth && is != SKIPPED) hash_start(p, name, attributes);
    return BERTH_OK;
}

static berth_status end_dim(parser *p) {
    if (p->rank == BERTH_MAX_RANK)
        return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "a port has more than %d dimensions",
                                BERTH_MAX_RANK);
    p->dim[p->dim_size] = 0;
    if (p->dim_is_cut || !berth_ir_text_dim(p->dim, p->dim_size, &p->dims[p->rank]))
        return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "bad dimension \"%s\"", p->dim);
    p->rank++;
    return BERTH_OK;
}

static berth_status end_element(parser *p, const char *name) {
    element is = innermost(p);
    p->open.n--;
    if (p->hash_depth && is != SKIPPED) hash_text(p, 4, "");
    if (p->hash_depth > p->open.n) {
        unsigned char digest[BERTH_SHA256_SIZE];
        p->hash_depth = 0;
        berth_sha256_finish(&p->hash, digest);
        return berth_ir_layer_digest(p->ir, name, digest);
    }
    switch (is) {
    case LAYER: return berth_ir_layer_end(p->ir);
    case INPUT_PORT:
    case OUTPUT_PORT: return berth_ir_layer_port_dims(p->ir, is == OUTPUT_PORT, p->dims, p->rank);
    case DIM: return end_dim(p);
    default: return BERTH_OK;
    }
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
    parser *p = user;
    if (p->status == BERTH_OK) settle(p, start_element(p, name, (berth_ir_attributes)attributes));
}

static void XMLCALL on_end(void *user, const XML_Char *name) {
    parser *p = user;
    if (p->status == BERTH_OK) settle(p, end_element(p, name));
}

static void XMLCALL on_text(void *user, const XML_Char *text, int size) {
    parser *p = user;
    if (p->status != BERTH_OK) return;
    bool is_dim = innermost(p) == DIM, is_hashed = p->hash_depth && innermost(p) != SKIPPED;
    if (!is_dim && !is_hashed) return;
    for (const char *end = text + size; text < end; text++) {
        bool is_blank = berth_ir_is_blank(*text);
        if (is_blank && (is_hashed || p->dim_size == 0)) continue;
        if (is_hashed)
            berth_sha256_update(&p->hash, text, 1);
        else if (p->dim_size < LONGEST_DIM)
            p->dim[p->dim_size++] = *text;
        else
            p->dim_is_cut |= !is_blank;
    }
}

static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *pub,
                               int inner) {
    parser *p = user;
    (void)name, (void)system, (void)pub, (void)inner;
    settle(p,
           berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "a document type declaration is not allowed"));
}

static _Thread_local const berth_allocator *door;

static void *door_malloc(size_t size) {
    return berth_sized_resize(door, NULL, size ? size : 1);
}

static void *door_realloc(void *old, size_t size) {
    return berth_sized_resize(door, old, size ? size : 1);
}

static void door_free(void *old) {
    if (old) berth_sized_resize(door, old, 0);
}

static berth_status explain(parser *p) {
    if (p->status != BERTH_OK) return p->status;
    enum XML_Error code = XML_GetErrorCode(p->xml);
    if (code == XML_ERROR_NO_MEMORY) return berth_fail_nomem(p->ir->ctx);
    return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "not well-formed XML: %s",
                            XML_ErrorString(code));
}

static berth_status feed(parser *p, const char *bytes, size_t size) {
    XML_SetUserData(p->xml, p);
    XML_SetElementHandler(p->xml, on_start, on_end);
    XML_SetCharacterDataHandler(p->xml, on_text);
    XML_SetStartDoctypeDeclHandler(p->xml, on_doctype);
    for (bool last = false; !last;) {
        size_t n = size < LARGEST_PIECE ? size : LARGEST_PIECE;
        last = n == size;
        if (XML_Parse(p->xml, bytes, (int)n, last) != XML_STATUS_OK) return explain(p);
        bytes += n;
        size -= n;
    }
    if (p->ir->b->ops.n > 0) return BERTH_OK;
    return berth_build_fail(p->ir->b, BERTH_E_FORMAT, current_line(p), "<net> has %s",
                            p->has_layers ? "no layer in <layers>" : "no <layers>");
}

berth_status berth_ir_parse(berth_ir *ir, const berth_source *source, int32_t max_depth) {
    parser p = {.ir = ir, .max_depth = max_depth > 0 ? (size_t)max_depth : 0};
    const char *bytes = source->bytes;
    size_t size = source->size;
    /* XML wants its declaration to be the very first thing; OpenVINO's reader does not mind blanks before it. */
    for (; size > 0 && berth_ir_is_blank(*bytes); bytes++, size--) p.lines_before += *bytes == '\n';
    static const XML_Memory_Handling_Suite suite = {door_malloc, door_realloc, door_free};
    const berth_allocator *outer = door;
    door = ir->allocator;
    p.xml = XML_ParserCreate_MM(NULL, &suite, NULL);
    berth_status status = p.xml ? feed(&p, bytes, size) : berth_fail_nomem(ir->ctx);
    if (p.xml) XML_ParserFree(p.xml);
    door = outer;
    berth_vec_free(ir->allocator, &p.open);
    return status;
}
