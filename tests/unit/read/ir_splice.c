/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on the layers of an IR. */
#include "read/ir_splice.h"

#include "support.h"

#include "base/text.h"

static berth_status put(void *user, const char *bytes, size_t n) {
    berth_text_printf(user, "%.*s", (int)n, bytes);
    return BERTH_OK;
}

static berth_status annotate(berth_ctx *ctx, const char *xml, const char *const *values, int32_t n, berth_text *text) {
    berth_source source = {.name = "test", .bytes = xml, .size = strlen(xml), .fd = -1};
    berth_ir_notes notes = {"placement", values, n};
    return berth_ir_annotate(ctx, &source, &notes, put, text);
}

#define NOTE(value) "<user_data name=\"placement\" value=\"" value "\"/>"
#define NET(inside) "<?xml version=\"1.0\"?><net name=\"n\" version=\"11\"><layers>" inside "</layers><edges/></net>"

static void notes_stand_in_their_layers(void **state) {
    static const char *const values[] = {"CPU0", NULL, "GPU.1"};
    static const struct {
        const char *before, *after;
    } rows[] = {
        {NET("<layer id=\"0\"><data/></layer><layer id=\"1\"></layer><layer id=\"2\"><output/></layer>"),
         NET("<layer id=\"0\"><data/><rt_info>" NOTE("CPU0") "</rt_info></layer><layer id=\"1\"></layer>"
                                                             "<layer id=\"2\"><output/><rt_info>" NOTE(
                                                                 "GPU.1") "</rt_info></layer>")},
        /* without content, and what looks like a tag */
        {NET("<!-- <layer> --><layer a='/>'/><layer/><layer b=\"<\" >x<![CDATA[<layer>]]></layer >"),
         NET("<!-- <layer> --><layer a='/>'><rt_info>" NOTE(
             "CPU0") "</rt_info></layer><layer/>"
                     "<layer b=\"<\" >x<![CDATA[<layer>]]><rt_info>" NOTE("GPU.1") "</rt_info></layer >")},
        /* an <rt_info> that is there, empty or not; one inside a body is another's */
        {NET("<layer><rt_info/></layer><layer/><layer><body><layers><layer><rt_info></rt_info></layer></layers></body>"
             "<rt_info><attribute name=\"fused_names\"/></rt_info></layer>"),
         NET("<layer><rt_info>" NOTE("CPU0") "</rt_info></layer><layer/><layer><body><layers><layer><rt_info></rt_info>"
                                             "</layer></layers></body><rt_info><attribute name=\"fused_names\"/>" NOTE(
                                                 "GPU.1") "</rt_info></layer>")},
        /* notes of that name go, also where none is to be; others stay */
        {NET("<layer><rt_info>" NOTE(
             "old") "<user_data name=\"placement2\" value=\"x\"/></rt_info></layer>"
                    "<layer><rt_info><user_data value='v' name = 'placement'></user_data ></rt_info></layer><layer/>"),
         NET("<layer><rt_info><user_data name=\"placement2\" value=\"x\"/>" NOTE(
             "CPU0") "</rt_info></layer>"
                     "<layer><rt_info></rt_info></layer><layer><rt_info>" NOTE("GPU.1") "</rt_info></layer>")},
    };
    berth_ctx *ctx = NULL;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        berth_text *text = NULL;
        assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
        assert_int_equal(annotate(ctx, rows[i].before, values, 3, text), BERTH_OK);
        assert_string_equal(berth_text_string(text), rows[i].after);
        berth_text_free(text);
    }
    berth_ctx_free(ctx);
}

static void what_does_not_fit_is_refused(void **state) {
    static const char *const values[] = {"CPU0", NULL, "GPU.1"};
    berth_ctx *ctx = NULL;
    berth_text *text = NULL;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    assert_int_equal(annotate(ctx, NET("<layer/><layer/>"), values, 3, text), BERTH_E_ARG);
    assert_int_equal(annotate(ctx, NET("<layer/><layer/><layer/><layer/>"), values, 3, text), BERTH_E_ARG);
    assert_int_equal(annotate(ctx, "\xff\xfe<\0n\0e\0t\0", values, 3, text), BERTH_E_UNSUPPORTED);
    berth_text_free(text);
    berth_ctx_free(ctx);
}

/* Every prefix of a document: no place is read that is not there. */
static void broken_files_do_no_harm(void **state) {
    static const char whole[] =
        NET("<layer a='>'><rt_info>" NOTE("old") "</rt_info></layer><layer/><layer><rt_info/><!-- --></layer>");
    static const char *const values[] = {"CPU0", NULL, "GPU.1"};
    berth_ctx *ctx = NULL;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t n = 0; n < sizeof whole; n++) {
        berth_text *text = NULL;
        char *part = test_malloc(n + 1);
        memcpy(part, whole, n);
        part[n] = 0;
        assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
        berth_status status = annotate(ctx, part, values, 3, text);
        assert_true(status == BERTH_OK || status == BERTH_E_ARG || status == BERTH_E_UNSUPPORTED);
        berth_text_free(text);
        test_free(part);
    }
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(notes_stand_in_their_layers),
                                       cmocka_unit_test(what_does_not_fit_is_refused),
                                       cmocka_unit_test(broken_files_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
