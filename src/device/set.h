/* SPDX-License-Identifier: Apache-2.0 */
/* A device set in the making, for those who fill one in. */
#ifndef BERTH_DEVICE_SET_H
#define BERTH_DEVICE_SET_H

#include "base/arena.h"
#include "base/json.h"
#include "berth/device.h"

/* Wide enough for any machine, narrow enough that no sum of them overflows: of anything that costs are made of. */
#define BERTH_GREATEST_MS    1e12
#define BERTH_GREATEST_BYTES 1e30

typedef struct berth_device_draft {
    berth_device_set set; /* what the caller sees; first, so that its address is the draft's */
    berth_arena arena;
    berth_device *devices; /* the same rows as set.devices and set.links, to be written */
    berth_link *links;
} berth_device_draft;

/* Zeroed rows for n devices, 1 to BERTH_MAX_DEVICES (else BERTH_E_LIMIT or BERTH_E_ARG), serial. */
berth_status berth_device_draft_new(berth_ctx *ctx, berth_device_draft **out, int32_t n, const char *source);
/* The first device of kind "cpu", else the first. */
int32_t berth_device_draft_host(const berth_device_draft *draft);
/* Fill pairs without a link (`has` false) with both legs through the host, which must be there. */
void berth_device_draft_route(berth_device_draft *draft, const bool *has);
berth_link berth_link_join(berth_link first, berth_link second);

/* Devices from a parsed document (docs/formats.md, devices.json): a file of their own, or the `devices` member of a
 * plan. `name` is the file's, for messages. */
berth_status berth_device_set_parse(berth_ctx *ctx, berth_device_set **out, const char *name, const berth_json *root);

#endif
