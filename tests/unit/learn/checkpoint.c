/* SPDX-License-Identifier: Apache-2.0 */
/* Policies: shared by methods, stepped, kept, and written so that they read back the same; every damaged file is
 * refused with a line. */
#include "support.h"

#include "base/sha256.h"
#include "learn/policy.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_SIZE = 64 };

static berth_status declare(berth_params *layout) {
    bool ok = berth_params_add(layout, "first.weight", 3, 5) >= 0 && berth_params_add(layout, "first.bias", 1, 5) >= 0;
    return ok ? BERTH_OK : BERTH_E_NOMEM;
}

static berth_status adopt(berth_ctx *ctx, berth_policy *policy, bool *fresh) {
    berth_params layout;
    berth_params_init(&layout, ctx);
    berth_status status = declare(&layout);
    if (status != BERTH_OK) {
        berth_params_deinit(&layout);
        return berth_fail_nomem(ctx);
    }
    return berth_policy_adopt(ctx, policy, &layout, fresh);
}

/* One with something of everything in it. */
static berth_status make(berth_ctx *ctx, berth_policy **out) {
    berth_settings settings;
    bool fresh = false;
    *out = NULL;
    BERTH_TRY(berth_settings_default(ctx, &settings, "hsdag:code"));
    settings.value[BERTH_SET_LEARNING_RATE] = 0.125;
    settings.value[BERTH_SET_FEATURE_POSITION] = 3;
    BERTH_TRY(berth_policy_new(ctx, out, &settings));
    berth_policy *policy = *out;
    BERTH_TRY(adopt(ctx, policy, &fresh));
    for (size_t i = 0; i < policy->params.n; i++) {
        policy->params.value[i] = (berth_real)(0.1 * (double)i - 1);
        policy->params.moment1[i] = (berth_real)(-0.01 * (double)i);
        policy->params.moment2[i] = (berth_real)(1e-5 * (double)i);
    }
    policy->params.steps = 7;
    *berth_policy_number_at(policy, "mean", 0) = 1.0 / 3;
    *berth_policy_number_at(policy, "deviation", 0) = -2e-300;
    BERTH_TRY(berth_policy_set_text(ctx, policy, "types", "Add\nConv\n"));
    BERTH_TRY(berth_policy_set_text(ctx, policy, "types", "Add\nConv\nRelu\n"));
    BERTH_TRY(berth_policy_set_text(ctx, policy, "none", ""));
    policy->training.seed = 11;
    policy->training.rounds = 2;
    strcpy(policy->training.trained_on, "0123");
    for (int i = 0; i < 2; i++) {
        berth_episode row = {10.5 + i, 9, INFINITY, 3, 0.25};
        if (!berth_vec_push(berth_ctx_allocator(ctx), &policy->training.history, row)) return berth_fail_nomem(ctx);
    }
    return BERTH_OK;
}

static void same(const berth_policy *a, const berth_policy *b) {
    assert_memory_equal(&a->settings, &b->settings, sizeof a->settings);
    assert_int_equal(a->params.n, b->params.n);
    assert_int_equal(a->params.n_items, b->params.n_items);
    assert_int_equal(a->params.steps, b->params.steps);
    for (int32_t i = 0; i < a->params.n_items; i++) {
        assert_string_equal(a->params.items[i].name, b->params.items[i].name);
        assert_int_equal(a->params.items[i].tensor.rows, b->params.items[i].tensor.rows);
        assert_int_equal(a->params.items[i].tensor.cols, b->params.items[i].tensor.cols);
    }
    size_t size = a->params.n * sizeof(berth_real);
    if (size) {
        assert_memory_equal(a->params.value, b->params.value, size);
        assert_memory_equal(a->params.moment1, b->params.moment1, size);
        assert_memory_equal(a->params.moment2, b->params.moment2, size);
    }
    assert_memory_equal(a->number, b->number, sizeof a->number);
    for (int i = 0; i < BERTH_POLICY_TEXTS; i++) {
        assert_string_equal(a->text[i].name, b->text[i].name);
        if (a->text[i].text) assert_string_equal(a->text[i].text, b->text[i].text);
    }
    assert_int_equal(a->training.seed, b->training.seed);
    assert_int_equal(a->training.rounds, b->training.rounds);
    assert_string_equal(a->training.trained_on, b->training.trained_on);
    assert_int_equal(a->training.history.n, b->training.history.n);
    for (size_t i = 0; i < a->training.history.n; i++)
        assert_memory_equal(&a->training.history.items[i], &b->training.history.items[i], 4 * sizeof(double));
}

static void make_path(char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "/tmp/berth-policy-%ld.ckpt", (long)getpid());
}

