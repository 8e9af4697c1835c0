/* SPDX-License-Identifier: Apache-2.0 */
/* External data of an ONNX model. A table says which fields lead to tensors; a stack of cursors goes down them, so that
 * depth costs no C stack. Everything that may be a location counts, whether or not data_location says that it is used:
 * protobuf merges messages that stand twice and drops what it does not know, and a check must not depend on getting
 * that right. */
#include "read/onnx_external.h"

#include "base/map.h"
#include "base/vec.h"
#include "read/onnx_schema.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum kind { NONE, MODEL, TRAINING, FUNCTION, GRAPH, NODE, ATTRIBUTE, SPARSE, TENSOR, N_KINDS } kind;

enum { N_FIELDS = 26, WINDOWED_BYTES = 1 << 20, DEEPEST = 1300, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { TENSOR_NAME = 8, TENSOR_EXTERNAL_DATA = 13 };

/* By message and field number: the kind of message inside. */
static const unsigned char inside[N_KINDS][N_FIELDS] = {
    [MODEL] = {[7] = GRAPH, [20] = TRAINING, [25] = FUNCTION},
    [TRAINING] = {[1] = GRAPH, [2] = GRAPH},
    [FUNCTION] = {[7] = NODE, [11] = ATTRIBUTE},
    [GRAPH] = {[1] = NODE, [5] = TENSOR, [15] = SPARSE},
    [NODE] = {[5] = ATTRIBUTE},
    [ATTRIBUTE] = {[5] = TENSOR, [6] = GRAPH, [10] = TENSOR, [11] = GRAPH, [22] = SPARSE, [23] = SPARSE},
    [SPARSE] = {[1] = TENSOR, [2] = TENSOR},
};

typedef struct level {
    kind kind;
    size_t at, end;
} level;

typedef struct search {
    berth_ctx *ctx;
    berth_arena *arena;
    const berth_source *source;
    berth_wire_window *window;
    const char *path;
    char folder[PATH_MAX], real_folder[PATH_MAX]; /* real ones, of the model's name and of the model itself */
    BERTH_VEC(level) levels;
    BERTH_VEC(berth_onnx_external) files;
    BERTH_VEC(berth_onnx_stored) tensors;
    berth_map known; /* location -> index in files */
    int32_t n_missing;
} search;

static berth_status fail_at(const search *s, size_t at, const char *problem) {
    return berth_fail(s->ctx, BERTH_E_FORMAT, "%s: byte %zu: %s", s->source->name, at, problem);
}

static berth_wire open_range(const search *s, size_t at, size_t end) {
    return (berth_wire){.bytes = s->source->bytes, .at = at, .end = end, .window = s->window};
}

/* --- one location ----------------------------------------------------------------------------------------------- */

static berth_status refuse(const search *s, const berth_onnx_external *file, const char *why) {
    return berth_fail(s->ctx, BERTH_E_FORMAT, "%s: the external data of tensor '%.200s', '%.300s', %s", s->source->name,
                      file->tensor, file->location, why);
}

/* Why this text cannot be a place in the model's folder, or NULL. Both kinds of slashes part it: the model may travel.
 * Runtimes give addresses in memory a form of their own, which no file may have. */
static const char *find_fault(const char *location) {
    int depth = 0;
    if (!*location) return "has no name";
    if (strlen(location) >= PATH_MAX) return "is too long for a path";
    if (*location == '/' || *location == '\\' || (location[1] == ':' && strchr("/\\", location[2])))
        return "is an absolute path; it must lie in the model's folder";
    if (strncmp(location, "*/_ORT_", 7) == 0) return "is no file";
    while (*location) {
        size_t n = strcspn(location, "/\\");
        bool up = n == 2 && memcmp(location, "..", 2) == 0;
        depth += up ? -1 : n > 0 && !(n == 1 && *location == '.');
        if (depth < 0) return "leaves the model's folder";
        location += n + (location[n] != 0);
    }
    return NULL;
}

/* In the folder or the folder itself; both are real paths. */
static bool lies_in(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return n == 1 || (strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]));
}

/* The last folder of a path, behind symbolic links. */
static bool resolve_folder(const char *path, char real[PATH_MAX]) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) : 1;
    if (n >= PATH_MAX) return false;
    snprintf(folder, sizeof folder, "%.*s", n > 0 ? n : 1, slash ? path : ".");
    return realpath(folder, real) != NULL;
}

