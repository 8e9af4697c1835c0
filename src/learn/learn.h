/* SPDX-License-Identifier: Apache-2.0 */
/* What a learned method gets besides its search, and where it leaves what it learnt. `search->learn` points to one;
 * NULL means defaults, and nothing is kept. Nothing here speaks of berth_real, so that place/ may include it. */
#ifndef BERTH_LEARN_LEARN_H
#define BERTH_LEARN_LEARN_H

#include "base/vec.h"
#include "berth/text.h"
#include "learn/settings.h"
#include "search/search.h"

typedef struct berth_learn {
    const berth_settings *settings;       /* of this method; NULL: its defaults */
    berth_policy *policy;                 /* parameters to start from and to leave behind; NULL: fresh, thrown away */
    const berth_problem *const *problems; /* [n_problems] all that the policy is to learn on, this one among them; NULL:
                                             this one alone */
    int32_t n_problems;
    void (*episode)(void *user, const berth_episode *episode); /* after each; may be NULL */
    void *user;
} berth_learn;

/* What is known of the training of a policy, kept by place/train.c and in the file. */
typedef struct berth_training {
    uint64_t seed;
    int64_t rounds;                   /* searches made to train it; also the stream of random numbers of the next one */
    char trained_on[65];              /* digest of graphs, devices and options; "" before training */
    BERTH_VEC(berth_episode) history; /* of each round; without seconds, which differ from run to run */
} berth_training;

/* One that knows nothing yet. The settings are copied. */
berth_status berth_policy_new(berth_ctx *ctx, berth_policy **out, const berth_settings *settings);
berth_training *berth_policy_training(berth_policy *policy);
/* Its settings, to be changed before it is used. */
berth_settings *berth_policy_change(berth_policy *policy);
/* The bytes of the file that berth_policy_save writes, appended. */
berth_status berth_policy_write(berth_ctx *ctx, berth_text *text, const berth_policy *policy);
/* A policy from the bytes of such a file; `name` is for messages. */
berth_status berth_policy_parse(berth_ctx *ctx, berth_policy **out, const char *name, const char *bytes, size_t size);
/* Keep the state as the last good one; go back to it. Parameters, moments and running numbers only. */
berth_status berth_policy_keep(berth_policy *policy);
void berth_policy_go_back(berth_policy *policy);

/* How many evaluations one episode of a method takes, by its settings; for those without episodes a fair length. */
int64_t berth_learn_episode_length(const berth_settings *settings, const berth_problem *problem);

berth_status berth_learn_hsdag(berth_search *search);
berth_status berth_learn_hsdag_paper(berth_search *search);
berth_status berth_learn_hsdag_code(berth_search *search);
/* What both are: the published method by the settings of `method`, which may be hsdag with design=faithful. */
berth_status berth_learn_faithful(berth_search *search, const char *method);
berth_status berth_learn_placeto(berth_search *search);
berth_status berth_learn_rnn(berth_search *search);

#endif
