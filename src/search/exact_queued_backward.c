/* SPDX-License-Identifier: Apache-2.0 */
/* The pass backwards: rests of the keys of one layer from those of the next (exact_queued.h). Rests that no label of
 * the key can be completed with in time are left out. */
#include <string.h>

#include "search/exact_queued.h"

/* The same for memory + a and peak + b. */
static void fill(const berth_queued_move *move, double *memory) {
    memory[0] += move->ms;
    if (move->kind == BERTH_QUEUED_FILL) return;
    memory[1] += move->ms;
    if (memory[1] + move->more > memory[0]) memory[0] = memory[1] + move->more;
}

/* The largest of clock + rest stays the same: where h + a and q + b count after a move, before it
 * h += ms: h + a + ms. q = max(q, h) + ms: h + max(a, b + ms), q + b + ms. h = max(h, q) + ms likewise. */
void berth_queued_move_back(const berth_queued_model *m, int32_t n_moves, double *rest) {
    int32_t host = m->c->host;
    double h = rest[host];
    for (int32_t i = n_moves - 1; i >= 0; i--) {
        const berth_queued_move *move = &m->moves[i];
        double *q = &rest[move->at];
        if (move->kind == BERTH_QUEUED_HOST) {
            h += move->ms;
        } else if (move->kind == BERTH_QUEUED_ENTER) {
            *q += move->ms;
            if (*q > h) h = *q;
        } else if (move->kind == BERTH_QUEUED_LEAVE) {
            h += move->ms;
            if (h > *q) *q = h;
        } else {
            fill(move, q);
        }
    }
    /* Queues are never behind the host's clock: what follows from them follows from it, too. */
    rest[host] = h;
    for (int32_t d = 0; d < m->n_devices; d++)
        if (rest[d] > rest[host]) rest[host] = rest[d];
}

static bool is_hopeless(berth_queued_search *s, const berth_queued_layer *layer, int32_t key, const double *rest) {
    int32_t k = s->model.width;
    for (int32_t i = layer->label_start[key]; i < layer->label_start[key + 1]; i++) {
        const double *clock = layer->label + (size_t)i * (size_t)k;
        bool fits = true;
        for (int32_t d = 0; d < k && fits; d++) fits = clock[d] + rest[d] < s->limit[d];
        s->compared++;
        if (fits) return false;
    }
    return true;
}

/* One more rest of a key, from one of the next layer (NULL: nothing is left to do). */
static void add(berth_queued_search *s, const berth_queued_layer *layer, int32_t key, int32_t n_moves,
                const double *after) {
    berth_queued_front *f = &s->fresh;
    size_t k = (size_t)s->model.width;
    double *rest = f->clock + (size_t)f->n * k;
    if (after)
        memcpy(rest, after, k * sizeof *rest);
    else
        memset(rest, 0, k * sizeof *rest);
    berth_queued_move_back(&s->model, n_moves, rest);
    if (!is_hopeless(s, layer, key, rest)) f->n++;
}

/* All rests of a key, in s->fresh. False: stopped. */
static bool collect(berth_queued_search *s, int32_t position, int32_t key) {
    const berth_queued_layer *layer = &s->now->layers[position];
    const uint64_t *from = layer->keys + (size_t)key * (size_t)s->model.n_words;
    size_t k = (size_t)s->model.n_devices, width = (size_t)s->model.width;
    uint64_t next[BERTH_QUEUED_WORDS];
    s->fresh.n = 0;
    if (position == s->model.n) {
        add(s, layer, key, berth_queued_step(&s->model, from, position, -1, next), NULL);
        return !berth_queued_stops(s, 1);
    }
    for (int32_t d = 0; d < s->model.n_devices; d++) {
        int32_t to = layer->next[(size_t)key * k + (size_t)d];
        if (to < 0) continue;
        int32_t n_moves = berth_queued_step(&s->model, from, position, d, next);
        for (int32_t i = layer[1].rest_start[to]; i < layer[1].rest_start[to + 1]; i++)
            add(s, layer, key, n_moves, layer[1].rest + (size_t)i * width);
        if (berth_queued_stops(s, layer[1].rest_start[to + 1] - layer[1].rest_start[to])) return false;
    }
    berth_queued_front_thin(&s->fresh, 0, &s->sieve);
    return true;
}

berth_status berth_queued_backward(berth_queued_search *s) {
    size_t k = (size_t)s->model.width;
    for (int32_t position = s->model.n; position >= 0; position--) {
        berth_queued_layer *layer = &s->now->layers[position];
        int32_t most = s->most_labels / (layer->n_keys > 0 ? layer->n_keys : 1);
        layer->rest_start = berth_arena_push(&s->now->kept, (size_t)layer->n_keys + 1, sizeof *layer->rest_start);
        if (!layer->rest_start) return berth_fail_nomem(s->search->ctx);
        s->merged.n = 0;
        for (int32_t key = 0; key < layer->n_keys; key++) {
            if (!collect(s, position, key)) return BERTH_OK;
            berth_queued_front_merge(&s->fresh, 0, s->fresh.n, most > 1 ? most : 1, &s->sieve, &s->merged);
            layer->rest_start[key + 1] = s->merged.n;
        }
        layer->rest = berth_arena_copy(&s->now->kept, s->merged.clock, (size_t)s->merged.n * k, sizeof *layer->rest);
        if (!layer->rest) return berth_fail_nomem(s->search->ctx);
    }
    return BERTH_OK;
}
