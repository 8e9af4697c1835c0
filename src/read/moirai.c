/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads of Moirai (Zhang et al. 2023): a table with one row per task, its columns found by name.
 *
 *   task          the task's number                        p0 .. p9      ms on each device
 *   dir_succ      the tasks that follow it: "1,2,6"        pc00 .. pc99  ms from device A to B, one per follower
 *   c_task        numbers of its transfers, for solvers    mi            memory it takes
 *   dir_succ_add  both lists in one, for solvers           m0 .. m9      memory of each device, in the first row
 *
 * Device numbers are single digits, because "pc110" could be read two ways. A task without transfers (the source that
 * the authors put in front) may leave all pc cells empty: its edges cost nothing. Empty rows mean nothing; a note, one
 * cell that is no number, may stand after the last task. Everything is read in one pass, in the order of the file;
 * followers are looked up at the end, since they stand further down. */
#include "base/number.h"
#include "read/csv.h"
#include "read/given.h"
#include "read/readers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEVICES = 10, MAX_CELLS = 1024, HEADER_LIMIT = 16 << 10, ABSENT = -1 };

/* The columns that mean something. P + a, M + a and PC + 10 a + b belong to devices a and b. */
enum { TASK, DIR_SUCC, C_TASK, DIR_SUCC_ADD, MI, P, M = P + MAX_DEVICES, PC = M + MAX_DEVICES, N_COLUMNS = PC + 100 };
static const char *const words[P] = {"task", "dir_succ", "c_task", "dir_succ_add", "mi"};

typedef struct moirai {
    berth_build *b;
    const berth_source *source;
    berth_csv csv;
    int32_t place[N_COLUMNS]; /* of a column in a row, or ABSENT */
    int32_t n_devices;
    size_t n_cells;                    /* in every row */
    int64_t line;                      /* of the row at hand */
    int64_t note_line;                 /* of a note, or 0 */
    double capacity[MAX_DEVICES];      /* if there are columns m0 .. */
    berth_given_ids tasks;             /* file's number to index */
    BERTH_VEC(berth_csv_cell) cells;   /* the row at hand */
    BERTH_VEC(berth_given_edge) edges; /* `to` is filled in at the end, from ... */
    BERTH_VEC(int64_t) followers;      /* ... the number of the task that each leads to */
    BERTH_VEC(double) op_ms;           /* [task][device] */
    BERTH_VEC(double) edge_ms;         /* [edge][device][device] */
    BERTH_VEC(double) memory;          /* [task] */
} moirai;

static bool cell_is(berth_csv_cell cell, const char *text) {
    return cell.size == strlen(text) && memcmp(cell.bytes, text, cell.size) == 0;
}

bool berth_moirai_recognise(const char *bytes, size_t size) {
    berth_csv csv = berth_csv_start(bytes, size < HEADER_LIMIT ? size : HEADER_LIMIT);
    bool task = false, dir_succ = false;
    for (berth_csv_step step = BERTH_CSV_MORE; step == BERTH_CSV_MORE;) {
        berth_csv_cell cell = {0};
        step = berth_csv_next(&csv, &cell);
        if (step > BERTH_CSV_LAST) return false;
        task |= cell_is(cell, words[TASK]);
        dir_succ |= cell_is(cell, words[DIR_SUCC]);
    }
    return task && dir_succ;
}

typedef struct column_name {
    char text[16];
} column_name;

static column_name name_of(int column) {
    column_name name;
    if (column < P)
        snprintf(name.text, sizeof name.text, "%s", words[column]);
    else if (column < PC)
        snprintf(name.text, sizeof name.text, "%c%d", column < M ? 'p' : 'm', (column - P) % MAX_DEVICES);
    else
        snprintf(name.text, sizeof name.text, "pc%02d", column - PC);
    return name;
}

