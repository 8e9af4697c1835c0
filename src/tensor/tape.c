/* SPDX-License-Identifier: Apache-2.0 */
/* The tape: nodes and their numbers lie one behind the other in blocks of memory; every node knows the one before it,
 * and the way back is that list. Since an operation can only use what is already on the tape, the list is in
 * topological order.
 *
 * When a pass needed more than one block, clearing replaces them by one as large as all together, so that a second pass
 * of the same size finds room without asking, and a third uses the very same addresses. Values start at multiples of 64
 * bytes, a line of the cache, and are not cleared, since every operation writes all of its result.
 *
 * A gradient that nothing was added to yet is marked `fresh` instead of being filled with zeros: the first to add to it
 * sets it, which saves one pass over memory for nearly all of them. */
#include "tensor/tape.h"

#include "base/poison.h"
#include "tensor/node.h"

#include <assert.h>
#include <string.h>

enum { FIRST_BLOCK = 1 << 16, LARGEST_STEP = 1 << 26, ALIGNMENT = 64 };

typedef struct block {
    struct block *older;
    size_t size; /* of what was allocated, this header included */
    char *bytes; /* aligned */
    size_t room; /* bytes there */
} block;

struct berth_tape {
    berth_ctx *ctx;
    block *block; /* the newest */
    size_t used;  /* of its room */
    size_t total; /* bytes of all blocks */
    berth_node *newest;
    bool record, failed;
};

berth_status berth_tape_new(berth_ctx *ctx, berth_tape **out) {
    *out = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof **out);
    if (!*out) return berth_fail_nomem(ctx);
    (*out)->ctx = ctx;
    (*out)->record = true;
    return BERTH_OK;
}

static void drop_blocks(berth_tape *tape) {
    while (tape->block) {
        block *last = tape->block;
        tape->block = last->older;
        BERTH_UNPOISON(last->bytes, last->room);
        berth_resize(berth_ctx_allocator(tape->ctx), last, last->size, 0, 1);
    }
    tape->used = tape->total = 0;
}

void berth_tape_free(berth_tape *tape) {
    if (!tape) return;
    drop_blocks(tape);
    berth_resize(berth_ctx_allocator(tape->ctx), tape, 1, 0, sizeof *tape);
}

/* A block with room for `room` bytes, a multiple of the alignment. */
static bool add_block(berth_tape *tape, size_t room) {
    size_t size = sizeof(block) + ALIGNMENT + room;
    block *new = size > room ? berth_resize(berth_ctx_allocator(tape->ctx), NULL, 0, size, 1) : NULL;
    if (!new) return false;
    uintptr_t start = (uintptr_t)(new + 1);
    char *bytes = (char *)(new + 1) + (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
    *new = (block){tape->block, size, bytes, room};
    BERTH_POISON(bytes, room);
    tape->block = new;
    tape->used = 0;
    tape->total += room;
    return true;
}

void berth_tape_clear(berth_tape *tape) {
    tape->newest = NULL;
    tape->failed = false;
    tape->used = 0;
    if (tape->block && tape->block->older) {
        size_t total = tape->total;
        drop_blocks(tape);
        /* If that much is not to be had in one piece, the next pass finds its own way. */
        add_block(tape, total);
    }
    if (tape->block) BERTH_POISON(tape->block->bytes, tape->block->room);
}

void berth_tape_record(berth_tape *tape, bool on) {
    tape->record = on;
}

bool berth_tape_failed(const berth_tape *tape) {
    return tape->failed;
}

size_t berth_tape_bytes(const berth_tape *tape) {
    return tape->total;
}

void *berth_tape_memory(berth_tape *tape, size_t n, size_t size) {
    size_t bytes = 0;
    if (tape->failed || __builtin_mul_overflow(n, size, &bytes) || bytes > (size_t)PTRDIFF_MAX / 2) {
        tape->failed = true;
        return NULL;
    }
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!tape->block || tape->block->room - tape->used < rounded) {
        size_t room = tape->total < FIRST_BLOCK ? FIRST_BLOCK : tape->total;
        if (room > LARGEST_STEP) room = LARGEST_STEP; /* doubling gigabytes would waste as many */
        if (!add_block(tape, room < rounded ? rounded : room)) {
            tape->failed = true;
            return NULL;
        }
    }
    void *piece = tape->block->bytes + tape->used;
    tape->used += rounded;
    BERTH_UNPOISON(piece, bytes);
    return piece;
}

