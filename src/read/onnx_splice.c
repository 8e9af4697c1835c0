/* SPDX-License-Identifier: Apache-2.0 */
/* The ONNX splicer. One walk measures (how long will the graph be?), a second one hands out the bytes. Both go over
 * the same few fields: graphs of the model, nodes of the graphs, entries of the nodes; everything else is passed by
 * through a window (a large file is not mapped for it) and handed out as it lies in the source.
 *
 * Lengths. A length may stand in more bytes than it needs ("padded": some writers reserve a fixed width). It keeps its
 * width as long as the new value fits, so that it stays visibly padded and can be put back; one in its shortest form
 * stays in that. One case is left: padded before, and exactly wide enough now. Nothing tells it from a shortest form,
 * so our entry does, by a padded length of its own: that of the entry stands for the node's length, that of its value,
 * in the first node, for the graph's. An annotation adds less than 128 times what is there, so a value grows by one
 * byte of length at most, and one mark each is enough. Parsers take padded lengths as any others. */
#include "read/onnx_splice.h"

#include "read/onnx_schema.h"
#include "read/protobuf.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { MODEL_GRAPH = 7, NODE_METADATA = 9, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { WINDOWED_BYTES = 1 << 20, MAX_VARINT = 10, MOST_AT_ONCE = 1 << 22 };

static const char key_text[] = "layer_ann";
enum { KEY_SIZE = sizeof key_text - 1, MOST_ENTRY = 8 + KEY_SIZE + BERTH_ONNX_MOST_TAG };

typedef struct splice {
    berth_ctx *ctx;
    const berth_source *source;
    const berth_onnx_tags *tags; /* NULL: annotations are taken away */
    berth_onnx_put_fn put;       /* NULL: only measure */
    void *user;
    berth_wire_window *window;
    size_t copied;                   /* bytes of the source handed out or left out so far */
    int32_t node;                    /* position of the next one */
    int32_t n_replaced;              /* nodes that had annotations */
    berth_wire_field first_replaced; /* the name of the first of them */
} splice;

/* A length as it stands or shall stand. */
typedef struct length {
    size_t value;
    size_t width; /* bytes it takes itself */
} length;

/* A node or a graph, without annotations and as the new file has it. */
typedef struct change {
    size_t length_at; /* of the length in the source; the content follows at content_at */
    size_t content_at;
    length bare, fresh;
    bool node_mark, graph_mark; /* of the entry in a node; of a graph: graph_mark */
} change;

static berth_status fail_at(const splice *s, size_t at, const char *problem) {
    return berth_fail(s->ctx, BERTH_E_FORMAT, "%s: byte %zu: %s", s->source->name, at, problem);
}

static berth_wire open_field(const splice *s, const berth_wire_field *field) {
    return (berth_wire){
        .bytes = s->source->bytes, .at = field->at, .end = field->at + field->size, .window = s->window};
}

static bool is_message(const berth_wire_field *field, uint32_t number) {
    return field->number == number && field->type == BERTH_WIRE_BYTES;
}

/* --- lengths ---------------------------------------------------------------------------------------------------- */

static size_t shortest(size_t value) {
    size_t width = 1;
    for (; value > 0x7f; value >>= 7) width++;
    return width;
}

static size_t encode(length l, char bytes[static MAX_VARINT]) {
    for (size_t i = 0; i < l.width; i++, l.value >>= 7)
        bytes[i] = (char)((l.value & 0x7f) | (i + 1 < l.width ? 0x80 : 0));
    return l.width;
}

/* What stands between a field's tag and its content. */
static void find_length(const splice *s, const berth_wire_field *field, change *c) {
    berth_wire wire = {.bytes = s->source->bytes, .at = field->where, .end = field->at, .window = s->window};
    uint64_t tag = 0;
    berth_wire_item(&wire, BERTH_WIRE_VARINT, &tag);
    c->length_at = wire.at;
    c->content_at = field->at;
}

