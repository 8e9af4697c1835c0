/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/graph.h: the computation graph.
 *
 * One graph is one model file: operations, the tensors between them, and edges. It is immutable once read and
 * owns everything reachable from it; all pointers below stay valid until berth_graph_free(). It may be read
 * from several threads at once.
 *
 * Numbering. An operation's index is its position in the file, whatever order the file has. Execution order is
 * berth_graph_order(), a topological order (first in, first out; sources and successors in file order).
 *
 * What is an operation depends on the format, as users of each format count them: in OpenVINO IR every layer,
 * constants, parameters and results included; in ONNX every node, initializers and model inputs not included;
 * in a workload file every task.
 */
#ifndef BERTH_GRAPH_H
#define BERTH_GRAPH_H

#include "berth/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_graph berth_graph;

/** Element types of both formats. Sub-byte types pack, see berth_type_bits(). */
typedef enum berth_type {
    BERTH_TYPE_UNKNOWN,
    BERTH_TYPE_F32,
    BERTH_TYPE_F64,
    BERTH_TYPE_F16,
    BERTH_TYPE_BF16,
    BERTH_TYPE_F8, /* any of the 8-bit floats */
    BERTH_TYPE_F4, /* any of the 4-bit floats */
    BERTH_TYPE_I64,
    BERTH_TYPE_I32,
    BERTH_TYPE_I16,
    BERTH_TYPE_I8,
    BERTH_TYPE_I4,
    BERTH_TYPE_I2,
    BERTH_TYPE_U64,
    BERTH_TYPE_U32,
    BERTH_TYPE_U16,
    BERTH_TYPE_U8,
    BERTH_TYPE_U6,
    BERTH_TYPE_U4,
    BERTH_TYPE_U3,
    BERTH_TYPE_U2,
    BERTH_TYPE_U1,
    BERTH_TYPE_NF4,
    BERTH_TYPE_BOOL,
    BERTH_TYPE_C64,  /* two f32 */
    BERTH_TYPE_C128, /* two f64 */
    BERTH_TYPE_STRING,
    BERTH_TYPE_OTHER, /* sequences, maps, optionals: no size of their own */
    BERTH_TYPE_COUNT
} berth_type;

/** Lower-case name such as "f32"; "unknown" for BERTH_TYPE_UNKNOWN. */
BERTH_API const char *berth_type_name(berth_type type);
/** Bits of one element; 0 where an element has no fixed size (unknown, string, other). */
BERTH_API int berth_type_bits(berth_type type);

/** A dimension: min == max where it is static; max INT64_MAX where it has no upper limit. */
typedef struct berth_dim {
    int64_t min, max;
    const char *symbol; /* the file's name for it ("batch"), or NULL */
} berth_dim;

#define BERTH_MAX_RANK 64

/** rank -1: not even the number of dimensions is known. A scalar has rank 0. */
typedef struct berth_shape {
    int32_t rank;
    const berth_dim *dims;
} berth_shape;

/** True if the rank and all dimensions are known. */
BERTH_API bool berth_shape_is_static(const berth_shape *shape);
/** Product of the dimensions; -1 if any is unknown. Readers refuse products beyond 64 bits. */
BERTH_API int64_t berth_shape_elements(const berth_shape *shape);

enum {
    BERTH_TENSOR_INPUT = 1,       /* a model input */
    BERTH_TENSOR_OUTPUT = 2,      /* a model output */
    BERTH_TENSOR_INITIALIZER = 4, /* stored in the file, without an operation of its own (ONNX) */
    BERTH_TENSOR_CONSTANT = 8,    /* known before the model runs: stored, or computed from stored ones alone */
    BERTH_TENSOR_EXTERNAL = 16,   /* stored in another file (never opened) */
};

