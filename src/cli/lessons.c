/* SPDX-License-Identifier: Apache-2.0 */
/* Lessons from operands and --generated KIND:COUNT. */
#include "cli/lessons.h"

#include "cli/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kind BERTH_GENERATED_COUNT stands for all of them in turn. */
static bool parse_generated(const char *text, berth_generated *kind, long *count) {
    const char *colon = strchr(text, ':');
    char *end = NULL;
    if (!colon) return false;
    size_t size = (size_t)(colon - text);
    *count = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end || *count < 1 || *count > CLI_MAX_LESSONS) return false;
    for (int k = 0; k <= BERTH_GENERATED_COUNT; k++) {
        const char *name = k < BERTH_GENERATED_COUNT ? berth_generated_name((berth_generated)k) : "all";
        if (strlen(name) != size || memcmp(name, text, size) != 0) continue;
        *kind = (berth_generated)k;
        return true;
    }
    return false;
}

bool cli_lessons_check(const cli_list *generated, char *message, size_t size) {
    cli_scan at = generated->start;
    for (const char *text; (text = cli_list_next(generated, &at));) {
        berth_generated kind;
        long count;
        if (parse_generated(text, &kind, &count)) continue;
        snprintf(message, size,
                 "--generated needs KIND:COUNT with a kind of branches, layers, series-parallel, "
                 "transformer or all and a count up to %d, not '%.60s'",
                 (int)CLI_MAX_LESSONS, text);
        return false;
    }
    return true;
}

static void take(cli_lessons *out, const char *name) {
    int32_t i = out->n++;
    out->lessons[i] = (berth_lesson){.graph = out->graphs[i], .devices = out->devices[i]};
    snprintf(out->names[i], sizeof out->names[i], "%.63s", name);
}

static berth_status read_models(berth_ctx *ctx, cli_lessons *out, const cli_list *models, const char *devices) {
    cli_scan at = models->start;
    for (const char *path; (path = cli_list_next(models, &at)) && out->n < CLI_MAX_LESSONS;) {
        berth_status status = berth_graph_read(ctx, &out->graphs[out->n], path, NULL);
        if (status == BERTH_OK)
            status = cli_devices_for(ctx, &out->devices[out->n], devices, NULL, out->graphs[out->n]);
        if (status != BERTH_OK) return status;
        take(out, path);
    }
    return BERTH_OK;
}

static berth_status generate(berth_ctx *ctx, cli_lessons *out, berth_generated kind, long count) {
    for (long i = 0; i < count && out->n < CLI_MAX_LESSONS; i++) {
        bool all = kind == BERTH_GENERATED_COUNT;
        berth_case item = all ? berth_case_at((berth_generated)(i % BERTH_GENERATED_COUNT), i / BERTH_GENERATED_COUNT)
                              : berth_case_at(kind, i);
        char name[64];
        snprintf(name, sizeof name, "%s/%ld", berth_generated_name(item.kind), i);
        berth_status status = berth_case_generate(ctx, &out->graphs[out->n], &out->devices[out->n], &item);
        if (status != BERTH_OK) return status;
        take(out, name);
    }
    return BERTH_OK;
}

berth_status cli_lessons_load(berth_ctx *ctx, cli_lessons *out, const cli_list *models, const char *devices,
                              const cli_list *generated) {
    berth_status status = read_models(ctx, out, models, devices);
    cli_scan at = generated->start;
    for (const char *text; status == BERTH_OK && (text = cli_list_next(generated, &at));) {
        berth_generated kind = BERTH_GENERATED_COUNT;
        long count = 0;
        if (parse_generated(text, &kind, &count)) status = generate(ctx, out, kind, count);
    }
    return status;
}

void cli_lessons_free(cli_lessons *lessons) {
    for (int32_t i = 0; i < CLI_MAX_LESSONS; i++) {
        berth_device_set_free(lessons->devices[i]);
        berth_graph_free(lessons->graphs[i]);
    }
}