static berth_status fail_cell(const moirai *r, int column, berth_csv_cell cell, const char *what) {
    return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "column %s: '%.*s' %s", name_of(column).text,
                            cell.size < 60 ? (int)cell.size : 60, cell.bytes, what);
}

/* ---- the header ------------------------------------------------------------------------------------------------ */

static berth_status read_row(moirai *r, size_t limit) {
    r->cells.n = 0;
    r->line = r->csv.line;
    for (berth_csv_step step = BERTH_CSV_MORE; step == BERTH_CSV_MORE;) {
        berth_csv_cell cell = {0};
        step = berth_csv_next(&r->csv, &cell);
        if (step == BERTH_CSV_UNCLOSED)
            return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "a quote in this row is never closed");
        if (step == BERTH_CSV_STRAY)
            return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "text follows the closing quote of cell %zu",
                                    r->cells.n + 1);
        if (r->cells.n == limit)
            return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "the row has more than %zu cells", limit);
        if (!berth_vec_push(berth_ctx_allocator(r->b->ctx), &r->cells, cell)) return berth_fail_nomem(r->b->ctx);
    }
    return BERTH_OK;
}

static bool is_digits(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return n > 0;
}

/* The column of that name, ABSENT for names that mean nothing here, N_COLUMNS for the number of an eleventh device. */
static int find_column(berth_csv_cell name) {
    for (int word = 0; word < P; word++)
        if (cell_is(name, words[word])) return word;
    size_t letters = name.size > 1 && memcmp(name.bytes, "pc", 2) == 0 ? 2 : 1;
    if (name.size <= letters || (*name.bytes != 'p' && *name.bytes != 'm')) return ABSENT;
    const char *digits = name.bytes + letters;
    if (!is_digits(digits, name.size - letters)) return ABSENT;
    if (name.size != 2 * letters) return N_COLUMNS;
    int first = digits[0] - '0';
    if (letters == 2) return PC + 10 * first + digits[1] - '0';
    return *name.bytes == 'p' ? P + first : M + first;
}

static berth_status place_columns(moirai *r) {
    for (int column = 0; column < N_COLUMNS; column++) r->place[column] = ABSENT;
    r->n_cells = r->cells.n;
    for (size_t i = 0; i < r->n_cells; i++) {
        int column = find_column(r->cells.items[i]);
        if (column == ABSENT) continue;
        if (column == N_COLUMNS)
            return berth_build_fail(
                r->b, BERTH_E_FORMAT, r->line, "the column %.*s: devices are numbered by one digit each",
                r->cells.items[i].size < 60 ? (int)r->cells.items[i].size : 60, r->cells.items[i].bytes);
        if (r->place[column] != ABSENT)
            return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "the column %s stands twice", name_of(column).text);
        r->place[column] = (int32_t)i;
    }
    return BERTH_OK;
}

/* A column must be there exactly if it is `wanted`. */
static berth_status check_column(const moirai *r, int column, bool wanted) {
    if (wanted && r->place[column] == ABSENT)
        return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "the column %s is missing", name_of(column).text);
    if (!wanted && r->place[column] != ABSENT)
        return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "the column %s is of a device that has no times",
                                name_of(column).text);
    return BERTH_OK;
}

