/* SPDX-License-Identifier: Apache-2.0 */
/* The validator must accept what the builder makes and notice each single damage to it. */
#include "graphs.h"

#include "graph/graph.h"

#include <math.h>

static const char text[] = "input x f32 2x3\n"
                           "initializer w f32 2 = 0000803f00000040\n"
                           "Constant -> c f32 2\n"
                           "A x w as first -> a f32 2x3 ; k = 1\n"
                           "B x a a -> b f32 2x3\n"
                           "If a c +x +a +b -> r f32 2x3 , s f32 *\n"
                           "RandomNormalLike r -> n f32 2x3\n"
                           "output r\n";

/* In `text`: operations 0 to 4; tensors x 0, w 1, c 2, a 3, b 4, r 5, s 6, n 7; explicit edges a-b, a-b, a-If, c-If,
 * If-Random, captures a-If, b-If. */
enum { X, W, C, A, B, R, S, N };

static void damage_nothing(berth_graph *g) {
    (void)g;
}

#define DAMAGE(name, statement)                 \
    static void damage_##name(berth_graph *g) { \
        statement;                              \
    }

DAMAGE(input_range, ((int32_t *)g->ops[1].inputs)[0] = 99)
DAMAGE(input_negative, ((int32_t *)g->ops[1].inputs)[0] = -2)
DAMAGE(capture_missing, ((int32_t *)g->ops[3].inputs)[2] = -1)
DAMAGE(input_other, ((int32_t *)g->ops[2].inputs)[1] = C)
DAMAGE(input_loose, g->tensors[X].flags = 0)
DAMAGE(output_other, ((int32_t *)g->ops[1].outputs)[0] = B)
DAMAGE(output_range, ((int32_t *)g->ops[1].outputs)[0] = 8)
DAMAGE(name_missing, g->ops[1].name = NULL)
DAMAGE(type_missing, g->ops[1].type = NULL)
DAMAGE(ports_missing, g->ops[1].inputs = NULL)
DAMAGE(ports_negative, g->ops[1].n_outputs = -1)
DAMAGE(nested_without_body, g->ops[1].n_nested_ops = 1)
DAMAGE(captures_without_body, g->ops[3].n_bodies = 0)
DAMAGE(blob_negative, g->ops[1].blob_bytes = -1)
DAMAGE(attributes_missing, g->ops[1].attributes = NULL)
DAMAGE(attribute_nameless, ((berth_attribute *)g->ops[1].attributes)->name = NULL)
DAMAGE(attribute_valueless, ((berth_attribute *)g->ops[1].attributes)->ints = NULL)
DAMAGE(attribute_digest, ((berth_attribute *)g->ops[1].attributes)->kind = BERTH_ATTRIBUTE_OPAQUE)
DAMAGE(tensor_nameless, g->tensors[A].name = NULL)
DAMAGE(tensor_type, g->tensors[A].type = BERTH_TYPE_COUNT)
DAMAGE(tensor_producer, g->tensors[A].producer = 2)
DAMAGE(tensor_producer_range, g->tensors[A].producer = 5)
DAMAGE(tensor_port, g->tensors[A].port = 1)
DAMAGE(tensor_port_alone, g->tensors[X].port = 0)
DAMAGE(tensor_bytes, g->tensors[A].bytes = 23)
DAMAGE(tensor_initializer, g->tensors[A].flags |= BERTH_TENSOR_INITIALIZER)
DAMAGE(tensor_constant, g->tensors[A].flags |= BERTH_TENSOR_CONSTANT)
DAMAGE(tensor_not_constant, g->tensors[W].flags &= ~(uint32_t)BERTH_TENSOR_CONSTANT)
DAMAGE(rank_low, g->tensors[S].shape.rank = -2)
DAMAGE(rank_high, g->tensors[S].shape.rank = 65)
DAMAGE(dim_negative, ((berth_dim *)g->tensors[A].shape.dims)[0].min = -1)
DAMAGE(dim_order, ((berth_dim *)g->tensors[A].shape.dims)[0].max = 1)
DAMAGE(dim_overflow, ((berth_dim *)g->tensors[A].shape.dims)[0] = ((berth_dim){INT64_MAX, INT64_MAX, NULL}))
DAMAGE(content_size, g->tensors[W].content_size = 7)
DAMAGE(content_large, g->tensors[W].content_size = 1025)
DAMAGE(content_missing, g->tensors[W].content = NULL)
DAMAGE(content_elsewhere, g->tensors[A].content = "")
DAMAGE(payload_negative, g->tensors[W].payload_bytes = -1)
DAMAGE(edge_from, g->edges[0].from = 0)
DAMAGE(edge_to, g->edges[0].to = 5)
DAMAGE(edge_tensor, g->edges[0].tensor = X)
DAMAGE(edge_to_port, g->edges[0].to_port = 2)
DAMAGE(edge_from_port, g->edges[0].from_port = 1)
DAMAGE(edge_swapped, g->edges[0].to_port = 0)
DAMAGE(capture_port, g->edges[6].to_port = 0)
DAMAGE(capture_lost, (g->n_captures--, g->out_start[5]--, g->in_start[5]--))
DAMAGE(edge_lost, (g->n_edges--, g->n_captures++))
DAMAGE(out_row, g->out_start[1]++)
DAMAGE(out_start, g->out_start[0] = 1)
DAMAGE(out_list, g->out_edges[0] = g->out_edges[1])
DAMAGE(in_list, g->in_edges[0] = 99)
DAMAGE(in_end, g->in_start[5] = 6)
DAMAGE(order_swapped, (g->order[0] = 1, g->order[1] = 0, g->rank[0] = 1, g->rank[1] = 0))
DAMAGE(order_not_topological, (g->order[2] = 3, g->order[3] = 2, g->rank[2] = 3, g->rank[3] = 2))
DAMAGE(rank_wrong, g->rank[0] = 1)
DAMAGE(pairs, g->n_pairs++)
DAMAGE(op_constant, g->ops[1].flags |= BERTH_OP_CONSTANT)
DAMAGE(op_not_constant, g->ops[0].flags &= ~(uint32_t)BERTH_OP_CONSTANT)
DAMAGE(op_pure, g->ops[4].flags &= ~(uint32_t)BERTH_OP_IMPURE)
DAMAGE(inputs_lost, g->n_inputs = 0)
DAMAGE(inputs_other, g->inputs[0] = A)
DAMAGE(outputs_range, g->outputs[0] = 8)
DAMAGE(input_produced, (g->tensors[A].flags |= BERTH_TENSOR_INPUT))
DAMAGE(count_negative, g->n_captures = -1)
DAMAGE(model_nameless, g->name = NULL)
DAMAGE(fingerprint_short, g->fingerprint[63] = 0)
DAMAGE(fingerprint_upper, g->fingerprint[0] = 'A')
DAMAGE(rows_missing, g->order = NULL)
DAMAGE(tensors_missing, g->tensors = NULL)
DAMAGE(edges_missing, g->edges = NULL)

