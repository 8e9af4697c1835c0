/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "read/sized.h"
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static berth_ctx *ctx;
static berth_read_options options;
static char folder[64];

static int set_up(void **state) {
    (void)state;
    options = berth_read_options_default();
    snprintf(folder, sizeof folder, "/tmp/berth-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    return berth_ctx_new(&ctx, NULL);
}

static int tear_down(void **state) {
    (void)state;
    berth_ctx_free(ctx);
    return rmdir(folder); /* every test removes what it made */
}

/* A file of that content in the test's own folder. */
static const char *make_file(const char *name, const void *bytes, size_t size) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* gzip of `size` bytes, appended at out[*n]. */
static void pack(const void *bytes, size_t size, char *out, size_t room, size_t *n) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (z_const Bytef *)bytes;
    z.avail_in = (unsigned)size;
    z.next_out = (Bytef *)out + *n;
    z.avail_out = (unsigned)(room - *n);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *n = room - z.avail_out;
    deflateEnd(&z);
}

static void check_content(const berth_source *source, const void *bytes, size_t size) {
    assert_int_equal(source->size, size);
    if (size) assert_memory_equal(source->bytes, bytes, size);
}

static void refuse_memory(const void *bytes, size_t size, berth_status status, const char *says) {
    berth_source source;
    assert_int_equal(berth_source_memory(ctx, &source, bytes, size, "test", &options), status);
    assert_non_null(strstr(berth_ctx_message(ctx), says));
    berth_source_close(ctx, &source);
}

static void refuse_path(const char *path, berth_status status, const char *says) {
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, path, &options), status);
    assert_non_null(strstr(berth_ctx_message(ctx), says));
    berth_source_close(ctx, &source);
}

static void maps_regular_files(void **state) {
    (void)state;
    const char *path = make_file("plain", "hello", 5);
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, path, &options), BERTH_OK);
    check_content(&source, "hello", 5);
    assert_string_equal(source.name, path);
    assert_non_null(source.mapped);
    berth_source_close(ctx, &source);
    unlink(path);
}

static void reads_empty_files(void **state) {
    (void)state;
    const char *path = make_file("empty", "", 0);
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, path, &options), BERTH_OK);
    check_content(&source, "", 0);
    berth_source_close(ctx, &source);
    berth_graph *graph = NULL;
    assert_int_equal(berth_graph_read(ctx, &graph, path, NULL), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(ctx), "byte 0: the file is empty"));
    unlink(path);
}

static void reads_files_that_deny_their_size(void **state) {
    (void)state;
    struct stat st;
    if (stat("/proc/self/cmdline", &st) != 0) support_skip("no /proc");
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, "/proc/self/cmdline", &options), BERTH_OK);
    assert_true(source.size > 0);
    berth_source_close(ctx, &source);
}

static void explains_what_it_cannot_open(void **state) {
    (void)state;
    refuse_path("/nonexistent/model.xml", BERTH_E_IO, "/nonexistent/model.xml: cannot open: ");
    refuse_path(folder, BERTH_E_IO, "is a directory");
    const char *path = make_file("locked", "x", 1);
    chmod(path, 0);
    if (geteuid() != 0) refuse_path(path, BERTH_E_IO, "cannot open");
    unlink(path);
    berth_graph *graph = NULL;
    assert_int_equal(berth_graph_read(ctx, &graph, "/nonexistent/model.xml", NULL), BERTH_E_IO);
    assert_null(graph);
}

/* Runs with `fd` as standard input, which is put back afterwards. */
static void check_standard_input(int fd, const void *bytes, size_t size) {
    int saved = dup(STDIN_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDIN_FILENO) >= 0);
    close(fd);
    berth_source source;
    berth_status status = berth_source_open(ctx, &source, "-", &options);
    dup2(saved, STDIN_FILENO);
    close(saved);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    assert_string_equal(source.name, "standard input");
    check_content(&source, bytes, size);
    berth_source_close(ctx, &source);
}

/* The end of a pipe into which another process writes. */
static int fill_pipe(const char *bytes, size_t size) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) {
        close(ends[1]);
        return ends[0];
    }
    close(ends[0]);
    while (size > 0) {
        ssize_t n = write(ends[1], bytes, size > 1000 ? 1000 : size);
        if (n <= 0) _exit(1);
        bytes += n;
        size -= (size_t)n;
    }
    _exit(0);
}

