/* SPDX-License-Identifier: Apache-2.0 */
/* read.ir_refuse: documents that are no graph, or more than the reader takes. */
#include "ir_fixture.h"

static void refuses_what_is_no_graph(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        /* not XML, or not all of it */
        {"<", "test:1: not well-formed XML"},
        {"<net", "test:1: not well-formed XML"},
        {"<net version=\"11\">\n", "test:2: not well-formed XML"},
        {HEAD PARAMETER(0, "p"), "not well-formed XML"},
        {"\n\n<net version=\"11\"></nett>", "test:3: not well-formed XML: mismatched tag"},
        {ALONE(PARAMETER(0, "p")) "\n//", "not well-formed XML"},
        {ALONE(PARAMETER(0, "p")) "<net/>", "not well-formed XML: junk after"},
        {"<net version=\"11\" version=\"11\"/>", "duplicate attribute"},
        {"<net version=\"11\" name=\"\xff\"/>", "not well-formed XML"},
        {"<net version=\"11\" name=\"&what;\"/>", "undefined entity"},
        {"<?xml version=\"1.0\" encoding=\"klingon\"?><net version=\"11\"/>", "unknown encoding"},
        /* document types and entities */
        {"<!DOCTYPE net [<!ENTITY a \"b\">]><net version=\"11\" name=\"&a;\"/>", "test:1: a document type declaration"},
        {"<?xml version=\"1.0\"?>\n<!DOCTYPE net SYSTEM \"/etc/passwd\"><net version=\"11\"/>",
         "test:2: a document type declaration"},
        /* other XML */
        {"<svg width=\"1\"/>", "test:1: the root element is <svg>"},
        {"<layers/>", "test:1: the root element is <layers>"},
        {"<net/>", "test:1: <net> has no version"},
        {"<net version=\"eleven\"/>", "test:1: <net> has a bad version"},
        {"<net version=\"11\"/>", "test:1: <net> has no <layers>"},
        {"<net version=\"11\"><a><layers/></a></net>", "<net> has no <layers>"},
        {"<net version=\"11\">\n<layers/></net>", "test:2: <net> has no layer"},
        {HEAD PARAMETER(0, "p") "</layers>\n<layers/>", "test:5: a second <layers>"},
        {"<net version=\"11\">\n<edges/>\n<edges/>", "test:3: a second <edges>"},
        /* layers */
        {HEAD "<layer name=\"a\" type=\"b\"/>", "test:3: layer has no attribute 'id'"},
        {HEAD "<layer id=\"0\" type=\"b\"/>", "test:3: layer has no attribute 'name'"},
        {HEAD "<layer id=\"0\" name=\"a\"/>", "test:3: layer has no attribute 'type'"},
        {HEAD "<layer id=\"0\" name=\"a\" type=\"\"/>", "test:3: layer 0 has an empty type"},
        {HEAD "<layer id=\"x\" name=\"a\" type=\"b\"/>", "test:3: bad id \"x\" of layer"},
        {HEAD "<layer id=\"-1\" name=\"a\" type=\"b\"/>", "test:3: bad id"},
        {HEAD "<layer id=\"\" name=\"a\" type=\"b\"/>", "test:3: bad id"},
        {HEAD "<layer id=\"9223372036854775808\" name=\"a\" type=\"b\"/>", "test:3: bad id"},
        {HEAD "<layer id=\"0\" name=\"a\" type=\"b\" precision=\"FP33\"/>", "test:3: bad precision \"FP33\" of layer"},
        {HEAD PARAMETER(0, "p") PARAMETER(0, "q") EDGES FOOT, "test:4: layer id 0 is used twice (first in line 3)"},
        {HEAD OPEN "<data/>\n<data/>", "test:5: a second <data>"},
        {HEAD OPEN "<input/>\n<input/>", "test:5: a second <input>"},
        {HEAD OPEN "<output/>\n<output/>", "test:5: a second <output>"},
        {HEAD LAYER(0, "t", "Loop") "<body/>\n<body/>", "test:4: a second <body>"},
        /* sources and results */
        {HEAD OPEN OUTPUT(0, "") END EDGES FOOT, "test:3: Parameter 'p' has no <data> with an element_type"},
        {HEAD OPEN "<data element_type=\"f32\"/>" OUTPUT(0, "") END,
         "test:3: Parameter 'p' has no <data> with a shape"},
        {HEAD OPEN "\n<data element_type=\"f33\" shape=\"1\"/>", "test:5: bad element_type \"f33\" of layer"},
        {HEAD OPEN "<data element_type=\"f32\" shape=\"1\"/>" END, "test:3: Parameter 'p' has 0 inputs and 0 outputs"},
        {HEAD OPEN "<data element_type=\"f32\" shape=\"1\"/>" INPUT(0) OUTPUT(0, "") END, "1 inputs and 1 outputs"},
        {HEAD LAYER(0, "c", "Const") "<data element_type=\"f32\" shape=\"1\"/>" OUTPUT(0, "") END,
         "test:3: Const 'c' has no <data> with a size"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"1\" size=\"4\""), "test:3: Const has no attribute 'offset'"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"1\" offset=\"-4\" size=\"4\""), "test:3: bad offset"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"1\" offset=\"0\" size=\"4.0\""), "test:3: bad size"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"?\" offset=\"0\" size=\"4\""), "test:3: bad shape"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"...\" offset=\"0\" size=\"4\""), "test:3: bad shape"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"2\" offset=\"0\" size=\"7\""),
         "test:3: 'c' stores 7 bytes, but its shape needs 8"},
        {HEAD CONSTANT(0, "element_type=\"u4\" shape=\"5\" offset=\"0\" size=\"2\""), "stores 2 bytes"},
        {HEAD CONSTANT(0, "element_type=\"u8\" shape=\"1\" offset=\"9223372036854775807\" size=\"1\""),
         "test:3: Const: offset and size add up beyond 64 bits"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"4294967296,4294967296\" offset=\"0\" size=\"4\""),
         "test:3: the dimensions of 'c' multiply beyond 64 bits"},
        {HEAD LAYER(0, "r", "Result") END, "test:3: Result 'r' has 0 inputs instead of 1"},
        {HEAD LAYER(0, "c", "Const") "<body/>" END, "test:3: Const 'c' has a nested graph"},
        {OLD_HEAD "<layer id=\"0\" name=\"c\" type=\"Const\" precision=\"FP32\">" OUTPUT(
             0, "<dim>2</dim>") "<blobs><custom offset=\"0\" size=\"4\"/></blobs>" END,
         "test:3: 'c' stores 4 bytes, but its shape needs 8"},
        {OLD_HEAD "<layer id=\"0\" name=\"c\" type=\"Fc\"><blobs><weights size=\"4\"/>",
         "blob has no attribute 'offset'"},
        {OLD_HEAD "<layer id=\"0\" name=\"c\" type=\"Fc\"><blobs><a offset=\"0\" size=\"9223372036854775807\"/>"
                  "<b offset=\"0\" size=\"1\"/>",
         "test:3: the blobs of layer 0 add up beyond 64 bits"},
        /* ports */
        {HEAD OPEN "<output>\n<port precision=\"FP32\"/>", "test:5: port has no attribute 'id'"},
        {HEAD OPEN "<output>\n<port id=\"0\"/>", "test:5: output port 0 has no precision"},
        {HEAD OPEN "<output>\n<port id=\"0\" precision=\"\"/>", "test:5: bad precision"},
        {HEAD OPEN "<input>\n<port id=\"zero\"/>", "test:5: bad id \"zero\" of port"},
        {HEAD OPEN "<output><port id=\"0\" precision=\"FP32\">\n<dim>-2</dim>", "test:5: bad dimension \"-2\""},
        {HEAD OPEN "<input><port id=\"0\"><dim></dim>", "test:4: bad dimension \"\""},
        {HEAD OPEN "<input><port id=\"0\"><dim>1 2</dim>", "bad dimension"},
        {HEAD OPEN "<input><port id=\"0\"><dim>1<!-- -->x</dim>", "bad dimension \"1x\""},
        {HEAD OPEN "<input><port id=\"0\"><dim>00000000000000000000000000000000000000000001</dim>", "bad dimension"},
        {HEAD LAYER(0, "x",
                    "X") "<output>\n<port id=\"1\" precision=\"I8\"/>\n<port id=\"1\" precision=\"I8\"/></output>" END
             EDGES FOOT,
         "test:5: layer 0 has two output ports with id 1"},
        {HEAD LAYER(0, "x", "X") "<input><port id=\"1\"/><port id=\"1\"/></input>" END EDGES FOOT,
         "test:3: layer 0 has two input ports with id 1"},
        {HEAD PARAMETER_LIKE(0, "p", "element_type=\"f64\" shape=\"4294967296,4294967296\"", "") EDGES FOOT,
         "test:3: the dimensions of 'p' multiply beyond 64 bits"},
        /* edges */
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES "<edge from-port=\"0\" to-layer=\"1\" to-port=\"0\"/>",
         "test:7: edge has no attribute 'from-layer'"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, -1, 1, 0), "test:7: bad from-port"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(2, 0, 1, 0) FOOT,
         "test:7: edge from layer 2, which does not exist"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 2, 0) FOOT, "test:7: edge to layer 2, which does not exist"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 1, 1, 0) FOOT, "test:7: edge from port 1 of layer 0"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 1) FOOT, "test:7: edge to port 1 of layer 1"},
        {HEAD PARAMETER(0, "p") UNARY(1, "x", "X") EDGES EDGE(0, 0, 1, 1) FOOT, "(that is an output)"},
        {HEAD UNARY(0, "x", "X") UNARY(1, "y", "X") EDGES EDGE(0, 0, 1, 0) FOOT, "(that is an input)"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 0) EDGE(0, 0, 1, 0) FOOT,
         "test:8: a second edge to input port 0 of layer 1"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES FOOT, "test:4: no edge to input port 0 of layer 1 'r'"},
        {HEAD UNARY(0, "x", "X") EDGES EDGE(0, 1, 0, 0) FOOT, "test:3: the graph has a cycle through 'x'"},
        {HEAD UNARY(0, "x", "X") UNARY(1, "y", "X") EDGES EDGE(0, 1, 1, 0) EDGE(1, 1, 0, 0) FOOT, "cycle"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        support_refuse(ctx, cases[i].text, strlen(cases[i].text), BERTH_E_FORMAT, cases[i].says);
    static const char with_nul[] = "<net version=\"11\">\0</net>";
    support_refuse(ctx, with_nul, sizeof with_nul - 1, BERTH_E_FORMAT, "test:1: not well-formed XML");
}

