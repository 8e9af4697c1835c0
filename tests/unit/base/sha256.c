/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/sha256.h"

static void digest_of(const void *bytes, size_t n, char text[65]) {
    berth_sha256 sha;
    unsigned char digest[BERTH_SHA256_SIZE];
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, bytes, n);
    berth_sha256_finish(&sha, digest);
    berth_sha256_hex(digest, text);
}

/* FIPS 180-4 examples and NIST's CAVP byte-oriented messages. */
static void standard_vectors(void **state) {
    (void)state;
    static const struct {
        const char *message, *digest;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrs"
         "tu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
        {"\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
        {"\xc9\x8c\x8e\x55", "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[65];
        digest_of(cases[i].message, strlen(cases[i].message), text);
        assert_string_equal(text, cases[i].digest);
    }
}

static void million_letters(void **state) {
    (void)state;
    berth_sha256 sha;
    unsigned char digest[BERTH_SHA256_SIZE];
    char chunk[1000], text[65];
    memset(chunk, 'a', sizeof chunk);
    berth_sha256_init(&sha);
    for (int i = 0; i < 1000; i++) berth_sha256_update(&sha, chunk, sizeof chunk);
    berth_sha256_finish(&sha, digest);
    berth_sha256_hex(digest, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* All lengths around the padding's corners: the digests of 0x00, 0x01, ... chained into one, as Python's hashlib
 * gives it: h = sha256(); for n in range(300): h.update(sha256(bytes(i % 251 for i in range(n))).digest()). */
static void every_length(void **state) {
    (void)state;
    unsigned char bytes[300], digest[BERTH_SHA256_SIZE];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i % 251);
    berth_sha256 all, one;
    berth_sha256_init(&all);
    for (size_t n = 0; n < sizeof bytes; n++) {
        berth_sha256_init(&one);
        berth_sha256_update(&one, bytes, n);
        berth_sha256_finish(&one, digest);
        berth_sha256_update(&all, digest, sizeof digest);
    }
    char text[65];
    berth_sha256_finish(&all, digest);
    berth_sha256_hex(digest, text);
    assert_string_equal(text, "fa70b867db0a30acb7218d62945db0df52eb393808b30675ea9aac6b058a9a9d");
}

static void pieces_equal_whole(void **state) {
    (void)state;
    uint64_t random = 1;
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)support_random(&random);
    for (int round = 0; round < 2000; round++) {
        size_t n = support_below(&random, sizeof bytes + 1), done = 0;
        char whole[65], parts[65];
        digest_of(bytes, n, whole);
        berth_sha256 sha;
        unsigned char digest[BERTH_SHA256_SIZE];
        berth_sha256_init(&sha);
        while (done < n) {
            size_t step = support_below(&random, 1 + (uint32_t)(n - done < 150 ? n - done : 150));
            berth_sha256_update(&sha, step ? bytes + done : NULL, step);
            done += step;
            if (step == 0) berth_sha256_update(&sha, bytes + done++, 1);
        }
        berth_sha256_finish(&sha, digest);
        berth_sha256_hex(digest, parts);
        assert_string_equal(parts, whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_vectors),
        cmocka_unit_test(million_letters),
        cmocka_unit_test(every_length),
        cmocka_unit_test(pieces_equal_whole),
    };
    return cmocka_run_group_tests_name("base.sha256", tests, NULL, NULL);
}
