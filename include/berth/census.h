/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/census.h: which operation types a graph has, how many of each, and how much work they are together.
 */
#ifndef BERTH_CENSUS_H
#define BERTH_CENSUS_H

#include "berth/work.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_census_row {
    const char *type; /* borrowed from the graph */
    int32_t n_ops;
    double flops; /* of all of them; operations of unknown work count 0 */
} berth_census_row;

typedef struct berth_census {
    int32_t n_types;
    const berth_census_row *rows; /* [n_types], sorted by type, byte by byte */
} berth_census;

/** `work` must be that of `graph`. Linear, up to the sorting of the types. Free with berth_census_free(), before the
 *  graph. */
BERTH_API BERTH_MUST_CHECK berth_status berth_census_build(berth_ctx *ctx, berth_census **out, const berth_graph *graph,
                                                           const berth_work *work);
BERTH_API void berth_census_free(berth_census *census);

#ifdef __cplusplus
}
#endif
#endif