static berth_status read_header(moirai *r) {
    BERTH_TRY(read_row(r, MAX_CELLS));
    BERTH_TRY(place_columns(r));
    bool any_memory = false;
    for (int device = 0; device < MAX_DEVICES; device++) {
        if (r->place[P + device] != ABSENT) r->n_devices = device + 1;
        any_memory |= r->place[M + device] != ABSENT;
    }
    BERTH_TRY(check_column(r, TASK, true));
    BERTH_TRY(check_column(r, DIR_SUCC, true));
    BERTH_TRY(check_column(r, P, true));
    if (any_memory) BERTH_TRY(check_column(r, MI, true));
    for (int a = 0; a < MAX_DEVICES; a++) {
        BERTH_TRY(check_column(r, P + a, a < r->n_devices));
        BERTH_TRY(check_column(r, M + a, any_memory && a < r->n_devices));
        for (int b = 0; b < MAX_DEVICES; b++)
            BERTH_TRY(check_column(r, PC + 10 * a + b, a < r->n_devices && b < r->n_devices));
    }
    return BERTH_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static berth_csv_cell cell_of(const moirai *r, int column) {
    int32_t place = r->place[column];
    return place == ABSENT || (size_t)place >= r->cells.n ? (berth_csv_cell){"", 0} : r->cells.items[place];
}

static berth_status read_number(const moirai *r, int column, berth_csv_cell cell, double *value) {
    berth_number number = {0};
    if (!berth_number_read(cell.bytes, cell.size, &number)) return fail_cell(r, column, cell, "is not a number");
    if (number.value < 0) return fail_cell(r, column, cell, "is negative");
    if (number.value > BERTH_GIVEN_MAX_NUMBER) return fail_cell(r, column, cell, "is too large");
    *value = number.value + 0.0; /* no negative zero */
    return BERTH_OK;
}

static berth_status read_id(const moirai *r, int column, berth_csv_cell cell, int64_t *id) {
    berth_number number = {0};
    if (!berth_number_read(cell.bytes, cell.size, &number) || !number.is_integer)
        return fail_cell(r, column, cell, "is not the number of a task");
    *id = number.integer;
    return BERTH_OK;
}

static berth_status count_ids(const moirai *r, int column, size_t *n) {
    berth_csv_cell rest = berth_csv_list(cell_of(r, column)), item;
    int64_t id = 0;
    for (*n = 0; berth_csv_item(&rest, &item); ++*n) BERTH_TRY(read_id(r, column, item, &id));
    return BERTH_OK;
}

/* Numbers in edge_ms for each edge. */
static size_t per_edge(const moirai *r) {
    return (size_t)r->n_devices * (size_t)r->n_devices;
}

/* One cell of transfer times: as many numbers as the task has followers, whose edges begin at edge_ms[first]. */
static berth_status read_transfer(moirai *r, int a, int b, size_t first, size_t n_followers) {
    int column = PC + 10 * a + b;
    size_t place = first + (size_t)a * (size_t)r->n_devices + (size_t)b, n = 0;
    berth_csv_cell rest = berth_csv_list(cell_of(r, column)), item;
    for (; berth_csv_item(&rest, &item); n++) {
        double value = 0;
        BERTH_TRY(read_number(r, column, item, &value));
        if (a == b && value > 0) return fail_cell(r, column, item, "ms within a device, where nothing is moved");
        if (n < n_followers) r->edge_ms.items[place + n * per_edge(r)] = value;
    }
    if (n == n_followers) return BERTH_OK;
    return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "column %s: %zu numbers for %zu followers",
                            name_of(column).text, n, n_followers);
}

static berth_status read_transfers(moirai *r, size_t n_followers, bool may_be_free) {
    size_t first = r->edge_ms.n, n = n_followers * per_edge(r);
    BERTH_TRY(berth_given_check_room(r->b, r->line, r->source, r->edges.n, per_edge(r)));
    for (size_t i = 0; i < n; i++)
        if (!berth_vec_push(berth_ctx_allocator(r->b->ctx), &r->edge_ms, 0.0)) return berth_fail_nomem(r->b->ctx);
    bool empty = true;
    for (int column = PC; column < N_COLUMNS; column++) empty &= cell_of(r, column).size == 0;
    if (empty && may_be_free) return BERTH_OK;
    for (int a = 0; a < r->n_devices; a++)
        for (int b = 0; b < r->n_devices; b++) BERTH_TRY(read_transfer(r, a, b, first, n_followers));
    return BERTH_OK;
}

