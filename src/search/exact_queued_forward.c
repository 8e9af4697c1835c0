/* SPDX-License-Identifier: Apache-2.0 */
/* The pass forwards: from the labels of one layer to those of the next (exact_queued.h).
 *
 * First all keys that a step leads to, then the labels of one key after another, so that those of a key lie side by
 * side. What the round before has seen to lead nowhere is left out: its keys are those of this round with more fields
 * given up (a round never gives up a field where the one before knew it), and for each it has rests that no completion
 * undercuts. */
#include <math.h>
#include <string.h>

#include "search/exact_queued.h"

enum { LOOK_EVERY = 4096 };             /* steps */
static const double work_per_step = 32; /* additions that would take as long */

static void fill(const berth_queued_move *move, double *memory) {
    memory[0] += move->ms;
    if (move->kind == BERTH_QUEUED_FILL) return;
    memory[1] += move->ms;
    if (memory[0] + move->more > memory[1]) memory[1] = memory[0] + move->more;
}

void berth_queued_move_on(const berth_queued_model *m, int32_t n_moves, double *clock) {
    int32_t host = m->c->host;
    double h = clock[host];
    for (int32_t i = 0; i < n_moves; i++) {
        const berth_queued_move *move = &m->moves[i];
        double *q = &clock[move->at];
        if (move->kind == BERTH_QUEUED_HOST)
            h += move->ms;
        else if (move->kind == BERTH_QUEUED_ENTER)
            *q = (*q > h ? *q : h) + move->ms;
        else if (move->kind == BERTH_QUEUED_LEAVE)
            h = (*q > h ? *q : h) + move->ms;
        else
            fill(move, q);
    }
    clock[host] = h;
    for (int32_t d = 0; d < m->n_devices; d++)
        if (clock[d] < h) clock[d] = h;
}

bool berth_queued_stops(berth_queued_search *s, int32_t n) {
    if (!s->patience) {
        berth_search_step(s->search, n);
        s->stopped = s->stopped || berth_search_stop(s->search);
        return s->stopped;
    }
    s->steps += n;
    if (s->steps < LOOK_EVERY) return s->stopped;
    s->patience->work -= work_per_step * (double)s->steps + (double)s->compared;
    s->steps = 0;
    s->compared = 0;
    s->stopped = s->stopped || berth_patience_ends(s->search, s->patience);
    return s->stopped;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static const uint64_t *key_of(const berth_queued_search *s, const berth_queued_layer *layer, int32_t key) {
    return layer->keys + (size_t)key * (size_t)s->model.n_words;
}

static void list_edges(berth_queued_search *s, int32_t position) {
    const berth_queued_layer *layer = &s->now->layers[position];
    uint64_t next[BERTH_QUEUED_WORDS];
    s->n_edges = 0;
    berth_queued_keys_clear(&s->keys);
    for (int32_t from = 0; from < layer->n_keys; from++) {
        const uint64_t *key = key_of(s, layer, from);
        for (uint64_t rest = berth_queued_choices(&s->model, key, position); rest; rest &= rest - 1) {
            int32_t device = __builtin_ctzll(rest);
            berth_queued_step(&s->model, key, position, device, next);
            s->edges[s->n_edges++] =
                (berth_queued_edge){.from = from, .device = device, .to = berth_queued_keys_add(&s->keys, next)};
        }
    }
}

/* Numbers keys anew by s->number, and drops edges to those without a number. */
static void renumber(berth_queued_search *s) {
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_edges; i++) {
        berth_queued_edge edge = s->edges[i];
        edge.to = s->number[edge.to];
        if (edge.to >= 0) s->edges[n++] = edge;
    }
    s->n_edges = n;
}

static void swap_keys(berth_queued_search *s) {
    berth_queued_keys swap = s->keys;
    s->keys = s->other_keys;
    s->other_keys = swap;
}

