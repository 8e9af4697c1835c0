/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: which providers a plan needs, what is refused, and that all files of an export appear together. What is in
 * an annotated model is tests/oracle/export.py's business. */
#include "plans.h"

#include "berth/export.h"

#include <errno.h>
#include <sys/stat.h>

static char root[64];

static int make_folder(void **state) {
    snprintf(root, sizeof root, "/tmp/berth-export-XXXXXX");
    assert_non_null(mkdtemp(root));
    return support_open(state);
}

static int remove_folder(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    return support_close(state);
}

static const char *in_root(const char *name) {
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

/* The content; free it. NULL if it is not there. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *bytes = calloc(1, 1 << 22);
    *size = fread(bytes, 1, (1 << 22) - 1, file);
    fclose(file);
    return bytes;
}

/* A plan whose operations go to the devices in turn. */
static made make_round(berth_ctx *ctx, const char *model, const char *devices, int32_t n_used) {
    made m = make_plan(ctx, model, devices, some_options("single"));
    for (int32_t op = 0; op < m.plan->n_ops; op++) ((berth_plan_op *)m.plan->ops)[op].device = op % n_used;
    return m;
}

static berth_status export_to(berth_ctx *ctx, const made *m, const char *model, const char *format, const char *output,
                              const berth_export_options *how) {
    berth_export *open = NULL;
    berth_status status = berth_export_open(ctx, &open, m->plan, model, how);
    if (status == BERTH_OK) status = berth_export_write(open, berth_export_format_find(format), output);
    berth_export_free(open);
    return status;
}

static void providers(void **state) {
    static const struct {
        const char *devices;
        int32_t n_used;
        berth_provider_rule rules[2];
        berth_status status;
        const char *expected; /* the setting, or part of the message */
    } cases[] = {
        {"cpu,gpu", 1, {{0}}, BERTH_OK, "\"CPUExecutionProvider(=c)\""},
        {"cpu,gpu", 2, {{0}}, BERTH_OK, "\"CUDAExecutionProvider(=g);CPUExecutionProvider(=c)\""},
        {"gpu,cpu", 1, {{0}}, BERTH_OK, "\"CUDAExecutionProvider(=g);CPUExecutionProvider(=c)\""},
        {"cpu,igpu", 2, {{0}}, BERTH_OK, "\"WebGpuExecutionProvider(=g);CPUExecutionProvider(=c)\""},
        {"cpu,npu",
         2,
         {{0}},
         BERTH_OK,
         "{\"name\": \"OpenVINOExecutionProvider\", \"options\": {\"device_type\": \"NPU\"}}"},
        {"cpu,gpu", 2, {{"gpu", "webgpu"}}, BERTH_OK, "\"WebGpuExecutionProvider(=g);CPUExecutionProvider(=c)\""},
        {"cpu,gpu", 2, {{"gpu", "webgpuexecutionprovider"}}, BERTH_OK, "\"WebGpuExecutionProvider(=g);"},
        {"cpu,gpu", 2, {{"gpu", "MyOwnExecutionProvider"}}, BERTH_OK, "\"MyOwnExecutionProvider(=g);"},
        {"cpu,gpu", 2, {{"gpu", "cpu"}}, BERTH_OK, "\"CPUExecutionProvider(=c)\""},
        {"cpu,gpu,npu", 3, {{"npu", "CPUExecutionProvider"}}, BERTH_OK, "\"CUDAExecutionProvider(=g);"},
        {"gpu,gpu,cpu", 1, {{0}}, BERTH_OK, "\"options\": {\"device_id\": \"0\", \"use_tf32\": \"0\"}"},
        {"gpu,gpu", 2, {{0}}, BERTH_E_INFEASIBLE, "uses gpu.0 and gpu.1, but"},
        {"gpu,gpu", 2, {{"gpu.0", "cuda"}, {"gpu.1", "cuda"}}, BERTH_OK, "\"CUDAExecutionProvider(=g);"},
        {"igpu,igpu", 1, {{0}}, BERTH_OK, "\"WebGpuExecutionProvider(=g);"},
        {"igpu,igpu", 2, {{0}}, BERTH_E_ARG, "no option that picks 'igpu.1'"},
        {"igpu,igpu", 2, {{"igpu.1", "webgpu"}}, BERTH_E_INFEASIBLE, "uses igpu.0 and igpu.1"},
        {"cpu,gpu,npu", 3, {{0}}, BERTH_E_INFEASIBLE, "uses gpu and npu, but"},
        {"cpu,gpu,npu", 2, {{0}}, BERTH_OK, "\"CUDAExecutionProvider(=g);"},
        {"cpu,gpu", 2, {{"gpu", "a;b"}}, BERTH_E_ARG, "no name of an execution provider"},
        {"cpu,gpu", 2, {{"gpu", "CPU(=c)"}}, BERTH_E_ARG, "no name of an execution provider"},
        {"cpu,gpu", 2, {{"gpus", "cuda"}}, BERTH_E_ARG, "did you mean 'gpu'?"},
        {"tests/golden/devices.json", 2, {{0}}, BERTH_E_ARG, "no execution provider is known for"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = 0;
        const char *devices = strchr(cases[i].devices, '/') ? support_source(cases[i].devices) : cases[i].devices;
        made m = make_round(*state, "tests/golden/cnn.onnx", devices, cases[i].n_used);
        berth_export_options how = {cases[i].rules, !!cases[i].rules[0].device + !!cases[i].rules[1].device, false};
        berth_status status =
            export_to(*state, &m, support_source("tests/golden/cnn.onnx"), "onnx", in_root("out.onnx"), &how);
        char *side = read_file(in_root("out.onnx.berth.json"), &size);
        if (status != cases[i].status) fail_msg("case %zu: %d, %s", i, (int)status, berth_ctx_message(*state));
        assert_int_equal(status == BERTH_OK, side != NULL);
        if (!strstr(side ? side : berth_ctx_message(*state), cases[i].expected))
            fail_msg("case %zu: %s", i, side ? side : berth_ctx_message(*state));
        free(side);
        static const char *const made_files[] = {"out.onnx", "out.onnx.berth.json", "out.onnx.py", "out.onnx.c"};
        for (int k = 0; k < 4; k++) assert_int_equal(unlink(in_root(made_files[k])), status == BERTH_OK ? 0 : -1);
        free_made(&m);
    }
}

static bool mentions(const char *name, const char *words) {
    size_t size = 0;
    char *text = read_file(in_root(name), &size);
    bool found = text && strstr(text, words);
    assert_non_null(text);
    free(text);
    return found;
}

/* What was compared in the precision of the model runs in it; what was measured with less does so by itself. */
static void precision_is_handed_over(void **state) {
    static const char *const files[] = {"out.onnx.berth.json", "out.onnx.py", "out.onnx.c"};
    const char *onnx = support_source("tests/golden/cnn.onnx"), *ir = support_source("tests/golden/cnn.xml");
    static const berth_provider_rule rules[] = {{"cpu", "CPU"}, {"gpu", "GPU"}};
    berth_export_options how = {.force = true}, openvino = {.providers = rules, .n_providers = 2, .force = true};
    made m = make_round(*state, "tests/golden/cnn.onnx", "cpu,gpu", 2),
         own = make_round(*state, "tests/golden/cnn.xml", "cpu,gpu", 2);
    for (int native = 0; native < 2; native++) {
        m.plan->native_precision = own.plan->native_precision = native;
        assert_int_equal(export_to(*state, &m, onnx, "onnx", in_root("out.onnx"), &how), BERTH_OK);
        for (int i = 0; i < 3; i++) assert_int_equal(mentions(files[i], "use_tf32"), !native);
        if (export_to(*state, &own, ir, "openvino", in_root("out.xml"), &openvino) != BERTH_OK)
            fail_msg("%s", berth_ctx_message(*state));
        assert_int_equal(mentions("out.xml.berth.json", "\"INFERENCE_PRECISION_HINT\": \"f32\""), !native);
        assert_int_equal(mentions("out.xml.cpp", "INFERENCE_PRECISION_HINT"), !native);
    }
    free_made(&m);
    free_made(&own);
}

static void only_onnx_models_can_be_annotated(void **state) {
    made m = make_round(*state, "models/ir/resnet50.xml", "cpu,gpu", 2);
    const char *model = support_source("models/ir/resnet50.xml");
    assert_int_equal(export_to(*state, &m, model, "onnx", in_root("x"), NULL), BERTH_E_UNSUPPORTED);
    assert_int_equal(export_to(*state, &m, model, "json", in_root("x.json"), NULL), BERTH_OK);
    assert_int_equal(export_to(*state, &m, model, "dot", in_root("x.dot"), NULL), BERTH_OK);
    assert_int_equal(export_to(*state, &m, model, "pdf", in_root("x"), NULL), BERTH_E_ARG);
    assert_int_equal(export_to(*state, &m, model, "onnx", "-", NULL), BERTH_E_ARG);
    const char *other = support_source("models/ir/inception_v3.xml");
    assert_int_equal(export_to(*state, &m, other, "json", in_root("x.json"), NULL), BERTH_E_FORMAT);
    assert_int_equal(export_to(*state, &m, in_root("none"), "json", in_root("x.json"), NULL), BERTH_E_IO);
    free_made(&m);
}

static void the_model_itself_is_kept(void **state) {
    char copy[256];
    size_t n = 0, m_size = 0;
    made m = make_round(*state, "tests/golden/cnn.onnx", "cpu,gpu", 2);
    char *bytes = read_file(support_source("tests/golden/cnn.onnx"), &n);
    snprintf(copy, sizeof copy, "%s", in_root("model.onnx"));
    FILE *file = fopen(copy, "wb");
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
    assert_int_equal(export_to(*state, &m, copy, "onnx", copy, NULL), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(*state), "is the model itself"));
    char *after = read_file(copy, &m_size);
    assert_true(m_size == n && memcmp(bytes, after, n) == 0);
    free(after);
    assert_int_equal(export_to(*state, &m, copy, "onnx", copy, &(berth_export_options){.force = true}), BERTH_OK);
    after = read_file(copy, &m_size);
    assert_true(m_size > n);
    free(after);
    free(bytes);
    free_made(&m);
}

/* Names of a workload's tasks may be the same; keys of a map are not. */
static void keys_are_distinct(void **state) {
    static const char *const keys[] = {"\"a\": ", "\"a#1\": ", "\"a#2\": ", "\"a#1#1\": "};
    static const char workload[] =
        "{\"maxFPGAs\": 1, \"maxSizePerFPGA\": 9, \"maxCPUs\": 1, \"nodes\": ["
        "{\"id\": 0, \"name\": \"a\", \"cpuLatency\": 1, \"supportedOnFpga\": 0, \"size\": 1},"
        "{\"id\": 1, \"name\": \"a\", \"cpuLatency\": 1, \"supportedOnFpga\": 0, \"size\": 1},"
        "{\"id\": 2, \"name\": \"a\", \"cpuLatency\": 1, \"supportedOnFpga\": 0, \"size\": 1},"
        "{\"id\": 3, \"name\": \"a#1\", \"cpuLatency\": 1, \"supportedOnFpga\": 0, \"size\": 1}],"
        "\"edges\": []}";
    char path[256];
    size_t size = 0;
    made m = {0};
    berth_place_options how = some_options("single");
    snprintf(path, sizeof path, "%s", in_root("workload.json"));
    FILE *file = fopen(path, "wb");
    fputs(workload, file);
    fclose(file);
    berth_status status = berth_graph_read(*state, &m.graph, path, NULL);
    if (status == BERTH_OK) status = berth_device_set_given(*state, &m.devices, m.graph);
    if (status == BERTH_OK) status = berth_place(*state, &m.plan, m.graph, m.devices, &how);
    if (status == BERTH_OK) status = export_to(*state, &m, path, "json", in_root("map.json"), NULL);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
    char *map = read_file(in_root("map.json"), &size);
    for (int i = 0; i < 4; i++) {
        const char *at = strstr(map, keys[i]);
        if (!at || strstr(at + 1, keys[i])) fail_msg("%s in %s", keys[i], map);
    }
    free(map);
    free_made(&m);
}

static berth_status run_export(berth_ctx *ctx, void *user) {
    berth_export_options how = {.force = true};
    const char *model = support_source("tests/golden/cnn.onnx");
    berth_status status = export_to(ctx, user, model, "onnx", in_root("out.onnx"), &how);
    if (status == BERTH_OK) status = export_to(ctx, user, model, "json", in_root("out.json"), &how);
    if (status == BERTH_OK) status = export_to(ctx, user, model, "dot", in_root("out.dot"), &how);
    return status;
}

static void no_memory(void **state) {
    made m = make_round(*state, "tests/golden/cnn.onnx", "cpu,gpu", 2);
    assert_true(support_ladder(run_export, &m, 1) > 20);
    free_made(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(providers),
        cmocka_unit_test(precision_is_handed_over),
        cmocka_unit_test(only_onnx_models_can_be_annotated),
        cmocka_unit_test(the_model_itself_is_kept),
        cmocka_unit_test(keys_are_distinct),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("plan.export", tests, make_folder, remove_folder);
}
