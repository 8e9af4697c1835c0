/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operation types: what kind of work each is, how its FLOPs are counted, and what runtimes do with it. A
 * type that has no row is unknown; nothing is guessed about it. */
#ifndef BERTH_GRAPH_KIND_H
#define BERTH_GRAPH_KIND_H

#include "berth/work.h"
#include "graph/flops.h"

enum {
    BERTH_KIND_HEAD = 1,        /* a product whose epilogue runtimes fuse into it */
    BERTH_KIND_EPILOGUE = 2,    /* bias, scale, residual, activation: fused into the product before it */
    BERTH_KIND_CHEAP = 4,       /* part of the patterns that runtimes fuse: GELU, layer norm, softmax written out */
    BERTH_KIND_QUANTIZE = 8,    /* belongs to what it reads */
    BERTH_KIND_DEQUANTIZE = 16, /* belongs to what reads it */
    BERTH_KIND_SHAPE = 32,      /* computes shapes from shapes */
};

typedef struct berth_kind {
    const char *type;
    uint32_t spaces; /* the domains in which the name means this */
    berth_work_class cls;
    berth_flops_fn flops;
    int parameter; /* of `flops` */
    uint32_t traits;
    uint32_t shape_ports; /* bit p: input p is a shape, a list of axes or a size, not data */
} berth_kind;

/* The row of an operation, or NULL. */
const berth_kind *berth_kind_find(const berth_graph *graph, const berth_op *op);

/* The whole table, sorted by type. */
const berth_kind *berth_kind_table(size_t *n);

#endif
