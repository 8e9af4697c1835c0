/* SPDX-License-Identifier: Apache-2.0 */
/* The plan file: what is written reads back to the same bytes; what is damaged is refused with its place. */
#include "plans.h"

#include <math.h>

static const struct {
    const char *model, *devices, *method;
} cases[] = {
    {"models/resnet50.onnx", "cpu,gpu", "fastest"},     {"models/ir/bert_base.xml", "paper", "heft"},
    {"models/googlenet.onnx", "cpu,gpu,gpu", "greedy"}, {"tests/golden/topcuoglu.csv", NULL, "heft"},
    {"tests/golden/msr.json", NULL, "single"},          {"tests/golden/dagbench.json", NULL, "heft"},
    {"tests/golden/names.onnx", "cpu,npu", "fastest"},
};

static void round_trip(void **state) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
            berth_place_options how = some_options(i == 4 ? "auto" : cases[i].method);
            how.model = (berth_model)model;
            if (model == BERTH_MODEL_CONTIGUOUS) how.method = "auto";
            made m = make_plan(*state, cases[i].model, cases[i].devices, how);
            char *first = plan_text(*state, m.plan, false);
            berth_plan *plan = NULL;
            if (read_bytes(*state, &plan, first, strlen(first)) != BERTH_OK)
                fail_msg("%s: %s", cases[i].model, berth_ctx_message(*state));
            assert_memory_equal(&plan->makespan_ms, &m.plan->makespan_ms, sizeof(double));
            assert_memory_equal(&plan->lower_bound_ms, &m.plan->lower_bound_ms, sizeof(double));
            assert_memory_equal(plan->single_ms, m.plan->single_ms, (size_t)plan->n_devices * sizeof(double));
            /* Of a workload's devices only the names are kept. */
            plan->devices = m.devices;
            char *second = plan_text(*state, plan, false);
            assert_string_equal(first, second);
            free(second);
            free(first);
            berth_plan_free(plan);
            free_made(&m);
        }
}

static void document_of_the_search_is_a_plan(void **state) {
    made m = make_plan(*state, "models/resnet50.onnx", "cpu,gpu", some_options("local"));
    char *all = plan_text(*state, m.plan, true), *file = plan_text(*state, m.plan, false);
    berth_plan *plan = NULL;
    assert_non_null(strstr(all, "\"seconds\""));
    assert_null(strstr(file, "seconds"));
    assert_null(strstr(file, "\"evaluations\""));
    assert_int_equal(read_bytes(*state, &plan, all, strlen(all)), BERTH_OK);
    char *again = plan_text(*state, plan, true);
    assert_string_equal(again, file);
    free(again);
    berth_plan_free(plan);
    free(file);
    free(all);
    free_made(&m);
}

static void limits_are_kept(void **state) {
    berth_rule pin = {"Conv", "gpu"}, ban = {"Relu*", "cpu"}, together = {"Add", NULL}, io = {"495", "gpu"};
    berth_memory_rule memory = {"gpu", 1e9 / 3};
    berth_limits limits = {&pin, &ban, &together, &io, 1, 1, 1, 1, &memory, 1};
    berth_place_options how = some_options("fastest");
    how.limits = &limits;
    how.grouped = true;
    how.group = BERTH_GROUP_CODE;
    made m = make_plan(*state, "models/resnet50.onnx", "cpu,gpu", how);
    char *text = plan_text(*state, m.plan, false);
    berth_plan *plan = NULL;
    assert_int_equal(read_bytes(*state, &plan, text, strlen(text)), BERTH_OK);
    assert_string_equal(plan->limits.pins[0].pattern, "Conv");
    assert_string_equal(plan->limits.bans[0].device, "cpu");
    assert_string_equal(plan->limits.together[0].pattern, "Add");
    assert_null(plan->limits.together[0].device);
    assert_string_equal(plan->limits.io[0].pattern, "495");
    assert_true(plan->limits.memory[0].bytes == 1e9 / 3);
    assert_string_equal(plan->group, "code");
    berth_plan_free(plan);
    free(text);
    free_made(&m);
}

