/* SPDX-License-Identifier: Apache-2.0 */
/* How a process comes to grief, for all that stands for a runtime in tests: of its own accord, or at the hands of the
 * system. */
#ifndef BERTH_TESTS_TROUBLE_H
#define BERTH_TESTS_TROUBLE_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* crash; kill (as the system does if memory is short); hang; vanish (without a word, and as if all were well); memory
 * (takes all of it). Any other word does nothing. */
static inline void make_trouble(const char *how) {
    if (strcmp(how, "crash") == 0) raise(SIGSEGV);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    while (strcmp(how, "hang") == 0) pause();
    if (strcmp(how, "vanish") == 0) _exit(0);
    while (strcmp(how, "memory") == 0) {
        static char *volatile more; /* or a compiler would see that nobody wants it */
        more = malloc(1 << 24);
        if (more) memset(more, 1, 1 << 24);
    }
}

#endif
