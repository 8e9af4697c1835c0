/* SPDX-License-Identifier: Apache-2.0 */
/* `m-etf`: earliest task first with memory limits (Jeon et al., "Baechi", SoCC 2020, section 3.2.1, after Hwang et al.
 * 1989). Of all pairs of a ready task and a device with room for it, the one that starts earliest is placed; ties go to
 * the larger upward rank, then the smaller device.
 *
 * A ready task's inputs reach a device at a fixed time, and devices only become free later. So each device keeps the
 * tasks whose inputs have arrived when it becomes free (a set by rank), and those still to arrive (a heap by time).
 * A task moves from heap to set once per device, and leaves other devices' lists when it comes up there: n k log n.
 *
 * For m-sct (m_sct.c) a device stays awake for the favourite child of its last task, as long as a copy to another
 * device would take: until then other tasks start there only if they are urgent, that is, if their inputs are already
 * everywhere and they gain nothing by going elsewhere. */
#include "search/m_etf.h"

#include <math.h>

#include "search/search_methods.h"
#include "simulate/ready.h"

typedef struct arrival {
    double time;
    int32_t rank; /* position in the order of ranks, which names the task */
} arrival;

typedef BERTH_VEC(arrival) arrival_heap;

typedef struct etf {
    berth_schedule *s;
    const berth_costs *c;
    berth_search *search;
    const int32_t *favourite;
    int32_t *missing;     /* [n_tasks] producers not yet placed */
    arrival_heap *coming; /* [n_devices] */
    berth_ready *here;    /* [n_devices] by position in the order of ranks */
    int32_t *kept_for;    /* [n_devices] unplaced favourite child of the last task there, or -1 */
    double *kept_until;   /* [n_devices] */
    int32_t first_open;   /* no task before this place in the order of ranks is unplaced */
} etf;

typedef struct candidate {
    int32_t rank; /* -1: none */
    int32_t device;
    double start;
} candidate;

static bool comes_before(arrival a, arrival b) {
    return a.time < b.time || (a.time == b.time && a.rank < b.rank);
}