static void reads_standard_input(void **state) {
    (void)state;
    enum { SIZE = 300000 };
    char *bytes = malloc(SIZE), *packed = malloc(SIZE);
    assert_true(bytes && packed);
    for (int i = 0; i < SIZE; i++) bytes[i] = (char)((unsigned)i * (unsigned)i >> 7);
    size_t n = 0;
    pack(bytes, SIZE, packed, SIZE, &n);
    check_standard_input(fill_pipe(bytes, SIZE), bytes, SIZE);
    check_standard_input(fill_pipe(packed, n), bytes, SIZE);
    check_standard_input(fill_pipe("", 0), "", 0);
    const char *path = make_file("stdin", bytes, 10);
    check_standard_input(open(path, O_RDONLY), bytes, 10);
    /* Somebody has read the first line already. */
    int fd = open(path, O_RDONLY);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    check_standard_input(fd, bytes + 4, 6);
    unlink(path);
    free(packed);
    free(bytes);
}

static void explains_what_it_cannot_read(void **state) {
    (void)state;
    int saved = dup(STDIN_FILENO), fd = open("/dev/null", O_WRONLY);
    assert_true(saved >= 0 && fd >= 0 && dup2(fd, STDIN_FILENO) >= 0);
    close(fd);
    refuse_path("-", BERTH_E_IO, "standard input: cannot read: ");
    close(STDIN_FILENO);
    refuse_path("-", BERTH_E_IO, "standard input: cannot read: ");
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void unpacks_gzip(void **state) {
    (void)state;
    char packed[512];
    size_t n = 0;
    pack("hello, ", 7, packed, sizeof packed, &n);
    size_t first = n;
    pack("world", 5, packed, sizeof packed, &n);
    berth_source source;
    assert_int_equal(berth_source_memory(ctx, &source, packed, first, "test", &options), BERTH_OK);
    check_content(&source, "hello, ", 7);
    berth_source_close(ctx, &source);
    assert_int_equal(berth_source_memory(ctx, &source, packed, n, "test", &options), BERTH_OK);
    check_content(&source, "hello, world", 12);
    berth_source_close(ctx, &source);
    const char *path = make_file("two-members.gz", packed, n);
    assert_int_equal(berth_source_open(ctx, &source, path, &options), BERTH_OK);
    check_content(&source, "hello, world", 12);
    berth_source_close(ctx, &source);
    unlink(path);
    /* Zeros fill up the last block of a tape. */
    memset(packed + n, 0, 100);
    assert_int_equal(berth_source_memory(ctx, &source, packed, n + 100, "test", &options), BERTH_OK);
    check_content(&source, "hello, world", 12);
    berth_source_close(ctx, &source);
    n = 0;
    pack("", 0, packed, sizeof packed, &n);
    assert_int_equal(berth_source_memory(ctx, &source, packed, n, "test", &options), BERTH_OK);
    check_content(&source, "", 0);
    berth_source_close(ctx, &source);
}

static void refuses_damaged_gzip(void **state) {
    (void)state;
    char packed[512], bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 37);
    size_t n = 0;
    pack(bytes, sizeof bytes, packed, sizeof packed, &n);
    for (size_t cut = 3; cut < n; cut++) refuse_memory(packed, cut, BERTH_E_FORMAT, "the gzip data end too early");
    packed[n - 5] ^= 1; /* in the checksum */
    refuse_memory(packed, n, BERTH_E_FORMAT, "the gzip data are damaged");
    packed[n - 5] ^= 1;
    packed[3] = '\xff'; /* reserved flags */
    refuse_memory(packed, n, BERTH_E_FORMAT, "test: byte ");
    packed[3] = 0;
    packed[n] = 'x';
    char says[64];
    snprintf(says, sizeof says, "test: byte %zu: other data follow", n);
    refuse_memory(packed, n + 1, BERTH_E_FORMAT, says);
    packed[n] = 0, packed[n + 1] = '\x1f';
    snprintf(says, sizeof says, "test: byte %zu: other data follow", n + 1);
    refuse_memory(packed, n + 2, BERTH_E_FORMAT, says);
    memcpy(packed + n, "\x1f\x8bxxxxxxxxxxx", 13); /* a member of an unknown method */
    refuse_memory(packed, n + 13, BERTH_E_FORMAT, "the gzip data are damaged");
}

