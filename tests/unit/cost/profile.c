/* SPDX-License-Identifier: Apache-2.0 */
/* profile.json: measured times and transfers, what falls back, what is refused. */
#include "cases.h"

#include <stdio.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_graph *graph;
    berth_device_set *set;
    char path[64], said[600];
} fixture;

static void keep(void *user, berth_log_level level, const char *message) {
    fixture *f = user;
    size_t used = strlen(f->said);
    if (level == BERTH_LOG_WARNING) snprintf(f->said + used, sizeof f->said - used, "%s\n", message);
}

static int start(void **state) {
    static fixture f;
    f = (fixture){.path = "/tmp/berth-profile-XXXXXX"};
    int fd = mkstemp(f.path);
    if (fd < 0 || close(fd) != 0 || berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    f.graph = support_read(f.ctx, support_source("tests/golden/cnn.xml"));
    f.set = golden_devices(f.ctx);
    berth_ctx_set_log(f.ctx, keep, &f);
    *state = &f;
    return 0;
}

static int stop(void **state) {
    fixture *f = *state;
    berth_device_set_free(f->set);
    berth_graph_free(f->graph);
    berth_ctx_free(f->ctx);
    return unlink(f->path);
}

/* "@" stands for the fingerprint. */
static void put(fixture *f, const char *text) {
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    for (; *text; text++)
        if (*text == '@')
            fputs(berth_graph_fingerprint(f->graph), file);
        else
            fputc(*text, file);
    assert_int_equal(fclose(file), 0);
    f->said[0] = 0;
}

#define HEAD                                                                                             \
    "{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}, \"machine\": {\"cpu\": \"x\", \"cores\": 4}, " \
    "\"runtime\": {\"name\": \"r\", \"version\": \"1\"}, \"devices\": [\"main\", \"fast\"], "

static const char good[] =
    HEAD "\"operations\": ["
         "{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 5, \"fast\": 0.75}},"
         "{\"index\": 4, \"name\": \"pool\", \"ms\": {\"fast\": 0.005, \"main\": null}},"
         "{\"index\": 1, \"name\": \"weights\", \"ms\": {\"main\": 9, \"fast\": 9}}],"
         "\"transfers\": [{\"from\": \"fast\", \"to\": \"main\", \"fixed_ms\": 3, \"bytes_per_ms\": 8}]}";

static berth_cost_options options_of(const fixture *f) {
    berth_cost_options options = berth_cost_options_default();
    options.profile = f->path;
    return options;
}

static void measured_times_replace_estimates(void **state) {
    fixture *f = *state;
    berth_cost_options options = options_of(f);
    put(f, good);
    berth_costs *c = make_costs(f->ctx, f->graph, f->set, &options);
    berth_costs *plain = make_costs(f->ctx, f->graph, f->set, NULL);
    assert_true(berth_costs_op_ms(c, 2, 0) == 5 && berth_costs_op_ms(c, 2, 1) == 0.75);
    assert_true(berth_costs_op_ms(c, 2, 2) == berth_costs_op_ms(plain, 2, 2)); /* a device that is not in the file */
    assert_true(isinf(berth_costs_op_ms(c, 4, 0)));                            /* null */
    assert_true(berth_costs_op_ms(c, 4, 1) == 0.005); /* measured there, whatever the device file says */
    assert_true(berth_costs_op_ms(c, 3, 0) == berth_costs_op_ms(plain, 3, 0)); /* an operation that is not */
    assert_true(berth_costs_op_ms(c, 1, 0) == 0);                              /* constants do not run */
    assert_non_null(strstr(f->said, "no times for 1 of 3 operations"));
    assert_non_null(strstr(f->said, "no times for 1 of 3 devices"));
    int32_t image = f->graph->inputs[0];
    assert_true(berth_costs_copy_ms(c, image, 1, 0) == 3 + 768 * 0.125);
    assert_true(berth_costs_copy_ms(c, image, 0, 1) == berth_costs_copy_ms(plain, image, 0, 1));
    const berth_link *on = &f->set->links[0 * 3 + 2]; /* fast to side goes through main: its first leg was measured */
    expect_ms(berth_costs_copy_ms(c, image, 1, 2), 3 + on->fixed_ms + 768 * (0.125 + on->ms_per_byte));
    berth_costs_free(plain);
    berth_costs_free(c);
}

static void launch_is_taken_off_under_queued(void **state) {
    fixture *f = *state;
    berth_cost_options options = options_of(f);
    options.model = BERTH_MODEL_QUEUED;
    put(f, good);
    berth_costs *c = make_costs(f->ctx, f->graph, f->set, &options);
    assert_true(berth_costs_op_ms(c, 2, 0) == 5 && berth_costs_op_ms(c, 2, 1) == 0.75 - 0.01);
    assert_true(berth_costs_op_ms(c, 4, 1) == 0 && isinf(berth_costs_op_ms(c, 4, 0)));
    berth_costs_free(c);
}

static void rules_still_hold(void **state) {
    fixture *f = *state;
    berth_cost_options options = options_of(f);
    berth_rule pin = {"conv", "main"};
    berth_limits limits = {.pins = &pin, .n_pins = 1};
    options.limits = &limits;
    put(f, good);
    berth_costs *c = make_costs(f->ctx, f->graph, f->set, &options);
    assert_true(berth_costs_op_ms(c, 2, 0) == 5 && isinf(berth_costs_op_ms(c, 2, 1)));
    berth_costs_free(c);
}

#define ROW(text)  HEAD "\"operations\": [" text "]}"
#define MOVE(text) HEAD "\"operations\": [], \"transfers\": [" text "]}"

static void bad_profiles_are_refused(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", ":1:"},
        {"[]", "expected an object"},
        {"{\"schema\": 7}", "'schema' must be"},
        {"{\"schema\": 1}", "'model' is missing"},
        {"{\"schema\": 1,\n\"model\": {\"fingerprint\": \"00\"}}", ":2: this was measured on another model"},
        {"{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}, \"machine\": 3}", "'machine' must be an object"},
        {"{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}}", "'devices' is missing"},
        {"{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}, \"devices\": [1]}", "only names"},
        {"{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}, \"devices\": [\"a\", \"a\"]}", "a second time"},
        {"{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}, \"devices\": [\"tpu\"]}", "none of the devices"},
        {"{\"schema\": 1, \"model\": {\"fingerprint\": \"@\"}, \"devices\": [\"main\"]}", "'operations' is missing"},
        {"{\"schema\": 1, \"operation\": []}", "unknown key 'operation', did you mean 'operations'?"},
        {ROW("7"), "expected an object"},
        {ROW("{\"index\": 6, \"name\": \"conv\", \"ms\": {}}"), "'index' must be an integer from 0 to 5"},
        {ROW("{\"index\": 2, \"name\": \"cnov\", \"ms\": {\"main\": 1, \"fast\": 1}}"), "another name than 'cnov'"},
        {ROW("{\"index\": 2, \"name\": \"conv\"}"), "'ms' is missing"},
        {ROW("{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1}}"),
         "no time (null: it cannot run there) for 'fast'"},
        {ROW("{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1, \"fast\": -1}}"),
         "at least 0, or null, for 'fast'"},
        {ROW("{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1, \"fast\": \"NaN\"}}"), "must be a number of ms"},
        {ROW("{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1, \"fast\": NaN}}"), ":1:"},
        {ROW("{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1, \"fast\": 1, \"tpu\": 1}}"),
         "not in 'devices': 'tpu'"},
        {ROW("{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1, \"fast\": 1}}, "
             "{\"index\": 2, \"name\": \"conv\", \"ms\": {\"main\": 1, \"fast\": 1}}"),
         "a second row for 'conv'"},
        {ROW("{\"index\": 2, \"nmae\": \"conv\"}"), "did you mean 'name'?"},
        {MOVE("{\"from\": \"main\", \"to\": \"fast\", \"fixed_ms\": -1, \"bytes_per_ms\": 1}"),
         "'fixed_ms' must be from 0"},
        {MOVE("{\"from\": \"main\", \"to\": \"fast\", \"fixed_ms\": 1, \"bytes_per_ms\": 0}"),
         "'bytes_per_ms' must be"},
        {MOVE("{\"from\": \"main\", \"to\": \"fast\", \"fixed_ms\": 1}"), "'bytes_per_ms' is missing"},
        {MOVE("{\"from\": \"main\", \"to\": \"tpu\", \"fixed_ms\": 1, \"bytes_per_ms\": 1}"),
         "not in 'devices': 'tpu'"},
        {MOVE("{\"from\": \"main\", \"to\": \"fast\", \"fixed_ms\": 1, \"bytes_per_ms\": 1}, "
              "{\"from\": \"main\", \"to\": \"fast\", \"fixed_ms\": 1, \"bytes_per_ms\": 1}"),
         "a second transfer"},
    };
    fixture *f = *state;
    berth_cost_options options = options_of(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(f, cases[i].text);
        refuse_costs(f->ctx, f->graph, f->set, &options, BERTH_E_FORMAT, cases[i].message);
        assert_memory_equal(berth_ctx_message(f->ctx), f->path, strlen(f->path));
    }
    options.profile = "no/such/profile.json";
    refuse_costs(f->ctx, f->graph, f->set, &options, BERTH_E_IO, "cannot open");
}

