/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up weights: every file is there and as long as the model says, and what is in it is fit for its use. */
#include "runtime/weights.h"

#include "proto.h"
#include "read/onnx_external.h"
#include "runtime/scratch.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    const char *folder; /* with the model in it, or none */
    const char *made;   /* a folder in it, for weights */
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    assert_int_equal(berth_scratch_make(f.ctx, &f.arena, &f.folder), BERTH_OK);
    f.made = berth_arena_printf(&f.arena, "%s/made", f.folder);
    assert_int_equal(mkdir(f.made, 0700), 0);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_scratch_remove(f->folder);
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return 0;
}

static const char *in(fixture *f, const char *folder, const char *name) {
    const char *path = berth_arena_printf(&f->arena, "%s/%s", folder, name);
    assert_non_null(path);
    return path;
}

static int64_t size_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

/* --- the bundled models ----------------------------------------------------------------------------------------- */

static int32_t find_tensor(const berth_graph *graph, const char *name) {
    for (int32_t i = 0; i < berth_graph_tensor_count(graph); i++)
        if (strcmp(berth_graph_tensor(graph, i)->name, name) == 0) return i;
    return -1;
}

/* Scales and variances of normalisations, be it through an Identity: they are near one. */
static bool is_near_one(const berth_graph *graph, int32_t tensor) {
    for (int32_t i = 0; i < berth_graph_op_count(graph); i++) {
        const berth_op *op = berth_graph_op(graph, i);
        for (int32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != tensor) continue;
            if (strcmp(op->type, "BatchNormalization") == 0 && (k == 1 || k == 4)) return true;
            if (strcmp(op->type, "Identity") == 0 && is_near_one(graph, op->outputs[0])) return true;
        }
    }
    return false;
}

/* All numbers of one tensor: finite, not all alike, and none larger than what training gives. */
static void check_tensor(FILE *file, const berth_graph *graph, const berth_onnx_stored *stored) {
    int32_t tensor = find_tensor(graph, stored->tensor);
    assert_true(tensor >= 0);
    const berth_tensor *t = berth_graph_tensor(graph, tensor);
    assert_int_equal(t->bytes, stored->length);
    assert_int_equal(t->type, BERTH_TYPE_F32);
    bool near_one = is_near_one(graph, tensor);
    double sum = 0, squares = 0, n = (double)(stored->length / 4);
    assert_int_equal(fseeko(file, stored->offset, SEEK_SET), 0);
    for (int64_t left = stored->length / 4; left > 0;) {
        float values[4096];
        size_t got = fread(values, sizeof *values, left < 4096 ? (size_t)left : 4096, file);
        assert_true(got > 0);
        left -= (int64_t)got;
        for (size_t i = 0; i < got; i++) {
            double value = (double)values[i];
            if (!isfinite(value) || fabs(value) > 10 || (near_one && value < 0.5)) fail_msg("%s: %g", t->name, value);
            sum += value;
            squares += value * value;
        }
    }
    double middle = sum / n, deviation = sqrt(squares / n - middle * middle), fan_in = 1;
    for (int32_t i = 1; i < t->shape.rank; i++) fan_in *= (double)t->shape.dims[i].min;
    assert_true(deviation > 1e-4);
    assert_true(fabs(middle - 1) < 0.1 || (fabs(middle) < 0.2 && !near_one)); /* others may be scales as well */
    if (t->shape.rank == 4 && fabs(deviation / sqrt(2 / fan_in) - 1) > 0.25)
        fail_msg("%s deviates by %g, of which %g was wanted", t->name, deviation, sqrt(2 / fan_in));
}

static void check_model(fixture *f, const char *name) {
    berth_read_options options = berth_read_options_default();
    berth_source source;
    berth_onnx_externals found;
    int32_t n_made = 0;
    int64_t end = 0;
    const char *path = support_source(name), *weights = in(f, f->made, "weights.bin");
    berth_graph *graph = support_read(f->ctx, path);
    assert_int_equal(berth_weights_make(f->ctx, graph, path, f->made, 7, &n_made), BERTH_OK);
    assert_int_equal(n_made, 1);
    assert_int_equal(berth_source_open(f->ctx, &source, path, &options), BERTH_OK);
    assert_int_equal(berth_onnx_external_find(f->ctx, &f->arena, &source, path, &found), BERTH_OK);
    FILE *file = fopen(weights, "rb");
    assert_non_null(file);
    for (int32_t i = 0; i < found.n_tensors; i++) {
        int64_t last = found.tensors[i].offset + found.tensors[i].length;
        end = last > end ? last : end;
        check_tensor(file, graph, &found.tensors[i]);
    }
    fclose(file);
    assert_int_equal(size_of(weights), end);
    assert_int_equal(unlink(weights), 0);
    berth_source_close(f->ctx, &source);
    berth_graph_free(graph);
}

