/* SPDX-License-Identifier: Apache-2.0 */
/* What is compared with what, on what.
 *
 * Cases: the bundled models, each on one set of devices, so that profiles and generated devices, two to eight of them,
 * with and without memory limits all occur; and four families of generated graphs. Their seeds are far from those that
 * policies are trained on. Settings were tuned on graphs of berth_case_at() only. */
#include "place/study.h"

#include <stdio.h>
#include <string.h>

const int64_t berth_study_marks[BERTH_STUDY_MARKS] = {10, 100, 500, 1000, 2000};

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof *(array)))

static const char profiles[] = "cpu,gpu,igpu,npu";
enum { FIRST_SEED = 900000 };

static const struct {
    const char *architecture, *model, *profiles; /* profiles NULL: generated */
    int32_t n_devices;
    berth_case_rule rule;
    bool ablation;
} model_cases[] = {
    {"resnet50", "ir/resnet50.xml", "paper", 2, BERTH_CASE_CONCURRENT, true},
    {"inception_v3", "ir/inception_v3.xml", "paper", 2, BERTH_CASE_CONCURRENT, true},
    {"bert_base", "ir/bert_base.xml", "paper", 2, BERTH_CASE_CONCURRENT, true},
    {"resnet50", "resnet50.onnx", NULL, 4, BERTH_CASE_MEMORY, false},
    {"inception_v3", "inception_v3.onnx", NULL, 8, BERTH_CASE_CONCURRENT, false},
    {"bert_base", "bert_base.onnx", profiles, 4, BERTH_CASE_MEMORY, false},
    {"densenet121", "densenet121.onnx", NULL, 8, BERTH_CASE_CONCURRENT, false},
    {"googlenet", "googlenet.onnx", profiles, 4, BERTH_CASE_CONCURRENT, true},
    {"mobilenet_v3", "mobilenet_v3_large.onnx", profiles, 4, BERTH_CASE_MEMORY, false},
    {"vit_base", "vit_base.onnx", NULL, 4, BERTH_CASE_CONCURRENT, false},
    {"resnet50", "ir/resnet50.xml", "paper", 2, BERTH_CASE_CUT, false},
    {"inception_v3", "ir/inception_v3.xml", "paper", 2, BERTH_CASE_CUT, false},
    {"bert_base", "ir/bert_base.xml", "paper", 2, BERTH_CASE_CUT, false},
};

/* For every second kind of generated graph, the first and third or the second and fourth, so that all kinds and all
 * rows occur and the whole takes less than two hours. */
static const struct {
    int32_t n_ops, n_devices;
    berth_case_rule rule;
    bool ablation;
} generated_cases[] = {
    {160, 2, BERTH_CASE_CONCURRENT, false}, {240, 4, BERTH_CASE_CONCURRENT, true},
    {320, 8, BERTH_CASE_CONCURRENT, false}, {200, 4, BERTH_CASE_MEMORY, false},
    {280, 8, BERTH_CASE_MEMORY, false},     {120, 4, BERTH_CASE_SERIAL, false},
};

static void name_case(berth_study_case *out, const char *what) {
    const char *slash = strrchr(what, '/');
    snprintf(out->name, sizeof out->name, "%s/%d/%s", slash ? slash + 1 : what, (int)out->how.n_devices,
             berth_case_rule_name(out->how.rule));
}

bool berth_study_case_at(const char *suite, int32_t index, berth_study_case *out) {
    bool ablation = strcmp(suite, "ablation") == 0;
    for (int32_t i = 0; i < LENGTH(model_cases); i++) {
        if ((ablation && !model_cases[i].ablation) || index-- > 0) continue;
        *out = (berth_study_case){
            .architecture = model_cases[i].architecture,
            .model = model_cases[i].model,
            .profiles = model_cases[i].profiles,
            .how = {.n_devices = model_cases[i].n_devices,
                    .rule = model_cases[i].rule,
                    .seed = FIRST_SEED + (uint64_t)i},
        };
        name_case(out, out->model);
        return true;
    }
    for (int32_t i = 0; i < BERTH_GENERATED_COUNT * LENGTH(generated_cases); i++) {
        int32_t kind = i % BERTH_GENERATED_COUNT, k = i / BERTH_GENERATED_COUNT;
        if (!ablation && (kind + k) % 2 != 0) continue;
        if ((ablation && !generated_cases[k].ablation) || index-- > 0) continue;
        *out = (berth_study_case){
            .architecture = berth_generated_name((berth_generated)kind),
            .how = {(berth_generated)kind, generated_cases[k].n_ops, generated_cases[k].n_devices,
                    generated_cases[k].rule, FIRST_SEED + 1000 + (uint64_t)i},
        };
        name_case(out, out->architecture);
        return true;
    }
    return false;
}

