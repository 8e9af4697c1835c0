/* SPDX-License-Identifier: Apache-2.0 */
/* devices.json: what is read, what is refused, and that what is written reads back to the same bits. */
#include "support.h"

#include "device/set.h"

#include <math.h>
#include <stdio.h>

static berth_status parse(berth_ctx *ctx, berth_device_set **out, const char *text) {
    berth_arena arena;
    const berth_json *root = NULL;
    *out = NULL;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_json_parse(ctx, &arena, "d.json", text, strlen(text), 16, &root);
    if (status == BERTH_OK) status = berth_device_set_parse(ctx, out, "d.json", root);
    berth_arena_deinit(&arena);
    return status;
}

static void golden_file(void **state) {
    berth_ctx *ctx = *state;
    berth_device_set *set = NULL, *npu = NULL;
    if (berth_device_set_read(ctx, &set, support_source("tests/golden/devices.json")) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    assert_int_equal(berth_device_set_read(ctx, &npu, "cpu,npu"), BERTH_OK);
    assert_int_equal(set->n_devices, 3);
    assert_int_equal(set->model, BERTH_MODEL_CONCURRENT);
    assert_int_equal(set->host, 0);
    assert_true(set->piece_ms == 0.25);
    const berth_device *main_device = &set->devices[0], *fast = &set->devices[1], *side = &set->devices[2];
    assert_true(main_device->flops[BERTH_TYPE_F32] == 1e9 && main_device->flops[BERTH_TYPE_I8] == 4e9);
    assert_true(main_device->flops[BERTH_TYPE_F16] == 0 && isinf(main_device->memory_bytes));
    assert_true(main_device->efficiency[BERTH_WORK_CONV] == 1);
    assert_true(fast->efficiency[BERTH_WORK_CONV] == 0.25 && fast->efficiency[BERTH_WORK_OTHER] == 0.5);
    assert_true(fast->memory_bytes == 4096 && fast->launch_ms == 0.01);
    assert_int_equal(fast->n_unsupported, 2);
    assert_string_equal(fast->unsupported[1], "Loop");
    assert_string_equal(side->kind, "npu");
    assert_true(side->bandwidth == 2e9 && side->launch_ms == npu->devices[1].launch_ms);
    assert_true(side->flops[BERTH_TYPE_I8] == npu->devices[1].flops[BERTH_TYPE_I8]);
    const berth_link *to_fast = &set->links[0 * 3 + 1], *from_fast = &set->links[1 * 3 + 0];
    assert_true(to_fast->fixed_ms == 0.5 && to_fast->ms_per_byte == 1e3 / 1e6 && to_fast->queued);
    assert_true(from_fast->fixed_ms == 0.25 && from_fast->ms_per_byte == 0.002 && !from_fast->queued);
    const berth_link *to_side = &set->links[0 * 3 + 2], *across = &set->links[1 * 3 + 2];
    assert_true(to_side->fixed_ms == npu->links[1].fixed_ms);
    assert_true(across->fixed_ms == 0.25 + to_side->fixed_ms && across->queued);
    assert_true(across->ms_per_byte == 0.002 + to_side->ms_per_byte);
    berth_device_set_free(set);
    berth_device_set_free(npu);
}

#define CPU    "{\"name\": \"cpu\", \"flops_per_s\": {\"f32\": 1e9}, \"bytes_per_s\": 1e9}"
#define GPU    "{\"name\": \"gpu\", \"flops_per_s\": {\"f32\": 1e9}, \"bytes_per_s\": 1e9}"
#define WIRE   "{\"from\": \"cpu\", \"to\": \"gpu\", \"bytes_per_s\": 1e9}"
#define ONE(d) "{\"schema\": 1, \"devices\": [" d "]}"
#define TWO(l) "{\"schema\": 1, \"devices\": [" CPU ", " GPU "], \"links\": [" l "]}"

static void defaults(void **state) {
    berth_ctx *ctx = *state;
    berth_device_set *set = NULL;
    assert_int_equal(parse(ctx, &set, TWO(WIRE)), BERTH_OK);
    assert_string_equal(set->devices[0].kind, "cpu");
    assert_int_equal(set->model, BERTH_MODEL_SERIAL);
    assert_true(set->links[1].queued && set->links[2].queued); /* a link holds both ways */
    assert_true(set->links[2].ms_per_byte == 1e3 / 1e9 && set->links[2].fixed_ms == 0);
    assert_true(set->devices[1].launch_ms == 0 && set->piece_ms == 0);
    berth_device_set_free(set);
    assert_int_equal(parse(ctx, &set, ONE("{\"profile\": \"gpu\"}")), BERTH_OK);
    assert_string_equal(set->devices[0].name, "gpu");
    berth_device_set_free(set);
    assert_int_equal(parse(ctx, &set, ONE("{\"profile\": \"gpu\"}, {\"profile\": \"gpu\", \"name\": \"b\"}")),
                     BERTH_OK);
    assert_true(set->links[1].fixed_ms > 0);
    berth_device_set_free(set);
}

static void bad_files_are_refused(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "d.json:1: expected an object"},
        {"{\"schema\": 1}", "'devices' is missing"},
        {"{\"devices\": [" CPU "]}", "'schema' is missing"},
        {"{\"schema\": 2, \"devices\": [" CPU "]}", "'schema' must be an integer from 1 to 1"},
        {"{\"schema\": 1, \"devices\": []}", "no device"},
        {"{\"schema\": 1, \"device\": []}", "unknown key 'device', did you mean 'devices'?"},
        {"{\"schema\": 1,\n\"devices\": [" CPU "],\n\"hots\": 1}",
         "d.json:3: unknown key 'hots', did you mean 'host'?"},
        {"{\"schema\": 1, \"host\": \"cpuu\", \"devices\": [" CPU "]}",
         "'cpuu', which is no device, did you mean 'cpu'?"},
        {"{\"schema\": 1, \"execution_model\": \"fast\", \"devices\": [" CPU "]}",
         "no execution model is called 'fast'"},
        {"{\"schema\": 1, \"piece_ms\": -1, \"devices\": [" CPU "]}", "'piece_ms' must be from 0"},
        {"{\"schema\": 1, \"piece_ms\": NaN, \"devices\": [" CPU "]}", "d.json:1:"},
        {ONE("7"), "only objects"},
        {ONE("{\"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1}"), "without 'name'"},
        {ONE("{\"name\": \"\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1}"), "an empty 'name'"},
        {ONE("{\"name\": \"a\", \"bytes_per_s\": 1}"), "'flops_per_s' is missing for 'a'"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}}"), "'bytes_per_s' is missing for 'a'"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {}, \"bytes_per_s\": 1}"), "no rate"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f23\": 1}, \"bytes_per_s\": 1}"), "'f23', did you mean 'f32'?"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 0}, \"bytes_per_s\": 1}"), "'f32' must be from 1"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": -5}, \"bytes_per_s\": 1}"), "not -5"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": \"1\"}, \"bytes_per_s\": 1}"), "must be a number"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 0}"), "'bytes_per_s' must be from"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1, \"launch_ms\": -1}"), "'launch_ms'"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1, \"memory_bytes\": -1}"),
         "'memory_bytes'"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1, \"efficiency\": {\"conv\": 1.5}}"),
         "'conv' must be from"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1, \"efficiency\": {\"cnov\": 1}}"),
         "did you mean 'conv'?"},
        {ONE("{\"name\": \"a\", \"flops_per_s\": {\"f32\": 1}, \"bytes_per_s\": 1, \"unsupported\": [1]}"),
         "only names"},
        {ONE("{\"name\": \"a\", \"profile\": \"paper\"}"), "no profile of a single device"},
        {ONE(CPU ", " CPU), "two devices called 'cpu'"},
        {ONE(CPU ", " GPU), "no link joins 'gpu' and the host 'cpu'"},
        {TWO("{\"from\": \"cpu\", \"to\": \"gqu\", \"bytes_per_s\": 1e9}"),
         "'to' is 'gqu', which is no device, did you"},
        {TWO("{\"from\": \"cpu\", \"to\": \"cpu\", \"bytes_per_s\": 1e9}"), "to itself"},
        {TWO("{\"from\": \"cpu\", \"to\": \"gpu\"}"), "either 'bytes_per_s' or"},
        {TWO("{\"from\": \"cpu\", \"to\": \"gpu\", \"bytes_per_s\": 1e9, \"ms_per_byte\": 1}"),
         "either 'bytes_per_s' or"},
        {TWO("{\"from\": \"cpu\", \"to\": \"gpu\", \"bytes_per_s\": 0}"), "must be from 1"},
        {TWO("{\"from\": \"cpu\", \"to\": \"gpu\", \"bytes_per_s\": 1e9, \"fixed_ms\": -0.1}"), "'fixed_ms'"},
        {TWO("{\"from\": \"cpu\", \"to\": \"gpu\", \"bytes_per_s\": 1e9, \"parallel\": 1}"), "must be true or false"},
        {TWO("{\"to\": \"gpu\", \"bytes_per_s\": 1e9}"), "'from' is missing"},
        {TWO(WIRE ", " WIRE), "a second link"},
        {TWO("3"), "only objects"},
    };
    berth_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_device_set *set = (berth_device_set *)1;
        berth_status status = parse(ctx, &set, cases[i].text);
        if (status != BERTH_E_FORMAT || set) fail_msg("%s gives %d", cases[i].text, status);
        if (!strstr(berth_ctx_message(ctx), cases[i].message) || strncmp(berth_ctx_message(ctx), "d.json:", 7) != 0)
            fail_msg("%s\ngives '%s'\nnot '%s'", cases[i].text, berth_ctx_message(ctx), cases[i].message);
    }
}