static void refuses_other_versions(void **state) {
    (void)state;
    const char *old = "<?xml version=\"1.0\"?>\n<net name=\"n\" version=\"3\"><layers/></net>";
    support_refuse(ctx, old, strlen(old), BERTH_E_UNSUPPORTED, "test:2: this is OpenVINO IR version 3");
    const char *next = "<net version=\"12\"/>";
    support_refuse(ctx, next, strlen(next), BERTH_E_UNSUPPORTED, "test:1: this is OpenVINO IR version 12");
}

static berth_text *new_text(void) {
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    return text;
}

/* A Parameter with that many dimensions, either in <data> or at its port. */
static berth_text *parameter_of_rank(int rank, bool in_data) {
    berth_text *text = new_text();
    berth_text_printf(text, HEAD LAYER(0, "p", "Parameter") "<data element_type=\"f32\" shape=\"1");
    for (int i = 1; in_data && i < rank; i++) berth_text_printf(text, ",1");
    berth_text_printf(text, "\"/><output><port id=\"0\" precision=\"FP32\">");
    for (int i = 0; !in_data && i < rank; i++) berth_text_printf(text, "<dim>1</dim>");
    berth_text_printf(text, "</port></output>" END RESULT(9) EDGES EDGE(0, 0, 9, 0) FOOT);
    assert_int_equal(berth_text_status(text), BERTH_OK);
    return text;
}

