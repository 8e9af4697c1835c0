/* SPDX-License-Identifier: Apache-2.0 */
/* read.ir_spellings: types, shapes, names and the document itself, in every form that OpenVINO takes. */
#include "ir_fixture.h"

#include <stdio.h>

static void reads_dynamic_shapes(void **state) {
    (void)state;
    berth_graph *graph = support_read(ctx, support_source("tests/golden/dynamic.xml"));
    const berth_tensor *tokens = output_of(graph, 0);
    assert_int_equal(tokens->shape.rank, 4);
    check_dim(tokens, 0, 0, INT64_MAX);
    check_dim(tokens, 1, 1, 512);
    check_dim(tokens, 2, 0, 8);
    check_dim(tokens, 3, 2, INT64_MAX);
    assert_int_equal(tokens->bytes, -1);
    assert_int_equal(output_of(graph, 1)->shape.rank, -1);
    assert_int_equal(output_of(graph, 2)->shape.rank, 0);
    assert_int_equal(output_of(graph, 2)->bytes, 2);
    assert_int_equal(output_of(graph, 3)->shape.rank, 1);
    assert_int_equal(output_of(graph, 4)->shape.rank, -1); /* reads one of unknown rank */
    assert_int_equal(output_of(graph, 5)->shape.rank, 0);
    berth_graph_free(graph);
}

/* A port without dimensions behind an operation that can lose the rank is no certain scalar. */
static void doubts_scalars_where_rank_may_be_lost(void **state) {
    (void)state;
    static const struct {
        const char *type, *shape;
        int32_t rank;
    } cases[] = {
        {"Squeeze", "?,3", -1},
        {"Squeeze", "1,1", 0},
        {"Abs", "?,3", 0},
        {"Abs", "...", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 HEAD PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"%s\"", "") LAYER(1, "o", "%s") INPUT(0)
                     OUTPUT(1, "") END RESULT(2) EDGES EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0) FOOT,
                 cases[i].shape, cases[i].type);
        berth_graph *graph = read_text(text);
        assert_int_equal(output_of(graph, 1)->shape.rank, cases[i].rank);
        berth_graph_free(graph);
    }
    berth_graph *graph =
        read_text(HEAD PARAMETER(0, "p") PARAMETER_LIKE(1, "s", "element_type=\"i64\" shape=\"?\"", "")
                      LAYER(2, "o", "Reshape") "<input><port id=\"0\"/><port id=\"1\"/></input>" OUTPUT(2, "")
                          END RESULT(3) EDGES EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0) FOOT);
    assert_int_equal(output_of(graph, 2)->shape.rank, -1);
    berth_graph_free(graph);
}

static void names_every_element_type(void **state) {
    (void)state;
    static const struct {
        const char *name;
        berth_type type;
    } cases[] = {
        {"FP32", BERTH_TYPE_F32},  {"f32", BERTH_TYPE_F32},         {"FP16", BERTH_TYPE_F16},
        {"f16", BERTH_TYPE_F16},   {"BF16", BERTH_TYPE_BF16},       {"FP64", BERTH_TYPE_F64},
        {"I4", BERTH_TYPE_I4},     {"I8", BERTH_TYPE_I8},           {"I16", BERTH_TYPE_I16},
        {"I32", BERTH_TYPE_I32},   {"I64", BERTH_TYPE_I64},         {"U1", BERTH_TYPE_U1},
        {"BIN", BERTH_TYPE_U1},    {"U2", BERTH_TYPE_U2},           {"U3", BERTH_TYPE_U3},
        {"U4", BERTH_TYPE_U4},     {"U6", BERTH_TYPE_U6},           {"U8", BERTH_TYPE_U8},
        {"U16", BERTH_TYPE_U16},   {"U32", BERTH_TYPE_U32},         {"U64", BERTH_TYPE_U64},
        {"BOOL", BERTH_TYPE_BOOL}, {"boolean", BERTH_TYPE_BOOL},    {"STRING", BERTH_TYPE_STRING},
        {"NF4", BERTH_TYPE_NF4},   {"F8E4M3", BERTH_TYPE_F8},       {"F8E5M2", BERTH_TYPE_F8},
        {"F8E8M0", BERTH_TYPE_F8}, {"F4E2M1", BERTH_TYPE_F4},       {"UNSPECIFIED", BERTH_TYPE_UNKNOWN},
        {"i2", BERTH_TYPE_I2},     {"dynamic", BERTH_TYPE_UNKNOWN}, {"undefined", BERTH_TYPE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD LAYER(0, "x", "Camera") "<output><port id=\"0\" precision=\"%s\"/></output>" END
                                              "</layers></net>",
                 cases[i].name);
        berth_graph *graph = read_text(text);
        assert_int_equal(output_of(graph, 0)->type, cases[i].type);
        berth_graph_free(graph);
    }
}

