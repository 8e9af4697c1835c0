/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in profiles: a device each, or a whole testbed. */
#ifndef BERTH_DEVICE_PROFILES_H
#define BERTH_DEVICE_PROFILES_H

#include "berth/device.h"

typedef struct berth_profile {
    const char *name, *summary;
    int32_t n_devices; /* 1; more: a whole testbed, which stands alone */
    berth_device devices[2];
    berth_link link; /* between the device and the host's memory, each way; in a testbed, between its devices */
    double piece_ms; /* of a testbed */
} berth_profile;

/* The profile of that name (`size` bytes), or NULL. */
const berth_profile *berth_profile_find(const char *name, size_t size);

#endif