/* The length that this one, of annotated content, had before. */
static length take_back(length l, size_t value, bool marked) {
    bool padded = marked || l.width > shortest(l.value);
    return (length){value, padded && l.width >= shortest(value) ? l.width : shortest(value)};
}

/* The length of content that has become longer; *mark: only a mark can tell that it was padded. */
static length stretch(length bare, size_t value, bool *mark) {
    bool padded = bare.width > shortest(bare.value);
    *mark = padded && value != bare.value && bare.width <= shortest(value);
    return (length){value, padded && bare.width > shortest(value) ? bare.width : shortest(value)};
}

/* --- entries ---------------------------------------------------------------------------------------------------- */

/* Is this entry of a node an annotation? If so, which marks does it have? Of a field that stands twice the last one
 * counts, as in every parser. What is not well-formed is not ours. */
static bool is_annotation(const splice *s, const berth_wire_field *entry, bool *node_mark, bool *graph_mark) {
    berth_wire wire = open_field(s, entry);
    berth_wire_field key = {0};
    change c = {0};
    bool padded = false, ours = false;
    for (berth_wire_field field; berth_wire_next(&wire, &field);) {
        if (is_message(&field, ENTRY_KEY)) {
            key = field;
            ours = key.size == KEY_SIZE && memcmp(berth_wire_content(&wire, key.at, key.size), key_text, KEY_SIZE) == 0;
        } else if (is_message(&field, ENTRY_VALUE)) {
            find_length(s, &field, &c);
            padded = c.content_at - c.length_at > shortest(field.size);
        }
    }
    if (wire.problem || !ours) return false;
    find_length(s, entry, &c);
    *node_mark |= c.content_at - c.length_at > shortest(entry->size);
    *graph_mark |= padded;
    return true;
}

static size_t put_text(char *to, uint32_t number, const char *text, size_t size, bool padded) {
    to[0] = (char)(number << 3 | BERTH_WIRE_BYTES);
    size_t n = 1 + encode((length){size, padded ? 2 : 1}, to + 1);
    memcpy(to + n, text, size);
    return n + size;
}

/* The entry for a node; its size. */
static size_t make_entry(const splice *s, int32_t node, const change *c, char bytes[static MOST_ENTRY]) {
    char inner[MOST_ENTRY];
    const char *tag = s->tags->texts[s->tags->of_node[node]];
    size_t n = put_text(inner, ENTRY_KEY, key_text, KEY_SIZE, false);
    n += put_text(inner + n, ENTRY_VALUE, tag, strlen(tag), c->graph_mark);
    return put_text(bytes, NODE_METADATA, inner, n, c->node_mark);
}

/* --- measuring -------------------------------------------------------------------------------------------------- */

/* What becomes of a node. *graph_mark: it had the mark for its graph; `give_mark`: it gets it. */
static berth_status measure_node(splice *s, const berth_wire_field *field, bool give_mark, bool *graph_mark,
                                 change *c) {
    char entry[MOST_ENTRY];
    bool marked = false, had = false;
    size_t kept = field->size;
    berth_wire_field name = {0};
    berth_wire wire = open_field(s, field);
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        if (is_message(&f, ONNX_NODE_NAME)) name = f;
        if (is_message(&f, NODE_METADATA) && is_annotation(s, &f, &marked, graph_mark)) {
            kept -= wire.at - f.where;
            had = true;
        }
    }
    if (wire.problem) return fail_at(s, wire.at, wire.problem);
    *c = (change){.graph_mark = give_mark};
    find_length(s, field, c);
    length now = {field->size, c->content_at - c->length_at};
    c->bare = had ? take_back(now, kept, marked) : now;
    c->fresh = c->bare;
    if (had && s->n_replaced++ == 0) s->first_replaced = name;
    int32_t node = s->node++;
    if (!s->tags) return BERTH_OK;
    if (node >= s->tags->n_nodes) return berth_fail(s->ctx, BERTH_E_ARG, "%s: too many nodes", s->source->name);
    c->fresh = stretch(c->bare, kept + make_entry(s, node, c, entry), &c->node_mark);
    if (c->node_mark) c->fresh.value += 1; /* the mark itself; see the top: the width stays */
    return BERTH_OK;
}