/* More than a gigabyte for all seven: builds that check themselves do the small ones. */
static void bundled_models(void **state) {
    static const char *const models[] = {
        "models/mobilenet_v3_large.onnx", "models/densenet121.onnx", "models/googlenet.onnx", "models/resnet50.onnx",
        "models/inception_v3.onnx",       "models/vit_base.onnx",    "models/bert_base.onnx"};
    int n = support_is_slow() ? 1 : support_is_optimised() ? 7 : 3;
    for (int i = 0; i < n; i++) check_model(*state, models[i]);
}

/* --- models of our own ------------------------------------------------------------------------------------------ */

static void put_entry(proto *tensor, const char *key, const char *value) {
    proto entry = {0};
    proto_text(&entry, 1, key);
    proto_text(&entry, 2, value);
    proto_message(tensor, 13, entry);
}

typedef struct external {
    const char *name;
    int type; /* as in ONNX files */
    int64_t n;
    const char *location, *offset, *length; /* NULL: not given */
} external;

/* An Add for every tensor, of its own type, so that every one has a reader. */
static const char *write_model(fixture *f, const external *tensors, int n) {
    const char *path = in(f, f->folder, "model.onnx");
    proto graph = {0};
    for (int i = 0; i < n; i++) {
        char x[32], y[32], dims[32], inputs[64];
        proto tensor = onnx_tensor(tensors[i].name, tensors[i].type, tensors[i].n);
        proto_int(&tensor, 14, 1);
        put_entry(&tensor, "location", tensors[i].location);
        if (tensors[i].offset) put_entry(&tensor, "offset", tensors[i].offset);
        if (tensors[i].length) put_entry(&tensor, "length", tensors[i].length);
        snprintf(x, sizeof x, "x%d", i);
        snprintf(y, sizeof y, "y%d", i);
        snprintf(dims, sizeof dims, "%lld", (long long)tensors[i].n);
        snprintf(inputs, sizeof inputs, "%s,%s", x, tensors[i].name);
        proto_message(&graph, 1, onnx_node("Add", inputs, y));
        proto_message(&graph, 5, tensor);
        proto_message(&graph, 11, onnx_value(x, tensors[i].type, dims));
        proto_message(&graph, 12, onnx_value(y, tensors[i].type, dims));
    }
    proto model = onnx_model(graph);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(model.bytes, 1, model.n, file), model.n);
    assert_int_equal(fclose(file), 0);
    proto_free(&model);
    return path;
}

static berth_status make(fixture *f, const external *tensors, int n, uint64_t seed, int32_t *n_made) {
    const char *path = write_model(f, tensors, n);
    berth_graph *graph = support_read(f->ctx, path);
    berth_status status = berth_weights_make(f->ctx, graph, path, f->made, seed, n_made);
    berth_graph_free(graph);
    return status;
}

static void expect_made(fixture *f, const external *tensors, int n, int32_t wanted) {
    int32_t n_made = -1;
    if (make(f, tensors, n, 1, &n_made) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
    assert_int_equal(n_made, wanted);
}

static const char *bytes_of(fixture *f, const char *path, size_t n) {
    char *bytes = berth_arena_push(&f->arena, n, 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, n, file), n);
    fclose(file);
    return bytes;
}

/* In any order, with gaps, overlapping, empty, without length, in folders. */
static void layouts(void **state) {
    fixture *f = *state;
    const external tensors[] = {
        {"late", 1, 4, "w.bin", "4096", "16"},    {"empty", 1, 0, "w.bin", "0", "0"},
        {"first", 1, 8, "w.bin", "0", "32"},      {"over", 1, 8, "w.bin", "16", "32"},
        {"whole", 1, 6, "sub/v.bin", NULL, NULL},
    };
    expect_made(f, tensors, 5, 2);
    assert_int_equal(size_of(in(f, f->made, "w.bin")), 4112);
    assert_int_equal(size_of(in(f, f->made, "sub/v.bin")), 24);
    const char *bytes = bytes_of(f, in(f, f->made, "w.bin"), 4112);
    float first, late;
    memcpy(&first, bytes, 4);
    memcpy(&late, bytes + 4096, 4);
    assert_true(first != 0 && late != 0 && bytes[48] == 0 && bytes[4095] == 0);
}

/* Every element type gets as many bytes as it has, and integers that may select are 0. */
static void element_types(void **state) {
    fixture *f = *state;
    static const struct {
        int type;
        size_t bytes;
        bool is_zero;
    } types[] = {{1, 4, false}, {2, 1, false},  {3, 1, false},  {5, 2, true},   {6, 4, true},  {7, 8, true},
                 {9, 1, true},  {10, 2, false}, {11, 8, false}, {16, 2, false}, {13, 8, true}, {12, 4, true}};
    enum { COUNT = 1000 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const external tensor = {"w", types[i].type, COUNT, "w.bin", NULL, NULL};
        size_t size = COUNT * types[i].bytes, n_zero = 0;
        expect_made(f, &tensor, 1, 1);
        assert_int_equal(size_of(in(f, f->made, "w.bin")), size);
        const char *bytes = bytes_of(f, in(f, f->made, "w.bin"), size);
        for (size_t k = 0; k < size; k++) n_zero += bytes[k] == 0;
        if (types[i].is_zero != (n_zero == size)) fail_msg("type %d: %zu of %zu are 0", types[i].type, n_zero, size);
        for (size_t k = 0; k < COUNT; k++) { /* no infinities and nothing that is not a number */
            uint16_t half;
            memcpy(&half, bytes + k * types[i].bytes, types[i].bytes > 1 ? 2 : 1);
            if (types[i].type == 10) assert_true((half >> 10 & 31) < 31);
            if (types[i].type == 16) assert_true((half >> 7 & 255) < 255);
        }
    }
}

