/* SPDX-License-Identifier: Apache-2.0 */
/* What the inference function of an operation type sees and says: the inputs of the operation at hand, its attributes,
 * values known before the model runs, and the way to set an output or to refuse the file. */
#ifndef BERTH_READ_INFER_OP_H
#define BERTH_READ_INFER_OP_H

#include "graph/build.h"
#include "graph/element.h"

/* A shape in the making. rank -1: not known. */
typedef struct berth_dims {
    int32_t rank;
    berth_dim at[BERTH_MAX_RANK];
} berth_dims;

/* The elements of a small tensor, each known or not. Integers and booleans are ranges with an optional symbol, as
 * dimensions are (INT64_MIN .. INT64_MAX: nothing known; 0 .. INT64_MAX: a dimension not known); a floating point
 * number that is not known is NaN. Exactly one of the two arrays is there. */
typedef struct berth_value {
    int32_t n;
    berth_dim *ints;
    double *reals;
} berth_value;

/* Larger tensors are not followed: what feeds a shape is small. */
enum { BERTH_VALUE_MAX_INTS = 1024, BERTH_VALUE_MAX_REALS = 64 };

typedef enum berth_list_state { BERTH_LIST_ABSENT, BERTH_LIST_UNKNOWN, BERTH_LIST_KNOWN } berth_list_state;

/* A list of integers that the file gives by an attribute or by an input. */
typedef struct berth_list {
    berth_list_state state;
    int32_t n; /* -1 where not even the length is known */
    int64_t at[BERTH_MAX_RANK];
} berth_list;

typedef struct berth_infer berth_infer;

/* One operation type: how its output shapes and types follow, and (or NULL) how its output values do. */
typedef struct berth_infer_row {
    const char *type;
    const char *domain;
    berth_status (*shape)(berth_infer *in);
    void (*value)(berth_infer *in);
} berth_infer_row;

struct berth_infer {
    berth_build *b;
    berth_graph *graph;
    int64_t opset;        /* of the default domain */
    berth_arena scratch;  /* values; they die with the inference */
    berth_value **values; /* by tensor; NULL: nothing known or not yet looked at */
    int64_t value_room;   /* elements that may still be kept, so that memory stays a small multiple of the file */
    int64_t dim_room;     /* the same for dimensions */
    const berth_op *op;   /* the operation at hand */
    berth_status status;  /* its first malformed attribute */
    int32_t n_ignored;    /* declarations that contradict what follows */
};

/* --- refusing ------------------------------------------------------------------------------------------------- */

/* BERTH_E_FORMAT with the operation's place, type and name before the sentence. */
berth_status berth_infer_refuse(berth_infer *in, const char *format, ...) BERTH_PRINTF(2, 3);
berth_status berth_infer_overflow(berth_infer *in);
/* "1x3x?x224" into the buffer, which it returns. */
enum { BERTH_DIMS_TEXT = 160 };
const char *berth_dims_text(const berth_dims *dims, char buffer[BERTH_DIMS_TEXT]);

/* --- inputs --------------------------------------------------------------------------------------------------- */

/* The tensor at a port, or NULL if the file leaves it out. */
const berth_tensor *berth_infer_in(const berth_infer *in, int32_t port);
berth_type berth_infer_type(const berth_infer *in, int32_t port);
/* The shape at a port; false (and rank -1) if it is not known or left out. */
bool berth_infer_dims(const berth_infer *in, int32_t port, berth_dims *dims);
/* Refuses a known rank that is not within low .. high. */
berth_status berth_infer_rank(berth_infer *in, int32_t port, int32_t low, int32_t high);
/* The elements at a port, or NULL if none is known. */
const berth_value *berth_infer_value(berth_infer *in, int32_t port);
/* The one element of an integer scalar (or a tensor of one element) at a port. */
bool berth_infer_scalar(berth_infer *in, int32_t port, int64_t *scalar);

/* --- attributes: a wrong kind is remembered in in->status ------------------------------------------------------ */

bool berth_infer_given(const berth_infer *in, const char *name);
int64_t berth_infer_int(berth_infer *in, const char *name, int64_t fallback);
/* The integers of an attribute; the count (0 if absent) goes to *n. */
const int64_t *berth_infer_ints(berth_infer *in, const char *name, int32_t *n);
/* True if the attribute is that text; `fallback` if it is absent. */
bool berth_infer_says(berth_infer *in, const char *name, const char *text, bool fallback);
/* The attribute if it is given, else the input (port -1: none). Refuses more entries than a shape can have. */
berth_status berth_infer_list(berth_infer *in, const char *name, int32_t port, berth_list *list);
/* -rank .. rank - 1 as 0 .. rank - 1. */
berth_status berth_infer_axis(berth_infer *in, int64_t axis, int32_t rank, int32_t *out);
/* Marks the axes of a known list in `marks`, refusing what is out of range. */
berth_status berth_infer_axes(berth_infer *in, const berth_list *list, int32_t rank, bool marks[BERTH_MAX_RANK]);
/* The element type that an attribute names by ONNX's number; `fallback` if it is absent or 0. */
berth_type berth_infer_type_named(berth_infer *in, const char *name, berth_type fallback);

/* --- outputs -------------------------------------------------------------------------------------------------- */

/* Set an output; BERTH_TYPE_UNKNOWN and NULL (or rank -1) leave type and shape as they are. Merges with what the file
 * declares, and refuses what contradicts it. An output that the file leaves out is no matter. */
berth_status berth_infer_out(berth_infer *in, int32_t port, berth_type type, const berth_dims *dims);
/* The shape of an input for an output. */
berth_status berth_infer_copy(berth_infer *in, int32_t port, berth_type type, int32_t from);

/* --- dimensions ----------------------------------------------------------------------------------------------- */

static inline bool berth_dim_is(const berth_dim *dim, int64_t size) {
    return dim->min == size && dim->max == size;
}
/* True unless both are static and differ. */
bool berth_dim_agree(const berth_dim *a, const berth_dim *b);
/* True if they are surely the same: the same size, or the same symbol. */
bool berth_dim_equal(const berth_dim *a, const berth_dim *b);
/* Of two that agree the one that says more. */
berth_dim berth_dim_best(const berth_dim *a, const berth_dim *b);
/* *dim += by, *dim *= by; false beyond 64 bits. */
bool berth_dim_add(berth_dim *dim, const berth_dim *by);
bool berth_dim_multiply(berth_dim *dim, const berth_dim *by);
/* Product of dimensions first .. end - 1. */
bool berth_dims_product(const berth_dims *dims, int32_t first, int32_t end, berth_dim *product);
static inline void berth_dims_assign(berth_dims *to, const berth_dims *from) {
    to->rank = from->rank;
    for (int32_t i = 0; i < from->rank; i++) to->at[i] = from->at[i];
}
/* A shape of `rank` dimensions none of which is known. */
void berth_dims_blank(berth_dims *dims, int32_t rank);
/* Widen `dims` so that it also holds `more`, by the rule of numpy. Unknown rank is contagious. */
berth_status berth_infer_broadcast(berth_infer *in, berth_dims *dims, const berth_dims *more);

#endif
