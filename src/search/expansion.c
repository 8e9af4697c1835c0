/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion moves (Boykov, Veksler, Zabih: Fast Approximate Energy Minimization via Graph Cuts, 2001): for one device,
 * the best set of nodes to move there at once is a minimum cut. Links are unlike, so that some terms do not fit a cut
 * and are overestimated (min_cut_graph.c): a move is taken only if the true cost falls. Then swaps: nodes of two
 * devices choose between them anew, everything else stays. */
#include "search/expansion.h"

#include <string.h>

#include "search/min_cut_graph.h"

typedef struct state {
    berth_search *search;
    berth_patience *patience;
    berth_flow *flow;
    const berth_terms *terms;
    int32_t *device, *other, *next;
    double cost;
} state;

static const double least_gain = 1e-12; /* relative: less is rounding */

/* Every node on a device, if it may run there, else where it is. */
static void propose(const state *s, int32_t to, int32_t *label) {
    for (int32_t node = 0; node < s->terms->n_nodes; node++)
        label[node] = s->terms->allowed[node] >> to & 1 ? to : s->device[node];
}

/* The same for nodes of two devices; all others stay. */
static void propose_for(const state *s, int32_t a, int32_t b, int32_t to, int32_t *label) {
    for (int32_t node = 0; node < s->terms->n_nodes; node++) {
        bool takes_part = s->device[node] == a || s->device[node] == b;
        label[node] = takes_part && s->terms->allowed[node] >> to & 1 ? to : s->device[node];
    }
}

static berth_status take(state *s, const int32_t *keep, bool *better) {
    *better = false;
    s->patience->work -= berth_min_cut_work(s->terms);
    BERTH_TRY(berth_min_cut_choose(s->search->ctx, s->flow, s->terms, keep, s->other, s->next));
    double cost = berth_terms_cost(s->terms, s->next);
    if (!(cost < s->cost * (1 - least_gain))) return BERTH_OK;
    memcpy(s->device, s->next, (size_t)s->terms->n_nodes * sizeof *s->device);
    s->cost = cost;
    *better = true;
    return BERTH_OK;
}

static bool is_over(const state *s) {
    return berth_search_stop(s->search) || berth_patience_ends(s->search, s->patience);
}

/* Device by device, round and round, until none has helped since it was last tried. */
static berth_status expand(state *s) {
    int32_t k = s->terms->costs->n_devices;
    for (int32_t to = 0, idle = 0; idle < k && !is_over(s); to = (to + 1) % k) {
        bool better;
        propose(s, to, s->other);
        BERTH_TRY(take(s, s->device, &better));
        idle = better ? 0 : idle + 1;
    }
    return BERTH_OK;
}

static berth_status swap_pairs(state *s, bool *better) {
    int32_t k = s->terms->costs->n_devices;
    *better = false;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = a + 1; b < k && !is_over(s); b++) {
            bool helped;
            propose_for(s, a, b, a, s->next);
            propose_for(s, a, b, b, s->other);
            BERTH_TRY(take(s, s->next, &helped));
            *better |= helped;
        }
    return BERTH_OK;
}

berth_status berth_expansion_improve(berth_search *search, berth_patience *patience, berth_flow *flow,
                                     const berth_terms *terms, int32_t *device, int32_t *other, int32_t *next,
                                     double *cost) {
    state s = {.search = search, .patience = patience, .flow = flow, .terms = terms};
    s.device = device;
    s.other = other;
    s.next = next;
    bool better = true;
    s.cost = berth_terms_cost(terms, device);
    while (better && !is_over(&s)) {
        BERTH_TRY(expand(&s));
        BERTH_TRY(swap_pairs(&s, &better));
    }
    *cost = s.cost;
    return BERTH_OK;
}
