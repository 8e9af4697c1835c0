/* SPDX-License-Identifier: Apache-2.0 */
/* Options by table. A command lists its options as rows; parsing, range checks, messages and help follow from them.
 *
 * A row says where its value goes: an offset into the command's own struct, whose first member is a cli_common.
 * Nothing is copied or allocated: values point into argv, and a list is walked again each time it is read. */
#ifndef BERTH_CLI_OPTIONS_H
#define BERTH_CLI_OPTIONS_H

#include "berth/base.h"

typedef enum cli_kind {
    CLI_FLAG,   /* bool */
    CLI_STRING, /* const char *; the last one given holds */
    CLI_INT,    /* int64_t */
    CLI_DOUBLE, /* double */
    CLI_LIST,   /* cli_list: may be given several times */
} cli_kind;

typedef enum cli_use {
    CLI_USUAL, /* shown by -h */
    CLI_RARE,  /* shown by --help only */
} cli_use;

typedef struct cli_option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* 0: none */
    cli_kind kind;
    cli_use use;
    size_t offset;       /* of the value in the command's struct */
    const char *metavar; /* what stands for the value in help; NULL for a flag */
    const char *help;
    double low, high; /* bounds of a number, both allowed; equal: unbounded */
} cli_option;

typedef struct cli_command cli_command;

/* A position in argv while options are taken from it one by one. */
typedef struct cli_scan {
    const cli_command *command;
    int argc;
    char **argv;
    int next;            /* argument to look at */
    const char *letters; /* rest of a word of single letters, or NULL */
    bool plain;          /* after "--" */
} cli_scan;

/* The values of a list option, or the operands. Read with a copy of `start` and cli_list_next(). */
typedef struct cli_list {
    int n;
    cli_scan start;
    const cli_option *option; /* NULL: operands */
} cli_list;

/* What every command understands. */
typedef struct cli_common {
    bool quiet, verbose;
    bool help, long_help;
    cli_list operands;
} cli_common;

struct cli_command {
    const char *name;
    int (*run)(berth_ctx *ctx, int argc, char **argv); /* argv without the command's name; returns the exit code */
    const char *summary;                               /* one line */
    const char *operands;                              /* as shown in the usage line, or NULL: takes none */
    int min_operands, max_operands;
    const cli_option *options; /* ends with a row without name; may be NULL */
    const char *details;       /* further paragraphs of --help, or NULL */
};

extern const cli_option cli_common_options[];

/* Fill `values` (a struct that starts with cli_common; the command's defaults are already in it). Help asked for ends
 * the parse at once. False: misuse, and `message` says what is wrong in one line. */
bool cli_options_parse(const cli_command *command, void *values, int argc, char **argv, char *message, size_t size);

/* The next value of a list, or NULL: for (cli_scan at = list.start; (value = cli_list_next(&list, &at));) */
const char *cli_list_next(const cli_list *list, cli_scan *at);

#endif
