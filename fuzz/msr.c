/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an MSR workload. */
#include "workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return run_input(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static const char *const words[] = {"maxFPGAs",
                                        "maxCPUs",
                                        "maxSizePerFPGA",
                                        "nodes",
                                        "edges",
                                        "id",
                                        "supportedOnFpga",
                                        "cpuLatency",
                                        "fpgaLatency",
                                        "size",
                                        "isBackwardNode",
                                        "colorClass",
                                        "name",
                                        "sourceId",
                                        "destId",
                                        "cost",
                                        "true",
                                        "false",
                                        "null",
                                        "0",
                                        "1",
                                        "2",
                                        "-1",
                                        "-0",
                                        "255",
                                        "256",
                                        "0.5",
                                        "1e100",
                                        "1e101",
                                        "1e999",
                                        "9223372036854775807",
                                        "1e-400",
                                        ""};
    return mutate(data, size, max_size, seed, words, sizeof words / sizeof *words);
}
