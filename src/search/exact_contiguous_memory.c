/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one part, as the simulator defines it (sim.h). Under `contiguous` what lies on a device other than the host
 * is settled by the part alone, and never falls when the part grows. */
#include "search/exact_contiguous.h"

typedef struct span {
    int32_t from, to; /* positions, which are task numbers; to < from: not there */
} span;

/* Where the value lies on the part's device. */
static span find_span(const berth_part *part, int32_t value) {
    const berth_costs *c = part->m->c;
    int32_t producer = c->value_producer[value], target = c->value_target[value], end = c->n_tasks - 1;
    int32_t first_in = end + 1, last_in = -1, first_out = end + 1;
    bool at_home = producer >= 0 ? part->has[producer] : c->value_home[value] == part->device;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i];
        if (!part->has[task]) {
            if (task < first_out) first_out = task;
            continue;
        }
        if (task < first_in) first_in = task;
        if (task > last_in) last_in = task;
    }
    if (!at_home) {
        if (target == part->device) return (span){first_in <= end ? first_in : end, end};
        return (span){first_in, last_in};
    }
    span s = {producer >= 0 ? producer : 0, producer >= 0 ? producer : 0};
    if (last_in > s.to) s.to = last_in;
    bool copied = first_out <= end || (target >= 0 && target != part->device);
    if (copied && first_out > end) first_out = end;
    if (copied && first_out > s.to) s.to = first_out;
    if (target == part->device) s.to = end;
    return s;
}

bool berth_part_fits(berth_part *part) {
    const berth_costs *c = part->m->c;
    const berth_part_sums *now = berth_part_now(part);
    double capacity = c->capacity[part->device] * (1 + 1e-12); /* the simulator may add in another order */
    if (now->memory > capacity) return false;
    if (c->task_memory || now->memory + now->touched <= capacity) return true;
    int32_t first = c->n_tasks, last = -1;
    for (int32_t i = 0; i < now->n_touched; i++) {
        span s = find_span(part, part->touched[i]);
        if (s.to < s.from) continue;
        part->held[s.from] += c->value_bytes[part->touched[i]];
        part->held[s.to + 1] -= c->value_bytes[part->touched[i]];
        if (s.from < first) first = s.from;
        if (s.to > last) last = s.to;
    }
    double held = now->memory, peak = held;
    for (int32_t at = first; at <= last + 1; at++) {
        held += part->held[at];
        part->held[at] = 0;
        if (held > peak) peak = held;
    }
    return peak <= capacity;
}
