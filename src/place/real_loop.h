/* SPDX-License-Identifier: Apache-2.0 */
/* The closed loop: what it knows, and its steps, a file each. */
#ifndef BERTH_PLACE_REAL_LOOP_H
#define BERTH_PLACE_REAL_LOOP_H

#include "base/arena.h"
#include "berth/real.h"
#include "place/contest.h"

typedef struct berth_real_whole { /* what is handed out, with its memory */
    berth_real_plan real;
    berth_arena arena;
    berth_contest contest; /* if evaluations were measured */
} berth_real_whole;

typedef struct berth_real_loop {
    berth_ctx *ctx;
    berth_subject subject;
    const berth_real_options *options;
    berth_real_whole *out;
    double started;
    const char *scratch; /* folder of a profile that nobody asked to keep; NULL: none */
    berth_place_options place;
    berth_plan *plans[BERTH_CONTEST_SPLITS];
    int32_t n_plans;
    bool *allowed, *none; /* [n_devices] it may be the answer alone; no device is */
    /* the device whose memory did not suffice for a candidate, and which; -1: it did */
    int32_t short_of, short_plan;
    int32_t n_tightened; /* times that its capacity was made less */
    const char *tightened, *short_reason;
    double tightened_bytes;
    bool interrupted; /* the user has had enough of a search that was measured */
} berth_real_loop;

/* Seconds of the budget; not more than 0 if it is spent. */
double berth_real_left(const berth_real_loop *l);
/* That share of them; a little, if nothing is left: every step has to be made once. */
double berth_real_share(const berth_real_loop *l, double share);

/* --- profile: real_profile.c ------------------------------------------------------------------------------------- */

/* From the file, if it is there; else from the store, or taken, and written to it. */
berth_status berth_real_find_profile(berth_real_loop *l);

/* --- candidates: real_search.c ----------------------------------------------------------------------------------- */

/* Splits that are predicted, or were seen, to gain. BERTH_OK also if there are none; what berth_place() returns */
berth_status berth_real_search(berth_real_loop *l);

/* --- runs: real_runs.c ------------------------------------------------------------------------------------------- */

/* Fresh runs of the best candidate; -1: there is none. */
berth_status berth_real_confirm(berth_real_loop *l, int32_t *best);
/* It ran to the end and computes what the model says. */
bool berth_real_is_sound(const berth_measured *m);

/* --- the answer: real_verdict.c ---------------------------------------------------------------------------------- */

/* Which devices may be the answer alone, see berth_lead_singles(). */
berth_status berth_real_find_allowed(berth_real_loop *l);
/* It is sound, and surely gains enough over every device that may be the answer alone. */
bool berth_real_wins(const berth_real_loop *l, const berth_measured *m);
/* The plan and why it is the answer: that candidate, or a single device; -1: no candidate was run. */
berth_status berth_real_decide(berth_real_loop *l, int32_t best);

#endif
