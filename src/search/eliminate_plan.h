/* SPDX-License-Identifier: Apache-2.0 */
/* What planning and running an elimination share. */
#ifndef BERTH_SEARCH_ELIMINATE_PLAN_H
#define BERTH_SEARCH_ELIMINATE_PLAN_H

#include "base/arena.h"
#include "base/vec.h"
#include "search/eliminate.h"

/* Variables are first the nodes (their values: their devices, in order), then switches with two values. */
typedef enum berth_factor_kind {
    BERTH_FACTOR_VALUE,   /* scope: producer (if any), distinct reading nodes. All terms of a value */
    BERTH_FACTOR_READ,    /* scope: producer (if any), reading node. The term of one read */
    BERTH_FACTOR_WANTED,  /* scope: producer (if any), switch of a device, switch "leaves home" (through the host only).
                             The value is brought there if the switch is on */
    BERTH_FACTOR_READER,  /* scope: switch of a device, reading node. The switch is on if the node is there */
    BERTH_FACTOR_TARGET,  /* scope: switch of the value's target. It is on */
    BERTH_FACTOR_LEAVES,  /* scope: producer (if any), switch "leaves home". Out of home once */
    BERTH_FACTOR_OWN,     /* scope: any variable. node_ms of a node; nothing for a switch */
    BERTH_FACTOR_MESSAGE, /* what is left of an eliminated variable */
} berth_factor_kind;

typedef struct berth_factor {
    berth_factor_kind kind;
    int32_t value;         /* of the costs */
    int32_t at;            /* READ: position in costs->readers; WANTED, READER: device */
    int32_t scope, n_vars; /* in plan->scopes */
    int32_t table, size;   /* in plan->tables */
    bool has_producer;
    bool used; /* by a variable that is gone */
} berth_factor;

/* Factors of an eliminated variable that are added up together; several groups: the variable was split. */
typedef struct berth_group_of_factors {
    int32_t first, n; /* in plan->members */
    int32_t message;  /* factor, or -1: a number */
    int32_t strides;  /* in plan->strides: for each member, of the variable and of each variable of the message */
} berth_group_of_factors;

/* A factor that has some variable, and where in its scope. */
typedef struct berth_use {
    int32_t factor, at;
} berth_use;

typedef struct berth_step {
    int32_t var, first, n; /* groups */
} berth_step;

struct berth_eliminate {
    const berth_allocator *allocator;
    const berth_terms *terms;
    int32_t n_vars;
    BERTH_VEC(int32_t) sizes;  /* [n_vars] number of values */
    BERTH_VEC(uint64_t) masks; /* [n_vars] devices of a node; 0 for switches */
    BERTH_VEC(berth_factor) factors;
    BERTH_VEC(int32_t) scopes;
    BERTH_VEC(berth_step) steps;
    BERTH_VEC(berth_group_of_factors) groups;
    BERTH_VEC(int32_t) members;
    BERTH_VEC(int32_t) strides;
    double n_entries;   /* of all tables */
    double n_additions; /* of a run: an entry of a message is a sum over the members of its group */
    double max_table, max_total;
    bool split;
    int32_t n_rounds;                /* of shifts */
    int32_t most_members, most_vars; /* of a group; of a scope */

    /* shifting: made if the plan is split */
    berth_arena arena;
    BERTH_VEC(int32_t) own;       /* [n_vars] factor of kind OWN */
    BERTH_VEC(int32_t) switch_of; /* value of each switch */
    int32_t *use_start;           /* CSR by variable */
    berth_use *uses;
    int32_t *ranks, *by_rank; /* [n_vars] order of visits */

    /* runs */
    double *tables;
    int32_t *chosen; /* [n_vars] */
    int32_t *offset; /* [most_members] */
    double *shifts;  /* [most groups of a step * 64] */
    size_t n_shifts, n_tables;
};

/* The devices of the set bits, by rank. */
static inline int32_t berth_nth_device(uint64_t mask, int32_t rank) {
    for (; rank > 0; rank--) mask &= mask - 1;
    return __builtin_ctzll(mask);
}

/* For split plans: room for shifts; false: no memory. */
bool berth_eliminate_prepare_shift(berth_eliminate *plan);
/* Moves costs between the filled tables, so that bounds rise. */
void berth_eliminate_shift(const berth_eliminate *plan, int32_t n_rounds);

/* Whether tables are as few and small as they should be, and groups not so large that runs take long all the same. */
static inline bool berth_eliminate_fits(const berth_eliminate *plan) {
    return plan->n_entries <= plan->max_total && plan->n_additions <= 16 * plan->max_total;
}

/* Steps for the factors so far; false: no memory. If the plan does not fit it is no good. */
bool berth_eliminate_order(berth_eliminate *plan);

#endif
