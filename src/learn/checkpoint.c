/* SPDX-License-Identifier: Apache-2.0 */
/* policy.ckpt (docs/formats.md): a policy as bytes, little-endian whatever the machine, with a digest at the end.
 *
 * A file means the same in every release that reads it. So settings stand in it by name, all that the method looks at;
 * one that this release does not know, or misses, makes the file one of another release, which is refused. Nothing is
 * taken on trust: the size is in the file, lengths are checked against it before anything is allocated, and numbers
 * must be finite. */
#include "base/file.h"
#include "base/sha256.h"
#include "learn/policy.h"

#include <math.h>
#include <string.h>

enum { SCHEMA = 1, MAX_FILE_BYTES = 1 << 30, MAX_PARAMS = 4096, MAX_TEXT = 256 };
static const char magic[8] = {'b', 'e', 'r', 't', 'h', 'p', 'o', 'l'};

/* --- writing ---------------------------------------------------------------------------------------------------- */

static void put_bits(berth_text *text, uint64_t value, int bytes) {
    char out[8];
    for (int i = 0; i < bytes; i++) out[i] = (char)(value >> 8 * i & 0xff);
    berth_text_append(text, out, (size_t)bytes);
}

static void put_double(berth_text *text, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bits(text, bits, 8);
}

static void put_string(berth_text *text, const char *string) {
    size_t size = strlen(string);
    put_bits(text, size, 2);
    berth_text_append(text, string, size);
}

static void put_reals(berth_text *text, const berth_real *values, size_t n) {
    uint32_t narrow;
    uint64_t wide;
    for (size_t i = 0; i < n; i++) {
        if (sizeof *values == sizeof narrow) {
            memcpy(&narrow, &values[i], sizeof narrow);
            put_bits(text, narrow, 4);
        } else {
            memcpy(&wide, &values[i], sizeof *values);
            put_bits(text, wide, 8);
        }
    }
}

static void put_settings(berth_text *text, const berth_settings *settings) {
    uint64_t n = 0;
    for (int32_t i = 0; berth_setting_at(i); i++) n += berth_setting_applies(settings->method, i);
    put_bits(text, n, 4);
    for (int32_t i = 0; berth_setting_at(i); i++) {
        char value[MAX_TEXT];
        if (!berth_setting_applies(settings->method, i)) continue;
        berth_settings_text(settings, i, value, sizeof value);
        put_string(text, berth_setting_at(i)->name);
        put_string(text, value);
    }
}

static void put_training(berth_text *text, const berth_training *training) {
    put_bits(text, training->seed, 8);
    put_bits(text, (uint64_t)training->rounds, 8); /* the stream of random numbers ... */
    put_bits(text, 0, 8);                          /* ... and the position in it: a round starts at 0 */
    put_string(text, training->trained_on);
    put_bits(text, training->history.n, 8);
    for (size_t i = 0; i < training->history.n; i++) {
        const berth_episode *row = &training->history.items[i];
        put_double(text, row->mean_ms);
        put_double(text, row->best_ms);
        put_double(text, row->entropy);
        put_double(text, row->clusters);
    }
}

static void put_params(berth_text *text, const berth_params *params) {
    put_bits(text, (uint64_t)params->steps, 8);
    put_bits(text, (uint64_t)params->n_items, 4);
    for (int32_t i = 0; i < params->n_items; i++) {
        put_string(text, params->items[i].name);
        put_bits(text, (uint64_t)params->items[i].tensor.rows, 4);
        put_bits(text, (uint64_t)params->items[i].tensor.cols, 4);
    }
    put_reals(text, params->value, params->n);
    put_reals(text, params->moment1, params->n);
    put_reals(text, params->moment2, params->n);
}

static void put_texts(berth_text *text, const berth_policy *policy) {
    int n = 0;
    while (n < BERTH_POLICY_TEXTS && *policy->text[n].name) n++;
    put_bits(text, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        size_t size = strlen(policy->text[i].text);
        put_string(text, policy->text[i].name);
        put_bits(text, size, 4);
        berth_text_append(text, policy->text[i].text, size);
    }
}

/* Everything between the size and the digest. */
static void put_body(berth_text *text, const berth_policy *policy) {
    int n = 0;
    put_bits(text, sizeof(berth_real), 4);
    put_string(text, berth_version());
    put_string(text, policy->settings.method);
    put_settings(text, &policy->settings);
    put_training(text, &policy->training);
    while (n < BERTH_POLICY_NUMBERS && *policy->number[n].name) n++;
    put_bits(text, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        put_string(text, policy->number[i].name);
        put_double(text, policy->number[i].value);
    }
    put_texts(text, policy);
    put_params(text, &policy->params);
}

