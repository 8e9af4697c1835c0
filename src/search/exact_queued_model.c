/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of `queued`, and what a task does to them and to the clocks (exact_queued.h).
 *
 * Two keys that differ only in what nobody will ask for are one: devices where no later reader may run are forgotten as
 * soon as a value lies on the host, and the whole value after its last reader once it is on its target. */
#include "search/exact_queued.h"

#include <math.h>
#include <string.h>

static uint64_t bit(int32_t device) {
    return (uint64_t)1 << device;
}

/* --- set-up ------------------------------------------------------------------------------------------------------- */

/* Positions, and where each value may still be wanted after each of its readers. */
static bool look_ahead(berth_queued_model *m, berth_arena *arena) {
    const berth_costs *c = m->c;
    uint64_t *wanted = berth_arena_push(arena, (size_t)c->n_values, sizeof *wanted);
    m->position = berth_arena_push(arena, (size_t)m->n, sizeof *m->position);
    m->first = berth_arena_push(arena, (size_t)m->n_parts, sizeof *m->first);
    m->last = berth_arena_push(arena, (size_t)m->n_parts, sizeof *m->last);
    m->read_after = berth_arena_push(arena, (size_t)c->in_start[m->n], sizeof *m->read_after);
    m->made_after = berth_arena_push(arena, (size_t)c->out_start[m->n], sizeof *m->made_after);
    m->given_after = berth_arena_push(arena, (size_t)c->n_given, sizeof *m->given_after);
    if (arena->failed) return false;
    memset(m->last, -1, (size_t)m->n_parts * sizeof *m->last);
    for (int32_t v = 0; v < c->n_values; v++) wanted[v] = c->value_target[v] < 0 ? 0 : bit(c->value_target[v]);
    for (int32_t at = m->n - 1; at >= 0; at--) {
        int32_t task = c->file_order[at], part = m->part_of[task];
        m->position[task] = m->first[part] = at;
        if (m->last[part] < 0) m->last[part] = at;
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
            m->made_after[i] = wanted[c->out_values[i]];
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
            m->read_after[i] = wanted[c->in_values[i]];
            wanted[c->in_values[i]] |= m->allowed[part];
        }
    }
    for (int32_t i = 0; i < c->n_given; i++) m->given_after[i] = wanted[c->given_values[i]];
    return true;
}

static bool add_up(berth_queued_model *m, berth_arena *arena) {
    const berth_costs *c = m->c;
    m->host_rest = berth_arena_push(arena, (size_t)m->n + 1, sizeof *m->host_rest);
    if (!m->host_rest) return false;
    for (int32_t at = m->n - 1; at >= 0; at--) {
        int32_t task = c->file_order[at];
        double least = INFINITY;
        for (uint64_t rest = m->allowed[m->part_of[task]]; rest; rest &= rest - 1) {
            int32_t d = __builtin_ctzll(rest);
            double took = c->time_ms[(size_t)task * (size_t)m->n_devices + (size_t)d];
            if (d != c->host) took = took > 0 ? c->launch_ms[d] : 0;
            least = fmin(least, took);
        }
        m->host_rest[at] = m->host_rest[at + 1] + least;
    }
    return true;
}

/* Fields that nobody has any more, the last one given back first. */
typedef struct fields {
    int32_t *spare;
    int32_t n_spare, n, most;
    bool all_known;
} fields;

static int32_t take(fields *f) {
    if (f->n_spare > 0) return f->spare[--f->n_spare];
    if (f->n < f->most) return f->n++;
    f->all_known = false;
    return -1;
}

static void give(fields *f, int32_t field) {
    if (field >= 0) f->spare[f->n_spare++] = field;
}

static bool has_several(const berth_queued_model *m, int32_t part) {
    return m->first[part] < m->last[part];
}

