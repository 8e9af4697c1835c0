/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model to be annotated. Whatever the reader takes can be annotated, reads back with the same
 * fingerprint, and taking the annotations away gives what was there before; if there were none, the input itself. What
 * the reader refuses, and the search for external data, may be refused here too, but leave nothing behind. The last
 * byte chooses the tags. */
#include "protobuf_mutator.h"

#include "read/onnx_external.h"
#include "read/onnx_splice.h"

typedef struct collected {
    char *bytes;
    size_t n;
} collected;

static berth_status take_bytes(void *user, const char *bytes, size_t n) {
    collected *c = user;
    char *grown = realloc(c->bytes, c->n + n + 1);
    if (!grown) abort();
    c->bytes = grown;
    if (n) memcpy(c->bytes + c->n, bytes, n);
    c->n += n;
    return BERTH_OK;
}

static collected unannotate(berth_ctx *ctx, const collected *from) {
    collected out = {0};
    berth_source source = {.name = "input", .bytes = from->bytes, .size = from->n};
    demand(berth_onnx_unannotate(ctx, &source, take_bytes, &out) == BERTH_OK, "a way back", berth_ctx_message(ctx));
    return out;
}

static bool same(const collected *a, const collected *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

static void annotate(berth_ctx *ctx, const collected *in, const berth_graph *graph, uint8_t choice) {
    static const char *const texts[] = {"g", "c"};
    int32_t n = berth_graph_op_count(graph);
    int32_t *of_node = malloc(((size_t)n + 1) * sizeof *of_node);
    if (!of_node) abort();
    for (int32_t i = 0; i < n; i++) of_node[i] = (choice >> (i % 8)) & 1;
    collected out = {0}, again = {0};
    berth_source source = {.name = "input", .bytes = in->bytes, .size = in->n};
    berth_onnx_tags tags = {texts, of_node, n};
    demand(berth_onnx_annotate(ctx, &source, &tags, take_bytes, &out) == BERTH_OK, "annotated", berth_ctx_message(ctx));
    berth_graph *after = NULL;
    berth_status status = berth_graph_read_memory(ctx, &after, out.bytes, out.n, "input", NULL);
    demand(status == BERTH_OK, "a model still", berth_ctx_message(ctx));
    demand(strcmp(berth_graph_fingerprint(graph), berth_graph_fingerprint(after)) == 0, "the same fingerprint", "");
    berth_graph_free(after);
    collected bare = unannotate(ctx, in), back = unannotate(ctx, &out);
    demand(same(&bare, &back), "the original back", "");
    demand(in->n != bare.n || same(in, &bare), "the input where there was no annotation", "");
    berth_source other = {.name = "input", .bytes = bare.bytes, .size = bare.n};
    demand(berth_onnx_annotate(ctx, &other, &tags, take_bytes, &again) == BERTH_OK, "annotated",
           berth_ctx_message(ctx));
    demand(same(&again, &out), "the same annotations whatever was there before", "");
    free(again.bytes);
    free(bare.bytes);
    free(back.bytes);
    free(out.bytes);
    free(of_node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || (data[0] == 0x1f && data[1] == 0x8b)) return 0; /* gzip is another target's business */
    meter m = {0};
    berth_allocator allocator = {metered_resize, &m};
    berth_ctx *ctx = NULL;
    berth_graph *graph = NULL;
    demand(berth_ctx_new(&ctx, &allocator) == BERTH_OK, "a context", "");
    collected in = {(char *)(uintptr_t)data, size};
    berth_source source = {.name = "input", .bytes = in.bytes, .size = size};
    if (berth_graph_read_memory(ctx, &graph, data, size, "input", NULL) == BERTH_OK &&
        berth_graph_format(graph) == BERTH_FORMAT_ONNX) {
        annotate(ctx, &in, graph, data[size - 1]);
    } else {
        collected out = {0};
        demand(berth_onnx_unannotate(ctx, &source, take_bytes, &out) != BERTH_E_NOMEM, "memory", "");
        free(out.bytes);
    }
    /* /dev/null stands for a file in a folder that is everywhere. */
    berth_arena arena;
    berth_onnx_externals externals;
    berth_arena_init(&arena, &allocator);
    berth_status status = berth_onnx_external_find(ctx, &arena, &source, "/dev/null", &externals);
    demand(status == BERTH_OK || status == BERTH_E_FORMAT || status == BERTH_E_IO, "external data", "");
    berth_arena_deinit(&arena);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
    demand(m.live == 0, "no leak", "");
    return 0;
}
