/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, incremental:
 *
 *     berth_sha256 sha;
 *     berth_sha256_init(&sha);
 *     berth_sha256_update(&sha, bytes, n);    (any number of times)
 *     berth_sha256_finish(&sha, digest);
 */
#ifndef BERTH_BASE_SHA256_H
#define BERTH_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { BERTH_SHA256_SIZE = 32 };

typedef struct berth_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes taken in so far; size % 64 of them wait in `block` */
    unsigned char block[64];
} berth_sha256;

void berth_sha256_init(berth_sha256 *sha);
void berth_sha256_update(berth_sha256 *sha, const void *bytes, size_t n);
/* The digest of everything taken in. Afterwards the struct must be initialised again before it is used. */
void berth_sha256_finish(berth_sha256 *sha, unsigned char digest[BERTH_SHA256_SIZE]);
/* The digest as 64 lower-case hexadecimal digits and a NUL. */
void berth_sha256_hex(const unsigned char digest[BERTH_SHA256_SIZE], char text[2 * BERTH_SHA256_SIZE + 1]);

#endif
