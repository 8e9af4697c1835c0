/* SPDX-License-Identifier: Apache-2.0 */
/* Under AddressSanitizer, memory that was handed back to a pool of ours is marked, so that using it is reported. */
#ifndef BERTH_BASE_POISON_H
#define BERTH_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define BERTH_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BERTH_HAS_ASAN 1
#endif
#endif
#ifdef BERTH_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define BERTH_POISON(start, n)   __asan_poison_memory_region(start, n)
#define BERTH_UNPOISON(start, n) __asan_unpoison_memory_region(start, n)
#else
#define BERTH_POISON(start, n)   ((void)(start), (void)(n))
#define BERTH_UNPOISON(start, n) ((void)(start), (void)(n))
#endif

#endif
