/* SPDX-License-Identifier: Apache-2.0 */
/* Groups by learnt joins: the parsing of the graph around the current placement. Every unit draws a parent from the
 * softmax over itself and its neighbours on the same device; units that chose one another, directly or through others,
 * are a group. Choosing itself is the stop, and is learnt as the rest: what was drawn has a log-probability, which is
 * raised if the group was worth moving.
 *
 * Only the group around one unit is parsed at a time: its members draw, and their neighbours, who might choose one of
 * them. Whoever else would draw has no part in it. */
#ifndef BERTH_LEARN_JOINS_H
#define BERTH_LEARN_JOINS_H

#include "learn/outlook.h"
#include "learn/policy.h"

enum {
    BERTH_JOINS_DRAWS = 48, /* most units that draw for one group */
    BERTH_JOINS_ROWS = 256, /* most rows of theirs that are kept to learn from */
    BERTH_JOINS_SIGHTS = 12,
};

/* The draws that made a group. */
typedef struct berth_parse_record {
    int32_t n;
    int32_t unit[BERTH_JOINS_DRAWS], row[BERTH_JOINS_DRAWS]; /* who drew, and the row it drew */
} berth_parse_record;

/* What is seen of a unit. */
typedef struct berth_join_sight {
    double start, end;
    bool is_critical;
    berth_real time, slack_share, degree;
} berth_join_sight;

typedef struct berth_joins {
    const berth_stroll *walk;
    const berth_outlook *outlook;
    berth_policy *policy;
    berth_tape *tape;
    berth_matrix *hidden_weight, *hidden_bias, *score_weight, *score_bias;

    /* rows: for each unit one for itself, then one for each other unit that it exchanges values with */
    int32_t *row_start;      /* [n_units + 1] */
    int32_t *row_other;      /* [n_rows] */
    bool *row_later;         /* [n_rows] the other reads from this one */
    double *row_copy;        /* [n_rows] mean time of the copies between them */
    berth_join_sight *units; /* [n_units] */
    berth_real *sights;      /* [n_rows * BERTH_JOINS_SIGHTS] */
    berth_real *score;       /* [n_rows] */
    bool is_stale;           /* the placement or the weights have changed since */

    /* scratch */
    uint32_t round, *mark; /* [n_units] equal to round: in the group */
    uint32_t *drawn;       /* [n_units] equal to round: has drawn */
    int32_t *choice;       /* [n_units] row that it drew */

    /* the last choices, in a ring beside that of the chooser */
    int32_t window, n_kept, next;
    berth_real *kept;                  /* [window * BERTH_JOINS_ROWS * BERTH_JOINS_SIGHTS] */
    int32_t *kept_n;                   /* [window] units that drew; 0: no group was parsed */
    int32_t *kept_start;               /* [window * (BERTH_JOINS_DRAWS + 1)] their rows */
    int32_t *kept_picked;              /* [window * BERTH_JOINS_DRAWS] */
    berth_real *kept_log_p;            /* [window] */
    berth_real *advantage;             /* [window] */
    berth_real *rows;                  /* scratch of updates: all kept rows */
    int32_t *segment, *picked, *group; /* [window * BERTH_JOINS_DRAWS + 1] */
    berth_real *old_log_p, *group_advantage;
} berth_joins;

void berth_joins_declare(berth_params *layout);
void berth_joins_reset(berth_policy *policy, berth_rng *rng);
berth_status berth_joins_init(berth_joins *joins, const berth_stroll *walk, const berth_outlook *outlook,
                              berth_policy *policy, berth_arena *arena);
void berth_joins_deinit(berth_joins *joins);

/* The placement or the weights have changed. */
void berth_joins_forget(berth_joins *joins);
/* The group around a unit, at most `most` (up to BERTH_STROLL_UNITS); their number, 0: no memory. */
int32_t berth_joins_draw(berth_joins *joins, int32_t unit, int32_t most, int32_t *units, berth_parse_record *record);
/* What the group, or with NULL a proposal without one, was worth. */
void berth_joins_reward(berth_joins *joins, const berth_parse_record *record, double advantage);
/* Adds the gradient of its part of the loss. */
berth_status berth_joins_backward(berth_joins *joins);

#endif
