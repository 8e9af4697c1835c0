/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/export.h: a plan for others: the annotated model that stock ONNX Runtime loads with the placement in it, a map
 * from operations to devices, a drawing. docs/formats.md describes the files.
 */
#ifndef BERTH_EXPORT_H
#define BERTH_EXPORT_H

#include "berth/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which execution provider of ONNX Runtime stands for a device: its name ("CUDAExecutionProvider") or that of a device
 *  which runtimes find ("cuda"). */
typedef struct berth_provider_rule {
    const char *device, *provider;
} berth_provider_rule;

typedef struct berth_export_options {
    const berth_provider_rule *providers; /* beside the built-in ones (docs/formats.md) */
    int32_t n_providers;
    bool force; /* also a plan for another model; also replace the model itself and external data that differ */
} berth_export_options;

/** The formats by number, from 0; NULL behind the last. */
BERTH_API const char *berth_export_format_name(int32_t format);
BERTH_API const char *berth_export_format_summary(int32_t format);
/** The number of a name; -1 if there is no such format. */
BERTH_API int32_t berth_export_format_find(const char *name);
/** True if it writes several files, so that standard output will not do. */
BERTH_API bool berth_export_format_needs_file(int32_t format);

/** A model and a plan that fits it, open for exports. */
typedef struct berth_export berth_export;

/**
 * Read the model and fit the plan to it.
 * @param plan     borrowed, as are `model` and `options` (NULL: none) and what they point to, until it is freed
 * @param model    a file, or "-" for standard input
 * @return what berth_graph_read() and berth_plan_fit() return
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_export_open(berth_ctx *ctx, berth_export **out, const berth_plan *plan,
                                                          const char *model, const berth_export_options *options);
/** Before the context is. */
BERTH_API void berth_export_free(berth_export *export_);

/**
 * Write it in one of the formats. All files of it appear together or, if something fails, none.
 * @param output  a file; "-": standard output, unless the format needs a file
 * @return BERTH_OK; BERTH_E_ARG (a device without provider, a format that needs a file); BERTH_E_UNSUPPORTED (not for
 *         this kind of model); BERTH_E_INFEASIBLE (more than one accelerator in one session); BERTH_E_FORMAT (external
 *         data outside the model's folder); BERTH_E_LIMIT (more than a protobuf holds); BERTH_E_IO (errno says why);
 *         BERTH_E_CANCELLED; BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_export_write(const berth_export *export_, int32_t format,
                                                           const char *output);

#ifdef __cplusplus
}
#endif
#endif
