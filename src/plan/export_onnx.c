/* SPDX-License-Identifier: Apache-2.0 */
/* The export for ONNX Runtime: the model with the placement on its nodes, external data beside it, a side file with
 * everything that a session needs, and loaders in Python and C that say the same in code. All files are staged and
 * renamed together, the model, which is begun first, as the last: if it is there, everything that it needs is. */
#include "plan/providers.h"

#include "base/stage.h"
#include "read/onnx_external.h"
#include "read/onnx_splice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMPARED_AT_ONCE = 1 << 14 };

typedef struct job {
    const berth_export *e;
    const char *output;
    berth_arena arena;
    berth_stage stage;
    berth_session session;
    berth_onnx_externals externals;
} job;

/* --- what must not be overwritten ------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b) {
    struct stat first, second;
    if (stat(a, &first) != 0 || stat(b, &second) != 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static berth_status check_output(const job *j) {
    const berth_export *e = j->e;
    if (!e->options.force && strcmp(e->model, "-") != 0 && same_file(j->output, e->model))
        return berth_fail(e->ctx, BERTH_E_ARG, "%.600s is the model itself; choose another name, or --force",
                          j->output);
    for (int32_t i = 0; i < j->externals.n; i++)
        if (j->externals.files[i].path && same_file(j->output, j->externals.files[i].path))
            return berth_fail(e->ctx, BERTH_E_ARG, "%.600s holds weights of the model; choose another name", j->output);
    return BERTH_OK;
}

/* As many bytes as there are, up to n; -1 with errno. */
static ssize_t read_full(int fd, char *bytes, size_t n) {
    size_t used = 0;
    while (used < n) {
        ssize_t got = read(fd, bytes + used, n - used);
        if (got < 0 && errno != EINTR) return -1;
        if (got == 0) break;
        if (got > 0) used += (size_t)got;
    }
    return (ssize_t)used;
}

static bool equal_content(int a, int b) {
    char first[COMPARED_AT_ONCE], second[COMPARED_AT_ONCE];
    for (;;) {
        ssize_t n = read_full(a, first, sizeof first);
        if (n < 0 || read_full(b, second, sizeof second) != n || memcmp(first, second, (size_t)n) != 0) return false;
        if (n == 0) return true;
    }
}

static bool equal_files(const char *a, const char *b) {
    struct stat first, second;
    if (stat(a, &first) != 0 || stat(b, &second) != 0 || first.st_size != second.st_size) return false;
    if (!S_ISREG(second.st_mode)) return false;
    int fds[2] = {open(a, O_RDONLY | O_CLOEXEC), open(b, O_RDONLY | O_CLOEXEC)};
    bool equal = fds[0] >= 0 && fds[1] >= 0 && equal_content(fds[0], fds[1]);
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0) close(fds[i]);
    return equal;
}

/* --- external data ---------------------------------------------------------------------------------------------- */

static berth_status stage_external(job *j, const berth_onnx_external *file) {
    const char *slash = strrchr(j->output, '/');
    int folder = slash ? (int)(slash - j->output) + 1 : 0;
    const char *target = berth_arena_printf(&j->arena, "%.*s%s", folder, j->output, file->location);
    struct stat st;
    if (!target) return berth_fail_nomem(j->e->ctx);
    if (same_file(target, file->path)) return BERTH_OK; /* the export goes into the model's own folder */
    if (lstat(target, &st) == 0) {
        if (equal_files(target, file->path)) return BERTH_OK;
        if (!j->e->options.force) {
            errno = EEXIST;
            return berth_fail(j->e->ctx, BERTH_E_IO,
                              "%.600s: is another file than the model's external data of that name; choose another "
                              "folder, or --force to replace it",
                              target);
        }
    }
    BERTH_TRY(berth_stage_folders(&j->stage, target));
    return berth_stage_link(&j->stage, target, file->path);
}

static berth_status stage_externals(job *j) {
    const berth_onnx_externals *found = &j->externals;
    const berth_onnx_external *missing = NULL;
    for (int32_t i = found->n - 1; i >= 0; i--)
        if (!found->files[i].path) missing = &found->files[i];
    if (missing)
        berth_log(j->e->ctx, BERTH_LOG_WARNING,
                  "%" PRId32 " of %" PRId32 " files of external data are missing, such as '%.200s' of tensor '%.200s'; "
                  "the exported model loads once they are beside it",
                  found->n_missing, found->n, missing->location, missing->tensor);
    for (int32_t i = 0; i < found->n; i++)
        if (found->files[i].path) BERTH_TRY(stage_external(j, &found->files[i]));
    return BERTH_OK;
}

