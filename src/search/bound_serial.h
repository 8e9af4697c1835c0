/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_SEARCH_BOUND_SERIAL_H
#define BERTH_SEARCH_BOUND_SERIAL_H

#include "search/bound.h"

typedef struct berth_serial_options {
    bool of_classes; /* nodes are classes, for the bound; else units */
    bool bounds;     /* raise the search's bound */
    bool offers;     /* evaluate and offer placements; of units only */
    int32_t *last;   /* gets the last placement of nodes; or NULL */
    bool *is_exact;  /* gets whether that has the least cost; or NULL */
} berth_serial_options;

/* The least `serial` cost, with prices for pieces and memory that rise step by step. */
berth_status berth_serial_run(berth_search *search, berth_serial_options options, berth_patience *patience);

#endif