static void there_may_be_64_devices(void **state) {
    berth_ctx *ctx = *state;
    berth_text *text = NULL;
    for (int n = 64; n <= 65; n++) {
        assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
        berth_text_printf(text, "{\"schema\": 1, \"devices\": [{\"profile\": \"cpu\"}");
        for (int d = 1; d < n; d++) berth_text_printf(text, ", {\"profile\": \"gpu\", \"name\": \"g%d\"}", d);
        berth_text_printf(text, "]}");
        berth_device_set *set = NULL;
        assert_int_equal(parse(ctx, &set, berth_text_string(text)), n == 64 ? BERTH_OK : BERTH_E_LIMIT);
        berth_device_set_free(set);
        berth_text_free(text);
    }
}

/* --- writing and reading back ----------------------------------------------------------------------------------- */

static void expect_same_device(const berth_device *a, const berth_device *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->kind, b->kind);
    assert_memory_equal(a->flops, b->flops, sizeof a->flops);
    assert_memory_equal(a->efficiency, b->efficiency, sizeof a->efficiency);
    assert_memory_equal(&a->bandwidth, &b->bandwidth, sizeof a->bandwidth);
    assert_memory_equal(&a->launch_ms, &b->launch_ms, sizeof a->launch_ms);
    assert_memory_equal(&a->memory_bytes, &b->memory_bytes, sizeof a->memory_bytes);
    assert_int_equal(a->n_unsupported, b->n_unsupported);
    for (int32_t i = 0; i < a->n_unsupported; i++) assert_string_equal(a->unsupported[i], b->unsupported[i]);
}

