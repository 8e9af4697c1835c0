/* SPDX-License-Identifier: Apache-2.0 */
/* A tape: matrices and how they were computed, so that gradients can be computed backwards.
 *
 *     berth_matrix *h = berth_relu(tape, berth_linear(tape, x, w, b));
 *     berth_matrix *loss = berth_mean(tape, h);
 *     BERTH_TRY(berth_tape_backward(tape, loss));     adds d loss / d w into w->grad
 *     berth_tape_clear(tape);                         ready for the next; the memory stays
 *
 * Every matrix is dense, row-major, and lives on the tape, but for parameters (params.h), which outlive it, and inputs,
 * which may borrow the caller's numbers. Every operation is a row of the table in ops.c, with forward, backward and the
 * cases that the gradient test tries.
 *
 * Failure is sticky, as with arenas: an operation that gets NULL, or no memory, gives NULL, and berth_tape_failed says
 * so at the end. Shapes that do not fit are errors of the caller: asserted. After one pass of the same size a tape
 * allocates nothing.
 *
 * Gradients of parameters add up until they are cleared; those of matrices on the tape are of the last backward. */
#ifndef BERTH_TENSOR_TAPE_H
#define BERTH_TENSOR_TAPE_H

#include "base/ctx.h"
#include "tensor/real.h"

typedef struct berth_matrix {
    int32_t rows, cols;
    berth_real *value; /* [rows * cols] */
    berth_real *grad;  /* the same, or NULL where nobody asks: inputs, and all on a tape that does not record */
    bool fresh;        /* grad is there but holds nothing yet, which counts as zeros: only during backward */
} berth_matrix;

typedef struct berth_tape berth_tape;

berth_status berth_tape_new(berth_ctx *ctx, berth_tape **out);
void berth_tape_free(berth_tape *tape);
/* Forget everything on it; keep the memory. */
void berth_tape_clear(berth_tape *tape);
/* Off: only values are computed, backward is not possible. On from the start. */
void berth_tape_record(berth_tape *tape, bool on);
bool berth_tape_failed(const berth_tape *tape);
/* Bytes that it holds, for tests that it stops growing. */
size_t berth_tape_bytes(const berth_tape *tape);

/* Memory for n elements of `size` bytes until the tape is cleared, aligned to 64 bytes, not zeroed. NULL: the tape
 * failed, now or before. */
void *berth_tape_memory(berth_tape *tape, size_t n, size_t size);

/* A constant matrix: the numbers are borrowed until the tape is cleared. */
berth_matrix *berth_input(berth_tape *tape, const berth_real *value, int32_t rows, int32_t cols);
/* A matrix of zeros on the tape, for the caller to fill before use; no gradient. */
berth_matrix *berth_blank(berth_tape *tape, int32_t rows, int32_t cols);
/* The same values, cut off: no gradient flows through. */
berth_matrix *berth_detach(berth_tape *tape, berth_matrix *a);

/* Adds the gradient of the sum of all elements of `loss` into the grad of everything it came from. BERTH_E_NOMEM if the
 * tape failed; the gradients are then not to be used. */
berth_status berth_tape_backward(berth_tape *tape, berth_matrix *loss);

#endif
