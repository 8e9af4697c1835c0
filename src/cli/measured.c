/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies, outputs, places. */
#include "cli/measured.h"

#include "cli/output.h"
#include "cli/timeline.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_SHOWN = 10 };

void cli_prediction_summary(berth_text *text, const berth_profile *p) {
    int32_t n_held_out = 0;
    if (p->n_devices < 2) return;
    for (int32_t i = 0; i < p->n_runs; i++) n_held_out += p->runs[i].is_held_out;
    cli_text_key(text, "prediction");
    if (isnan(p->mean_error)) {
        berth_text_printf(text, "nothing was run that could tell how good it is\n");
        return;
    }
    berth_text_printf(text, "mean error %.1f %%, rank correlation %.3f over %" PRId32 " runs that %s\n",
                      100 * p->mean_error, p->rank_correlation, n_held_out ? n_held_out : p->n_runs,
                      n_held_out ? "were held out" : "it was fitted to");
}

static void put_run(berth_text *text, const berth_measured_run *run) {
    const berth_latency *l = &run->latency;
    char bytes[CLI_SCALED_SIZE];
    cli_text_key(text, run->name);
    if (l->runs == 0) {
        berth_text_printf(text, "cannot be run: %s\n", run->reason);
        return;
    }
    berth_text_printf(text, "%.4g ms (%.4g to %.4g), p95 %.4g, p99 %.4g; first %.4g, load %.4g ms; %s", l->median_ms,
                      l->low_ms, l->high_ms, l->p95_ms, l->p99_ms, l->first_ms, l->load_ms,
                      cli_scaled(l->peak_bytes, "B", bytes));
    if (l->device_peak_bytes > 0)
        berth_text_printf(text, ", %s on the device", cli_scaled(l->device_peak_bytes, "B", bytes));
    berth_text_printf(text, "\n");
}

static void put_deviations(berth_text *text, const berth_graph *graph, const berth_measured *m) {
    cli_text_key(text, "places");
    berth_text_printf(text, "%" PRId32 " operations checked, %" PRId32 " ran elsewhere\n", m->n_checked,
                      m->n_deviations);
    for (int32_t i = 0; i < m->n_deviations && i < MOST_SHOWN; i++) {
        const berth_deviation *d = &m->deviations[i];
        cli_text_key(text, "");
        cli_text_escaped(text, berth_graph_op(graph, d->op)->name);
        berth_text_printf(text, ": on %s, not on %s: ", d->ran, d->planned);
        cli_text_escaped(text, d->reason);
        berth_text_printf(text, "\n");
    }
    if (m->n_deviations > MOST_SHOWN) {
        cli_text_key(text, "");
        berth_text_printf(text, "and %" PRId32 " more; --json has them all\n", m->n_deviations - MOST_SHOWN);
    }
}

static void put_gain(berth_text *text, const berth_measured *m) {
    if (isnan(m->gain)) return;
    cli_text_key(text, "gain");
    if (m->gain < 0)
        berth_text_printf(text, "none: %.4g times the time of %s\n", 1 - m->gain, m->singles[m->best].name);
    else if (isnan(m->gain_low))
        berth_text_printf(text, "%.1f %% over %s, in too few rounds to be sure of any\n", 100 * m->gain,
                          m->singles[m->best].name);
    else
        berth_text_printf(text, "%.1f %% over %s, with 95 %% confidence at least %.1f %%\n", 100 * m->gain,
                          m->singles[m->best].name, 100 * m->gain_low);
}

static void put_precision(berth_text *text, const berth_measured *m) {
    for (int32_t i = 0; i < m->n_singles && m->full; i++) {
        const berth_latency *full = &m->full[i].latency, *own = &m->singles[i].latency;
        if (full->runs == 0 || own->runs == 0) continue;
        cli_text_key(text, "precision");
        berth_text_printf(text,
                          "%s alone takes %.4g ms (%.4g to %.4g) in the model's own: a narrower one gains %.1f %%\n",
                          m->full[i].name, full->median_ms, full->low_ms, full->high_ms,
                          100 * (1 - own->median_ms / full->median_ms));
    }
}

void cli_measured_summary(berth_text *text, const berth_graph *graph, const berth_measured *measured) {
    const berth_measured *m = measured;
    cli_text_key(text, "measured");
    berth_text_printf(text, "with %s %s, 95 %% intervals of the median%s\n", m->runtime, m->runtime_version,
                      m->n_made_files > 0 ? ", made-up weights" : "");
    put_run(text, &m->plan);
    for (int32_t i = 0; i < m->n_singles; i++) put_run(text, &m->singles[i]);
    put_gain(text, m);
    put_precision(text, m);
    cli_text_key(text, "outputs");
    if (isnan(m->outputs.max_abs))
        berth_text_printf(text, "could not be compared\n");
    else
        berth_text_printf(text, "%s: largest difference %.3g, relative %.3g, cosine %.9g\n",
                          m->outputs.equal ? "equal within tolerance" : "DIFFERENT", m->outputs.max_abs,
                          m->outputs.max_rel, m->outputs.cosine);
    put_deviations(text, graph, m);
}