berth_status berth_policy_write(berth_ctx *ctx, berth_text *text, const berth_policy *policy) {
    unsigned char digest[BERTH_SHA256_SIZE];
    berth_sha256 sha;
    berth_text *body = NULL;
    BERTH_TRY(berth_text_new(ctx, &body));
    put_body(body, policy);
    size_t first = berth_text_size(text), size = berth_text_size(body);
    berth_text_append(text, magic, sizeof magic);
    put_bits(text, SCHEMA, 4);
    put_bits(text, sizeof magic + 12 + size + BERTH_SHA256_SIZE, 8);
    berth_text_append(text, berth_text_string(body), size);
    berth_status status = berth_text_status(body);
    if (status == BERTH_OK) status = berth_text_status(text);
    berth_text_free(body);
    if (status != BERTH_OK) return berth_fail_nomem(ctx);
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, berth_text_string(text) + first, berth_text_size(text) - first);
    berth_sha256_finish(&sha, digest);
    berth_text_append(text, (const char *)digest, sizeof digest);
    return berth_text_status(text) == BERTH_OK ? BERTH_OK : berth_fail_nomem(ctx);
}

berth_status berth_policy_save(berth_ctx *ctx, const berth_policy *policy, const char *path) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(ctx, &text));
    berth_status status = berth_policy_write(ctx, text, policy);
    if (status == BERTH_OK)
        status = berth_file_judge(berth_file_write(ctx, path, berth_text_string(text), berth_text_size(text)));
    berth_text_free(text);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

typedef struct reader {
    berth_ctx *ctx;
    const char *name;
    const unsigned char *bytes;
    size_t at, end; /* of what is left */
    berth_policy *policy;
} reader;

static berth_status refuse(const reader *r, const char *what, const char *word) {
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%.600s: byte %zu: %s%.80s", r->name, r->at, what, word);
}

static berth_status get_bits(reader *r, int bytes, uint64_t *out) {
    if (r->end - r->at < (size_t)bytes) return refuse(r, "the file ends in the middle of a number", "");
    *out = 0;
    for (int i = 0; i < bytes; i++) *out |= (uint64_t)r->bytes[r->at++] << 8 * i;
    return BERTH_OK;
}

/* At most `most`. */
static berth_status get_count(reader *r, int bytes, uint64_t most, uint64_t *out, const char *what) {
    size_t at = r->at;
    BERTH_TRY(get_bits(r, bytes, out));
    if (*out <= most) return BERTH_OK;
    r->at = at;
    return refuse(r, "there cannot be so many ", what);
}

static berth_status get_double(reader *r, double *out) {
    uint64_t bits = 0;
    BERTH_TRY(get_bits(r, 8, &bits));
    memcpy(out, &bits, sizeof bits);
    return BERTH_OK;
}

/* Of printable ASCII, at least one letter unless it may be empty, and less than `room` of them. */
static berth_status get_string(reader *r, char *out, size_t room, bool may_be_empty) {
    uint64_t size = 0;
    BERTH_TRY(get_bits(r, 2, &size));
    if (size >= room || size > r->end - r->at || (size == 0 && !may_be_empty))
        return refuse(r, "a name has an impossible length", "");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = r->bytes[r->at + i];
        if (c <= ' ' || c > '~') return refuse(r, "a name holds more than printable letters", "");
        out[i] = (char)c;
    }
    out[size] = '\0';
    r->at += size;
    return BERTH_OK;
}

/* Every setting that the method has, once. */
static berth_status get_settings(reader *r, const char *version) {
    berth_settings *settings = &r->policy->settings;
    bool seen[BERTH_MAX_SETTINGS] = {false};
    uint64_t n = 0;
    BERTH_TRY(get_count(r, 4, BERTH_MAX_SETTINGS, &n, "settings"));
    for (uint64_t i = 0; i < n; i++) {
        char name[MAX_TEXT], value[MAX_TEXT], both[2 * MAX_TEXT + 1];
        size_t at = r->at;
        BERTH_TRY(get_string(r, name, sizeof name, false));
        BERTH_TRY(get_string(r, value, sizeof value, false));
        size_t size = strlen(name);
        memcpy(both, name, size);
        both[size] = '=';
        memcpy(both + size + 1, value, strlen(value) + 1);
        int32_t k = 0;
        while (berth_setting_at(k) && strcmp(berth_setting_at(k)->name, name) != 0) k++;
        r->at = at;
        if (berth_settings_set(r->ctx, settings, both) != BERTH_OK || !berth_setting_at(k))
            return refuse(r, "this berth cannot take its setting ", both);
        if (seen[k]) return refuse(r, "a second setting ", name);
        seen[k] = true;
        r->at = at + 4 + size + strlen(value);
    }
    for (int32_t k = 0; berth_setting_at(k); k++)
        if (berth_setting_applies(settings->method, k) && !seen[k])
            return berth_fail(r->ctx, BERTH_E_FORMAT,
                              "%.600s: it comes from berth %s, which had no setting %s: train anew", r->name, version,
                              berth_setting_at(k)->name);
    return BERTH_OK;
}

