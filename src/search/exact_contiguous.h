/* SPDX-License-Identifier: Apache-2.0 */
/* `contiguous` as a search over ideals sees it.
 *
 * A placement is feasible if its parts (what each device but the host runs) and the single tasks of the host can be put
 * in an order in which values flow forwards. So every placement is reached from the empty set by steps, each of which
 * leads from an ideal to a larger one: a host step adds one block to the host, a part step adds all of one device's
 * tasks. Whatever is not placed by the last part goes to the host.
 *
 * Blocks are the pieces by which ideals grow. A unit (what moves as one) is a single block if each of its tasks that is
 * read outside depends, inside the unit, on each of its tasks that reads from outside: then nothing that waits for the
 * unit can be waited for by it, and the host may as well run all of it in one step. Any other unit is a block per task:
 * the host may run one member before a part and another after it, although the unit as a whole could not be ordered. A
 * part always takes whole units. Blocks of the first kind lie on no cycle, so that blocks are partially ordered.
 *
 * For graphs with too many blocks neighbours may be lumped together: what is found then need not be the best.
 *
 * Devices that are alike form a kind; a state says how many of each kind are left. */
#ifndef BERTH_SEARCH_EXACT_CONTIGUOUS_H
#define BERTH_SEARCH_EXACT_CONTIGUOUS_H

#include "search/search.h"

typedef struct berth_contiguous {
    berth_arena arena;
    const berth_problem *problem;
    const berth_costs *c;
    bool throughput;
    bool weighs_host;        /* given sizes may exceed the host's memory */
    bool has_all_devices;    /* none left out for having too many kinds of them */
    const uint64_t *allowed; /* [n_tasks] of its unit, or for bounds of the task itself */
    double base_ms;          /* when given values that are wanted elsewhere at the end are on the host */

    int32_t n_kinds, n_states; /* state 0: none left; n_states - 1: all */
    bool endless;              /* for bounds, where there are too many states: one, of which nothing is ever taken */
    int32_t kind_device[BERTH_MAX_DEVICES];
    uint64_t kind_devices[BERTH_MAX_DEVICES];
    const int32_t *after; /* [state * n_kinds + kind] the state with one less of the kind, or -1 */
    const int32_t *left;  /* [state * n_kinds + kind] how many */

    /* What is left of tasks and values once units that cost nothing are dropped; numbers are those of the costs. */
    const bool *is_kept; /* [n_tasks] */
    int32_t n_dropped;   /* tasks */
    const int32_t *in_start, *in_values;
    const int32_t *out_start, *out_values;
    const int32_t *reader_start, *readers;
    const double *given_ms; /* [n_values] when a given value is on the host */
    int32_t n_targeted;
    const int32_t *targeted; /* values with a target that is neither the host nor, if given, their home */

    /* Edges: one per pair of tasks of which the second reads from the first. */
    int32_t n_edges;
    const int32_t *edge_from, *edge_to;
    const int32_t *pred_start;              /* [n_tasks + 1] edges into a task are numbered one after another */
    const int32_t *succ_start, *succ_edges; /* edges out of a task */

    int32_t n_blocks;
    const int32_t *block_of;                                      /* [n_tasks] or -1 */
    const int32_t *block_start, *block_tasks;                     /* ascending */
    const uint64_t *block_allowed;                                /* devices of all its tasks */
    const int32_t *block_unit;                                    /* blocks of one unit go to a part together */
    const int32_t *unit_blocks;                                   /* [n_units] how many */
    const int32_t *before_start, *before, *behind_start, *behind; /* blocks next to each block */

    /* From below, with what is left: what follows once ... (bound_contiguous.c) */
    const double *enter; /* [edge * n_states + state] ... the value of an edge is on the host */
    int32_t n_roots;
    const int32_t *roots; /* tasks without predecessors, or that read given values which are late */
    const double *root;   /* [task * n_states + state] ... the model starts, for roots */
    const double *leave;  /* [(block * n_kinds + kind) * n_states + state] ... the block was run in a part */
    const double *arrive; /* [edge] and from below: when the value of an edge can be on the host */

    /* Throughput, from below: the largest load is at least the sum over tasks of their price, for every state, and what
     * the host has already counts as well (exact_contiguous_load.c). */
    const double *price;      /* [task * n_states + state] */
    const double *host_price; /* [state] of a millisecond on the host */
} berth_contiguous;