static bool wants_gradient(const berth_tape *tape, const berth_node *node) {
    if (!tape->record) return false;
    for (int32_t i = 0; node->parts && i < node->n; i++)
        if (node->parts[i]->grad) return true;
    for (int i = 0; i < BERTH_TAPE_INPUTS; i++)
        if (node->in[i] && node->in[i]->grad) return true;
    return false;
}

/* A node of that shape, its value to be filled, linked if it has a gradient. */
static berth_node *new_node(berth_tape *tape, const berth_node *like, int32_t rows, int32_t cols, size_t saved) {
    assert(rows >= 0 && cols >= 0);
    berth_node *node = berth_tape_memory(tape, 1, sizeof *node);
    if (!node) return NULL;
    size_t n = (size_t)rows * (size_t)cols;
    *node = *like;
    node->out = (berth_matrix){.rows = rows, .cols = cols};
    node->out.value = node->over ? node->in[0]->value : berth_tape_memory(tape, n, sizeof(berth_real));
    if (saved) node->saved = berth_tape_memory(tape, saved, 1);
    if (wants_gradient(tape, like)) {
        node->out.grad = node->over ? node->in[0]->grad : berth_tape_memory(tape, n, sizeof(berth_real));
        node->older = tape->newest;
        tape->newest = node;
    }
    return tape->failed ? NULL : node;
}

berth_matrix *berth_tape_push(berth_tape *tape, const berth_node *node, int32_t rows, int32_t cols, size_t saved) {
    const berth_tape_op *op = &berth_tape_ops[node->op];
    for (int i = 0; i < op->arity; i++)
        if (!node->in[i]) tape->failed = true;
    if (tape->failed) return NULL;
    berth_node *new = new_node(tape, node, rows, cols, saved);
    if (!new) return NULL;
    op->forward(new);
    new->rng = NULL;
    return &new->out;
}

berth_matrix *berth_input(berth_tape *tape, const berth_real *value, int32_t rows, int32_t cols) {
    berth_matrix *tensor = berth_tape_memory(tape, 1, sizeof *tensor);
    /* Nobody writes through it: operations write their own results, and there is no gradient. */
    if (tensor) *tensor = (berth_matrix){.rows = rows, .cols = cols, .value = (berth_real *)(uintptr_t)value};
    return tensor;
}

berth_matrix *berth_blank(berth_tape *tape, int32_t rows, int32_t cols) {
    berth_matrix *tensor = berth_input(tape, NULL, rows, cols);
    if (!tensor) return NULL;
    tensor->value = berth_tape_memory(tape, berth_count(tensor), sizeof *tensor->value);
    if (!tensor->value) return NULL;
    memset(tensor->value, 0, berth_count(tensor) * sizeof *tensor->value);
    return tensor;
}

berth_matrix *berth_detach(berth_tape *tape, berth_matrix *a) {
    if (!a) tape->failed = true;
    return a ? berth_input(tape, a->value, a->rows, a->cols) : NULL;
}

berth_status berth_tape_backward(berth_tape *tape, berth_matrix *loss) {
    if (tape->failed || !loss) return berth_fail_nomem(tape->ctx);
    assert(tape->record);
    for (berth_node *node = tape->newest; node; node = node->older) node->out.fresh = true;
    if (loss->grad) {
        bool set = berth_grad_set(loss);
        for (size_t i = 0; i < berth_count(loss); i++) loss->grad[i] = (set ? 0 : loss->grad[i]) + 1;
    }
    for (berth_node *node = tape->newest; node; node = node->older) {
        /* What the loss does not depend on has no part in this, but its gradient can be read: zero. */
        bool reached = !node->out.fresh;
        berth_grad_add(&node->out);
        if (reached) berth_tape_ops[node->op].backward(node);
    }
    return BERTH_OK;
}