/* A value with a target keeps its field: whether it is there depends on the placement. */
static void assign_fields(berth_queued_model *m, fields *f) {
    const berth_costs *c = m->c;
    for (int32_t i = 0; i < c->n_given; i++)
        if (m->given_after[i]) m->value_field[c->given_values[i]] = take(f);
    for (int32_t at = 0; at < m->n; at++) {
        int32_t task = c->file_order[at], part = m->part_of[task];
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
            if (!m->read_after[i]) give(f, m->value_field[c->in_values[i]]);
        if (has_several(m, part) && at == m->last[part]) give(f, m->part_field[part]);
        if (has_several(m, part) && at == m->first[part]) m->part_field[part] = take(f);
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
            if (m->made_after[i]) m->value_field[c->out_values[i]] = take(f);
    }
}

static bool lay_out(berth_queued_model *m, berth_arena *arena) {
    m->bits = m->n_devices <= 2 ? 2 : m->n_devices <= 4 ? 4 : 8;
    m->log_per_word = m->bits == 2 ? 5 : m->bits == 4 ? 4 : 3;
    fields f = {.most = BERTH_QUEUED_WORDS << m->log_per_word, .all_known = true};
    f.spare = berth_arena_push(arena, (size_t)f.most, sizeof *f.spare);
    m->value_field = berth_arena_push(arena, (size_t)m->c->n_values, sizeof *m->value_field);
    m->part_field = berth_arena_push(arena, (size_t)m->n_parts, sizeof *m->part_field);
    if (arena->failed) return false;
    memset(m->value_field, -1, (size_t)m->c->n_values * sizeof *m->value_field);
    memset(m->part_field, -1, (size_t)m->n_parts * sizeof *m->part_field);
    for (int32_t d = 0; d < m->n_devices; d++)
        if (m->problem->equal_devices[d] & ~bit(d)) m->alike |= bit(d);
    m->used_field = m->alike ? take(&f) : -1;
    assign_fields(m, &f);
    m->n_fields = f.n;
    m->n_words = (f.n + (1 << m->log_per_word) - 1) >> m->log_per_word;
    if (m->n_words == 0) m->n_words = 1;
    m->all_known = f.all_known;
    return true;
}

static bool make_room_for_moves(berth_queued_model *m, berth_arena *arena) {
    const berth_costs *c = m->c;
    size_t most = 0, n_targets = 0;
    for (int32_t task = 0; task < m->n; task++) {
        size_t n = (size_t)(c->in_start[task + 1] - c->in_start[task]);
        if (n > most) most = n;
    }
    for (int32_t v = 0; v < c->n_values; v++) n_targets += c->value_target[v] >= 0;
    if (n_targets > most) most = n_targets;
    m->moves = berth_arena_push(arena, 3 * most + 3, sizeof *m->moves); /* out, in with its fixed part; the task */
    return m->moves != NULL;
}

/* What a task takes of its device's memory at least; weights that several tasks read count in parts. */
static double bytes_of(const berth_costs *c, int32_t task, const int32_t *n_readers) {
    double sum = 0;
    if (c->task_memory) return c->task_memory[task];
    for (int32_t i = c->weight_start[task]; i < c->weight_start[task + 1]; i++)
        sum += c->weight_bytes[c->weights[i]] / n_readers[c->weights[i]];
    return sum;
}

/* Walks through the positions; without `live` it only counts. */
static void list_live(const berth_queued_model *m, int32_t *owner, int32_t *start, int32_t *live) {
    const berth_costs *c = m->c;
    berth_queued_own(m, owner, -1);
    for (int32_t at = 0; at < m->n; at++) {
        int32_t n = start[at], task = c->file_order[at];
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
            if (m->value_field[c->in_values[i]] >= 0) owner[m->value_field[c->in_values[i]]] = -1;
        for (int32_t field = 0; field < m->n_fields; field++) {
            if (owner[field] < 0 || owner[field] >= c->n_values || !(c->value_bytes[owner[field]] > 0)) continue;
            if (live) live[n] = owner[field];
            n++;
        }
        start[at + 1] = n;
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
            if (m->value_field[c->in_values[i]] >= 0) owner[m->value_field[c->in_values[i]]] = c->in_values[i];
        berth_queued_own(m, owner, at);
    }
}

