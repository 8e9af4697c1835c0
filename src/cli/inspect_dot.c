/* SPDX-License-Identifier: Apache-2.0 */
/* `berth inspect --dot`: the graph for Graphviz. Nodes are numbered and names stand in labels only, so that any name
 * will do. Constant expressions are grey, captures of nested graphs dashed; an edge shows the shape that travels. */
#include "cli/inspect.h"
#include "cli/tensors.h"

#include <inttypes.h>

static void put_node(berth_text *text, const berth_graph *graph, int32_t index) {
    const berth_op *op = berth_graph_op(graph, index);
    berth_text_printf(text, "  n%" PRId32 " [label=\"", index);
    cli_text_label(text, op->type);
    berth_text_append(text, "\\n", 2);
    cli_text_label(text, op->name);
    berth_text_printf(text, "\"%s];\n", op->flags & BERTH_OP_CONSTANT ? ", color=gray, fontcolor=gray" : "");
}

static void put_edge(berth_text *text, const berth_graph *graph, int32_t index) {
    const berth_edge *edge = berth_graph_edge(graph, index);
    bool constant = berth_graph_op(graph, edge->from)->flags & BERTH_OP_CONSTANT;
    berth_text_printf(text, "  n%" PRId32 " -> n%" PRId32 " [label=\"", edge->from, edge->to);
    if (edge->tensor >= 0) cli_text_shape(text, &berth_graph_tensor(graph, edge->tensor)->shape, cli_text_label);
    berth_text_printf(text, "\"%s%s];\n", constant ? ", color=gray, fontcolor=gray" : "",
                      edge->to_port < 0 ? ", style=dashed" : "");
}

void cli_inspect_dot(berth_text *text, const inspection *found) {
    const berth_graph *graph = found->graph;
    int32_t n_edges = berth_graph_edge_count(graph) + berth_graph_capture_count(graph);
    berth_text_printf(text, "digraph \"");
    cli_text_label(text, berth_graph_name(graph));
    berth_text_printf(text, "\" {\n  node [shape=box, fontname=\"sans-serif\"];\n"
                            "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++) put_node(text, graph, op);
    for (int32_t edge = 0; edge < n_edges; edge++) put_edge(text, graph, edge);
    berth_text_printf(text, "}\n");
}
