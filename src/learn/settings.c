/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the learned methods: one table from which defaults, parsing, range checks and listings follow.
 *
 * Where the paper (its Table 6) and its code give a value, that is the default of `hsdag:paper` and `hsdag:code`; where
 * they leave one open, the reading of shared/HSDAG.md section 13. Those of `hsdag` are what learnt best on generated
 * graphs. */
#include "learn/settings.h"

#include "base/ctx.h"
#include "base/number.h"
#include "berth/text.h"

#include <stdio.h>
#include <string.h>

enum { N_METHODS = 5 };
enum { HSDAG = 1, PAPER = 2, CODE = 4, PLACETO = 8, RNN = 16, FAITHFUL = PAPER | CODE, PARSING = HSDAG | FAITHFUL };
enum { ALL = PARSING | PLACETO | RNN };

static const char *const methods[N_METHODS] = {"hsdag", "hsdag:paper", "hsdag:code", "placeto", "rnn"};

typedef struct row {
    berth_setting setting;
    int used_by;               /* bits of the methods that look at it */
    double initial[N_METHODS]; /* in the order of `methods` */
} row;

#define NUMBER(least, most) BERTH_SETTING_NUMBER, least, most, NULL
#define COUNT(least, most)  BERTH_SETTING_COUNT, least, most, NULL
#define SWITCH              BERTH_SETTING_SWITCH, 0, 1, NULL
#define CHOICE(last, names) BERTH_SETTING_CHOICE, 0, last, names

