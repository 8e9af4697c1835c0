/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a model and prints how big it is: the smallest useful program on libberth.
 *
 *     cc inspect_graph.c $(pkg-config --cflags --libs berth) -o inspect_graph
 *     ./inspect_graph model.onnx
 */
#include <berth/berth.h>

#include <inttypes.h>
#include <stdio.h>

static berth_status print_counts(berth_ctx *ctx, const char *path) {
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read(ctx, &graph, path, NULL);
    if (status != BERTH_OK) return status;

    berth_work *work = NULL;
    status = berth_work_compute(ctx, &work, graph);
    if (status == BERTH_OK) {
        printf("format:     %s\n", berth_format_name(berth_graph_format(graph)));
        printf("operations: %" PRId32 "\n", berth_graph_op_count(graph));
        printf("edges:      %" PRId32 "\n", berth_graph_edge_count(graph));
        printf("pairs:      %" PRId32 "\n", berth_graph_pair_count(graph));
        printf("parameters: %" PRId64 "\n", work->parameters);
        printf("GFLOP:      %.2f\n", work->flops / 1e9);
    }
    berth_work_free(work);
    berth_graph_free(graph);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: inspect_graph MODEL\n");
        return 2;
    }
    berth_ctx *ctx = NULL;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return 1;
    berth_status status = print_counts(ctx, argv[1]);
    if (status != BERTH_OK) fprintf(stderr, "inspect_graph: %s\n", berth_ctx_message(ctx));
    berth_ctx_free(ctx);
    return status == BERTH_OK ? 0 : 1;
}