/* Sums up the nodes of a graph. `first` is what becomes of its first node. */
static berth_status measure_nodes(splice *s, const berth_wire_field *field, bool give_mark, bool *marked, change *c) {
    berth_wire wire = open_field(s, field);
    c->bare.value = c->fresh.value = field->size;
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        change node = {0};
        if (!is_message(&f, ONNX_GRAPH_NODE)) continue;
        BERTH_TRY(measure_node(s, &f, give_mark, marked, &node));
        give_mark = false;
        size_t old = f.size + (node.content_at - node.length_at);
        c->bare.value = c->bare.value - old + node.bare.value + node.bare.width;
        c->fresh.value = c->fresh.value - old + node.fresh.value + node.fresh.width;
    }
    return wire.problem ? fail_at(s, wire.at, wire.problem) : BERTH_OK;
}

/* What becomes of a graph. */
static berth_status measure_graph(splice *s, const berth_wire_field *field, change *c) {
    bool marked = false;
    splice before = *s;
    *c = (change){0};
    find_length(s, field, c);
    length now = {field->size, c->content_at - c->length_at};
    BERTH_TRY(measure_nodes(s, field, false, &marked, c));
    c->bare = c->bare.value == now.value ? now : take_back(now, c->bare.value, marked);
    c->fresh = s->tags ? stretch(c->bare, c->fresh.value, &c->graph_mark) : c->bare;
    if (!c->graph_mark) return BERTH_OK;
    change again = {0};
    *s = before;
    BERTH_TRY(measure_nodes(s, field, true, &marked, &again));
    c->fresh.value = again.fresh.value;
    return BERTH_OK;
}

/* --- handing out ------------------------------------------------------------------------------------------------ */

/* Everything of the source up to `end` that has not been handed out. Large pieces are given back to the system as soon
 * as they have been taken. */
static berth_status put_source(splice *s, size_t end) {
    while (s->copied < end) {
        size_t n = end - s->copied < MOST_AT_ONCE ? end - s->copied : MOST_AT_ONCE;
        if (berth_cancelled(s->ctx)) return berth_fail(s->ctx, BERTH_E_CANCELLED, "%s: interrupted", s->source->name);
        BERTH_TRY(s->put(s->user, s->source->bytes + s->copied, n));
        s->copied += n;
        if (n == MOST_AT_ONCE) berth_source_relax(s->source);
    }
    return BERTH_OK;
}

/* Up to the length, which is replaced by the new one. */
static berth_status put_length(splice *s, const change *c) {
    char bytes[MAX_VARINT];
    BERTH_TRY(put_source(s, c->length_at));
    s->copied = c->content_at;
    return s->put(s->user, bytes, encode(c->fresh, bytes));
}

static berth_status put_node(splice *s, const berth_wire_field *field, bool give_mark) {
    change c = {0};
    char entry[MOST_ENTRY];
    bool ignored = false;
    int32_t node = s->node;
    BERTH_TRY(measure_node(s, field, give_mark, &ignored, &c));
    BERTH_TRY(put_length(s, &c));
    berth_wire wire = open_field(s, field);
    for (berth_wire_field f; berth_wire_next(&wire, &f);)
        if (is_message(&f, NODE_METADATA) && is_annotation(s, &f, &ignored, &ignored)) {
            BERTH_TRY(put_source(s, f.where));
            s->copied = wire.at;
        }
    BERTH_TRY(put_source(s, field->at + field->size));
    return s->tags ? s->put(s->user, entry, make_entry(s, node, &c, entry)) : BERTH_OK;
}