static void damage_is_refused(void **state) {
    static const struct {
        const char *from, *to, *says;
    } damages[] = {
        {"\"schema\": 1", "\"schema\": 2", "schema"},
        {"\"schema\": 1", "\"schema\": 1, \"schema\": 1", "schema"},
        {"\"berth\"", "\"breth\"", "did you mean 'berth'"},
        {"\"fingerprint\": \"", "\"fingerprint\": \"x", "no fingerprint"},
        {"\"costs\": \"estimated\"", "\"costs\": \"guessed\"", "guessed"},
        {"\"costs\": \"estimated\"", "\"costs\": \"profile\"", "profile"},
        {"\"execution_model\": \"serial\",\n  \"piece", "\"execution_model\": \"parallel\",\n  \"piece", "parallel"},
        {"\"objective\": \"latency\"", "\"objective\": \"speed\"", "speed"},
        {"\"piece_ms\": 0,\n  \"objective\"", "\"piece_ms\": -1,\n  \"objective\"", "negative"},
        {"\"piece_ms\": 0,\n  \"objective\"", "\"piece_ms\": 1e308,\n  \"objective\"", "from 0 to 1e+12, not 1e+308"},
        {"\"memory\": []", "\"memory\": [{\"device\": \"gpu\", \"bytes\": 1e300}]", "from 0 to 1e+30, not 1e+300"},
        {"\"makespan_ms\": ", "\"makespan_ms\": -", "negative"},
        {"\"makespan_ms\": ", "\"makespan_ms\": null, \"x\": ", "x"},
        {"\"seed\": 0", "\"seed\": -1", "seed"},
        {"\"seed\": 0", "\"seed\": 0.5", "seed"},
        {"\"index\": 1,", "\"index\": 2,", "index"},
        {"\"device\": \"gpu\"}", "\"device\": \"tpu\"}", "tpu"},
        {"\"device\": \"gpu\"}", "\"device\": \"gpu\", \"x\": 1}", "unknown key 'x'"},
        {"\"order\": null", "\"order\": [0, 0]", "twice"},
        {"\"order\": null", "\"order\": [100000]", "order"},
        {"\"order\": null", "\"order\": [-1]", "order"},
        {"\"single_ms\": {", "\"single_ms\": {\"tpu\": 1, ", "single_ms"},
        {"\"limits\": {", "\"limits\": { \"x\": 1,", "unknown key 'x'"},
        {"\"name\": \"cpu\"", "\"name\": \"gpu\"", "gpu"},
        {"\"shape\": [1, 3,", "\"shape\": [1, -3,", "dimension"},
        {"{", "[", ""},
        {"\"placement\"", "\"replacement\"", "replacement"},
    };
    berth_place_options how = some_options("greedy");
    how.model = BERTH_MODEL_SERIAL;
    made m = make_plan(*state, "models/resnet50.onnx", "cpu,gpu", how);
    char *text = plan_text(*state, m.plan, false);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char *bad = replaced(text, damages[i].from, damages[i].to);
        berth_plan *plan = NULL;
        berth_status status = read_bytes(*state, &plan, bad, strlen(bad));
        if (status != BERTH_E_FORMAT || !strstr(berth_ctx_message(*state), damages[i].says))
            fail_msg("%s -> %s: status %d, %s", damages[i].from, damages[i].to, (int)status, berth_ctx_message(*state));
        assert_null(plan);
        const char *colon = strchr(berth_ctx_message(*state), ':');
        assert_non_null(colon);
        assert_true(colon[1] >= '0' && colon[1] <= '9'); /* the line */
        free(bad);
    }
    free(text);
    free_made(&m);
}

/* Of a workload's plan, whose devices are no more than names: as many as a set can have, and one more. */
static void too_many_devices_are_refused(void **state) {
    made m = make_plan(*state, "tests/golden/topcuoglu.csv", NULL, some_options("heft"));
    char *text = plan_text(*state, m.plan, false), names[4096] = "\"devices\": [", single[4096] = "\"single_ms\": {";
    for (int n = m.plan->n_devices + 1; n <= BERTH_MAX_DEVICES + 1; n++) {
        berth_plan *plan = NULL;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "{\"name\": \"more.%d\"}, ", n);
        used = strlen(single);
        snprintf(single + used, sizeof single - used, "\"more.%d\": 1, ", n);
        char *half = replaced(text, "\"devices\": [", names), *whole = replaced(half, "\"single_ms\": {", single);
        berth_status status = read_bytes(*state, &plan, whole, strlen(whole));
        assert_int_equal(status, n <= BERTH_MAX_DEVICES ? BERTH_OK : BERTH_E_FORMAT);
        berth_plan_free(plan);
        free(whole);
        free(half);
    }
    assert_non_null(strstr(berth_ctx_message(*state), "how many devices"));
    free(text);
    free_made(&m);
}

/* Cut anywhere, or with any byte changed, it reads or is refused; it never does anything else. */
static void any_damage_is_survived(void **state) {
    made m = make_plan(*state, "tests/golden/cnn.onnx", "cpu,gpu", some_options("heft"));
    char *text = plan_text(*state, m.plan, false);
    size_t n = strlen(text);
    uint64_t random = 1;
    for (size_t cut = 0; cut + 1 < n; cut += 7) {
        berth_plan *plan = NULL;
        assert_int_equal(read_bytes(*state, &plan, text, cut), BERTH_E_FORMAT);
    }
    for (int i = 0; i < 3000; i++) {
        size_t at = support_below(&random, (uint32_t)n);
        char kept = text[at];
        text[at] = (char)support_below(&random, 256);
        berth_plan *plan = NULL;
        berth_status status = read_bytes(*state, &plan, text, n);
        assert_true(status == BERTH_OK ? plan != NULL : status == BERTH_E_FORMAT && !plan);
        berth_plan_free(plan);
        text[at] = kept;
    }
    free(text);
    free_made(&m);
}

static berth_status run_ladder(berth_ctx *ctx, void *user) {
    berth_plan *plan = NULL;
    berth_text *text = NULL;
    berth_status status = berth_plan_read(ctx, &plan, user);
    if (status == BERTH_OK) status = berth_text_new(ctx, &text);
    if (status == BERTH_OK) {
        berth_plan_write(text, plan, true);
        status = berth_text_status(text);
    }
    berth_text_free(text);
    berth_plan_free(plan);
    return status;
}

static void ladder(void **state) {
    char path[] = "/tmp/berth-plan-XXXXXX";
    made m = make_plan(*state, "tests/golden/cnn.onnx", "cpu,gpu", some_options("heft"));
    char *text = plan_text(*state, m.plan, false);
    write_bytes(path, text, strlen(text));
    assert_true(support_ladder(run_ladder, path, 1) > 5);
    unlink(path);
    free(text);
    free_made(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, support_open, support_close),
        cmocka_unit_test_setup_teardown(document_of_the_search_is_a_plan, support_open, support_close),
        cmocka_unit_test_setup_teardown(limits_are_kept, support_open, support_close),
        cmocka_unit_test_setup_teardown(damage_is_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(too_many_devices_are_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(any_damage_is_survived, support_open, support_close),
        cmocka_unit_test_setup_teardown(ladder, support_open, support_close),
    };
    return cmocka_run_group_tests_name("plan.file", tests, NULL, NULL);
}
