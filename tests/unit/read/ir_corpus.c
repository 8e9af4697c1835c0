/* SPDX-License-Identifier: Apache-2.0 */
/* Real files: the bundled models, the collection in ../shared/data/ir with the counts of its MANIFEST.tsv, and the
 * documents of OpenVINO's own tests. Whoever counted there did it with another XML parser. */
#include "reading.h"

#include "read/source.h"

#include <dirent.h>
#include <stdio.h>

enum { MAX_COLUMNS = 32, TAR_BLOCK = 512 };

typedef struct exception {
    const char *name, *why;
} exception;

/* Files in which OpenVINO refuses something that is no matter of the graph. */
static const exception valid_graphs[] = {
    {"frontend_test_basic__DISABLED_elementary_model_reading_v9.xml",
     "version 9 in the syntax of version 10; OpenVINO never published a 9, we read it"},
    {"frontend_test_basic__model_with_missing_weights.xml", "the .bin is missing, and we never open it"},
    {"frontend_test_basic__string_const_size_exceeds_weights_is_rejected.xml", "the .bin is too short, not opened"},
    {"frontend_test_basic__wrong_opset.xml", "an opset of unknown name is opaque, as those of extensions are"},
    {"gru_v6_negative.xml", "a good graph that differs from its twin, for a test of a comparison"},
    {"rt_info_deserialization__names_collision_v10.xml", "a tensor and a layer share a name; we do not mind"},
    {"rt_info_deserialization__node_v11_multiple_rt_keys.xml", "a repeated key in rt_info, which is not read"},
    {"ov_register_plugin_test__removeExtensionOnPluginUnload.xml", "throws once an extension is unloaded"},
    {"serialize__write_to_disk_full.xml", "throws because the disk is full"},
};

/* Not the documents that OpenVINO read: the extraction from C++ cut or glued the literals. */
static const exception torn_documents[] = {
    {"deterministicity__FromIrModel.xml", "ends inside its second line"},
    {"import_export__CheckUniqueNodeNames.xml", "two XML declarations in a row"},
    {"pre_processing_deserialization__check_tensor_names_after_read_and_pre_post_processing.xml",
     "a line of C++ behind the end"},
};

/* Rows of the manifest that are no IR files. */
static const exception other_rows[] = {
    {"ov_ir_test_snippets.tar.gz", "an archive, see openvino_documents"},
    {"nncf_inception_v3_ov2024.1.dot.gz", "a drawing of a graph in DOT"},
};

static const exception *find_exception(const exception *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}
#define IS_IN(list, name) (find_exception(list, sizeof list / sizeof *list, name) != NULL)

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Refused as malformed, in one line that names the place. */
static void check_refused(const char *name, berth_status status) {
    const char *message = berth_ctx_message(ctx);
    int line = 0;
    const char *colon = strstr(message, ".xml:");
    if (status != BERTH_E_FORMAT) fail_msg("%s: status %d: %s", name, (int)status, message);
    if (!colon || sscanf(colon, ".xml:%d: ", &line) != 1 || line < 1) fail_msg("'%s' names no line", message);
}

/* Splits a row in place; returns the number of cells. */
static int split_row(char *row, char *cells[MAX_COLUMNS]) {
    int n = 0;
    row[strcspn(row, "\r\n")] = 0;
    for (char *at = row; at && n < MAX_COLUMNS;) {
        cells[n++] = at;
        at = strchr(at, '\t');
        if (at) *at++ = 0;
    }
    return n;
}

static int find_column(char *const *cells, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(cells[i], name) == 0) return i;
    fail_msg("MANIFEST.tsv has no column '%s'", name);
    return -1;
}

static int to_int(const char *text) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > INT32_MAX) fail_msg("MANIFEST.tsv has no count '%s'", text);
    return (int)value;
}

static void check_row(const char *file, int nodes, int edges, int pairs) {
    char path[256];
    snprintf(path, sizeof path, "data/ir/%s", file);
    const char *full = support_shared(path);
    assert_non_null(full);
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read(ctx, &graph, full, NULL);
    bool must_fail = strncmp(file, "malformed/", 10) == 0 && !IS_IN(valid_graphs, file_name(file));
    if (must_fail) {
        check_refused(file, status);
        return;
    }
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    if (berth_graph_op_count(graph) != nodes || berth_graph_edge_count(graph) != edges ||
        berth_graph_pair_count(graph) != pairs)
        fail_msg("%s: %d/%d/%d instead of %d/%d/%d", file, berth_graph_op_count(graph), berth_graph_edge_count(graph),
                 berth_graph_pair_count(graph), nodes, edges, pairs);
    if (berth_graph_check(ctx, graph) != BERTH_OK) fail_msg("%s: %s", file, berth_ctx_message(ctx));
    berth_graph_free(graph);
}

