/* SPDX-License-Identifier: Apache-2.0 */
/* What the results of a study say, as a table for people or as JSON: ratios to the first arm, anytime values, seconds,
 * ties apart, and for each thing that must hold whether it does. */
#include "place/study.h"

#include "place/study_verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct report {
    berth_text *text;
    bool json;
    berth_study_result result;
} report;

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static void put_ratio(const report *r, const char *key, const berth_ratio *ratio) {
    berth_text *text = r->text;
    if (!r->json) {
        if (isnan(ratio->mean))
            berth_text_printf(text, "  %-22s", "-");
        else
            berth_text_printf(text, "  %6.4f [%6.4f %6.4f]", ratio->mean, ratio->low, ratio->high);
        return;
    }
    berth_json_inline(text);
    berth_json_object_begin(text, key);
    berth_json_double(text, "ratio", ratio->mean);
    berth_json_double(text, "low", ratio->low);
    berth_json_double(text, "high", ratio->high);
    berth_json_int(text, "cases", ratio->n_cases);
    berth_json_int(text, "pairs", ratio->n_pairs);
    berth_json_int(text, "better", ratio->n_better);
    berth_json_int(text, "worse", ratio->n_worse);
    berth_json_object_end(text);
}

/* Mean over all its runs. */
static double mean_cpu(const report *r, int32_t arm) {
    const berth_study_rows *rows = r->result.rows;
    double sum = 0;
    int32_t n = 0;
    for (int32_t item = 0; item < rows->n_cases; item++)
        for (int32_t seed = 0; seed < rows->n_seeds; seed++) {
            const berth_study_row *row = berth_study_rows_at(rows, r->result.suite, item, arm, seed);
            if (!row || (berth_study_arm_at(r->result.suite, arm)->once && seed > 0)) continue;
            sum += row->cpu_seconds;
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

/* The least and the largest of the means of single seeds. */
static void find_spread(const report *r, berth_ratio_query query, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    query.one_seed = true;
    for (query.seed = 0; query.seed < r->result.rows->n_seeds; query.seed++) {
        double mean = berth_study_ratio(r->result.rows, r->result.suite, &query).mean;
        if (isnan(mean)) continue;
        *low = fmin(*low, mean);
        *high = fmax(*high, mean);
    }
}

/* --- arms ------------------------------------------------------------------------------------------------------- */

static void put_anytime(const report *r, int32_t arm, int32_t base) {
    if (r->json) berth_json_inline(r->text);
    if (r->json) berth_json_array_begin(r->text, "anytime");
    for (int32_t mark = 0; mark < BERTH_STUDY_MARKS; mark++) {
        berth_ratio_query query = {arm, mark, base, BERTH_STUDY_FINAL, .skip = r->result.ties};
        double mean = berth_study_ratio(r->result.rows, r->result.suite, &query).mean;
        if (r->json)
            berth_json_double(r->text, NULL, mean);
        else if (isnan(mean))
            berth_text_printf(r->text, "  %6s", "-");
        else
            berth_text_printf(r->text, "  %6.3f", mean);
    }
    if (r->json) berth_json_array_end(r->text);
}

static void put_arm(const report *r, int32_t index) {
    const berth_arm *arm = berth_study_arm_at(r->result.suite, index);
    int32_t base = arm->base ? berth_study_arm_find(r->result.suite, arm->base) : 0;
    bool ablation = strcmp(r->result.suite, "ablation") == 0;
    double low = NAN, high = NAN;
    berth_ratio_query query = {index, BERTH_STUDY_FINAL, base, BERTH_STUDY_FINAL, .skip = r->result.ties};
    berth_ratio all = berth_study_ratio(r->result.rows, r->result.suite, &query);
    find_spread(r, query, &low, &high);
    query.filter = berth_study_is_wide;
    berth_ratio wide = berth_study_ratio(r->result.rows, r->result.suite, &query);
    if (r->json) {
        berth_json_object_begin(r->text, NULL);
        berth_json_string(r->text, "arm", arm->name);
        berth_json_string(r->text, "method", arm->method);
        berth_json_string(r->text, "over", berth_study_arm_at(r->result.suite, base)->name);
        put_ratio(r, "final", &all);
        put_ratio(r, "final_wide", &wide);
        berth_json_double(r->text, "seed_low", low);
        berth_json_double(r->text, "seed_high", high);
        put_anytime(r, index, base);
        berth_json_double(r->text, "cpu_seconds", mean_cpu(r, index));
        berth_json_object_end(r->text);
        return;
    }
    berth_text_printf(r->text, "%-22s", arm->name);
    if (ablation) berth_text_printf(r->text, " %-18s", berth_study_arm_at(r->result.suite, base)->name);
    put_ratio(r, NULL, &all);
    if (ablation)
        berth_text_printf(r->text, "  %6.4f to %6.4f", low, high);
    else
        put_ratio(r, NULL, &wide);
    berth_text_printf(r->text, "  %4" PRId32 " %4" PRId32, all.n_better, all.n_worse);
    put_anytime(r, index, base);
    berth_text_printf(r->text, "  %8.3f\n", mean_cpu(r, index));
}

static void put_arms(const report *r) {
    bool ablation = strcmp(r->result.suite, "ablation") == 0;
    if (r->json) {
        berth_json_array_begin(r->text, "arms");
    } else {
        berth_text_printf(r->text, "Makespans over those of %s, geometric means with 95 %% intervals.\n\n",
                          ablation ? "another arm" : berth_study_arm_at(r->result.suite, 0)->name);
        berth_text_printf(r->text, "%-22s", "arm");
        if (ablation) berth_text_printf(r->text, " %-18s", "over");
        berth_text_printf(r->text, "  %-22s  %-22s  %4s %4s", "all cases", ablation ? "by seed" : "4 and 8 devices",
                          "less", "more");
        for (int i = 0; i < BERTH_STUDY_MARKS; i++) berth_text_printf(r->text, "  %6" PRId64, berth_study_marks[i]);
        berth_text_printf(r->text, "  %8s\n", "cpu s");
    }
    for (int32_t arm = 0; arm < r->result.rows->n_arms; arm++)
        if (!isnan(mean_cpu(r, arm))) put_arm(r, arm);
    if (r->json) berth_json_array_end(r->text);
}

/* --- cases ------------------------------------------------------------------------------------------------------ */

static bool has_runs(const report *r, int32_t item) {
    const berth_study_rows *rows = r->result.rows;
    for (int32_t arm = 0; arm < rows->n_arms; arm++)
        for (int32_t seed = 0; seed < rows->n_seeds; seed++)
            if (berth_study_rows_at(rows, r->result.suite, item, arm, seed)) return true;
    return false;
}

static void put_case(const report *r, int32_t item) {
    const berth_study_rows *rows = r->result.rows;
    berth_json_object_begin(r->text, NULL);
    berth_json_string(r->text, "case", rows->cases[item].name);
    berth_json_string(r->text, "architecture", rows->cases[item].architecture);
    berth_json_bool(r->text, "tie", r->result.ties[item]);
    berth_json_object_begin(r->text, "ratios");
    for (int32_t arm = 1; arm < rows->n_arms; arm++) {
        double ratio = berth_study_case_ratio(rows, r->result.suite, item, arm, 0);
        if (!isnan(ratio)) berth_json_double(r->text, berth_study_arm_at(r->result.suite, arm)->name, ratio);
    }
    berth_json_object_end(r->text);
    berth_json_object_end(r->text);
}

static void put_cases(const report *r) {
    const berth_study_rows *rows = r->result.rows;
    if (r->json) {
        berth_json_array_begin(r->text, "cases");
        for (int32_t item = 0; item < rows->n_cases; item++)
            if (has_runs(r, item)) put_case(r, item);
        berth_json_array_end(r->text);
        return;
    }
    berth_text_printf(r->text, "\nCases where all that improve end the same, left out above:");
    int32_t n = 0;
    for (int32_t item = 0; item < rows->n_cases; item++)
        if (r->result.ties[item]) berth_text_printf(r->text, "%s %s", n++ ? "," : "", rows->cases[item].name);
    berth_text_printf(r->text, n ? "\n" : " none\n");
}

static void put_verdicts(const report *r) {
    static const char *const words[] = {[BERTH_VERDICT_OPEN] = "open", "holds", "FAILS"};
    if (r->json)
        berth_json_array_begin(r->text, "verdicts");
    else
        berth_text_printf(r->text, "\nWhat must hold:\n");
    for (int32_t i = 0; i < r->result.n_verdicts; i++) {
        const berth_verdict *v = &r->result.verdicts[i];
        if (!r->json) {
            berth_text_printf(r->text, "%-6s %s\n       %s\n", words[v->state], v->what, v->found);
            continue;
        }
        berth_json_object_begin(r->text, NULL);
        berth_json_string(r->text, "what", v->what);
        berth_json_string(r->text, "state", words[v->state]);
        berth_json_string(r->text, "found", v->found);
        berth_json_object_end(r->text);
    }
    if (r->json) berth_json_array_end(r->text);
}

static void put_all(const report *r, const berth_study_options *options) {
    int32_t n_cases = 0;
    for (int32_t item = 0; item < r->result.rows->n_cases; item++) n_cases += has_runs(r, item);
    if (r->json) {
        berth_json_object_begin(r->text, NULL);
        berth_json_int(r->text, "schema", 1);
        berth_json_string(r->text, "suite", options->suite);
        berth_json_int(r->text, "evaluations", options->evaluations);
        berth_json_int(r->text, "seeds", options->n_seeds);
        berth_json_int(r->text, "runs", r->result.rows->n_rows);
    } else {
        berth_text_printf(r->text,
                          "%s: %" PRId32 " runs, %" PRId64 " evaluations, %" PRId32 " seeds, %" PRId32 " cases\n",
                          options->suite, r->result.rows->n_rows, options->evaluations, options->n_seeds, n_cases);
    }
    put_arms(r);
    put_cases(r);
    if (r->result.n_verdicts > 0) put_verdicts(r);
    if (r->json) berth_json_object_end(r->text);
}

berth_status berth_study_report(berth_ctx *ctx, berth_text *text, const berth_study_options *options, bool json) {
    berth_study_rows rows;
    report r = {.text = text, .json = json};
    BERTH_TRY(berth_study_check(ctx, options));
    berth_status status = berth_study_rows_read(ctx, &rows, options);
    if (status == BERTH_OK) status = berth_study_judge(ctx, &rows, options->suite, &r.result);
    if (status == BERTH_OK) put_all(&r, options);
    berth_study_rows_free(&rows);
    return status;
}
