/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a graph as lines of tab-separated fields, for scripts that compare it with another reader's view:
 *
 *   graph    name, version, operations, edges, pairs, captures
 *   op       index, name, type, domain, unnamed, inputs, captures, outputs, attributes, bodies, nested operations
 *   tensor   name, flags, type, dimensions ("?" unknown, "-" no rank), payload bytes, content in hexadecimal or "-"
 *   inputs, outputs    names
 *
 * Names are written with %XX for bytes outside the printable ASCII range, '%' and ','; lists are joined by ','. The
 * status and the message of a file that is refused go to standard output as "refused". */
#include "berth/berth.h"

#include <inttypes.h>
#include <stdio.h>

static void print_name(const char *name) {
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c > 0x20 && *c < 0x7f && *c != '%' && *c != ',')
            putchar(*c);
        else
            printf("%%%02X", *c);
}

static void print_tensors(const berth_graph *graph, const int32_t *tensors, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if (i > 0) putchar(',');
        if (tensors[i] >= 0) print_name(berth_graph_tensor(graph, tensors[i])->name);
    }
}

static void print_attributes(const berth_op *op) {
    static const char *const kinds[] = {"ints", "floats", "string", "opaque"};
    for (int32_t i = 0; i < op->n_attributes; i++) {
        const berth_attribute *a = &op->attributes[i];
        if (i > 0) putchar(',');
        print_name(a->name);
        printf("=%s%s", kinds[a->kind], a->is_list ? "*" : "");
        for (int32_t k = 0; a->kind == BERTH_ATTRIBUTE_INTS && k < a->count; k++) printf(":%" PRId64, a->ints[k]);
        for (int32_t k = 0; a->kind == BERTH_ATTRIBUTE_FLOATS && k < a->count; k++) printf(":%.9g", a->floats[k]);
        for (int32_t k = 0; a->kind == BERTH_ATTRIBUTE_STRING && k < a->count; k++)
            printf("%s%02x", k ? "" : ":", (unsigned char)a->string[k]);
    }
}

static void print_op(const berth_graph *graph, int32_t index) {
    const berth_op *op = berth_graph_op(graph, index);
    printf("op\t%d\t", (int)index);
    print_name(op->name);
    putchar('\t');
    print_name(op->type);
    putchar('\t');
    print_name(op->domain);
    printf("\t%d\t", (op->flags & BERTH_OP_UNNAMED) != 0);
    print_tensors(graph, op->inputs, op->n_inputs);
    putchar('\t');
    print_tensors(graph, op->inputs + op->n_inputs, op->n_captures);
    putchar('\t');
    print_tensors(graph, op->outputs, op->n_outputs);
    putchar('\t');
    print_attributes(op);
    printf("\t%d\t%d\n", (int)op->n_bodies, (int)op->n_nested_ops);
}

static void print_tensor(const berth_tensor *tensor) {
    printf("tensor\t");
    print_name(tensor->name);
    printf("\t%" PRIu32 "\t%s\t", tensor->flags, berth_type_name(tensor->type));
    if (tensor->shape.rank < 0) putchar('-');
    for (int32_t i = 0; i < tensor->shape.rank; i++) {
        const berth_dim *dim = &tensor->shape.dims[i];
        if (i > 0) putchar(',');
        if (dim->min == dim->max)
            printf("%" PRId64, dim->min);
        else
            putchar('?');
    }
    printf("\t%" PRId64 "\t", tensor->payload_bytes);
    if (!tensor->content) putchar('-');
    for (int64_t i = 0; i < tensor->content_size; i++) printf("%02x", ((const unsigned char *)tensor->content)[i]);
    putchar('\n');
}

static void print_graph(const berth_graph *graph) {
    printf("graph\t");
    print_name(berth_graph_name(graph));
    printf("\t%" PRId64 "\t%d\t%d\t%d\t%d\n", berth_graph_version(graph), (int)berth_graph_op_count(graph),
           (int)berth_graph_edge_count(graph), (int)berth_graph_pair_count(graph),
           (int)berth_graph_capture_count(graph));
    for (int32_t i = 0; i < berth_graph_op_count(graph); i++) print_op(graph, i);
    for (int32_t i = 0; i < berth_graph_tensor_count(graph); i++) print_tensor(berth_graph_tensor(graph, i));
    int32_t n = 0;
    const int32_t *list = berth_graph_inputs(graph, &n);
    printf("inputs\t");
    print_tensors(graph, list, n);
    list = berth_graph_outputs(graph, &n);
    printf("\noutputs\t");
    print_tensors(graph, list, n);
    putchar('\n');
}

int main(int argc, char **argv) {
    berth_ctx *ctx = NULL;
    berth_graph *graph = NULL;
    if (argc != 2 || berth_ctx_new(&ctx, NULL) != BERTH_OK) return 2;
    berth_status status = berth_graph_read(ctx, &graph, argv[1], NULL);
    if (status == BERTH_OK)
        print_graph(graph);
    else
        printf("refused\t%d\t%s\n", (int)status, berth_ctx_message(ctx));
    berth_graph_free(graph);
    berth_ctx_free(ctx);
    return status == BERTH_OK ? 0 : 3;
}
