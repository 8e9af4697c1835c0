/* SPDX-License-Identifier: Apache-2.0 */
/* `queued` as dynamic programming along the file's order sees it.
 *
 * Tasks run in a fixed order, so that after the first i of them all that matters for the others is where the values lie
 * that somebody still wants, on which devices the units run that are not complete, and what the clocks show. The first
 * two are a key; for each key there is a set of labels, each the clocks that some placement of the first i tasks leads
 * to. Smaller clocks are never worse, so that a label that is nowhere smaller than another is dropped. A queue that is
 * behind the host's clock might as well show the same, which makes more labels comparable.
 *
 * The same backwards: whatever the clocks are, a placement of the remaining tasks ends at the largest of clock + rest,
 * where its rest is a number per clock; a key has a set of rests.
 *
 * Where there are too many of either, several become one that has the least number of each (smaller clocks are never
 * worse), and where there are too many keys, one value (or unit) is given up: from there on it lies (may run)
 * everywhere, which is never worse either. What comes out is then a bound.
 *
 * Memory that is short counts like a clock that only the tasks of one device move, and that must not pass its capacity:
 * by the sizes of tasks where they are given; else by weights, beside a peak: that of weights so far and of what is
 * known to lie there when a task runs, which is not all. */
#ifndef BERTH_SEARCH_EXACT_QUEUED_H
#define BERTH_SEARCH_EXACT_QUEUED_H

#include "search/bound.h"
#include "search/search.h"

enum {
    BERTH_QUEUED_DEVICES = 8,       /* beyond, there is no hope to get through the keys */
    BERTH_QUEUED_WIDTH = 16,        /* of a label: clocks, and what is taken of memory where it is short */
    BERTH_QUEUED_WORDS = 8,         /* of a key */
    BERTH_QUEUED_BYTES = 192 << 20, /* of the layers of a round, with what is kept of the one before */
};

/* How one placed task moves the clocks, in this order. */
typedef enum berth_queued_kind {
    BERTH_QUEUED_HOST,  /* h += ms */
    BERTH_QUEUED_ENTER, /* q = max(q, h) + ms */
    BERTH_QUEUED_LEAVE, /* h = max(h, q) + ms */
    BERTH_QUEUED_FILL,  /* memory += ms */
    BERTH_QUEUED_PEAK,  /* memory += ms, and the one after it, peak = max(peak + ms, memory + more) */
} berth_queued_kind;

typedef struct berth_queued_move {
    berth_queued_kind kind;
    int32_t at; /* whose queue, or which memory: position in a label */
    double ms, more;
} berth_queued_move;

/* --- keys ------------------------------------------------------------------------------------------------------- */

/* A key is a row of fields, `bits` wide, each a set of devices. A field belongs to one value after another, or to one
 * unit after another, while there is something to know about them. 0: nothing is known, or nothing is there to know.
 * A value that lies on several devices lies on the host, too. */
typedef struct berth_queued_model {
    const berth_problem *problem;
    const berth_costs *c;
    int32_t n, n_devices, n_parts;
    const int32_t *part_of;  /* [n_tasks] what shares a device: units, or classes where bounds must hold for all */
    const uint64_t *allowed; /* [n_parts] */
    int32_t *position;       /* [n_tasks] */
    int32_t *first, *last;   /* [n_parts] positions of its first and last task */
    int32_t *value_field;    /* [n_values], or -1: never known */
    int32_t *part_field;     /* [n_parts], or -1: of one task, or never known */
    uint64_t *read_after;    /* by position in in_values: where the value may be wanted after that */
    uint64_t *made_after;    /* by position in out_values */
    uint64_t *given_after;   /* by position in given_values */
    double *host_rest;       /* [n + 1] what the tasks from a position on cost the host at least */
    uint64_t alike;          /* devices that others are equal to */
    int32_t used_field;      /* which of these have been used, or -1: there are none */
    int32_t width;           /* of a label: devices, then those with little memory */
    int32_t memory_at[BERTH_QUEUED_DEVICES]; /* position in a label, or -1 */
    double per_byte[BERTH_QUEUED_DEVICES];
    double capacity;            /* of each, in their unit */
    double *bytes;              /* [n_tasks] weights, or all of its memory */
    bool peaks;                 /* values count, too */
    int32_t *live_start, *live; /* by position: values that may lie about and that the task does not read */
    int32_t bits, log_per_word; /* of a field; fields in a word */
    int32_t n_fields, n_words;
    bool all_known;           /* every value and unit has a field */
    berth_queued_move *moves; /* room for the longest list */
} berth_queued_model;

