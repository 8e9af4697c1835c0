/* SPDX-License-Identifier: Apache-2.0 */
/* Answers and outputs in the store; digests of what they depend on. */
#include "runtime/kept.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

berth_status berth_kept_get(berth_runtime *runtime, berth_arena *arena, const char *kind, const char *key,
                            const char **bytes, size_t *n) {
    *bytes = NULL;
    *n = 0;
    if (!runtime->store || !runtime->resume) return BERTH_OK;
    return berth_store_get(runtime->store, kind, key, arena, bytes, n);
}

berth_status berth_kept_put(berth_runtime *runtime, const char *kind, const char *key, const void *bytes, size_t n) {
    if (!runtime->store || n > BERTH_STORE_LARGEST) return BERTH_OK;
    return berth_store_put(runtime->store, kind, key, bytes, n);
}

/* --- answers ---------------------------------------------------------------------------------------------------- */

static const char *key_of_output(berth_arena *arena, const char *key, int32_t i) {
    return berth_arena_printf(arena, "%s\noutput %" PRId32, key, i);
}

/* One output out of the store into a file of the folder. */
static berth_status get_output(berth_ctx *ctx, berth_runtime *runtime, berth_arena *arena, const char *key,
                               const char *folder, int32_t i, berth_job_file *file, bool *found) {
    const char *own = key_of_output(arena, key, i), *bytes = NULL;
    size_t n = 0;
    file->file = berth_arena_printf(arena, "%s/kept%" PRId32 ".npy", folder, i);
    if (!own || !file->file) return berth_fail_nomem(ctx);
    berth_mark mark = berth_arena_mark(arena);
    berth_status status = berth_kept_get(runtime, arena, "output", own, &bytes, &n);
    *found = bytes != NULL;
    if (bytes && status == BERTH_OK) status = berth_file_judge(berth_file_write(ctx, file->file, bytes, n));
    berth_arena_release(arena, mark);
    return status;
}

berth_status berth_kept_get_answer(berth_ctx *ctx, berth_runtime *runtime, berth_arena *arena, const char *key,
                                   const char *folder, berth_answer *answer, bool *found) {
    const char *bytes = NULL;
    size_t n = 0;
    *found = false;
    BERTH_TRY(berth_kept_get(runtime, arena, "run", key, &bytes, &n));
    if (!bytes || berth_answer_read(ctx, arena, bytes, n, answer) != BERTH_OK) return BERTH_OK;
    *found = !folder || answer->n_outputs > 0;
    for (int32_t i = 0; i < answer->n_outputs && folder && *found; i++)
        BERTH_TRY(get_output(ctx, runtime, arena, key, folder, i, (berth_job_file *)&answer->outputs[i], found));
    return BERTH_OK;
}

/* Outputs first: an answer that is there has them. */
berth_status berth_kept_put_answer(berth_ctx *ctx, berth_runtime *runtime, berth_arena *arena, const char *key,
                                   const berth_answer *answer) {
    berth_text *text = NULL;
    if (!runtime->store) return BERTH_OK;
    for (int32_t i = 0; i < answer->n_outputs; i++) {
        const char *own = key_of_output(arena, key, i), *bytes = NULL;
        size_t n = 0;
        if (!own) return berth_fail_nomem(ctx);
        berth_mark mark = berth_arena_mark(arena);
        berth_status status = berth_file_read(ctx, arena, answer->outputs[i].file, BERTH_STORE_LARGEST, &bytes, &n);
        if (status == BERTH_OK) status = berth_kept_put(runtime, "output", own, bytes, n);
        berth_arena_release(arena, mark);
        if (!bytes && status != BERTH_E_NOMEM) continue; /* one that is large, or not there, is computed again */
        BERTH_TRY(status);
    }
    BERTH_TRY(berth_text_new(ctx, &text));
    berth_answer_write(text, answer);
    berth_status status = berth_text_status(text);
    if (status == BERTH_OK)
        status = berth_kept_put(runtime, "run", key, berth_text_string(text), berth_text_size(text));
    berth_text_free(text);
    return status;
}

/* --- digests ---------------------------------------------------------------------------------------------------- */

enum { SAMPLE = 4096, SAMPLES = 64, DEEPEST = 16 };

/* All of a small file, parts of a large one. */
static void take_samples(berth_sha256 *sha, const char *path) {
    char bytes[SAMPLE];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) info.st_size = 0;
    int64_t size = info.st_size, step = size <= (int64_t)SAMPLE * SAMPLES ? SAMPLE : size / SAMPLES;
    berth_sha256_update(sha, &size, sizeof size);
    for (int64_t at = 0; at < size; at += step) {
        ssize_t n = pread(fd, bytes, sizeof bytes, at);
        if (n > 0) berth_sha256_update(sha, bytes, (size_t)n);
    }
    if (fd >= 0) close(fd);
}

/* Sums do not depend on the order in which a folder lists its files. */
static void add_file(const char *name, const char *path, unsigned char sum[BERTH_SHA256_SIZE]) {
    unsigned char digest[BERTH_SHA256_SIZE];
    berth_sha256 sha;
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, name, strlen(name) + 1);
    take_samples(&sha, path);
    berth_sha256_finish(&sha, digest);
    for (int i = 0; i < BERTH_SHA256_SIZE; i++) sum[i] = (unsigned char)(sum[i] + digest[i]);
}

static void add_folder(const char *root, const char *folder, int depth, unsigned char *sum) { /* NOLINT(*recursion) */
    DIR *entries = depth < DEEPEST ? opendir(folder) : NULL;
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[4096];
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
        if (stat(path, &info) != 0) continue;
        if (S_ISDIR(info.st_mode))
            add_folder(root, path, depth + 1, sum);
        else
            add_file(path + strlen(root), path, sum);
    }
    if (entries) closedir(entries);
}

const char *berth_kept_digest(berth_arena *arena, const char *folder, const berth_job_file *files, int32_t n) {
    unsigned char sum[BERTH_SHA256_SIZE] = {0};
    char text[2 * BERTH_SHA256_SIZE + 1];
    add_folder(folder, folder, 0, sum);
    for (int32_t i = 0; i < n; i++) add_file(files[i].name, files[i].file, sum);
    berth_sha256_hex(sum, text);
    return berth_arena_string(arena, text, strlen(text));
}