static void refuses_too_many_dimensions(void **state) {
    (void)state;
    for (int in_data = 0; in_data < 2; in_data++) {
        berth_text *text = parameter_of_rank(BERTH_MAX_RANK, in_data);
        berth_graph_free(read_text(berth_text_string(text)));
        berth_text_free(text);
        text = parameter_of_rank(BERTH_MAX_RANK + 1, in_data);
        support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                       in_data ? "test:3: Parameter 'p' has more than 64 dimensions"
                               : "test:3: a port has more than 64 dimensions");
        berth_text_free(text);
    }
}

/* `levels` bodies inside each other, in 3 * levels + 3 elements. */
static berth_text *nest(int levels) {
    berth_text *text = new_text();
    berth_text_printf(text, HEAD);
    for (int i = 0; i < levels; i++)
        berth_text_printf(text, "<layer id=\"1\" name=\"t\" type=\"Loop\" version=\"o\"><body><layers>");
    berth_text_printf(text, "<layer id=\"0\" name=\"t\" type=\"x\" version=\"o\"/>");
    for (int i = 0; i < levels; i++) berth_text_printf(text, "</layers></body></layer>");
    berth_text_printf(text, "</layers></net>");
    assert_int_equal(berth_text_status(text), BERTH_OK);
    return text;
}

