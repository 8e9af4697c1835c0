/* SPDX-License-Identifier: Apache-2.0 */
/* The splicer against random files: fields in any order, known and unknown, groups, padded lengths and tags, graphs
 * that stand in pieces, annotations that are there already. An independent reading of the result, written on protobuf.h
 * alone, says what is on which node and what else changed. */
#include "support.h"

#include "proto.h"
#include "read/onnx_splice.h"
#include "read/protobuf.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t seed;
static berth_ctx *ctx;

static int make_ctx(void **state) {
    (void)state;
    seed = 20;
    return berth_ctx_new(&ctx, NULL) == BERTH_OK ? 0 : -1;
}

static int free_ctx(void **state) {
    (void)state;
    berth_ctx_free(ctx);
    return 0;
}

/* --- files ------------------------------------------------------------------------------------------------------ */

enum { MOST_NODES = 400 };

typedef struct model {
    proto bytes;
    int32_t n_nodes;
} model;

/* A number in at least `width` bytes. */
static void put_padded(proto *p, uint64_t value, size_t width) {
    for (size_t i = 0; i < width || value; i++) {
        unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f || i + 1 < width ? 0x80 : 0));
        proto_raw(p, &byte, 1);
        value >>= 7;
    }
}

static size_t some_width(int padding) {
    return support_below(&seed, 100) < (uint32_t)padding ? 1 + support_below(&seed, 5) : 1;
}

static void put_inner(proto *p, uint32_t number, proto inner, int padding) {
    put_padded(p, (uint64_t)number << 3 | 2, some_width(padding));
    put_padded(p, inner.n, some_width(padding));
    proto_raw(p, inner.bytes, inner.n);
    proto_free(&inner);
}

/* Something that no schema knows. */
static void put_unknown(proto *p, int padding) {
    proto bytes = {0};
    uint32_t number = 40 + support_below(&seed, 3);
    switch (support_below(&seed, 4)) {
    case 0: proto_int(p, number, (int64_t)support_random(&seed)); break;
    case 1: proto_float(p, number, 1.5f); break;
    case 2:
        proto_tag(p, number, 3);
        proto_text(p, 9, "\x0a\x09layer_ann"); /* inside a group it is nobody's annotation */
        proto_tag(p, number, 4);
        break;
    default:
        proto_text(&bytes, 1, "layer_ann");
        put_inner(p, number, bytes, padding);
        break;
    }
}

static proto some_entry(const char *key, int padding) {
    proto entry = {0}, value = {0};
    bool early = support_below(&seed, 4) == 0;
    proto_raw(&value, "abcdefgh", support_below(&seed, 8));
    proto key_bytes = {0};
    proto_raw(&key_bytes, key, strlen(key));
    if (early) put_inner(&entry, 2, value, padding);
    put_inner(&entry, 1, key_bytes, padding);
    if (!early) put_inner(&entry, 2, value, padding);
    return entry;
}

static proto some_graph(int padding, int annotated, int depth, int32_t n_nodes);

static proto some_node(int padding, int annotated, int depth) {
    static const size_t sizes[] = {0, 3, 60, 90, 95, 100, 104, 105, 106, 120, 127, 128, 16355, 16380, 16400};
    proto node = {0};
    if (support_below(&seed, 4)) proto_text(&node, 1, "x");
    if (support_below(&seed, 100) < (uint32_t)annotated) put_inner(&node, 9, some_entry("layer_ann", padding), padding);
    if (support_below(&seed, 5) == 0) put_inner(&node, 9, some_entry("layer_an", padding), padding);
    if (support_below(&seed, 5) == 0) proto_text(&node, 9, "\xff\xff"); /* not well-formed: not ours */
    if (support_below(&seed, 4) == 0) put_unknown(&node, padding);
    if (depth > 0 && support_below(&seed, 4) == 0) {
        proto attribute = onnx_attribute("body", 5);
        put_inner(&attribute, 6, some_graph(padding, 50, depth - 1, 2), padding);
        put_inner(&node, 5, attribute, padding);
    }
    proto_text(&node, 4, "Relu");
    if (support_below(&seed, 3)) { /* make lengths that are about to need a byte more */
        size_t size = sizes[support_below(&seed, sizeof sizes / sizeof *sizes)];
        char *text = calloc(size + 1, 1);
        memset(text, 'd', size);
        proto_text(&node, 6, text);
        free(text);
    }
    if (support_below(&seed, 100) < (uint32_t)annotated) put_inner(&node, 9, some_entry("layer_ann", padding), padding);
    return node;
}

