/* SPDX-License-Identifier: Apache-2.0 */
/* External data: which locations count, wherever they stand, and which are refused. */
#include "support.h"

#include "proto.h"
#include "read/onnx_external.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static berth_ctx *ctx;

static const char *in_root(const char *name) {
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void make_file(const char *name) {
    FILE *file = fopen(in_root(name), "wb");
    assert_non_null(file);
    assert_true(fputs("weights", file) >= 0);
    fclose(file);
}

static void make_link(const char *name, const char *to) {
    assert_int_equal(symlink(to, in_root(name)), 0);
}

/* root/model is the model's folder, with files and links in and out of it; root/outside is not. */
static int set_up(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/berth-external-XXXXXX");
    assert_non_null(mkdtemp(root));
    static const char *const folders[] = {"model", "model/sub", "outside", "cache", "snapshot"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) assert_int_equal(mkdir(in_root(folders[i]), 0700), 0);
    make_file("model/w.bin");
    make_file("model/sub/v.bin");
    make_file("outside/w.bin");
    make_file("cache/blob");
    make_link("model/out.bin", "../outside/w.bin");
    make_link("model/away", "../outside");
    make_link("model/in.bin", "sub/v.bin");
    make_link("model/nothing.bin", "../outside/nothing");
    make_link("model/round", "round");
    assert_int_equal(mkfifo(in_root("model/pipe"), 0600), 0);
    return berth_ctx_new(&ctx, NULL) == BERTH_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    berth_ctx_free(ctx);
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static proto external_tensor(const char *name, const char *location) {
    static const char *const other[] = {"offset", "0", "length", "4"};
    proto tensor = onnx_tensor(name, 1, 1), entry = {0};
    proto_int(&tensor, 14, 1);
    proto_text(&entry, 1, "location");
    proto_text(&entry, 2, location);
    proto_message(&tensor, 13, entry);
    for (int i = 0; i < 4; i += 2) {
        proto more = {0};
        proto_text(&more, 1, other[i]);
        proto_text(&more, 2, other[i + 1]);
        proto_message(&tensor, 13, more);
    }
    return tensor;
}

static proto model_with(const char *location) {
    proto graph = {0};
    proto_message(&graph, 5, external_tensor("weight", location));
    return onnx_model(graph);
}

static berth_status find(const proto *model, berth_arena *arena, const char *path, berth_onnx_externals *found) {
    berth_source source = {.name = "model.onnx", .bytes = model->bytes, .size = model->n};
    return berth_onnx_external_find(ctx, arena, &source, path, found);
}

static void write_model(const proto *model, const char *path) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(model->bytes, 1, model->n, file), model->n);
    fclose(file);
}

