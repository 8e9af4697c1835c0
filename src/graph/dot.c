/* SPDX-License-Identifier: Apache-2.0 */
/* A graph for Graphviz. Colours are pale, so that black text stays readable on them, and told apart by people who do
 * not see all of them (after Okabe and Ito); more classes than colours share them, and the legend has all names. */
#include "berth/print.h"

#include <inttypes.h>

static const char *const colours[] = {"#cfe3f5", "#fbdcb4", "#c8ead9", "#f5cfe3", "#f7f0b0", "#dccdf0", "#d9d9d9"};
enum { N_COLOURS = sizeof colours / sizeof *colours };

static bool is_constant(const berth_graph *graph, int32_t op) {
    return berth_graph_op(graph, op)->flags & BERTH_OP_CONSTANT;
}

static void put_node(berth_text *text, const berth_graph *graph, const berth_dot_classes *classes, int32_t index) {
    const berth_op *op = berth_graph_op(graph, index);
    berth_text_printf(text, "  n%" PRId32 " [label=\"", index);
    berth_text_label(text, op->type);
    berth_text_append(text, "\\n", 2);
    berth_text_label(text, op->name);
    berth_text_printf(text, "\"");
    if (is_constant(graph, index))
        berth_text_printf(text, ", color=gray, fontcolor=gray");
    else if (classes)
        berth_text_printf(text, ", style=filled, fillcolor=\"%s\"", colours[classes->class_of_op[index] % N_COLOURS]);
    berth_text_printf(text, "];\n");
}

static void put_edge(berth_text *text, const berth_graph *graph, const berth_dot_classes *classes, int32_t index) {
    const berth_edge *edge = berth_graph_edge(graph, index);
    bool constant = is_constant(graph, edge->from);
    bool crosses = classes && !constant && classes->class_of_op[edge->from] != classes->class_of_op[edge->to];
    berth_text_printf(text, "  n%" PRId32 " -> n%" PRId32 " [label=\"", edge->from, edge->to);
    if (edge->tensor >= 0) berth_text_shape(text, &berth_graph_tensor(graph, edge->tensor)->shape, berth_text_label);
    berth_text_printf(text, "\"%s%s%s];\n", constant ? ", color=gray, fontcolor=gray" : "",
                      crosses ? ", penwidth=3" : "", edge->to_port < 0 ? ", style=dashed" : "");
}

static void put_legend(berth_text *text, const berth_dot_classes *classes) {
    berth_text_printf(text, "  subgraph cluster_legend {\n    label=\"devices\";\n    fontname=\"sans-serif\";\n");
    for (int32_t i = 0; i < classes->n; i++) {
        berth_text_printf(text, "    d%" PRId32 " [label=\"", i);
        berth_text_label(text, classes->names[i]);
        berth_text_printf(text, "\", style=filled, fillcolor=\"%s\"];\n", colours[i % N_COLOURS]);
    }
    berth_text_printf(text, "  }\n");
}

void berth_graph_dot(berth_text *text, const berth_graph *graph, const berth_dot_classes *classes) {
    int32_t n_edges = berth_graph_edge_count(graph) + berth_graph_capture_count(graph);
    berth_text_printf(text, "digraph \"");
    berth_text_label(text, berth_graph_name(graph));
    berth_text_printf(text, "\" {\n  node [shape=box, fontname=\"sans-serif\"];\n"
                            "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    if (classes) put_legend(text, classes);
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++) put_node(text, graph, classes, op);
    for (int32_t edge = 0; edge < n_edges; edge++) put_edge(text, graph, classes, edge);
    berth_text_printf(text, "}\n");
}