/* Keeps keys that the round before has rests for, and notes which. */
static void match(berth_queued_search *s, int32_t position) {
    if (!s->before) return;
    const berth_queued_layer *old = &s->before->layers[position];
    uint64_t key[BERTH_QUEUED_WORDS];
    size_t n_words = (size_t)s->model.n_words;
    berth_queued_keys_clear(&s->old_keys);
    berth_queued_keys_clear(&s->other_keys);
    for (int32_t i = 0; i < old->n_keys; i++) berth_queued_keys_add(&s->old_keys, key_of(s, old, i));
    for (int32_t i = 0; i < s->keys.n; i++) {
        const uint64_t *full = s->keys.keys + (size_t)i * n_words;
        for (size_t w = 0; w < n_words; w++) key[w] = full[w] & old->known[w];
        int32_t found = berth_queued_keys_find(&s->old_keys, key);
        s->number[i] = -1;
        if (found < 0 || old->rest_start[found] == old->rest_start[found + 1]) continue;
        s->number[i] = berth_queued_keys_add(&s->other_keys, full);
        s->old[s->number[i]] = found;
    }
    renumber(s);
    swap_keys(s);
}

/* --- giving up fields --------------------------------------------------------------------------------------------- */

/* Keys with a field cleared go to other_keys. */
static void clear_field(berth_queued_search *s, int32_t field) {
    uint64_t key[BERTH_QUEUED_WORDS];
    size_t n_words = (size_t)s->model.n_words;
    berth_queued_keys_clear(&s->other_keys);
    for (int32_t i = 0; i < s->keys.n; i++) {
        memcpy(key, s->keys.keys + (size_t)i * n_words, n_words * sizeof *key);
        berth_queued_set(&s->model, key, field, 0);
        s->number[i] = berth_queued_keys_add(&s->other_keys, key);
    }
}

/* How many different sets there are in a field. */
static int32_t count_sets(const berth_queued_search *s, int32_t field) {
    uint64_t seen[((size_t)1 << BERTH_QUEUED_DEVICES) / 64] = {0};
    int32_t n = 0;
    for (int32_t i = 0; i < s->keys.n; i++) {
        uint64_t set = berth_queued_get(&s->model, s->keys.keys + (size_t)i * (size_t)s->model.n_words, field);
        uint64_t fresh = ~seen[set / 64] >> set % 64 & 1;
        n += (int32_t)fresh;
        seen[set / 64] |= (uint64_t)1 << set % 64;
    }
    return n;
}

/* The field that is worth least for what it may save of keys; -1: none may be given up. */
static int32_t cheapest_field(const berth_queued_search *s, int32_t position) {
    const berth_queued_layer *old = s->before ? &s->before->layers[position] : NULL;
    int32_t best = -1;
    double best_price = INFINITY;
    for (int32_t field = 0; field < s->model.n_fields; field++) {
        if (s->owner[field] < 0 || (old && berth_queued_get(&s->model, old->known, field))) continue;
        int32_t n_sets = count_sets(s, field);
        if (n_sets == 1) continue;
        double price = berth_queued_worth(&s->model, s->owner[field]) / log2(n_sets);
        if (best >= 0 && price >= best_price) continue;
        best = field;
        best_price = price;
    }
    return best;
}

/* Until there are no more keys than there may be. With all fields given up that were not known in the round before,
 * its keys are left, and in the first round at most as many as there are sets of equal devices in use. */
static void give_up_fields(berth_queued_search *s, int32_t position) {
    berth_queued_layer *layer = &s->now->layers[position];
    while (s->keys.n > s->most_keys) {
        int32_t field = cheapest_field(s, position);
        if (field < 0) break;
        clear_field(s, field);
        for (int32_t i = 0; i < s->keys.n; i++) s->old_room[s->number[i]] = s->old[i];
        memcpy(s->old, s->old_room, (size_t)s->other_keys.n * sizeof *s->old);
        renumber(s);
        swap_keys(s);
        berth_queued_set(&s->model, layer->known, field, 0);
        s->now->relaxed = true;
    }
}

/* Whoever owns fields from here on is known again. */
static void know_more(berth_queued_search *s, int32_t position) {
    const berth_queued_layer *before = &s->now->layers[position];
    berth_queued_layer *layer = &s->now->layers[position + 1];
    memcpy(s->owner_before, s->owner, (size_t)s->model.n_fields * sizeof *s->owner);
    berth_queued_own(&s->model, s->owner, position);
    memcpy(layer->known, before->known, sizeof layer->known);
    for (int32_t field = 0; field < s->model.n_fields; field++)
        if (s->owner[field] != s->owner_before[field])
            berth_queued_set(&s->model, layer->known, field, ((uint64_t)1 << s->model.bits) - 1);
}

