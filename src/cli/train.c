/* SPDX-License-Identifier: Apache-2.0 */
/* `berth train`: learn a policy on graphs, write it, say how it went. */
#include "cli/train.h"

#include "cli/lessons.h"
#include "cli/limits.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "cli/timeline.h"
#include "cli/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct train_values {
    cli_common common;
    const char *devices, *model, *method, *policy, *output;
    int64_t episodes, evaluations, seed, threads;
    double piece_ms;
    cli_list generated, settings;
    bool json, resume;
} train_values;

#define AT(member) offsetof(train_values, member)

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write the policy to FILE (needed)"},
    {"episodes", 'e', CLI_INT, CLI_USUAL, AT(episodes), "N", .low = 0, .high = 1e9,
     .help = "searches to learn from, in all (default 100)"},
    {"resume", 0, CLI_FLAG, CLI_USUAL, AT(resume), NULL, .help = "go on from FILE, if it is there"},
    {"generated", 'g', CLI_LIST, CLI_USUAL, AT(generated), "KIND:COUNT",
     .help = "learn on generated graphs, as in layers:8 or all:24"},
    {"method", 'm', CLI_STRING, CLI_USUAL, AT(method), "NAME", .help = "that learns (default hsdag)"},
    {"devices", 'd', CLI_STRING, CLI_USUAL, AT(devices), "LIST",
     .help = "of the models: profiles such as cpu,gpu, or a devices.json"},
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print one JSON document"},
    {"evaluations", 0, CLI_INT, CLI_RARE, AT(evaluations), "N", .low = 1, .high = 1e12,
     .help = "of each episode (default the method's own)"},
    {"execution-model", 0, CLI_STRING, CLI_RARE, AT(model), "NAME", .help = "of all graphs (default their devices')"},
    {"piece-ms", 0, CLI_DOUBLE, CLI_RARE, AT(piece_ms), "MS", .low = 0, .high = 1e12,
     .help = "serial: cost of each piece"},
    {"policy", 0, CLI_STRING, CLI_RARE, AT(policy), "FILE", .help = "start from this policy instead of from nothing"},
    {"seed", 0, CLI_INT, CLI_RARE, AT(seed), "N", .low = 0, .high = 9e18, .help = "of random numbers (default 0)"},
    {"set", 0, CLI_LIST, CLI_RARE, AT(settings), "NAME=VALUE", .help = "a setting; 'berth help settings' lists them"},
    {"threads", 0, CLI_INT, CLI_RARE, AT(threads), "N", .low = 0, .high = 1024, .help = "default 0: one per processor"},
    {0},
};

static const char details[] =
    "Learns a policy on models, workloads and generated graphs, in turn, and writes it to FILE,\n"
    "for 'berth place --policy FILE' to start from. An episode is one search on one graph. The\n"
    "file is written every second by way of a temporary name: whenever the command is\n"
    "killed, --resume goes on from it and ends with the same bytes as a run that was not. Ctrl-C\n"
    "ends the training and keeps what was learnt.\n"
    "\n"
    "Generated graphs have 100 to 400 operations and bring 2, 4 or 8 devices; KIND is branches,\n"
    "layers, series-parallel, transformer or all.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits, 5 learning\n"
    "diverged (FILE has the last good state), 130 interrupted.\n";