/* What may lie on a device when a task runs. In graphs so wide that the lists get long, what it reads and makes will
 * have to do. */
static bool find_live(berth_queued_model *m, berth_arena *arena) {
    enum { LONGEST = 1 << 22 };
    int32_t *owner = berth_arena_push(arena, (size_t)m->n_fields, sizeof *owner);
    int32_t *start = berth_arena_push(arena, (size_t)m->n + 1, sizeof *start);
    if (arena->failed) return false;
    m->live_start = start;
    if ((double)m->n * m->n_fields > LONGEST) return true;
    list_live(m, owner, start, NULL);
    m->live = berth_arena_push(arena, (size_t)start[m->n], sizeof *m->live);
    if (!m->live) return false;
    list_live(m, owner, start, m->live);
    return true;
}

/* Which memories may be too small. */
static bool measure(berth_queued_model *m, berth_arena *arena, double scale) {
    const berth_costs *c = m->c;
    int32_t *n_readers = berth_arena_push(arena, (size_t)c->n_weights, sizeof *n_readers);
    m->bytes = berth_arena_push(arena, (size_t)m->n, sizeof *m->bytes);
    if (arena->failed) return false;
    m->width = m->n_devices;
    m->capacity = scale;
    m->peaks = !c->task_memory;
    for (int32_t i = 0; !c->task_memory && i < c->weight_start[m->n]; i++) n_readers[c->weights[i]]++;
    for (int32_t task = 0; task < m->n; task++) m->bytes[task] = bytes_of(c, task, n_readers);
    for (int32_t d = 0; d < m->n_devices; d++) {
        double sum = 0;
        for (int32_t task = 0; task < m->n; task++)
            if (m->allowed[m->part_of[task]] >> d & 1) sum += m->bytes[task];
        for (int32_t v = 0; m->peaks && v < c->n_values; v++) sum += c->value_bytes[v];
        int32_t width = m->peaks ? 2 : 1;
        bool binds = m->problem->memory_binds && sum > c->capacity[d] && m->width + width <= BERTH_QUEUED_WIDTH;
        m->memory_at[d] = binds ? m->width : -1;
        m->per_byte[d] = binds ? scale / c->capacity[d] : 0;
        if (binds) m->width += width;
    }
    return m->width == m->n_devices || !m->peaks || find_live(m, arena);
}

bool berth_queued_model_init(berth_queued_model *model, berth_arena *arena, const berth_problem *problem,
                             bool for_bounds, double scale) {
    *model = (berth_queued_model){.problem = problem, .c = problem->costs};
    model->n = model->c->n_tasks;
    model->n_devices = model->c->n_devices;
    model->n_parts = for_bounds ? problem->n_classes : problem->n_units;
    model->part_of = for_bounds ? problem->class_of : problem->unit_of;
    model->allowed = for_bounds ? problem->class_allowed : problem->allowed;
    return look_ahead(model, arena) && add_up(model, arena) && lay_out(model, arena) &&
           make_room_for_moves(model, arena) && measure(model, arena, scale);
}

/* --- owners ------------------------------------------------------------------------------------------------------- */

static void own(int32_t *owner, int32_t field, int32_t who) {
    if (field >= 0) owner[field] = who;
}

void berth_queued_own(const berth_queued_model *m, int32_t *owner, int32_t position) {
    const berth_costs *c = m->c;
    if (position < 0) {
        memset(owner, -1, (size_t)m->n_fields * sizeof *owner);
        for (int32_t i = 0; i < c->n_given; i++) own(owner, m->value_field[c->given_values[i]], c->given_values[i]);
        return;
    }
    int32_t task = c->file_order[position], part = m->part_of[task];
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
        if (!m->read_after[i]) own(owner, m->value_field[c->in_values[i]], -1);
    if (position == m->last[part]) own(owner, m->part_field[part], -1);
    if (position == m->first[part] && has_several(m, part)) own(owner, m->part_field[part], c->n_values + part);
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
        own(owner, m->value_field[c->out_values[i]], c->out_values[i]);
}

