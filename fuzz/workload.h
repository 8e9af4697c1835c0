/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of the workload readers share.
 *
 * The mutator works on words (names, numbers) and pieces (a bracketed value, a line), so that most inputs stay
 * readable and reach the builder: ids move, numbers become strange, tasks are doubled, dropped or reordered. A third
 * of the time libFuzzer's own mutations are used instead. */
#ifndef BERTH_FUZZ_WORKLOAD_H
#define BERTH_FUZZ_WORKLOAD_H

#include "promise.h"

static int run_input(const uint8_t *data, size_t size) {
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return 0; /* gzip is another target's business */
    hold_promises(data, size, NULL, ((size_t)2 << 20) + 200 * size);
    return 0;
}

/* ---- the mutator ----------------------------------------------------------------------------------------------- */

typedef struct span {
    size_t start, end;
} span;

typedef struct mutation {
    uint8_t *data;
    size_t size, max_size;
    uint64_t random;
} mutation;

static size_t below(mutation *m, size_t n) {
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((m->random >> 33) % n);
}

static bool is_word(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '-' || c == '+';
}

/* A word at or behind a random place; empty if there is none. */
static span pick_word(mutation *m) {
    size_t start = below(m, m->size);
    while (start < m->size && !is_word(m->data[start])) start++;
    while (start > 0 && start < m->size && is_word(m->data[start - 1])) start--;
    size_t end = start;
    while (end < m->size && is_word(m->data[end])) end++;
    return (span){start, end};
}

/* A bracketed value, with the comma that follows it, or a line with its end; empty if there is none. */
static span pick_piece(mutation *m) {
    size_t start = below(m, m->size), end = 0;
    bool line = below(m, 2);
    if (line) {
        while (start > 0 && m->data[start - 1] != '\n') start--;
        for (end = start; end < m->size && m->data[end] != '\n';) end++;
        return (span){start, end < m->size ? end + 1 : end};
    }
    while (start < m->size && m->data[start] != '{' && m->data[start] != '[') start++;
    size_t depth = 0;
    for (end = start; end < m->size; end++) {
        depth += m->data[end] == '{' || m->data[end] == '[';
        if ((m->data[end] == '}' || m->data[end] == ']') && --depth == 0) break;
    }
    if (end < m->size) end++;
    if (end < m->size && m->data[end] == ',') end++;
    return (span){start, end};
}

/* `old` becomes a copy of the n bytes; nothing happens if there is no room. */
static void splice(mutation *m, span old, const uint8_t *bytes, size_t n) {
    uint8_t copy[512];
    size_t n_old = old.end - old.start;
    if (n > sizeof copy || m->size - n_old + n > m->max_size) return;
    if (n) memcpy(copy, bytes, n);
    memmove(m->data + old.start + n, m->data + old.end, m->size - old.end);
    if (n) memcpy(m->data + old.start, copy, n);
    m->size = m->size - n_old + n;
}

static size_t mutate_words(mutation *m, const char *const *words, size_t n_words) {
    span a = pick_word(m), b = pick_word(m), piece = pick_piece(m);
    const char *word = words[below(m, n_words)];
    switch (below(m, 6)) {
    case 0:
    case 1: splice(m, a, (const uint8_t *)word, strlen(word)); break;
    case 2: splice(m, a, m->data + b.start, b.end - b.start); break;
    case 3: splice(m, piece, NULL, 0); break;
    case 4: splice(m, (span){piece.start, piece.start}, m->data + piece.start, piece.end - piece.start); break;
    case 5: {
        span other = pick_piece(m);
        splice(m, (span){other.start, other.start}, m->data + piece.start, piece.end - piece.start);
        break;
    }
    }
    return m->size;
}

static size_t mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed, const char *const *words,
                     size_t n_words) {
    mutation m = {data, size, max_size, seed};
    below(&m, 2);
    if (size == 0 || below(&m, 3) == 0) return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
    for (size_t times = 1 + below(&m, 3); times > 0 && m.size > 0; times--) mutate_words(&m, words, n_words);
    return m.size;
}

#endif