/* `scale`: of the makespan, about. False: no memory. */
bool berth_queued_model_init(berth_queued_model *model, berth_arena *arena, const berth_problem *problem,
                             bool for_bounds, double scale);
static inline uint64_t berth_queued_get(const berth_queued_model *model, const uint64_t *key, int32_t field) {
    int32_t at = (field & ((1 << model->log_per_word) - 1)) * model->bits;
    return key[field >> model->log_per_word] >> at & (((uint64_t)1 << model->bits) - 1);
}
static inline void berth_queued_set(const berth_queued_model *model, uint64_t *key, int32_t field, uint64_t devices) {
    int32_t at = (field & ((1 << model->log_per_word) - 1)) * model->bits;
    uint64_t *word = &key[field >> model->log_per_word];
    *word = (*word & ~((((uint64_t)1 << model->bits) - 1) << at)) | devices << at;
}
/* Where everything lies before the first task. */
void berth_queued_begin(const berth_queued_model *model, uint64_t *key);
/* Where the task at a position may run. */
uint64_t berth_queued_choices(const berth_queued_model *model, const uint64_t *key, int32_t position);
/* Run the task at a position on a device: the key after it in `next`, how clocks move in model->moves. Returns the
 * number of moves. At position n: the copies to the targets; `next` is not touched. */
int32_t berth_queued_step(const berth_queued_model *model, const uint64_t *key, int32_t position, int32_t device,
                          uint64_t *next);
/* Who owns the fields (values, then n_values + parts, or -1), brought from before the task at a position to after it.
 * Position -1: from nothing to before the first task. */
void berth_queued_own(const berth_queued_model *model, int32_t *owner, int32_t position);
/* What it may save to forget about an owner. */
double berth_queued_worth(const berth_queued_model *model, int32_t owner);

/* --- sets of labels or rests -------------------------------------------------------------------------------------- */

typedef struct berth_queued_front {
    int32_t width;
    int32_t n, capacity;
    double *clock;   /* [n * width] */
    int32_t *parent; /* [n] label of the layer before (labels only) */
    int32_t *device; /* [n] where the task before ran (labels only) */
} berth_queued_front;

/* A member by its first clock. */
typedef struct berth_queued_rank {
    double clock;
    int32_t member;
} berth_queued_rank;

/* What sorting, thinning and merging sets of up to a number of members needs. */
typedef struct berth_queued_sieve {
    berth_queued_front spare;
    berth_queued_rank *order, *room;
    double tolerance; /* relative: what is smaller by so little counts as equal */
} berth_queued_sieve;

/* Room for so many members; false: no memory. */
bool berth_queued_front_init(berth_queued_front *front, berth_arena *arena, int32_t width, int32_t capacity);
bool berth_queued_sieve_init(berth_queued_sieve *sieve, berth_arena *arena, int32_t width, int32_t capacity,
                             double tolerance);
/* Of the members from `from` on keep those that no other one dominates, sorted by clocks. */
void berth_queued_front_thin(berth_queued_front *front, int32_t from, berth_queued_sieve *sieve);
/* Append to `out` members [from, to) or, if there are more than `most`, so many that each is the least of some. */
void berth_queued_front_merge(const berth_queued_front *front, int32_t from, int32_t to, int32_t most,
                              berth_queued_sieve *sieve, berth_queued_front *out);