static void same_seed_same_weights(void **state) {
    fixture *f = *state;
    const external tensor = {"w", 1, 100000, "w.bin", NULL, NULL};
    const char *path = in(f, f->made, "w.bin"), *bytes[3];
    for (int i = 0; i < 3; i++) {
        int32_t n_made = 0;
        assert_int_equal(make(f, &tensor, 1, i < 2 ? 5 : 6, &n_made), BERTH_OK);
        bytes[i] = bytes_of(f, path, 400000);
    }
    assert_memory_equal(bytes[0], bytes[1], 400000);
    assert_memory_not_equal(bytes[0], bytes[2], 400000);
}

/* Files that are there are the user's: linked to, not made, and never written through. */
static void existing_files_are_linked(void **state) {
    fixture *f = *state;
    const external tensors[] = {{"w", 1, 2, "there.bin", NULL, NULL}, {"v", 1, 2, "missing.bin", NULL, NULL}};
    FILE *file = fopen(in(f, f->folder, "there.bin"), "wb");
    assert_non_null(file);
    assert_true(fputs("our bytes", file) >= 0);
    fclose(file);
    expect_made(f, tensors, 2, 1);
    assert_memory_equal(bytes_of(f, in(f, f->made, "there.bin"), 9), "our bytes", 9);
    assert_int_equal(size_of(in(f, f->made, "missing.bin")), 8);
    expect_made(f, tensors, 2, 1); /* once more over what is there */
    assert_memory_equal(bytes_of(f, in(f, f->folder, "there.bin"), 9), "our bytes", 9);
    assert_int_equal(size_of(in(f, f->folder, "missing.bin")), -1);
}

static void hostile_places(void **state) {
    fixture *f = *state;
    static const char *const locations[] = {"../w.bin", "/tmp/berth-hostile.bin", "sub/../../w.bin", "out/w.bin", ""};
    int32_t n_made = 0;
    assert_int_equal(symlink("/", in(f, f->folder, "out")), 0);
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        const external tensor = {"w", 1, 2, locations[i], NULL, NULL};
        if (make(f, &tensor, 1, 1, &n_made) != BERTH_E_FORMAT) fail_msg("'%s' was taken", locations[i]);
        assert_int_equal(n_made, 0);
    }
    assert_int_equal(size_of("/tmp/berth-hostile.bin"), -1);
    assert_int_equal(size_of(in(f, f->folder, "w.bin")), -1);
    /* no disk is filled with zeros for a tensor of eight bytes */
    static const char *const offsets[] = {"1099511627776", "9223372036854775807", "68719476736"};
    for (size_t i = 0; i < 3; i++) {
        const external tensor = {"w", 1, 2, "far.bin", offsets[i], "8"};
        assert_int_equal(make(f, &tensor, 1, 1, &n_made), BERTH_E_LIMIT);
        assert_non_null(strstr(berth_ctx_message(f->ctx), "'w'"));
        assert_int_equal(size_of(in(f, f->made, "far.bin")), -1);
    }
    const external odd[] = {{"a", 1, 2, "odd.bin", "-5", "-1"}, {"b", 1, 2, "odd.bin", "x", "7"}};
    assert_int_equal(make(f, odd, 2, 1, &n_made), BERTH_OK);
    assert_int_equal(size_of(in(f, f->made, "odd.bin")), 8);
}

typedef struct once {
    const berth_graph *graph;
    const char *path, *folder;
} once;

static berth_status make_once(berth_ctx *ctx, void *user) {
    const once *o = user;
    int32_t n_made = 0;
    return berth_weights_make(ctx, o->graph, o->path, o->folder, 1, &n_made);
}

static void survives_failing_allocations(void **state) {
    fixture *f = *state;
    const external tensors[] = {{"w", 1, 2, "a.bin", NULL, NULL}, {"v", 1, 2, "b.bin", NULL, NULL}};
    const char *path = write_model(f, tensors, 2);
    berth_graph *graph = support_read(f->ctx, path);
    once o = {graph, path, f->made};
    assert_true(support_ladder(make_once, &o, 1) > 2);
    berth_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundled_models),
        cmocka_unit_test(layouts),
        cmocka_unit_test(element_types),
        cmocka_unit_test(same_seed_same_weights),
        cmocka_unit_test(existing_files_are_linked),
        cmocka_unit_test(hostile_places),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