/* A lower bound for single tasks: longest paths, or loads shared by all devices. Linear in tasks, edges and states. */
berth_status berth_search_bound_contiguous(berth_search *search);

typedef struct berth_contiguous_options {
    bool for_bounds;     /* single tasks; no blocks */
    bool drop;           /* leave out units that take no time */
    int32_t most_blocks; /* about; tasks next to each other in some order are lumped together; 0: any number */
} berth_contiguous_options;

berth_status berth_contiguous_new(berth_search *search, berth_contiguous **out, berth_contiguous_options options);
void berth_contiguous_free(berth_contiguous *m);
/* exact_contiguous_blocks.c */
berth_status berth_contiguous_make_blocks(berth_ctx *ctx, berth_contiguous *m, int32_t most_blocks);
/* bound_contiguous.c */
berth_status berth_contiguous_make_tails(berth_ctx *ctx, berth_contiguous *m);
/* exact_contiguous_load.c */
berth_status berth_contiguous_make_prices(berth_ctx *ctx, berth_contiguous *m);

static inline double berth_contiguous_ms(const berth_contiguous *m, int32_t task, int32_t device) {
    return m->c->time_ms[(size_t)task * (size_t)m->c->n_devices + (size_t)device];
}

/* First entry of a row of `leave`. */
static inline size_t berth_contiguous_row(const berth_contiguous *m, int32_t block, int32_t kind) {
    return ((size_t)block * (size_t)m->n_kinds + (size_t)kind) * (size_t)m->n_states;
}

static inline int32_t berth_contiguous_n_readers(const berth_contiguous *m, int32_t value) {
    return m->reader_start[value + 1] - m->reader_start[value];
}

/* A part under construction: blocks added one at a time on top of an ideal, and taken back last first. */
typedef struct berth_part_sums {
    double in, compute, out;     /* finite terms */
    double memory;               /* given sizes; else weights */
    double touched;              /* bytes of values that the part reads or makes */
    int32_t n_cut_in, n_cut_out; /* copies that no link can make */
    int32_t n_open;              /* blocks missing of units begun */
    int32_t n_touched;
    int32_t block; /* the one just added */
} berth_part_sums;

typedef struct berth_part {
    const berth_contiguous *m;
    int32_t kind, device;
    bool weigh;            /* memory of the device may be exceeded */
    int32_t n;             /* blocks */
    berth_part_sums *sums; /* [n_blocks + 1] after each of them */
    bool *has;             /* [n_tasks] */
    int32_t *n_inside;     /* [n_values] readers in the part */
    int32_t *n_weight;     /* [n_weights] tasks of the part that read it */
    int32_t *unit_has;     /* [n_units] blocks in the part */
    int32_t *touched;      /* [n_values] values that it reads or makes */
    bool *is_touched;      /* [n_values] */
    double *held;          /* [n_tasks + 2] scratch: bytes that appear at a position */
} berth_part;

bool berth_part_init(berth_part *part, berth_arena *arena, const berth_contiguous *m);
void berth_part_begin(berth_part *part, int32_t kind);
/* False if the device's memory is exceeded: then no larger part fits either. The block is added all the same. */
bool berth_part_add(berth_part *part, int32_t block);
void berth_part_undo(berth_part *part);
static inline const berth_part_sums *berth_part_now(const berth_part *part) {
    return &part->sums[part->n];
}

/* Exact peak of the part (exact_contiguous_memory.c). */
bool berth_part_fits(berth_part *part);

#endif