static berth_status put_graph(splice *s, const berth_wire_field *field) {
    change c = {0};
    int32_t node = s->node;
    BERTH_TRY(measure_graph(s, field, &c));
    s->node = node;
    BERTH_TRY(put_length(s, &c));
    berth_wire wire = open_field(s, field);
    bool give_mark = c.graph_mark;
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        if (!is_message(&f, ONNX_GRAPH_NODE)) continue;
        BERTH_TRY(put_node(s, &f, give_mark));
        give_mark = false;
    }
    return BERTH_OK;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

/* The size of the new file; everything that can be refused is refused here. */
static berth_status measure_model(splice *s, size_t *size) {
    berth_wire wire = open_field(s, &(berth_wire_field){.size = s->source->size});
    *size = s->source->size;
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        change c = {0};
        if (!is_message(&f, MODEL_GRAPH)) continue;
        BERTH_TRY(measure_graph(s, &f, &c));
        *size = *size - f.size - (c.content_at - c.length_at) + c.fresh.value + c.fresh.width;
    }
    if (wire.problem) return fail_at(s, wire.at, wire.problem);
    if (s->tags && s->node != s->tags->n_nodes)
        return berth_fail(s->ctx, BERTH_E_ARG, "%s: has %" PRId32 " nodes, not %" PRId32, s->source->name, s->node,
                          s->tags->n_nodes);
    return BERTH_OK;
}

static berth_status put_model(splice *s) {
    berth_wire wire = open_field(s, &(berth_wire_field){.size = s->source->size});
    s->node = 0;
    for (berth_wire_field f; berth_wire_next(&wire, &f);)
        if (is_message(&f, MODEL_GRAPH)) BERTH_TRY(put_graph(s, &f));
    return put_source(s, s->source->size);
}

static void copy_source(const void *source, size_t at, size_t n, void *to) {
    berth_source_copy(source, at, n, to);
}

static void warn_replaced(const splice *s) {
    const berth_wire_field *name = &s->first_replaced;
    berth_log(s->ctx, BERTH_LOG_WARNING, "%s: %" PRId32 " nodes had a layer_ann, '%.*s' first; it is replaced",
              s->source->name, s->n_replaced, name->size > 200 ? 200 : (int)name->size, s->source->bytes + name->at);
}

static berth_status run(splice *s) {
    size_t size = 0;
    berth_wire_window window = {.copy = copy_source, .from = s->source, .size = s->source->size};
    if (s->source->mapped && s->source->size >= WINDOWED_BYTES) s->window = &window;
    berth_status status = measure_model(s, &size);
    if (status == BERTH_OK && s->tags && size > BERTH_ONNX_MOST_BYTES)
        status = berth_fail(s->ctx, BERTH_E_LIMIT,
                            "%s: would have %zu bytes with annotations, and a protobuf holds %zu at most; move its "
                            "weights to a file of their own (onnx.save_model with save_as_external_data=True)",
                            s->source->name, size, BERTH_ONNX_MOST_BYTES);
    if (status == BERTH_OK && s->tags && s->n_replaced > 0) warn_replaced(s);
    if (status == BERTH_OK) status = put_model(s);
    s->window = NULL;
    return status;
}

berth_status berth_onnx_annotate(berth_ctx *ctx, const berth_source *source, const berth_onnx_tags *tags,
                                 berth_onnx_put_fn put, void *user) {
    for (int32_t i = 0; i < tags->n_nodes; i++) {
        size_t size = strlen(tags->texts[tags->of_node[i]]);
        assert(size > 0 && size <= BERTH_ONNX_MOST_TAG);
        (void)size;
    }
    splice s = {.ctx = ctx, .source = source, .tags = tags, .put = put, .user = user};
    return run(&s);
}

berth_status berth_onnx_unannotate(berth_ctx *ctx, const berth_source *source, berth_onnx_put_fn put, void *user) {
    splice s = {.ctx = ctx, .source = source, .put = put, .user = user};
    return run(&s);
}