static void where_it_may_lie(void **state) {
    (void)state;
    static const struct {
        const char *location;
        berth_status status;
        const char *message; /* part of it; of one that is allowed, the file's name, or NULL: missing */
    } cases[] = {
        {"w.bin", BERTH_OK, "/model/w.bin"},
        {"./w.bin", BERTH_OK, "/model/w.bin"},
        {"sub/v.bin", BERTH_OK, "/model/sub/v.bin"},
        {"sub/../w.bin", BERTH_OK, "/model/w.bin"},
        {"sub//v.bin", BERTH_OK, "/model/sub/v.bin"},
        {"in.bin", BERTH_OK, "/model/sub/v.bin"},
        {"missing.bin", BERTH_OK, NULL},
        {"no/such/folder.bin", BERTH_OK, NULL},
        {"nothing.bin", BERTH_OK, NULL},
        {"w.bin/x", BERTH_OK, NULL},
        {"..w.bin", BERTH_OK, NULL},
        {"../outside/w.bin", BERTH_E_FORMAT, "leaves the model's folder"},
        {"../model/w.bin", BERTH_E_FORMAT, "leaves the model's folder"},
        {"sub/../../outside/w.bin", BERTH_E_FORMAT, "leaves the model's folder"},
        {"sub/./../..", BERTH_E_FORMAT, "leaves the model's folder"},
        {"..", BERTH_E_FORMAT, "leaves the model's folder"},
        {"..\\outside\\w.bin", BERTH_E_FORMAT, "leaves the model's folder"},
        {"sub\\..\\..\\x", BERTH_E_FORMAT, "leaves the model's folder"},
        {"/etc/passwd", BERTH_E_FORMAT, "absolute"},
        {"\\\\server\\share", BERTH_E_FORMAT, "absolute"},
        {"C:\\w.bin", BERTH_E_FORMAT, "absolute"},
        {"out.bin", BERTH_E_FORMAT, "symbolic link out of"},
        {"away/w.bin", BERTH_E_FORMAT, "symbolic link out of"},
        {"away/none.bin", BERTH_E_FORMAT, "symbolic link out of"},
        {"away/no/such.bin", BERTH_E_FORMAT, "symbolic link out of"},
        {"round", BERTH_E_FORMAT, "levels of symbolic links"},
        {"pipe", BERTH_E_FORMAT, "not a regular file"},
        {"sub", BERTH_E_FORMAT, "not a regular file"},
        {".", BERTH_E_FORMAT, "not a regular file"},
        {"", BERTH_E_FORMAT, "has no name"},
        {"*/_ORT_MEM_ADDR_/*", BERTH_E_FORMAT, "is no file"},
    };
    make_file("model/model.onnx"); /* only its name counts */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_arena arena;
        berth_onnx_externals found;
        proto model = model_with(cases[i].location);
        berth_arena_init(&arena, berth_ctx_allocator(ctx));
        berth_status status = find(&model, &arena, in_root("model/model.onnx"), &found);
        if (status != cases[i].status) fail_msg("%s: %d, %s", cases[i].location, (int)status, berth_ctx_message(ctx));
        if (status == BERTH_OK) {
            assert_int_equal(found.n, 1);
            assert_string_equal(found.files[0].location, cases[i].location);
            assert_string_equal(found.files[0].tensor, "weight");
            assert_int_equal(found.n_missing, cases[i].message == NULL);
            assert_int_equal(found.files[0].path == NULL, cases[i].message == NULL);
            if (cases[i].message) assert_non_null(strstr(found.files[0].path, cases[i].message));
        } else {
            assert_non_null(strstr(berth_ctx_message(ctx), cases[i].message));
            assert_non_null(strstr(berth_ctx_message(ctx), "'weight'"));
            assert_null(strchr(berth_ctx_message(ctx), '\n'));
        }
        berth_arena_deinit(&arena);
        proto_free(&model);
    }
}

/* Caches keep files under other names elsewhere, and models are links to them. */
static void a_model_that_is_a_link(void **state) {
    (void)state;
    berth_arena arena;
    berth_onnx_externals found;
    proto model = model_with("w.bin"), other = model_with("x.bin");
    write_model(&model, in_root("cache/abc"));
    make_link("snapshot/model.onnx", "../cache/abc");
    make_link("snapshot/w.bin", "../cache/blob");
    make_link("snapshot/x.bin", "../outside/w.bin");
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(find(&model, &arena, in_root("snapshot/model.onnx"), &found), BERTH_OK);
    assert_non_null(strstr(found.files[0].path, "/cache/blob"));
    assert_int_equal(find(&other, &arena, in_root("snapshot/model.onnx"), &found), BERTH_E_FORMAT);
    assert_int_equal(find(&other, &arena, "-", &found), BERTH_E_FORMAT);
    int32_t n_missing = -1;
    assert_int_equal(berth_onnx_external_check(ctx, in_root("snapshot/model.onnx"), &n_missing), BERTH_OK);
    assert_int_equal(n_missing, 0);
    assert_int_equal(berth_onnx_external_check(ctx, in_root("snapshot/none"), &n_missing), BERTH_E_IO);
    write_model(&other, in_root("cache/abc"));
    assert_int_equal(berth_onnx_external_check(ctx, in_root("snapshot/model.onnx"), &n_missing), BERTH_E_FORMAT);
    berth_arena_deinit(&arena);
    proto_free(&model);
    proto_free(&other);
}

/* --- every place ------------------------------------------------------------------------------------------------ */

static proto wrap(uint32_t number, proto inner) {
    proto outer = {0};
    proto_message(&outer, number, inner);
    return outer;
}

/* The path of field numbers from the model down to a tensor. */
static proto wrap_all(const char *numbers, proto tensor) {
    uint32_t path[32];
    int n = 0;
    for (; *numbers; numbers += strcspn(numbers, " "), numbers += strspn(numbers, " "))
        path[n++] = (uint32_t)strtoul(numbers, NULL, 10);
    while (n > 0) tensor = wrap(path[--n], tensor);
    return tensor;
}