static berth_status read_followers(moirai *r, int32_t op) {
    const berth_allocator *allocator = berth_ctx_allocator(r->b->ctx);
    berth_csv_cell rest = berth_csv_list(cell_of(r, DIR_SUCC)), item;
    size_t n = 0, n_transfers = 0, n_both = 0;
    for (; berth_csv_item(&rest, &item); n++) {
        int64_t id = 0;
        BERTH_TRY(read_id(r, DIR_SUCC, item, &id));
        if (!berth_vec_push(allocator, &r->followers, id) ||
            !berth_vec_push(allocator, &r->edges, (berth_given_edge){.from = op, .where = r->line}))
            return berth_fail_nomem(r->b->ctx);
    }
    BERTH_TRY(count_ids(r, C_TASK, &n_transfers));
    if (n_transfers != 0 && n_transfers != n)
        return berth_build_fail(r->b, BERTH_E_FORMAT, r->line, "column c_task: %zu transfers for %zu followers",
                                n_transfers, n);
    BERTH_TRY(count_ids(r, DIR_SUCC_ADD, &n_both));
    if (r->place[DIR_SUCC_ADD] != ABSENT && n_both != n + n_transfers)
        return berth_build_fail(r->b, BERTH_E_FORMAT, r->line,
                                "column dir_succ_add: %zu numbers for %zu followers and %zu transfers", n_both, n,
                                n_transfers);
    return read_transfers(r, n, n_transfers == 0);
}

/* Capacities stand in the first row; further rows leave them out or repeat them. */
static berth_status read_memory(moirai *r, bool first_row) {
    double value = 0;
    if (r->place[MI] == ABSENT) return BERTH_OK;
    BERTH_TRY(read_number(r, MI, cell_of(r, MI), &value));
    if (!berth_vec_push(berth_ctx_allocator(r->b->ctx), &r->memory, value)) return berth_fail_nomem(r->b->ctx);
    for (int device = 0; device < r->n_devices && r->place[M] != ABSENT; device++) {
        berth_csv_cell cell = cell_of(r, M + device);
        if (!first_row && cell.size == 0) continue;
        BERTH_TRY(read_number(r, M + device, cell, &value));
        if (!first_row && value != r->capacity[device])
            return fail_cell(r, M + device, cell, "differs from the first row");
        r->capacity[device] = value;
    }
    return BERTH_OK;
}

static berth_status read_task(moirai *r) {
    berth_build *b = r->b;
    berth_op op = {.type = "task", .domain = "", .where = r->line};
    BERTH_TRY(read_id(r, TASK, cell_of(r, TASK), &op.id));
    if (r->note_line)
        return berth_build_fail(b, BERTH_E_FORMAT, r->note_line, "this row is no task, and tasks follow it");
    if (r->cells.n != r->n_cells)
        return berth_build_fail(b, BERTH_E_FORMAT, r->line, "the row has %zu cells, the header %zu", r->cells.n,
                                r->n_cells);
    op.name = berth_arena_printf(berth_build_arena(b), "task%" PRId64, op.id);
    int32_t index = op.name ? berth_build_op(b, &op) : -1;
    int32_t first = index < 0 ? -1 : berth_given_ids_put(&r->tasks, op.id, index);
    if (first < 0) return berth_fail_nomem(b->ctx);
    if (first != index)
        return berth_build_fail(b, BERTH_E_FORMAT, r->line, "the task %" PRId64 " already stands on line %" PRId64,
                                op.id, b->ops.items[first].where);
    for (int device = 0; device < r->n_devices; device++) {
        double value = 0;
        BERTH_TRY(read_number(r, P + device, cell_of(r, P + device), &value));
        if (!berth_vec_push(berth_ctx_allocator(b->ctx), &r->op_ms, value)) return berth_fail_nomem(b->ctx);
    }
    BERTH_TRY(read_memory(r, index == 0));
    return read_followers(r, index);
}