double berth_queued_worth(const berth_queued_model *m, int32_t owner) {
    const berth_costs *c = m->c;
    double most = 0;
    if (owner >= c->n_values) return INFINITY; /* a unit that runs in several places breaks more than a copy */
    for (int32_t d = 0; d < m->n_devices; d++) {
        double out = berth_costs_copy(c, owner, d, c->host), in = berth_costs_copy(c, owner, c->host, d);
        if (out < INFINITY) most = fmax(most, out);
        if (in < INFINITY) most = fmax(most, in);
    }
    return most;
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* What is worth knowing of a value that lies on `devices` and may be wanted on others. */
static uint64_t trim(const berth_queued_model *m, uint64_t devices, uint64_t wanted) {
    uint64_t host = bit(m->c->host);
    if (!(wanted & ~devices)) return 0;
    return devices & host ? host | (devices & wanted) : devices;
}

void berth_queued_begin(const berth_queued_model *m, uint64_t *key) {
    const berth_costs *c = m->c;
    memset(key, 0, (size_t)m->n_words * sizeof *key);
    for (int32_t i = 0; i < c->n_given; i++) {
        int32_t value = c->given_values[i], field = m->value_field[value];
        if (field >= 0) berth_queued_set(m, key, field, trim(m, bit(c->value_home[value]), m->given_after[i]));
    }
}

/* Of equal devices that have not been used yet the first will do. */
static uint64_t without_twins(const berth_queued_model *m, const uint64_t *key, uint64_t choices) {
    uint64_t idle = m->alike & ~berth_queued_get(m, key, m->used_field), kept = choices;
    for (uint64_t rest = choices & idle; rest; rest &= rest - 1) {
        int32_t d = __builtin_ctzll(rest);
        if (m->problem->equal_devices[d] & idle & (bit(d) - 1)) kept &= ~bit(d);
    }
    return kept;
}

uint64_t berth_queued_choices(const berth_queued_model *m, const uint64_t *key, int32_t position) {
    int32_t part = m->part_of[m->c->file_order[position]], field = m->part_field[part];
    if (field >= 0 && position > m->first[part]) {
        uint64_t chosen = berth_queued_get(m, key, field);
        if (chosen) return chosen;
    }
    return m->used_field >= 0 ? without_twins(m, key, m->allowed[part]) : m->allowed[part];
}

typedef struct moving {
    const berth_queued_model *m;
    int32_t n;
} moving;

static void move(moving *w, berth_queued_kind kind, int32_t at, double ms) {
    berth_queued_move *moves = w->m->moves;
    if (kind == BERTH_QUEUED_HOST) {
        if (!(ms > 0)) return;
        if (w->n > 0 && moves[w->n - 1].kind == BERTH_QUEUED_HOST) {
            moves[w->n - 1].ms += ms;
            return;
        }
    }
    moves[w->n++] = (berth_queued_move){.kind = kind, .at = at, .ms = ms};
}

/* Bring a value to a device by way of the host; returns where it lies then. */
static uint64_t bring(moving *w, int32_t value, uint64_t devices, int32_t to) {
    const berth_costs *c = w->m->c;
    int32_t host = c->host, k = c->n_devices;
    if (devices & bit(to)) return devices;
    if (!(devices & bit(host))) {
        int32_t home = __builtin_ctzll(devices);
        move(w, BERTH_QUEUED_LEAVE, home, berth_costs_copy(c, value, home, host));
    }
    if (to != host) {
        double fixed = c->copy_table ? 0 : c->copy_fixed[host * k + to];
        double rest = c->copy_table ? berth_costs_copy(c, value, host, to)
                                    : c->value_amount[value] * c->copy_per_unit[host * k + to];
        move(w, BERTH_QUEUED_HOST, host, fixed);
        move(w, BERTH_QUEUED_ENTER, to, rest);
    }
    return devices | bit(host) | bit(to);
}

static int32_t finish(const berth_queued_model *m, const uint64_t *key) {
    const berth_costs *c = m->c;
    moving w = {.m = m};
    for (int32_t v = 0; v < c->n_values; v++) {
        uint64_t devices =
            c->value_target[v] >= 0 && m->value_field[v] >= 0 ? berth_queued_get(m, key, m->value_field[v]) : 0;
        if (devices) bring(&w, v, devices, c->value_target[v]);
    }
    return w.n;
}

/* Values that lie on a device while a task runs there: those it reads and makes, and those that lie nowhere else. */
static double bytes_about(const berth_queued_model *m, const uint64_t *key, int32_t position, int32_t device) {
    const berth_costs *c = m->c;
    int32_t task = c->file_order[position];
    double sum = 0;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) sum += c->value_bytes[c->in_values[i]];
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) sum += c->value_bytes[c->out_values[i]];
    for (int32_t i = m->live_start[position]; i < m->live_start[position + 1]; i++)
        if (berth_queued_get(m, key, m->value_field[m->live[i]]) == bit(device)) sum += c->value_bytes[m->live[i]];
    return sum;
}

