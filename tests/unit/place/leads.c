/* SPDX-License-Identifier: Apache-2.0 */
/* Leads of a real model: prices of boundaries do what they say, and rules keep to what is allowed. */
#include "place/leads.h"

#include "support.h"

#include <math.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_graph *graph;
    berth_device_set *devices;
    berth_costs *costs;
    berth_place_options options;
} fixture;

static int open_model(void **state) {
    static fixture f;
    f = (fixture){.options = berth_place_options_default()};
    if (berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    f.graph = support_read(f.ctx, support_source("models/ir/inception_v3.xml"));
    f.options.evaluations = 2000;
    f.options.seconds = INFINITY;
    assert_int_equal(berth_device_set_read(f.ctx, &f.devices, "paper"), BERTH_OK);
    assert_int_equal(berth_costs_new(f.ctx, &f.costs, f.graph, f.devices, NULL), BERTH_OK);
    *state = &f;
    return 0;
}

static int close_model(void **state) {
    fixture *f = *state;
    berth_costs_free(f->costs);
    berth_device_set_free(f->devices);
    berth_graph_free(f->graph);
    berth_ctx_free(f->ctx);
    return 0;
}

static berth_plan *at_price(fixture *f, double price) {
    berth_plan *plan = NULL;
    assert_int_equal(berth_lead_at_price(f->ctx, &plan, f->graph, f->devices, &f->options, price), BERTH_OK);
    return plan;
}

/* What the simulator says of it, at the devices' own prices. */
static double simulate(fixture *f, const berth_plan *plan) {
    berth_placement *placement = NULL;
    berth_timeline *timeline = NULL;
    assert_int_equal(berth_placement_new(f->ctx, &placement, plan->n_ops, false), BERTH_OK);
    for (int32_t i = 0; i < plan->n_ops; i++) placement->device[i] = plan->ops[i].device;
    assert_int_equal(berth_simulate(f->ctx, &timeline, f->costs, placement), BERTH_OK);
    double ms = timeline->makespan_ms;
    berth_timeline_free(timeline);
    berth_placement_free(placement);
    return ms;
}

static double work_of(fixture *f, const berth_plan *plan) {
    double sum = 0;
    for (int32_t i = 0; i < plan->n_ops; i++) sum += berth_costs_op_ms(f->costs, i, plan->ops[i].device);
    return sum;
}

static void a_price_moves_boundaries(void **state) {
    fixture *f = *state;
    berth_plan *best = NULL;
    assert_int_equal(berth_place(f->ctx, &best, f->graph, f->devices, &f->options), BERTH_OK);
    double least = 0, last = 0;
    for (int32_t i = 0; i < best->n_ops; i++)
        least += fmin(berth_costs_op_ms(f->costs, i, 0), berth_costs_op_ms(f->costs, i, 1));
    static const double prices[] = {0, 0.5, 1, 2, 4, 1e6};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        berth_plan *plan = at_price(f, prices[i]);
        double work = work_of(f, plan);
        assert_true(plan->makespan_ms >= best->makespan_ms); /* which is proven under `serial` */
        assert_true(plan->makespan_ms == simulate(f, plan));
        assert_true(work >= last * (1 - 1e-12)); /* dearer boundaries are never bought with less work */
        if (prices[i] == 0) assert_true(fabs(work / least - 1) < 1e-9);
        if (prices[i] == 1) assert_true(plan->makespan_ms == best->makespan_ms);
        for (int32_t k = 1; k < plan->n_ops && prices[i] > 1000; k++) /* inputs lie on the host: all of it is there */
            if (berth_costs_op_ms(f->costs, k, 0) > 0) assert_int_equal(plan->ops[k].device, f->devices->host);
        last = work;
        berth_plan_free(plan);
    }
    berth_plan_free(best);
}

static void a_rule_keeps_to_what_is_allowed(void **state) {
    fixture *f = *state;
    const berth_rule bans[] = {{"Concat", f->devices->devices[1].name}};
    berth_limits limits = {.bans = bans, .n_bans = 1};
    berth_plan *plan = NULL;
    int32_t n_banned = 0;
    f->options.limits = &limits;
    assert_int_equal(berth_lead_by_rule(f->ctx, &plan, f->graph, f->devices, &f->options, 1), BERTH_OK);
    for (int32_t i = 0; i < plan->n_ops; i++) {
        const berth_op *op = berth_graph_op(f->graph, i);
        if (!(berth_costs_op_ms(f->costs, i, 1) > 0)) continue;
        bool is_banned = strcmp(op->type, "Concat") == 0;
        assert_int_equal(plan->ops[i].device, is_banned ? 0 : 1);
        n_banned += is_banned;
    }
    assert_true(n_banned > 5);
    assert_true(plan->makespan_ms == simulate(f, plan));
    berth_plan_free(plan);
}

/* One of two that must be together is banned: both are elsewhere. */
static void a_rule_keeps_together_what_must_be(void **state) {
    fixture *f = *state;
    const char *device = f->devices->devices[1].name;
    const berth_rule bans[] = {{"Concat", device}}, together[] = {{"[CA]*", NULL}};
    berth_limits limits = {.bans = bans, .n_bans = 1, .together = together, .n_together = 1};
    berth_plan *plan = NULL;
    bool allowed[2] = {false, true};
    int32_t n = 0;
    f->options.limits = &limits;
    assert_int_equal(berth_lead_by_rule(f->ctx, &plan, f->graph, f->devices, &f->options, 1), BERTH_OK);
    for (int32_t i = 0; i < plan->n_ops; i++) {
        char first = berth_graph_op(f->graph, i)->type[0];
        if ((first != 'C' && first != 'A') || !(berth_costs_op_ms(f->costs, i, 1) > 0)) continue;
        assert_int_equal(plan->ops[i].device, 0);
        n++;
    }
    assert_true(n > 100);
    berth_plan_free(plan);
    assert_int_equal(berth_lead_singles(f->ctx, f->graph, f->devices, &f->options, allowed), BERTH_OK);
    assert_true(allowed[0] && !allowed[1]); /* no device that an operation is kept from */
    const berth_memory_rule memory[] = {{f->devices->devices[0].name, 2e7}};
    limits = (berth_limits){.memory = memory, .n_memory = 1};
    assert_int_equal(berth_lead_singles(f->ctx, f->graph, f->devices, &f->options, allowed), BERTH_OK);
    assert_true(!allowed[0] && allowed[1]); /* nor one without the memory */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_price_moves_boundaries, open_model, close_model),
        cmocka_unit_test_setup_teardown(a_rule_keeps_to_what_is_allowed, open_model, close_model),
        cmocka_unit_test_setup_teardown(a_rule_keeps_together_what_must_be, open_model, close_model),
    };
    return cmocka_run_group_tests_name("place.leads", tests, NULL, NULL);
}
