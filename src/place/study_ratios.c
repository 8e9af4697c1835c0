/* SPDX-License-Identifier: Apache-2.0 */
/* Geometric means of ratios of paired makespans, with intervals by the bootstrap: cases of one architecture are alike,
 * so that whole architectures are drawn, with replacement (Cameron, Gelbach and Miller 2008). */
#include "place/study.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { N_DRAWS = 4000, MAX_CLUSTERS = 64 };
static const double penalty = 10; /* what nothing feasible counts, times the worst that was found */

static double value_at(const berth_study_row *row, int32_t mark) {
    return mark == BERTH_STUDY_FINAL ? row->makespan_ms : row->marks_ms[mark];
}

/* The worst final makespan of all arms on a case. */
static double worst_of(const berth_study_rows *rows, const char *suite, int32_t item) {
    double worst = 0;
    for (int32_t arm = 0; arm < rows->n_arms; arm++)
        for (int32_t seed = 0; seed < rows->n_seeds; seed++) {
            const berth_study_row *row = berth_study_rows_at(rows, suite, item, arm, seed);
            if (row && row->makespan_ms < INFINITY && row->makespan_ms > worst) worst = row->makespan_ms;
        }
    return worst;
}

/* The logarithm of the ratio; NAN: not both are there. */
static double pair(const berth_study_row *a, int32_t mark_a, const berth_study_row *b, int32_t mark_b, double worst) {
    if (!a || !b || !(worst > 0)) return NAN;
    double x = value_at(a, mark_a), y = value_at(b, mark_b);
    if (!(x < INFINITY)) x = penalty * worst;
    if (!(y < INFINITY)) y = penalty * worst;
    return log(x / y);
}

typedef struct cluster {
    const char *name;
    double sum;
    int32_t n;
} cluster;

static cluster *cluster_of(cluster *clusters, int32_t *n, const char *name) {
    for (int32_t i = 0; i < *n; i++)
        if (strcmp(clusters[i].name, name) == 0) return &clusters[i];
    if (*n == MAX_CLUSTERS) return &clusters[MAX_CLUSTERS - 1];
    clusters[*n] = (cluster){.name = name};
    return &clusters[(*n)++];
}

static void sort(double *values, int32_t n) { /* heaps would be faster; there are few */
    for (int32_t gap = n / 2; gap > 0; gap /= 2)
        for (int32_t i = gap; i < n; i++) {
            double value = values[i];
            int32_t k = i;
            for (; k >= gap && values[k - gap] > value; k -= gap) values[k] = values[k - gap];
            values[k] = value;
        }
}

/* 2.5 % and 97.5 % of the means of resampled clusters. */
static void find_interval(const cluster *clusters, int32_t n, berth_ratio *out) {
    double means[N_DRAWS];
    berth_rng rng;
    berth_rng_init(&rng, 20240514, 0);
    for (int32_t draw = 0; draw < N_DRAWS; draw++) {
        double sum = 0;
        int32_t count = 0;
        for (int32_t i = 0; i < n; i++) {
            const cluster *c = &clusters[berth_rng_below(&rng, (uint32_t)n)];
            sum += c->sum;
            count += c->n;
        }
        means[draw] = sum / count;
    }
    sort(means, N_DRAWS);
    out->low = exp(means[N_DRAWS / 40]);
    out->high = exp(means[N_DRAWS - 1 - N_DRAWS / 40]);
}

static bool is_left_out(const berth_study_rows *rows, const berth_ratio_query *q, int32_t item) {
    return (q->skip && q->skip[item]) || (q->filter && !q->filter(&rows->cases[item]));
}

berth_ratio berth_study_ratio(const berth_study_rows *rows, const char *suite, const berth_ratio_query *q) {
    cluster clusters[MAX_CLUSTERS];
    berth_ratio out = {.mean = NAN, .low = NAN, .high = NAN};
    int32_t n_clusters = 0;
    double sum = 0;
    for (int32_t item = 0; item < rows->n_cases && q->a >= 0 && q->b >= 0; item++) {
        if (is_left_out(rows, q, item)) continue;
        double worst = worst_of(rows, suite, item);
        int32_t before = out.n_pairs;
        for (int32_t seed = 0; seed < rows->n_seeds; seed++) {
            double x = q->one_seed && seed != q->seed
                           ? NAN
                           : pair(berth_study_rows_at(rows, suite, item, q->a, seed), q->mark_a,
                                  berth_study_rows_at(rows, suite, item, q->b, seed), q->mark_b, worst);
            if (isnan(x)) continue;
            cluster *c = cluster_of(clusters, &n_clusters, rows->cases[item].architecture);
            c->sum += x;
            c->n++;
            sum += x;
            out.n_pairs++;
            out.n_better += x < -1e-9;
            out.n_worse += x > 1e-9;
        }
        out.n_cases += out.n_pairs > before;
    }
    if (out.n_pairs == 0) return out;
    out.mean = exp(sum / out.n_pairs);
    find_interval(clusters, n_clusters, &out);
    return out;
}

double berth_study_case_ratio(const berth_study_rows *rows, const char *suite, int32_t item, int32_t a, int32_t b) {
    double worst = worst_of(rows, suite, item), sum = 0;
    int32_t n = 0;
    for (int32_t seed = 0; seed < rows->n_seeds && a >= 0 && b >= 0; seed++) {
        double x = pair(berth_study_rows_at(rows, suite, item, a, seed), BERTH_STUDY_FINAL,
                        berth_study_rows_at(rows, suite, item, b, seed), BERTH_STUDY_FINAL, worst);
        if (isnan(x)) continue;
        sum += x;
        n++;
    }
    return n > 0 ? exp(sum / n) : NAN;
}
