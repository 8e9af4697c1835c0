/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for a library that is too old, crashes, hangs or takes all memory, as $BERTH_FAKE says. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fake_base {
    void *const *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
} fake_base;

static const char *get_version(void) {
    return "1.19.2";
}

static void *const *get_api(uint32_t version) {
    const char *how = getenv("BERTH_FAKE");
    (void)version;
    if (!how) return NULL;
    if (strcmp(how, "crash") == 0) raise(SIGSEGV);
    if (strcmp(how, "hang") == 0)
        for (;;) pause();
    if (strcmp(how, "vanish") == 0) _exit(0);
    if (strcmp(how, "memory") == 0)
        for (;;) {
            static char *volatile more; /* or a compiler would see that nobody wants it */
            more = malloc(1 << 24);
            if (more) memset(more, 1, 1 << 24);
        }
    return NULL; /* too old */
}

const fake_base *OrtGetApiBase(void);

const fake_base *OrtGetApiBase(void) {
    static const fake_base base = {get_api, get_version};
    return &base;
}
