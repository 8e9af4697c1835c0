/* SPDX-License-Identifier: Apache-2.0 */
/* The answer in words: how long, how good, what runs where, what is copied, who found it. What differs from run to run
 * (seconds) is left to --json, so that equal runs print the same. */
#include "cli/cases.h"
#include "cli/output.h"
#include "cli/place.h"
#include "cli/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_NAMES = 8 };

static void put_head(berth_text *text, const placed *found) {
    const berth_plan *plan = found->plan;
    cli_text_key(text, "simulated");
    berth_text_printf(text, "nothing was run; ");
    for (int32_t d = 0; d < plan->n_devices && d < MOST_NAMES; d++) {
        if (d) berth_text_printf(text, ", ");
        cli_text_cell(text, plan->device_names[d], 0, 32);
    }
    if (plan->n_devices > MOST_NAMES) berth_text_printf(text, ", %" PRId32 " more", plan->n_devices - MOST_NAMES);
    berth_text_printf(text, " as %s\n",
                      strcmp(plan->costs, "given") == 0     ? "the workload gives them"
                      : strcmp(plan->costs, "profile") == 0 ? "measured elsewhere"
                                                            : "described");
    cli_text_key(text, "model");
    cli_text_escaped(text, strcmp(found->path, "-") == 0 ? "standard input" : found->path);
    berth_text_printf(text, "\n");
    cli_text_key(text, "execution");
    berth_text_printf(text, "%s", berth_model_name(plan->execution_model));
    if (plan->piece_ms > 0) berth_text_printf(text, ", %.6g ms per piece", plan->piece_ms);
    if (plan->objective == BERTH_OBJECTIVE_THROUGHPUT) berth_text_printf(text, "; the largest load counts");
    berth_text_printf(text, "\n");
}

static int32_t best_single(const berth_plan *plan) {
    int32_t best = 0;
    for (int32_t d = 1; d < plan->n_devices; d++)
        if (plan->single_ms[d] < plan->single_ms[best]) best = d;
    return best;
}

static void put_answer(berth_text *text, const placed *found) {
    const berth_plan *plan = found->plan;
    int32_t best = best_single(plan);
    double alone = plan->single_ms[best], share = alone > 0 ? 100 * (plan->makespan_ms / alone - 1) : 0;
    cli_text_key(text, "answer");
    berth_text_printf(text, "%.6g ms", plan->makespan_ms);
    if (isinf(alone)) {
        berth_text_printf(text, "; no single device can run it all\n");
    } else {
        if (plan->makespan_ms == alone)
            berth_text_printf(text, ", as the best single device alone: ");
        else
            berth_text_printf(text, ", %.2f %% %s than the best single device alone: ", fabs(share),
                              share < 0 ? "less" : "more");
        cli_text_cell(text, plan->device_names[best], 0, 32);
        berth_text_printf(text, ", %.6g ms\n", alone);
    }
    cli_text_key(text, "bound");
    if (plan->gap == 0)
        berth_text_printf(text, "proven optimal: no placement takes less\n");
    else if (isinf(plan->gap))
        berth_text_printf(text, "none known\n");
    else
        berth_text_printf(text, "no placement takes less than %.6g ms: at most %.2f %% to gain\n", plan->lower_bound_ms,
                          100 * (1 - plan->lower_bound_ms / plan->makespan_ms));
}

static void put_search(berth_text *text, const placed *found) {
    const berth_plan *plan = found->plan;
    cli_text_key(text, "methods");
    berth_text_printf(text, "%-11s  %12s  %12s\n", "method", "ms", "evaluations");
    for (int32_t i = 0; i < plan->n_methods; i++) {
        const berth_plan_method *row = &plan->methods[i];
        cli_text_key(text, "");
        berth_text_printf(text, "%-11s  ", row->method);
        if (isinf(row->makespan_ms))
            berth_text_printf(text, "%12s", "-");
        else
            berth_text_printf(text, "%12.6g", row->makespan_ms);
        berth_text_printf(text, "  %12" PRId64 "\n", row->evaluations);
    }
    cli_text_key(text, "found by");
    berth_text_printf(text, "%s (%s)%s\n", plan->found_by, plan->source, plan->interrupted ? "; interrupted" : "");
    if (!found->output || strcmp(found->output, "-") == 0) return;
    cli_text_key(text, "plan");
    cli_text_escaped(text, found->output);
    berth_text_printf(text, "\n");
}

void cli_place_summary(berth_text *text, const placed *found) {
    put_head(text, found);
    put_answer(text, found);
    cli_cases_summary(text, found->plan);
    cli_timeline_devices(text, found->plan, found->timeline);
    cli_timeline_copies(text, found->graph, found->timeline);
    put_search(text, found);
}