static void expect_reads_back(berth_ctx *ctx, const berth_device_set *set) {
    berth_text *text = NULL;
    berth_device_set *back = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_device_set_write(text, NULL, set);
    assert_int_equal(berth_text_status(text), BERTH_OK);
    if (parse(ctx, &back, berth_text_string(text)) != BERTH_OK)
        fail_msg("%s\n%s", berth_ctx_message(ctx), berth_text_string(text));
    assert_int_equal(back->n_devices, set->n_devices);
    assert_int_equal(back->host, set->host);
    assert_int_equal(back->model, set->model);
    assert_memory_equal(&back->piece_ms, &set->piece_ms, sizeof set->piece_ms);
    assert_string_equal(back->source, set->source);
    for (int32_t d = 0; d < set->n_devices; d++) expect_same_device(&set->devices[d], &back->devices[d]);
    for (int32_t i = 0; i < set->n_devices * set->n_devices; i++) {
        assert_memory_equal(&back->links[i].fixed_ms, &set->links[i].fixed_ms, sizeof(double));
        assert_memory_equal(&back->links[i].ms_per_byte, &set->links[i].ms_per_byte, sizeof(double));
        assert_int_equal(back->links[i].queued, set->links[i].queued);
    }
    berth_device_set_free(back);
    berth_text_free(text);
}

