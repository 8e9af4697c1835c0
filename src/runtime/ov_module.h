/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenVINO's C interface lacks: affinities of operations, which of them a device can run, what HETERO has made of
 * them, and the operations as they are executed. One C++ file, built as a module against the OpenVINO that was found,
 * offers it to C; the worker loads it beside that very version of the library, never beside another.
 *
 * Handles are those of the C interface. Functions return 0, or -1 with a line in `error`. Nothing is thrown. */
#ifndef BERTH_RUNTIME_OV_MODULE_H
#define BERTH_RUNTIME_OV_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BERTH_OV_MODULE_VERSION = 2, BERTH_OV_ERROR = 1000 };

/* Where an operation of the file is to run. It is found by the name of a tensor that it makes or, where that has none,
 * by its own. */
typedef struct berth_ov_mark {
    const char *name;
    const char *tensor; /* "": none */
    const char *device;
} berth_ov_mark;

/* One operation as it is executed. */
typedef struct berth_ov_node {
    const char *name, *type;
    const char *originals; /* names of operations that it was made of, separated by commas; "" if it was added */
    double ms;             /* mean; NAN: not executed */
    int32_t reader;        /* the first node that reads from it; -1: none */
} berth_ov_node;

typedef struct berth_ov_module {
    int version; /* BERTH_OV_MODULE_VERSION */
    /* Is the OpenVINO that is loaded the one that it was built against? */
    int (*check)(char error[BERTH_OV_ERROR]);
    /* Give every operation of the model a device. What is constant is folded first: shapes that are computed would
     * otherwise be open dimensions in the next piece. Operations that no mark is for (constants, inputs, outputs, parts
     * of one operation of an ONNX file) go with their readers, or with what they read from. */
    int (*place)(void *model, const berth_ov_mark *marks, size_t n, char error[BERTH_OV_ERROR]);
    /* The operations of the model that the device cannot run. */
    int (*refused)(void *core, void *model, const char *device, void (*take)(void *user, const char *name), void *user,
                   char error[BERTH_OV_ERROR]);
    /* The device of each piece of a compiled HETERO model, in the order of execution. */
    int (*pieces)(void *compiled, void (*take)(void *user, const char *device), void *user, char error[BERTH_OV_ERROR]);
    /* The operations of a compiled model, in the order of execution. */
    int (*nodes)(void *compiled, void (*take)(void *user, const berth_ov_node *node), void *user,
                 char error[BERTH_OV_ERROR]);
} berth_ov_module;

/* The one symbol of the module. */
#define BERTH_OV_MODULE_SYMBOL "berth_ov_module_get"
const berth_ov_module *berth_ov_module_get(void);

#ifdef __cplusplus
}
#endif
#endif