/* What there is of the path to a missing file: its longest beginning that exists. The folder does. */
static void resolve_part(char *path, size_t folder_size, char real[PATH_MAX]) {
    char next[PATH_MAX];
    for (char *slash = path + folder_size; slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool there = realpath(path, next) != NULL;
        *slash = '/';
        if (!there) return;
        memcpy(real, next, sizeof next);
    }
}

static berth_status find_file(search *s, berth_onnx_external *file) {
    char joined[2 * PATH_MAX], real[PATH_MAX];
    struct stat st;
    const char *fault = find_fault(file->location);
    if (fault) return refuse(s, file, fault);
    if (strcmp(s->path, "-") == 0) return refuse(s, file, "cannot be found from a model on standard input");
    snprintf(joined, sizeof joined, "%s/%s", s->folder, file->location);
    bool there = realpath(joined, real) != NULL;
    int error = there ? 0 : errno;
    if (error && error != ENOENT && error != ENOTDIR) return refuse(s, file, strerror(error));
    if (!there) resolve_part(joined, strlen(s->folder), real);
    if (!lies_in(real, s->folder) && !lies_in(real, s->real_folder))
        return refuse(s, file, "is a symbolic link out of the model's folder; put the file itself there");
    s->n_missing += !there;
    if (!there) return BERTH_OK;
    if (stat(real, &st) != 0) return refuse(s, file, strerror(errno));
    if (!S_ISREG(st.st_mode)) return refuse(s, file, "is not a regular file");
    file->path = berth_arena_string(s->arena, real, strlen(real));
    return file->path ? BERTH_OK : berth_fail_nomem(s->ctx);
}

static berth_status add_location(search *s, const char *location, size_t size, const char *tensor, int32_t *index) {
    bool fresh = false;
    int32_t *known = berth_map_insert(&s->known, location, size, (int32_t)s->files.n, &fresh);
    if (!known) return berth_fail_nomem(s->ctx);
    *index = *known;
    if (!fresh) {
        s->files.items[*known].n_tensors++;
        return BERTH_OK;
    }
    berth_onnx_external file = {location, tensor, 1, NULL};
    if (strlen(location) != size) return refuse(s, &file, "holds a NUL byte");
    BERTH_TRY(find_file(s, &file));
    if (!berth_vec_push(berth_ctx_allocator(s->ctx), &s->files, file)) return berth_fail_nomem(s->ctx);
    return BERTH_OK;
}

/* --- tensors ---------------------------------------------------------------------------------------------------- */

static const char *copy_text(search *s, const berth_wire_field *field) {
    berth_wire wire = open_range(s, field->at, field->at + field->size);
    return berth_arena_string(s->arena, berth_wire_content(&wire, field->at, field->size), field->size);
}

/* A number of bytes, or `otherwise` for what is none: who opens the file will refuse it. */
static int64_t read_amount(const char *text, int64_t otherwise) {
    int64_t value = 0;
    if (!*text) return otherwise;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *text - '0', &value))
            return otherwise;
    return *text ? otherwise : value;
}

/* An entry of external_data: of the keys and of the values the last one counts, as in every parser. */
static berth_status read_entry(search *s, const berth_wire_field *entry, berth_onnx_stored *stored) {
    berth_wire_field key = {0}, value = {0};
    berth_wire wire = open_range(s, entry->at, entry->at + entry->size);
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        if (f.type != BERTH_WIRE_BYTES) continue;
        if (f.number == ENTRY_KEY) key = f;
        if (f.number == ENTRY_VALUE) value = f;
    }
    if (wire.problem) return fail_at(s, wire.at, wire.problem);
    const char *word = copy_text(s, &key), *text = copy_text(s, &value);
    if (!word || !text) return berth_fail_nomem(s->ctx);
    if (strcmp(word, "location") == 0) return add_location(s, text, value.size, stored->tensor, &stored->file);
    if (strcmp(word, "offset") == 0) stored->offset = read_amount(text, 0);
    if (strcmp(word, "length") == 0) stored->length = read_amount(text, -1);
    return BERTH_OK;
}

static berth_status read_tensor(search *s, const berth_wire_field *tensor) {
    berth_wire_field name = {0};
    bool external = false;
    berth_wire wire = open_range(s, tensor->at, tensor->at + tensor->size);
    for (berth_wire_field f; berth_wire_next(&wire, &f);) {
        if (f.type == BERTH_WIRE_BYTES && f.number == TENSOR_NAME) name = f;
        external |= f.type == BERTH_WIRE_BYTES && f.number == TENSOR_EXTERNAL_DATA;
    }
    if (wire.problem) return fail_at(s, wire.at, wire.problem);
    if (!external) return BERTH_OK;
    berth_onnx_stored stored = {.tensor = copy_text(s, &name), .file = -1, .length = -1};
    if (!stored.tensor) return berth_fail_nomem(s->ctx);
    wire = open_range(s, tensor->at, tensor->at + tensor->size);
    for (berth_wire_field f; berth_wire_next(&wire, &f);)
        if (f.type == BERTH_WIRE_BYTES && f.number == TENSOR_EXTERNAL_DATA) BERTH_TRY(read_entry(s, &f, &stored));
    if (stored.file < 0 || berth_vec_push(berth_ctx_allocator(s->ctx), &s->tensors, stored)) return BERTH_OK;
    return berth_fail_nomem(s->ctx);
}