berth_status berth_study_case_load(berth_ctx *ctx, const berth_study_case *item, const char *models,
                                   berth_graph **graph, berth_device_set **devices) {
    char path[4096];
    *graph = NULL;
    *devices = NULL;
    if (!item->model) return berth_case_generate(ctx, graph, devices, &item->how);
    snprintf(path, sizeof path, "%s/%s", models, item->model);
    BERTH_TRY(berth_graph_read(ctx, graph, path, NULL));
    berth_status status = item->profiles ? berth_device_set_read(ctx, devices, item->profiles)
                                         : berth_device_set_generate(ctx, devices, item->how.n_devices, item->how.seed);
    if (status == BERTH_OK) status = berth_device_set_restrict(ctx, *devices, *graph, item->how.rule);
    if (status == BERTH_OK) return BERTH_OK;
    berth_device_set_free(*devices);
    berth_graph_free(*graph);
    *devices = NULL;
    *graph = NULL;
    return status;
}

/* --- arms ------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const berth_arm learn_arms[] = {
    {.name = "hsdag", .method = "hsdag", .what = "with everything on"},
    {.name = "hsdag, rate 0", .method = "hsdag", .set = {"learning_rate=0"}, .what = "the same network, not learning"},
    {.name = "single", .method = "hsdag", .set = {"seeds=single", "polish=0"},
     .what = "hsdag from single devices, without polish"},
    {.name = "single, rate 0", .method = "hsdag", .set = {"seeds=single", "polish=0", "learning_rate=0"},
     .what = "the same, not learning"},
    {.name = "seeds + local", .method = "local", .seeded = true, .what = "local search from the best classical seed"},
    {.name = "seeds + anneal", .method = "anneal", .seeded = true, .what = "tuned annealing from the same"},
    {.name = "local, same seconds", .method = "local", .seeded = true, .timed = true,
     .what = "as long as hsdag took"},
    {.name = "anneal, same seconds", .method = "anneal", .seeded = true, .timed = true,
     .what = "as long as hsdag took"},
    {.name = "random", .method = "random"},
    {.name = "greedy", .method = "greedy", .once = true},
    {.name = "metis", .method = "metis", .once = true},
    {.name = "heft", .method = "heft", .once = true},
    {.name = "m-etf", .method = "m-etf", .once = true},
    {.name = "placeto", .method = "placeto"},
    {.name = "rnn", .method = "rnn"},
    {.name = "hsdag:paper", .method = "hsdag:paper", .set = {"episodes=0"}},
    {.name = "hsdag:code", .method = "hsdag:code", .set = {"episodes=0"}},
    {.name = "scratch, 100", .method = "hsdag", .set = {"seeds=single", "polish=0"}, .evaluations = 100,
     .where = BERTH_ARM_MODELS, .what = "from single devices, 100 evaluations"},
    {.name = "pretrained, 100", .method = "hsdag", .set = {"seeds=single", "polish=0"}, .evaluations = 100,
     .where = BERTH_ARM_MODELS, .pretrained = true, .what = "the same from a pretrained policy"},
    {.name = "min-cut", .method = "min-cut", .once = true, .where = BERTH_ARM_CUT},
};

static const berth_arm ablation_arms[] = {
    {.name = "hsdag", .method = "hsdag", .what = "with everything on"},
    {.name = "no learning", .method = "hsdag", .set = {"learning_rate=0"}, .base = "hsdag"},
    {.name = "single seeds", .method = "hsdag", .set = {"seeds=single"}, .base = "hsdag"},
    {.name = "no polish", .method = "hsdag", .set = {"polish=0"}, .base = "hsdag"},
    {.name = "single, no polish", .method = "hsdag", .set = {"seeds=single", "polish=0"}, .base = "hsdag"},
    {.name = "its rate 0", .method = "hsdag", .set = {"seeds=single", "polish=0", "learning_rate=0"},
     .base = "single, no polish"},
    {.name = "grouping none", .method = "hsdag", .set = {"seeds=single", "polish=0", "grouping=none"},
     .base = "single, no polish"},
    {.name = "grouping parse", .method = "hsdag", .set = {"seeds=single", "polish=0", "grouping=parse"},
     .base = "single, no polish"},
    {.name = "no clipping", .method = "hsdag", .set = {"seeds=single", "polish=0", "clip=0"},
     .base = "single, no polish"},
    {.name = "one epoch", .method = "hsdag", .set = {"seeds=single", "polish=0", "epochs=1"},
     .base = "single, no polish"},
    {.name = "one candidate", .method = "hsdag", .set = {"seeds=single", "polish=0", "candidates=1"},
     .base = "single, no polish"},
    {.name = "order not decided", .method = "hsdag", .set = {"seeds=single", "polish=0", "order=off"},
     .base = "single, no polish"},
    {.name = "joint", .method = "hsdag",
     .set = {"design=joint", "seeds=single", "polish=0", "learning_rate=3e-3", "epochs=8"},
     .base = "single, no polish", .what = "the one-shot policy"},
    {.name = "joint, rate 0", .method = "hsdag",
     .set = {"design=joint", "seeds=single", "polish=0", "learning_rate=0"}, .base = "joint"},
    {.name = "joint, encoder-placer", .method = "hsdag",
     .set = {"design=joint", "seeds=single", "polish=0", "learning_rate=3e-3", "epochs=8", "architecture=encoder-placer"},
     .base = "joint"},
    {.name = "joint, grouper-placer", .method = "hsdag",
     .set = {"design=joint", "seeds=single", "polish=0", "learning_rate=3e-3", "epochs=8", "architecture=grouper-placer"},
     .base = "joint"},
    {.name = "hsdag:paper", .method = "hsdag:paper", .base = "hsdag", .what = "Table 3: full"},
    {.name = "paper, no shape", .method = "hsdag:paper", .set = {"feature_shape=off"}, .base = "hsdag:paper",
     .what = "Table 3: without output shape"},
    {.name = "paper, no position", .method = "hsdag:paper", .set = {"feature_position=none"}, .base = "hsdag:paper",
     .what = "Table 3: without node id"},
    {.name = "paper, no structure", .method = "hsdag:paper",
     .set = {"feature_in_degree=off", "feature_out_degree=off", "feature_fractal=off"}, .base = "hsdag:paper",
     .what = "Table 3: without structural features"},
    {.name = "paper, rate 0", .method = "hsdag:paper", .set = {"learning_rate=0"}, .base = "hsdag:paper"},
    {.name = "paper, recursion", .method = "hsdag:paper", .set = {"max_rounds=0"}, .base = "hsdag:paper",
     .what = "until nothing merges instead of one round"},
    {.name = "paper, encoder-placer", .method = "hsdag:paper", .set = {"architecture=encoder-placer"},
     .base = "hsdag:paper"},
    {.name = "paper, grouper-placer", .method = "hsdag:paper", .set = {"architecture=grouper-placer"},
     .base = "hsdag:paper"},
    {.name = "hsdag:code", .method = "hsdag:code", .set = {"episodes=0"}, .base = "hsdag"},
    {.name = "code, rate 0", .method = "hsdag:code", .set = {"episodes=0", "learning_rate=0"}, .base = "hsdag:code"},
    {.name = "code, single allowed", .method = "hsdag:code", .set = {"episodes=0", "ban_single=off"},
     .base = "hsdag:code"},
    {.name = "code, advantage", .method = "hsdag:code", .set = {"episodes=0", "ban_single=off", "return=advantage"},
     .base = "hsdag:code"},
    {.name = "code, one round", .method = "hsdag:code", .set = {"episodes=0", "max_rounds=1"}, .base = "hsdag:code"},
};
/* clang-format on */

const berth_arm *berth_study_arm_at(const char *suite, int32_t index) {
    bool ablation = strcmp(suite, "ablation") == 0;
    int32_t n = ablation ? LENGTH(ablation_arms) : LENGTH(learn_arms);
    return index >= 0 && index < n ? &(ablation ? ablation_arms : learn_arms)[index] : NULL;
}

int32_t berth_study_arm_find(const char *suite, const char *name) {
    for (int32_t i = 0; berth_study_arm_at(suite, i); i++)
        if (strcmp(berth_study_arm_at(suite, i)->name, name) == 0) return i;
    return -1;
}

bool berth_study_arm_runs(const berth_arm *arm, const berth_study_case *item, const berth_study_options *options) {
    if (arm->pretrained && !options->policy) return false;
    switch (arm->where) {
    case BERTH_ARM_MODELS: return item->model && item->how.rule != BERTH_CASE_CUT;
    case BERTH_ARM_CUT: return item->how.rule == BERTH_CASE_CUT;
    case BERTH_ARM_EVERYWHERE: break;
    }
    /* There min-cut is the answer: only how near hsdag comes is asked. */
    return item->how.rule != BERTH_CASE_CUT || berth_study_arm_at("learn", 0) == arm;
}
