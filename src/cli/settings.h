/* SPDX-License-Identifier: Apache-2.0 */
/* --set NAME=VALUE: what a learned method is told. */
#ifndef BERTH_CLI_SETTINGS_H
#define BERTH_CLI_SETTINGS_H

#include "berth/place.h"
#include "cli/options.h"

typedef struct cli_settings {
    const char *set[BERTH_MAX_SETTINGS];
    int32_t n;
} cli_settings;

/* `auto` takes those of the method that learns in it. What a setting may be is the library's to say. False: `message`
 * says what is wrong. */
bool cli_settings_parse(cli_settings *out, const cli_list *list, const char *method, char *message, size_t size);

/* 'berth help settings': every setting, with its defaults by method. */
void cli_settings_list(berth_text *text);

#endif
