/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum: "bij,bjk->bik". Each letter is one dimension, the same in all terms; an ellipsis stands for leading
 * dimensions that broadcast. Without an arrow the output has the ellipsis first, then the letters that occur once, in
 * alphabetical order (capitals before small ones). */
#include "read/infer_rows.h"

#include <string.h>

enum { LETTERS = 128 };

typedef struct einsum {
    berth_dim size[LETTERS];
    int32_t seen[LETTERS];
    berth_dims ellipsis;
} einsum;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A dimension of one broadcasts against the letter's size in other terms. */
static berth_status meet_letter(berth_infer *in, einsum *e, char letter, const berth_dim *dim) {
    int i = (unsigned char)letter;
    berth_dim *size = &e->size[i];
    if (e->seen[i] && !berth_dim_agree(size, dim) && !berth_dim_is(size, 1) && !berth_dim_is(dim, 1))
        return berth_infer_refuse(in, "the sizes of '%c' differ", letter);
    if (!e->seen[i] || berth_dim_is(size, 1))
        *size = *dim;
    else if (!berth_dim_is(dim, 1))
        *size = berth_dim_best(size, dim);
    e->seen[i]++;
    return BERTH_OK;
}

/* One term of the left side against the shape of its input. */
static berth_status read_term(berth_infer *in, einsum *e, const char *term, size_t n, const berth_dims *dims) {
    int32_t letters = 0, dots = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_letter(term[i])) letters++;
        if (term[i] == '.') dots++;
        if (letters > dims->rank) break;
    }
    int32_t extra = dims->rank - letters;
    if (extra < 0 || (extra > 0 && dots == 0))
        return berth_infer_refuse(in, "the term '%.*s' does not fit %d dimensions", n < 80 ? (int)n : 80, term,
                                  (int)dims->rank);
    if (dots != 0 && dots != 3) return berth_infer_refuse(in, "a term has %d dots", (int)dots);
    for (size_t i = 0; i < n; i++) {
        if (term[i] == ' ') continue;
        if (is_letter(term[i])) {
            BERTH_TRY(meet_letter(in, e, term[i], &dims->at[at++]));
            continue;
        }
        if (n - i < 3 || memcmp(term + i, "...", 3) != 0) return berth_infer_refuse(in, "a term has an unknown sign");
        berth_dims middle = {.rank = extra};
        for (int32_t j = 0; j < extra; j++) middle.at[j] = dims->at[at++];
        BERTH_TRY(berth_infer_broadcast(in, &e->ellipsis, &middle));
        i += 2;
    }
    return BERTH_OK;
}

static berth_status put_ellipsis(berth_infer *in, const einsum *e, berth_dims *dims) {
    if (dims->rank + e->ellipsis.rank > BERTH_MAX_RANK)
        return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
    for (int32_t i = 0; i < e->ellipsis.rank; i++) dims->at[dims->rank++] = e->ellipsis.at[i];
    return BERTH_OK;
}

static berth_status put_letter(berth_infer *in, const einsum *e, int letter, berth_dims *dims) {
    if (dims->rank >= BERTH_MAX_RANK) return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
    dims->at[dims->rank++] = e->size[letter];
    return BERTH_OK;
}

/* The right side; NULL where the equation has no arrow. */
static berth_status make_output(berth_infer *in, const einsum *e, const char *right, size_t n, berth_dims *dims) {
    dims->rank = 0;
    if (!right) {
        BERTH_TRY(put_ellipsis(in, e, dims));
        for (int letter = 0; letter < LETTERS; letter++)
            if (e->seen[letter] == 1) BERTH_TRY(put_letter(in, e, letter, dims));
        return BERTH_OK;
    }
    for (size_t i = 0; i < n; i++) {
        int letter = (unsigned char)right[i];
        if (letter == ' ') continue;
        if (letter == '.' && i + 3 <= n && memcmp(right + i, "...", 3) == 0) {
            BERTH_TRY(put_ellipsis(in, e, dims));
            i += 2;
        } else if (letter < LETTERS && e->seen[letter]) {
            BERTH_TRY(put_letter(in, e, letter, dims));
        } else {
            return berth_infer_refuse(in, "the right side has a letter that the left has not");
        }
    }
    return BERTH_OK;
}

berth_status berth_infer_einsum(berth_infer *in) {
    berth_type type = berth_infer_type(in, 0);
    const berth_attribute *equation = berth_op_attribute(in->op, "equation");
    if (!equation || equation->kind != BERTH_ATTRIBUTE_STRING) return berth_infer_refuse(in, "'equation' is missing");
    const char *text = equation->string, *end = text + equation->count, *arrow = strstr(text, "->");
    const char *left = arrow ? arrow : end;
    einsum e = {.ellipsis = {.rank = 0}};
    berth_dims dims;
    bool known = true;
    for (int32_t port = 0; port < in->op->n_inputs; port++) {
        if (text > left) return berth_infer_refuse(in, "the equation has fewer terms than there are inputs");
        const char *comma = memchr(text, ',', (size_t)(left - text));
        const char *stop = comma ? comma : left;
        if (!berth_infer_dims(in, port, &dims))
            known = false;
        else
            BERTH_TRY(read_term(in, &e, text, (size_t)(stop - text), &dims));
        text = stop + 1;
    }
    if (text <= left) return berth_infer_refuse(in, "the equation has more terms than there are inputs");
    if (!known) return berth_infer_out(in, 0, type, NULL);
    BERTH_TRY(make_output(in, &e, arrow ? arrow + 2 : NULL, arrow ? (size_t)(end - arrow - 2) : 0, &dims));
    return berth_infer_out(in, 0, type, &dims);
}