/* --- passes ----------------------------------------------------------------------------------------------------- */

/* What is known after a number of tasks. */
typedef struct berth_queued_layer {
    int32_t n_keys;
    uint64_t *keys;                     /* [n_keys * n_words] */
    uint64_t known[BERTH_QUEUED_WORDS]; /* fields not given up */
    int32_t *next;                      /* [n_keys * n_devices] key of the next layer, or -1 */
    int32_t *label_start;               /* [n_keys + 1] */
    double *label;                      /* [labels * width] */
    int32_t *parent, *device;           /* [labels] */
    int32_t *rest_start;                /* [n_keys + 1] */
    double *rest;                       /* [rests * width] */
} berth_queued_layer;

/* One pass forwards and one backwards; the next round is steered by the rests of this one. */
typedef struct berth_queued_round {
    berth_arena kept;           /* keys and rests */
    berth_arena passing;        /* labels and steps, until the round is over */
    berth_queued_layer *layers; /* [n + 1] */
    bool relaxed;               /* something was merged or given up */
} berth_queued_round;

/* A hash table of the keys of one layer. */
typedef struct berth_queued_keys {
    int32_t n_words, n;
    uint64_t *keys;
    int32_t *slots;
    uint32_t n_slots; /* a power of two */
} berth_queued_keys;

bool berth_queued_keys_init(berth_queued_keys *keys, berth_arena *arena, int32_t n_words, int32_t capacity);
void berth_queued_keys_clear(berth_queued_keys *keys);
/* Its number, or -1. */
int32_t berth_queued_keys_find(const berth_queued_keys *keys, const uint64_t *key);
/* The same, added if it is new. */
int32_t berth_queued_keys_add(berth_queued_keys *keys, const uint64_t *key);

/* A task on a device: from one key to another. */
typedef struct berth_queued_edge {
    int32_t from, device, to;
} berth_queued_edge;

typedef struct berth_queued_search {
    berth_search *search;
    berth_patience *patience; /* of bounds, or NULL */
    berth_queued_model model;
    berth_queued_round *now, *before; /* before: NULL in the first round */
    double limit[BERTH_QUEUED_WIDTH]; /* what takes as long or longer, or as much memory, is of no interest */
    int32_t most_labels, most_keys;   /* of a layer */
    int32_t steps;                    /* with patience: since the last look at it, ... */
    int64_t compared;                 /* ... and labels with rests */
    bool stopped;                     /* budget spent */
    bool full;                        /* the memory that a round may take */

    /* the layer at hand */
    berth_queued_front fresh, merged;
    berth_queued_sieve sieve;
    berth_queued_keys keys, other_keys, old_keys; /* of this round, twice, and of the one before */
    berth_queued_edge *edges, *sorted_edges;
    int32_t n_edges;
    int32_t *edge_start, *label_start, *number; /* by key */
    int32_t *old, *old_room;                    /* by key: its key in the round before */
    int32_t *owner, *owner_before;              /* by field */
} berth_queued_search;

/* Each returns BERTH_OK, too, if the round cannot go on: s->stopped or s->full says so. */
berth_status berth_queued_forward(berth_queued_search *s);
berth_status berth_queued_backward(berth_queued_search *s);
/* Count so many labels; true: time to stop. */
bool berth_queued_stops(berth_queued_search *s, int32_t n);

/* Clocks through moves, and rests back through them. */
void berth_queued_move_on(const berth_queued_model *model, int32_t n_moves, double *clock);
void berth_queued_move_back(const berth_queued_model *model, int32_t n_moves, double *rest);

/* Rounds of `fewest` labels a layer up to `most`, until nothing is left to prove; with patience: for bounds, which hold
 * for placements of single tasks. */
berth_status berth_queued_solve(berth_search *search, berth_patience *patience, int32_t fewest, int32_t most);

#endif