static char *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void reads_back_the_same(void **state) {
    char path[PATH_SIZE];
    berth_policy *policy = NULL, *back = NULL;
    size_t size[2];
    make_path(path);
    assert_int_equal(make(*state, &policy), BERTH_OK);
    assert_int_equal(berth_policy_save(*state, policy, path), BERTH_OK);
    if (berth_policy_load(*state, &back, path) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
    same(policy, back);
    assert_true(berth_policy_episode(back, 1)->seconds == 0); /* differs from run to run: not in the file */
    assert_string_equal(berth_policy_text_of(back, "types"), "Add\nConv\nRelu\n");
    assert_null(berth_policy_text_of(back, "typ"));
    char *first = read_bytes(path, &size[0]);
    assert_int_equal(berth_policy_save(*state, back, path), BERTH_OK);
    char *second = read_bytes(path, &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(first, second, size[0]);
    free(first);
    free(second);
    unlink(path);
    berth_policy_free(policy);
    berth_policy_free(back);
}

/* Before the first search there are no parameters. */
static void an_empty_one_reads_back(void **state) {
    char path[PATH_SIZE];
    berth_settings settings;
    berth_policy *policy = NULL, *back = NULL;
    make_path(path);
    assert_int_equal(berth_settings_default(*state, &settings, "rnn"), BERTH_OK);
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    assert_int_equal(berth_policy_save(*state, policy, path), BERTH_OK);
    assert_int_equal(berth_policy_load(*state, &back, path), BERTH_OK);
    same(policy, back);
    unlink(path);
    berth_policy_free(policy);
    berth_policy_free(back);
}

static void sign(char *bytes, size_t size) {
    berth_sha256 sha;
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, bytes, size - BERTH_SHA256_SIZE);
    berth_sha256_finish(&sha, (unsigned char *)bytes + size - BERTH_SHA256_SIZE);
}

static void resize(char *bytes, size_t size) {
    for (int i = 0; i < 8; i++) bytes[12 + i] = (char)(size >> 8 * i & 0xff);
    sign(bytes, size);
}

/* Refused with one line that names the file. */
static void refuse(berth_ctx *ctx, const char *bytes, size_t size, const char *fragment) {
    berth_policy *policy = NULL;
    assert_int_equal(berth_policy_parse(ctx, &policy, "some.ckpt", bytes, size), BERTH_E_FORMAT);
    assert_null(policy);
    const char *message = berth_ctx_message(ctx);
    assert_true(strncmp(message, "some.ckpt: ", 11) == 0 && !strchr(message, '\n'));
    if (!strstr(message, fragment)) fail_msg("'%s' where '%s' was expected", message, fragment);
}

static char *make_bytes(berth_ctx *ctx, size_t *size) {
    char path[PATH_SIZE];
    berth_policy *policy = NULL;
    make_path(path);
    assert_int_equal(make(ctx, &policy), BERTH_OK);
    assert_int_equal(berth_policy_save(ctx, policy, path), BERTH_OK);
    char *bytes = read_bytes(path, size);
    unlink(path);
    berth_policy_free(policy);
    return bytes;
}

static void damage_is_refused(void **state) {
    size_t size = 0;
    char *good = make_bytes(*state, &size), *bad = malloc(size + 8);
    refuse(*state, "", 0, "no policy");
    refuse(*state, "berthpo", 7, "no policy");
    refuse(*state, "<html><body>no such file</body></html>", 38, "no policy");
    for (size_t n = 8; n < size; n++) refuse(*state, good, n, n < 20 ? "ends in the middle" : "bytes");
    memcpy(bad, good, size);
    memset(bad + size, 0, 8);
    refuse(*state, bad, size + 1, "should have");
    for (size_t at = 0; at < size; at++) { /* any one bit */
        memcpy(bad, good, size);
        bad[at] = (char)(bad[at] ^ 1 << at % 8);
        refuse(*state, bad, size, at < 8 ? "no policy" : at < 12 ? "schema" : at < 20 ? "should have" : "damaged");
    }
    free(bad);
    free(good);
}

/* Signed again, so that the digest does not protect the rest: no length is trusted, and nothing crashes. */
static void forged_files_are_harmless(void **state) {
    size_t size = 0;
    char *good = make_bytes(*state, &size), *bad = malloc(size);
    uint64_t seed = 3;
    int n_refused = 0, n_tried = support_cases(20000);
    for (int i = 0; i < n_tried; i++) {
        size_t n = size;
        memcpy(bad, good, size);
        for (uint32_t k = 1 + support_below(&seed, 3); k > 0; k--)
            bad[20 + support_below(&seed, (uint32_t)size - 52)] =
                (char)(support_below(&seed, 3) ? support_below(&seed, 256) : 0xff);
        if (support_below(&seed, 4) == 0) n = 52 + support_below(&seed, (uint32_t)size - 52);
        resize(bad, n);
        berth_policy *policy = NULL;
        berth_status status = berth_policy_parse(*state, &policy, "some.ckpt", bad, n);
        assert_true(status == BERTH_OK || status == BERTH_E_FORMAT);
        assert_true((status == BERTH_OK) == (policy != NULL));
        n_refused += status != BERTH_OK;
        berth_policy_free(policy);
    }
    assert_true(n_refused > n_tried / 4 && n_refused < n_tried);
    free(bad);
    free(good);
}

/* Where a string stands in the file. */
static size_t find(const char *bytes, size_t size, const char *what) {
    size_t n = strlen(what);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(bytes + i, what, n) == 0) return i;
    fail_msg("%s is not in the file", what);
    return 0;
}