static void limits_nesting(void **state) {
    (void)state;
    berth_text *text = nest(65); /* 198 deep */
    berth_graph *graph = read_text(berth_text_string(text));
    assert_int_equal(berth_graph_op_count(graph), 1);
    assert_int_equal(berth_graph_op(graph, 0)->n_bodies, 65);
    assert_int_equal(berth_graph_op(graph, 0)->n_nested_ops, 65);
    berth_graph_free(graph);
    berth_text_free(text);
    text = nest(66);
    support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                   "test:3: elements are nested more than 200 deep");
    berth_text_free(text);
    const int n = support_cases(100000) > 1000 ? support_cases(100000) : 1000;
    text = nest(n);
    const char *deep = berth_text_string(text);
    support_refuse(ctx, deep, strlen(deep), BERTH_E_FORMAT, "nested more than 200 deep");
    berth_read_options options = berth_read_options_default();
    options.max_depth = INT32_MAX;
    assert_int_equal(berth_graph_read_memory(ctx, &graph, deep, strlen(deep), "test", &options), BERTH_OK);
    assert_int_equal(berth_graph_op(graph, 0)->n_bodies, n);
    berth_graph_free(graph);
    options.max_depth = -1;
    assert_int_equal(berth_graph_read_memory(ctx, &graph, deep, strlen(deep), "test", &options), BERTH_E_FORMAT);
    berth_text_free(text);
}

/* A layer with very many ports, which the file lists in falling order. */
static void stays_linear_in_ports(void **state) {
    (void)state;
    const int n_ports = support_cases(100000);
    berth_text *text = new_text();
    berth_text_printf(text, HEAD PARAMETER(0, "p") LAYER(1, "x", "Concat") "<input>");
    for (int i = n_ports; i > 0; i--) berth_text_printf(text, "<port id=\"%d\"/>", i);
    berth_text_printf(text, "</input>" OUTPUT(0, "") END RESULT(2) EDGES EDGE(1, 0, 2, 0));
    for (int i = 1; i <= n_ports; i++)
        berth_text_printf(text, "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"%d\"/>", i);
    berth_text_printf(text, FOOT);
    berth_graph *graph = read_text(berth_text_string(text));
    assert_int_equal(berth_graph_edge_count(graph), n_ports + 1);
    assert_int_equal(berth_graph_pair_count(graph), 2);
    assert_int_equal(berth_graph_edge(graph, 1)->to_port, n_ports - 1); /* id 1 stands last */
    berth_graph_free(graph);
    berth_text_free(text);
}

/* A file of one enormous token. */
static void stays_linear_in_a_token(void **state) {
    (void)state;
    size_t size = (size_t)40 << 20; /* three pieces for expat */
    char *name = malloc(size);
    assert_non_null(name);
    memset(name, 'x', size);
    berth_text *text = new_text();
    berth_text_printf(text, "<net version=\"11\" name=\"");
    berth_text_append(text, name, size);
    berth_text_printf(text, "\"><layers>" PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 0) FOOT);
    berth_graph *graph = read_text(berth_text_string(text));
    assert_int_equal(strlen(berth_graph_name(graph)), size);
    berth_graph_free(graph);
    berth_text_free(text);
    free(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refuses_what_is_no_graph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_other_versions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_too_many_dimensions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_nesting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stays_linear_in_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stays_linear_in_a_token, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("read.ir_refuse", tests, NULL, NULL);
}
