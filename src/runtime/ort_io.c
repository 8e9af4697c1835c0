/* SPDX-License-Identifier: Apache-2.0 */
/* Runs whose inputs and outputs lie where the job says. Inputs are bound anew for every run, within its time: a value
 * that lies elsewhere than the first operation that reads it is copied then, as it would be for a user who has a new
 * one. */
#include "runtime/ort.h"

#include <string.h>

/* The device of the session on which that input or output lies; NULL: the host. */
static const char *device_of(const berth_job *job, const char *name) {
    for (int32_t i = 0; i < job->n_io; i++)
        for (int32_t d = 0; job->devices[d]; d++)
            if (strcmp(job->io[i].name, name) == 0 && strcmp(job->io[i].device, job->devices[d]) == 0)
                return job->devices[d];
    return NULL;
}

bool berth_ort_io_wanted(const berth_job *job, char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (device_of(job, names[i])) return true;
    return false;
}

static berth_status move_input(const berth_ort *ort, const berth_ort_io *io, size_t i) {
    const char *device = device_of(io->job, io->in_names[i]);
    ort_memory *memory = NULL;
    ort_value *moved = NULL;
    if (!device) return BERTH_OK;
    BERTH_TRY(berth_ort_memory_of(ort, device, &memory));
    berth_status status = berth_ort_identity(ort, device, io->types[i], &io->identities[i]);
    if (status == BERTH_OK) status = berth_ort_move(ort, io->identities[i], memory, io->in[i], &moved);
    if (status == BERTH_OK) {
        ort->api->ReleaseValue(io->in[i]);
        io->in[i] = moved;
    }
    ort->api->ReleaseMemoryInfo(memory);
    return status;
}

static berth_status bind_output(const berth_ort *ort, berth_ort_io *io, size_t i) {
    const char *device = device_of(io->job, io->out_names[i]);
    ort_memory *memory = NULL;
    if (device && !io->fence.there) BERTH_TRY(berth_ort_fence_open(ort, device, &io->fence));
    if (device) BERTH_TRY(berth_ort_memory_of(ort, device, &memory));
    berth_status status =
        berth_ort_check(ort, ort->api->BindOutputToDevice(io->binding, io->out_names[i], memory ? memory : ort->memory),
                        BERTH_E_UNSUPPORTED, "binding an output");
    if (memory) ort->api->ReleaseMemoryInfo(memory);
    return status;
}

berth_status berth_ort_io_open(const berth_ort *ort, ort_session *session, berth_ort_io *io) {
    io->identities = berth_arena_push(ort->arena, io->n_in, sizeof(ort_session *));
    if (!io->identities) return berth_fail_nomem(ort->ctx);
    for (size_t i = 0; i < io->n_in; i++) BERTH_TRY(move_input(ort, io, i));
    io->session = session;
    BERTH_TRY(berth_ort_check(ort, ort->api->CreateIoBinding(session, &io->binding), BERTH_E_UNSUPPORTED, "binding"));
    for (size_t i = 0; i < io->n_out; i++) BERTH_TRY(bind_output(ort, io, i));
    return BERTH_OK;
}

berth_status berth_ort_io_run(const berth_ort *ort, berth_ort_io *io) {
    for (size_t i = 0; i < io->n_in; i++)
        BERTH_TRY(berth_ort_check(ort, ort->api->BindInput(io->binding, io->in_names[i], io->in[i]),
                                  BERTH_E_UNSUPPORTED, "binding an input"));
    BERTH_TRY(berth_ort_run_bound(ort, io->session, io->binding));
    return berth_ort_fence_wait(ort, &io->fence);
}

void berth_ort_io_close(const berth_ort *ort, berth_ort_io *io) {
    if (io->binding) ort->api->ReleaseIoBinding(io->binding);
    io->binding = NULL;
    berth_ort_fence_close(ort, &io->fence);
    for (size_t i = 0; i < io->n_in && io->identities; i++) {
        if (!io->identities[i]) continue;
        ort->api->ReleaseValue(io->in[i]);
        io->in[i] = NULL;
        ort->api->ReleaseSession(io->identities[i]);
    }
}
