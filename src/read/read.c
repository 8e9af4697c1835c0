/* SPDX-License-Identifier: Apache-2.0 */
/* From a file to a graph: find the format by its content, hand the bytes to its reader. */
#include "berth/read.h"

#include "read/readers.h"

#include <string.h>

static const struct {
    bool (*recognise)(const char *bytes, size_t size);
    berth_read_fn read;
} readers[] = {
    {berth_ir_recognise, berth_ir_read},
    {berth_msr_recognise, berth_msr_read},
    {berth_dagbench_recognise, berth_dagbench_read},
    {berth_moirai_recognise, berth_moirai_read},
    {berth_onnx_recognise, berth_onnx_read}, /* has no magic number: last */
};

berth_read_options berth_read_options_default(void) {
    return (berth_read_options){.max_depth = 200, .max_inflated = (int64_t)4 << 30, .max_expansion = 200};
}

/* Without regard to the case of letters; `lower` is in lower case. */
static bool starts_with(const char *bytes, size_t size, const char *lower) {
    size_t n = strlen(lower);
    if (size < n) return false;
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i] >= 'A' && bytes[i] <= 'Z' ? (char)(bytes[i] - 'A' + 'a') : bytes[i];
        if (c != lower[i]) return false;
    }
    return true;
}

/* Things people have under a model's name that are no model. Returns what it is, or NULL. */
static const char *name_impostor(const char *bytes, size_t size) {
    static const struct {
        const char *start, *what;
    } impostors[] = {
        {"version https://git-lfs", "a git-lfs pointer, not the model itself (fetch it with git lfs pull)"},
        {"<!doctype html", "an HTML page"},
        {"<html", "an HTML page"},
        {"pk\x03\x04", "a zip archive"},
        {"\x89png", "a PNG image"},
        {"%pdf", "a PDF document"},
        {"\x7f"
         "elf",
         "a program"},
        {"\x89hdf", "an HDF5 file"},
        {"gguf", "a GGUF model"},
    };
    if (starts_with(bytes, size, "\xef\xbb\xbf")) bytes += 3, size -= 3;
    while (size > 0 && *bytes && strchr(" \t\r\n", *bytes)) bytes++, size--;
    for (size_t i = 0; i < sizeof impostors / sizeof *impostors; i++)
        if (starts_with(bytes, size, impostors[i].start)) return impostors[i].what;
    return NULL;
}

berth_status berth_source_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                               const berth_read_options *options) {
    *out = NULL;
    if (source->size == 0) return berth_fail(ctx, BERTH_E_FORMAT, "%s: byte 0: the file is empty", source->name);
    const char *impostor = name_impostor(source->bytes, source->size);
    if (impostor) return berth_fail(ctx, BERTH_E_FORMAT, "%s: byte 0: this is %s", source->name, impostor);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i].recognise(source->bytes, source->size)) return readers[i].read(ctx, out, source, options);
    return berth_fail(ctx, BERTH_E_FORMAT,
                      "%s: byte 0: neither OpenVINO IR, ONNX nor a workload (MSR, Moirai, DAGBench)", source->name);
}

berth_status berth_graph_read(berth_ctx *ctx, berth_graph **out, const char *path, const berth_read_options *options) {
    *out = NULL;
    berth_read_options defaults = berth_read_options_default();
    if (!options) options = &defaults;
    berth_source source;
    berth_status status = berth_source_open(ctx, &source, path, options);
    if (status == BERTH_OK) status = berth_source_read(ctx, out, &source, options);
    berth_source_close(ctx, &source);
    return status;
}

berth_status berth_graph_read_memory(berth_ctx *ctx, berth_graph **out, const void *data, size_t size, const char *name,
                                     const berth_read_options *options) {
    *out = NULL;
    berth_read_options defaults = berth_read_options_default();
    if (!options) options = &defaults;
    berth_source source;
    berth_status status = berth_source_memory(ctx, &source, data, size, name, options);
    if (status == BERTH_OK) status = berth_source_read(ctx, out, &source, options);
    berth_source_close(ctx, &source);
    return status;
}