static void each_damage_is_noticed(void **unused) {
    (void)unused;
    static const struct {
        void (*apply)(berth_graph *);
        const char *fragment; /* NULL: no damage */
    } damages[] = {
        {damage_nothing, NULL},
        {damage_input_range, "operation 1: input 0 is no tensor"},
        {damage_input_negative, "operation 1: input 0 is no tensor"},
        {damage_capture_missing, "operation 3: input 2 is no tensor"},
        {damage_input_other, "no such input port"},
        {damage_input_loose, "nothing produces"},
        {damage_output_other, "operation 1: output 0 says it comes from elsewhere"},
        {damage_output_range, "operation 1: output 0 is no tensor"},
        {damage_name_missing, "no name"},
        {damage_type_missing, "no name"},
        {damage_ports_missing, "the ports are missing"},
        {damage_ports_negative, "negative counts"},
        {damage_nested_without_body, "without a nested graph"},
        {damage_captures_without_body, "captures without a nested graph"},
        {damage_blob_negative, "blob"},
        {damage_attributes_missing, "the attributes are missing"},
        {damage_attribute_nameless, "no name or no kind"},
        {damage_attribute_valueless, "'k' has no value"},
        {damage_attribute_digest, "'k' has no value"},
        {damage_tensor_nameless, "tensor 3: no name"},
        {damage_tensor_type, "no element type"},
        {damage_tensor_producer, "comes from elsewhere"},
        {damage_tensor_producer_range, "comes from elsewhere"},
        {damage_tensor_port, "comes from elsewhere"},
        {damage_tensor_port_alone, "a port without a producer"},
        {damage_tensor_bytes, "23 bytes, but type and shape give 24"},
        {damage_tensor_initializer, "an initializer with a producer"},
        {damage_tensor_constant, "wrongly marked as"},
        {damage_tensor_not_constant, "not constant"},
        {damage_rank_low, "rank -2"},
        {damage_rank_high, "rank 65"},
        {damage_dim_negative, "dimension 0 is no range"},
        {damage_dim_order, "dimension 0 is no range"},
        {damage_dim_overflow, "does not fit 64 bits"},
        {damage_content_size, "content of 7 bytes"},
        {damage_content_large, "out of bounds"},
        {damage_content_missing, "the content is missing"},
        {damage_content_elsewhere, "content of 0 bytes"},
        {damage_payload_negative, "out of bounds"},
        {damage_edge_from, "comes from elsewhere"},
        {damage_edge_to, "does not exist"},
        {damage_edge_tensor, "comes from elsewhere"},
        {damage_edge_to_port, "already"},
        {damage_edge_from_port, "comes from elsewhere"},
        {damage_edge_swapped, "no such input port"},
        {damage_capture_port, "a capture with a port"},
        {damage_capture_lost, "capture 2 has no edge"},
        {damage_edge_lost, "not by edges"},
        {damage_out_row, "out-edges of 0"},
        {damage_out_start, "do not cover"},
        {damage_out_list, "out-edges of 0"},
        {damage_in_list, "no such edge"},
        {damage_in_end, "do not cover"},
        {damage_order_swapped, "first-in, first-out"},
        {damage_order_not_topological, "stands before what it reads"},
        {damage_rank_wrong, "disagree"},
        {damage_pairs, "5 pairs, but the edges have 4"},
        {damage_op_constant, "wrongly marked as a constant"},
        {damage_op_not_constant, "wrongly marked as a constant"},
        {damage_op_pure, "not marked so"},
        {damage_inputs_lost, "the flag and the list"},
        {damage_inputs_other, "the flag and the list"},
        {damage_outputs_range, "model input or output 0 is no tensor"},
        {damage_input_produced, "a model input with a producer"},
        {damage_count_negative, "negative counts"},
        {damage_model_nameless, "missing"},
        {damage_fingerprint_short, "fingerprint"},
        {damage_fingerprint_upper, "fingerprint"},
        {damage_rows_missing, "operations are missing"},
        {damage_tensors_missing, "tensors are missing"},
        {damage_edges_missing, "edges are missing"},
    };
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        berth_graph *graph = support_graph(ctx, text);
        damages[i].apply(graph);
        berth_status status = berth_graph_check(ctx, graph);
        assert_int_equal(status, damages[i].fragment ? BERTH_E_FORMAT : BERTH_OK);
        if (damages[i].fragment && !strstr(berth_ctx_message(ctx), damages[i].fragment))
            fail_msg("damage %zu: '%s' does not say '%s'", i, berth_ctx_message(ctx), damages[i].fragment);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

static void expect_given(berth_ctx *ctx, berth_graph *graph, berth_given_costs given, berth_status status) {
    graph->given = &given;
    assert_int_equal(berth_graph_check(ctx, graph), status);
    graph->given = NULL;
}

static void given_costs(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "A -> a f32 1\nB a -> b f32 1\n");
    const char *const names[] = {"cpu", "gpu"};
    double op_ms[] = {1, INFINITY, 0, 2}, amount[] = {3}, link[] = {0, INFINITY, 1, 0}, edge_ms[] = {0, 1, 1, 0};
    double memory[] = {1, 2}, capacity[] = {INFINITY, 1};
    int32_t colour[] = {-1, 0};
    const berth_given_costs by_link = {.n_devices = 2,
                                       .device_names = names,
                                       .op_ms = op_ms,
                                       .edge_amount = amount,
                                       .link_ms = link,
                                       .op_memory = memory,
                                       .capacity = capacity,
                                       .colour = colour};
    const berth_given_costs by_edge = {.n_devices = 2, .device_names = names, .op_ms = op_ms, .edge_ms = edge_ms};
    expect_given(ctx, graph, by_link, BERTH_OK);
    expect_given(ctx, graph, by_edge, BERTH_OK);
    double *const values[] = {op_ms + 3, amount, link + 1, memory + 1, capacity, edge_ms + 2};
    const bool may_be_infinite[] = {true, false, true, false, true, false};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double bad[] = {-1, NAN, -INFINITY, may_be_infinite[i] ? NAN : INFINITY};
        double kept = *values[i];
        for (int k = 0; k < 4; k++) {
            *values[i] = bad[k];
            expect_given(ctx, graph, values[i] == edge_ms + 2 ? by_edge : by_link, BERTH_E_FORMAT);
        }
        *values[i] = kept;
    }
    berth_given_costs damaged = by_link;
    damaged.n_devices = 0;
    expect_given(ctx, graph, damaged, BERTH_E_FORMAT);
    damaged = by_link;
    damaged.max_cpus = -1;
    expect_given(ctx, graph, damaged, BERTH_E_FORMAT);
    damaged = by_link;
    damaged.link_ms = NULL;
    expect_given(ctx, graph, damaged, BERTH_E_FORMAT);
    damaged = by_edge;
    damaged.link_ms = link;
    expect_given(ctx, graph, damaged, BERTH_E_FORMAT);
    damaged = by_link;
    damaged.device_names = (const char *const[]){"cpu", NULL};
    expect_given(ctx, graph, damaged, BERTH_E_FORMAT);
    colour[0] = -2;
    expect_given(ctx, graph, by_link, BERTH_E_FORMAT);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_damage_is_noticed),
        cmocka_unit_test(given_costs),
    };
    return cmocka_run_group_tests_name("graph.check", tests, NULL, NULL);
}
