/* SPDX-License-Identifier: Apache-2.0 */
/* Generated devices and cases: the same every time, unlike each other, and restricted as their rule says. */
#include "support.h"

#include <math.h>

static char *device_text(berth_ctx *ctx, const berth_device_set *set) {
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_device_set_write(text, NULL, set);
    char *copy = strdup(berth_text_string(text));
    berth_text_free(text);
    return copy;
}

static void devices_are_unlike(void **state) {
    for (int32_t n = 1; n <= 16; n *= 2) {
        berth_device_set *a = NULL, *b = NULL, *c = NULL;
        assert_int_equal(berth_device_set_generate(*state, &a, n, 5), BERTH_OK);
        assert_int_equal(berth_device_set_generate(*state, &b, n, 5), BERTH_OK);
        assert_int_equal(berth_device_set_generate(*state, &c, n, 6), BERTH_OK);
        char *first = device_text(*state, a), *again = device_text(*state, b), *other = device_text(*state, c);
        assert_string_equal(first, again);
        assert_string_not_equal(first, other);
        assert_int_equal(a->n_devices, n);
        assert_int_equal(a->host, 0);
        for (int32_t d = 0; d < n; d++)
            for (int32_t e = 0; e < d; e++) {
                assert_string_not_equal(a->devices[d].name, a->devices[e].name);
                assert_true(a->devices[d].bandwidth != a->devices[e].bandwidth);
                assert_true(a->links[d * n + e].ms_per_byte == a->links[e * n + d].ms_per_byte);
                assert_true(a->links[d * n + e].fixed_ms > 0);
            }
        free(first);
        free(again);
        free(other);
        berth_device_set_free(a);
        berth_device_set_free(b);
        berth_device_set_free(c);
    }
    berth_device_set *none = NULL;
    assert_int_equal(berth_device_set_generate(*state, &none, 0, 0), BERTH_E_ARG);
    assert_int_equal(berth_device_set_generate(*state, &none, 65, 0), BERTH_E_LIMIT);
    assert_null(none);
}

static berth_plan *place(berth_ctx *ctx, const berth_graph *graph, const berth_device_set *devices,
                         const char *method) {
    berth_place_options how = berth_place_options_default();
    berth_plan *plan = NULL;
    how.method = method;
    how.evaluations = 300;
    how.seconds = INFINITY;
    how.unbounded = true;
    berth_status status = berth_place(ctx, &plan, graph, devices, &how);
    assert_true(status == BERTH_OK || status == BERTH_E_INFEASIBLE);
    return plan;
}

/* All kinds, sizes and rules; with 60 % of the memory nothing fits on one device, and something on several. */
static void cases_are_as_they_say(void **state) {
    int n_placed = 0, n_limited = 0, n = support_cases(50) < 12 ? support_cases(50) : 12;
    for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++)
        for (int64_t i = kind; i < kind + n; i++) { /* each kind begins with another rule */
            berth_case item = berth_case_at((berth_generated)kind, i);
            berth_graph *graph = NULL;
            berth_device_set *devices = NULL;
            assert_true(item.n_ops >= 100 && item.n_ops <= 400);
            assert_int_equal(berth_case_generate(*state, &graph, &devices, &item), BERTH_OK);
            assert_int_equal(devices->n_devices, item.n_devices);
            assert_true((devices->model == BERTH_MODEL_SERIAL) == (item.rule == BERTH_CASE_SERIAL));
            assert_true((devices->piece_ms > 0) == (item.rule == BERTH_CASE_SERIAL));
            berth_plan *single = place(*state, graph, devices, "single");
            assert_true((single != NULL) == (item.rule != BERTH_CASE_MEMORY));
            if (item.rule == BERTH_CASE_MEMORY) {
                berth_plan *plan = place(*state, graph, devices, "anneal");
                n_limited++;
                n_placed += plan != NULL;
                berth_plan_free(plan);
            }
            berth_plan_free(single);
            berth_device_set_free(devices);
            berth_graph_free(graph);
        }
    assert_true(n_limited >= (n + 1) / 2 && n_placed > n_limited / 2);
    assert_string_equal(berth_case_rule_name(BERTH_CASE_MEMORY), "memory");
    assert_string_equal(berth_case_rule_name(BERTH_CASE_RULE_COUNT), "");
}

static berth_status generate(berth_ctx *ctx, void *user) {
    berth_case item = {BERTH_GENERATED_TRANSFORMER, 60, 3, BERTH_CASE_MEMORY, 3};
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    (void)user;
    berth_status status = berth_case_generate(ctx, &graph, &devices, &item);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static void ladder(void **state) {
    (void)state;
    support_ladder(generate, NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(devices_are_unlike, support_open, support_close),
        cmocka_unit_test_setup_teardown(cases_are_as_they_say, support_open, support_close),
        cmocka_unit_test(ladder),
    };
    return cmocka_run_group_tests_name("place.families", tests, NULL, NULL);
}