/* Any single damaged byte is found or makes no difference; nothing crashes. */
static void survives_any_flipped_byte(void **state) {
    (void)state;
    static const char text[] = "a text that is packed, a text that is packed, a text that is packed";
    char packed[512];
    size_t n = 0;
    pack(text, sizeof text, packed, sizeof packed, &n);
    for (size_t i = 0; i < n * 8; i++) {
        packed[i / 8] ^= (char)(1 << i % 8);
        berth_source source;
        berth_status status = berth_source_memory(ctx, &source, packed, n, "test", &options);
        if (status == BERTH_OK && i >= 24) check_content(&source, text, sizeof text); /* 24: no longer gzip */
        berth_source_close(ctx, &source);
        packed[i / 8] ^= (char)(1 << i % 8);
    }
}

static void limits_what_is_unpacked(void **state) {
    (void)state;
    enum { FREE = 16 << 20, SIZE = FREE + 1 };
    char *zeros = calloc(1, SIZE), *packed = malloc(1 << 20);
    assert_true(zeros && packed);
    size_t n = 0;
    pack(zeros, SIZE, packed, 1 << 20, &n);
    assert_true(n * (size_t)options.max_expansion < SIZE);
    refuse_memory(packed, n, BERTH_E_LIMIT, "test: unpacks to more than 16777216 bytes");
    /* Exactly what is free goes through, and so does what a larger factor allows. */
    options.max_expansion = 2000;
    berth_source source;
    assert_int_equal(berth_source_memory(ctx, &source, packed, n, "test", &options), BERTH_OK);
    check_content(&source, zeros, SIZE);
    berth_source_close(ctx, &source);
    n = 0;
    pack(zeros, FREE, packed, 1 << 20, &n);
    options.max_expansion = 1;
    assert_int_equal(berth_source_memory(ctx, &source, packed, n, "test", &options), BERTH_OK);
    check_content(&source, zeros, FREE);
    berth_source_close(ctx, &source);
    options.max_expansion = INT32_MAX;
    options.max_inflated = 1000;
    refuse_memory(packed, n, BERTH_E_LIMIT, "more than 1000 bytes");
    options.max_inflated = -1;
    refuse_memory(packed, n, BERTH_E_LIMIT, "more than 0 bytes");
    /* Many small members count together. */
    n = 0;
    for (int i = 0; i < 100; i++) pack(zeros, 20, packed, 1 << 20, &n);
    options.max_inflated = 1999;
    refuse_memory(packed, n, BERTH_E_LIMIT, "more than 1999 bytes");
    options.max_inflated = 2000;
    assert_int_equal(berth_source_memory(ctx, &source, packed, n, "test", &options), BERTH_OK);
    berth_source_close(ctx, &source);
    free(packed);
    free(zeros);
}

static void names_impostors(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
         "test: byte 0: this is a git-lfs pointer"},
        {"\n <!DOCTYPE HTML><html></html>", "this is an HTML page"},
        {"\xef\xbb\xbf<Html lang=\"en\">", "this is an HTML page"},
        {"PK\x03\x04zip", "this is a zip archive"},
        {"\x89PNG\r\n", "this is a PNG image"},
        {"%PDF-1.7", "this is a PDF document"},
        {"\x7f"
         "ELF\x02",
         "this is a program"},
        {"\x89HDF\r\n", "this is an HDF5 file"},
        {"GGUF\x03", "this is a GGUF model"},
        {"<!DOCTYPE svg><svg/>", "test:1: a document type declaration"},
        {"\x1f\x8b", "neither OpenVINO IR, ONNX nor a workload"},
        {"no model at all", "neither OpenVINO IR, ONNX nor a workload"},
        {" \n\t", "neither OpenVINO IR, ONNX nor a workload"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        support_refuse(ctx, cases[i].text, strlen(cases[i].text), BERTH_E_FORMAT, cases[i].says);
}