static berth_status get_history(reader *r) {
    berth_training *training = &r->policy->training;
    uint64_t n = 0;
    BERTH_TRY(get_count(r, 8, (r->end - r->at) / 32, &n, "episodes"));
    for (uint64_t i = 0; i < n; i++) {
        berth_episode row = {0};
        BERTH_TRY(get_double(r, &row.mean_ms));
        BERTH_TRY(get_double(r, &row.best_ms));
        BERTH_TRY(get_double(r, &row.entropy));
        BERTH_TRY(get_double(r, &row.clusters));
        if (!berth_vec_push(berth_ctx_allocator(r->ctx), &training->history, row)) return berth_fail_nomem(r->ctx);
    }
    return BERTH_OK;
}

static berth_status get_training(reader *r) {
    berth_training *training = &r->policy->training;
    uint64_t rounds = 0, position = 0;
    BERTH_TRY(get_count(r, 8, INT64_MAX, &training->seed, "seeds"));
    BERTH_TRY(get_count(r, 8, INT64_MAX, &rounds, "rounds"));
    BERTH_TRY(get_count(r, 8, 0, &position, "random numbers drawn"));
    training->rounds = (int64_t)rounds;
    BERTH_TRY(get_string(r, training->trained_on, sizeof training->trained_on, true));
    return get_history(r);
}

static berth_status get_numbers(reader *r) {
    uint64_t n = 0;
    BERTH_TRY(get_count(r, 4, BERTH_POLICY_NUMBERS, &n, "running numbers"));
    for (uint64_t i = 0; i < n; i++) {
        berth_policy_number *number = &r->policy->number[i];
        BERTH_TRY(get_string(r, number->name, sizeof number->name, false));
        for (uint64_t k = 0; k < i; k++)
            if (strcmp(r->policy->number[k].name, number->name) == 0)
                return refuse(r, "a second running number ", number->name);
        BERTH_TRY(get_double(r, &number->value));
        if (!isfinite(number->value)) return refuse(r, "not a finite number: ", number->name);
    }
    return BERTH_OK;
}

static berth_status get_texts(reader *r) {
    uint64_t n = 0, size = 0;
    BERTH_TRY(get_count(r, 4, BERTH_POLICY_TEXTS, &n, "texts"));
    for (uint64_t i = 0; i < n; i++) {
        berth_policy_text *text = &r->policy->text[i];
        char name[sizeof text->name];
        BERTH_TRY(get_string(r, name, sizeof name, false));
        if (berth_policy_text_of(r->policy, name)) return refuse(r, "a second text ", name);
        BERTH_TRY(get_bits(r, 4, &size));
        if (size > r->end - r->at || memchr(r->bytes + r->at, 0, size)) return refuse(r, "not a text: ", name);
        text->text = berth_resize(berth_ctx_allocator(r->ctx), NULL, 0, size + 1, 1);
        if (!text->text) return berth_fail_nomem(r->ctx);
        memcpy(text->text, r->bytes + r->at, size);
        memcpy(text->name, name, strlen(name) + 1);
        r->at += size;
    }
    return BERTH_OK;
}

static berth_status get_reals(reader *r, berth_real *out, size_t n, int bytes, bool squares) {
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        uint32_t narrow;
        float single;
        double value;
        BERTH_TRY(get_bits(r, bytes, &bits));
        narrow = (uint32_t)bits;
        memcpy(&single, &narrow, sizeof single);
        memcpy(&value, &bits, sizeof value);
        if (bytes == 4) value = (double)single;
        out[i] = (berth_real)value;
        if (isfinite(value) && isfinite(out[i]) && !(squares && value < 0)) continue;
        r->at -= (size_t)bytes;
        return refuse(r, "a parameter is not a number that it can be", "");
    }
    return BERTH_OK;
}