/* --- the side file ---------------------------------------------------------------------------------------------- */

static void put_provider(berth_text *text, const berth_provider *provider) {
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "name", provider->name);
    berth_json_object_begin(text, "options");
    for (int32_t i = 0; i < provider->n_options; i++)
        berth_json_string(text, provider->options[i].key, provider->options[i].value);
    berth_json_object_end(text);
    berth_json_object_end(text);
}

static void put_device(berth_text *text, const job *j, int32_t device) {
    const berth_provider *provider = &j->session.providers[j->session.of_device[device]];
    int32_t n = 0;
    for (int32_t op = 0; op < j->e->placement->n_ops; op++) n += j->e->placement->device[op] == device;
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "name", j->e->plan->device_names[device]);
    berth_json_string(text, "provider", provider->name);
    berth_json_string(text, "layer_ann", provider->tag);
    berth_json_int(text, "nodes", n);
    berth_json_object_end(text);
}

static void put_side(berth_text *text, const job *j) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "berth", berth_version());
    berth_export_put_model(j->e, text);
    berth_json_string(text, "runtime", "onnxruntime");
    berth_json_string(text, "least_version", "1.25");
    berth_json_object_begin(text, "session_config");
    berth_json_string(text, "session.layer_assignment_settings", j->session.settings);
    berth_json_object_end(text);
    berth_json_array_begin(text, "providers");
    for (int32_t i = 0; i < j->session.n; i++) put_provider(text, &j->session.providers[i]);
    berth_json_array_end(text);
    berth_json_array_begin(text, "devices");
    for (int32_t d = 0; d < j->e->plan->n_devices; d++)
        if (j->session.of_device[d] >= 0) put_device(text, j, d);
    berth_json_array_end(text);
    berth_json_inline(text);
    berth_json_array_begin(text, "external_data");
    for (int32_t i = 0; i < j->externals.n; i++) berth_json_string(text, NULL, j->externals.files[i].location);
    berth_json_array_end(text);
    berth_json_object_end(text);
}

/* --- loaders ---------------------------------------------------------------------------------------------------- */

/* Names of providers and their options are letters and digits: nothing in these texts needs quoting. */
static void put_python(berth_text *text, const job *j) {
    berth_text_printf(text,
                      "# Made by berth %s: opens the model beside this file with its placement in it.\n"
                      "# Needs ONNX Runtime 1.25 or newer; an older one opens the model, but places by itself.\n"
                      "import onnxruntime\n\n"
                      "options = onnxruntime.SessionOptions()\n"
                      "options.add_session_config_entry(\"session.layer_assignment_settings\", \"%s\")\n"
                      "providers = [",
                      berth_version(), j->session.settings);
    for (int32_t i = 0; i < j->session.n; i++) {
        const berth_provider *p = &j->session.providers[i];
        berth_text_printf(text, "%s(\"%s\", {", i ? ", " : "", p->name);
        for (int32_t k = 0; k < p->n_options; k++)
            berth_text_printf(text, "%s\"%s\": \"%s\"", k ? ", " : "", p->options[k].key, p->options[k].value);
        berth_text_printf(text, "})");
    }
    berth_text_printf(text, "]\nsession = onnxruntime.InferenceSession(__file__[:-len(\".py\")], options, "
                            "providers=providers)\n");
}

static void put_c_list(berth_text *text, const char *name, const berth_provider *p, bool values) {
    berth_text_printf(text, "*const %s[] = {", name);
    for (int32_t i = 0; i < p->n_options; i++)
        berth_text_printf(text, "%s\"%s\"", i ? ", " : "", values ? p->options[i].value : p->options[i].key);
    berth_text_printf(text, "}");
}

static void put_c_append(berth_text *text, const berth_provider *p) {
    static const char step[] = "    if (!status) status = ort->";
    char list[40] = "NULL, NULL, 0";
    if (p->n_options > 0) {
        snprintf(list, sizeof list, "keys, values, %d", (int)p->n_options);
        berth_text_printf(text, "    const char ");
        put_c_list(text, "keys", p, false);
        berth_text_printf(text, ", ");
        put_c_list(text, "values", p, true);
        berth_text_printf(text, ";\n");
    }
    if (p->append == BERTH_APPEND_BY_NAME)
        berth_text_printf(text, "%sSessionOptionsAppendExecutionProvider(options, \"%s\", %s);\n", step, p->word, list);
    if (p->append != BERTH_APPEND_BY_CALL) return;
    berth_text_printf(text, "    Ort%sProviderOptionsV2 *own = NULL;\n", p->word);
    berth_text_printf(text, "%sCreate%sProviderOptions(&own);\n", step, p->word);
    if (p->n_options > 0) berth_text_printf(text, "%sUpdate%sProviderOptions(own, %s);\n", step, p->word, list);
    berth_text_printf(text, "%sSessionOptionsAppendExecutionProvider_%s_V2(options, own);\n", step, p->word);
    berth_text_printf(text, "    if (own) ort->Release%sProviderOptions(own);\n", p->word);
}

