/* SPDX-License-Identifier: Apache-2.0 */
/* What tests share: cmocka in the right order, the allocation ladder, folders with test data, random graphs. */
#ifndef BERTH_TESTS_SUPPORT_H
#define BERTH_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/berth.h"

/* To set a test up with a context of its own, which is its state, and to tear it down. */
int support_open(void **state);
int support_close(void **state);

/* Let n allocations succeed, then fail, for n = 0, 1, 2, ... until the call succeeds. Asserts that each failure is
 * BERTH_E_NOMEM and that nothing leaks at any rung. `run` must free what it made, also on success. `step` > 1 skips
 * rungs in long cases, after the first 200. A launcher that wants a hundredth of all cases gets a tenth of the rungs,
 * after the first 20. Returns the number of allocations of a successful run. */
long support_ladder(berth_status (*run)(berth_ctx *ctx, void *user), void *user, long step);

/* A path below the folder of fetched test data (../shared, or $BERTH_SHARED). NULL if it does not exist; the test is
 * then to be skipped (support_skip), and under CI=true the program fails instead. Static buffer, 8 rotating. */
const char *support_shared(const char *relative);
/* A path below the source tree. Static buffer, 8 rotating. */
const char *support_source(const char *relative);
/* Says on standard output what was skipped and why, then skips the cmocka test. */
void support_skip(const char *why);

/* Reads a file or fails the test with the library's message. Free with berth_graph_free. */
berth_graph *support_read(berth_ctx *ctx, const char *path);
/* Expects a failure of that status whose message contains `fragment`. */
void support_refuse(berth_ctx *ctx, const char *bytes, size_t size, berth_status status, const char *fragment);

/* How many random cases to try where a plain build tries n: slow launchers ask for a share of them by
 * BERTH_TEST_SHARE=20 (one in twenty). At least 1. */
int support_cases(int n);
/* True where hardly any cases are wanted, one in fifty or fewer, as under valgrind: memory is looked at there, on every
 * path. So problems are to be small, and what holds of many cases on the whole is not to be expected of the few. */
bool support_is_slow(void);

/* True in an optimised build without asserts, run as it is: only there do times mean anything. */
bool support_is_optimised(void);
/* Built with ASan. */
bool support_is_sanitised(void);

/* For tests that start our own programs with foreign libraries in them: built with AddressSanitizer they are to die of
 * signals as any other, and what the libraries never free is not ours. Call it before the first child. */
void support_foreign_children(void);

/* Deterministic random numbers for tests: SplitMix64. */
uint64_t support_random(uint64_t *state);
/* Uniform in [0, n). */
uint32_t support_below(uint64_t *state, uint32_t n);

#endif
