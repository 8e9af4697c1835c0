/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

static int set_up(void **state) {
    *state = workload_open("tests/golden/moirai.csv");
    return 0;
}

static void check_graph(const berth_graph *graph) {
    assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_MOIRAI);
    assert_int_equal(berth_graph_tensor_count(graph), 5);
    static const workload_op ops[] = {
        {"task0", 0, 2}, {"task5", 5, 3}, {"task7", 7, 5}, {"task9", 9, 6}, {"task12", 12, 7}};
    workload_same_ops(graph, ops, 5);
    static const berth_edge edges[] = {
        {0, 1, 0, 0, 0}, {0, 2, 1, 0, 0}, {1, 3, 0, 0, 0}, {2, 3, 0, 1, 0}, {2, 4, 1, 0, 0}};
    workload_same_edges(graph, edges, 5);

    const berth_given_costs *given = berth_graph_given_costs(graph);
    assert_int_equal(given->n_devices, 2);
    assert_string_equal(given->device_names[0], "dev.0");
    assert_string_equal(given->device_names[1], "dev.1");
    workload_same(given->op_ms, (const double[]){0, 0, 1, 2.5, 2, 1, 3, 4, 5, 6}, 10);
    static const double edge_ms[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.75, 0, 0, 1, 3, 0, 0, 2, 4, 0};
    workload_same(given->edge_ms, edge_ms, 20);
    assert_false(signbit(given->edge_ms[19]));
    assert_true(berth_given_edge_ms(given, 4, 1, 0) == 4);
    assert_null(given->edge_amount);
    assert_null(given->link_ms);
    workload_same(given->op_memory, (const double[]){0, 3, 4, 5, 6}, 5);
    workload_same(given->capacity, (const double[]){32, 64}, 2);
    assert_null(given->colour);
}

static void yields_graph_and_costs(void **state) {
    const workload *w = *state;
    berth_graph *graph = support_read(w->ctx, support_source("tests/golden/moirai.csv"));
    check_graph(graph);
    berth_graph_free(graph);
}

/* The same file with a byte order mark and the line ends of other systems. */
static void reads_what_spreadsheets_write(void **state) {
    const workload *w = *state;
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (size_t k = 0; k < COUNT(ends); k++) {
        char *text = malloc(2 * w->size + 3);
        assert_non_null(text);
        size_t n = 3;
        memcpy(text, "\xef\xbb\xbf", 3);
        for (size_t i = 0; i < w->size; i++) {
            if (w->text[i] == '\n')
                memcpy(text + n, ends[k], strlen(ends[k])), n += strlen(ends[k]);
            else
                text[n++] = w->text[i];
        }
        berth_graph *graph = NULL;
        if (berth_graph_read_memory(w->ctx, &graph, text, n, "test", NULL) != BERTH_OK)
            fail_msg("%s", berth_ctx_message(w->ctx));
        check_graph(graph);
        berth_graph_free(graph);
        free(text);
    }
}

/* The graph of Topcuoglu et al. 2002, figure 1: one transfer time for all pairs of devices, no memory. */
static void reads_topcuoglu(void **state) {
    const workload *w = *state;
    berth_graph *graph = support_read(w->ctx, support_source("tests/golden/topcuoglu.csv"));
    const berth_given_costs *given = berth_graph_given_costs(graph);
    assert_int_equal(berth_graph_op_count(graph), 10);
    assert_int_equal(berth_graph_edge_count(graph), 15);
    assert_int_equal(given->n_devices, 3);
    assert_null(given->op_memory);
    assert_null(given->capacity);
    double transfers = 0;
    for (int32_t e = 0; e < 15; e++) {
        transfers += berth_given_edge_ms(given, e, 0, 2);
        assert_true(berth_given_edge_ms(given, e, 0, 2) == berth_given_edge_ms(given, e, 1, 0));
        assert_true(berth_given_edge_ms(given, e, 1, 1) == 0);
    }
    assert_true(transfers == 241);
    berth_graph_free(graph);
}