static void reads_every_spelling_of_a_shape(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int32_t rank;
        int64_t first_min, first_max;
    } cases[] = {
        {"1,3,224,224", 4, 1, 1},
        {"", 0, 0, 0},
        {"  ", 0, 0, 0},
        {"?", 1, 0, INT64_MAX},
        {"-1", 1, 0, INT64_MAX},
        {" 7 , 8 ", 2, 7, 7},
        {"1..10", 1, 1, 10},
        {"..10", 1, 0, 10},
        {"5..", 1, 5, INT64_MAX},
        {" 2 .. 3 ,?", 2, 2, 3},
        {"...", -1, 0, 0},
        {"[1,2]", 2, 1, 1},
        {"[]", 0, 0, 0},
        {"0", 1, 0, 0},
        {"..", 1, 0, INT64_MAX},
        {"4..4", 1, 4, 4},
        {"[...]", -1, 0, 0},
        {"\t3\n", 1, 3, 3},
        {"9223372036854775807", 1, INT64_MAX, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, ALONE(PARAMETER_LIKE(0, "p", "element_type=\"u8\" shape=\"%s\"", "")),
                 cases[i].shape);
        berth_graph *graph = read_text(text);
        assert_int_equal(output_of(graph, 0)->shape.rank, cases[i].rank);
        if (cases[i].rank > 0) check_dim(output_of(graph, 0), 0, cases[i].first_min, cases[i].first_max);
        berth_graph_free(graph);
    }
    const char *bad[] = {"1s",
                         "1,,2",
                         ",",
                         "1,",
                         ",1",
                         "1,...",
                         "...,...",
                         "1..g",
                         "3..2",
                         "-2",
                         "1.5",
                         "+1",
                         "0x10",
                         "1 2",
                         "?1",
                         "1...3",
                         "-1..3",
                         "1..-1",
                         "[1",
                         "1]",
                         "....",
                         "--1",
                         "-",
                         "1..2..3",
                         "[[1]]",
                         "..,",
                         "9223372036854775808",
                         "99999999999999999999999",
                         "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        snprintf(text, sizeof text, ALONE(PARAMETER_LIKE(0, "p", "element_type=\"u8\" shape=\"%s\"", "")), bad[i]);
        support_refuse(ctx, text, strlen(text), BERTH_E_FORMAT, "test:3: bad shape");
    }
}

static void takes_the_first_name(void **state) {
    (void)state;
    static const struct {
        const char *names, *first;
    } cases[] = {{"a", "a"},      {"a,b", "a"},       {"a\\,b,c", "a,b"}, {"a\\b,c", "a\\b"}, {"", "layer"},
                 {",b", "layer"}, {" a b ,c", "a b"}, {"a\\,", "a,"},     {"\\,\\,", ",,"},   {"a\\", "a\\"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ALONE(LAYER(0, "layer",
                             "Parameter") "<data element_type=\"f32\" shape=\"\"/>"
                                          "<output><port id=\"0\" precision=\"FP32\" names=\"%s\"/></output>" END),
                 cases[i].names);
        berth_graph *graph = read_text(text);
        assert_string_equal(output_of(graph, 0)->name, cases[i].first);
        berth_graph_free(graph);
    }
}

/* What <data> of a Parameter or Const says counts, whatever its port says. */
static void trusts_data_before_ports(void **state) {
    (void)state;
    berth_graph *graph = read_text(
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f16\" shape=\"1,22,22,3\"", "<dim>1</dim><dim>3</dim>")));
    assert_int_equal(output_of(graph, 0)->type, BERTH_TYPE_F16);
    assert_int_equal(output_of(graph, 0)->shape.rank, 4);
    check_dim(output_of(graph, 0), 3, 3, 3);
    berth_graph_free(graph);
    graph = read_text(ALONE(CONSTANT(0, "element_type=\"u4\" shape=\"5\" offset=\"1\" size=\"3\"")));
    assert_int_equal(output_of(graph, 0)->bytes, 3);
    berth_graph_free(graph);
}