/* clang-format off */
static const row rows[BERTH_SETTING_COUNT_OF] = {
    /* the shape of the method */
    [BERTH_SET_DESIGN] = {{"design", CHOICE(2, "refine|joint|faithful"),
        "propose changes of a placement, draw whole ones, or as published"}, PARSING, {0, 2, 2, 0, 0}},
    [BERTH_SET_ARCHITECTURE] = {{"architecture", CHOICE(2, "encoder-placer|grouper-placer|joint"),
        "every node is placed, a fixed number of groups, or as many as the graph asks for"}, PARSING, {2, 2, 2, 0, 0}},
    [BERTH_SET_GROUPING] = {{"grouping", CHOICE(2, "parse|grow|none"),
        "groups by learnt joins, grown around a node, or none"}, HSDAG, {1, 0, 0, 2, 2}},
    [BERTH_SET_COLOCATE] = {{"colocate", CHOICE(3, "paper|code|fused|none"),
        "what is joined before the network sees it"}, ALL, {3, 0, 1, 0, 0}},
    [BERTH_SET_GROUPS] = {{"groups", COUNT(1, 4096), "of architecture grouper-placer"}, PARSING, {32, 32, 32, 32, 32}},
    /* features */
    [BERTH_SET_FEATURE_TYPE] = {{"feature_type", SWITCH, "operation type"}, PARSING | RNN, {1, 1, 1, 1, 1}},
    [BERTH_SET_FEATURE_SHAPE] = {{"feature_shape", SWITCH, "output shape"}, PARSING | RNN, {1, 1, 0, 0, 1}},
    [BERTH_SET_FEATURE_IN_DEGREE] = {{"feature_in_degree", SWITCH, "number of inputs"}, PARSING | RNN, {1, 1, 0, 0, 0}},
    [BERTH_SET_FEATURE_OUT_DEGREE] = {{"feature_out_degree", SWITCH, "number of readers"}, PARSING | RNN,
        {1, 1, 0, 0, 0}},
    [BERTH_SET_FEATURE_FRACTAL] = {{"feature_fractal", SWITCH, "fractal dimension"}, PARSING | RNN, {1, 1, 0, 0, 0}},
    [BERTH_SET_FEATURE_POSITION] = {{"feature_position", CHOICE(3, "none|index|rank|sinusoid"),
        "raw index, topological rank over their number, or its sinusoids"}, PARSING | RNN, {2, 2, 1, 0, 0}},
    [BERTH_SET_POSITION_WIDTH] = {{"position_width", COUNT(2, 256), "of sinusoids"}, PARSING | RNN,
        {16, 16, 16, 16, 16}},
    [BERTH_SET_FEATURE_COST] = {{"feature_cost", SWITCH, "times, copies and memory by device"}, PARSING | RNN,
        {1, 0, 0, 0, 0}},
    /* network */
    [BERTH_SET_HIDDEN] = {{"hidden", COUNT(1, 4096), "width of hidden layers"}, PARSING | PLACETO,
        {32, 128, 128, 32, 0}},
    [BERTH_SET_LAYER_TRANS] = {{"layer_trans", COUNT(1, 16), "layers of the input and output transforms"}, PARSING,
        {2, 2, 2, 2, 2}},
    [BERTH_SET_LAYER_GNN] = {{"layer_gnn", COUNT(1, 16), "layers of graph convolution that score edges"},
        PARSING | PLACETO, {2, 2, 2, 8, 0}},
    [BERTH_SET_LAYER_PARSINGNET] = {{"layer_parsingnet", COUNT(1, 16), "layers of the network that scores an edge"},
        PARSING, {2, 2, 2, 0, 0}},
    [BERTH_SET_DROPOUT_NETWORK] = {{"dropout_network", NUMBER(0, 0.99), "share of features dropped"}, PARSING | RNN,
        {0, 0.2, 0.2, 0, 0.1}},
    [BERTH_SET_DROPOUT_PARSING] = {{"dropout_parsing", NUMBER(0, 0.99), "share of edges not scored"}, PARSING,
        {0, 0, 0, 0, 0}},
    [BERTH_SET_IGNORE_SELF_LOOP] = {{"ignore_self_loop", SWITCH, "a node cannot stay alone"}, PARSING,
        {0, 1, 1, 0, 0}},
    [BERTH_SET_ACT_FINAL] = {{"act_final", SWITCH, "activation after the last layer of the output transform"}, PARSING,
        {1, 1, 1, 0, 0}},
    [BERTH_SET_MAX_ROUNDS] = {{"max_rounds", COUNT(0, 64), "of parsing; 0: until nothing merges"}, PARSING,
        {1, 1, 0, 0, 0}},
    [BERTH_SET_SYMMETRIC] = {{"symmetric", SWITCH, "one score for both directions of an edge"}, PARSING,
        {1, 0, 0, 0, 0}},
    /* training */
    [BERTH_SET_LEARNING_RATE] = {{"learning_rate", NUMBER(0, 10), "of Adam; 0: nothing is learnt"}, ALL,
        {1e-2, 1e-4, 1e-3, 1e-3, 1e-3}},
    [BERTH_SET_EPISODES] = {{"episodes", COUNT(0, 1e9), "0: as many as the budget allows"}, ALL, {0, 100, 25, 0, 0}},
    [BERTH_SET_STEPS] = {{"steps", COUNT(1, 1e6), "samples of an episode, or proposals between updates"}, ALL,
        {16, 20, 20, 8, 8}},
    [BERTH_SET_EPOCHS] = {{"epochs", COUNT(1, 1000), "passes over them in an update"}, HSDAG | FAITHFUL,
        {3, 4, 1, 1, 1}},
    [BERTH_SET_DISCOUNT] = {{"discount", NUMBER(0, 1), "of rewards by step"}, FAITHFUL | PLACETO,
        {1, 0.95, 0.95, 0, 1}},
    [BERTH_SET_RETURN] = {{"return", CHOICE(2, "shared|per-step|advantage"),
        "one for the episode, each step its own, or against a baseline"}, FAITHFUL, {2, 1, 0, 2, 2}},
    [BERTH_SET_STATE_UPDATE] = {{"state_update", SWITCH, "each step adds its output to the next one's input"}, FAITHFUL,
        {0, 1, 1, 0, 0}},
    [BERTH_SET_BAN_SINGLE] = {{"ban_single", SWITCH, "everything on one device counts as a failure"}, FAITHFUL,
        {0, 1, 1, 0, 0}},
    [BERTH_SET_ENTROPY] = {{"entropy", NUMBER(0, 100), "weight of the entropy bonus"}, ALL, {0, 0, 0, 0.3, 0.05}},
    [BERTH_SET_CLIP] = {{"clip", NUMBER(0, 10), "of the probability ratio in an update; 0: none"}, HSDAG,
        {0.2, 0, 0, 0, 0}},
    [BERTH_SET_GRADIENT_NORM] = {{"gradient_norm", NUMBER(0, 1e9), "at most this; 0: as it is"}, ALL,
        {1, 0, 0, 1.25, 1}},
    /* refinement */
    [BERTH_SET_WINDOW] = {{"window", COUNT(1, 1e6), "last proposals that an update learns from"}, HSDAG,
        {32, 0, 0, 0, 0}},
    [BERTH_SET_CRITICAL] = {{"critical", NUMBER(0, 1), "share of proposals around the critical chain"}, HSDAG,
        {0.5, 0, 0, 0, 0}},
    [BERTH_SET_CANDIDATES] = {{"candidates", COUNT(1, 4096), "proposals scored for each that is tried"}, HSDAG,
        {64, 0, 0, 0, 0}},
    [BERTH_SET_GROW] = {{"grow", COUNT(1, 4096), "most operations of a grown group"}, HSDAG, {8, 0, 0, 0, 0}},
    [BERTH_SET_HOT] = {{"hot", NUMBER(1e-6, 1e6), "temperature at the start, in log latency, times the number of units"}, HSDAG,
        {0.6, 1, 1, 1, 1}},
    [BERTH_SET_COLD] = {{"cold", NUMBER(1e-6, 1e6), "temperature at the end, likewise"}, HSDAG, {0.06, 1, 1, 1, 1}},
    [BERTH_SET_SEEDS] = {{"seeds", CHOICE(2, "all|single|none"), "classical candidates that it starts from"}, HSDAG,
        {0, 2, 2, 2, 2}},
    [BERTH_SET_POLISH] = {{"polish", NUMBER(0, 1), "share of the evaluations for moves after sampling"}, HSDAG,
        {0.1, 0, 0, 0, 0}},
    [BERTH_SET_ORDER] = {{"order", SWITCH, "the order of execution is part of the decision"}, HSDAG, {1, 0, 0, 0, 0}},
    /* baselines */
    [BERTH_SET_RNN_HIDDEN] = {{"rnn_hidden", COUNT(1, 8192), "width of the recurrent cells"}, RNN, {0, 0, 0, 0, 256}},
};
/* clang-format on */