typedef struct berth_tensor {
    const char *name; /* "" if the file gives none */
    int32_t producer; /* operation, or -1: a model input or an initializer */
    int32_t port;     /* position among the producer's outputs, or -1 */
    berth_type type;
    uint32_t flags;
    berth_shape shape;
    int64_t bytes;         /* size in memory; -1 if type or shape is unknown */
    const void *content;   /* a stored constant of at most 1 KiB, as little-endian packed elements; else NULL */
    int64_t content_size;  /* bytes at `content`; 0 if not kept */
    int64_t payload_bytes; /* stored constants: bytes in the file; else 0 */
} berth_tensor;

typedef enum berth_attribute_kind {
    BERTH_ATTRIBUTE_INTS,
    BERTH_ATTRIBUTE_FLOATS,
    BERTH_ATTRIBUTE_STRING, /* also every attribute of OpenVINO IR, whose values are text */
    BERTH_ATTRIBUTE_OPAQUE, /* anything else (tensors, lists of strings, nested graphs): only its digest is kept */
} berth_attribute_kind;

typedef struct berth_attribute {
    const char *name;
    berth_attribute_kind kind;
    int32_t count;        /* ints, floats; bytes of a string or a digest */
    bool is_list;         /* ONNX tells a list of one from a single value */
    const int64_t *ints;  /* INTS */
    const double *floats; /* FLOATS */
    const char *string;   /* STRING (NUL-terminated, may hold NULs), OPAQUE (32 bytes) */
} berth_attribute;

enum {
    BERTH_OP_CONSTANT = 1, /* a constant expression: computed from constants alone, before the model runs */
    BERTH_OP_INPUT = 2,    /* stands for a model input (Parameter, Input) */
    BERTH_OP_OUTPUT = 4,   /* stands for a model output (Result) */
    BERTH_OP_UNNAMED = 8,  /* the file has no name for it; `name` was made up from its type and output */
    BERTH_OP_IMPURE = 16,  /* random or stateful: never a constant expression */
};

typedef struct berth_op {
    const char *name;
    const char *type;
    const char *domain; /* ONNX domain or IR opset; "" where the format has none */
    int64_t id;         /* the file's own number (IR layer id, task id), else the index */
    int64_t where;      /* line (text formats) or byte offset (ONNX) where it stands */
    uint32_t flags;
    int32_t n_inputs;      /* explicit input ports */
    int32_t n_captures;    /* values that nested graphs take from outside */
    const int32_t *inputs; /* tensors: n_inputs ports (-1: left out), then n_captures */
    int32_t n_outputs;
    const int32_t *outputs; /* tensors; -1: an output that the file leaves out */
    int32_t n_attributes;
    const berth_attribute *attributes;
    int32_t n_bodies;     /* nested graphs directly or indirectly inside */
    int32_t n_nested_ops; /* operations in all of them */
    int64_t blob_bytes;   /* weights stored inside the operation itself (IR before version 10) */
} berth_op;

/** to_port -1: a capture. Explicit edges come first, in file order, then captures. */
typedef struct berth_edge {
    int32_t from, to;
    int32_t from_port, to_port;
    int32_t tensor;
} berth_edge;

/**
 * Times given by the file itself (workload formats), in ms; sizes are in the file's own unit, mostly bytes. All numbers
 * are at least 0, and finite except where INFINITY is named below.
 */
typedef struct berth_given_costs {
    int32_t n_devices;
    const char *const *device_names; /* distinct */
    const double *op_ms;             /* [op * n_devices + device]; INFINITY: cannot run there */
    /* Transfers, see berth_given_edge_ms(): either edge_ms[(edge * n_devices + from) * n_devices + to], or
     * edge_amount[edge] and link_ms[from * n_devices + to] (INFINITY: no link), whose product is the time. The other
     * pointers are NULL. Edges that carry the same tensor are paid once per destination, not once per edge. */
    const double *edge_ms;
    const double *edge_amount;
    const double *link_ms;
    const double *op_memory; /* what an operation takes where it runs, or NULL */
    const double *capacity;  /* of each device, INFINITY if unlimited, or NULL */
    const int32_t *colour;   /* operations of equal colour share a device; 0, 1, ...; -1: free; or NULL */
    const bool *backward;    /* operation of a training backward pass, or NULL */
    int32_t max_cpus;        /* MSR: maxCPUs; else 0 */
} berth_given_costs;

