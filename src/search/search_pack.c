/* SPDX-License-Identifier: Apache-2.0 */
/* Bin packing by depth-first search: large units first, each first where it was, then where it runs fastest. Cut off
 * where the room that is left cannot hold what is left. It ends after a bounded number of steps: tight packings of a
 * few dozen units are found, and where there is some slack the first descent succeeds. */
#include "search/search_pack.h"

#include <math.h>

#include "base/sort.h"
#include "search/search_room.h"

enum { MOST_STEPS = 300000 };

typedef struct pack {
    const berth_problem *p;
    double *size;    /* [n_units] */
    double *after;   /* [n_units + 1] size of the units from this place in `order` on */
    double *used;    /* [n_devices] */
    int32_t *order;  /* [n_units] */
    int32_t *choice; /* [n_units * n_devices] devices to try, by place in `order` */
    int32_t *tried;  /* [n_units] */
} pack;

static bool is_larger(const void *user, int32_t a, int32_t b) {
    const double *size = user;
    return size[a] > size[b] || (size[a] == size[b] && a < b);
}

static void list_choices(pack *k, const int32_t *device) {
    const berth_problem *p = k->p;
    int32_t n_devices = p->costs->n_devices;
    for (int32_t at = 0; at < p->n_units; at++) {
        int32_t unit = k->order[at], now = device[p->unit_tasks[p->unit_start[unit]]], n = 0;
        int32_t *list = k->choice + (size_t)at * (size_t)n_devices;
        if (berth_problem_allows(p, unit, now)) list[n++] = now;
        for (int32_t d = 0; d < n_devices; d++) {
            if (d == now || !berth_problem_allows(p, unit, d)) continue;
            double ms = berth_room_unit_ms(p, unit, d);
            int32_t to = n++;
            for (; to > 1 && berth_room_unit_ms(p, unit, list[to - 1]) > ms; to--) list[to] = list[to - 1];
            list[to] = d;
        }
        for (; n < n_devices; n++) list[n] = -1;
    }
}

static bool rest_may_fit(const pack *k, int32_t at) {
    double room = 0;
    for (int32_t d = 0; d < k->p->costs->n_devices; d++) room += k->p->costs->capacity[d] - k->used[d];
    return k->after[at] <= room * (1 + 1e-12);
}

static bool descend(pack *k) {
    const berth_problem *p = k->p;
    int32_t n_devices = p->costs->n_devices, at = 0;
    for (int32_t step = 0; step < MOST_STEPS + p->n_units && at >= 0; step++) {
        if (at == p->n_units) return true;
        int32_t unit = k->order[at];
        const int32_t *list = k->choice + (size_t)at * (size_t)n_devices;
        int32_t *next = &k->tried[at];
        if (*next > 0) k->used[list[*next - 1]] -= k->size[unit];
        while (*next < n_devices && list[*next] >= 0 &&
               k->used[list[*next]] + k->size[unit] > p->costs->capacity[list[*next]])
            ++*next;
        if (*next == n_devices || list[*next] < 0) {
            *next = 0;
            at--;
            continue;
        }
        k->used[list[(*next)++]] += k->size[unit];
        if (rest_may_fit(k, at + 1)) at++;
    }
    return false;
}

bool berth_search_pack(berth_arena *arena, const berth_problem *problem, int32_t *device) {
    const berth_problem *p = problem;
    size_t n = (size_t)p->n_units, n_devices = (size_t)p->costs->n_devices;
    pack k = {.p = p};
    berth_room room;
    k.after = berth_arena_push(arena, n + 1, sizeof *k.after);
    k.order = berth_arena_push(arena, n, sizeof *k.order);
    k.choice = berth_arena_push(arena, n * n_devices, sizeof *k.choice);
    k.tried = berth_arena_push(arena, n, sizeof *k.tried);
    if (!berth_room_build(arena, p, &room)) return false;
    k.size = room.need;
    k.used = room.used;
    for (int32_t unit = 0; unit < p->n_units; unit++) k.order[unit] = unit;
    berth_sort(k.order, n, is_larger, k.size);
    for (int32_t at = p->n_units - 1; at >= 0; at--) k.after[at] = k.after[at + 1] + k.size[k.order[at]];
    list_choices(&k, device);
    if (!descend(&k)) return false;
    for (int32_t at = 0; at < p->n_units; at++) {
        int32_t unit = k.order[at], d = k.choice[(size_t)at * n_devices + (size_t)k.tried[at] - 1];
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) device[p->unit_tasks[i]] = d;
    }
    return true;
}
