/* SPDX-License-Identifier: Apache-2.0 */
/* read.protobuf: the wire format, each rule and each way to break it. */
#include "read/protobuf.h"

#include "proto.h"
#include "support.h"

static berth_wire wire_of(const proto *p) {
    return (berth_wire){.bytes = p->bytes, .end = p->n};
}

/* The only field of these bytes is malformed at byte `at`. */
static void refuse(const char *bytes, size_t n, size_t at, const char *fragment) {
    /* A block of exactly the size, so that the sanitizer sees a read beyond it. */
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    berth_wire wire = {.bytes = copy, .end = n};
    berth_wire_field field;
    while (berth_wire_next(&wire, &field)) {
    }
    assert_non_null(wire.problem);
    if (!strstr(wire.problem, fragment)) fail_msg("'%s' does not say '%s'", wire.problem, fragment);
    assert_int_equal(wire.at, at);
    assert_false(berth_wire_next(&wire, &field));
    free(copy);
}

#define REFUSE(bytes, at, fragment) refuse(bytes, sizeof(bytes) - 1, at, fragment)

static void numbers_round_trip(void **state) {
    (void)state;
    proto p = {0};
    for (int bit = 0; bit < 64; bit++) proto_int(&p, 3, (int64_t)((uint64_t)1 << bit));
    proto_int(&p, 3, -1);
    berth_wire wire = wire_of(&p);
    berth_wire_field field;
    for (int bit = 0; bit < 64; bit++) {
        assert_true(berth_wire_next(&wire, &field));
        assert_int_equal(field.number, 3);
        assert_int_equal(field.type, BERTH_WIRE_VARINT);
        assert_true(field.value == (uint64_t)1 << bit);
        assert_int_equal(field.size, bit / 7 + 1);
    }
    assert_true(berth_wire_next(&wire, &field));
    assert_true(field.value == UINT64_MAX);
    assert_false(berth_wire_next(&wire, &field));
    assert_null(wire.problem);
    proto_free(&p);
}

static void all_wire_types(void **state) {
    (void)state;
    static const char bytes[] = "\x0d\x01\x02\x03\x04"                 /* 1: fixed32 */
                                "\x11\x01\x00\x00\x00\x00\x00\x00\x80" /* 2: fixed64 */
                                "\x1a\x03xyz"                          /* 3: bytes */
                                "\xf8\xff\xff\xff\x0f\x05";            /* 2^29 - 1: varint */
    berth_wire wire = {.bytes = bytes, .end = sizeof bytes - 1};
    berth_wire_field field;
    assert_true(berth_wire_next(&wire, &field));
    assert_true(field.value == 0x04030201u && field.number == 1 && field.at == 1 && field.size == 4);
    assert_true(berth_wire_next(&wire, &field));
    assert_true(field.value == 0x8000000000000001u && field.number == 2 && field.where == 5);
    assert_true(berth_wire_next(&wire, &field));
    assert_true(field.number == 3 && field.size == 3 && memcmp(bytes + field.at, "xyz", 3) == 0);
    assert_true(berth_wire_next(&wire, &field));
    assert_true(field.number == (1u << 29) - 1 && field.value == 5);
    assert_false(berth_wire_next(&wire, &field));
    assert_null(wire.problem);
}

static void groups_are_skipped(void **state) {
    (void)state;
    /* 1 { 2: 5, 3 { 4: "ab" } } 5: 7 */
    static const char bytes[] = "\x0b\x10\x05\x1b\x22\x02"
                                "ab\x1c\x0c\x28\x07";
    berth_wire wire = {.bytes = bytes, .end = sizeof bytes - 1};
    berth_wire_field field;
    assert_true(berth_wire_next(&wire, &field));
    assert_int_equal(field.type, BERTH_WIRE_GROUP);
    assert_true(berth_wire_next(&wire, &field));
    assert_true(field.number == 5 && field.value == 7);
    assert_false(berth_wire_next(&wire, &field));
    assert_null(wire.problem);
}

static void broken_groups(void **state) {
    (void)state;
    REFUSE("\x08\x01\x0c", 2, "did not begin");
    REFUSE("\x0b\x10\x05", 0, "does not end");
    REFUSE("\x0b\x14", 1, "did not begin");
    REFUSE("\x0b\x10", 2, "cut off");
    char deep[1000];
    memset(deep, 0x0b, sizeof deep);
    refuse(deep, sizeof deep, 64, "too deeply");
}

