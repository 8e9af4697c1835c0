/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3
 * and table 2). The key is the seed; the counter is the stream in its upper and the number of the block in its lower
 * half. Passes BigCrush as published; no state is carried from block to block. */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

void berth_rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t L0 = counter[0], R0 = counter[1], L1 = counter[2], R1 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xd2511f53) * L0, p1 = UINT64_C(0xcd9e8d57) * L1;
        L0 = (uint32_t)(p1 >> 32) ^ R0 ^ k0;
        L1 = (uint32_t)(p0 >> 32) ^ R1 ^ k1;
        R0 = (uint32_t)p1;
        R1 = (uint32_t)p0;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    out[0] = L0, out[1] = R0, out[2] = L1, out[3] = R1;
}

static void make_block(berth_rng *rng) {
    uint64_t block = rng->position / 4;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)rng->stream,
                                 (uint32_t)(rng->stream >> 32)};
    const uint32_t key[2] = {(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)};
    berth_rng_philox(counter, key, rng->output);
}

void berth_rng_init(berth_rng *rng, uint64_t seed, uint64_t stream) {
    *rng = (berth_rng){.seed = seed, .stream = stream};
}

void berth_rng_seek(berth_rng *rng, uint64_t position) {
    rng->position = position;
    if (position % 4) make_block(rng);
}

uint32_t berth_rng_next(berth_rng *rng) {
    if (rng->position % 4 == 0) make_block(rng);
    return rng->output[rng->position++ % 4];
}

double berth_rng_uniform(berth_rng *rng) {
    uint64_t high = berth_rng_next(rng);
    uint64_t bits = high << 32 | berth_rng_next(rng);
    return (double)(bits >> 11) * 0x1p-53;
}

/* Lemire 2019: the upper half of a product is uniform once lower halves below 2^32 mod n are drawn again. */
uint32_t berth_rng_below(berth_rng *rng, uint32_t n) {
    assert(n > 0);
    uint32_t excess = (uint32_t)-n % n;
    uint64_t product = 0;
    do product = (uint64_t)berth_rng_next(rng) * n;
    while ((uint32_t)product < excess);
    return (uint32_t)(product >> 32);
}

/* Box and Muller; the second of the pair is not kept, so that the state stays three numbers. */
double berth_rng_normal(berth_rng *rng) {
    double radius = sqrt(-2 * log(1 - berth_rng_uniform(rng)));
    return radius * cos(2 * 3.14159265358979323846 * berth_rng_uniform(rng));
}