static void put_c(berth_text *text, const job *j) {
    static const char head[] = "OrtStatus *berth_load(const OrtApi *ort, const OrtEnv *env, const ORTCHAR_T *model, "
                               "OrtSession **session)";
    berth_text_printf(
        text,
        "/* Made by berth %s: opens the model beside this file, whose path is `model`, with its placement "
        "in it.\n"
        " * Needs ONNX Runtime 1.25 or newer; an older one opens the model, but places by itself. */\n"
        "#include <onnxruntime_c_api.h>\n#include <stddef.h>\n\n%s;\n\n%s {\n",
        berth_version(), head, head);
    berth_text_printf(text,
                      "    OrtSessionOptions *options = NULL;\n"
                      "    OrtStatus *status = ort->CreateSessionOptions(&options);\n"
                      "    if (!status) status = ort->AddSessionConfigEntry(options, "
                      "\"session.layer_assignment_settings\", \"%s\");\n",
                      j->session.settings);
    for (int32_t i = 0; i < j->session.n; i++) put_c_append(text, &j->session.providers[i]);
    berth_text_printf(text, "    if (!status) status = ort->CreateSession(env, model, options, session);\n"
                            "    if (options) ort->ReleaseSessionOptions(options);\n"
                            "    return status;\n}\n");
}

static berth_status stage_text(job *j, const char *ending, void (*put)(berth_text *text, const job *j)) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(j->e->ctx, &text));
    put(text, j);
    berth_status status = berth_export_stage(j->e, &j->arena, &j->stage, j->output, ending, text);
    berth_text_free(text);
    return status;
}

/* --- the model -------------------------------------------------------------------------------------------------- */

static berth_status put_stage(void *user, const char *bytes, size_t n) {
    return berth_stage_put(user, bytes, n);
}

static berth_status stage_model(job *j) {
    const berth_export *e = j->e;
    const char **texts = berth_arena_push(&j->arena, (size_t)e->plan->n_devices, sizeof *texts);
    if (!texts) return berth_fail_nomem(e->ctx);
    for (int32_t d = 0; d < e->plan->n_devices; d++)
        if (j->session.of_device[d] >= 0) texts[d] = j->session.providers[j->session.of_device[d]].tag;
    berth_onnx_tags tags = {texts, e->placement->device, e->placement->n_ops};
    BERTH_TRY(berth_stage_begin(&j->stage, j->output));
    return berth_onnx_annotate(e->ctx, &e->source, &tags, put_stage, &j->stage);
}

static berth_status run(job *j) {
    BERTH_TRY(berth_session_find(j->e, &j->arena, &j->session));
    BERTH_TRY(berth_onnx_external_find(j->e->ctx, &j->arena, &j->e->source, j->e->model, &j->externals));
    BERTH_TRY(check_output(j));
    BERTH_TRY(stage_model(j));
    BERTH_TRY(stage_externals(j));
    BERTH_TRY(stage_text(j, ".berth.json", put_side));
    BERTH_TRY(stage_text(j, ".py", put_python));
    BERTH_TRY(stage_text(j, ".c", put_c));
    return berth_stage_commit(&j->stage);
}

berth_status berth_export_onnx(const berth_export *e, const char *output) {
    if (berth_graph_format(e->graph) != BERTH_FORMAT_ONNX)
        return berth_fail(e->ctx, BERTH_E_UNSUPPORTED, "%.600s: is no ONNX model; only those can be exported to onnx",
                          e->source.name);
    job j = {.e = e, .output = output};
    berth_arena_init(&j.arena, berth_ctx_allocator(e->ctx));
    berth_stage_init(&j.stage, e->ctx);
    berth_status status = run(&j);
    berth_stage_deinit(&j.stage);
    int error = errno;
    berth_arena_deinit(&j.arena);
    errno = error;
    return status;
}
