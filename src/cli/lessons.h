/* SPDX-License-Identifier: Apache-2.0 */
/* What `berth train` learns on: models of files, and generated graphs. */
#ifndef BERTH_CLI_LESSONS_H
#define BERTH_CLI_LESSONS_H

#include "berth/bench.h"
#include "cli/options.h"

enum { CLI_MAX_LESSONS = 1024 };

typedef struct cli_lessons {
    int32_t n;
    berth_lesson lessons[CLI_MAX_LESSONS];
    berth_graph *graphs[CLI_MAX_LESSONS];
    berth_device_set *devices[CLI_MAX_LESSONS];
    char names[CLI_MAX_LESSONS][64]; /* for people */
} cli_lessons;

/* "layers:8", "all:24". False: `message` says what is wrong. */
bool cli_lessons_check(const cli_list *generated, char *message, size_t size);

/* Reads the models, each on `devices` (NULL: cpu,gpu, or the workload's own), and generates the rest. Free in any
 * case. */
berth_status cli_lessons_load(berth_ctx *ctx, cli_lessons *out, const cli_list *models, const char *devices,
                              const cli_list *generated);
void cli_lessons_free(cli_lessons *lessons);

#endif
