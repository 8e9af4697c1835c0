/* SPDX-License-Identifier: Apache-2.0 */
/* The least cost of terms by eliminating one node after another: exact wherever few nodes at a time are open, as in
 * most networks, for any number of devices. Where tables would grow too large they are split, and the result is a lower
 * bound.
 *
 * A plan is made once for the nodes, devices, values and reads that count; weights and times may then change from run
 * to run. Runs do not allocate. */
#ifndef BERTH_SEARCH_ELIMINATE_H
#define BERTH_SEARCH_ELIMINATE_H

#include "search/terms.h"

typedef struct berth_eliminate berth_eliminate;

/* No table of more than max_table entries, nor more than max_total in all, nor runs of many times as many additions;
 * *out is NULL with BERTH_OK if that cannot be. The terms are borrowed, and must keep value_set, via_host, values_count
 * and whether reads count. */
berth_status berth_eliminate_new(berth_ctx *ctx, berth_eliminate **out, const berth_terms *terms, double max_table,
                                 double max_total);
void berth_eliminate_free(berth_eliminate *plan);
/* Whether no table was split: runs give the least cost, and a placement that has it. */
bool berth_eliminate_is_exact(const berth_eliminate *plan);
/* Table entries of a run, and additions. */
double berth_eliminate_entries(const berth_eliminate *plan);
double berth_eliminate_additions(const berth_eliminate *plan);

/* Rounds of shifting before each run of a plan with split tables: more cost time and raise the bound. 20 at first. */
void berth_eliminate_set_rounds(berth_eliminate *plan, int32_t n_rounds);

/* The least cost, or a lower bound of it. device, [n_nodes], gets a placement: a best one if exact. */
double berth_eliminate_run(berth_eliminate *plan, int32_t *device);

#endif
