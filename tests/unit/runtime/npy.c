/* SPDX-License-Identifier: Apache-2.0 */
/* What numpy writes, what we write, and what nobody should. */
#include "runtime/npy.h"

#include "support.h"

#include <stdio.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    char path[64];
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    snprintf(f.path, sizeof f.path, "/tmp/berth_npy_%d.npy", (int)getpid());
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return 0;
}

static void put(const fixture *f, const void *bytes, size_t n) {
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void what_is_written_reads_back(void **state) {
    fixture *f = *state;
    uint64_t random = 3;
    for (int i = 0; i < support_cases(200); i++) {
        static const struct {
            char kind;
            int32_t size;
        } types[] = {{'f', 2}, {'f', 4}, {'f', 8}, {'i', 1}, {'i', 8}, {'u', 2}, {'b', 1}, {'c', 8}, {'S', 5}};
        uint32_t type = support_below(&random, 9);
        char data[4096];
        berth_npy tensor = {.kind = types[type].kind, .item_size = types[type].size, .count = 1}, back;
        tensor.rank = (int32_t)support_below(&random, 5);
        for (int32_t k = 0; k < tensor.rank; k++) {
            tensor.dims[k] = support_below(&random, 4);
            tensor.count *= tensor.dims[k];
        }
        tensor.size = (size_t)tensor.count * (size_t)tensor.item_size;
        assert_true(tensor.size <= sizeof data);
        for (size_t k = 0; k < sizeof data; k++) data[k] = (char)support_random(&random);
        tensor.data = data;
        assert_int_equal(berth_npy_write(f->ctx, f->path, &tensor), BERTH_OK);
        assert_int_equal(berth_npy_read(f->ctx, &f->arena, f->path, &back), BERTH_OK);
        assert_int_equal(back.kind, tensor.kind);
        assert_int_equal(back.item_size, tensor.item_size);
        assert_int_equal(back.rank, tensor.rank);
        assert_memory_equal(back.dims, tensor.dims, (size_t)tensor.rank * sizeof *back.dims);
        assert_int_equal(back.size, tensor.size);
        if (back.size > 0) assert_memory_equal(back.data, data, back.size);
    }
}

/* Headers as numpy has written them in its versions, and others. */
static void headers(void **state) {
    fixture *f = *state;
    static const struct {
        const char *text;
        int n_data;
        const char *complaint; /* NULL: good */
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, NULL},
        {"{\"descr\": \"<i8\", \"fortran_order\": False, \"shape\": ()}", 8, NULL},
        {"{'shape': (4,), 'fortran_order': False, 'descr': '|b1'}", 4, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, "bytes"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4, "big-endian"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", 4, "C order"},
        {"{'descr': '<M8', 'fortran_order': False, 'shape': (1,), }", 8, "not known"},
        {"{'descr': '<f99', 'fortran_order': False, 'shape': (1,), }", 8, "not known"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "no element type"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", 4, "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4, "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "strange"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", 4, "cut off"},
        {"{'descr': '<f4', 'fortran_order': False}", 4, "no shape"},
        {"", 4, "no element type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[512] = "\x93NUMPY\x01";
        size_t n = strlen(cases[i].text);
        berth_npy tensor;
        bytes[7] = 0;
        bytes[8] = (char)n;
        bytes[9] = 0;
        memcpy(bytes + 10, cases[i].text, n);
        put(f, bytes, 10 + n + (size_t)cases[i].n_data);
        berth_status status = berth_npy_read(f->ctx, &f->arena, f->path, &tensor);
        assert_int_equal(status, cases[i].complaint ? BERTH_E_FORMAT : BERTH_OK);
        if (cases[i].complaint) assert_non_null(strstr(berth_ctx_message(f->ctx), cases[i].complaint));
    }
    put(f, "\x93NUMPY\x01", 7);
    berth_npy tensor;
    assert_int_equal(berth_npy_read(f->ctx, &f->arena, f->path, &tensor), BERTH_E_FORMAT);
    put(f, "\x93NUMPY\x01\x00\xff\xff", 10);
    assert_int_equal(berth_npy_read(f->ctx, &f->arena, f->path, &tensor), BERTH_E_FORMAT);
    assert_int_equal(berth_npy_read(f->ctx, &f->arena, "/nowhere", &tensor), BERTH_E_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(headers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