/* --- labels ------------------------------------------------------------------------------------------------------- */

static bool is_hopeless(berth_queued_search *s, const double *clock, int32_t position, int32_t old) {
    int32_t k = s->model.width;
    if (!s->before) {
        bool fits = clock[s->model.c->host] + s->model.host_rest[position] < s->limit[0];
        for (int32_t d = 0; d < k && fits; d++) fits = clock[d] < s->limit[d];
        return !fits;
    }
    const berth_queued_layer *layer = &s->before->layers[position];
    for (int32_t i = layer->rest_start[old]; i < layer->rest_start[old + 1]; i++) {
        const double *rest = layer->rest + (size_t)i * (size_t)k;
        bool fits = true;
        for (int32_t d = 0; d < k && fits; d++) fits = clock[d] + rest[d] < s->limit[d];
        s->compared++;
        if (fits) return false;
    }
    return true;
}

static void follow(berth_queued_search *s, const berth_queued_edge *edge, int32_t position) {
    const berth_queued_layer *layer = &s->now->layers[position];
    berth_queued_front *f = &s->fresh;
    size_t k = (size_t)s->model.width;
    uint64_t next[BERTH_QUEUED_WORDS];
    int32_t n_moves = berth_queued_step(&s->model, key_of(s, layer, edge->from), position, edge->device, next);
    for (int32_t i = layer->label_start[edge->from]; i < layer->label_start[edge->from + 1]; i++) {
        double *clock = f->clock + (size_t)f->n * k;
        memcpy(clock, layer->label + (size_t)i * k, k * sizeof *clock);
        berth_queued_move_on(&s->model, n_moves, clock);
        if (is_hopeless(s, clock, position + 1, s->before ? s->old[edge->to] : -1)) continue;
        f->parent[f->n] = i;
        f->device[f->n++] = edge->device;
    }
}

static void sort_edges(berth_queued_search *s) {
    int32_t n_keys = s->keys.n;
    memset(s->edge_start, 0, ((size_t)n_keys + 1) * sizeof *s->edge_start);
    for (int32_t i = 0; i < s->n_edges; i++) s->edge_start[s->edges[i].to + 1]++;
    for (int32_t key = 0; key < n_keys; key++) s->edge_start[key + 1] += s->edge_start[key];
    memcpy(s->number, s->edge_start, (size_t)n_keys * sizeof *s->number);
    for (int32_t i = 0; i < s->n_edges; i++) s->sorted_edges[s->number[s->edges[i].to]++] = s->edges[i];
}

/* Labels of all keys; false: stopped. */
static bool gather(berth_queued_search *s, int32_t position) {
    const berth_queued_layer *layer = &s->now->layers[position];
    s->fresh.n = 0;
    sort_edges(s);
    for (int32_t key = 0; key < s->keys.n; key++) {
        s->label_start[key] = s->fresh.n;
        for (int32_t i = s->edge_start[key]; i < s->edge_start[key + 1]; i++) {
            const berth_queued_edge *edge = &s->sorted_edges[i];
            follow(s, edge, position);
            if (berth_queued_stops(s, layer->label_start[edge->from + 1] - layer->label_start[edge->from]))
                return false;
        }
        berth_queued_front_thin(&s->fresh, s->label_start[key], &s->sieve);
    }
    s->label_start[s->keys.n] = s->fresh.n;
    return true;
}