static void broken_tags(void **state) {
    (void)state;
    REFUSE("\x00", 0, "number 0");
    REFUSE("\x08\x01\x02\x00", 2, "number 0");
    REFUSE("\x0e", 0, "wire type");
    REFUSE("\x0f", 0, "wire type");
    REFUSE("\x88\x80\x80\x80\x10\x01", 0, "29 bits");
    REFUSE("\x88", 0, "cut off");
}

static void broken_content(void **state) {
    (void)state;
    REFUSE("\x08", 1, "cut off");
    REFUSE("\x08\xff", 1, "cut off");
    REFUSE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 1, "64 bits");
    REFUSE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01", 1, "64 bits");
    REFUSE("\x0d\x01\x02\x03", 1, "cut off");
    REFUSE("\x09\x01\x02\x03\x04\x05\x06\x07", 1, "cut off");
    REFUSE("\x0a\x01", 0, "longer");
    REFUSE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, "longer");
    REFUSE("\x0a\x80", 1, "cut off");
}

static void packed_lists(void **state) {
    (void)state;
    static const char bytes[] = "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80";
    berth_wire wire = {.bytes = bytes, .end = sizeof bytes - 1};
    uint64_t value = 0;
    assert_true(berth_wire_item(&wire, BERTH_WIRE_VARINT, &value) && value == 1);
    assert_true(berth_wire_item(&wire, BERTH_WIRE_VARINT, &value) && value == UINT64_MAX);
    assert_false(berth_wire_item(&wire, BERTH_WIRE_VARINT, &value));
    assert_non_null(wire.problem);
    assert_int_equal(wire.at, 11);
    wire = (berth_wire){.bytes = bytes, .end = 12};
    assert_true(berth_wire_item(&wire, BERTH_WIRE_FIXED64, &value) && value == 0xffffffffffffff01u);
    assert_true(berth_wire_item(&wire, BERTH_WIRE_FIXED32, &value) && value == 0x8001ffffu);
    assert_false(berth_wire_item(&wire, BERTH_WIRE_FIXED32, &value));
    assert_null(wire.problem);
}

static void copy_bytes(const void *from, size_t at, size_t n, void *to) {
    memcpy(to, (const char *)from + at, n);
}

/* Through a window a cursor sees the same fields, and the same problem, as in place. */
static void windows_show_the_same(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        proto p = {0};
        while (p.n < 20000) {
            char filler[6000] = {0};
            proto_int(&p, 1 + support_below(&seed, 100), (int64_t)(support_random(&seed) >> support_below(&seed, 64)));
            proto_bytes(&p, 2, filler, support_below(&seed, round % 2 ? 20 : sizeof filler));
            proto_float(&p, 3, 1);
        }
        p.n -= support_below(&seed, 10);
        berth_wire_window window = {.copy = copy_bytes, .from = p.bytes, .size = p.n};
        berth_wire through = wire_of(&p), place = wire_of(&p);
        through.window = &window;
        bool more = true;
        while (more) {
            berth_wire_field a, b;
            more = berth_wire_next(&place, &a);
            assert_true(berth_wire_next(&through, &b) == more);
            assert_memory_equal(&a, &b, sizeof a);
            if (!more) break;
            const char *content = berth_wire_content(&through, b.at, b.size);
            assert_memory_equal(content, p.bytes + a.at, a.size);
        }
        assert_true(place.at == through.at && place.problem == through.problem);
        proto_free(&p);
    }
}

/* Whatever the bytes are: the cursor moves forward, stays within, and ends at the end or with a problem. */
static void any_bytes(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < support_cases(20000); round++) {
        char bytes[24];
        size_t n = support_below(&seed, sizeof bytes + 1);
        for (size_t i = 0; i < n; i++) bytes[i] = (char)(support_random(&seed) & (round % 2 ? 0xff : 0x1f));
        berth_wire wire = {.bytes = bytes, .end = n};
        berth_wire_field field;
        for (size_t before = 0; berth_wire_next(&wire, &field); before = wire.at) {
            assert_true(wire.at > before && wire.at <= n && field.where == before);
            assert_true(field.number > 0 && field.at + field.size <= wire.at);
        }
        assert_true(wire.at <= n && (wire.problem || wire.at == n));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_round_trip),    cmocka_unit_test(all_wire_types), cmocka_unit_test(groups_are_skipped),
        cmocka_unit_test(broken_groups),         cmocka_unit_test(broken_tags),    cmocka_unit_test(broken_content),
        cmocka_unit_test(windows_show_the_same), cmocka_unit_test(packed_lists),   cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests_name("read.protobuf", tests, NULL, NULL);
}
