/* SPDX-License-Identifier: Apache-2.0 */
/* Runs files through a fuzz target without libFuzzer, so that every compiler and sanitizer replays the corpora as
 * ordinary tests. Arguments are files and folders (their files, not their sub-folders); having found no file at all is
 * a failure. Each input is copied to a block of exactly its size, so that reading beyond its end is seen. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long n_replayed;

static int complain(const char *path) {
    perror(path);
    return 1;
}

static int replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) return complain(path);
    uint8_t *data = malloc(size ? size : 1);
    size_t got = data ? fread(data, 1, size, file) : 0;
    fclose(file);
    if (got != size) {
        free(data);
        return complain(path);
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    n_replayed++;
    return 0;
}

static int replay_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return complain(path);
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inside[4096];
        struct stat st;
        int length = snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof inside || stat(inside, &st) != 0)
            failed |= complain(inside);
        else if (S_ISREG(st.st_mode))
            failed |= replay_file(inside, (size_t)st.st_size);
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0)
            failed |= complain(argv[i]);
        else if (S_ISDIR(st.st_mode))
            failed |= replay_folder(argv[i]);
        else
            failed |= replay_file(argv[i], (size_t)st.st_size);
    }
    printf("%ld inputs replayed\n", n_replayed);
    return failed || n_replayed == 0;
}