static void other_releases_are_refused(void **state) {
    static const struct {
        const char *old, *forged, *fragment;
    } cases[] = {
        {"learning_rate", "learning_rite", "cannot take its setting learning_rite=0.125"},
        {"0.125", "-.125", "cannot take its setting learning_rate=-.125"},
        {"hsdag:code", "hsdag:cade", "no learned method hsdag:cade"},
        {"feature_in_degree", "feature_outdegree", "cannot take its setting feature_outdegree"},
        {"layer_trans", "layer_gnn\001\001", "printable"},
        {"first.bias", "first.b as", "printable"},
        {"mean", "\0\0\0\0", "printable"},
        {"Conv", "C\0nv", "not a text"},
    };
    size_t size = 0;
    char *good = make_bytes(*state, &size), *bad = malloc(size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(bad, good, size);
        memcpy(bad + find(bad, size, cases[i].old), cases[i].forged, strlen(cases[i].old));
        sign(bad, size);
        refuse(*state, bad, size, cases[i].fragment);
    }
    /* A setting less: the number of settings stands before the first of them. */
    memcpy(bad, good, size);
    size_t first = find(bad, size, "design") - 2, second = find(bad, size, "architecture") - 2;
    bad[first - 4]--;
    memmove(bad + first, bad + second, size - second);
    resize(bad, size - (second - first));
    refuse(*state, bad, size - (second - first), "had no setting design");
    /* The same one twice. */
    memcpy(bad, good, size);
    memcpy(bad + find(bad, size, "feature_type"), "feature_cost", 12);
    sign(bad, size);
    refuse(*state, bad, size, "a second setting feature_cost");
    free(bad);
    free(good);
}

static void shapes_that_lie_are_refused(void **state) {
    size_t size = 0;
    char *good = make_bytes(*state, &size), *bad = malloc(size);
    static const struct {
        size_t at; /* after the name of the first parameter */
        unsigned char byte;
        const char *fragment;
    } cases[] = {
        {0, 0, "too small for parameter"},    {0, 2, "another size"},
        {3, 0x7f, "too small for parameter"}, {3, 0xff, "so many rows"},
        {7, 0x7f, "too small for parameter"}, {7, 0x80, "so many columns"},
        {4, 0, "too small for parameter"},
    };
    size_t at = find(good, size, "first.weight") + 12;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(bad, good, size);
        bad[at + cases[i].at] = (char)cases[i].byte;
        sign(bad, size);
        refuse(*state, bad, size, cases[i].fragment);
    }
    memcpy(bad, good, size); /* the last number: a mean of squares below 0, then NaN */
    bad[size - 33] = (char)(bad[size - 33] | 0x80);
    sign(bad, size);
    refuse(*state, bad, size, "not a number that it can be");
    memset(bad + size - 32 - sizeof(berth_real), 0xff, sizeof(berth_real));
    sign(bad, size);
    refuse(*state, bad, size, "not a number that it can be");
    free(bad);
    free(good);
}

static void files_that_are_not_there(void **state) {
    berth_policy *policy = NULL;
    assert_int_equal(berth_policy_load(*state, &policy, "/nowhere/policy.ckpt"), BERTH_E_IO);
    assert_null(policy);
    assert_int_equal(make(*state, &policy), BERTH_OK);
    assert_int_equal(berth_policy_save(*state, policy, "/nowhere/policy.ckpt"), BERTH_E_IO);
    berth_policy_free(policy);
}

/* --- use -------------------------------------------------------------------------------------------------------- */

