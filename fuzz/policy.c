/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a policy.ckpt: first as they are, then with the size and the digest that make what lies between them be
 * looked at. What is accepted, written and read again gives the same bytes. */
#include "base/sha256.h"
#include "learn/learn.h"
#include "promise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 20 }; /* magic, schema, size */

static berth_policy *parse(berth_ctx *ctx, const char *bytes, size_t size) {
    berth_policy *policy = NULL;
    berth_status status = berth_policy_parse(ctx, &policy, "fuzz", bytes, size);
    PROMISE((status == BERTH_OK) == (policy != NULL));
    PROMISE(status == BERTH_OK || status == BERTH_E_FORMAT);
    PROMISE(status == BERTH_OK || (*berth_ctx_message(ctx) && !strchr(berth_ctx_message(ctx), '\n')));
    return policy;
}

static void frame(char *bytes, size_t size) {
    berth_sha256 sha;
    memcpy(bytes, "berthpol\1\0\0", 12);
    for (int i = 0; i < 8; i++) bytes[12 + i] = (char)(size >> 8 * i & 0xff);
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, bytes, size - BERTH_SHA256_SIZE);
    berth_sha256_finish(&sha, (unsigned char *)bytes + size - BERTH_SHA256_SIZE);
}

static berth_text *put(berth_ctx *ctx, const berth_policy *policy) {
    berth_text *text = NULL;
    PROMISE(berth_text_new(ctx, &text) == BERTH_OK);
    PROMISE(berth_policy_write(ctx, text, policy) == BERTH_OK);
    return text;
}

static void check(berth_ctx *ctx, const berth_policy *policy) {
    PROMISE(berth_policy_settings(policy)->method && berth_policy_episodes(policy) >= 0);
    berth_text *first = put(ctx, policy);
    berth_policy *back = parse(ctx, berth_text_string(first), berth_text_size(first));
    PROMISE(back);
    berth_text *second = put(ctx, back);
    PROMISE(berth_text_size(first) == berth_text_size(second));
    PROMISE(memcmp(berth_text_string(first), berth_text_string(second), berth_text_size(first)) == 0);
    berth_text_free(first);
    berth_text_free(second);
    berth_policy_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    berth_ctx *ctx = NULL;
    PROMISE(berth_ctx_new(&ctx, NULL) == BERTH_OK);
    berth_policy_free(parse(ctx, (const char *)data, size));
    if (size >= FRAME + BERTH_SHA256_SIZE) {
        char *framed = malloc(size);
        PROMISE(framed);
        memcpy(framed, data, size);
        frame(framed, size);
        berth_policy *policy = parse(ctx, framed, size);
        if (policy) check(ctx, policy);
        berth_policy_free(policy);
        free(framed);
    }
    berth_ctx_free(ctx);
    return 0;
}
