/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/work.h: how much work each operation is, whatever device runs it.
 */
#ifndef BERTH_WORK_H
#define BERTH_WORK_H

#include "berth/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What kind of work an operation is; devices differ in how well they do each. */
typedef enum berth_work_class {
    BERTH_WORK_FREE,        /* moves nothing at run time: constants, parameters, results, reshapes */
    BERTH_WORK_CONV,        /* convolutions (dense) */
    BERTH_WORK_DEPTHWISE,   /* convolutions whose groups have one input channel */
    BERTH_WORK_MATMUL,      /* matrix products, attention, recurrent cells */
    BERTH_WORK_POOL,        /* pooling, resizing, windowed operations */
    BERTH_WORK_REDUCE,      /* reductions, normalisations, softmax */
    BERTH_WORK_ELEMENTWISE, /* one pass over the data */
    BERTH_WORK_MOVE,        /* data movement without arithmetic: transpose, concat, gather, pad, slice */
    BERTH_WORK_CONTROL,     /* If, Loop, and what has nested graphs */
    BERTH_WORK_OTHER,       /* type not known here: only bytes are counted */
    BERTH_WORK_CLASS_COUNT
} berth_work_class;

BERTH_API const char *berth_work_class_name(berth_work_class cls);

/**
 * Work of one operation. Bytes are those of whole tensors, a tensor read at several ports counted once, and those of
 * unknown size as 0. A constant expression does no work when the model runs and has zeros throughout; what it yields
 * counts where it is read, at the size of the tensor that is read (after a Convert, the converted size).
 */
typedef struct berth_op_work {
    berth_work_class cls;
    bool known;              /* false: the type is not in the table, or a shape it needs is unknown */
    double flops;            /* 2 x multiply-adds, 1 per element of elementwise operations; 0 if not known */
    int64_t parameter_bytes; /* constants read, wherever they are shared, and weights inside the operation */
    int64_t input_bytes;     /* inputs read that are not constants, captures included */
    int64_t output_bytes;
} berth_op_work;

/**
 * Totals. Parameters are the elements of all stored floating-point constants, each once, and of those stored integer
 * constants of more than one element that a convolution or matrix product reads, directly or through constant
 * expressions such as DequantizeLinear: quantised weights, but not shapes, indices or zero points. Sums that do not fit
 * 64 bits are INT64_MAX.
 */
typedef struct berth_work {
    int32_t n_ops;
    const berth_op_work *ops; /* [n_ops] */
    double flops;
    int64_t parameters;
    int64_t parameter_bytes;          /* bytes of all stored constants, each once */
    int64_t activation_bytes;         /* bytes of all tensors that are not constants, each once */
    int32_t unknown_shapes;           /* tensors that an operation yields or the model takes, of unknown shape; none for
                                         workloads, which have no shapes */
    int32_t n_unknown_types;          /* distinct operation types that are not in the table ... */
    const char *const *unknown_types; /* ... by name, sorted; none for workloads, whose times are given */
} berth_work;

/** Linear in the graph, which is not needed afterwards. Free with berth_work_free(). */
BERTH_API BERTH_MUST_CHECK berth_status berth_work_compute(berth_ctx *ctx, berth_work **out, const berth_graph *graph);
BERTH_API void berth_work_free(berth_work *work);

#ifdef __cplusplus
}
#endif
#endif
