/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store lies: said, in the environment, or the user's folder for caches by the XDG Base Directory
 * Specification, which ignores relative paths and makes missing folders for their owner alone.
 *
 * A relative path gets "./" in front, since SQLite gives a meaning to names like ":memory:" and "file:x". */
#include "store/location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *get_setting(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static const char *default_path(berth_arena *arena) {
    const char *cache = get_setting("XDG_CACHE_HOME"), *home = get_setting("HOME");
    if (cache && *cache == '/') return berth_arena_printf(arena, "%s/berth/store.sqlite", cache);
    if (home && *home == '/') return berth_arena_printf(arena, "%s/.cache/berth/store.sqlite", home);
    return NULL;
}

berth_status berth_location_find(berth_ctx *ctx, berth_arena *arena, const char *said, berth_location *out) {
    *out = (berth_location){0};
    if (said && !*said) return berth_fail(ctx, BERTH_E_ARG, "the path of the store is empty");
    if (!said) said = get_setting("BERTH_STORE");
    if (said && strcmp(said, "none") == 0) return BERTH_OK;
    out->is_default = !said;
    out->path = said ? berth_arena_printf(arena, "%s%s", *said == '/' ? "" : "./", said) : default_path(arena);
    if (arena->failed) return berth_fail_nomem(ctx);
    if (!out->path) berth_log(ctx, BERTH_LOG_WARNING, "no folder for results: HOME is not set; none are kept");
    return BERTH_OK;
}

const char *berth_location_make(berth_arena *arena, const char *path) {
    char *folder = berth_arena_string(arena, path, strlen(path));
    if (!folder) return NULL;
    for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
        struct stat info;
        *at = 0;
        if (stat(folder, &info) != 0 && mkdir(folder, S_IRWXU) != 0 && errno != EEXIST) return folder;
        *at = '/';
    }
    return NULL;
}
