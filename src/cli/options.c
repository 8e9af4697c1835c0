/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser. `scan_word` cuts argv into (option, value) pairs and operands by the command's table; parsing is a
 * walk that stores each, and reading a list is the same walk again, looking at one option only. So neither a limit on
 * repeated options nor memory for them is needed. */
#include "cli/options.h"

#include "berth/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_common_options[] = {
    {"quiet", 'q', CLI_FLAG, CLI_RARE, offsetof(cli_common, quiet), NULL, .help = "no warnings"},
    {"verbose", 'v', CLI_FLAG, CLI_RARE, offsetof(cli_common, verbose), NULL, .help = "say more on standard error"},
    {NULL, 'h', CLI_FLAG, CLI_USUAL, offsetof(cli_common, help), NULL, .help = "the usual options"},
    {"help", 0, CLI_FLAG, CLI_USUAL, offsetof(cli_common, long_help), NULL, .help = "everything about the command"},
    {0},
};

typedef struct word {
    const cli_option *option; /* NULL: an operand */
    const char *value;        /* NULL for a flag */
    char spelled[80];         /* the option as the user wrote it, for messages */
} word;

typedef enum scan_result { SCAN_WORD, SCAN_END, SCAN_UNKNOWN, SCAN_NO_VALUE, SCAN_EXTRA_VALUE } scan_result;

static bool is_row(const cli_option *option) {
    return option->name || option->letter;
}

static const cli_option *find_in(const cli_option *table, const char *name, size_t size, char letter) {
    for (; table && is_row(table); table++) {
        if (letter && table->letter == letter) return table;
        if (!letter && table->name && strlen(table->name) == size && memcmp(table->name, name, size) == 0) return table;
    }
    return NULL;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t size, char letter) {
    const cli_option *found = find_in(command->options, name, size, letter);
    return found ? found : find_in(cli_common_options, name, size, letter);
}

/* The value stands in the next argument. */
static scan_result take_value(cli_scan *at, word *out) {
    if (at->next >= at->argc) return SCAN_NO_VALUE;
    out->value = at->argv[at->next++];
    return SCAN_WORD;
}

static scan_result scan_letter(cli_scan *at, word *out) {
    char letter = *at->letters++;
    const char *rest = *at->letters ? at->letters : NULL;
    snprintf(out->spelled, sizeof out->spelled, "-%c", letter);
    out->option = find_option(at->command, "", 0, letter);
    if (!out->option) return SCAN_UNKNOWN;
    bool flag = out->option->kind == CLI_FLAG;
    at->letters = flag ? rest : NULL;
    if (flag) return SCAN_WORD;
    out->value = rest;
    return rest ? SCAN_WORD : take_value(at, out);
}

static scan_result scan_long(cli_scan *at, word *out, const char *name) {
    size_t size = strcspn(name, "=");
    snprintf(out->spelled, sizeof out->spelled, "--%.*s", (int)(size < 60 ? size : 60), name);
    out->option = find_option(at->command, name, size, 0);
    if (!out->option) return SCAN_UNKNOWN;
    if (name[size] == '=') {
        out->value = name + size + 1;
        return out->option->kind == CLI_FLAG ? SCAN_EXTRA_VALUE : SCAN_WORD;
    }
    return out->option->kind == CLI_FLAG ? SCAN_WORD : take_value(at, out);
}

static scan_result scan_word(cli_scan *at, word *out) {
    *out = (word){0};
    if (at->letters) return scan_letter(at, out);
    if (at->next >= at->argc) return SCAN_END;
    const char *argument = at->argv[at->next++];
    if (!at->plain && strcmp(argument, "--") == 0) {
        at->plain = true;
        return scan_word(at, out);
    }
    /* "-" alone is an operand: standard input. */
    if (at->plain || argument[0] != '-' || argument[1] == '\0') {
        out->value = argument;
        return SCAN_WORD;
    }
    if (argument[1] == '-') return scan_long(at, out, argument + 2);
    at->letters = argument + 1;
    return scan_letter(at, out);
}

const char *cli_list_next(const cli_list *list, cli_scan *at) {
    word found;
    while (list->n > 0 && scan_word(at, &found) == SCAN_WORD)
        if (found.option == list->option) return found.value;
    return NULL;
}

static bool in_bounds(const cli_option *option, double value) {
    return option->low == option->high || (value >= option->low && value <= option->high);
}