static proto some_graph(int padding, int annotated, int depth, int32_t n_nodes) {
    proto graph = {0};
    for (int32_t i = 0; i < n_nodes; i++) {
        if (support_below(&seed, 8) == 0) put_unknown(&graph, padding);
        if (support_below(&seed, 8) == 0) proto_text(&graph, 2, "name");
        proto node = support_below(&seed, 6) == 0 ? (proto){0} : some_node(padding, annotated, depth);
        put_inner(&graph, 1, node, padding);
    }
    return graph;
}

static model some_model(int padding, int annotated) {
    model m = {0};
    proto_int(&m.bytes, 1, 8);
    for (uint32_t pieces = 1 + (support_below(&seed, 5) == 0); pieces > 0; pieces--) {
        int32_t n = (int32_t)support_below(&seed, support_below(&seed, 10) == 0 ? 120 : 8);
        put_inner(&m.bytes, 7, some_graph(padding, annotated, 2, n), padding);
        m.n_nodes += n;
        if (support_below(&seed, 3) == 0) put_unknown(&m.bytes, padding);
    }
    proto function = {0}; /* has nodes of its own, which are not ours to change */
    put_inner(&function, 7, some_node(padding, 80, 0), padding);
    put_inner(&m.bytes, 25, function, padding);
    return m;
}

/* --- splicing --------------------------------------------------------------------------------------------------- */

static berth_status collect(void *user, const char *bytes, size_t n) {
    proto_raw(user, bytes, n);
    return BERTH_OK;
}

static berth_source source_of(const proto *p) {
    return (berth_source){.name = "test", .bytes = p->bytes, .size = p->n};
}

static const char *const texts[] = {"g", "c", "a tag that is rather long, of sixty-four bytes to be exact......"};
static int32_t tags_of[MOST_NODES];

static berth_onnx_tags some_tags(int32_t n) {
    assert_true(n <= MOST_NODES);
    for (int32_t i = 0; i < n; i++) tags_of[i] = (int32_t)support_below(&seed, 3);
    return (berth_onnx_tags){texts, tags_of, n};
}

