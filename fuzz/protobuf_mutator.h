/* SPDX-License-Identifier: Apache-2.0 */
/* A mutator for targets that read protobuf. It knows the wire format, not ONNX: it walks down the fields that look like
 * messages, changes one field somewhere, and writes the lengths on the way back, so that most inputs stay well-formed
 * and reach what is behind the parser. Strings are replaced by other strings of the same input, so that names meet. A
 * quarter of the time libFuzzer's own mutations are used instead. */
#ifndef BERTH_FUZZ_PROTOBUF_MUTATOR_H
#define BERTH_FUZZ_PROTOBUF_MUTATOR_H

#include "promise.h"

#include "read/protobuf.h"

enum { MAX_POOL = 1024, MAX_DEPTH = 40, MAX_NUMBER = 64 };

typedef struct piece {
    berth_wire_field field;
    size_t end; /* of the whole field; field.where is its start */
    bool message;
} piece;

typedef struct mutation {
    uint64_t state;
    const uint8_t *data;
    piece pool[MAX_POOL]; /* every field of every depth */
    size_t n_pool;
    uint8_t *out;
    size_t n, capacity;
} mutation;

static uint64_t draw(mutation *m) { /* SplitMix64 */
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(mutation *m, size_t n) {
    return (size_t)(draw(m) % n);
}

static bool next_piece(const mutation *m, berth_wire *wire, piece *p) {
    *p = (piece){0};
    if (!berth_wire_next(wire, &p->field)) return false;
    p->end = wire->at;
    if (p->field.type != BERTH_WIRE_BYTES || p->field.size == 0) return true;
    berth_wire inner = {.bytes = (const char *)m->data, .at = p->field.at, .end = p->field.at + p->field.size};
    berth_wire_field field;
    p->message = true;
    while (p->message && berth_wire_next(&inner, &field))
        p->message = field.number < MAX_NUMBER && field.type != BERTH_WIRE_GROUP;
    p->message = p->message && !inner.problem;
    return true;
}

static void collect(mutation *m, size_t at, size_t end, int depth) {
    berth_wire wire = {.bytes = (const char *)m->data, .at = at, .end = end};
    for (piece p; m->n_pool < MAX_POOL && next_piece(m, &wire, &p);) {
        m->pool[m->n_pool++] = p;
        if (p.message && depth < MAX_DEPTH) collect(m, p.field.at, p.end, depth + 1);
    }
}

static void put(mutation *m, const void *bytes, size_t n) {
    if (n > m->capacity - m->n) n = m->capacity - m->n;
    if (n) memcpy(m->out + m->n, bytes, n);
    m->n += n;
}

static void put_varint(mutation *m, uint64_t value) {
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(m, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_piece(mutation *m, const piece *p) {
    put(m, m->data + p->field.where, p->end - p->field.where);
}

static void put_bytes(mutation *m, uint32_t number, const uint8_t *bytes, size_t n) {
    put_varint(m, (uint64_t)number << 3 | BERTH_WIRE_BYTES);
    put_varint(m, n);
    put(m, bytes, n);
}

/* Another field of the input: one that satisfies the wish if a few tries find one, else NULL. */
static const piece *find_other(mutation *m, const piece *p, bool same_number) {
    for (int i = 0; i < 20; i++) {
        const piece *other = &m->pool[below(m, m->n_pool)];
        if (same_number ? other->field.number == p->field.number && other->field.type == p->field.type
                        : other->field.type == BERTH_WIRE_BYTES && !other->message)
            return other;
    }
    return NULL;
}

static void put_number(mutation *m, const piece *p) {
    static const int64_t strange[] = {0, 1, 2, 3, 7, 8, -1, -2, 64, 65, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
    uint64_t value = p->field.value;
    switch (below(m, 4)) {
    case 0: value++; break;
    case 1: value--; break;
    case 2: value = below(m, 32); break;
    default: value = (uint64_t)strange[below(m, sizeof strange / sizeof *strange)]; break;
    }
    put_varint(m, (uint64_t)p->field.number << 3 | BERTH_WIRE_VARINT);
    put_varint(m, value);
}

/* Bytes that are no message: another string of the input, or these with some changed, added or cut off. */
static void put_string(mutation *m, const piece *p) {
    const piece *other = below(m, 4) ? find_other(m, p, false) : NULL;
    if (other) {
        put_bytes(m, p->field.number, m->data + other->field.at, other->field.size);
        return;
    }
    uint8_t text[256];
    size_t n = p->field.size < sizeof text - 8 ? p->field.size : sizeof text - 8;
    if (n) memcpy(text, m->data + p->field.at, n);
    switch (below(m, 3)) {
    case 0: n = below(m, n + 1); break;
    case 1:
        for (size_t more = below(m, 8) + 1; more > 0; more--) text[n++] = (uint8_t)draw(m);
        break;
    default:
        if (n) text[below(m, n)] = (uint8_t)draw(m);
        break;
    }
    put_bytes(m, p->field.number, text, n);
}

static void put_changed(mutation *m, const piece *p) {
    const piece *other = NULL;
    switch (below(m, 8)) {
    case 0: return; /* left out */
    case 1:
        put_piece(m, p);
        put_piece(m, p);
        return;
    case 2: /* another field of that number before, after or instead of it */
        other = find_other(m, p, true);
        if (other) put_piece(m, other);
        if (below(m, 2)) put_piece(m, p);
        return;
    case 3: /* any field of the input after it */
        put_piece(m, p);
        put_piece(m, &m->pool[below(m, m->n_pool)]);
        return;
    case 4: /* a new number of a known kind, such as an attribute's or a dimension's */
        put_piece(m, p);
        put_varint(m, (uint64_t)(1 + below(m, 25)) << 3 | BERTH_WIRE_VARINT);
        put_varint(m, below(m, 2) ? below(m, 30) : draw(m));
        return;
    default: break;
    }
    if (p->field.type == BERTH_WIRE_VARINT)
        put_number(m, p);
    else if (p->field.type == BERTH_WIRE_BYTES && !p->message)
        put_string(m, p);
    else
        put_piece(m, p);
}

/* Copy the fields of a message; one of them is changed, or somewhere inside it one is. */
static void change_message(mutation *m, size_t at, size_t end, int depth) {
    berth_wire wire = {.bytes = (const char *)m->data, .at = at, .end = end};
    size_t n_fields = 0, i = 0;
    for (piece p; next_piece(m, &wire, &p);) n_fields++;
    if (!n_fields) return;
    size_t chosen = below(m, n_fields);
    wire = (berth_wire){.bytes = (const char *)m->data, .at = at, .end = end};
    for (piece p; next_piece(m, &wire, &p); i++) {
        if (i != chosen) {
            put_piece(m, &p);
        } else if (p.message && depth < MAX_DEPTH && below(m, 8)) {
            /* The length is known only afterwards: write the content apart, then behind its length. */
            size_t start = m->n, room = m->capacity - m->n;
            uint8_t *content = malloc(room ? room : 1);
            if (!content) abort();
            change_message(m, p.field.at, p.end, depth + 1);
            size_t n = m->n - start;
            memcpy(content, m->out + start, n);
            m->n = start;
            put_bytes(m, p.field.number, content, n);
            free(content);
        } else {
            put_changed(m, &p);
        }
    }
    if (wire.problem) put(m, m->data + wire.at, end - wire.at);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    mutation *m = malloc(sizeof *m);
    if (!m) abort();
    m->state = seed;
    m->data = data;
    m->n_pool = m->n = 0;
    m->capacity = max_size;
    collect(m, 0, size, 0);
    size_t n = 0;
    if (m->n_pool == 0 || below(m, 4) == 0) {
        n = LLVMFuzzerMutate(data, size, max_size);
    } else {
        m->out = malloc(max_size ? max_size : 1);
        if (!m->out) abort();
        change_message(m, 0, size, 0);
        n = m->n;
        memcpy(data, m->out, n);
        free(m->out);
    }
    free(m);
    return n;
}

#endif
