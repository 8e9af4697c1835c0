/* SPDX-License-Identifier: Apache-2.0 */
/* Settings come from the policy if there is one, else from the method's defaults; then what the user sets. The
 * portfolio has a learned method too: it starts from what the others built, so that it needs no seeds of its own. */
#include "place/learned.h"

#include <string.h>

static const char portfolio_method[] = "hsdag";

static berth_status load_policy(berth_ctx *ctx, berth_learned *learned, const char *path) {
    BERTH_TRY(berth_policy_load(ctx, &learned->policy, path));
    BERTH_TRY(berth_plan_digest(ctx, path, learned->policy_sha256));
    const char *method = berth_policy_settings(learned->policy)->method;
    if (strcmp(method, learned->method->name) == 0) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_ARG, "%.200s is a policy of %s, not of %s", path, method, learned->method->name);
}

berth_status berth_learned_init(berth_ctx *ctx, berth_learned *out, const berth_method *method,
                                const berth_place_options *options) {
    bool learns = method->kind == BERTH_METHOD_LEARNS;
    *out = (berth_learned){.method = learns ? method : NULL};
    if (method->kind == BERTH_METHOD_PORTFOLIO) out->method = berth_method_find(portfolio_method);
    if (!out->method && (options->n_set > 0 || options->policy))
        return berth_fail(ctx, BERTH_E_ARG, "method %s does not learn: it has no settings and no policy", method->name);
    if (!out->method) return BERTH_OK;
    if (options->policy) BERTH_TRY(load_policy(ctx, out, options->policy));
    if (!out->policy) BERTH_TRY(berth_settings_default(ctx, &out->settings, out->method->name));
    if (!out->policy && !learns) out->settings.value[BERTH_SET_SEEDS] = BERTH_SEEDS_SINGLE;
    berth_settings *settings = out->policy ? berth_policy_change(out->policy) : &out->settings;
    for (int32_t i = 0; i < options->n_set; i++) BERTH_TRY(berth_settings_set(ctx, settings, options->set[i]));
    out->learn = (berth_learn){.settings = settings, .policy = out->policy};
    return BERTH_OK;
}

void berth_learned_deinit(berth_learned *learned) {
    berth_policy_free(learned->policy);
}

static berth_plan_setting describe(berth_plan_draft *draft, const berth_settings *settings, int32_t index) {
    const berth_setting *row = berth_setting_at(index);
    char word[64];
    berth_plan_setting out = {.name = row->name, .is_switch = row->kind == BERTH_SETTING_SWITCH};
    if (row->kind == BERTH_SETTING_CHOICE) {
        size_t size = berth_settings_text(settings, index, word, sizeof word);
        out.word = berth_arena_string(&draft->arena, word, size);
    } else {
        out.number = settings->value[index];
    }
    return out;
}

berth_status berth_learned_store(berth_ctx *ctx, const berth_learned *learned, berth_plan_draft *draft) {
    const berth_settings *settings = learned->learn.settings;
    berth_plan *plan = &draft->plan;
    berth_plan_setting *rows = berth_arena_push(&draft->arena, BERTH_MAX_SETTINGS, sizeof *rows);
    if (!rows) return berth_fail_nomem(ctx);
    for (int32_t i = 0; berth_setting_at(i); i++) {
        char word[64];
        if (!berth_setting_applies(settings->method, i)) continue;
        rows[plan->n_settings++] = describe(draft, settings, i);
        berth_settings_text(settings, i, word, sizeof word);
        berth_log(ctx, BERTH_LOG_INFO, "%s: %s=%s", settings->method, berth_setting_at(i)->name, word);
    }
    plan->settings = rows;
    if (learned->policy) plan->policy_sha256 = berth_arena_string(&draft->arena, learned->policy_sha256, 64);
    return draft->arena.failed ? berth_fail_nomem(ctx) : BERTH_OK;
}