static proto annotate(const proto *from, const berth_onnx_tags *tags) {
    proto out = {0};
    berth_source source = source_of(from);
    if (berth_onnx_annotate(ctx, &source, tags, collect, &out) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return out;
}

static proto unannotate(const proto *from) {
    proto out = {0};
    berth_source source = source_of(from);
    if (berth_onnx_unannotate(ctx, &source, collect, &out) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return out;
}

static bool same(const proto *a, const proto *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

/* --- the independent reading ------------------------------------------------------------------------------------ */

/* The value of an entry whose key is layer_ann; NULL: another one. */
static const char *annotation_of(const char *bytes, const berth_wire_field *entry, size_t *size) {
    berth_wire wire = {.bytes = bytes, .at = entry->at, .end = entry->at + entry->size};
    const char *value = "";
    bool ours = false;
    *size = 0;
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        if (f.number == 1) ours = f.size == 9 && memcmp(bytes + f.at, "layer_ann", 9) == 0;
        if (f.number == 2) value = bytes + f.at, *size = f.size;
    }
    return ours && !wire.problem ? value : NULL;
}

/* Go through two messages side by side: everything is equal but annotations of nodes, which `after` has as the tags say
 * (NULL: not at all). Level 0: model, 1: graph, 2: node. */
static void compare(const proto *before, berth_wire a, const proto *after, berth_wire b, int level, int32_t *node,
                    const berth_onnx_tags *tags) {
    berth_wire_field f, g;
    size_t size = 0;
    int n_tags = 0;
    for (;;) {
        bool more = berth_wire_next(&a, &f);
        while (more && level == 2 && f.number == 9 && f.type == 2 && annotation_of(before->bytes, &f, &size))
            more = berth_wire_next(&a, &f);
        bool again = berth_wire_next(&b, &g);
        while (again && level == 2 && g.number == 9 && g.type == 2) {
            const char *value = annotation_of(after->bytes, &g, &size);
            if (!value) break;
            const char *tag = texts[tags->of_node[*node]];
            assert_true(++n_tags == 1 && size == strlen(tag) && memcmp(value, tag, size) == 0);
            again = berth_wire_next(&b, &g);
        }
        assert_int_equal(more, again);
        if (!more) break;
        assert_true(f.number == g.number && f.type == g.type);
        if (level < 2 && f.type == 2 && f.number == (level == 0 ? 7 : 1)) {
            berth_wire inner = {.bytes = before->bytes, .at = f.at, .end = f.at + f.size};
            berth_wire other = {.bytes = after->bytes, .at = g.at, .end = g.at + g.size};
            compare(before, inner, after, other, level + 1, node, tags);
        } else {
            assert_int_equal(a.at - f.where, b.at - g.where);
            assert_memory_equal(before->bytes + f.where, after->bytes + g.where, a.at - f.where);
        }
    }
    if (level == 2 && tags) assert_int_equal(n_tags, 1);
    if (level == 2) ++*node;
}

static void compare_all(const proto *before, const proto *after, const berth_onnx_tags *tags) {
    int32_t node = 0;
    compare(before, (berth_wire){.bytes = before->bytes, .end = before->n}, after,
            (berth_wire){.bytes = after->bytes, .end = after->n}, 0, &node, tags);
}

/* --- tests ------------------------------------------------------------------------------------------------------ */

static void check_random(int padding, int annotated) {
    for (int i = support_cases(600); i > 0; i--) {
        model m = some_model(padding, annotated);
        berth_onnx_tags tags = some_tags(m.n_nodes);
        proto after = annotate(&m.bytes, &tags), back = unannotate(&after);
        compare_all(&m.bytes, &after, &tags);
        if (annotated == 0 && !same(&m.bytes, &back)) fail_msg("case %d is not what it was", i);
        compare_all(&back, &after, &tags);
        /* Annotating again changes nothing but the tags, and what was bare stays bare. */
        proto again = annotate(&after, &tags), bare = unannotate(&back);
        assert_true(same(&again, &after));
        assert_true(same(&bare, &back));
        proto_free(&again);
        proto_free(&bare);
        proto_free(&after);
        proto_free(&back);
        proto_free(&m.bytes);
    }
}

static void everything_else_stays(void **state) {
    (void)state;
    check_random(0, 0);
    check_random(0, 30);
}

static void lengths_of_any_width_come_back(void **state) {
    (void)state;
    check_random(30, 0);
    check_random(100, 0);
    check_random(50, 30);
}

static void a_cut_file_is_refused_or_whole(void **state) {
    (void)state;
    for (int i = support_cases(60); i > 0; i--) {
        model m = some_model(20, 20);
        berth_onnx_tags tags = some_tags(m.n_nodes);
        size_t step = m.bytes.n > 2000 ? m.bytes.n / 1000 : 1;
        for (size_t n = 0; n < m.bytes.n; n += step) {
            proto out = {0}, back = {0};
            char *exact = malloc(n ? n : 1); /* of its own size: reading behind the end is seen */
            memcpy(exact, m.bytes.bytes, n);
            berth_source source = {.name = "test", .bytes = exact, .size = n};
            berth_status status = berth_onnx_annotate(ctx, &source, &tags, collect, &out);
            assert_true(status == BERTH_OK || status == BERTH_E_FORMAT || status == BERTH_E_ARG);
            if (status != BERTH_OK) assert_int_equal(out.n, 0); /* refused before anything is handed out */
            assert_true(berth_onnx_unannotate(ctx, &source, collect, &back) != BERTH_E_ARG);
            free(exact);
            proto_free(&out);
            proto_free(&back);
        }
        proto_free(&m.bytes);
    }
}

static char said[1024];

static void hear(void *user, berth_log_level level, const char *message) {
    (void)user;
    (void)level;
    snprintf(said, sizeof said, "%s", message);
}

static void replacing_is_said(void **state) {
    (void)state;
    proto graph = {0}, entry = {0}, node = onnx_node("Relu", "x", "y");
    proto_text(&node, 3, "second");
    proto_text(&entry, 1, "layer_ann");
    proto_text(&entry, 2, "old");
    proto_message(&node, 9, entry);
    proto_message(&graph, 1, onnx_node("Relu", "a", "x"));
    proto_message(&graph, 1, node);
    proto file = onnx_model(graph);
    berth_ctx_set_log(ctx, hear, NULL);
    proto after = annotate(&file, &(berth_onnx_tags){texts, (int32_t[]){0, 1}, 2});
    assert_string_equal(said, "test: 1 nodes had a layer_ann, 'second' first; it is replaced");
    berth_ctx_set_log(ctx, NULL, NULL);
    proto_free(&after);
    proto_free(&file);
}

static void the_number_of_nodes_must_agree(void **state) {
    (void)state;
    proto graph = {0}, out = {0};
    proto_message(&graph, 1, onnx_node("Relu", "a", "x"));
    proto file = onnx_model(graph);
    berth_source source = source_of(&file);
    for (int32_t n = 0; n < 3; n++) {
        berth_onnx_tags tags = {texts, (int32_t[]){0, 1, 0}, n};
        berth_status status = berth_onnx_annotate(ctx, &source, &tags, collect, &out);
        assert_int_equal(status, n == 1 ? BERTH_OK : BERTH_E_ARG);
    }
    proto_free(&out);
    proto_free(&file);
}

static berth_status refuse(void *user, const char *bytes, size_t n) {
    (void)bytes;
    (void)n;
    return --*(int *)user < 0 ? BERTH_E_IO : BERTH_OK;
}

static void who_takes_the_bytes_may_refuse(void **state) {
    (void)state;
    model m = some_model(0, 0);
    berth_onnx_tags tags = some_tags(m.n_nodes);
    berth_source source = source_of(&m.bytes);
    berth_status status = BERTH_E_IO;
    for (int n = 0; status != BERTH_OK; n++) {
        int left = n;
        status = berth_onnx_annotate(ctx, &source, &tags, refuse, &left);
        assert_true(status == BERTH_OK || status == BERTH_E_IO);
    }
    proto_free(&m.bytes);
}

/* A file of one node and that many bytes, with a hole in place of weights, so that it takes no disk. */
static berth_source make_large(size_t size) {
    char path[] = "/tmp/berth-splice-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    proto last = {0}, head = {0};
    proto_message(&last, 1, onnx_node("Relu", "x", "y"));
    /* All three lengths take 5 bytes: the head has the same size whatever they are. */
    size_t hole = size - last.n - (1 + 5) - (1 + 5) - (1 + 5);
    proto_tag(&head, 7, 2);
    proto_varint(&head, size - 6);
    proto_tag(&head, 5, 2);
    proto_varint(&head, hole + 6);
    proto_tag(&head, 9, 2);
    proto_varint(&head, hole);
    assert_int_equal(head.n + hole + last.n, size);
    assert_int_equal(pwrite(fd, head.bytes, head.n, 0), (ssize_t)head.n);
    assert_int_equal(pwrite(fd, last.bytes, last.n, (off_t)(head.n + hole)), (ssize_t)last.n);
    void *mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(mapped != MAP_FAILED);
    proto_free(&last);
    proto_free(&head);
    return (berth_source){.name = "large",
                          .bytes = mapped,
                          .size = size,
                          .mapped = mapped,
                          .mapped_size = size,
                          .fd = fd,
                          .owns_fd = true};
}

static berth_status count(void *user, const char *bytes, size_t n) {
    (void)bytes;
    *(size_t *)user += n;
    return BERTH_OK;
}

static void a_protobuf_holds_2_gib_at_most(void **state) {
    (void)state;
    enum { ENTRY = 16 };
    berth_onnx_tags tags = {texts, (int32_t[]){0}, 1};
    for (int more = 0; more < 2; more++) {
        size_t size = 0;
        berth_source source = make_large((size_t)INT32_MAX - ENTRY + (size_t)more);
        assert_int_equal(berth_onnx_annotate(ctx, &source, &tags, count, &size), more ? BERTH_E_LIMIT : BERTH_OK);
        assert_int_equal(size, more ? 0 : INT32_MAX);
        berth_source_close(ctx, &source);
    }
    assert_non_null(strstr(berth_ctx_message(ctx), "save_as_external_data"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_else_stays, make_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(lengths_of_any_width_come_back, make_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_cut_file_is_refused_or_whole, make_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(replacing_is_said, make_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(the_number_of_nodes_must_agree, make_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(who_takes_the_bytes_may_refuse, make_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_protobuf_holds_2_gib_at_most, make_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("read.onnx_splice", tests, NULL, NULL);
}
