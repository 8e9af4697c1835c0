/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: Philox4x32-10, a counter-based generator. A seed has 2^64 streams that never overlap, one per
 * purpose (initial weights, rollouts, shuffles), so that drawing more in one place changes nothing in another. The
 * state is seed, stream and position: three numbers to store in a checkpoint.
 *
 *     berth_rng rng;
 *     berth_rng_init(&rng, seed, MY_STREAM);
 *     double x = berth_rng_uniform(&rng);
 */
#ifndef BERTH_BASE_RNG_H
#define BERTH_BASE_RNG_H

#include <stdint.h>

typedef struct berth_rng {
    uint64_t seed, stream;
    uint64_t position;  /* numbers of 32 bits drawn so far; berth_rng_seek jumps */
    uint32_t output[4]; /* the block that holds `position`, where position % 4 is not 0 */
} berth_rng;

void berth_rng_init(berth_rng *rng, uint64_t seed, uint64_t stream);
/* As if `position` numbers of 32 bits had been drawn since the start. */
void berth_rng_seek(berth_rng *rng, uint64_t position);
uint32_t berth_rng_next(berth_rng *rng);
/* In [0, 1), a multiple of 2^-53. */
double berth_rng_uniform(berth_rng *rng);
/* In [0, n), each equally likely; n > 0. */
uint32_t berth_rng_below(berth_rng *rng, uint32_t n);
/* Mean 0, variance 1. */
double berth_rng_normal(berth_rng *rng);

/* The block function itself: ten rounds on a counter of 128 bits with a key of 64. */
void berth_rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
