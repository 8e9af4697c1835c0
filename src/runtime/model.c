/* SPDX-License-Identifier: Apache-2.0 */
/* What is alike for all runtimes of making a model ready; the rest is the runtime's own. */
#include "runtime/kind.h"

#include "base/sha256.h"
#include "device/pattern.h"
#include "runtime/inputs.h"
#include "runtime/kept.h"
#include "runtime/scratch.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static berth_status make_folder(berth_run_model *m) {
    BERTH_TRY(berth_scratch_make(m->ctx, &m->arena, &m->scratch));
    m->folder = berth_arena_printf(&m->arena, "%s/model", m->scratch);
    if (!m->folder) return berth_fail_nomem(m->ctx);
    if (mkdir(m->folder, 0700) == 0) return BERTH_OK;
    return berth_fail(m->ctx, BERTH_E_IO, "cannot make a folder %.600s: %s", m->folder, strerror(errno));
}

/* Every input and output that a rule names, by the last of them. */
static berth_status place_tensors(berth_run_model *m, const int32_t *tensors, int32_t n,
                                  const berth_run_options *options, bool *used, berth_job_place *places) {
    for (int32_t i = 0; i < n; i++) {
        const char *name = berth_graph_tensor(m->graph, tensors[i])->name, *device = NULL;
        for (int32_t k = 0; k < options->n_io; k++) {
            if (strcmp(options->io[k].pattern, name) != 0 && !berth_pattern_matches(options->io[k].pattern, name))
                continue;
            used[k] = true;
            device = options->io[k].device;
        }
        if (device && strcmp(device, "host") != 0 && !m->runtime->kind->is_host(device))
            places[m->n_io++] = (berth_job_place){name, device};
    }
    return BERTH_OK;
}

static berth_status place_io(berth_run_model *m, const berth_run_options *options) {
    int32_t n_in = 0, n_out = 0;
    const int32_t *in = berth_graph_inputs(m->graph, &n_in), *out = berth_graph_outputs(m->graph, &n_out);
    berth_job_place *places = berth_arena_push(&m->arena, (size_t)n_in + (size_t)n_out, sizeof *places);
    bool *used = berth_arena_push(&m->arena, (size_t)options->n_io, sizeof *used);
    if (m->arena.failed) return berth_fail_nomem(m->ctx);
    m->io = places;
    BERTH_TRY(place_tensors(m, in, n_in, options, used, places));
    BERTH_TRY(place_tensors(m, out, n_out, options, used, places));
    if (m->n_io > 0 && !m->runtime->kind->binds_io)
        return berth_fail(m->ctx, BERTH_E_UNSUPPORTED, "--io: with %s inputs and outputs lie on the host",
                          m->runtime->kind->title);
    for (int32_t k = 0; k < options->n_io; k++)
        if (!used[k])
            return berth_fail(m->ctx, BERTH_E_ARG, "--io %.100s: the model has no such input or output",
                              options->io[k].pattern);
    return BERTH_OK;
}

berth_status berth_run_model_init(berth_run_model *model, berth_ctx *ctx, berth_runtime *runtime,
                                  const berth_graph *graph, const char *path, const berth_run_options *options) {
    *model = (berth_run_model){.ctx = ctx, .runtime = runtime, .graph = graph};
    berth_arena_init(&model->arena, berth_ctx_allocator(ctx));
    BERTH_TRY(make_folder(model));
    BERTH_TRY(runtime->kind->gather(model, path, options));
    BERTH_TRY(berth_inputs_make(ctx, &model->arena, graph, model->scratch, options->inputs, options->n_inputs,
                                options->seed, &model->inputs, &model->n_inputs));
    BERTH_TRY(place_io(model, options));
    model->digest = "";
    if (runtime->store) model->digest = berth_kept_digest(&model->arena, model->folder, model->inputs, model->n_inputs);
    return model->digest ? BERTH_OK : berth_fail_nomem(ctx);
}

void berth_run_model_deinit(berth_run_model *model) {
    berth_scratch_remove(model->scratch);
    berth_arena_deinit(&model->arena);
}

/* What a candidate is, for keys of the store: the model, its devices and, with `device`, where each operation is. */
static berth_status identify(berth_run_model *m, const char *const *devices, const int32_t *device,
                             berth_candidate *out) {
    char digest[2 * BERTH_SHA256_SIZE + 1] = "stock";
    unsigned char bytes[BERTH_SHA256_SIZE];
    berth_sha256 sha;
    const char *names = out->devices[0] ? out->devices[0] : "cpu";
    if (device) {
        berth_sha256_init(&sha);
        for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++)
            berth_sha256_update(&sha, devices[device[i]], strlen(devices[device[i]]) + 1);
        berth_sha256_finish(&sha, bytes);
        berth_sha256_hex(bytes, digest);
    }
    for (int32_t i = 1; out->devices[0] && out->devices[i] && names; i++)
        names = berth_arena_printf(&m->arena, "%s,%s", names, out->devices[i]);
    for (int32_t i = 0; i < m->n_io && names; i++)
        names = berth_arena_printf(&m->arena, "%s\n%s on %s", names, m->io[i].name, m->io[i].device);
    out->identity = berth_arena_printf(&m->arena, "%s\n%s\n%s\n%s", berth_graph_fingerprint(m->graph), m->digest,
                                       names ? names : "", digest);
    return m->arena.failed ? berth_fail_nomem(m->ctx) : BERTH_OK;
}

berth_status berth_run_model_place(berth_run_model *model, const char *const *devices, int32_t n_devices,
                                   const int32_t *device, const char *label, berth_candidate *out) {
    *out = (berth_candidate){.label = label};
    BERTH_TRY(model->runtime->kind->place(model, devices, n_devices, device, out));
    return identify(model, devices, device, out);
}

berth_status berth_run_model_single(berth_run_model *model, const char *device, berth_candidate *out) {
    *out = (berth_candidate){.label = device, .model = model->path};
    BERTH_TRY(model->runtime->kind->single(model, device, out));
    return identify(model, NULL, NULL, out);
}

berth_status berth_run_model_profile_job(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                                         bool native_precision, berth_job *out) {
    *out = (berth_job){.kind = BERTH_JOB_RUN,
                       .runtime = model->runtime->kind->name,
                       .library = model->runtime->library,
                       .devices = candidate->devices,
                       .model = candidate->model,
                       .folder = candidate->folder,
                       .assignment = candidate->assignment,
                       .optimisation = BERTH_OPTIMISE_ALL,
                       .threads = model->runtime->threads,
                       .native_precision = native_precision,
                       .inputs = model->inputs,
                       .n_inputs = model->n_inputs,
                       .io = model->io,
                       .n_io = model->n_io,
                       .profile = berth_arena_printf(arena, "%s/profile", model->scratch)};
    return out->profile ? BERTH_OK : berth_fail_nomem(model->ctx);
}
