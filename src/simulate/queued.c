/* SPDX-License-Identifier: Apache-2.0 */
/* `queued`: one host thread that feeds a queue per other device (defined in sim.h). */
#include "simulate/sim_impl.h"

#include <string.h>

typedef struct run {
    berth_sim *sim;
    const berth_costs *c;
    const int32_t *device;
    double host; /* the host's clock; the others are sim->clock */
} run;

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* The part of a copy's time that the host waits for before anything moves. */
static double fixed_part(const berth_costs *c, int32_t from, int32_t to) {
    return c->copy_table ? 0 : c->copy_fixed[(size_t)from * (size_t)c->n_devices + (size_t)to];
}

static double rest_part(const berth_costs *c, int32_t value, int32_t from, int32_t to) {
    if (c->copy_table) return berth_costs_copy(c, value, from, to);
    return c->value_amount[value] * c->copy_per_unit[(size_t)from * (size_t)c->n_devices + (size_t)to];
}

static bool is_there(const run *r, int32_t value, int32_t d) {
    const berth_costs *c = r->c;
    if (d == berth_sim_home(c, r->device, value)) return true;
    return r->sim->stamp[(size_t)value * (size_t)c->n_devices + (size_t)d] == r->sim->generation;
}

static void arrive(run *r, int32_t value, int32_t from, int32_t to, double start, double end) {
    size_t at = (size_t)value * (size_t)r->c->n_devices + (size_t)to;
    r->sim->stamp[at] = r->sim->generation;
    berth_sim_note_copy(r->sim, value, from, to, start, end);
}

static void copy_out(run *r, int32_t value, int32_t from) {
    int32_t host = r->c->host;
    double start = larger(r->host, r->sim->clock[from]);
    r->host = start + fixed_part(r->c, from, host) + rest_part(r->c, value, from, host);
    arrive(r, value, from, host, start, r->host);
}

static void copy_in(run *r, int32_t value, int32_t to) {
    int32_t host = r->c->host;
    double *queue = &r->sim->clock[to];
    r->host += fixed_part(r->c, host, to);
    double start = larger(*queue, r->host);
    *queue = start + rest_part(r->c, value, host, to);
    arrive(r, value, host, to, start, *queue);
}

/* Bring a value to a device, by way of the host. */
static void bring(run *r, int32_t value, int32_t to) {
    if (is_there(r, value, to)) return;
    if (!is_there(r, value, r->c->host)) copy_out(r, value, berth_sim_home(r->c, r->device, value));
    if (to != r->c->host) copy_in(r, value, to);
}

static void execute(run *r, int32_t task) {
    const berth_costs *c = r->c;
    berth_sim *sim = r->sim;
    int32_t d = r->device[task];
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) bring(r, c->in_values[i], d);
    double took = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
    double *clock = &r->host;
    if (d != c->host) {
        if (took > 0) r->host += c->launch_ms[d];
        clock = &sim->clock[d];
        *clock = larger(*clock, r->host);
    }
    sim->start[task] = *clock;
    *clock += took;
    sim->end[task] = *clock;
}

double berth_sim_queued(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    const berth_costs *c = sim->costs;
    run r = {.sim = sim, .c = c, .device = device};
    berth_sim_next_generation(sim);
    memset(sim->clock, 0, (size_t)c->n_devices * sizeof *sim->clock);
    if (priority)
        berth_sim_order(sim, priority);
    else
        memcpy(sim->order, c->file_order, (size_t)c->n_tasks * sizeof *sim->order);
    for (int32_t i = 0; i < c->n_tasks; i++) execute(&r, sim->order[i]);
    for (int32_t v = 0; v < c->n_values; v++)
        if (c->value_target[v] >= 0) bring(&r, v, c->value_target[v]);
    double makespan = r.host;
    for (int32_t d = 0; d < c->n_devices; d++) makespan = larger(makespan, sim->clock[d]);
    return makespan;
}
