/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/learn.h: what the learned methods can be told, and policies that outlive a search.
 */
#ifndef BERTH_LEARN_H
#define BERTH_LEARN_H

#include "berth/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Settings of the learned methods: hyper-parameters of the paper (its Table 6), of its code, and ours. Each has a
 * name, a kind, a range and a default per method; a run prints and stores all that its method looks at. */
enum { BERTH_MAX_SETTINGS = 96 };

typedef struct berth_settings {
    const char *method;               /* whose defaults these were: "hsdag", "hsdag:paper", ... */
    double value[BERTH_MAX_SETTINGS]; /* numbers; switches 0 and 1; choices by position */
} berth_settings;

typedef enum berth_setting_kind {
    BERTH_SETTING_NUMBER,
    BERTH_SETTING_COUNT, /* a whole number */
    BERTH_SETTING_SWITCH,
    BERTH_SETTING_CHOICE,
} berth_setting_kind;

typedef struct berth_setting {
    const char *name; /* as in --set learning_rate=1e-4 */
    berth_setting_kind kind;
    double least, most;
    const char *choices; /* "refine|joint", for BERTH_SETTING_CHOICE */
    const char *summary;
} berth_setting;

/** Learned methods: number `index`, or NULL past the end. */
BERTH_API const char *berth_learned_method(int32_t index);
/** Number `index` of the table of settings, or NULL past the end. */
BERTH_API const berth_setting *berth_setting_at(int32_t index);
/** Whether a learned method looks at setting number `index`. */
BERTH_API bool berth_setting_applies(const char *method, int32_t index);
/** The defaults of a learned method. BERTH_E_ARG: not a learned method. */
BERTH_API BERTH_MUST_CHECK berth_status berth_settings_default(berth_ctx *ctx, berth_settings *out, const char *method);
/** Set one from text such as "learning_rate=1e-4", "feature_shape=off" or "design=joint". BERTH_E_ARG names what is
 * wrong, and the nearest name; the settings are then as they were. */
BERTH_API BERTH_MUST_CHECK berth_status berth_settings_set(berth_ctx *ctx, berth_settings *settings, const char *text);
/** The value of number `index` as `set` would take it, at most `size` bytes with the NUL. Returns the length. */
BERTH_API size_t berth_settings_text(const berth_settings *settings, int32_t index, char *text, size_t size);

/** How an episode of training went, or as many evaluations of a method without episodes. */
typedef struct berth_episode {
    double mean_ms, best_ms; /* of the placements that were tried and feasible */
    double entropy;          /* of the policy's choices, mean */
    double clusters;         /* groups that it placed, mean */
    double seconds;
} berth_episode;

/** A policy: parameters with everything needed to go on learning. */
typedef struct berth_policy berth_policy;

BERTH_API BERTH_MUST_CHECK berth_status berth_policy_load(berth_ctx *ctx, berth_policy **out, const char *path);
/** BERTH_E_IO: it cannot be written; BERTH_E_LIMIT: there is no room for it. */
BERTH_API BERTH_MUST_CHECK berth_status berth_policy_save(berth_ctx *ctx, const berth_policy *policy, const char *path);
BERTH_API void berth_policy_free(berth_policy *policy);
BERTH_API const berth_settings *berth_policy_settings(const berth_policy *policy);
/** Numbers in all parameters together. */
BERTH_API int64_t berth_policy_size(const berth_policy *policy);
/** Its training, episode by episode; `seconds` are 0 for those made before it was loaded. */
BERTH_API int64_t berth_policy_episodes(const berth_policy *policy);
BERTH_API const berth_episode *berth_policy_episode(const berth_policy *policy, int64_t index);

#ifdef __cplusplus
}
#endif
#endif