/* Store one value. False: it is no number, or out of bounds. */
static bool store(const word *found, void *values) {
    const cli_option *option = found->option;
    void *target = (char *)values + option->offset;
    char *end = NULL;
    errno = 0;
    switch (option->kind) {
    case CLI_FLAG: *(bool *)target = true; return true;
    case CLI_STRING: *(const char **)target = found->value; return true;
    case CLI_LIST: ((cli_list *)target)->n++; return true;
    case CLI_INT: {
        long long number = strtoll(found->value, &end, 10);
        *(int64_t *)target = number;
        return end != found->value && *end == '\0' && errno == 0 && in_bounds(option, (double)number);
    }
    case CLI_DOUBLE: {
        double number = strtod(found->value, &end);
        *(double *)target = number;
        return end != found->value && *end == '\0' && number - number == 0 && in_bounds(option, number);
    }
    }
    return false;
}

/* A file or folder whose name is empty would be reported without a word for it. */
static bool lacks_name(const word *found) {
    const char *metavar = found->option->metavar;
    return metavar && (strcmp(metavar, "FILE") == 0 || strcmp(metavar, "FOLDER") == 0) && !*found->value;
}

static void explain_number(const word *found, char *message, size_t size) {
    const cli_option *option = found->option;
    const char *what = option->kind == CLI_INT ? "a whole number" : "a number";
    if (option->low == option->high)
        snprintf(message, size, "%s needs %s, not '%.60s'", found->spelled, what, found->value);
    else
        snprintf(message, size, "%s needs %s from %.15g to %.15g, not '%.60s'", found->spelled, what, option->low,
                 option->high, found->value);
}

static void explain_unknown(const cli_command *command, const word *found, char *message, size_t size) {
    berth_nearest nearest = berth_nearest_begin(found->spelled[1] == '-' ? found->spelled + 2 : "");
    const cli_option *tables[] = {command->options, cli_common_options};
    for (int i = 0; i < 2; i++)
        for (const cli_option *row = tables[i]; row && is_row(row); row++)
            if (row->name) berth_nearest_offer(&nearest, row->name);
    if (nearest.best)
        snprintf(message, size, "unknown option %s; did you mean --%s?", found->spelled, nearest.best);
    else
        snprintf(message, size, "unknown option %s", found->spelled);
}

static bool explain(const cli_command *command, scan_result result, const word *found, char *message, size_t size) {
    switch (result) {
    case SCAN_UNKNOWN: explain_unknown(command, found, message, size); break;
    case SCAN_NO_VALUE: snprintf(message, size, "%s needs a value", found->spelled); break;
    case SCAN_EXTRA_VALUE: snprintf(message, size, "%s takes no value", found->spelled); break;
    case SCAN_WORD:
    case SCAN_END: return true;
    }
    return false;
}

static bool check_operands(const cli_command *command, const cli_list *operands, char *message, size_t size) {
    if (operands->n < command->min_operands) {
        snprintf(message, size, "needs %s", command->operands);
        return false;
    }
    if (operands->n > command->max_operands) {
        cli_scan at = operands->start;
        const char *extra = NULL;
        for (int i = 0; i <= command->max_operands; i++) extra = cli_list_next(operands, &at);
        snprintf(message, size, "unexpected argument '%.60s'", extra);
        return false;
    }
    int n_standard = 0;
    cli_scan at = operands->start;
    for (const char *value; (value = cli_list_next(operands, &at));) n_standard += strcmp(value, "-") == 0;
    if (n_standard <= 1) return true;
    snprintf(message, size, "standard input can be only one of %s", command->operands);
    return false;
}

bool cli_options_parse(const cli_command *command, void *values, int argc, char **argv, char *message, size_t size) {
    cli_common *common = values;
    cli_scan at = {.command = command, .argc = argc, .argv = argv};
    common->operands = (cli_list){.start = at};
    for (const cli_option *row = command->options; row && is_row(row); row++)
        if (row->kind == CLI_LIST) *(cli_list *)((char *)values + row->offset) = (cli_list){.start = at, .option = row};
    word found;
    scan_result result;
    while ((result = scan_word(&at, &found)) == SCAN_WORD) {
        if (!found.option) {
            common->operands.n++;
        } else if (lacks_name(&found)) {
            snprintf(message, size, "%s needs a name", found.spelled);
            return false;
        } else if (!store(&found, values)) {
            explain_number(&found, message, size);
            return false;
        }
        if (common->help || common->long_help) return true;
    }
    return explain(command, result, &found, message, size) && check_operands(command, &common->operands, message, size);
}
