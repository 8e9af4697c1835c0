/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over ideals, smallest first, and its labels: what can be said of one way to place an ideal. */
#ifndef BERTH_SEARCH_EXACT_CONTIGUOUS_WALK_H
#define BERTH_SEARCH_EXACT_CONTIGUOUS_WALK_H

#include "base/vec.h"
#include "search/exact_contiguous.h"
#include "search/ideals.h"

typedef struct berth_label {
    double ms;            /* latency: the latest end so far; throughput: the largest load of a part so far */
    double least;         /* no completion takes less */
    int32_t parent;       /* trace of the label that it came from */
    int16_t state, class; /* devices left; class of the step that led here, or -1: the host */
} berth_label;

/* The labels of an ideal, gone once they were extended. */
typedef struct berth_labels {
    int32_t n_times;       /* per label */
    const int32_t *task;   /* [n_times] latency: tasks of which something outside may want to know */
    double *tail;          /* latency: [state * (n_times + 1) + i] least that follows task i's end; last: the start */
    double rest_host_ms;   /* throughput: everything outside, on the host */
    double host_only_ms;   /* throughput: what outside can only run there */
    double rest_device_ms; /* throughput: everything else outside, on its fastest device */
    size_t n, capacity;
    berth_label *labels;
    double *times; /* [label * n_times] latency: when a task's values are on the host; throughput: the host's times */
} berth_labels;

/* How a label that was extended came about. */
typedef struct berth_trace {
    const berth_ideal *ideal;
    int32_t parent, class;
} berth_trace;

typedef struct berth_walk_limits {
    size_t ideals; /* of one size that are looked at */
    size_t labels; /* of one ideal that are extended */
    size_t steps;  /* parts that are tried on top of one ideal */
    size_t bytes;
} berth_walk_limits;

typedef struct berth_walk {
    berth_search *search;
    const berth_contiguous *m;
    berth_walk_limits limits;
    berth_arena arena;
    berth_ideals ideals;
    berth_part part;
    size_t n_bytes; /* of labels */
    BERTH_VEC(berth_trace) traces;
    bool no_memory, stopped;

    double best;     /* what the search is to beat, in the end the optimum if nothing was left out */
    double left_out; /* least of what limits made us leave out */
    berth_trace best_trace;
    bool has_found, has_news;

    /* of the ideal at hand */
    const berth_ideal *from;
    berth_labels *labels;
    int32_t first_trace;  /* of its labels */
    int32_t *position;    /* [n_tasks] among the times, or -1 */
    int32_t *missing;     /* [n_blocks] predecessors outside */
    int32_t *unit_inside; /* [n_units] blocks inside */
    uint64_t *ready;      /* blocks outside with all predecessors inside */
    uint64_t *closed;     /* blocks that only the host may take, since it has part of their unit */
    uint64_t *bits;       /* the ideal and what is being added */
    uint64_t hash;
    int32_t n_members;
    int32_t *cursor; /* [n_blocks + 2] last block tried after each block of the part */
    int32_t *users;  /* labels that may use the class */
    size_t n_users, users_capacity;
    double *starts; /* [depth * n_users] when each of them could start the part; INFINITY: too late */
    size_t starts_capacity;
    double *times;        /* [n_tasks + 1] of a label being made */
    double *ends;         /* [n_tasks] */
    int32_t *scratch;     /* [n_tasks] */
    uint64_t *class_bits; /* [class * n_words] blocks that it may run; last: the host */
    const bool *covers;   /* [state * n_states + other] has everything left that the other has */
    int32_t *class_of;    /* [n_devices] or -1 */
    double *idle_ms;      /* [n_classes] throughput: load of a device that runs nothing */
} berth_walk;

typedef struct berth_walk_result {
    double best_ms;  /* of the model, or what the search was to beat */
    double least_ms; /* no placement takes less */
    bool complete;   /* the two are equal */
} berth_walk_result;

/* Walk and offer what is found. */
berth_status berth_contiguous_walk(berth_search *search, const berth_contiguous *m, berth_walk_limits limits,
                                   berth_walk_result *out);

/* exact_contiguous_labels.c: the labels of the ideal in walk->bits, made if new; NULL: no memory. */
berth_ideal *berth_walk_reach(berth_walk *walk);
/* A label with walk->times: kept if it may lead to something better and no other is at least as good in all. */
void berth_walk_put(berth_walk *walk, const berth_ideal *ideal, berth_label label);
void berth_labels_release(berth_walk *walk, berth_labels *labels);

/* exact_contiguous_offer.c: the placement of the best trace, with what was dropped beside its neighbours. */
berth_status berth_walk_offer(berth_walk *walk);

static inline bool berth_walk_has_left(const berth_walk *walk, int32_t state, int32_t class) {
    return walk->m->after[(size_t)state * (size_t)walk->m->n_classes + (size_t) class] >= 0;
}

#endif
