/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, linear probing, SipHash-1-3 (Aumasson and Bernstein 2012) keyed by the context's secret, so that a
 * hostile file cannot choose names that collide. */
#include "base/map.h"

#include <assert.h>
#include <string.h>

void berth_map_init(berth_map *map, berth_ctx *ctx) {
    const uint64_t *key = berth_ctx_hash_key(ctx);
    *map = (berth_map){.allocator = *berth_ctx_allocator(ctx), .hash_key = {key[0], key[1]}};
}

void berth_map_deinit(berth_map *map) {
    map->slots = berth_resize(&map->allocator, map->slots, map->n_slots, 0, sizeof *map->slots);
    map->n = map->n_slots = 0;
}

static uint64_t rotate(uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

static void sip_round(uint64_t v[4]) {
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

static uint64_t hash_bytes(const uint64_t key[2], const char *bytes, size_t n) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    uint64_t last = (uint64_t)n << 56;
    for (; n >= 8; bytes += 8, n -= 8) {
        uint64_t word = 0;
        memcpy(&word, bytes, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < n; i++) last |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot that holds the key, or the empty one where it belongs. There is always an empty one. */
static berth_map_slot *probe(berth_map_slot *slots, size_t n_slots, const char *key, size_t size, uint64_t hash) {
    for (size_t i = hash & (n_slots - 1);; i = (i + 1) & (n_slots - 1)) {
        berth_map_slot *slot = &slots[i];
        if (!slot->key) return slot;
        if (slot->hash == hash && slot->size == size && memcmp(slot->key, key, size) == 0) return slot;
    }
}

static bool grow(berth_map *map) {
    size_t n_slots = map->n_slots ? map->n_slots * 2 : 16;
    berth_map_slot *slots = berth_resize(&map->allocator, NULL, 0, n_slots, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < map->n_slots; i++) {
        const berth_map_slot *old = &map->slots[i];
        if (old->key) *probe(slots, n_slots, old->key, old->size, old->hash) = *old;
    }
    berth_resize(&map->allocator, map->slots, map->n_slots, 0, sizeof *slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return true;
}

const int32_t *berth_map_find(const berth_map *map, const char *key, size_t size) {
    if (!map->n_slots) return NULL;
    const berth_map_slot *slot = probe(map->slots, map->n_slots, key, size, hash_bytes(map->hash_key, key, size));
    return slot->key ? &slot->value : NULL;
}

int32_t *berth_map_insert(berth_map *map, const char *key, size_t size, int32_t fresh, bool *inserted) {
    assert(key); /* NULL marks an empty slot; the empty key is "" */
    if ((map->n + 1) * 4 > map->n_slots * 3 && !grow(map)) return NULL;
    uint64_t hash = hash_bytes(map->hash_key, key, size);
    berth_map_slot *slot = probe(map->slots, map->n_slots, key, size, hash);
    if (inserted) *inserted = !slot->key;
    if (!slot->key) {
        *slot = (berth_map_slot){key, size, hash, fresh};
        map->n++;
    }
    return &slot->value;
}