/* Names and shapes, whose numbers must be what is left of the file. */
static berth_status get_layout(reader *r, int bytes) {
    berth_params *params = &r->policy->params;
    uint64_t n = 0, rows = 0, cols = 0, room;
    BERTH_TRY(get_count(r, 4, MAX_PARAMS, &n, "parameters"));
    for (uint64_t i = 0; i < n; i++) {
        char name[sizeof params->items->name];
        BERTH_TRY(get_string(r, name, sizeof name, false));
        BERTH_TRY(get_count(r, 4, INT32_MAX, &rows, "rows"));
        BERTH_TRY(get_count(r, 4, INT32_MAX, &cols, "columns"));
        room = (r->end - r->at) / 3 / (uint64_t)bytes;
        if (rows == 0 || cols == 0 || rows > room / cols || rows * cols > room - params->n)
            return refuse(r, "the file is too small for parameter ", name);
        if (berth_params_find(params, name)) return refuse(r, "a second parameter ", name);
        if (berth_params_add(params, name, (int32_t)rows, (int32_t)cols) < 0) return berth_fail_nomem(r->ctx);
    }
    if (params->n * 3 * (uint64_t)bytes != r->end - r->at)
        return refuse(r, "the file has another size than its parameters", "");
    return BERTH_OK;
}

static berth_status get_params(reader *r, int bytes) {
    berth_params *params = &r->policy->params;
    uint64_t steps = 0;
    BERTH_TRY(get_count(r, 8, INT64_MAX, &steps, "steps"));
    BERTH_TRY(get_layout(r, bytes));
    BERTH_TRY(berth_params_fix(params));
    params->steps = (int64_t)steps;
    BERTH_TRY(get_reals(r, params->value, params->n, bytes, false));
    BERTH_TRY(get_reals(r, params->moment1, params->n, bytes, false));
    return get_reals(r, params->moment2, params->n, bytes, true);
}

static berth_status get_body(reader *r) {
    char version[MAX_TEXT], method[MAX_TEXT];
    uint64_t bytes = 0;
    BERTH_TRY(get_bits(r, 4, &bytes));
    if (bytes != 4 && bytes != 8) return refuse(r, "numbers have 4 or 8 bytes", "");
    BERTH_TRY(get_string(r, version, sizeof version, false));
    BERTH_TRY(get_string(r, method, sizeof method, false));
    if (berth_settings_default(r->ctx, &r->policy->settings, method) != BERTH_OK)
        return refuse(r, "this berth has no learned method ", method);
    BERTH_TRY(get_settings(r, version));
    BERTH_TRY(get_training(r));
    BERTH_TRY(get_numbers(r));
    BERTH_TRY(get_texts(r));
    return get_params(r, (int)bytes);
}

/* Magic, schema, size, digest: from then on damage is no accident. */
static berth_status check_frame(reader *r, size_t size) {
    unsigned char digest[BERTH_SHA256_SIZE];
    berth_sha256 sha;
    uint64_t schema = 0, whole = 0;
    if (size < sizeof magic || memcmp(r->bytes, magic, sizeof magic) != 0)
        return refuse(r, "this is no policy of berth", "");
    r->at = sizeof magic;
    BERTH_TRY(get_bits(r, 4, &schema));
    if (schema != SCHEMA)
        return berth_fail(r->ctx, BERTH_E_FORMAT, "%.600s: its schema is %d, of another release; this berth knows %d",
                          r->name, (int)(schema & 0x7fffffff), (int)SCHEMA);
    BERTH_TRY(get_bits(r, 8, &whole));
    if (whole != size || size < r->at + sizeof digest)
        return berth_fail(r->ctx, BERTH_E_FORMAT, "%.600s: it has %zu bytes, and should have %llu", r->name, size,
                          (unsigned long long)whole);
    r->end = size - sizeof digest;
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, r->bytes, r->end);
    berth_sha256_finish(&sha, digest);
    if (memcmp(digest, r->bytes + r->end, sizeof digest) == 0) return BERTH_OK;
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%.600s: it is damaged: the digest at its end is another", r->name);
}

berth_status berth_policy_parse(berth_ctx *ctx, berth_policy **out, const char *name, const char *bytes, size_t size) {
    reader r = {.ctx = ctx, .name = name, .bytes = (const unsigned char *)bytes, .end = size};
    berth_settings none = {0};
    *out = NULL;
    BERTH_TRY(check_frame(&r, size));
    BERTH_TRY(berth_policy_new(ctx, &r.policy, &none));
    berth_status status = get_body(&r);
    if (status == BERTH_OK)
        *out = r.policy;
    else
        berth_policy_free(r.policy);
    return status;
}

berth_status berth_policy_load(berth_ctx *ctx, berth_policy **out, const char *path) {
    berth_arena arena;
    const char *bytes = NULL;
    size_t size = 0;
    *out = NULL;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_file_read(ctx, &arena, path, MAX_FILE_BYTES, &bytes, &size);
    if (status == BERTH_OK)
        status = berth_policy_parse(ctx, out, strcmp(path, "-") == 0 ? "standard input" : path, bytes, size);
    berth_arena_deinit(&arena);
    return status;
}
