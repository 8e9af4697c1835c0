/* SPDX-License-Identifier: Apache-2.0 */
/* Prints types and shapes of the tensors of any number of models, for scripts that compare them with another's:
 *
 *   file     path, then one of
 *   tensor   name, type, dimensions ("?" unknown, "-" no rank)      for every tensor
 *   refused  status, message
 *
 * Fields are separated by tabs. Paths come from the arguments; with "-" from standard input, one per line. Names are
 * written with %XX for bytes outside the printable ASCII range and '%'. */
#include "berth/berth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_name(const char *name) {
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c > 0x20 && *c < 0x7f && *c != '%')
            putchar(*c);
        else
            printf("%%%02X", *c);
}

static void print_tensor(const berth_tensor *tensor) {
    printf("tensor\t");
    print_name(tensor->name);
    printf("\t%s\t", berth_type_name(tensor->type));
    if (tensor->shape.rank < 0) putchar('-');
    for (int32_t i = 0; i < tensor->shape.rank; i++) {
        const berth_dim *dim = &tensor->shape.dims[i];
        if (i > 0) putchar(',');
        if (dim->min == dim->max)
            printf("%" PRId64, dim->min);
        else
            putchar('?');
    }
    putchar('\n');
}

static void print_file(berth_ctx *ctx, const char *path) {
    berth_graph *graph = NULL;
    printf("file\t%s\n", path);
    berth_status status = berth_graph_read(ctx, &graph, path, NULL);
    if (status == BERTH_OK) status = berth_graph_check(ctx, graph);
    if (status != BERTH_OK) printf("refused\t%d\t%s\n", (int)status, berth_ctx_message(ctx));
    for (int32_t i = 0; status == BERTH_OK && i < berth_graph_tensor_count(graph); i++)
        print_tensor(berth_graph_tensor(graph, i));
    berth_graph_free(graph);
}

int main(int argc, char **argv) {
    berth_ctx *ctx = NULL;
    if (argc < 2 || berth_ctx_new(&ctx, NULL) != BERTH_OK) return 2;
    static char line[4096];
    if (strcmp(argv[1], "-") == 0)
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\n")] = '\0';
            print_file(ctx, line);
        }
    else
        for (int i = 1; i < argc; i++) print_file(ctx, argv[i]);
    berth_ctx_free(ctx);
    return 0;
}
