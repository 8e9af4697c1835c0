/* SPDX-License-Identifier: Apache-2.0 */
/* Values in the memory of a device, and runs that find their inputs there and leave their outputs there.
 *
 * The library has no call that fills a device's memory. A model of one Identity does it: its output is bound to the
 * device, and lives as long as the session does. */
#include "runtime/ort.h"

#include <stdlib.h>
#include <string.h>

berth_status berth_ort_memory_of(const berth_ort *ort, const char *device, ort_memory **out) {
    const berth_ort_provider *provider = berth_ort_provider_of(device);
    *out = NULL;
    if (!provider || !provider->memory[0])
        return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "%.60s has no memory that values can be bound to", device);
    berth_status status = BERTH_OK;
    for (int i = 0; i < BERTH_ORT_MEMORIES && provider->memory[i]; i++) { /* names have changed between versions */
        status = berth_ort_check(
            ort, ort->api->CreateMemoryInfo(provider->memory[i], ORT_ALLOCATOR_DEVICE, 0, ORT_MEMORY_DEFAULT, out),
            BERTH_E_UNSUPPORTED, device);
        if (status == BERTH_OK) return BERTH_OK;
    }
    return status;
}

/* y = Identity(x) of that element type and any shape, opset 13. */
static size_t make_model(int type, unsigned char *bytes) {
    /* clang-format off */
    static const unsigned char model[] = {
        0x08, 0x07, 0x3a, 0x2f, 0x0a, 0x10, 0x0a, 0x01, 'x', 0x12, 0x01, 'y', 0x22, 0x08, 'I', 'd', 'e', 'n', 't',
        'i', 't', 'y', 0x12, 0x05, 's', 'm', 'a', 'l', 'l', 0x5a, 0x09, 0x0a, 0x01, 'x', 0x12, 0x04, 0x0a, 0x02,
        0x08, 0, 0x62, 0x09, 0x0a, 0x01, 'y', 0x12, 0x04, 0x0a, 0x02, 0x08, 0, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d,
    };
    /* clang-format on */
    enum { TYPE_OF_X = 39, TYPE_OF_Y = 50 };
    memcpy(bytes, model, sizeof model);
    bytes[TYPE_OF_X] = bytes[TYPE_OF_Y] = (unsigned char)type;
    return sizeof model;
}

berth_status berth_ort_identity(const berth_ort *ort, const char *device, int type, ort_session **out) {
    const char *const devices[] = {device, NULL};
    unsigned char bytes[BERTH_ORT_SMALL];
    berth_job job = {.devices = devices, .optimisation = BERTH_OPTIMISE_NONE, .threads = 1};
    size_t n = make_model(type, bytes);
    return berth_ort_session(ort, &job, bytes, n, out);
}

berth_status berth_ort_run_bound(const berth_ort *ort, ort_session *session, ort_binding *binding) {
    BERTH_TRY(berth_ort_check(ort, ort->api->RunWithBinding(session, NULL, binding), BERTH_E_UNSUPPORTED, "a run"));
    return berth_ort_check(ort, ort->api->SynchronizeBoundOutputs(binding), BERTH_E_UNSUPPORTED, "a run");
}

/* What the only output of a binding is now. */
static berth_status take_bound(const berth_ort *ort, ort_binding *binding, ort_value **out) {
    ort_value **values = NULL;
    size_t n = 0;
    BERTH_TRY(berth_ort_check(ort, ort->api->GetBoundOutputValues(binding, ort->allocator, &values, &n), BERTH_E_IO,
                              "a bound output"));
    *out = n > 0 ? values[0] : NULL;
    if (values) ort->api->AllocatorFree(ort->allocator, values);
    return *out ? BERTH_OK : berth_fail(ort->ctx, BERTH_E_IO, "a bound output is not there");
}

berth_status berth_ort_move(const berth_ort *ort, ort_session *identity, const ort_memory *memory,
                            const ort_value *from, ort_value **out) {
    ort_binding *binding = NULL;
    *out = NULL;
    BERTH_TRY(berth_ort_check(ort, ort->api->CreateIoBinding(identity, &binding), BERTH_E_IO, "binding"));
    berth_status status = berth_ort_check(ort, ort->api->BindInput(binding, "x", from), BERTH_E_UNSUPPORTED, "binding");
    if (status == BERTH_OK)
        status =
            berth_ort_check(ort, ort->api->BindOutputToDevice(binding, "y", memory), BERTH_E_UNSUPPORTED, "binding");
    if (status == BERTH_OK) status = berth_ort_run_bound(ort, identity, binding);
    if (status == BERTH_OK) status = take_bound(ort, binding, out);
    ort->api->ReleaseIoBinding(binding);
    return status;
}

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* Some devices say that they are done when they have only been told what to do. They work in order, though: when a
 * number has come from there, everything before it is done. */
berth_status berth_ort_fence_open(const berth_ort *ort, const char *device, berth_ort_fence *fence) {
    static const float number = 1;
    const berth_npy npy = {
        .kind = 'f', .item_size = 4, .rank = 1, .dims = {1}, .count = 1, .data = &number, .size = sizeof number};
    const berth_ort_provider *provider = berth_ort_provider_of(device);
    ort_memory *memory = NULL;
    ort_value *here = NULL;
    *fence = (berth_ort_fence){0};
    if (provider && provider->waits) return BERTH_OK; /* one that can be told to wait does so when it is asked to */
    BERTH_TRY(berth_ort_memory_of(ort, device, &memory));
    berth_status status = berth_ort_identity(ort, device, 1, &fence->session);
    if (status == BERTH_OK) status = berth_ort_value(ort, &npy, 1, &here);
    if (status == BERTH_OK) status = berth_ort_move(ort, fence->session, memory, here, &fence->there);
    if (here) ort->api->ReleaseValue(here);
    ort->api->ReleaseMemoryInfo(memory);
    return status;
}

berth_status berth_ort_fence_wait(const berth_ort *ort, const berth_ort_fence *fence) {
    ort_value *here = NULL;
    if (!fence->there) return BERTH_OK;
    BERTH_TRY(berth_ort_move(ort, fence->session, ort->memory, fence->there, &here));
    ort->api->ReleaseValue(here);
    return BERTH_OK;
}

void berth_ort_fence_close(const berth_ort *ort, berth_ort_fence *fence) {
    if (fence->there) ort->api->ReleaseValue(fence->there);
    if (fence->session) ort->api->ReleaseSession(fence->session);
    *fence = (berth_ort_fence){0};
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

double berth_ort_peak(const berth_ort *ort, ort_session *session, const char *device) {
    ort_memory *memory = NULL;
    ort_allocator *allocator = NULL;
    ort_pairs *stats = NULL;
    double peak = 0;
    if (berth_ort_memory_of(ort, device, &memory) != BERTH_OK) return 0;
    if (berth_ort_check(ort, ort->api->CreateAllocator(session, memory, &allocator), BERTH_E_IO, device) == BERTH_OK &&
        berth_ort_check(ort, ort->api->AllocatorGetStats(allocator, &stats), BERTH_E_IO, device) == BERTH_OK && stats) {
        const char *text = ort->api->GetKeyValue(stats, "MaxInUse");
        if (text) peak = strtod(text, NULL);
        ort->api->ReleaseKeyValuePairs(stats);
    }
    if (allocator) ort->api->ReleaseAllocator(allocator);
    ort->api->ReleaseMemoryInfo(memory);
    return peak > 0 ? peak : 0;
}
