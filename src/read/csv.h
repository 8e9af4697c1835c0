/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of comma-separated text (RFC 4180), one at a time and without copying. */
#ifndef BERTH_READ_CSV_H
#define BERTH_READ_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the text, blanks around it left out. Doubled quotes inside a quoted cell stay doubled: no value that is
 * read here may hold a quote. */
typedef struct berth_csv_cell {
    const char *bytes;
    size_t size;
} berth_csv_cell;

typedef struct berth_csv {
    const char *at, *end;
    int64_t line; /* where `at` stands */
} berth_csv;

typedef enum berth_csv_step {
    BERTH_CSV_MORE,     /* a cell, and its row goes on */
    BERTH_CSV_LAST,     /* the last cell of its row */
    BERTH_CSV_UNCLOSED, /* a quoted cell has no closing quote */
    BERTH_CSV_STRAY,    /* something stands between a closing quote and the next comma */
} berth_csv_step;

/* Leaves out a byte order mark. */
berth_csv berth_csv_start(const char *bytes, size_t size);
/* At the end of the text this is an empty last cell; the caller asks `at == end` between rows. */
berth_csv_step berth_csv_next(berth_csv *csv, berth_csv_cell *cell);

/* A cell such as "1, 2,6" as a list: take items off it while berth_csv_item says true. Items may be empty ("1,,2"); an
 * empty cell has none. */
berth_csv_cell berth_csv_list(berth_csv_cell cell);
bool berth_csv_item(berth_csv_cell *rest, berth_csv_cell *item);

#endif
