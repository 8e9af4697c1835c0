/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as in FIPS 180-4, sections 4.1.2, 5 and 6.2. The letters are the standard's. Whole blocks are taken where
 * the caller's bytes stand; only what is left over is kept in the struct until the next call. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits) {
    return (x >> bits) | (x << (32 - bits));
}

static uint32_t read_word(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void write_word(unsigned char *bytes, uint32_t word) {
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void take_block(uint32_t state[8], const unsigned char block[64]) {
    uint32_t W[64];
    for (size_t t = 0; t < 16; t++) W[t] = read_word(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(W[t - 15], 7) ^ rotate(W[t - 15], 18) ^ (W[t - 15] >> 3);
        uint32_t s1 = rotate(W[t - 2], 17) ^ rotate(W[t - 2], 19) ^ (W[t - 2] >> 10);
        W[t] = s1 + W[t - 7] + s0 + W[t - 16];
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        uint32_t S1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t T1 = h + S1 + ((e & f) ^ (~e & g)) + K[t] + W[t];
        uint32_t S0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t T2 = S0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + T1;
        d = c, c = b, b = a, a = T1 + T2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void berth_sha256_init(berth_sha256 *sha) {
    *sha = (berth_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void berth_sha256_update(berth_sha256 *sha, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    size_t waiting = (size_t)(sha->size % sizeof sha->block);
    sha->size += n;
    if (waiting + n < sizeof sha->block) {
        if (n) memcpy(sha->block + waiting, at, n);
        return;
    }
    if (waiting) {
        size_t fill = sizeof sha->block - waiting;
        memcpy(sha->block + waiting, at, fill);
        take_block(sha->state, sha->block);
        at += fill;
        n -= fill;
    }
    for (; n >= sizeof sha->block; at += sizeof sha->block, n -= sizeof sha->block) take_block(sha->state, at);
    if (n) memcpy(sha->block, at, n);
}

void berth_sha256_finish(berth_sha256 *sha, unsigned char digest[BERTH_SHA256_SIZE]) {
    static const unsigned char padding[64] = {0x80};
    uint64_t bits = sha->size * 8;
    /* One byte 0x80, then zeros up to eight bytes before the end of a block, then the length. */
    size_t waiting = (size_t)(sha->size % 64);
    berth_sha256_update(sha, padding, waiting < 56 ? 56 - waiting : 120 - waiting);
    unsigned char length[8];
    write_word(length, (uint32_t)(bits >> 32));
    write_word(length + 4, (uint32_t)bits);
    berth_sha256_update(sha, length, sizeof length);
    for (size_t i = 0; i < 8; i++) write_word(digest + 4 * i, sha->state[i]);
}

void berth_sha256_hex(const unsigned char digest[BERTH_SHA256_SIZE], char text[2 * BERTH_SHA256_SIZE + 1]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < BERTH_SHA256_SIZE; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[(size_t)2 * BERTH_SHA256_SIZE] = 0;
}
