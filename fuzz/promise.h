/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target holds the library to. An input becomes a graph that passes its own validators, and whose work
 * and groups can be computed; or it is refused by one line that names it. Either way nothing leaks, and reading takes
 * no more memory than the target allows. */
#ifndef BERTH_FUZZ_PROMISE_H
#define BERTH_FUZZ_PROMISE_H

#include "berth/berth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* Weak: the replaying program has no libFuzzer and mutates nothing. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static inline void demand(bool holds, const char *what, const char *message) {
    if (holds) return;
    fprintf(stderr, "broken promise: %s (%s)\n", what, message);
    abort();
}

#define PROMISE(holds) demand(holds, #holds, "")

typedef struct meter {
    size_t live, peak;
} meter;

static inline void *metered_resize(void *user, void *old, size_t old_size, size_t new_size) {
    meter *m = user;
    void *block = NULL;
    if (new_size == 0)
        free(old);
    else if (!(block = realloc(old, new_size)))
        return NULL;
    m->live += new_size - old_size;
    if (m->live > m->peak) m->peak = m->live;
    return block;
}

static inline void use_graph(berth_ctx *ctx, const berth_graph *graph) {
    demand(berth_graph_check(ctx, graph) == BERTH_OK, "a valid graph", berth_ctx_message(ctx));
    bool workload = berth_graph_format(graph) >= BERTH_FORMAT_MSR;
    demand(workload == (berth_graph_given_costs(graph) != NULL), "costs of workloads only", "");
    berth_work *work = NULL;
    demand(berth_work_compute(ctx, &work, graph) == BERTH_OK, "work", berth_ctx_message(ctx));
    berth_work_free(work);
    for (berth_group_rule rule = BERTH_GROUP_PAPER; rule <= BERTH_GROUP_FUSED; rule++) {
        berth_groups *groups = NULL;
        demand(berth_groups_build(ctx, &groups, graph, rule) == BERTH_OK, "groups", berth_ctx_message(ctx));
        demand(berth_groups_check(ctx, groups, graph) == BERTH_OK, "valid groups", berth_ctx_message(ctx));
        berth_groups_free(groups);
    }
}

/* Read the bytes and use what comes of them; reading may take `most` bytes of memory. */
static inline void hold_promises(const void *bytes, size_t size, const berth_read_options *options, size_t most) {
    meter m = {0};
    berth_allocator allocator = {metered_resize, &m};
    berth_ctx *ctx = NULL;
    berth_graph *graph = NULL;
    demand(berth_ctx_new(&ctx, &allocator) == BERTH_OK, "a context", "");
    berth_status status = berth_graph_read_memory(ctx, &graph, bytes, size, "input", options);
    demand(m.peak <= most, "little memory", berth_ctx_message(ctx));
    demand((status == BERTH_OK) == (graph != NULL), "a graph or a failure", berth_ctx_message(ctx));
    if (graph)
        use_graph(ctx, graph);
    else
        demand(strncmp(berth_ctx_message(ctx), "input:", 6) == 0, "the name of the input", berth_ctx_message(ctx));
    berth_graph_free(graph);
    berth_ctx_free(ctx);
    demand(m.live == 0, "no leak", "");
}

#endif
