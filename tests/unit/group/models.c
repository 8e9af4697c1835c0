/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of the bundled models: the counts of the publication's rules, and the group of every layer of ResNet-50 as the
 * authors' code numbers them (tests/fixtures/hsdag). */
#include "graphs.h"

#include "graph/graph.h"

#include <stdio.h>

static const struct {
    const char *path;
    int32_t paper[2], code[2]; /* groups, edges between them */
} models[] = {
    {"models/ir/resnet50.xml", {237, 252}, {237, 252}},
    {"models/ir/inception_v3.xml", {435, 471}, {424, 460}},
    {"models/ir/bert_base.xml", {756, 814}, {755, 813}},
};

static void counts(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        berth_graph *graph = support_read(ctx, support_source(models[i].path));
        for (int rule = BERTH_GROUP_PAPER; rule <= BERTH_GROUP_FUSED; rule++) {
            berth_groups *groups = NULL;
            assert_int_equal(berth_groups_build(ctx, &groups, graph, (berth_group_rule)rule), BERTH_OK);
            assert_int_equal(berth_groups_check(ctx, groups, graph), BERTH_OK);
            const int32_t *expected = rule == BERTH_GROUP_PAPER ? models[i].paper : models[i].code;
            if (rule != BERTH_GROUP_FUSED) {
                assert_int_equal(groups->n_groups, expected[0]);
                assert_int_equal(groups->n_edges, expected[1]);
            } else {
                assert_true(groups->n_groups < models[i].paper[0] / 2);
            }
            berth_groups_free(groups);
        }
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

static char *slurp(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is missing", path);
    enum { SIZE = 1 << 16 };
    char *text = calloc(1, SIZE + 1);
    assert_true(fread(text, 1, SIZE, file) < SIZE);
    fclose(file);
    return text;
}

static void every_layer_of_resnet50(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    char *json = slurp(support_source("tests/fixtures/hsdag/resnet50.groups.json"));
    berth_graph *graph = support_read(ctx, support_source("models/ir/resnet50.xml"));
    berth_groups *groups = NULL;
    assert_int_equal(berth_groups_build(ctx, &groups, graph, BERTH_GROUP_CODE), BERTH_OK);
    for (int32_t op = 0; op < graph->n_ops; op++) {
        char key[40];
        snprintf(key, sizeof key, "\"%lld\": ", (long long)graph->ops[op].id);
        const char *at = strstr(json, key);
        if (!at) fail_msg("no layer %s in the fixture", key);
        assert_int_equal(groups->group_of[op], strtol(at + strlen(key), NULL, 10));
    }
    berth_groups_free(groups);
    berth_graph_free(graph);
    free(json);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(every_layer_of_resnet50),
    };
    return cmocka_run_group_tests_name("group.models", tests, NULL, NULL);
}
