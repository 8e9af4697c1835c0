/* SPDX-License-Identifier: Apache-2.0 */
/* Processors, beside what the kernel says of them. */
#include "support.h"

#include "base/processors.h"
#include "berth/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the first line of /proc/cpuinfo that begins with key, or "". */
static void kernel_says(const char *key, char *value, size_t size) {
    static char line[1 << 14];
    FILE *file = fopen("/proc/cpuinfo", "re");
    value[0] = 0;
    while (file && !value[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0) snprintf(value, size, "%s", colon + 1);
    }
    if (file) fclose(file);
}

static void tiles_without_a_size_are_hidden(void **state) {
    static char flags[1 << 14];
    char level[32];
    (void)state;
    kernel_says("flags", flags, sizeof flags);
    kernel_says("cpuid level", level, sizeof level);
    if (!strstr(flags, "amx_tile")) {
        skip(); /* the kernel knows of no tiles here */
    }
    /* leaf 0x1d tells their size; where there is no such leaf, nothing does */
    if (atoi(level) < 0x1d) assert_true(berth_processor_hides_tiles());
    print_message("tiles are %s\n", berth_processor_hides_tiles() ? "hidden" : "told of");
}

static void there_is_a_processor(void **state) {
    char name[256];
    (void)state;
    berth_processor_name(name, sizeof name);
    assert_true(*name);
    assert_true(berth_processors() >= 1);
    berth_processor_name(name, 4);
    assert_true(strlen(name) <= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_without_a_size_are_hidden),
        cmocka_unit_test(there_is_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