static void every_place_counts(void **state) {
    (void)state;
    static const char *const places[] = {
        "7 5",                   /* an initializer */
        "7 15 1",                /* values and indices of a sparse one */
        "7 15 2",     "7 1 5 5", /* attributes */
        "7 1 5 10",   "7 1 5 22 1",
        "7 1 5 23 2", "7 1 5 6 5", /* nested graphs */
        "7 1 5 11 5", "7 1 5 6 1 5 6 1 5 5",
        "25 7 5 5", /* functions */
        "25 11 5",    "25 7 5 6 5",
        "20 1 5",     "20 2 1 5 5", /* training */
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        berth_arena arena;
        berth_onnx_externals found;
        proto model = wrap_all(places[i], external_tensor("t", "../x"));
        berth_arena_init(&arena, berth_ctx_allocator(ctx));
        if (find(&model, &arena, in_root("model/model.onnx"), &found) != BERTH_E_FORMAT) fail_msg("%s", places[i]);
        berth_arena_deinit(&arena);
        proto_free(&model);
    }
}

/* Ways to hide a location: protobuf merges, and takes the last of everything. */
static void no_way_around(void **state) {
    (void)state;
    berth_arena arena;
    berth_onnx_externals found;
    proto entry = {0}, tensor = {0}, attribute = {0}, first = {0};
    proto_text(&entry, 2, "w.bin");
    proto_text(&entry, 1, "something");
    proto_text(&entry, 2, "/etc/passwd");
    proto_text(&entry, 1, "location");
    proto_message(&tensor, 13, entry);
    proto_int(&first, 14, 1); /* the other half of the same tensor */
    proto_message(&attribute, 5, first);
    proto_message(&attribute, 5, tensor);
    proto model = wrap_all("7 1 5", attribute);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(find(&model, &arena, in_root("model/model.onnx"), &found), BERTH_E_FORMAT);
    berth_arena_deinit(&arena);
    proto_free(&model);
}

static void each_file_once(void **state) {
    (void)state;
    berth_arena arena;
    berth_onnx_externals found;
    proto graph = {0};
    static const char *const names[] = {"w.bin", "sub/v.bin", "w.bin", "none", "w.bin"};
    for (int i = 0; i < 5; i++) proto_message(&graph, 5, external_tensor(names[i], names[i]));
    proto model = onnx_model(graph);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(find(&model, &arena, in_root("model/model.onnx"), &found), BERTH_OK);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.n_missing, 1);
    assert_int_equal(found.files[0].n_tensors, 3);
    assert_string_equal(found.files[1].location, "sub/v.bin");
    berth_arena_deinit(&arena);
    proto_free(&model);
}

static void damaged_and_deep(void **state) {
    (void)state;
    berth_arena arena;
    berth_onnx_externals found;
    proto deep = external_tensor("t", "w.bin");
    for (int i = 0; i < 1000; i++) deep = wrap_all("1 5 6", i ? deep : wrap(5, deep));
    proto model = wrap(7, deep), whole = model_with("w.bin");
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(find(&model, &arena, in_root("model/model.onnx"), &found), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(ctx), "nested too deeply"));
    for (size_t n = 0; n <= whole.n; n++) {
        char *exact = malloc(n ? n : 1);
        memcpy(exact, whole.bytes, n);
        proto cut = {.bytes = exact, .n = n};
        berth_status status = find(&cut, &arena, in_root("model/model.onnx"), &found);
        assert_true(status == BERTH_OK || status == BERTH_E_FORMAT);
        free(exact);
    }
    berth_arena_deinit(&arena);
    proto_free(&whole);
    proto_free(&model);
}

static berth_status run_check(berth_ctx *other, void *user) {
    int32_t n_missing = 0;
    return berth_onnx_external_check(other, user, &n_missing);
}

static void no_memory(void **state) {
    (void)state;
    char path[128];
    proto model = model_with("w.bin");
    snprintf(path, sizeof path, "%s", in_root("model/ladder.onnx"));
    write_model(&model, path);
    assert_true(support_ladder(run_check, path, 1) > 3);
    proto_free(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_it_may_lie),   cmocka_unit_test(a_model_that_is_a_link),
        cmocka_unit_test(every_place_counts), cmocka_unit_test(no_way_around),
        cmocka_unit_test(each_file_once),     cmocka_unit_test(damaged_and_deep),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("read.onnx_external", tests, set_up, tear_down);
}
