/* SPDX-License-Identifier: Apache-2.0 */
/* Where the closed loop has its profile from: a file of the user's, the store, or this machine. */
#include "place/real_loop.h"

#include "base/file.h"
#include "runtime/runtime.h"
#include "runtime/scratch.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static berth_status write_profile(berth_real_loop *l, const char *key, const char *path) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(l->ctx, &text));
    berth_profile_write(text, l->out->real.profile);
    berth_status status = berth_text_status(text);
    /* first into the store: where the file cannot be written it is not lost; but not what time was too short for */
    bool is_whole = 2 * l->out->real.profile->n_left_out <= l->out->real.profile->n_wanted;
    if (status == BERTH_OK && l->subject.runtime->store && is_whole)
        status =
            berth_store_put(l->subject.runtime->store, "profile", key, berth_text_string(text), berth_text_size(text));
    if (status == BERTH_OK) status = berth_file_judge(berth_text_write(l->ctx, text, path));
    berth_text_free(text);
    return status;
}

/* What a profile depends on. */
static const char *key_of(berth_real_loop *l) {
    const berth_profile_options *o = &l->options->profile;
    berth_text *text = NULL;
    if (berth_text_new(l->ctx, &text) != BERTH_OK) return NULL;
    berth_text_printf(text, "profile 4\n%s\n%s\nprecision %d\nprocesses %d rounds %d more %d placements %d pieces %d\n",
                      l->subject.runtime->identity, berth_graph_fingerprint(l->subject.graph), o->run.native_precision,
                      (int)o->processes, (int)o->run.rounds, (int)o->more_rounds, (int)o->placements, o->pieces);
    for (int32_t d = 0; d < l->subject.n_devices; d++) berth_text_printf(text, "%s\n", l->subject.devices[d]);
    for (int32_t i = 0; i < o->run.n_io; i++)
        berth_text_printf(text, "%s on %s\n", o->run.io[i].pattern, o->run.io[i].device);
    for (int32_t i = 0; i < l->place.n_shapes; i++) {
        berth_text_printf(text, "%s", l->place.shapes[i].input);
        for (int32_t k = 0; k < l->place.shapes[i].rank; k++)
            berth_text_printf(text, " %lld", (long long)l->place.shapes[i].dims[k]);
        berth_text_printf(text, "\n");
    }
    const char *key = berth_text_status(text) == BERTH_OK
                          ? berth_arena_string(&l->out->arena, berth_text_string(text), berth_text_size(text))
                          : NULL;
    berth_text_free(text);
    return key;
}

/* The profile of the store as that file, if it has one and none is wanted anew. */
static berth_status recall_profile(berth_real_loop *l, const char *key, const char *path, bool *found) {
    const char *bytes = NULL;
    size_t n = 0;
    *found = false;
    if (!l->subject.runtime->store || l->subject.runtime->refresh) return BERTH_OK;
    BERTH_TRY(berth_store_get(l->subject.runtime->store, "profile", key, &l->out->arena, &bytes, &n));
    if (!bytes) return BERTH_OK;
    *found = true;
    return berth_file_judge(berth_file_write(l->ctx, path, bytes, n));
}

static berth_status take_profile(berth_real_loop *l, const char *path) {
    berth_profile_options how = l->options->profile;
    const char *key = key_of(l);
    bool found = false;
    if (!key) return berth_fail_nomem(l->ctx);
    BERTH_TRY(recall_profile(l, key, path, &found));
    if (found) return BERTH_OK;
    how.run.seconds = fmin(how.run.seconds, 0.5 * fmax(berth_real_left(l), 0));
    BERTH_TRY(berth_profile_take(l->ctx, &l->out->real.profile, l->subject.runtime, l->subject.graph, l->subject.model,
                                 l->subject.devices, l->subject.n_devices, &how));
    return write_profile(l, key, path);
}

/* Plans number devices as the profile does, runs as the caller does. */
static berth_status check_devices(const berth_real_loop *l, const char *path) {
    const berth_device_set *set = l->out->real.devices;
    bool same = set->n_devices == l->subject.n_devices;
    for (int32_t d = 0; d < l->subject.n_devices && same; d++)
        same = strcmp(set->devices[d].name, l->subject.devices[d]) == 0;
    if (same) return BERTH_OK;
    return berth_fail(l->ctx, BERTH_E_ARG, "%.600s: this profile is of other devices than those that are to be used",
                      path);
}

berth_status berth_real_find_profile(berth_real_loop *l) {
    const char *path = l->options->place.profile;
    if (!path) {
        BERTH_TRY(berth_scratch_make(l->ctx, &l->out->arena, &l->scratch));
        path = berth_arena_printf(&l->out->arena, "%s/profile.json", l->scratch);
        if (!path) return berth_fail_nomem(l->ctx);
    }
    if (l->subject.runtime->refresh || access(path, F_OK) != 0) BERTH_TRY(take_profile(l, path));
    l->place.profile = path;
    BERTH_TRY(berth_device_set_read(l->ctx, &l->out->real.devices, path));
    return check_devices(l, path);
}