static int run_train(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_train = {
    .name = "train",
    .run = run_train,
    .summary = "learn a policy on one or many graphs",
    .operands = "[MODEL...]",
    .max_operands = CLI_MAX_LESSONS,
    .options = options,
    .details = details,
};

/* --- output ----------------------------------------------------------------------------------------------------- */

typedef struct trained {
    const cli_lessons *lessons;
    const berth_policy *policy;
    const train_values *values;
    int64_t before; /* episodes that were there */
    double seconds;
    double best[CLI_MAX_LESSONS]; /* of all episodes on each graph */
} trained;

static void find_best(trained *t) {
    for (int32_t i = 0; i < t->lessons->n; i++) t->best[i] = INFINITY;
    for (int64_t i = 0; i < berth_policy_episodes(t->policy); i++) {
        double *best = &t->best[berth_train_lesson((uint64_t)t->values->seed, t->lessons->n, i)];
        *best = fmin(*best, berth_policy_episode(t->policy, i)->best_ms);
    }
}

/* Of those made now, as the method timed them. */
static double seconds_per_episode(const trained *t) {
    int64_t n = berth_policy_episodes(t->policy);
    double sum = 0;
    for (int64_t i = t->before; i < n; i++) sum += berth_policy_episode(t->policy, i)->seconds;
    return n > t->before ? sum / (double)(n - t->before) : NAN;
}

static void put_history(berth_text *text, const trained *t) {
    berth_json_array_begin(text, "history");
    for (int64_t i = 0; i < berth_policy_episodes(t->policy); i++) {
        const berth_episode *row = berth_policy_episode(t->policy, i);
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_int(text, "graph", berth_train_lesson((uint64_t)t->values->seed, t->lessons->n, i));
        berth_json_double(text, "mean_ms", row->mean_ms);
        berth_json_double(text, "best_ms", row->best_ms);
        berth_json_double(text, "entropy", row->entropy);
        berth_json_double(text, "clusters", row->clusters);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static void put_json(berth_text *text, const trained *t) {
    const berth_settings *settings = berth_policy_settings(t->policy);
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "method", settings->method);
    berth_json_string(text, "policy", t->values->output);
    berth_json_int(text, "parameters", berth_policy_size(t->policy));
    berth_json_object_begin(text, "settings");
    for (int32_t i = 0; berth_setting_at(i); i++) {
        const berth_setting *row = berth_setting_at(i);
        char word[64];
        if (!berth_setting_applies(settings->method, i)) continue;
        berth_settings_text(settings, i, word, sizeof word);
        if (row->kind == BERTH_SETTING_CHOICE)
            berth_json_string(text, row->name, word);
        else if (row->kind == BERTH_SETTING_SWITCH)
            berth_json_bool(text, row->name, settings->value[i] != 0);
        else
            berth_json_double(text, row->name, settings->value[i]);
    }
    berth_json_object_end(text);
    berth_json_int(text, "seed", t->values->seed);
    berth_json_int(text, "episodes", berth_policy_episodes(t->policy));
    berth_json_double(text, "seconds", t->seconds);
    berth_json_double(text, "seconds_per_episode", seconds_per_episode(t));
    berth_json_double(text, "best_ms", t->lessons->n == 1 ? t->best[0] : NAN);
    berth_json_array_begin(text, "graphs");
    for (int32_t i = 0; i < t->lessons->n; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", t->lessons->names[i]);
        berth_json_double(text, "best_ms", t->best[i]);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    put_history(text, t);
    berth_json_object_end(text);
}

static void put_summary(berth_text *text, const trained *t) {
    int64_t n = berth_policy_episodes(t->policy);
    cli_text_key(text, "policy");
    cli_text_escaped(text, t->values->output);
    berth_text_printf(text, ": %s, %" PRId64 " parameters\n", berth_policy_settings(t->policy)->method,
                      berth_policy_size(t->policy));
    cli_text_key(text, "episodes");
    berth_text_printf(text, "%" PRId64 " on %" PRId32 " graph%s", n, t->lessons->n, t->lessons->n == 1 ? "" : "s");
    if (t->before > 0) berth_text_printf(text, ", %" PRId64 " of them before", t->before);
    if (n < t->values->episodes) berth_text_printf(text, "; interrupted");
    berth_text_printf(text, "\n");
    for (int32_t i = 0; i < t->lessons->n; i++) {
        cli_text_key(text, i ? "" : "best");
        if (isfinite(t->best[i]))
            berth_text_printf(text, "%12.6g ms  ", t->best[i]);
        else
            berth_text_printf(text, "%12s     ", "-");
        cli_text_escaped(text, t->lessons->names[i]);
        berth_text_printf(text, "\n");
    }
}

static int print(berth_ctx *ctx, const trained *t) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    if (t->values->json)
        put_json(text, t);
    else
        put_summary(text, t);
    int code = cli_output_keep(ctx, text, NULL);
    berth_text_free(text);
    return code;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

typedef struct watch {
    trained *t;
    bool seen;   /* there is somebody to look at a line */
    bool ready;  /* all is read: what fails now is the output */
    double last; /* seconds when one was shown */
    int64_t n;
} watch;

static void note(void *user, const berth_train_progress *p) {
    watch *w = user;
    if (w->n++ == 0) w->t->before = p->episode - 1;
    w->t->seconds = p->seconds;
    if (!w->seen || p->seconds - w->last < 0.1) return;
    w->last = p->seconds;
    cli_progress_train(p, w->t->lessons->names[p->lesson]);
}

static void note_ready(void *user) {
    watch *w = user;
    w->ready = true;
}

static int train(berth_ctx *ctx, const train_values *values, berth_train_options *how) {
    cli_lessons lessons = {0};
    trained t = {.lessons = &lessons, .values = values};
    watch w = {.t = &t, .seen = cli_progress(values->common.quiet) != NULL};
    berth_policy *policy = NULL;
    int code;
    how->train = note;
    how->ready = note_ready;
    how->train_user = &w;
    berth_status status =
        cli_lessons_load(ctx, &lessons, &values->common.operands, values->devices, &values->generated);
    if (status == BERTH_OK) status = berth_train(ctx, &policy, lessons.lessons, lessons.n, how);
    how->train_user = NULL;
    cli_progress_end(values->common.quiet);
    if (status == BERTH_OK) {
        if (w.n == 0) t.before = berth_policy_episodes(policy);
        t.policy = policy;
        find_best(&t);
        code = print(ctx, &t);
    } else {
        code = cli_report_failure(ctx, status, w.ready ? CLI_WRITING : CLI_READING);
    }
    berth_policy_free(policy);
    cli_lessons_free(&lessons);
    return code;
}

static bool check(const train_values *values, berth_train_options *how, char *message, size_t size) {
    bool learns = false;
    if (values->method) how->method = values->method;
    for (int32_t i = 0; berth_learned_method(i); i++) learns |= strcmp(how->method, berth_learned_method(i)) == 0;
    if (!learns) {
        snprintf(message, size, "'%.60s' is not a method that learns", how->method);
        return false;
    }
    if (values->model && (how->model = berth_model_find(values->model)) == BERTH_MODEL_COUNT) {
        snprintf(message, size, "there is no execution model '%.60s'", values->model);
        return false;
    }
    if (!cli_pieces_check(values->piece_ms, how->model, message, size)) return false;
    if (!values->output) {
        snprintf(message, size, "-o FILE says where the policy goes");
        return false;
    }
    if (values->common.operands.n == 0 && values->generated.n == 0) {
        snprintf(message, size, "needs a MODEL or --generated to learn on");
        return false;
    }
    return cli_lessons_check(&values->generated, message, size);
}

static int run_train(berth_ctx *ctx, int argc, char **argv) {
    train_values values = {.piece_ms = NAN, .episodes = 100};
    berth_train_options how = berth_train_options_default();
    cli_settings settings = {0};
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_train, &values, argc, argv, &code)) return code;
    if (!check(&values, &how, message, sizeof message) ||
        !cli_settings_parse(&settings, &values.settings, how.method, message, sizeof message))
        return cli_report_misuse(&cli_train, message);
    how.set = settings.set;
    how.n_set = settings.n;
    how.policy = values.policy;
    how.piece_ms = values.piece_ms;
    how.episodes = values.episodes;
    how.evaluations = values.evaluations;
    how.seed = (uint64_t)values.seed;
    how.threads = (int32_t)values.threads;
    how.output = values.output;
    how.resume = values.resume;
    return train(ctx, &values, &how);
}
