/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a DAGBench workload. */
#include "workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return run_input(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static const char *const words[] = {
        "task_graph", "tasks", "dependencies", "network", "nodes", "edges", "name",  "cost",   "source",
        "target",     "size",  "speed",        "a",       "b",     "c",     "true",  "null",   "0",
        "1",          "2",     "-1",           "-0",      "0.5",   "1e100", "1e101", "1e-100", "1e-101",
        "1e999",      ""};
    return mutate(data, size, max_size, seed, words, sizeof words / sizeof *words);
}