static int method_index(const char *method) {
    for (int i = 0; method && i < N_METHODS; i++)
        if (strcmp(methods[i], method) == 0) return i;
    return -1;
}

const char *berth_learned_method(int32_t index) {
    return index >= 0 && index < N_METHODS ? methods[index] : NULL;
}

const berth_setting *berth_setting_at(int32_t index) {
    return index >= 0 && index < BERTH_SETTING_COUNT_OF ? &rows[index].setting : NULL;
}

bool berth_setting_applies(const char *method, int32_t index) {
    int m = method_index(method);
    return m >= 0 && index >= 0 && index < BERTH_SETTING_COUNT_OF && (rows[index].used_by >> m & 1);
}

berth_status berth_settings_default(berth_ctx *ctx, berth_settings *out, const char *method) {
    int m = method_index(method);
    *out = (berth_settings){0};
    if (m < 0) return berth_fail(ctx, BERTH_E_ARG, "'%.80s' is not a method that learns", method ? method : "");
    out->method = methods[m];
    for (int i = 0; i < BERTH_SETTING_COUNT_OF; i++) out->value[i] = rows[i].initial[m];
    return BERTH_OK;
}

/* --- text ------------------------------------------------------------------------------------------------------- */

/* Position of a word in "one|two|three", or -1. */
static int choice_index(const char *choices, const char *word) {
    size_t size = strlen(word);
    for (int i = 0;; i++) {
        size_t length = strcspn(choices, "|");
        if (length == size && memcmp(choices, word, size) == 0) return i;
        if (choices[length] == '\0') return -1;
        choices += length + 1;
    }
}

