/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/device.h: the devices a model may be placed on, what the user asks of a placement, and a placement.
 *
 * Devices come from a devices.json (docs/formats.md), from built-in profiles by name ("cpu,gpu,gpu" or "paper"), or
 * from a workload file, which brings its own. They keep the order in which they were named.
 */
#ifndef BERTH_DEVICE_H
#define BERTH_DEVICE_H

#include "berth/graph.h"
#include "berth/text.h"
#include "berth/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sets of devices are handled as bits of a word. */
#define BERTH_MAX_DEVICES 64

/** How a placement is executed; defined in docs/architecture.md, "Execution models". */
typedef enum berth_model {
    BERTH_MODEL_SERIAL,
    BERTH_MODEL_QUEUED,
    BERTH_MODEL_CONCURRENT,
    BERTH_MODEL_CONTIGUOUS,
    BERTH_MODEL_COUNT
} berth_model;

/** "serial", "queued", "concurrent", "contiguous". */
BERTH_API const char *berth_model_name(berth_model model);
/** BERTH_MODEL_COUNT if there is none of that name. */
BERTH_API berth_model berth_model_find(const char *name);

typedef struct berth_device {
    const char *name;                          /* unique: "gpu", or "gpu.0", "gpu.1" where a profile is repeated */
    const char *kind;                          /* "cpu", "gpu", "igpu", "npu", ...; free text */
    double flops[BERTH_TYPE_COUNT];            /* peak FLOP/s by element type; 0: not in this type */
    double bandwidth;                          /* bytes/s of its memory */
    double launch_ms;                          /* per operation that is not free */
    double memory_bytes;                       /* INFINITY: no limit */
    double efficiency[BERTH_WORK_CLASS_COUNT]; /* share of peak or bandwidth that is reached, 0 < e <= 1 */
    int32_t n_unsupported;
    const char *const *unsupported; /* operation types that it cannot run */
} berth_device;

/** From one device to another. */
typedef struct berth_link {
    double fixed_ms;
    double ms_per_byte;
    bool queued; /* one copy at a time in this direction; else copies do not hinder each other */
} berth_link;

typedef struct berth_device_set {
    int32_t n_devices;
    const berth_device *devices;
    const berth_link *links; /* [from * n_devices + to], every pair filled: through the host where no link is given */
    int32_t host;            /* where model inputs start and outputs must end */
    berth_model model;       /* to use unless the user says otherwise */
    double piece_ms;         /* `serial`: per piece */
    const char *source;      /* the profile names or the file they came from */
} berth_device_set;

/**
 * Devices by text: a path (it holds a '/' or ends in ".json"), else names of profiles separated by commas. "paper" is a
 * whole testbed of two devices. The host is the device that the file says, else the first of kind "cpu", else the
 * first.
 * @return BERTH_OK; BERTH_E_ARG (no such profile; the message lists them); BERTH_E_IO; BERTH_E_FORMAT; BERTH_E_LIMIT
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_device_set_read(berth_ctx *ctx, berth_device_set **out, const char *text);
/** The devices of a workload graph (which must have given costs): names, capacities, no rates; execution model. */
BERTH_API BERTH_MUST_CHECK berth_status berth_device_set_given(berth_ctx *ctx, berth_device_set **out,
                                                               const berth_graph *graph);
BERTH_API void berth_device_set_free(berth_device_set *set);
/**
 * The set as a devices.json under `key` (NULL: at the top). It reads back to the same set, bit for bit. Devices of a
 * workload have no rates: what is written of them is for people, and is refused when read.
 */
BERTH_API void berth_device_set_write(berth_text *text, const char *key, const berth_device_set *set);
/** The device of that name, or -1. */
BERTH_API int32_t berth_device_find(const berth_device_set *set, const char *name);

/** Built-in profiles for listings: number `index`, or NULL past the end. */
BERTH_API const char *berth_profile_name(int32_t index);
BERTH_API const char *berth_profile_summary(int32_t index);

/**
 * What the user asks of a placement. A pattern is a glob (`*`, `?`, `[...]`) that matches the whole name of an
 * operation or its whole type. Everything is borrowed.
 */
typedef struct berth_rule {
    const char *pattern;
    const char *device; /* pins, bans, io ("host" is understood); NULL for together */
} berth_rule;

typedef struct berth_memory_rule {
    const char *device;
    double bytes;
} berth_memory_rule;

typedef struct berth_limits {
    const berth_rule *pins, *bans, *together, *io; /* io: pattern = name of a model input or output */
    int32_t n_pins, n_bans, n_together, n_io;
    const berth_memory_rule *memory;
    int32_t n_memory;
} berth_limits;

/** Which device runs each operation, and optionally in which order. */
typedef struct berth_placement {
    int32_t n_ops;
    int32_t *device;   /* [n_ops], every operation, constant expressions and stand-ins of inputs and outputs too */
    int32_t *priority; /* [n_ops] smaller first, distinct; or NULL: the execution model's own order */
} berth_placement;

BERTH_API BERTH_MUST_CHECK berth_status berth_placement_new(berth_ctx *ctx, berth_placement **out, int32_t n_ops,
                                                            bool with_priority);
BERTH_API void berth_placement_free(berth_placement *placement);

#ifdef __cplusplus
}
#endif
#endif
