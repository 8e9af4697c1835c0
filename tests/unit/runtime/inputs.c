/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the bundled models: right type and shape, within range, the same for the same seed. */
#include "runtime/inputs.h"

#include "folder.h"
#include "runtime/npy.h"

#include <math.h>

static void make(foldered *f, const berth_graph *graph, uint64_t seed, const berth_job_file **files, int32_t *n) {
    assert_int_equal(berth_inputs_make(f->ctx, &f->arena, graph, f->folder, NULL, 0, seed, files, n), BERTH_OK);
}

static void images(void **state) {
    foldered *f = *state;
    berth_graph *graph = support_read(f->ctx, support_source("models/googlenet.onnx"));
    const berth_job_file *files;
    int32_t n = 0;
    berth_npy first, second;
    make(f, graph, 1, &files, &n);
    assert_int_equal(n, 1);
    assert_int_equal(berth_npy_read(f->ctx, &f->arena, files[0].file, &first), BERTH_OK);
    assert_true(first.kind == 'f' && first.item_size == 4 && first.rank == 4 && first.dims[3] == 224);
    const float *x = first.data;
    double sum = 0;
    for (int64_t i = 0; i < first.count; i++) {
        assert_true(x[i] >= -1 && x[i] < 1);
        sum += (double)x[i];
    }
    assert_true(fabs(sum / (double)first.count) < 0.01);
    make(f, graph, 1, &files, &n);
    assert_int_equal(berth_npy_read(f->ctx, &f->arena, files[0].file, &second), BERTH_OK);
    assert_memory_equal(first.data, second.data, first.size);
    make(f, graph, 2, &files, &n);
    assert_int_equal(berth_npy_read(f->ctx, &f->arena, files[0].file, &second), BERTH_OK);
    assert_memory_not_equal(first.data, second.data, first.size);
    berth_graph_free(graph);
}

/* Words of a language model select rows of a table. */
static void words(void **state) {
    foldered *f = *state;
    berth_graph *graph = support_read(f->ctx, support_source("models/bert_base.onnx"));
    const berth_job_file *files;
    int32_t n = 0;
    int64_t largest = 0;
    make(f, graph, 1, &files, &n);
    assert_int_equal(n, 2);
    for (int32_t i = 0; i < n; i++) {
        berth_npy tensor;
        assert_int_equal(berth_npy_read(f->ctx, &f->arena, files[i].file, &tensor), BERTH_OK);
        const int64_t *x = tensor.data;
        assert_true(tensor.kind == 'i' && tensor.item_size == 8 && tensor.count == 128);
        for (int64_t k = 0; k < tensor.count; k++) {
            assert_true(x[k] >= 0 && x[k] < 30522);
            if (strstr(files[i].name, "mask")) assert_true(x[k] < 2);
            if (x[k] > largest) largest = x[k];
        }
    }
    assert_true(largest > 10000);
    berth_graph_free(graph);
}

static void files_of_the_user(void **state) {
    foldered *f = *state;
    berth_graph *graph = support_read(f->ctx, support_source("models/bert_base.onnx"));
    const berth_job_file *files, *made;
    int32_t n = 0;
    make(f, graph, 1, &made, &n);
    berth_input_file given = {made[0].name, made[0].file};
    assert_int_equal(berth_inputs_make(f->ctx, &f->arena, graph, f->folder, &given, 1, 1, &files, &n), BERTH_OK);
    assert_string_equal(files[0].file, given.file);
    given.name = "nothing";
    assert_int_equal(berth_inputs_make(f->ctx, &f->arena, graph, f->folder, &given, 1, 1, &files, &n), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "'nothing'"));
    berth_graph *other = support_read(f->ctx, support_source("models/googlenet.onnx"));
    int32_t n_inputs = 0;
    given.name = berth_graph_tensor(other, berth_graph_inputs(other, &n_inputs)[0])->name;
    assert_int_equal(berth_inputs_make(f->ctx, &f->arena, other, f->folder, &given, 1, 1, &files, &n), BERTH_E_ARG);
    berth_graph_free(other);
    berth_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images),
        cmocka_unit_test(words),
        cmocka_unit_test(files_of_the_user),
    };
    return cmocka_run_group_tests(tests, folder_open, folder_close);
}