static void what_is_written_reads_back(void **state) {
    berth_ctx *ctx = *state;
    static const char *const texts[] = {"cpu", "paper", "cpu,gpu,igpu,npu,gpu", "npu,gpu"};
    berth_device_set *set = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(berth_device_set_read(ctx, &set, texts[i]), BERTH_OK);
        expect_reads_back(ctx, set);
        berth_device_set_free(set);
    }
    assert_int_equal(berth_device_set_read(ctx, &set, support_source("tests/golden/devices.json")), BERTH_OK);
    expect_reads_back(ctx, set);
    berth_device_set_free(set);
}

/* Numbers of all magnitudes and bit patterns. */
static double draw(uint64_t *random, double low, double high) {
    double share = (double)(support_random(random) >> 11) * 0x1p-53;
    return exp(log(low) + share * (log(high) - log(low)));
}

static void random_sets_read_back(void **state) {
    berth_ctx *ctx = *state;
    uint64_t random = 7;
    for (int round = 0; round < 100; round++) {
        int32_t n = 1 + (int32_t)support_below(&random, 6);
        berth_device_draft *draft = NULL;
        assert_int_equal(berth_device_draft_new(ctx, &draft, n, "random"), BERTH_OK);
        for (int32_t d = 0; d < n; d++) {
            berth_device *device = &draft->devices[d];
            *device = (berth_device){.name = berth_arena_printf(&draft->arena, "d\"%d", (int)d), .kind = "x y"};
            device->flops[support_below(&random, 12) + 1] = draw(&random, 1, 1e30);
            device->bandwidth = draw(&random, 1, 1e30);
            device->launch_ms = draw(&random, 1e-20, 1e12);
            device->memory_bytes = support_below(&random, 2) ? INFINITY : draw(&random, 1e-9, 1e30);
            for (int cls = 1; cls < BERTH_WORK_CLASS_COUNT; cls++) device->efficiency[cls] = draw(&random, 1e-6, 1);
            device->efficiency[0] = 1;
        }
        for (int32_t i = 0; i < n * n; i++)
            if (i % (n + 1))
                draft->links[i] = (berth_link){draw(&random, 1e-20, 1e12), draw(&random, 1e-20, 1e12),
                                               support_below(&random, 2) == 1};
        draft->set.host = (int32_t)support_below(&random, (uint32_t)n);
        draft->set.model = (berth_model)support_below(&random, BERTH_MODEL_COUNT);
        draft->set.piece_ms = draw(&random, 1e-20, 1e12);
        expect_reads_back(ctx, &draft->set);
        berth_device_set_free(&draft->set);
    }
}

static berth_status ladder_parse(berth_ctx *ctx, void *text) {
    berth_device_set *set = NULL;
    berth_status status = parse(ctx, &set, text);
    berth_device_set_free(set);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    assert_true(support_ladder(ladder_parse, (void *)(uintptr_t)TWO(WIRE), 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_file),
        cmocka_unit_test(defaults),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(there_may_be_64_devices),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(random_sets_read_back),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("device.devices_json", tests, support_open, support_close);
}
