/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint: one frozen value that an independent program confirms (tests/oracle/fingerprint.py), and that each
 * thing it covers changes it while nothing else does. */
#include "graphs.h"

#include "graph/graph.h"

#include <stdio.h>

static const char model[] = "input x f32 1x?x2..5\n"
                            "initializer k i64 1 = 0500000000000000\n"
                            "initializer w f16 4x3x3x3\n"
                            "initializer unused i8 scalar\n"
                            "Conv x w - k as first -> y f32 1x4 ; strides = 1,2 ; group = 1 ; auto_pad = 'VALID' ;"
                            " alpha = 0.5 ; value = opaque\n"
                            "com.microsoft:Gelu y +x -> z unknown * , -\n"
                            "output z\n"
                            "output y\n";

static void take(berth_ctx *ctx, berth_format format, const char *text, char fingerprint[65]) {
    berth_graph *graph = NULL;
    if (support_graph_build(ctx, &graph, format, text) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    memcpy(fingerprint, berth_graph_fingerprint(graph), 65);
    berth_graph_free(graph);
}

/* `model` with the first `old` replaced. */
static char *edit(const char *old, const char *new) {
    const char *at = strstr(model, old);
    if (!at) fail_msg("'%s' is not in the model", old);
    size_t size = sizeof model + strlen(new);
    char *text = malloc(size);
    snprintf(text, size, "%.*s%s%s", (int)(at - model), model, new, at + strlen(old));
    return text;
}

static void frozen_value(void **unused) {
    (void)unused;
    static const char frozen[] = "ed41be6d16b76954783e702218105c0fa2e4c6df5a03c004078e350a71152cc3";
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char got[65];
    take(ctx, BERTH_FORMAT_ONNX, model, got);
    assert_string_equal(got, frozen);
    berth_ctx_free(ctx);
}

static void whatever_is_covered_changes_it(void **unused) {
    (void)unused;
    static const char *const edits[][2] = {
        {"as first", "as second"},                            /* names of operations */
        {" as first", ""},                                    /* and that there is one */
        {"Conv", "Conv2"},                                    /* types */
        {"com.microsoft:Gelu", "Gelu"},                       /* domains */
        {"group = 1", "group = 2"},                           /* attributes: integers */
        {"group = 1", "group = [1]"},                         /* a list of one is not a single value */
        {"group = 1", "groups = 1"},                          /* names */
        {"strides = 1,2", "strides = 2,1"},                   /* order of values */
        {"alpha = 0.5", "alpha = 0.25"},                      /* reals */
        {"alpha = 0.5", "alpha = '0.5'"},                     /* kinds */
        {"'VALID'", "'SAME'"},                                /* text */
        {" alpha = 0.5 ;", ""},                               /* number of attributes */
        {"input x f32", "input x f16"},                       /* element types */
        {"1x?x2..5", "1x?x2..6"},                             /* shapes: ranges */
        {"1x?x2..5", "1x7x2..5"},                             /* unknown dimensions */
        {"1x?x2..5", "1x?x2..5x1"},                           /* rank */
        {"unknown *", "unknown scalar"},                      /* a scalar is not an unknown rank */
        {"0500000000000000", "0600000000000000"},             /* content of constants */
        {" = 0500000000000000", ""},                          /* and that it is known */
        {"4x3x3x3", "4x3x1x9"},                               /* shapes of constants */
        {"initializer w f16 4x3x3x3", "input w f16 4x3x3x3"}, /* constants are not inputs */
        {"x w - k", "x k - w"},                               /* edges and ports */
        {"x w - k", "x w k"},                                 /* a port left out */
        {"Gelu y +x", "Gelu y x"},                            /* captures */
        {"Gelu y +x", "Gelu y +y"},                           /* what is captured */
        {" , -\n", "\n"},                                     /* outputs left out */
        {"output z\noutput y", "output y\noutput z"},         /* order of model outputs */
        {"output y\n", ""},                                   /* model outputs */
        {"initializer unused i8 scalar\n", ""},               /* constants that nothing reads */
        {"initializer unused i8 scalar\n", "initializer unused u8 scalar\n"},
    };
    enum { N = sizeof edits / sizeof *edits };
    static char seen[N + 1][65];
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    take(ctx, BERTH_FORMAT_ONNX, model, seen[N]);
    for (size_t i = 0; i < N; i++) {
        char *text = edit(edits[i][0], edits[i][1]);
        take(ctx, BERTH_FORMAT_ONNX, text, seen[i]);
        free(text);
    }
    for (size_t i = 0; i <= N; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(seen[i], seen[j]) == 0) fail_msg("edits %zu and %zu give the same fingerprint", i, j);
    berth_ctx_free(ctx);
}

static void what_is_not_covered_leaves_it(void **unused) {
    (void)unused;
    static const char *const edits[][2] = {
        {"strides = 1,2 ; group = 1", "group = 1 ; strides = 1,2"}, /* the order of attributes */
        {"initializer k i64 1 = 0500000000000000\ninitializer w f16 4x3x3x3\n",
         "initializer w f16 4x3x3x3\ninitializer k i64 1 = 0500000000000000\n"}, /* the order of initializers */
        {"input x f32 1x?x2..5\n", "\ninput x f32 1x?x2..5\n"},
    };
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char expected[65], got[65];
    take(ctx, BERTH_FORMAT_ONNX, model, expected);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *text = edit(edits[i][0], edits[i][1]);
        take(ctx, BERTH_FORMAT_ONNX, text, got);
        assert_string_equal(got, expected);
        free(text);
    }
    berth_ctx_free(ctx);
}

