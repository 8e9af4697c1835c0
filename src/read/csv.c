/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 4180, with what spreadsheets really write: a byte order mark, any of the three line ends, blanks around cells.
 * A quote inside a cell that does not start with one is an ordinary character (notes contain them). */
#include "read/csv.h"

#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static berth_csv_cell trim(const char *start, const char *end) {
    while (start < end && is_blank(*start)) start++;
    while (start < end && is_blank(end[-1])) end--;
    return (berth_csv_cell){start, (size_t)(end - start)};
}

berth_csv berth_csv_start(const char *bytes, size_t size) {
    size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return (berth_csv){bytes + mark, bytes + size, 1};
}

/* Steps over a line end, if one stands here. */
static bool end_line(berth_csv *csv) {
    if (csv->at == csv->end) return true;
    if (*csv->at != '\n' && *csv->at != '\r') return false;
    bool both = *csv->at == '\r' && csv->end - csv->at > 1 && csv->at[1] == '\n';
    csv->at += both ? 2 : 1;
    csv->line++;
    return true;
}

/* From an opening quote to behind the closing one; false if there is none. */
static bool quoted_cell(berth_csv *csv, berth_csv_cell *cell) {
    const char *start = ++csv->at;
    for (; csv->at < csv->end; csv->at++) {
        if (*csv->at == '\n') csv->line++;
        if (*csv->at != '"') continue;
        if (csv->end - csv->at > 1 && csv->at[1] == '"') {
            csv->at++;
            continue;
        }
        *cell = trim(start, csv->at++);
        return true;
    }
    return false;
}

berth_csv_step berth_csv_next(berth_csv *csv, berth_csv_cell *cell) {
    while (csv->at < csv->end && is_blank(*csv->at)) csv->at++;
    if (csv->at < csv->end && *csv->at == '"') {
        if (!quoted_cell(csv, cell)) return BERTH_CSV_UNCLOSED;
        while (csv->at < csv->end && is_blank(*csv->at)) csv->at++;
    } else {
        const char *start = csv->at;
        while (csv->at < csv->end && *csv->at != ',' && *csv->at != '\n' && *csv->at != '\r') csv->at++;
        *cell = trim(start, csv->at);
    }
    if (end_line(csv)) return BERTH_CSV_LAST;
    if (*csv->at != ',') return BERTH_CSV_STRAY;
    csv->at++;
    return BERTH_CSV_MORE;
}

berth_csv_cell berth_csv_list(berth_csv_cell cell) {
    return cell.size ? cell : (berth_csv_cell){NULL, 0};
}

bool berth_csv_item(berth_csv_cell *rest, berth_csv_cell *item) {
    if (!rest->bytes) return false;
    const char *end = rest->bytes + rest->size;
    const char *comma = memchr(rest->bytes, ',', rest->size);
    *item = trim(rest->bytes, comma ? comma : end);
    *rest = comma ? (berth_csv_cell){comma + 1, (size_t)(end - comma - 1)} : (berth_csv_cell){NULL, 0};
    return true;
}
