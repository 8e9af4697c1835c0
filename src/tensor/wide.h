/* SPDX-License-Identifier: Apache-2.0 */
/* BERTH_WIDE before a function: compiled also for machines with AVX2, and the one that fits is taken when the program
 * starts. Only the width of vectors differs, not the order of operations (and products are not fused with sums), so
 * that results are the same to the bit. Where the tool chain cannot, it is nothing: another processor or C library;
 * clang, whose version 14 gives such functions names that other files do not find; ThreadSanitizer, which is not yet
 * awake when the choice is made. */
#ifndef BERTH_TENSOR_WIDE_H
#define BERTH_TENSOR_WIDE_H

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define BERTH_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define BERTH_WIDE
#endif

#endif