static void manifest_agrees(void **state) {
    (void)state;
    const char *path = support_shared("data/ir/MANIFEST.tsv");
    if (!path) support_skip("../shared/data/ir is not here");
    FILE *manifest = fopen(path, "r");
    assert_non_null(manifest);
    char row[8192], *cells[MAX_COLUMNS];
    assert_non_null(fgets(row, sizeof row, manifest));
    int n = split_row(row, cells), rows = 0;
    int file = find_column(cells, n, "file"), nodes = find_column(cells, n, "nodes");
    int edges = find_column(cells, n, "edges"), pairs = find_column(cells, n, "distinct_pairs");
    while (fgets(row, sizeof row, manifest)) {
        assert_int_equal(split_row(row, cells), n);
        if (IS_IN(other_rows, cells[file])) continue;
        check_row(cells[file], to_int(cells[nodes]), to_int(cells[edges]), to_int(cells[pairs]));
        rows++;
    }
    fclose(manifest);
    printf("%d files\n", rows);
    assert_true(rows >= 50);
}

/* Also files that the manifest does not list. */
static void malformed_files_are_refused(void **state) {
    (void)state;
    const char *folder = support_shared("data/ir/malformed");
    if (!folder) support_skip("../shared/data/ir/malformed is not here");
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int refused = 0, read = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        berth_graph *graph = NULL;
        berth_status status = berth_graph_read(ctx, &graph, path, NULL);
        if (IS_IN(valid_graphs, entry->d_name)) {
            if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
            read++;
        } else {
            check_refused(entry->d_name, status);
            refused++;
        }
        berth_graph_free(graph);
    }
    closedir(dir);
    printf("%d refused, %d valid\n", refused, read);
    assert_true(refused > 0);
}

typedef struct archive {
    berth_source source;
    size_t at;
} archive;

/* The next regular file of a tar archive, or false at its end. */
static bool next_file(archive *tar, const char **name, const char **bytes, size_t *size) {
    while (tar->at + TAR_BLOCK <= tar->source.size && tar->source.bytes[tar->at]) {
        const char *header = tar->source.bytes + tar->at;
        *name = header;
        *bytes = header + TAR_BLOCK;
        *size = strtoul(header + 124, NULL, 8);
        tar->at += TAR_BLOCK + (*size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
        assert_true(tar->at <= tar->source.size);
        if (header[156] == '0' || header[156] == 0) return true;
    }
    return false;
}

/* What the index says of a document: true if OpenVINO is to throw. */
static bool throws(const char *index, size_t size, const char *name) {
    size_t n = strlen(name);
    for (const char *row = index, *end = index + size; row < end;) {
        const char *stop = memchr(row, '\n', (size_t)(end - row));
        if (!stop) stop = end;
        if ((size_t)(stop - row) > n && memcmp(row, name, n) == 0 && row[n] == '\t')
            return stop - row > 13 && memcmp(stop - 13, "expects_throw", 13) == 0;
        row = stop + 1;
    }
    fail_msg("INDEX.tsv does not list %s", name);
    return false;
}

static void check_document(const char *name, const char *bytes, size_t size, bool must_throw) {
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read_memory(ctx, &graph, bytes, size, name, NULL);
    if ((must_throw && !IS_IN(valid_graphs, name)) || IS_IN(torn_documents, name))
        check_refused(name, status);
    else if (status != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    else if (berth_graph_check(ctx, graph) != BERTH_OK)
        fail_msg("%s: %s", name, berth_ctx_message(ctx));
    berth_graph_free(graph);
}

static void openvino_documents(void **state) {
    (void)state;
    const char *path = support_shared("data/ir/ov_ir_test_snippets.tar.gz");
    if (!path) support_skip("../shared/data/ir is not here");
    berth_read_options options = berth_read_options_default();
    archive tar = {.at = 0};
    assert_int_equal(berth_source_open(ctx, &tar.source, path, &options), BERTH_OK);
    const char *name = NULL, *bytes = NULL, *index = NULL;
    size_t size = 0, index_size = 0;
    while (next_file(&tar, &name, &bytes, &size))
        if (strcmp(file_name(name), "INDEX.tsv") == 0) index = bytes, index_size = size;
    assert_non_null(index);
    int documents = 0;
    for (tar.at = 0; next_file(&tar, &name, &bytes, &size);) {
        if (bytes == index) continue;
        check_document(file_name(name), bytes, size, throws(index, index_size, file_name(name)));
        documents++;
    }
    berth_source_close(ctx, &tar.source);
    assert_int_equal(documents, 73);
}

static void bundled_models(void **state) {
    (void)state;
    static const struct {
        const char *path;
        int ops, pairs;
    } models[] = {
        {"models/ir/resnet50.xml", 396, 411},
        {"models/ir/inception_v3.xml", 726, 762},
        {"models/ir/bert_base.xml", 998, 1056},
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        berth_graph *graph = support_read(ctx, support_source(models[i].path));
        assert_int_equal(berth_graph_op_count(graph), models[i].ops);
        assert_int_equal(berth_graph_pair_count(graph), models[i].pairs);
        for (int32_t t = 0; t < berth_graph_tensor_count(graph); t++)
            assert_true(berth_shape_is_static(&berth_graph_tensor(graph, t)->shape));
        assert_int_equal(berth_graph_check(ctx, graph), BERTH_OK);
        berth_graph_free(graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(manifest_agrees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(openvino_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bundled_models, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("read.ir_corpus", tests, NULL, NULL);
}
