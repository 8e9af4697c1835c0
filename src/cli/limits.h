/* SPDX-License-Identifier: Apache-2.0 */
/* --memory, --io, --pin, --ban, --together: what the user asks of a placement. */
#ifndef BERTH_CLI_LIMITS_H
#define BERTH_CLI_LIMITS_H

#include "berth/device.h"
#include "cli/options.h"

enum { CLI_MAX_RULES = 1024, CLI_MAX_RULE_BYTES = 65536 };

typedef struct cli_limit_lists {
    cli_list memory, io, pins, bans, together;
} cli_limit_lists;

typedef struct cli_limits {
    berth_limits limits;
    int32_t n_rules; /* used of `rules`, by all kinds together */
    int32_t n_bytes; /* used of `bytes` */
    berth_rule rules[CLI_MAX_RULES];
    berth_memory_rule memory[CLI_MAX_RULES];
    char bytes[CLI_MAX_RULE_BYTES]; /* patterns, cut off at their '=' */
} cli_limits;

/* False: `message` says what is wrong with which value. */
bool cli_limits_parse(cli_limits *out, const cli_limit_lists *lists, char *message, size_t size);

/* --piece-ms (NAN: not said) is for `serial` only; BERTH_MODEL_COUNT: no execution model was asked for. */
bool cli_pieces_check(double piece_ms, berth_model model, char *message, size_t size);

#endif
