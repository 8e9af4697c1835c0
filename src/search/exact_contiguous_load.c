/* SPDX-License-Identifier: Apache-2.0 */
/* What the largest load is at least, by prices.
 *
 * Give every device that is left, and the host, a weight, all weights together 1. The largest load is no less than the
 * weighted sum of loads, and in that sum every task costs at least its price: the smallest weight x time over the
 * devices where it may run. Any weights will do; good ones leave no device with much more than its share when all tasks
 * go where they are cheapest. They are found for each state by raising the weights of devices that have more, a little
 * less every time, and keeping the best. */
#include "search/exact_contiguous.h"

#include <math.h>

enum { MOST_ROUNDS = 200, FEWEST_ROUNDS = 20, MOST_WORK = 30000000 };

typedef struct prices {
    const berth_contiguous *m;
    int32_t state;
    double cores;
    double weight[BERTH_MAX_DEVICES + 1]; /* of one device of a kind; last: the host */
    double load[BERTH_MAX_DEVICES + 1];   /* of all devices of a kind */
} prices;

static int32_t count(const prices *p, int32_t kind) {
    return kind == p->m->n_kinds ? 1 : p->m->left[(size_t)p->state * (size_t)p->m->n_kinds + (size_t)kind];
}

static double time_on(const prices *p, int32_t task, int32_t kind) {
    const berth_contiguous *m = p->m;
    bool is_host = kind == m->n_kinds;
    int32_t device = is_host ? m->c->host : m->kind_device[kind];
    if (!(m->allowed[task] >> device & 1) || count(p, kind) == 0) return INFINITY;
    return berth_contiguous_ms(m, task, device) / (is_host ? p->cores : 1);
}

/* The task's price, and the kind it goes to; 0 and -1 if it can go nowhere. */
static double find_price(const prices *p, int32_t task, int32_t *kind) {
    double least = INFINITY;
    *kind = -1;
    for (int32_t k = 0; k <= p->m->n_kinds; k++) {
        double ms = time_on(p, task, k), price = p->weight[k] * ms;
        if (ms == INFINITY || price >= least) continue;
        least = price;
        *kind = k;
    }
    return *kind < 0 ? 0 : least;
}

/* The sum of all prices; loads as a side effect. */
static double sum_prices(prices *p) {
    double sum = 0;
    for (int32_t k = 0; k <= p->m->n_kinds; k++) p->load[k] = 0;
    for (int32_t task = 0; task < p->m->c->n_tasks; task++) {
        int32_t kind = -1;
        if (!p->m->is_kept[task]) continue;
        sum += find_price(p, task, &kind);
        if (kind >= 0) p->load[kind] += time_on(p, task, kind);
    }
    return sum;
}

static void normalise(prices *p) {
    double sum = 0;
    for (int32_t k = 0; k <= p->m->n_kinds; k++) sum += count(p, k) * p->weight[k];
    for (int32_t k = 0; k <= p->m->n_kinds; k++) p->weight[k] /= sum;
}

static void raise_weights(prices *p, double step) {
    double most = 0;
    for (int32_t k = 0; k <= p->m->n_kinds; k++)
        if (count(p, k) > 0) most = fmax(most, p->load[k] / count(p, k));
    for (int32_t k = 0; k <= p->m->n_kinds; k++)
        if (count(p, k) > 0 && most > 0) p->weight[k] *= exp(step * p->load[k] / count(p, k) / most);
    normalise(p);
}

/* Leaves the best weights in place. */
static void find_weights(prices *p, int32_t n_rounds) {
    double best[BERTH_MAX_DEVICES + 1] = {0}, best_sum = -1, step = 2, shrink = pow(1e-5, 1.0 / n_rounds);
    for (int32_t k = 0; k <= p->m->n_kinds; k++) p->weight[k] = 1;
    normalise(p);
    for (int32_t round = 0; round < n_rounds; round++) {
        double sum = sum_prices(p);
        if (sum > best_sum) {
            best_sum = sum;
            for (int32_t k = 0; k <= p->m->n_kinds; k++) best[k] = p->weight[k];
        }
        raise_weights(p, step);
        step *= shrink;
    }
    for (int32_t k = 0; k <= p->m->n_kinds; k++) p->weight[k] = best[k];
}

berth_status berth_contiguous_make_prices(berth_ctx *ctx, berth_contiguous *m) {
    size_t n_states = (size_t)m->n_states, n = (size_t)m->c->n_tasks;
    double *price = berth_arena_push(&m->arena, n * n_states, sizeof *price);
    double *host_price = berth_arena_push(&m->arena, n_states, sizeof *host_price);
    if (m->arena.failed) return berth_fail_nomem(ctx);
    double work = (double)n * (double)(m->n_kinds + 1) * (double)n_states, rounds = MOST_WORK / (work + 1);
    int32_t n_rounds = rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds < FEWEST_ROUNDS ? FEWEST_ROUNDS : (int32_t)rounds;
    for (int32_t state = 0; state < m->n_states; state++) {
        prices p = {.m = m, .state = state, .cores = m->c->max_cpus > 1 ? m->c->max_cpus : 1};
        int32_t kind = -1;
        find_weights(&p, n_rounds);
        host_price[state] = p.weight[m->n_kinds] / p.cores;
        for (int32_t task = 0; task < m->c->n_tasks; task++)
            if (m->is_kept[task]) price[(size_t)task * n_states + (size_t)state] = find_price(&p, task, &kind);
    }
    m->price = price;
    m->host_price = host_price;
    return BERTH_OK;
}
