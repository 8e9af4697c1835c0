/* SPDX-License-Identifier: Apache-2.0 */
/* The execution providers of ONNX Runtime, by the devices that they stand for: the one table, for running and for
 * exporting. */
#ifndef BERTH_RUNTIME_PROVIDERS_H
#define BERTH_RUNTIME_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>

/* How a C program appends a provider to a session. */
typedef enum berth_append {
    BERTH_APPEND_NONE,    /* every session has it: the CPU's */
    BERTH_APPEND_BY_NAME, /* SessionOptionsAppendExecutionProvider, by a short name of its own */
    BERTH_APPEND_BY_CALL, /* a family of calls: Create..., Update..., Append..._V2, Release... */
} berth_append;

enum { BERTH_ORT_MEMORIES = 2 };

typedef struct berth_ort_provider {
    const char *device; /* "webgpu" */
    bool described;     /* no name that a runtime finds: what a described device is taken for unless the user says */
    const char *name;   /* "WebGpuExecutionProvider", as placements and profiles say */
    berth_append append;
    const char *word;           /* short name, or family of calls */
    const char *id;             /* option that picks one of several cards, or NULL */
    const char *option, *value; /* a provider option, or NULL */
    bool compiles;              /* takes whole sub-graphs, so that operations have no times of their own */
    const char *waits; /* variable of the environment that, set to 1, makes the host wait for every kernel; or NULL */
    const char
        *memory[BERTH_ORT_MEMORIES]; /* how the library calls its memory, by version; NULL: none to be bound to */
    const char *wide, *wide_value;   /* a provider option that keeps it to the precision of the model, or NULL */
} berth_ort_provider;

/* Row `index`, the CPU's first; NULL past the end. */
const berth_ort_provider *berth_ort_provider_at(int32_t index);
/* The row of a device that runtimes find; NULL: none. */
const berth_ort_provider *berth_ort_provider_of(const char *device);

#endif
