/* SPDX-License-Identifier: Apache-2.0 */
/* Fractal dimension of nodes: how the number of nodes within a radius grows with the radius (the mass dimension; paper
 * section 3.2, shared/HSDAG.md 3.1; distances without directions over reachable nodes, 13.6).
 *
 * The logarithms of radii are the same for all nodes, and a radius adds one point, so that the slope can be summed up
 * while the walk goes on. Stamps instead of flags make a new walk free. */
#include "policy/features.h"

#include <math.h>

double berth_slope(int32_t n, const double *x, const double *y) {
    double mean_x = 0, mean_y = 0, over = 0, under = 0;
    if (n < 2) return 0;
    for (int32_t i = 0; i < n; i++) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    for (int32_t i = 0; i < n; i++) {
        over += (x[i] - mean_x) * (y[i] - mean_y);
        under += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return under > 0 ? over / under : 0;
}

typedef struct walk {
    const berth_links *links;
    int64_t most;               /* nodes and links that one walk may visit */
    int32_t *queue, *seen;      /* [n_nodes]; seen: the last walk that came by, plus one */
    double *log_radius, *log_n; /* [n_nodes] points of the slope */
} walk;

/* The nodes at the next radius: those linked with queue[first .. end) and not seen. Gives the new end of the queue, or
 * -1 if the walk has had its share. */
static int32_t widen(walk *w, int32_t node, int32_t first, int32_t end, int64_t *visited) {
    int32_t n = end;
    for (int32_t i = first; i < end; i++) {
        int32_t u = w->queue[i];
        for (int32_t pair = w->links->start[u]; pair < w->links->start[u + 1]; pair++) {
            int32_t v = w->links->target[pair];
            if (++*visited > w->most) return -1;
            if (w->seen[v] == node + 1) continue;
            w->seen[v] = node + 1;
            w->queue[n++] = v;
        }
    }
    return n;
}

static double fractal_dimension(walk *w, int32_t node) {
    int32_t first = 0, end = 1, n_points = 0;
    int64_t visited = 0;
    w->queue[0] = node;
    w->seen[node] = node + 1;
    while (true) {
        int32_t next = widen(w, node, first, end, &visited);
        if (next <= end) break; /* nothing new, or no more to spend */
        first = end;
        end = next;
        w->log_n[n_points++] = log(end - 1);
    }
    return berth_slope(n_points, w->log_radius, w->log_n);
}

bool berth_feature_fractal(berth_arena *scratch, const berth_links *links, berth_block block) {
    enum { VISITS = 1 << 24, LEAST = 256 };
    size_t n = (size_t)links->n_nodes;
    walk w = {.links = links,
              .most = n > 0 ? VISITS / (int64_t)n : 0,
              .queue = berth_arena_push(scratch, n, sizeof *w.queue),
              .seen = berth_arena_push(scratch, n, sizeof *w.seen),
              .log_radius = berth_arena_push(scratch, n, sizeof *w.log_radius),
              .log_n = berth_arena_push(scratch, n, sizeof *w.log_n)};
    if (scratch->failed) return false;
    if (w.most < LEAST) w.most = LEAST;
    for (int32_t r = 0; r < links->n_nodes; r++) w.log_radius[r] = log(r + 1);
    for (int32_t node = 0; node < links->n_nodes; node++)
        block.first[(size_t)node * (size_t)block.stride] = (berth_real)fractal_dimension(&w, node);
    return true;
}