/* One field of the innermost message: pass it by, read it, or go into it. */
static berth_status step(search *s) {
    level *top = &s->levels.items[s->levels.n - 1];
    berth_wire wire = open_range(s, top->at, top->end);
    berth_wire_field field;
    if (!berth_wire_next(&wire, &field)) {
        s->levels.n--;
        return wire.problem ? fail_at(s, wire.at, wire.problem) : BERTH_OK;
    }
    top->at = wire.at;
    kind into = field.type == BERTH_WIRE_BYTES && field.number < N_FIELDS ? inside[top->kind][field.number] : NONE;
    if (into == NONE) return BERTH_OK;
    if (into == TENSOR) return read_tensor(s, &field);
    if (s->levels.n >= DEEPEST) return fail_at(s, field.where, "messages are nested too deeply");
    level inner = {into, field.at, field.at + field.size};
    return berth_vec_push(berth_ctx_allocator(s->ctx), &s->levels, inner) ? BERTH_OK : berth_fail_nomem(s->ctx);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static void copy_source(const void *source, size_t at, size_t n, void *to) {
    berth_source_copy(source, at, n, to);
}

/* The model's folder; and that of the file itself, where the model is a link (caches keep all files of a model
 * elsewhere and link to them). */
static bool find_folders(search *s) {
    char real[PATH_MAX];
    if (strcmp(s->path, "-") == 0) return true;
    return resolve_folder(s->path, s->folder) && realpath(s->path, real) && resolve_folder(real, s->real_folder);
}

static berth_status run(search *s, berth_onnx_externals *out) {
    berth_wire_window window = {.copy = copy_source, .from = s->source, .size = s->source->size};
    if (s->source->mapped && s->source->size >= WINDOWED_BYTES) s->window = &window;
    level whole = {MODEL, 0, s->source->size};
    bool pushed = berth_vec_push(berth_ctx_allocator(s->ctx), &s->levels, whole);
    berth_status status = pushed ? BERTH_OK : berth_fail_nomem(s->ctx);
    while (status == BERTH_OK && s->levels.n > 0) status = step(s);
    s->window = NULL;
    if (status != BERTH_OK) return status;
    const berth_onnx_external *files = berth_arena_copy(s->arena, s->files.items, s->files.n, sizeof *s->files.items);
    const berth_onnx_stored *tensors =
        berth_arena_copy(s->arena, s->tensors.items, s->tensors.n, sizeof *s->tensors.items);
    if (!files || !tensors) return berth_fail_nomem(s->ctx);
    *out = (berth_onnx_externals){files, (int32_t)s->files.n, s->n_missing, tensors, (int32_t)s->tensors.n};
    return BERTH_OK;
}

berth_status berth_onnx_external_find(berth_ctx *ctx, berth_arena *arena, const berth_source *source, const char *path,
                                      berth_onnx_externals *out) {
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    search s = {.ctx = ctx, .arena = arena, .source = source, .path = path};
    *out = (berth_onnx_externals){0};
    if (!find_folders(&s))
        return berth_fail(ctx, BERTH_E_IO, "%.600s: cannot find its folder: %s", path, strerror(errno));
    berth_map_init(&s.known, ctx);
    berth_status status = run(&s, out);
    berth_map_deinit(&s.known);
    berth_vec_free(allocator, &s.files);
    berth_vec_free(allocator, &s.tensors);
    berth_vec_free(allocator, &s.levels);
    return status;
}

berth_status berth_onnx_external_check(berth_ctx *ctx, const char *path, int32_t *n_missing) {
    berth_read_options options = berth_read_options_default();
    berth_onnx_externals found = {0};
    berth_source source;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_source_open(ctx, &source, path, &options);
    if (status == BERTH_OK) status = berth_onnx_external_find(ctx, &arena, &source, path, &found);
    *n_missing = found.n_missing;
    berth_source_close(ctx, &source);
    berth_arena_deinit(&arena);
    return status;
}
