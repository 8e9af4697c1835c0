/* SPDX-License-Identifier: Apache-2.0 */
/* The command's front door: says which version it is and what it can do. Results go to standard output, misuse to
 * standard error with exit code 2. */
#include "berth/berth.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: berth --help | --version\n";

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("berth %s\n", berth_version());
        return 0;
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    fputs(usage, stderr);
    return 2;
}
