/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Moirai workload. */
#include "workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return run_input(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static const char *const words[] = {"task",    "c_task",   "dir_succ", "dir_succ_add", "mi",
                                        "p0",      "p1",       "p2",       "p9",           "p10",
                                        "m0",      "m1",       "m2",       "pc00",         "pc01",
                                        "pc10",    "pc11",     "pc22",     "pc110",        "\"1,2\"",
                                        "\"0,0\"", "\"1,,2\"", "\"\"",     "\n",           ",",
                                        "0",       "1",        "2",        "-1",           "-0",
                                        "0.5",     "1e100",    "1e101",    "1e999",        "9223372036854775807",
                                        "nan",     ""};
    return mutate(data, size, max_size, seed, words, sizeof words / sizeof *words);
}