typedef enum berth_format {
    BERTH_FORMAT_OTHER, /* built by a program */
    BERTH_FORMAT_OPENVINO_IR,
    BERTH_FORMAT_ONNX,
    BERTH_FORMAT_MSR,
    BERTH_FORMAT_MOIRAI,
    BERTH_FORMAT_DAGBENCH
} berth_format;

/** "openvino-ir", "onnx", "msr", "moirai", "dagbench" or "other". */
BERTH_API const char *berth_format_name(berth_format format);

BERTH_API void berth_graph_free(berth_graph *graph);

BERTH_API berth_format berth_graph_format(const berth_graph *graph);
/** The model's own name in the file; "" if it has none. */
BERTH_API const char *berth_graph_name(const berth_graph *graph);
/** IR version, ONNX opset of the default domain; 0 for workloads. */
BERTH_API int64_t berth_graph_version(const berth_graph *graph);
/** SHA-256 of what the model is (docs/formats.md), as 64 hexadecimal digits. */
BERTH_API const char *berth_graph_fingerprint(const berth_graph *graph);

BERTH_API int32_t berth_graph_op_count(const berth_graph *graph);
BERTH_API int32_t berth_graph_tensor_count(const berth_graph *graph);
/** Explicit edges (operation to operation, parallel ones counted). */
BERTH_API int32_t berth_graph_edge_count(const berth_graph *graph);
/** Values that nested graphs take from operations outside; their edges follow the explicit ones. */
BERTH_API int32_t berth_graph_capture_count(const berth_graph *graph);
/** Distinct (from, to) pairs among the explicit edges. */
BERTH_API int32_t berth_graph_pair_count(const berth_graph *graph);

BERTH_API const berth_op *berth_graph_op(const berth_graph *graph, int32_t op);
BERTH_API const berth_tensor *berth_graph_tensor(const berth_graph *graph, int32_t tensor);
/** Edges 0 .. edge_count - 1 are explicit, edge_count .. edge_count + capture_count - 1 are captures. */
BERTH_API const berth_edge *berth_graph_edge(const berth_graph *graph, int32_t edge);
/** Edge numbers that leave / enter an operation, captures included; the count goes to *n. */
BERTH_API const int32_t *berth_graph_out_edges(const berth_graph *graph, int32_t op, int32_t *n);
BERTH_API const int32_t *berth_graph_in_edges(const berth_graph *graph, int32_t op, int32_t *n);
/** Operations in topological order, and the position of each in it. */
BERTH_API const int32_t *berth_graph_order(const berth_graph *graph);
BERTH_API const int32_t *berth_graph_rank(const berth_graph *graph);
/** Tensors that are model inputs / outputs, in file order; the count goes to *n. */
BERTH_API const int32_t *berth_graph_inputs(const berth_graph *graph, int32_t *n);
BERTH_API const int32_t *berth_graph_outputs(const berth_graph *graph, int32_t *n);

/** The operation of that name, or -1 (the first one, where a file repeats a name). Linear in the worst case. */
BERTH_API int32_t berth_graph_find_op(const berth_graph *graph, const char *name);
/** The attribute of that name, or NULL. */
BERTH_API const berth_attribute *berth_op_attribute(const berth_op *op, const char *name);

/** Times given by the file, or NULL. */
BERTH_API const berth_given_costs *berth_graph_given_costs(const berth_graph *graph);
/** Time of an edge's tensor from one device to another: 0 on the same device, INFINITY where there is no link. */
BERTH_API double berth_given_edge_ms(const berth_given_costs *costs, int32_t edge, int32_t from, int32_t to);

/**
 * Check every invariant of the structure (indices, orders, CSR, flags), slowly and independently of the code that
 * built it. For tests, fuzzers and debug builds.
 * @return BERTH_OK; BERTH_E_FORMAT with the first violation in the message; BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_graph_check(berth_ctx *ctx, const berth_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