static void layouts_must_agree(void **state) {
    berth_policy *policy = NULL;
    berth_params layout;
    bool fresh = true;
    assert_int_equal(make(*state, &policy), BERTH_OK);
    assert_int_equal(adopt(*state, policy, &fresh), BERTH_OK);
    assert_false(fresh);
    assert_true(policy->params.value[1] != 0);
    berth_params_init(&layout, *state);
    berth_params_add(&layout, "first.weight", 3, 5);
    assert_int_equal(berth_policy_adopt(*state, policy, &layout, &fresh), BERTH_E_ARG);
    assert_int_equal(layout.n_items, 0);
    berth_params_add(&layout, "first.weight", 3, 5);
    berth_params_add(&layout, "first.gain", 1, 5);
    assert_int_equal(berth_policy_adopt(*state, policy, &layout, &fresh), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(*state), "first.gain"));
    berth_params_add(&layout, "first.weight", 5, 3);
    berth_params_add(&layout, "first.bias", 1, 5);
    assert_int_equal(berth_policy_adopt(*state, policy, &layout, &fresh), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(*state), "3 x 5"));
    berth_policy_free(policy);
}

static void divergence_is_noticed(void **state) {
    berth_policy *policy = NULL;
    double norm = 0;
    assert_int_equal(make(*state, &policy), BERTH_OK);
    berth_params *p = &policy->params;
    p->grad[3] = 2;
    assert_int_equal(berth_policy_step(*state, policy, &norm), BERTH_OK);
    assert_true(fabs(norm - 2) < 1e-6 && p->steps == 8);
    assert_int_equal(berth_policy_keep(policy), BERTH_OK);
    berth_real before = p->value[3];
    static const double bad[] = {NAN, INFINITY, 1e15};
    for (size_t i = 0; i < 3; i++) {
        p->grad[0] = (berth_real)bad[i];
        assert_int_equal(berth_policy_step(*state, policy, NULL), BERTH_E_NUMERIC);
        assert_non_null(strstr(berth_ctx_message(*state), "diverged"));
        assert_true(p->steps == 8 && p->value[3] == before);
    }
    p->grad[0] = 0;
    p->value[1] = (berth_real)1e9;
    *berth_policy_number_at(policy, "mean", 0) = 5;
    assert_int_equal(berth_policy_step(*state, policy, NULL), BERTH_E_NUMERIC);
    berth_policy_go_back(policy);
    assert_true(p->value[3] == before && p->value[1] < 0 && p->steps == 8);
    assert_true(*berth_policy_number_at(policy, "mean", 0) == 1.0 / 3);
    berth_policy_free(policy);
}

/* What the first search of a policy made is gone if that search is. */
static void going_back_to_nothing(void **state) {
    berth_settings settings;
    berth_policy *policy = NULL;
    bool fresh = false;
    assert_int_equal(berth_settings_default(*state, &settings, "hsdag"), BERTH_OK);
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    assert_int_equal(berth_policy_keep(policy), BERTH_OK);
    assert_int_equal(adopt(*state, policy, &fresh), BERTH_OK);
    assert_true(fresh);
    berth_policy_go_back(policy);
    assert_int_equal(adopt(*state, policy, &fresh), BERTH_OK);
    assert_true(fresh);
    berth_policy_free(policy);
}

static berth_status everything(berth_ctx *ctx, void *user) {
    const char *path = user;
    berth_policy *policy = NULL, *back = NULL;
    berth_status status = make(ctx, &policy);
    if (status == BERTH_OK) status = berth_policy_keep(policy);
    if (status == BERTH_OK) status = berth_policy_save(ctx, policy, path);
    if (status == BERTH_OK) status = berth_policy_load(ctx, &back, path);
    berth_policy_free(policy);
    berth_policy_free(back);
    return status;
}

static void ladder(void **state) {
    char path[PATH_SIZE];
    (void)state;
    make_path(path);
    support_ladder(everything, path, 1);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_back_the_same, support_open, support_close),
        cmocka_unit_test_setup_teardown(an_empty_one_reads_back, support_open, support_close),
        cmocka_unit_test_setup_teardown(damage_is_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(forged_files_are_harmless, support_open, support_close),
        cmocka_unit_test_setup_teardown(other_releases_are_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(shapes_that_lie_are_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(files_that_are_not_there, support_open, support_close),
        cmocka_unit_test_setup_teardown(layouts_must_agree, support_open, support_close),
        cmocka_unit_test_setup_teardown(divergence_is_noticed, support_open, support_close),
        cmocka_unit_test_setup_teardown(going_back_to_nothing, support_open, support_close),
        cmocka_unit_test(ladder),
    };
    return cmocka_run_group_tests_name("learn.checkpoint", tests, NULL, NULL);
}
