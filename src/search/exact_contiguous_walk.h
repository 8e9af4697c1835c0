/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over ideals, and labels: what can be said of one way to place an ideal.
 *
 * An ideal grows by steps (exact_contiguous_steps.c). Forwards, smallest ideals first, every step makes labels of the
 * larger ideal from those of the smaller one. Backwards, largest first, every step says what must at least follow the
 * smaller ideal, from what must follow the larger one. */
#ifndef BERTH_SEARCH_EXACT_CONTIGUOUS_WALK_H
#define BERTH_SEARCH_EXACT_CONTIGUOUS_WALK_H

#include "base/vec.h"
#include "search/exact_contiguous.h"
#include "search/ideals.h"

typedef struct berth_label {
    double ms;           /* latency: the latest end so far; throughput: the largest load of a part so far */
    double least;        /* no completion takes less */
    double rank;         /* smaller ones are extended first */
    double host_bytes;   /* sizes of what is on the host, where it may be too much */
    int32_t parent;      /* trace of the label that it came from */
    int16_t state, kind; /* devices left; kind of the step that led here, or -1: the host */
} berth_label;

/* What belongs to an ideal: `data` of it. Labels are gone once they were extended. */
typedef struct berth_labels {
    int32_t n_times;     /* per label */
    const int32_t *task; /* [n_times] latency: tasks of which something outside may want to know */
    double *tail;        /* [state * (n_times + 1) + i] latency: least that follows task i's end; last: the start.
                            Throughput: last: prices of everything outside */
    double rest_host_ms; /* throughput: everything outside, on the host */
    double rest_bytes;   /* of everything outside, where the host's memory may be exceeded */
    size_t n, capacity;
    berth_label *labels;
    double *times; /* [label * n_times] latency: when a task's values are on the host; throughput: the host's times */
} berth_labels;

/* How a label that was extended came about. */
typedef struct berth_trace {
    const berth_ideal *ideal;
    int32_t parent, kind;
} berth_trace;

typedef struct berth_walk_limits {
    size_t ideals; /* of one size that are looked at */
    size_t labels; /* of one ideal that are extended */
    size_t steps;  /* parts that are tried on top of one ideal */
} berth_walk_limits;

typedef struct berth_walk berth_walk;

/* Who is told of steps from the ideal at hand; walk->bits is the larger ideal. */
typedef struct berth_walk_visitor {
    void (*host)(berth_walk *walk, int32_t block);
    /* A block has joined the part. False: nothing is to be expected of this part or any larger one. */
    bool (*grow)(berth_walk *walk, int32_t block);
    void (*part)(berth_walk *walk); /* the part is a whole */
    bool by_label;                  /* only those with a device left for it need a part */
} berth_walk_visitor;

struct berth_walk {
    berth_search *search;
    const berth_contiguous *m;
    const berth_walk_visitor *visitor;
    berth_walk_limits limits;
    size_t most_bytes;
    berth_arena arena;
    berth_ideals ideals;
    berth_part part;
    size_t n_bytes; /* of labels */
    BERTH_VEC(berth_trace) traces;
    bool only_accepted; /* only placements count that the simulator accepts */
    bool keep_tails;    /* the walk backwards has filled them in */
    bool no_memory, stopped;
    bool cut_short;  /* the limit of steps was met at the last ideal */
    int64_t n_steps; /* of parts, so far */

    /* With narrow limits: ranks of the best labels of each size, as heaps with the worst on top; no more than these are
     * kept, so that memory is not filled with what will never be extended. */
    double *ranks; /* [size * most_ranks] or NULL */
    int32_t *n_ranks;
    size_t most_ranks;

    double best;     /* what the search is to beat, in the end the optimum if nothing was left out */
    double left_out; /* least of what limits made us leave out */
    berth_trace best_trace;
    bool has_news;