/* All times null: nothing can run. */
static void nowhere(void **state) {
    fixture *f = *state;
    berth_cost_options options = options_of(f);
    put(f, ROW("{\"index\": 4, \"name\": \"pool\", \"ms\": {\"main\": null, \"fast\": null}}"));
    berth_rule ban = {"MaxPool", "side"};
    berth_limits limits = {.bans = &ban, .n_bans = 1};
    options.limits = &limits;
    refuse_costs(f->ctx, f->graph, f->set, &options, BERTH_E_INFEASIBLE, "operation 'pool' (MaxPool) may run nowhere");
}

static berth_status ladder_run(berth_ctx *ctx, void *user) {
    fixture *f = user;
    berth_costs *costs = NULL;
    berth_cost_options options = options_of(f);
    berth_status status = berth_costs_new(ctx, &costs, f->graph, f->set, &options);
    berth_costs_free(costs);
    return status;
}

static void memory_may_run_out(void **state) {
    fixture *f = *state;
    put(f, good);
    assert_true(support_ladder(ladder_run, f, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_times_replace_estimates),
        cmocka_unit_test(launch_is_taken_off_under_queued),
        cmocka_unit_test(rules_still_hold),
        cmocka_unit_test(bad_profiles_are_refused),
        cmocka_unit_test(nowhere),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("cost.profile", tests, start, stop);
}
