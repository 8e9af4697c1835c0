/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of devices: the objective of throughput under every model (defined in sim.h). */
#include "simulate/sim_impl.h"

#include <string.h>

/* A value is wanted on a device: if that is not its home, it goes to the host and from there on, each way once. */
static void bring(berth_sim *sim, int32_t value, int32_t home, int32_t to) {
    const berth_costs *c = sim->costs;
    int32_t *stamp = sim->stamp + (size_t)value * (size_t)c->n_devices;
    if (to == home) return;
    if (home != c->host && stamp[c->host] != sim->generation) {
        stamp[c->host] = sim->generation;
        sim->load[home] += berth_costs_copy(c, value, home, c->host);
    }
    if (stamp[to] == sim->generation) return; /* also if `to` is the host and not the home */
    stamp[to] = sim->generation;
    sim->load[to] += berth_costs_copy(c, value, c->host, to);
}

double berth_sim_largest_load(berth_sim *sim, const int32_t *device) {
    const berth_costs *c = sim->costs;
    double largest = 0;
    berth_sim_next_generation(sim);
    memset(sim->load, 0, (size_t)c->n_devices * sizeof *sim->load);
    for (int32_t task = 0; task < c->n_tasks; task++)
        sim->load[device[task]] += c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)device[task]];
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t home = berth_sim_home(c, device, v);
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++)
            bring(sim, v, home, device[c->readers[i]]);
        if (c->value_target[v] >= 0) bring(sim, v, home, c->value_target[v]);
    }
    if (c->max_cpus > 1) sim->load[c->host] /= c->max_cpus;
    for (int32_t d = 0; d < c->n_devices; d++)
        if (sim->load[d] > largest) largest = sim->load[d];
    return largest;
}