static void fill_memory(moving *w, const uint64_t *key, int32_t position, int32_t device) {
    const berth_queued_model *m = w->m;
    if (m->memory_at[device] < 0) return;
    double bytes = m->bytes[m->c->file_order[position]];
    double about = m->peaks ? bytes_about(m, key, position, device) : 0;
    if (bytes > 0) bytes *= m->per_byte[device];
    if (about > 0) about *= m->per_byte[device];
    move(w, m->peaks ? BERTH_QUEUED_PEAK : BERTH_QUEUED_FILL, m->memory_at[device], bytes);
    m->moves[w->n - 1].more = about;
}

static void run_task(moving *w, int32_t task, int32_t device) {
    const berth_costs *c = w->m->c;
    double took = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)device];
    if (device == c->host) {
        move(w, BERTH_QUEUED_HOST, device, took);
    } else {
        if (took > 0) move(w, BERTH_QUEUED_HOST, c->host, c->launch_ms[device]);
        move(w, BERTH_QUEUED_ENTER, device, took);
    }
}

int32_t berth_queued_step(const berth_queued_model *m, const uint64_t *key, int32_t position, int32_t device,
                          uint64_t *next) {
    const berth_costs *c = m->c;
    if (position == m->n) return finish(m, key);
    int32_t task = c->file_order[position], part = m->part_of[task];
    moving w = {.m = m};
    memcpy(next, key, (size_t)m->n_words * sizeof *next);
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i], field = m->value_field[value];
        uint64_t devices = field >= 0 ? berth_queued_get(m, key, field) : 0;
        if (!devices) continue;
        devices = bring(&w, value, devices, device);
        berth_queued_set(m, next, field, trim(m, devices, m->read_after[i]));
    }
    run_task(&w, task, device);
    fill_memory(&w, key, position, device);
    if (m->part_field[part] >= 0) {
        if (position == m->first[part]) berth_queued_set(m, next, m->part_field[part], bit(device));
        if (position == m->last[part]) berth_queued_set(m, next, m->part_field[part], 0);
    }
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t field = m->value_field[c->out_values[i]];
        if (field >= 0) berth_queued_set(m, next, field, trim(m, bit(device), m->made_after[i]));
    }
    if (m->alike >> device & 1)
        berth_queued_set(m, next, m->used_field, berth_queued_get(m, next, m->used_field) | bit(device));
    return w.n;
}
