/* SPDX-License-Identifier: Apache-2.0 */
/* The table of settings is sound, what is printed can be set, and what is wrong is said. */
#include "support.h"

#include "learn/settings.h"

#include <math.h>
#include <stdio.h>

static int count_choices(const char *choices) {
    int n = 1;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

static void table_is_sound(void **state) {
    (void)state;
    int n = 0;
    for (; berth_setting_at(n); n++) {
        const berth_setting *row = berth_setting_at(n);
        assert_true(row->name && *row->name && strlen(row->name) < 32 && row->summary && *row->summary);
        assert_true(row->least <= row->most);
        assert_true((row->kind == BERTH_SETTING_CHOICE) == (row->choices != NULL));
        if (row->choices) assert_int_equal((int)row->most + 1, count_choices(row->choices));
        for (int i = 0; i < n; i++) assert_string_not_equal(row->name, berth_setting_at(i)->name);
        int n_users = 0;
        for (int m = 0; berth_learned_method(m); m++) n_users += berth_setting_applies(berth_learned_method(m), n);
        assert_true(n_users > 0);
    }
    assert_int_equal(n, BERTH_SETTING_COUNT_OF);
    assert_null(berth_setting_at(-1));
    assert_null(berth_learned_method(-1));
    assert_false(berth_setting_applies("heft", 0));
    assert_false(berth_setting_applies("hsdag", n));
}

/* Defaults are within their ranges, where the method looks at them; and text of a value sets the same value. */
static void defaults_can_be_set(void **state) {
    for (int m = 0; berth_learned_method(m); m++) {
        berth_settings settings, other;
        assert_int_equal(berth_settings_default(*state, &settings, berth_learned_method(m)), BERTH_OK);
        assert_string_equal(settings.method, berth_learned_method(m));
        other = settings;
        for (int i = 0; berth_setting_at(i); i++) {
            const berth_setting *row = berth_setting_at(i);
            char value[64], text[128];
            if (!berth_setting_applies(settings.method, i)) continue;
            assert_true(settings.value[i] >= row->least && settings.value[i] <= row->most);
            if (row->kind != BERTH_SETTING_NUMBER) assert_true(settings.value[i] == floor(settings.value[i]));
            size_t size = berth_settings_text(&settings, i, value, sizeof value);
            assert_int_equal(size, strlen(value));
            snprintf(text, sizeof text, "%s=%s", row->name, value);
            other.value[i] = -1;
            if (berth_settings_set(*state, &other, text) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
            assert_true(other.value[i] == settings.value[i]);
            assert_int_equal(berth_settings_text(&settings, i, NULL, 0), size);
        }
    }
}

/* shared/HSDAG.md section 7. */
static void published_values(void **state) {
    static const struct {
        const char *method;
        berth_setting_id id;
        double value;
    } published[] = {
        {"hsdag:paper", BERTH_SET_HIDDEN, 128},
        {"hsdag:code", BERTH_SET_HIDDEN, 128},
        {"hsdag:paper", BERTH_SET_LAYER_TRANS, 2},
        {"hsdag:paper", BERTH_SET_LAYER_GNN, 2},
        {"hsdag:paper", BERTH_SET_LAYER_PARSINGNET, 2},
        {"hsdag:paper", BERTH_SET_DROPOUT_NETWORK, 0.2},
        {"hsdag:code", BERTH_SET_DROPOUT_NETWORK, 0.2},
        {"hsdag:paper", BERTH_SET_DROPOUT_PARSING, 0},
        {"hsdag:paper", BERTH_SET_LEARNING_RATE, 1e-4},
        {"hsdag:code", BERTH_SET_LEARNING_RATE, 1e-3},
        {"hsdag:paper", BERTH_SET_EPISODES, 100},
        {"hsdag:code", BERTH_SET_EPISODES, 25},
        {"hsdag:paper", BERTH_SET_STEPS, 20},
        {"hsdag:code", BERTH_SET_STEPS, 20},
        {"hsdag:paper", BERTH_SET_EPOCHS, 4},
        {"hsdag:code", BERTH_SET_DISCOUNT, 0.95},
        {"hsdag:paper", BERTH_SET_IGNORE_SELF_LOOP, 1},
        {"hsdag:code", BERTH_SET_ACT_FINAL, 1},
        {"hsdag:paper", BERTH_SET_BAN_SINGLE, 1},
        {"hsdag:code", BERTH_SET_BAN_SINGLE, 1},
        {"rnn", BERTH_SET_RNN_HIDDEN, 256},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        berth_settings settings;
        assert_int_equal(berth_settings_default(*state, &settings, published[i].method), BERTH_OK);
        assert_true(berth_settings_get(&settings, published[i].id) == published[i].value);
    }
}

static void nonsense_is_refused(void **state) {
    static const struct {
        const char *text, *fragment;
    } bad[] = {
        {"learning_rat=1", "did you mean 'learning_rate'?"},
        {"learning_rate", "NAME=VALUE"},
        {"=1", "has no setting ''"},
        {"", "NAME=VALUE"},
        {"rnn_hidden=5", "hsdag has no setting 'rnn_hidden'"},
        {"learning_rate=", "from 0 to 10, not ''"},
        {"learning_rate=x", "needs a number"},
        {"learning_rate=nan", "needs a number"},
        {"learning_rate=-1e-9", "from 0 to 10"},
        {"learning_rate=10.5", "from 0 to 10"},
        {"learning_rate=1e999", "from 0 to 10"},
        {"candidates=1.5", "whole number"},
        {"candidates=0", "from 1 to"},
        {"feature_shape=maybe", "on or off"},
        {"design=", "one of refine|joint|faithful"},
        {"design=refin", "one of refine|joint|faithful"},
        {"design=refine|joint", "one of"},
        {"a_name_that_is_much_longer_than_any_that_the_table_could_possibly_hold=1", "has no setting"},
    };
    berth_settings settings, before;
    assert_int_equal(berth_settings_default(*state, &settings, "hsdag"), BERTH_OK);
    before = settings;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(berth_settings_set(*state, &settings, bad[i].text), BERTH_E_ARG);
        if (!strstr(berth_ctx_message(*state), bad[i].fragment))
            fail_msg("'%s': %s", bad[i].text, berth_ctx_message(*state));
        assert_memory_equal(&settings, &before, sizeof before);
    }
    assert_int_equal(berth_settings_default(*state, &settings, "heft"), BERTH_E_ARG);
    assert_int_equal(berth_settings_default(*state, &settings, NULL), BERTH_E_ARG);
}

static void words_of_switches(void **state) {
    static const char *const on[] = {"on", "true", "yes", "1"}, *const off[] = {"off", "false", "no", "0"};
    berth_settings settings;
    char text[64], value[8];
    assert_int_equal(berth_settings_default(*state, &settings, "hsdag"), BERTH_OK);
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "feature_shape=%s", off[i]);
        assert_int_equal(berth_settings_set(*state, &settings, text), BERTH_OK);
        assert_true(settings.value[BERTH_SET_FEATURE_SHAPE] == 0);
        snprintf(text, sizeof text, "feature_shape=%s", on[i]);
        assert_int_equal(berth_settings_set(*state, &settings, text), BERTH_OK);
        assert_true(settings.value[BERTH_SET_FEATURE_SHAPE] == 1);
    }
    /* Cut off as snprintf does. */
    assert_int_equal(berth_settings_text(&settings, BERTH_SET_DESIGN, value, 4), 6);
    assert_string_equal(value, "ref");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test_setup_teardown(defaults_can_be_set, support_open, support_close),
        cmocka_unit_test_setup_teardown(published_values, support_open, support_close),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(words_of_switches, support_open, support_close),
    };
    return cmocka_run_group_tests_name("learn.settings", tests, NULL, NULL);
}
