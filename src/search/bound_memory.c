/* SPDX-License-Identifier: Apache-2.0 */
/* Lagrangian relaxation of memory limits. With prices p >= 0 per byte, no feasible placement costs less than the least
 * of cost + sum over devices of p * (bytes there - capacity). Bytes are the given sizes of tasks, else weights alone,
 * each divided evenly among the tasks that read it: never more than a device holds. Prices follow the subgradient,
 * which is bytes minus capacity, with Polyak's step. */
#include "search/bound_memory.h"

#include <math.h>
#include <string.h>

static bool share_weights(berth_prices *prices, berth_arena *arena, const berth_terms *terms) {
    const berth_costs *c = terms->costs;
    int32_t *readers = berth_arena_push(arena, (size_t)c->n_weights, sizeof *readers);
    if (!readers) return false;
    for (int32_t i = 0; i < c->weight_start[c->n_tasks]; i++) readers[c->weights[i]]++;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->weight_start[task]; i < c->weight_start[task + 1]; i++)
            prices->need[terms->node_of[task]] += c->weight_bytes[c->weights[i]] / readers[c->weights[i]];
    return true;
}

bool berth_prices_init(berth_prices *prices, berth_arena *arena, const berth_problem *problem,
                       const berth_terms *terms) {
    const berth_costs *c = terms->costs;
    *prices = (berth_prices){.any = problem->memory_binds};
    prices->need = berth_arena_push(arena, (size_t)terms->n_nodes, sizeof *prices->need);
    prices->price = berth_arena_push(arena, (size_t)c->n_devices, sizeof *prices->price);
    prices->held = berth_arena_push(arena, (size_t)c->n_devices, sizeof *prices->held);
    if (arena->failed) return false;
    if (!prices->any) return true;
    if (!c->task_memory) return share_weights(prices, arena, terms);
    for (int32_t task = 0; task < c->n_tasks; task++) prices->need[terms->node_of[task]] += c->task_memory[task];
    return true;
}

double berth_prices_apply(const berth_prices *prices, berth_terms *terms) {
    const berth_costs *c = terms->costs;
    double given_back = 0;
    if (!prices->any) return 0;
    for (int32_t d = 0; d < c->n_devices; d++) {
        if (!(prices->price[d] > 0)) continue;
        given_back += prices->price[d] * c->capacity[d];
        for (int32_t node = 0; node < terms->n_nodes; node++)
            terms->node_ms[(size_t)node * (size_t)c->n_devices + (size_t)d] += prices->price[d] * prices->need[node];
    }
    return given_back;
}

static void add_up(const berth_prices *prices, const berth_terms *terms, const int32_t *device) {
    memset(prices->held, 0, (size_t)terms->costs->n_devices * sizeof *prices->held);
    for (int32_t node = 0; node < terms->n_nodes; node++) prices->held[device[node]] += prices->need[node];
}

bool berth_prices_fit(const berth_prices *prices, const berth_terms *terms, const int32_t *device) {
    if (!prices->any) return true;
    add_up(prices, terms, device);
    for (int32_t d = 0; d < terms->costs->n_devices; d++)
        if (prices->held[d] > terms->costs->capacity[d]) return false;
    return true;
}

bool berth_prices_move(berth_prices *prices, const berth_terms *terms, const int32_t *device, double bound,
                       double above, double scale) {
    const berth_costs *c = terms->costs;
    double norm = 0;
    if (!prices->any) return false;
    add_up(prices, terms, device);
    for (int32_t d = 0; d < c->n_devices; d++) {
        double over = prices->held[d] - c->capacity[d];
        if (over > 0 || (prices->price[d] > 0 && over < 0)) norm += over * over;
    }
    if (!(norm > 0 && norm < INFINITY)) return false;
    double step = scale * (above > bound ? above - bound : 0) / norm;
    for (int32_t d = 0; d < c->n_devices; d++) {
        double over = prices->held[d] - c->capacity[d];
        if (!(over > 0) && !(prices->price[d] > 0)) continue;
        prices->price[d] += step * over;
        if (!(prices->price[d] > 0)) prices->price[d] = 0;
    }
    return true;
}