static bool parse_switch(const char *word, double *out) {
    static const char *const words[][2] = {{"off", "on"}, {"false", "true"}, {"no", "yes"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int value = 0; value < 2; value++)
            if (strcmp(word, words[i][value]) == 0) {
                *out = value;
                return true;
            }
    return false;
}

static bool parse_value(const berth_setting *setting, const char *word, double *out) {
    berth_number number;
    int choice;
    switch (setting->kind) {
    case BERTH_SETTING_SWITCH: return parse_switch(word, out);
    case BERTH_SETTING_CHOICE:
        choice = choice_index(setting->choices, word);
        *out = choice;
        return choice >= 0;
    case BERTH_SETTING_COUNT:
    case BERTH_SETTING_NUMBER:
        if (!berth_number_read(word, strlen(word), &number)) return false;
        if (setting->kind == BERTH_SETTING_COUNT && !number.is_integer) return false;
        *out = number.value;
        return number.value >= setting->least && number.value <= setting->most;
    }
    return false;
}

static berth_status refuse_value(berth_ctx *ctx, const berth_setting *setting, const char *word) {
    switch (setting->kind) {
    case BERTH_SETTING_SWITCH:
        return berth_fail(ctx, BERTH_E_ARG, "setting %s is on or off, not '%.60s'", setting->name, word);
    case BERTH_SETTING_CHOICE:
        return berth_fail(ctx, BERTH_E_ARG, "setting %s is one of %s, not '%.60s'", setting->name, setting->choices,
                          word);
    default:
        return berth_fail(ctx, BERTH_E_ARG, "setting %s needs a %s from %.15g to %.15g, not '%.60s'", setting->name,
                          setting->kind == BERTH_SETTING_COUNT ? "whole number" : "number", setting->least,
                          setting->most, word);
    }
}

static berth_status refuse_name(berth_ctx *ctx, const char *method, const char *name) {
    berth_nearest nearest = berth_nearest_begin(name);
    for (int i = 0; i < BERTH_SETTING_COUNT_OF; i++)
        if (berth_setting_applies(method, i)) berth_nearest_offer(&nearest, rows[i].setting.name);
    if (nearest.best)
        return berth_fail(ctx, BERTH_E_ARG, "%s has no setting '%.60s'; did you mean '%s'?", method, name,
                          nearest.best);
    return berth_fail(ctx, BERTH_E_ARG, "%s has no setting '%.60s'", method, name);
}

berth_status berth_settings_set(berth_ctx *ctx, berth_settings *settings, const char *text) {
    char name[64];
    const char *equals = strchr(text, '=');
    if (!equals) return berth_fail(ctx, BERTH_E_ARG, "a setting is NAME=VALUE, not '%.60s'", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text < 64 ? equals - text : 63), text);
    for (int i = 0; i < BERTH_SETTING_COUNT_OF; i++) {
        const berth_setting *setting = &rows[i].setting;
        double value = 0;
        if (strcmp(setting->name, name) != 0 || !berth_setting_applies(settings->method, i)) continue;
        if (!parse_value(setting, equals + 1, &value)) return refuse_value(ctx, setting, equals + 1);
        settings->value[i] = value;
        return BERTH_OK;
    }
    return refuse_name(ctx, settings->method, name);
}

size_t berth_settings_text(const berth_settings *settings, int32_t index, char *text, size_t size) {
    const berth_setting *setting = &rows[index].setting;
    double value = settings->value[index];
    char number[BERTH_NUMBER_ROOM];
    const char *word = number;
    size_t length;
    if (setting->kind == BERTH_SETTING_CHOICE) {
        word = setting->choices;
        for (int skip = (int)value; skip > 0; skip--) word += strcspn(word, "|") + 1;
        length = strcspn(word, "|");
    } else if (setting->kind == BERTH_SETTING_SWITCH) {
        word = value != 0 ? "on" : "off";
        length = strlen(word);
    } else {
        length = berth_number_write(number, value);
    }
    if (size > 0) snprintf(text, size, "%.*s", (int)length, word);
    return length;
}