/* In IR the place of a constant in the weights file does not count; an attribute of that name elsewhere does. */
static void offsets_of_constants(void **unused) {
    (void)unused;
    static const char *const texts[] = {
        "Const -> c f32 2 ; offset = '0' ; size = '8'\nPriorBox c -> p f32 2 ; offset = '0.5'\n",
        "Const -> c f32 2 ; offset = '64' ; size = '8'\nPriorBox c -> p f32 2 ; offset = '0.5'\n",
        "Const -> c f32 2 ; offset = '0' ; size = '8'\nPriorBox c -> p f32 2 ; offset = '0'\n",
    };
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char got[3][65], onnx[2][65];
    for (int i = 0; i < 3; i++) take(ctx, BERTH_FORMAT_OPENVINO_IR, texts[i], got[i]);
    for (int i = 0; i < 2; i++) take(ctx, BERTH_FORMAT_ONNX, texts[i], onnx[i]);
    assert_string_equal(got[0], got[1]);
    assert_string_not_equal(got[0], got[2]);
    assert_string_not_equal(onnx[0], onnx[1]);
    berth_ctx_free(ctx);
}

/* Payloads, places, ids, the model's name and version: set behind the builder's back. */
static void rows_that_do_not_count(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char got[2][65];
    for (int i = 0; i < 2; i++) {
        berth_build *b = NULL;
        assert_int_equal(berth_build_new(ctx, &b, BERTH_FORMAT_ONNX, i ? "a.onnx" : "b.onnx"), BERTH_OK);
        berth_op op = {.name = "n", .type = "T", .domain = "", .id = i, .where = i};
        berth_tensor tensor = {.name = "t", .producer = -1, .port = -1, .type = BERTH_TYPE_F32};
        tensor.flags = BERTH_TENSOR_INITIALIZER | (i ? BERTH_TENSOR_EXTERNAL : 0);
        tensor.payload_bytes = 4 + i;
        b->graph->name = i ? "one" : "other";
        b->graph->version = i;
        int32_t t = berth_build_tensor(b, &tensor);
        assert_int_equal(berth_build_ports(b, berth_build_op(b, &op), &t, 1, 0, NULL, 0), BERTH_OK);
        assert_int_equal(berth_build_link(b), BERTH_OK);
        memcpy(got[i], b->graph->fingerprint, 65);
        berth_build_free(b);
    }
    assert_string_equal(got[0], got[1]);
    berth_ctx_free(ctx);
}

/* Attributes come out sorted whatever their number and order. */
static void many_attributes(void **unused) {
    (void)unused;
    enum { N = 300 };
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    static char names[N][16];
    char got[3][65];
    uint64_t state = 3;
    for (int round = 0; round < 3; round++) {
        berth_attribute attributes[N];
        int64_t values[N];
        for (int i = 0; i < N; i++) {
            snprintf(names[i], sizeof names[i], "a%03d", i);
            values[i] = round == 2 && i == 17 ? 99 : i;
            attributes[i] = (berth_attribute){.name = names[i], .count = 1, .ints = &values[i]};
        }
        for (uint32_t i = N - 1; i > 0 && round > 0; i--) {
            uint32_t j = support_below(&state, i + 1);
            berth_attribute swap = attributes[i];
            attributes[i] = attributes[j];
            attributes[j] = swap;
        }
        berth_build *b = NULL;
        assert_int_equal(berth_build_new(ctx, &b, BERTH_FORMAT_ONNX, "test"), BERTH_OK);
        berth_build_op(
            b, &(berth_op){.name = "n", .type = "T", .domain = "", .n_attributes = N, .attributes = attributes});
        assert_int_equal(berth_build_link(b), BERTH_OK);
        memcpy(got[round], b->graph->fingerprint, 65);
        berth_build_free(b);
    }
    assert_string_equal(got[0], got[1]);
    assert_string_not_equal(got[0], got[2]);
    berth_ctx_free(ctx);
}

/* The costs of a workload are what it is. */
static void given_costs_count(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char got[10][65];
    for (int i = 0; i < 10; i++) {
        berth_build *b = NULL;
        assert_int_equal(berth_build_new(ctx, &b, BERTH_FORMAT_MSR, "test"), BERTH_OK);
        berth_build_op(b, &(berth_op){.name = "n", .type = "T", .domain = ""});
        const char *names[] = {i == 1 ? "gpu" : "cpu"};
        double op_ms = i == 2 ? 2 : 1, link = i == 3 ? 2 : 1, memory = i == 4 ? 2 : 1, capacity = i == 5 ? 2 : 1;
        int32_t colour = i == 6;
        bool backward = i == 7;
        berth_given_costs given = {.n_devices = 1,
                                   .device_names = names,
                                   .op_ms = &op_ms,
                                   .edge_amount = &op_ms,
                                   .link_ms = &link,
                                   .op_memory = i == 9 ? NULL : &memory,
                                   .capacity = &capacity,
                                   .colour = &colour,
                                   .backward = &backward,
                                   .max_cpus = i == 8};
        b->graph->given = &given;
        assert_int_equal(berth_build_link(b), BERTH_OK);
        memcpy(got[i], b->graph->fingerprint, 65);
        for (int j = 0; j < i; j++) assert_string_not_equal(got[i], got[j]);
        berth_build_free(b);
    }
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_value),
        cmocka_unit_test(whatever_is_covered_changes_it),
        cmocka_unit_test(what_is_not_covered_leaves_it),
        cmocka_unit_test(offsets_of_constants),
        cmocka_unit_test(rows_that_do_not_count),
        cmocka_unit_test(many_attributes),
        cmocka_unit_test(given_costs_count),
    };
    return cmocka_run_group_tests_name("graph.fingerprint", tests, NULL, NULL);
}
