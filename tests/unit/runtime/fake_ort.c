/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for a library that is too old, crashes, hangs or takes all memory, as $BERTH_FAKE says. */
#include "trouble.h"

#include <stdint.h>

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
    if (how) make_trouble(how);
    return NULL; /* too old */
}

const fake_base *OrtGetApiBase(void);

const fake_base *OrtGetApiBase(void) {
    static const fake_base base = {get_api, get_version};
    return &base;
}