/* True if the row has exactly one cell that is not empty, and that one is no number. */
static bool is_note(const moirai *r, bool *empty) {
    size_t n = 0;
    berth_number number = {0};
    bool text = false;
    for (size_t i = 0; i < r->cells.n; i++) {
        berth_csv_cell cell = r->cells.items[i];
        if (cell.size == 0) continue;
        n++;
        text = !berth_number_read(cell.bytes, cell.size, &number);
    }
    *empty = n == 0;
    return n == 1 && text;
}

static berth_status read_rows(moirai *r) {
    while (r->csv.at < r->csv.end) {
        bool empty = false;
        BERTH_TRY(read_row(r, r->n_cells));
        if (is_note(r, &empty)) {
            if (!r->note_line) r->note_line = r->line;
        } else if (!empty) {
            BERTH_TRY(read_task(r));
        }
    }
    return BERTH_OK;
}

/* ---- the graph ------------------------------------------------------------------------------------------------- */

static berth_status find_followers(moirai *r) {
    for (size_t e = 0; e < r->edges.n; e++) {
        r->edges.items[e].to = berth_given_ids_find(&r->tasks, r->followers.items[e]);
        if (r->edges.items[e].to < 0)
            return berth_build_fail(r->b, BERTH_E_FORMAT, r->edges.items[e].where,
                                    "column dir_succ: there is no task %" PRId64, r->followers.items[e]);
    }
    return BERTH_OK;
}

static berth_status make_costs(moirai *r) {
    berth_arena *arena = berth_build_arena(r->b);
    double *op_ms = NULL;
    const char **names = NULL;
    berth_given_costs *given = berth_given_new(r->b, r->b->ops.n, r->n_devices, &op_ms, &names);
    if (!given) return berth_fail_nomem(r->b->ctx);
    memcpy(op_ms, r->op_ms.items, r->op_ms.n * sizeof *op_ms);
    for (int device = 0; device < r->n_devices; device++) names[device] = berth_arena_printf(arena, "dev.%d", device);
    given->edge_ms = berth_arena_copy(arena, r->edge_ms.items, r->edge_ms.n, sizeof *r->edge_ms.items);
    if (r->place[MI] != ABSENT)
        given->op_memory = berth_arena_copy(arena, r->memory.items, r->memory.n, sizeof *r->memory.items);
    if (r->place[M] != ABSENT)
        given->capacity = berth_arena_copy(arena, r->capacity, (size_t)r->n_devices, sizeof *r->capacity);
    return arena->failed ? berth_fail_nomem(r->b->ctx) : BERTH_OK;
}

static berth_status read_all(moirai *r, berth_graph **out, const berth_read_options *options) {
    BERTH_TRY(read_header(r));
    BERTH_TRY(read_rows(r));
    BERTH_TRY(berth_given_check_tasks(r->b, options));
    BERTH_TRY(find_followers(r));
    BERTH_TRY(berth_given_connect(r->b, r->edges.items, r->edges.n, BERTH_GIVEN_TENSOR_PER_EDGE));
    BERTH_TRY(make_costs(r));
    BERTH_TRY(berth_build_link(r->b));
    return berth_build_seal(r->b, out);
}

berth_status berth_moirai_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                               const berth_read_options *options) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    moirai r = {.source = source, .csv = berth_csv_start(source->bytes, source->size)};
    BERTH_TRY(berth_build_new(ctx, &r.b, BERTH_FORMAT_MOIRAI, source->name));
    berth_given_ids_init(&r.tasks, ctx);
    berth_status status = read_all(&r, out, options);
    berth_given_ids_deinit(&r.tasks);
    berth_vec_free(allocator, &r.cells);
    berth_vec_free(allocator, &r.edges);
    berth_vec_free(allocator, &r.followers);
    berth_vec_free(allocator, &r.op_ms);
    berth_vec_free(allocator, &r.edge_ms);
    berth_vec_free(allocator, &r.memory);
    berth_build_free(r.b);
    return status;
}