static void accepts_what_openvino_accepts(void **state) {
    (void)state;
    const char *good[] = {
        /* blanks before the declaration, a byte order mark, comments, CDATA, characters by number */
        "\n \t\r\n<?xml version=\"1.0\"?>" ALONE(PARAMETER(0, "p")),
        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>" ALONE(PARAMETER(0, "p")),
        ALONE("<!-- a comment --><?pi?>" PARAMETER(0, "&lt;&#x20AC;&amp;")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"1\"", "<dim><![CDATA[1]]></dim>")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"1\"", "<dim>&#49;</dim>")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"?\"", "<dim> ? </dim>")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"?\"",
                             "<dim>                                                  1"
                             "                                                  </dim>")),
        /* a constant longer than it need be, of strings, of nothing, at the end of what a file can hold */
        ALONE(CONSTANT(0, "element_type=\"u8\" shape=\"0\" offset=\"0\" size=\"1\"")),
        ALONE(CONSTANT(0, "element_type=\"string\" shape=\"7\" offset=\"0\" size=\"0\"")),
        ALONE(CONSTANT(0, "element_type=\"u8\" shape=\"1\" offset=\"9223372036854775806\" size=\"1\"")),
        /* annotations anywhere */
        ALONE("<rt_info><layer id=\"0\"/></rt_info>" PARAMETER(0, "p")),
        ALONE(LAYER(
            0, "p",
            "Parameter") "<data element_type=\"f32\" shape=\"1\"/><output><rt_info><port/></rt_info>"
                         "<port id=\"0\" precision=\"FP32\"><rt_info><dim>x</dim></rt_info><dim>1</dim></port></output>" END),
        /* ids of any size and order, edges before layers, two ports of one number on the two sides of a layer */
        "<net version=\"11\"><edges>" EDGE(
            9223372036854775807, 5, 0, 8) "</edges><layers>"
                                          "<layer id=\"0\" name=\"r\" type=\"Result\" version=\"opset1\">" INPUT(8) END
        "<layer id=\"9223372036854775807\" name=\"p\" type=\"Parameter\" version=\"opset1\">"
        "<data element_type=\"f32\" shape=\"1\"/>" OUTPUT(5, "") END "</layers></net>",
        HEAD PARAMETER(0, "p") LAYER(1, "x", "X") INPUT(3) OUTPUT(3, "") END RESULT(2) EDGES EDGE(0, 0, 1, 3)
            EDGE(1, 3, 2, 0) FOOT,
        /* one tensor, two results */
        HEAD PARAMETER(0, "p") RESULT(1) RESULT(2) EDGES EDGE(0, 0, 1, 0) EDGE(0, 0, 2, 0) FOOT,
        /* an opset of somebody else */
        ALONE("<layer id=\"0\" name=\"x\" type=\"Sensor\" version=\"custom_opset\">" OUTPUT(0, "") END),
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        berth_graph *graph = read_text(good[i]);
        berth_graph_free(graph);
    }
}

static void reads_utf16(void **state) {
    (void)state;
    static const char text[] = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>" ALONE(PARAMETER(0, "p"));
    for (int big = 0; big < 2; big++) {
        char wide[2 * sizeof text];
        size_t n = 0;
        wide[n++] = big ? '\xfe' : '\xff';
        wide[n++] = big ? '\xff' : '\xfe';
        for (size_t i = 0; text[i]; i++) {
            wide[n + (size_t)big] = text[i];
            wide[n + (size_t)!big] = 0;
            n += 2;
        }
        berth_graph *graph = NULL;
        assert_int_equal(berth_graph_read_memory(ctx, &graph, wide, n, "test", NULL), BERTH_OK);
        assert_int_equal(berth_graph_op_count(graph), 2);
        berth_graph_free(graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_dynamic_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(doubts_scalars_where_rank_may_be_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_every_element_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_every_spelling_of_a_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_the_first_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trusts_data_before_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(accepts_what_openvino_accepts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_utf16, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("read.ir_spellings", tests, NULL, NULL);
}
