/* SPDX-License-Identifier: Apache-2.0 */
/* What a learned method gets besides its search, and where it leaves what it learnt. `search->learn` points to one;
 * NULL means defaults, and nothing is kept. */
#ifndef BERTH_LEARN_LEARN_H
#define BERTH_LEARN_LEARN_H

#include "learn/settings.h"
#include "search/search.h"

/* How an episode (or as many evaluations of a method without episodes) went. */
typedef struct berth_episode {
    double mean_ms, best_ms, entropy, clusters, seconds;
} berth_episode;

typedef struct berth_learn {
    const berth_settings *settings; /* of this method; NULL: its defaults */
    berth_policy *policy;           /* parameters to start from and to leave behind; NULL: fresh, thrown away */
    void (*episode)(void *user, const berth_episode *episode); /* after each; may be NULL */
    void *user;
} berth_learn;

berth_status berth_learn_hsdag(berth_search *search);
berth_status berth_learn_hsdag_paper(berth_search *search);
berth_status berth_learn_hsdag_code(berth_search *search);
berth_status berth_learn_placeto(berth_search *search);
berth_status berth_learn_rnn(berth_search *search);

#endif
