/* SPDX-License-Identifier: Apache-2.0 */
/* `berth inspect`: what was found out about a model, and the four ways to print it. */
#ifndef BERTH_CLI_INSPECT_H
#define BERTH_CLI_INSPECT_H

#include "berth/census.h"
#include "berth/graph.h"
#include "berth/group.h"
#include "berth/text.h"
#include "berth/work.h"
#include "cli/options.h"

enum { INSPECT_N_RULES = BERTH_GROUP_FUSED + 1 };

typedef struct inspection {
    const char *path;
    berth_graph *graph;
    berth_work *work;
    berth_census *census;
    berth_groups *groups[INSPECT_N_RULES]; /* by berth_group_rule */
    int32_t n_constants;                   /* operations that are constant expressions */
    int32_t n_unknown_work;                /* operations whose FLOPs are not known */
    int64_t n_bodies, n_nested_ops;        /* in all operations together */
} inspection;

extern const cli_command cli_inspect;

void cli_inspect_summary(berth_text *text, const inspection *found);
void cli_inspect_json(berth_text *text, const inspection *found);
void cli_inspect_table(berth_text *text, const inspection *found);

/* Workloads: the sum of the times of all operations on one device; INFINITY if one cannot run there. */
double cli_device_total(const berth_graph *graph, int32_t device);

#endif