static void accepts(void **state) {
    const workload *w = *state;
    static const change cases[] = {
        {"\"A note, in two\nlines\",,,,,,,,,,,,,\n", ""},
        {"\"A note, in two\nlines\",,,,,,,,,,,,,\n", "no commas here\n\n\n,,"},
        {"\"A note, in two\nlines\",,,,,,,,,,,,,\n", ",,a note \"further\" right"},
        {"\"A note, in two\nlines\",,,,,,,,,,,,,\n", "one note\nand another\n"},
        {"6,12,,,,6,5,,,,,,,\n", " 6 ,\t\"12\" ,\" \",,,6,5,,,,,,,\n"},
        {"5,9,,", "5,9.0,,"},
        {",remark\n", ",\n"},
        {"9,\"6,9\",2.5", "9,\"6, 9\",2.5"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        berth_graph *graph = workload_accept(w, cases[i].old, cases[i].text);
        assert_int_equal(berth_graph_op_count(graph), 5);
        assert_int_equal(berth_graph_edge_count(graph), 5);
        berth_graph_free(graph);
    }
    berth_graph *graph = workload_accept(w, "m1,m0", "x,y");
    assert_null(berth_graph_given_costs(graph)->capacity);
    assert_non_null(berth_graph_given_costs(graph)->op_memory);
    berth_graph_free(graph);
}

/* Whatever the reader keeps of a file is part of what the workload is. */
static void fingerprints_cover_costs(void **state) {
    static const change changes[] = {
        {"2.5,1e0", "2.5,1.5"},
        {"0,0.5,0.75,0", "0,0.5,0.5,0"},
        {"\n3,5", "\n4,5"},
        {"64,32", "64,33"},
        {"6,12,,,,6,5,,,,,,,\n", "6,12,,,,6,5,,,,,,,\n0,13,,,,0,0,,,,,,,\n"},
    };
    workload_tell_apart(*state, changes, COUNT(changes));
}

static void refuses(void **state) {
    static const spoiling cases[] = {
        /* the header */
        {"p1,p0,", "q1,p0,", "test:1: the column pc01 is of a device that has no times"},
        {"p1,p0,", "p1,q0,", "test:1: the column p0 is missing"},
        {"p1,p0,", "q1,q0,", "test:1: the column p0 is missing"},
        {"p1,p0,", "p2,p0,", "test:1: the column pc02 is missing"},
        {"p1,p0,", "p10,p0,", "test:1: the column p10: devices are numbered by one digit each"},
        {"pc00", "pc110", "test:1: the column pc110: devices are numbered by one digit each"},
        {"pc00", "pcxx", "test:1: the column pc00 is missing"},
        {"pc00", "pc01", "test:1: the column pc01 stands twice"},
        {"remark", "m2", "test:1: the column m2 is of a device that has no times"},
        {"m1,m0", "x,m0", "test:1: the column m1 is missing"},
        {"mi,", "x,", "test:1: the column mi is missing"},
        {"c_task", "task", "test:1: the column task stands twice"},
        /* the table */
        {"3,5,6,9,", "3,5,6,9,,", "test:3: the row has more than 14 cells"},
        {"6,5,,,,,,,\n", "6,5,,,,\n", "test:7: the row has 11 cells, the header 14"},
        {"lines\"", "lines", "test:9: a quote in this row is never closed"},
        {"\"a \"\"quoted\"\" word\"", "\"a\"word", "test:5: text follows the closing quote of cell 14"},
        {",,,,,,,,,,,,,\n", "a note,,,,,,,,,,,,,\n", "test:4: this row is no task, and tasks follow it"},
        {",,,,,,,,,,,,,\n", "7,,,,,,,,,,,,,\n", "test:4: column task: '' is not the number of a task"},
        {",,,,,,,,,,,,,\n", "?,!,,,,,,,,,,,,\n", "test:4: column task: '!' is not the number of a task"},
        {"5,9,,", "5,9.5,,", "test:6: column task: '9.5' is not the number of a task"},
        {"5,9,,", "5,99999999999999999999,,", "test:6: column task: '99999999999999999999' is not"},
        {"5,9,,", "5,7,,", "test:6: the task 7 already stands on line 5"},
        /* numbers */
        {"2.5,1e0", "2.5,", "test:3: column p0: '' is not a number"},
        {"2.5,1e0", "2.5,x", "test:3: column p0: 'x' is not a number"},
        {"2.5,1e0", "-2.5,1e0", "test:3: column p1: '-2.5' is negative"},
        {"2.5,1e0", "2.5,nan", "test:3: column p0: 'nan' is not a number"},
        {"2.5,1e0", "inf,1e0", "test:3: column p1: 'inf' is not a number"},
        {"2.5,1e0", "1e999,1e0", "test:3: column p1: '1e999' is too large"},
        {"2.5,1e0", "0x10,1e0", "test:3: column p1: '0x10' is not a number"},
        {"2.5,1e0", "\"2,5\",1e0", "test:3: column p1: '2,5' is not a number"},
        {"\n3,5", "\n,5", "test:3: column mi: '' is not a number"},
        {"\n3,5", "\n-3,5", "test:3: column mi: '-3' is negative"},
        {"64,32", "64,", "test:2: column m0: '' is not a number"},
        {"64,32", "64,-32", "test:2: column m0: '-32' is negative"},
        {",64,,\"a", ",65,,\"a", "test:5: column m1: '65' differs from the first row"},
        /* followers and transfers */
        {"\"5, 7\"", "\"5, 8\"", "test:2: column dir_succ: there is no task 8"},
        {"\"5, 7\"", "\"5, x\"", "test:2: column dir_succ: 'x' is not the number of a task"},
        {"\"5, 7\"", "\"5,,7\"", "test:2: column dir_succ: '' is not the number of a task"},
        {"\"5, 7\"", "\"5,7,\"", "test:2: column dir_succ: '' is not the number of a task"},
        {"\"5, 7\"", "\"5,5\"", "test:2: 'task0' to 'task5' is listed twice"},
        {"\"5, 7\"", "\"5,0\"", "test:2: the graph has a cycle: 'task0' follows itself"},
        {"5,9,,,,4,3,,,,,,,", "5,9,10,5,\"10,5\",4,3,0,1,1,0,,,", "the graph has a cycle through"},
        {"\"8,11\",", "8,", "test:5: column c_task: 1 transfers for 2 followers"},
        {"\"8,11\",", "\"8,y\",", "test:5: column c_task: 'y' is not the number of a task"},
        {"\"8,11,9,12\"", "\"8,11,9\"", "test:5: column dir_succ_add: 3 numbers for 2 followers and 2 transfers"},
        {"\"1,2\"", "1", "test:5: column pc01: 1 numbers for 2 followers"},
        {"\"1,2\"", "\"1,2,3\"", "test:5: column pc01: 3 numbers for 2 followers"},
        {"\"1,2\"", "\"1,z\"", "test:5: column pc01: 'z' is not a number"},
        {"\"1,2\"", "\"1,-2\"", "test:5: column pc01: '-2' is negative"},
        {"\"0,0\"", "\"0,7\"", "test:5: column pc00: '7' ms within a device"},
        {"0,0.5,0.75,0", ",,,", "test:3: column pc00: 0 numbers for 1 followers"},
        {"0,0.5,0.75,0", "0,0.5,,0", "test:3: column pc10: 0 numbers for 1 followers"},
        {"5,9,,,,4,3,,,,", "5,9,,,,4,3,0,,,", "test:6: column pc00: 1 numbers for 0 followers"},
    };
    workload_refuse(*state, cases, COUNT(cases));
}

static void refuses_text_around_tables(void **state) {
    berth_ctx *ctx = ((workload *)*state)->ctx;
    static const spoiling cases[] = {
        {"", "task,dir_succ", "test:1: the column p0 is missing"},
        {"", "task,dir_succ,p0,pc00\n", "test:1: the workload has no tasks"},
        {"", "task,dir_succ,p0,pc00\nonly a note", "test:1: the workload has no tasks"},
        {"", "task,dir_succ,p0,pc00,\"open", "test: byte 0: neither"},
        {"", "task,\"dir_succ\"x", "test: byte 0: neither"},
        {"", "task\ndir_succ", "test: byte 0: neither"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        support_refuse(ctx, cases[i].text, strlen(cases[i].text), BERTH_E_FORMAT, cases[i].message);
}

/* A row may name many followers in few bytes and leave its transfers out; ten devices make 100 numbers of each. */
static void refuses_tables_out_of_proportion(void **state) {
    berth_ctx *ctx = ((workload *)*state)->ctx;
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_text_printf(text, "task,dir_succ,p0,p1,p2,p3,p4,p5,p6,p7,p8,p9");
    for (int i = 0; i < 100; i++) berth_text_printf(text, ",pc%02d", i);
    berth_text_printf(text, "\n0,\"1");
    for (int i = 1; i < 700; i++) berth_text_printf(text, ",1");
    berth_text_printf(text, "\",0,0,0,0,0,0,0,0,0,0");
    for (int i = 0; i < 100; i++) berth_text_printf(text, ",");
    support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                   "test:2: 700 x 100 times are out of proportion");
    berth_text_printf(text, ",");
    support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                   "test:2: the row has more than 112 cells");
    berth_text_free(text);

    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_text_printf(text, "task,dir_succ");
    for (int i = 0; i < 8000; i++) berth_text_printf(text, ",");
    support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                   "test:1: the row has more than 1024 cells");
    berth_text_free(text);
}

/* Up to the last task's memory; after that only empty cells and the note are missing. */
static void refuses_every_beginning(void **state) {
    const workload *w = *state;
    const char *last = strstr(w->text, "6,12,,,,6,5,,,,,,,\n");
    workload_cut(w, (size_t)(last - w->text));
}

static void survives_failed_allocations(void **state) {
    assert_true(support_ladder(workload_ladder_step, *state, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(yields_graph_and_costs, set_up, workload_close),
        cmocka_unit_test_setup_teardown(reads_what_spreadsheets_write, set_up, workload_close),
        cmocka_unit_test_setup_teardown(reads_topcuoglu, set_up, workload_close),
        cmocka_unit_test_setup_teardown(accepts, set_up, workload_close),
        cmocka_unit_test_setup_teardown(fingerprints_cover_costs, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses_text_around_tables, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses_tables_out_of_proportion, set_up, workload_close),
        cmocka_unit_test_setup_teardown(refuses_every_beginning, set_up, workload_close),
        cmocka_unit_test_setup_teardown(survives_failed_allocations, set_up, workload_close),
    };
    return cmocka_run_group_tests_name("read.moirai", tests, NULL, NULL);
}