/* How many labels each key may have so that there are no more than `most` of them. */
static int32_t share(const int32_t *start, int32_t n_keys, int32_t most) {
    int32_t low = 1, high = most;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        int64_t sum = 0;
        for (int32_t key = 0; key < n_keys; key++) {
            int32_t n = start[key + 1] - start[key];
            sum += n < middle ? n : middle;
        }
        if (sum <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Leaves the labels in s->merged. */
static void merge_labels(berth_queued_search *s) {
    int32_t most = share(s->label_start, s->keys.n, s->most_labels);
    s->merged.n = 0;
    for (int32_t key = 0; key < s->keys.n; key++) {
        int32_t from = s->label_start[key], to = s->label_start[key + 1];
        s->label_start[key] = s->merged.n;
        berth_queued_front_merge(&s->fresh, from, to, most, &s->sieve, &s->merged);
        if (to - from > most) s->now->relaxed = true;
    }
    s->label_start[s->keys.n] = s->merged.n;
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

/* Numbers keys that have labels. */
static int32_t number_keys(berth_queued_search *s) {
    int32_t n = 0;
    for (int32_t key = 0; key < s->keys.n; key++)
        s->number[key] = s->label_start[key] < s->label_start[key + 1] ? n++ : -1;
    return n;
}

static bool store(berth_queued_search *s, int32_t position) {
    berth_queued_layer *from = &s->now->layers[position], *to = from + 1;
    const berth_queued_front *f = &s->merged;
    size_t k = (size_t)s->model.n_devices, n_words = (size_t)s->model.n_words, n = (size_t)f->n;
    size_t width = (size_t)s->model.width;
    int32_t n_keys = number_keys(s);
    to->keys = berth_arena_push(&s->now->kept, (size_t)n_keys * n_words, sizeof *to->keys);
    to->label_start = berth_arena_push(&s->now->passing, (size_t)n_keys + 1, sizeof *to->label_start);
    to->label = berth_arena_copy(&s->now->passing, f->clock, n * width, sizeof *to->label);
    to->parent = berth_arena_copy(&s->now->passing, f->parent, n, sizeof *to->parent);
    to->device = berth_arena_copy(&s->now->passing, f->device, n, sizeof *to->device);
    from->next = berth_arena_push(&s->now->passing, (size_t)from->n_keys * k, sizeof *from->next);
    if (s->now->kept.failed || s->now->passing.failed) return false;
    to->n_keys = n_keys;
    to->label_start[n_keys] = f->n;
    for (int32_t key = 0; key < s->keys.n; key++) {
        if (s->number[key] < 0) continue;
        memcpy(to->keys + (size_t)s->number[key] * n_words, s->keys.keys + (size_t)key * n_words,
               n_words * sizeof *to->keys);
        to->label_start[s->number[key]] = s->label_start[key];
    }
    memset(from->next, -1, (size_t)from->n_keys * k * sizeof *from->next);
    for (int32_t i = 0; i < s->n_edges; i++)
        from->next[(size_t)s->edges[i].from * k + (size_t)s->edges[i].device] = s->number[s->edges[i].to];
    return true;
}

/* Nothing placed yet: one key, one label, all clocks at 0. */
static bool begin(berth_queued_search *s) {
    berth_queued_layer *layer = &s->now->layers[0];
    layer->n_keys = 1;
    layer->keys = berth_arena_push(&s->now->kept, (size_t)s->model.n_words, sizeof *layer->keys);
    layer->label_start = berth_arena_push(&s->now->passing, 2, sizeof *layer->label_start);
    layer->label = berth_arena_push(&s->now->passing, (size_t)s->model.width, sizeof *layer->label);
    layer->parent = berth_arena_push(&s->now->passing, 1, sizeof *layer->parent);
    layer->device = berth_arena_push(&s->now->passing, 1, sizeof *layer->device);
    if (s->now->kept.failed || s->now->passing.failed) return false;
    layer->label_start[1] = 1;
    berth_queued_begin(&s->model, layer->keys);
    memset(layer->known, -1, sizeof layer->known);
    berth_queued_own(&s->model, s->owner, -1);
    return true;
}

berth_status berth_queued_forward(berth_queued_search *s) {
    s->now->relaxed = !s->model.all_known;
    if (!begin(s)) return berth_fail_nomem(s->search->ctx);
    for (int32_t position = 0; position < s->model.n; position++) {
        list_edges(s, position);
        know_more(s, position);
        match(s, position + 1);
        give_up_fields(s, position + 1);
        s->full = s->keys.n > s->most_keys;
        if (s->full) return BERTH_OK;
        if (!gather(s, position)) return BERTH_OK;
        merge_labels(s);
        if (!store(s, position)) return berth_fail_nomem(s->search->ctx);
        size_t bytes = s->now->kept.total + s->now->passing.total + (s->before ? s->before->kept.total : 0);
        s->full = bytes > BERTH_QUEUED_BYTES;
        if (s->full) return BERTH_OK;
    }
    return BERTH_OK;
}
