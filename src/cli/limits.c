/* SPDX-License-Identifier: Apache-2.0 */
/* Rules from options. The last '=' separates a pattern from its device: names of operations may hold one. */
#include "cli/limits.h"

#include "cli/amounts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cuts "left=right": the left side is copied, the right side is the rest of the value. */
static bool cut(cli_limits *out, const char *value, const char *option, const char *form, const char **left,
                const char **right, char *message, size_t size) {
    const char *equals = strrchr(value, '=');
    if (!equals || equals == value || !equals[1]) {
        snprintf(message, size, "%s needs %s, not '%.100s'", option, form, value);
        return false;
    }
    size_t n = (size_t)(equals - value);
    if (out->n_rules == CLI_MAX_RULES || out->limits.n_memory == CLI_MAX_RULES ||
        n >= (size_t)(CLI_MAX_RULE_BYTES - out->n_bytes)) {
        snprintf(message, size, "too many rules for placements");
        return false;
    }
    char *copy = out->bytes + out->n_bytes;
    memcpy(copy, value, n);
    copy[n] = '\0';
    out->n_bytes += (int32_t)n + 1;
    *left = copy;
    *right = equals + 1;
    return true;
}

typedef struct rule_kind {
    const cli_list *values;
    const char *option, *form;
    bool is_single; /* a name has one device; patterns may have several */
    const berth_rule **rules;
    int32_t *n;
} rule_kind;

/* The last one would win, and whoever said the other would not know. */
static bool refuse_second(const char *option, const char *name, char *message, size_t size) {
    snprintf(message, size, "%s: '%.100s' is given twice, and differently", option, name);
    return false;
}

static bool is_new(const rule_kind *kind, const berth_rule *rule) {
    for (int32_t i = 0; kind->is_single && i < *kind->n; i++) {
        const berth_rule *other = &(*kind->rules)[i];
        if (strcmp(other->pattern, rule->pattern) == 0 && strcmp(other->device, rule->device) != 0) return false;
    }
    return true;
}

static bool parse_rules(cli_limits *out, const rule_kind *kind, char *message, size_t size) {
    cli_scan at = kind->values->start;
    *kind->rules = out->rules + out->n_rules;
    for (const char *value; (value = cli_list_next(kind->values, &at));) {
        berth_rule rule = {0};
        if (!cut(out, value, kind->option, kind->form, &rule.pattern, &rule.device, message, size)) return false;
        if (!is_new(kind, &rule)) return refuse_second(kind->option, rule.pattern, message, size);
        out->rules[out->n_rules++] = rule;
        ++*kind->n;
    }
    return true;
}

static bool parse_together(cli_limits *out, const cli_list *values, char *message, size_t size) {
    cli_scan at = values->start;
    out->limits.together = out->rules + out->n_rules;
    for (const char *value; (value = cli_list_next(values, &at));) {
        if (out->n_rules == CLI_MAX_RULES || !*value) {
            snprintf(message, size, *value ? "too many rules for placements" : "--together needs PATTERN, not ''");
            return false;
        }
        out->rules[out->n_rules++] = (berth_rule){.pattern = value};
        out->limits.n_together++;
    }
    return true;
}

static bool parse_memory(cli_limits *out, const cli_list *values, char *message, size_t size) {
    cli_scan at = values->start;
    out->limits.memory = out->memory;
    for (const char *value; (value = cli_list_next(values, &at));) {
        berth_memory_rule rule = {0};
        const char *amount = NULL;
        if (!cut(out, value, "--memory", "DEVICE=SIZE", &rule.device, &amount, message, size)) return false;
        if (!cli_parse_bytes(amount, &rule.bytes)) {
            snprintf(message, size, "--memory %.100s: '%.100s' is no size such as 512M or 2GiB", value, amount);
            return false;
        }
        for (int32_t i = 0; i < out->limits.n_memory; i++)
            if (strcmp(out->memory[i].device, rule.device) == 0 && out->memory[i].bytes != rule.bytes)
                return refuse_second("--memory", rule.device, message, size);
        out->memory[out->limits.n_memory++] = rule;
    }
    return true;
}

bool cli_limits_parse(cli_limits *out, const cli_limit_lists *lists, char *message, size_t size) {
    berth_limits *l = &out->limits;
    const rule_kind kinds[] = {
        {&lists->io, "--io", "NAME=DEVICE", true, &l->io, &l->n_io},
        {&lists->pins, "--pin", "PATTERN=DEVICE", false, &l->pins, &l->n_pins},
        {&lists->bans, "--ban", "PATTERN=DEVICE", false, &l->bans, &l->n_bans},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!parse_rules(out, &kinds[i], message, size)) return false;
    return parse_together(out, &lists->together, message, size) && parse_memory(out, &lists->memory, message, size);
}

bool cli_pieces_check(double piece_ms, berth_model model, char *message, size_t size) {
    if (isnan(piece_ms) || model == BERTH_MODEL_COUNT || model == BERTH_MODEL_SERIAL) return true;
    snprintf(message, size, "--piece-ms is for the execution model serial, not %s", berth_model_name(model));
    return false;
}