/* The content decides, whatever the file is called. */
static void goes_by_content(void **state) {
    (void)state;
    const char *model = support_source("tests/golden/cnn.xml");
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, model, &options), BERTH_OK);
    char packed[8192];
    size_t n = 0;
    pack(source.bytes, source.size, packed, sizeof packed, &n);
    for (int gzip = 0; gzip < 2; gzip++) {
        const char *path = make_file("model.onnx", gzip ? packed : source.bytes, gzip ? n : source.size);
        berth_graph *graph = support_read(ctx, path);
        assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_OPENVINO_IR);
        berth_graph_free(graph);
        unlink(path);
    }
    berth_source_close(ctx, &source);
    const char *path = make_file("pointer.onnx", "version https://git-lfs.github.com/spec/v1\n", 43);
    berth_graph *graph = NULL;
    assert_int_equal(berth_graph_read(ctx, &graph, path, NULL), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(ctx), "git-lfs pointer"));
    unlink(path);
}

typedef struct input {
    const char *bytes;
    size_t size;
} input;

static berth_status read_input(berth_ctx *of, void *user) {
    const input *in = user;
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read_memory(of, &graph, in->bytes, in->size, "test", NULL);
    berth_graph_free(graph);
    return status;
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, support_source("tests/golden/if.xml"), &options), BERTH_OK);
    char packed[8192];
    size_t n = 0;
    pack(source.bytes, source.size, packed, sizeof packed, &n);
    berth_source_close(ctx, &source);
    assert_true(support_ladder(read_input, &(input){packed, n}, 1) > 20);
}

static berth_status read_from_pipe(berth_ctx *of, void *user) {
    const input *in = user;
    int saved = dup(STDIN_FILENO), fd = fill_pipe(in->bytes, in->size);
    dup2(fd, STDIN_FILENO);
    close(fd);
    berth_source source;
    berth_status status = berth_source_open(of, &source, "-", &options);
    berth_source_close(of, &source);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return status;
}

static void survives_lack_of_memory_on_a_pipe(void **state) {
    (void)state;
    enum { SIZE = 200000 };
    char *bytes = calloc(1, SIZE), packed[4096];
    assert_non_null(bytes);
    size_t n = 0;
    pack(bytes, SIZE, packed, sizeof packed, &n);
    assert_true(support_ladder(read_from_pipe, &(input){bytes, SIZE}, 1) >= 3);
    assert_true(support_ladder(read_from_pipe, &(input){packed, n}, 1) >= 4);
    free(bytes);
}

static void sized_pieces_grow_and_shrink(void **state) {
    (void)state;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    char *piece = berth_sized_resize(allocator, NULL, 3);
    assert_non_null(piece);
    assert_int_equal((uintptr_t)piece % 16, 0);
    memcpy(piece, "abc", 3);
    piece = berth_sized_resize(allocator, piece, 100000);
    assert_memory_equal(piece, "abc", 3);
    piece = berth_sized_resize(allocator, piece, 2);
    assert_memory_equal(piece, "ab", 2);
    assert_null(berth_sized_resize(allocator, piece, SIZE_MAX));
    assert_null(berth_sized_resize(allocator, piece, 0));
}

static void copies_ranges(void **state) {
    (void)state;
    berth_source source;
    assert_int_equal(berth_source_open(ctx, &source, make_file("plain", "0123456789", 10), &options), BERTH_OK);
    char to[5] = "";
    berth_source_copy(&source, 3, 4, to);
    assert_string_equal(to, "3456");
    berth_source_relax(&source);
    assert_memory_equal(source.bytes, "0123456789", 10);
    berth_source_close(ctx, &source);
    char packed[100];
    size_t n = 0;
    pack("abcdefgh", 8, packed, sizeof packed, &n); /* the file is mapped, but these are not its bytes */
    assert_int_equal(berth_source_open(ctx, &source, make_file("packed", packed, n), &options), BERTH_OK);
    berth_source_copy(&source, 4, 4, to);
    assert_string_equal(to, "efgh");
    berth_source_close(ctx, &source);
    assert_int_equal(berth_source_memory(ctx, &source, "memory", 6, "test", &options), BERTH_OK);
    berth_source_copy(&source, 2, 4, to);
    assert_string_equal(to, "mory");
    berth_source_relax(&source);
    berth_source_close(ctx, &source);
    char path[128];
    snprintf(path, sizeof path, "%s/plain", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/packed", folder);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_ranges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(maps_regular_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_empty_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_files_that_deny_their_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(explains_what_it_cannot_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_standard_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(explains_what_it_cannot_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unpacks_gzip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_damaged_gzip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_any_flipped_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_what_is_unpacked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_impostors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(goes_by_content, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory_on_a_pipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sized_pieces_grow_and_shrink, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("read.source", tests, NULL, NULL);
}
