/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals: changes of the current placement that a policy chooses from, and what it sees of each. */
#ifndef BERTH_LEARN_PROPOSAL_H
#define BERTH_LEARN_PROPOSAL_H

#include "learn/joins.h"
#include "learn/settings.h"
#include "learn/shape.h"
#include "tensor/real.h"

typedef enum berth_proposal_kind {
    BERTH_PROPOSAL_MOVE,  /* units to a device */
    BERTH_PROPOSAL_PLACE, /* a unit of one task to a device and another place in the order */
    BERTH_PROPOSAL_ORDER, /* a task to another place in the order of its device */
    BERTH_PROPOSAL_SWAP,  /* two groups change places */
} berth_proposal_kind;

typedef struct berth_proposal {
    berth_proposal_kind kind;
    int32_t units[BERTH_STROLL_UNITS], n_units;
    int32_t others[BERTH_STROLL_UNITS], n_others;
    int32_t to;
    int32_t task, place;
    berth_parse_record parse; /* how the group was drawn; n 0: not by joins */
} berth_proposal;

/* What a policy sees of a proposal. Milliseconds over the schedule's scale go through asinh: near zero they are
 * themselves, far away their logarithm. Nothing depends on the number of devices. */
typedef enum berth_sight {
    BERTH_SIGHT_ONE,   /* always 1 */
    BERTH_SIGHT_ORDER, /* kinds of proposals */
    BERTH_SIGHT_PLACE,
    BERTH_SIGHT_SWAP,
    BERTH_SIGHT_SIZE,   /* log of the number of tasks */
    BERTH_SIGHT_RATIO,  /* log of new over old time */
    BERTH_SIGHT_TIME,   /* new less old time */
    BERTH_SIGHT_COPIES, /* the same for all copies */
    BERTH_SIGHT_SUM,    /* both together: exact under `serial` without pieces */
    BERTH_SIGHT_DELAY,
    BERTH_SIGHT_PATH,     /* longest chain through it less the makespan */
    BERTH_SIGHT_SHORTER,  /* 1: that is negative */
    BERTH_SIGHT_SLACK,    /* of its tasks, over the makespan */
    BERTH_SIGHT_CRITICAL, /* share of tasks without slack */
    BERTH_SIGHT_HAS_CRITICAL,
    BERTH_SIGHT_PROMISE, /* some without slack, and shorter */
    BERTH_SIGHT_CRITICAL_TIME,
    BERTH_SIGHT_WAIT,
    BERTH_SIGHT_LOAD_THERE, /* time of all tasks over the makespan */
    BERTH_SIGHT_LOAD_HERE,
    BERTH_SIGHT_BUSY,       /* or, for an order, 1: later */
    BERTH_SIGHT_NEAR_THERE, /* share of neighbours on the new and on the old device */
    BERTH_SIGHT_NEAR_HERE,
    BERTH_SIGHT_LATE,
    BERTH_SIGHT_PUSH,
    BERTH_SIGHT_TRIED, /* log of how often its first unit was tried there */
    BERTH_SIGHT_LAST,  /* what that changed the last time, over the mean change */
    BERTH_SIGHT_AGAIN, /* 1: that was tried from this very placement */
    BERTH_SIGHT_ROOM,  /* memory left afterwards, over capacity */
    BERTH_SIGHT_FULL,  /* 1: none, by the guess */
    BERTH_SIGHT_COUNT,
} berth_sight;

enum { BERTH_PROPOSAL_SEEN = 1 << 14 };

typedef struct berth_proposer {
    berth_stroll *walk;
    berth_outlook outlook;
    berth_shapes shapes;
    berth_joins joins;
    bool failed;  /* no memory */
    int32_t grow; /* most units of a group */
    bool may_grow, may_parse, may_order;
    double critical; /* share of proposals around the critical chain */
    /* what was tried, [n_units * n_devices] */
    int32_t *tried;
    float *last;
    int32_t *tried_at;   /* the state in which it was tried last */
    int32_t state;       /* number of the current placement, from 1 */
    double mean_change;  /* running mean of |difference| of log latency */
    uint64_t current;    /* hash of the current placement */
    uint64_t tried_last; /* hash of what was tried last */
    uint64_t *seen; /* [BERTH_PROPOSAL_SEEN] placements that were tried, by their hashes; later ones displace others */
} berth_proposer;

berth_status berth_proposer_init(berth_proposer *proposer, berth_stroll *walk, berth_policy *policy,
                                 berth_arena *arena);
void berth_proposer_deinit(berth_proposer *proposer);
/* The walk has another current placement. */
void berth_proposer_look(berth_proposer *proposer);
/* Draws one; false: nothing came of it this time. */
bool berth_proposer_draw(berth_proposer *proposer, berth_proposal *out);
void berth_proposer_see(berth_proposer *proposer, const berth_proposal *proposal, berth_real sight[BERTH_SIGHT_COUNT]);
/* True: the placement that it leads to, order included, was tried before. May forget. */
bool berth_proposer_knows(const berth_proposer *proposer, const berth_proposal *proposal);
/* One evaluation; the walk is then to keep or drop it. */
double berth_proposer_try(berth_proposer *proposer, const berth_proposal *proposal);
/* What came of it, in log latency. */
void berth_proposer_note(berth_proposer *proposer, const berth_proposal *proposal, double change);
/* Nothing came of it: it is known, and says nothing about others. */
void berth_proposer_mask(berth_proposer *proposer);

#endif