static bool push(etf *e, int32_t d, arrival item) {
    arrival_heap *heap = &e->coming[d];
    if (!berth_vec_push(berth_ctx_allocator(e->s->ctx), heap, item)) return false;
    size_t at = heap->n - 1;
    for (; at > 0 && comes_before(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = item;
    return true;
}

static arrival pop(etf *e, int32_t d) {
    arrival_heap *heap = &e->coming[d];
    arrival first = heap->items[0], item = heap->items[--heap->n];
    size_t at = 0;
    for (size_t child = 1; child < heap->n; child = 2 * at + 1) {
        if (child + 1 < heap->n && comes_before(heap->items[child + 1], heap->items[child])) child++;
        if (!comes_before(heap->items[child], item)) break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    if (heap->n > 0) heap->items[at] = item;
    return first;
}

/* Whether a task in a device's lists is still to be placed and may go there. */
static bool is_open(const etf *e, int32_t rank, int32_t d) {
    int32_t task = e->s->rank.order[rank];
    return e->s->device[task] < 0 && berth_schedule_allows(e->s, task, d);
}

/* All producers are placed: the task goes into the lists of its devices. */
static bool enter(etf *e, int32_t task) {
    for (int32_t d = 0; d < e->c->n_devices; d++) {
        if (!berth_schedule_allows(e->s, task, d)) continue;
        if (!push(e, d, (arrival){berth_schedule_arrival(e->s, task, d), e->s->rank.position[task]})) return false;
    }
    return true;
}

/* The best open task of a device, favourites aside. */
static candidate find_open(etf *e, int32_t d) {
    arrival_heap *coming = &e->coming[d];
    double idle_from = e->s->idle_from[d];
    while (coming->n > 0 && (coming->items[0].time <= idle_from || !is_open(e, coming->items[0].rank, d))) {
        arrival item = pop(e, d);
        if (is_open(e, item.rank, d)) berth_ready_insert(&e->here[d], item.rank);
    }
    while (!berth_ready_is_empty(&e->here[d])) {
        int32_t rank = berth_ready_pop(&e->here[d]);
        if (!is_open(e, rank, d)) continue;
        berth_ready_insert(&e->here[d], rank);
        return (candidate){rank, d, idle_from};
    }
    if (coming->n > 0) return (candidate){coming->items[0].rank, d, coming->items[0].time};
    return (candidate){-1, d, INFINITY};
}

static bool is_urgent(const etf *e, int32_t task, double now) {
    for (int32_t d = 0; d < e->c->n_devices; d++)
        if (berth_schedule_arrival(e->s, task, d) > now) return false;
    return true;
}

static bool is_better(candidate a, candidate b) {
    if (a.rank < 0 || b.rank < 0) return b.rank < 0 && a.rank >= 0;
    return a.start < b.start || (a.start == b.start && a.rank < b.rank);
}

static candidate best_of_device(etf *e, int32_t d) {
    candidate open = find_open(e, d);
    int32_t child = e->kept_for[d];
    if (child < 0 || e->s->device[child] >= 0 || open.rank == e->s->rank.position[child]) return open;
    if (open.rank >= 0 && open.start < e->kept_until[d] && !is_urgent(e, e->s->rank.order[open.rank], open.start))
        open.start = e->kept_until[d];
    if (e->missing[child] > 0 || !berth_schedule_allows(e->s, child, d)) return open;
    double start = berth_schedule_arrival(e->s, child, d);
    candidate favourite = {e->s->rank.position[child], d, start > e->s->idle_from[d] ? start : e->s->idle_from[d]};
    return open.rank < 0 || favourite.start <= open.start ? favourite : open;
}

/* Where nothing fits any more, the first unplaced task by rank goes where it hurts least, to be repaired later. */
static candidate last_resort(etf *e) {
    const berth_schedule *s = e->s;
    while (s->device[s->rank.order[e->first_open]] >= 0) e->first_open++;
    int32_t d = berth_schedule_last_resort(s, s->rank.order[e->first_open]);
    return (candidate){e->first_open, d, s->idle_from[d]};
}

/* The longest that waiting for the favourite child on this device can save. */
static double copy_to_child(const etf *e, int32_t task, int32_t child, int32_t d) {
    const berth_costs *c = e->c;
    double longest = 0;
    for (int32_t i = c->in_start[child]; i < c->in_start[child + 1]; i++) {
        if (c->value_producer[c->in_values[i]] != task) continue;
        for (int32_t to = 0; to < c->n_devices; to++) {
            double ms = berth_costs_copy(c, c->in_values[i], d, to);
            if (ms > longest && ms < INFINITY) longest = ms;
        }
    }
    return longest;
}

static bool place(etf *e, candidate best) {
    berth_schedule *s = e->s;
    int32_t task = s->rank.order[best.rank], d = best.device;
    if (!berth_schedule_put(s, task, d, best.start)) return false;
    e->kept_for[d] = e->favourite ? e->favourite[task] : -1;
    if (e->kept_for[d] >= 0) e->kept_until[d] = s->end[task] + copy_to_child(e, task, e->kept_for[d], d);
    for (int32_t i = e->c->succ_start[task]; i < e->c->succ_start[task + 1]; i++)
        if (--e->missing[e->c->succs[i]] == 0 && !enter(e, e->c->succs[i])) return false;
    return true;
}

static bool place_all(etf *e) {
    const berth_costs *c = e->c;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        e->missing[task] = c->pred_start[task + 1] - c->pred_start[task];
        if (e->missing[task] == 0 && !enter(e, task)) return false;
    }
    for (int32_t n = 0; n < c->n_tasks && !berth_search_interrupted(e->search); n++) {
        candidate best = {-1, 0, INFINITY};
        for (int32_t d = 0; d < c->n_devices; d++) {
            candidate next = best_of_device(e, d);
            if (is_better(next, best)) best = next;
        }
        if (!place(e, best.rank >= 0 ? best : last_resort(e))) return false;
    }
    return true;
}

static bool set_up(etf *e) {
    berth_arena *arena = &e->s->arena;
    size_t n = (size_t)e->c->n_tasks, k = (size_t)e->c->n_devices, words = berth_ready_words(e->c->n_tasks);
    e->missing = berth_arena_push(arena, n, sizeof *e->missing);
    e->coming = berth_arena_push(arena, k, sizeof *e->coming);
    e->here = berth_arena_push(arena, k, sizeof *e->here);
    e->kept_for = berth_arena_push(arena, k, sizeof *e->kept_for);
    e->kept_until = berth_arena_push(arena, k, sizeof *e->kept_until);
    uint64_t *bits = berth_arena_push(arena, words * k, sizeof *bits);
    if (arena->failed) return false;
    for (size_t d = 0; d < k; d++) {
        berth_ready_init(&e->here[d], e->c->n_tasks, bits + d * words);
        e->kept_for[d] = -1;
    }
    return true;
}

berth_status berth_etf_fill(berth_schedule *schedule, berth_search *search, const int32_t *favourite) {
    etf e = {.s = schedule, .c = schedule->costs, .search = search, .favourite = favourite};
    bool done = set_up(&e) && place_all(&e);
    for (int32_t d = 0; e.coming && d < e.c->n_devices; d++)
        berth_vec_free(berth_ctx_allocator(search->ctx), &e.coming[d]);
    return done ? BERTH_OK : berth_fail_nomem(search->ctx);
}

berth_status berth_search_m_etf(berth_search *search) {
    berth_schedule s;
    BERTH_TRY(berth_schedule_init(&s, search));
    berth_status status = berth_etf_fill(&s, search, NULL);
    if (status == BERTH_OK && !berth_search_interrupted(search)) status = berth_schedule_finish(&s, search, "m-etf");
    berth_schedule_deinit(&s);
    return status;
}
