/* SPDX-License-Identifier: Apache-2.0 */
/* Loads: time on a device counts there; copies where the model says, if the value stays within the module. A module's
 * loads fall between the end of the task before it and the start of the task behind it: all its tasks do, and so do
 * copies of values that are made there (or by the task before) and read there (or by the task behind). The whole graph
 * also counts values from the start, values with targets, and launches.
 *
 * queued      out: the host. In: the fixed part the host, the rest the device.
 * concurrent  a queued link. Others carry any number of copies at once.
 * contiguous and throughput: out: the home. In: the device. Under `contiguous` the host is never busy, and for
 *             throughput its cores share its tasks. */
#include "search/bound_loads.h"

#include <string.h>

void berth_loads_init(berth_loads *loads, const berth_costs *c, const berth_modules *modules) {
    bool throughput = c->objective == BERTH_OBJECTIVE_THROUGHPUT;
    *loads = (berth_loads){.costs = c, .modules = modules, .host_share = 1, .n_resources = c->n_devices};
    loads->via_host = throughput || c->model != BERTH_MODEL_CONCURRENT;
    loads->host_pays = loads->launches = !throughput && c->model == BERTH_MODEL_QUEUED;
    if (throughput && c->max_cpus > 1) loads->host_share = 1.0 / c->max_cpus;
    loads->parts = !throughput && c->model == BERTH_MODEL_CONTIGUOUS;
    if (loads->parts) loads->host_share = 0;
    for (int32_t link = 0; !loads->via_host && link < c->n_devices * c->n_devices; link++)
        loads->links_count |= c->link_queued[link];
    if (loads->links_count) loads->n_resources += c->n_devices * c->n_devices;
}

bool berth_loads_count(const berth_loads *l, int32_t value) {
    const berth_costs *c = l->costs;
    if (!l->parts) return true;
    bool stays = c->value_target[value] < 0 || c->value_target[value] == c->host;
    return stays && (c->value_producer[value] >= 0 || c->value_home[value] == c->host);
}

/* The resource that a direct copy keeps busy, or -1. */
static int32_t link_resource(const berth_loads *l, int32_t from, int32_t to) {
    int32_t link = from * l->costs->n_devices + to;
    return l->links_count && l->costs->link_queued[link] ? l->costs->n_devices + link : -1;
}

static void add(const berth_loads *l, double *busy, int32_t module, int32_t resource, double ms) {
    if (module >= 0) busy[berth_loads_at(l, module, resource)] += ms;
    busy[berth_loads_at(l, l->modules->n - 1, resource)] += ms;
}

static void add_value(const berth_loads *l, double *busy, int32_t value, int32_t home, uint64_t wanted) {
    const berth_costs *c = l->costs;
    int32_t module = l->modules->inside[value], host = c->host;
    if (wanted && l->via_host && home != host)
        add(l, busy, module, l->host_pays ? host : home, berth_costs_copy(c, value, home, host));
    for (; wanted; wanted &= wanted - 1) {
        int32_t to = __builtin_ctzll(wanted);
        if (l->via_host && to == host) continue;
        if (l->via_host) {
            add(l, busy, module, l->host_pays ? host : to, berth_terms_fixed(c, host, to));
            add(l, busy, module, to, berth_terms_rest(c, value, host, to));
            continue;
        }
        int32_t resource = link_resource(l, home, to);
        if (resource >= 0) add(l, busy, module, resource, berth_costs_copy(c, value, home, to));
    }
}

void berth_loads_of(const berth_loads *l, const berth_terms *t, const int32_t *device, double *busy) {
    const berth_costs *c = l->costs;
    size_t k = (size_t)c->n_devices;
    memset(busy, 0, (size_t)l->modules->n * (size_t)l->n_resources * sizeof *busy);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t d = device[t->node_of[task]];
        double time = c->time_ms[(size_t)task * k + (size_t)d];
        add(l, busy, l->modules->module_of[task], d, d == c->host ? l->host_share * time : time);
        if (l->launches && d != c->host && time > 0) add(l, busy, -1, c->host, c->launch_ms[d]);
    }
    if (!l->via_host && !l->links_count) return;
    for (int32_t v = 0; v < c->n_values; v++) {
        if (!berth_loads_count(l, v)) continue;
        int32_t producer = c->value_producer[v];
        int32_t home = producer < 0 ? c->value_home[v] : device[t->node_of[producer]];
        uint64_t wanted = c->value_target[v] >= 0 ? (uint64_t)1 << c->value_target[v] : 0;
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++)
            wanted |= (uint64_t)1 << device[t->node_of[c->readers[i]]];
        add_value(l, busy, v, home, wanted & ~((uint64_t)1 << home));
    }
}

/* What a resource weighs in a module, the whole graph's share included. */
static double weight_of(const berth_loads *l, const double *weight, int32_t module, int32_t resource) {
    int32_t whole = l->modules->n - 1;
    double sum = weight[berth_loads_at(l, whole, resource)];
    return module >= 0 && module != whole ? sum + weight[berth_loads_at(l, module, resource)] : sum;
}

static void weigh_links(const berth_loads *l, berth_terms *t, const double *weight) {
    int32_t k = l->costs->n_devices, host = l->costs->host;
    for (int32_t module = 0; module < l->modules->n; module++) {
        size_t first = (size_t)module * (size_t)k * (size_t)k;
        double *fixed = t->link_fixed + first, *rest = t->link_rest + first;
        for (int32_t link = 0; link < k * k; link++) {
            int32_t from = link / k, to = link % k;
            fixed[link] = rest[link] = 0;
            if (l->via_host && to == host) {
                fixed[link] = rest[link] = weight_of(l, weight, module, l->host_pays ? host : from);
            } else if (l->via_host && from == host) {
                fixed[link] = weight_of(l, weight, module, l->host_pays ? host : to);
                rest[link] = weight_of(l, weight, module, to);
            } else if (!l->via_host && link_resource(l, from, to) >= 0) {
                fixed[link] = rest[link] = weight_of(l, weight, module, link_resource(l, from, to));
            }
        }
    }
}

void berth_loads_weigh(const berth_loads *l, berth_terms *t, const double *task_weight, const double *weight) {
    const berth_costs *c = l->costs;
    size_t k = (size_t)c->n_devices;
    double launching = l->launches ? weight_of(l, weight, -1, c->host) : 0;
    memset(t->node_ms, 0, (size_t)t->n_nodes * k * sizeof *t->node_ms);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t module = l->modules->module_of[task];
        double *row = t->node_ms + (size_t)t->node_of[task] * k;
        for (int32_t d = 0; d < c->n_devices; d++) {
            double time = c->time_ms[(size_t)task * k + (size_t)d], share = d == c->host ? l->host_share : 1;
            if (!(t->allowed[t->node_of[task]] >> d & 1)) continue;
            row[d] += (task_weight[task] + share * weight_of(l, weight, module, d)) * time;
            if (d != c->host && time > 0) row[d] += launching * c->launch_ms[d];
        }
    }
    if (t->values_count) weigh_links(l, t, weight);
}