    /* of the ideal at hand */
    const berth_ideal *from;
    berth_labels *labels;
    int32_t first_trace;  /* of its labels */
    int32_t *position;    /* [n_tasks] among the times, or -1 */
    int32_t *missing;     /* [n_blocks] predecessors outside */
    int32_t *unit_inside; /* [n_units] blocks inside */
    uint64_t *ready;      /* blocks with all predecessors inside */
    uint64_t *closed;     /* blocks that no part may take: those inside, and those whose unit the host has begun */
    uint64_t *bits;       /* the ideal and what is being added */
    uint64_t hash;
    int32_t n_members;
    int32_t *cursor; /* [n_blocks + 2] last block tried after each block of the part */
    int32_t *users;  /* labels that may use the kind */
    size_t n_users, users_capacity;
    double *starts; /* [depth * n_users] when each of them could start the part; INFINITY: too late */
    size_t starts_capacity;
    double *times;    /* [n_tasks + 1] of a label being made */
    double *ends;     /* [n_tasks] of tasks being added */
    int32_t *scratch; /* [n_tasks] */
    int32_t *device;  /* [n_tasks] of a placement */
    double *tail;     /* [n_states * (n_tasks + 1)] backwards: of the ideal at hand */
    double *follow;   /* [n_tasks + 1] backwards: with the step at hand */

    uint64_t *kind_bits; /* [kind * n_words] blocks that it may run; then the host, then all blocks */
    const bool *covers;  /* [state * n_states + other] has everything left that the other has */
    int32_t *kind_of;    /* [n_devices] or -1 */
    double *idle_ms;     /* [n_kinds] throughput: load of a device that runs nothing */
};

typedef struct berth_walk_result {
    double best_ms;  /* of the model, or what the search was to beat */
    double least_ms; /* no placement takes less */
    bool complete;   /* the two are equal */
} berth_walk_result;

berth_status berth_walk_init(berth_walk *walk, berth_search *search, const berth_contiguous *m, size_t most_bytes);
void berth_walk_deinit(berth_walk *walk);
/* Forwards, offering what is found. */
berth_status berth_walk_run(berth_walk *walk, berth_walk_limits limits, berth_walk_result *out);
/* Backwards over all ideals, if there are no more than that; gives up after so many steps, with what was found until
 * then. For latency. Makes later walks promise more. */
berth_status berth_walk_look_back(berth_walk *walk, size_t most_ideals, int64_t most_steps);

/* exact_contiguous_steps.c: all steps from an ideal. */
void berth_walk_enter(berth_walk *walk, const berth_ideal *ideal);
void berth_walk_take_steps(berth_walk *walk);
void berth_walk_leave(berth_walk *walk);
void berth_walk_add_block(berth_walk *walk, int32_t block);
void berth_walk_remove_block(berth_walk *walk, int32_t block);
/* The smallest block beyond `after` that may join a part of the kind; kind n_kinds: the host; one
 * more: whatever may run it. -1: none. */
int32_t berth_walk_next_block(const berth_walk *walk, int32_t kind, int32_t after);

/* exact_contiguous_forward.c */
extern const berth_walk_visitor berth_walk_forward;

/* exact_contiguous_labels.c: the ideal in walk->bits, made if new; NULL: no memory. */
berth_ideal *berth_walk_reach(berth_walk *walk);
berth_ideal *berth_walk_reach_empty(berth_walk *walk);
/* Forgets what was made for an ideal that got no label, if that is worth the while. */
void berth_walk_forget_empty(berth_walk *walk, const berth_ideal *ideal);
/* A label with walk->times: kept if it may lead to something better and no other is at least as good in all. */
void berth_walk_put(berth_walk *walk, const berth_ideal *ideal, berth_label label);
void berth_labels_clear(berth_walk *walk, berth_labels *labels);
void berth_labels_free(berth_walk *walk, berth_labels *labels);

/* exact_contiguous_offer.c: the placement of the best trace, with what was dropped beside its neighbours. */
void berth_walk_offer(berth_walk *walk);
/* The simulator accepts the placement of a trace. */
bool berth_walk_is_accepted(berth_walk *walk, berth_trace trace);

static inline size_t berth_walk_bytes(const berth_walk *walk) {
    return walk->n_bytes + walk->ideals.arena.total + walk->ideals.n_slots * sizeof *walk->ideals.slots +
           walk->traces.capacity * sizeof *walk->traces.items;
}

/* The state with one device less of the kind, or -1. */
static inline int32_t berth_walk_after(const berth_walk *walk, int32_t state, int32_t kind) {
    return walk->m->after[(size_t)state * (size_t)walk->m->n_kinds + (size_t)kind];
}

static inline int32_t berth_walk_left(const berth_walk *walk, int32_t state, int32_t kind) {
    return walk->m->left[(size_t)state * (size_t)walk->m->n_kinds + (size_t)kind];
}

static inline bool berth_walk_is_hopeless(const berth_walk *walk, double ms) {
    return ms >= walk->best * (1 - 1e-12);
}

#endif
