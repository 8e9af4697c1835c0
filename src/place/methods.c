/* SPDX-License-Identifier: Apache-2.0 */
/* The methods, cheap and simple ones first: this is the order of listings. A method is a function that obeys search.h
 * and a row here; what the portfolio makes of it stands in auto.c. */
#include "place/methods.h"

#include "berth/place.h"
#include "learn/learn.h"
#include "search/exact.h"
#include "search/min_cut.h"
#include "search/search_methods.h"

#include <string.h>

static const berth_method methods[] = {
    {"single", BERTH_METHOD_BUILDS, berth_search_single, "everything on one device, the best one"},
    {"random", BERTH_METHOD_DRAWS, berth_search_random, "any placements, the best of them"},
    {"greedy", BERTH_METHOD_BUILDS, berth_search_greedy, "the first device that can run it, as runtimes do today"},
    {"fastest", BERTH_METHOD_BUILDS, berth_search_fastest, "each operation where it runs fastest, copies ignored"},
    {"cut", BERTH_METHOD_BUILDS, berth_search_cut, "the best single cut of the topological order"},
    {"heft", BERTH_METHOD_BUILDS, berth_search_heft, "list scheduling by earliest finish (Topcuoglu et al. 2002)"},
    {"m-etf", BERTH_METHOD_BUILDS, berth_search_m_etf, "list scheduling by earliest start, with memory (Baechi)"},
    {"m-sct", BERTH_METHOD_BUILDS, berth_search_m_sct, "the same with favourite children (Baechi)"},
    {"metis", BERTH_METHOD_BUILDS, berth_search_metis, "balanced parts with few copies, by the library METIS"},
    {"min-cut", BERTH_METHOD_BUILDS, berth_search_min_cut,
     "least times and copies; optimal under serial on two devices"},
    {"local", BERTH_METHOD_IMPROVES, berth_search_local, "moves of single operations at boundaries, with restarts"},
    {"anneal", BERTH_METHOD_IMPROVES, berth_search_anneal, "simulated annealing"},
    {"hsdag", BERTH_METHOD_LEARNS, berth_learn_hsdag, "learns which changes of a placement shorten its schedule"},
    {"hsdag:paper", BERTH_METHOD_LEARNS, berth_learn_hsdag_paper, "the published method, as the paper has it"},
    {"hsdag:code", BERTH_METHOD_LEARNS, berth_learn_hsdag_code, "the published method, as its code has it"},
    {"placeto", BERTH_METHOD_LEARNS, berth_learn_placeto, "a learned policy, node by node (Addanki et al. 2019)"},
    {"rnn", BERTH_METHOD_LEARNS, berth_learn_rnn, "a learned policy, as a sequence (Mirhoseini et al. 2017)"},
    {"exact", BERTH_METHOD_PROVES, berth_search_exact, "branch and bound, or over ideals: the optimum, if it ends"},
    {"auto", BERTH_METHOD_PORTFOLIO, NULL, "all of these within the budget; never worse than one device"},
};

enum { N_METHODS = sizeof methods / sizeof *methods };

const berth_method *berth_method_find(const char *name) {
    for (int i = 0; i < N_METHODS; i++)
        if (strcmp(methods[i].name, name) == 0) return &methods[i];
    return NULL;
}

const char *berth_method_name(int32_t index) {
    return index >= 0 && index < N_METHODS ? methods[index].name : NULL;
}

const char *berth_method_summary(int32_t index) {
    return index >= 0 && index < N_METHODS ? methods[index].summary : NULL;
}
