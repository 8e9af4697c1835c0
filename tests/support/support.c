/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdio.h>
#include <sys/stat.h>

int support_open(void **state) {
    berth_ctx *ctx = NULL;
    berth_status status = berth_ctx_new(&ctx, NULL);
    *state = ctx;
    return status == BERTH_OK ? 0 : -1;
}

int support_close(void **state) {
    berth_ctx_free(*state);
    return 0;
}

typedef struct fault {
    long left; /* allocations that still succeed; < 0: all */
    long made;
    size_t live; /* bytes */
} fault;

static void *fault_resize(void *user, void *old, size_t old_size, size_t new_size) {
    fault *f = user;
    if (new_size == 0) {
        f->live -= old_size;
        free(old);
        return NULL;
    }
    if (f->left == 0) return NULL;
    if (f->left > 0) f->left--;
    /* Always move, so that a stale pointer is seen by the sanitizer. */
    void *block = malloc(new_size);
    if (!block) return NULL;
    if (old) memcpy(block, old, old_size < new_size ? old_size : new_size);
    free(old);
    f->made++;
    f->live += new_size - old_size;
    return block;
}

long support_ladder(berth_status (*run)(berth_ctx *ctx, void *user), void *user, long step) {
    long dense = support_cases(2000) < 200 ? support_cases(2000) : 200;
    for (long n = 0;; n += n < dense ? 1 : step * 200 / dense) {
        fault f = {.left = n};
        berth_allocator allocator = {fault_resize, &f};
        berth_ctx *ctx = NULL;
        berth_status status = berth_ctx_new(&ctx, &allocator);
        if (status == BERTH_OK) status = run(ctx, user);
        if (status != BERTH_OK && status != BERTH_E_NOMEM)
            fail_msg("rung %ld: status %d, %s", n, (int)status, ctx ? berth_ctx_message(ctx) : "");
        berth_ctx_free(ctx);
        if (f.live != 0) fail_msg("rung %ld leaks %zu bytes", n, f.live);
        if (status == BERTH_OK) return f.made;
    }
}

static char *rotating(void) {
    static char buffers[8][4096];
    static int next;
    return buffers[next++ % 8];
}

const char *support_source(const char *relative) {
    char *path = rotating();
    snprintf(path, 4096, "%s/%s", BERTH_SOURCE_DIR, relative);
    return path;
}

const char *support_shared(const char *relative) {
    const char *root = getenv("BERTH_SHARED");
    char *path = rotating();
    if (root)
        snprintf(path, 4096, "%s/%s", root, relative);
    else
        snprintf(path, 4096, "%s/../shared/%s", BERTH_SOURCE_DIR, relative);
    struct stat st;
    if (stat(path, &st) == 0) return path;
    const char *ci = getenv("CI");
    if (ci && strcmp(ci, "true") == 0) fail_msg("%s is missing, and CI must not skip", path);
    return NULL;
}

void support_skip(const char *why) {
    printf("SKIPPED: %s\n", why);
    fflush(stdout);
    skip();
}

berth_graph *support_read(berth_ctx *ctx, const char *path) {
    berth_graph *graph = NULL;
    if (berth_graph_read(ctx, &graph, path, NULL) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return graph;
}

void support_refuse(berth_ctx *ctx, const char *bytes, size_t size, berth_status status, const char *fragment) {
    berth_graph *graph = NULL;
    berth_status got = berth_graph_read_memory(ctx, &graph, bytes, size, "test", NULL);
    assert_null(graph);
    if (got != status) fail_msg("status %d instead of %d: %s", (int)got, (int)status, berth_ctx_message(ctx));
    if (!strstr(berth_ctx_message(ctx), fragment)) fail_msg("'%s' does not say '%s'", berth_ctx_message(ctx), fragment);
}

/* One case in so many. */
static long share_of_cases(void) {
    const char *text = getenv("BERTH_TEST_SHARE");
    return text ? strtol(text, NULL, 10) : 1;
}

int support_cases(int n) {
    long share = share_of_cases();
    return share > 1 && n > share ? n / (int)share : share > 1 ? 1 : n;
}

bool support_is_slow(void) {
    return share_of_cases() >= 50;
}

#ifdef NDEBUG
enum { OPTIMISED = 1 };
#else
enum { OPTIMISED = 0 };
#endif

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { SANITISED = 1 };
#else
enum { SANITISED = 0 };
#endif

bool support_is_optimised(void) {
    return OPTIMISED && !getenv("BERTH_TEST_SHARE");
}

bool support_is_sanitised(void) {
    return SANITISED;
}

void support_foreign_children(void) {
    const char *ours = getenv("ASAN_OPTIONS");
    char options[1024];
    snprintf(options, sizeof options, "%s%shandle_segv=0:handle_abort=0:detect_leaks=0:allocator_may_return_null=1",
             ours ? ours : "", ours && *ours ? ":" : "");
    setenv("ASAN_OPTIONS", options, 1);
}

uint64_t support_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t support_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(((support_random(state) >> 32) * n) >> 32);
}
