/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of matrix products, recurrent cells and attention. Only the products are counted (2 x multiply-adds, and one
 * addition per output for the addend of Gemm): gates, scaling and softmax inside a cell or an attention are below a
 * percent of it. */
#include "graph/flops.h"

#include "graph/measure.h"

#include <math.h>
#include <string.h>

static double outputs_of(const berth_graph *graph, const berth_op *op) {
    berth_shape shape = berth_measure_output(graph, op, 0);
    return berth_measure_elements(&shape);
}

/* The dimension that a product sums over: the last of its first input, or the one before if that is transposed. */
static double inner_of(const berth_graph *graph, const berth_op *op) {
    berth_shape a = berth_measure_input(graph, op, 0);
    bool transposed = berth_measure_flag(op, "transA") || berth_measure_flag(op, "transpose_a");
    return berth_measure_dim(&a, transposed && a.rank > 1 ? -2 : -1);
}

double berth_flops_matmul(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)parameter;
    return 2 * outputs_of(graph, op) * inner_of(graph, op);
}

double berth_flops_gemm(const berth_graph *graph, const berth_op *op, int parameter) {
    bool adds = parameter < op->n_inputs && op->inputs[parameter] >= 0;
    return (2 * inner_of(graph, op) + adds) * outputs_of(graph, op);
}

double berth_flops_fully_connected(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)parameter;
    berth_shape data = berth_measure_input(graph, op, 0);
    return 2 * outputs_of(graph, op) * berth_measure_product(&data, 1, 0);
}

/* Every position of the input meets every weight of W and R once. */
double berth_flops_recurrent(const berth_graph *graph, const berth_op *op, int parameter) {
    berth_shape data = berth_measure_input(graph, op, 0);
    berth_shape w = berth_measure_input(graph, op, parameter), r = berth_measure_input(graph, op, parameter + 1);
    double weights = berth_measure_elements(&w) + berth_measure_elements(&r);
    if (isnan(weights) && op->blob_bytes > 0 && op->n_outputs > 0 && op->outputs[0] >= 0) {
        int bits = berth_type_bits(graph->tensors[op->outputs[0]].type);
        weights = bits > 0 ? (double)op->blob_bytes * 8 / bits : NAN;
    }
    return 2 * berth_measure_product(&data, 0, 1) * weights;
}

/* How many keys there are: what the cache holds afterwards where there is one, else what is read. */
static double count_keys(const berth_graph *graph, const berth_op *op, const berth_shape *query) {
    berth_shape cache = berth_measure_output(graph, op, 1), key = berth_measure_input(graph, op, 1);
    if (cache.rank == 4) return berth_measure_dim(&cache, 2);
    if (op->n_inputs < 2 || op->inputs[1] < 0) return berth_measure_dim(query, 1); /* packed with the queries */
    bool with_values = key.rank == 5 && query->rank == 3;                          /* [batch, length, heads, 2, size] */
    return berth_measure_dim(&key, with_values ? 1 : -2);
}

/* Queries are [batch, heads, length, size], or with the heads side by side [batch, length, heads x size]; an operation
 * may also pack queries, keys and values [batch, length, heads, 3, size]. Each meets every key and every value. */
double berth_flops_attention(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)parameter;
    berth_shape query = berth_measure_input(graph, op, 0), out = berth_measure_output(graph, op, 0);
    bool packed = op->n_inputs < 2 || op->inputs[1] < 0;
    double keys = count_keys(graph, op, &query), value_size = berth_measure_dim(&out, -1);
    double positions = packed ? berth_measure_product(&out, 0, 1) : berth_measure_product(&query, 0, 1);
    double query_size = packed ? value_size : berth_measure_dim(&query, -1);
    return 2 * positions * keys * (query_size + value_size);
}

/* The input is first multiplied with the weights of queries, keys and values side by side. */
double berth_flops_projected_attention(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)parameter;
    berth_shape data = berth_measure_input(graph, op, 0), weights = berth_measure_input(graph, op, 1);
    berth_shape out = berth_measure_output(graph, op, 0), cache = berth_measure_output(graph, op, 1);
    double positions = berth_measure_product(&data, 0, 1), value_size = berth_measure_dim(&out, -1);
    double key_size = (berth_measure_dim(&weights, -1) - value_size) / 2;
    double keys = cache.rank == 5 ? berth_measure_dim(&cache, 3) : berth_measure_dim(&data, 1);
    return 2 * positions * (berth_measure_elements(&weights) + keys * (key_size + value_size));
}

enum { N_LETTERS = 52 };

typedef struct einsum {
    double size[N_LETTERS]; /* of each index; the greatest, since those of size 1 are stretched */
    bool met[N_LETTERS];
    double dots; /* product of the dimensions under an ellipsis */
} einsum;

static int number_letter(char c) {
    if (c >= 'a' && c <= 'z') return c - 'a';
    return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

static void stretch(double *size, double other) {
    if (isnan(*size) || other > *size) *size = other;
}

/* One operand of the equation, up to a comma or the arrow. False if it does not fit the shape. */
static bool take_operand(einsum *sum, const char **text, const berth_shape *shape) {
    int32_t n_letters = 0, axis = 0;
    size_t n = strcspn(*text, ",-");
    const char *end = *text + n;
    for (const char *c = *text; c < end; c++) n_letters += number_letter(*c) >= 0;
    if (n_letters > shape->rank) return false;
    for (const char *c = *text; c < end; c++) {
        int letter = number_letter(*c);
        if (letter >= 0) {
            double size = axis < shape->rank ? berth_measure_dim(shape, axis++) : NAN;
            if (!sum->met[letter]) sum->size[letter] = size;
            sum->met[letter] = true;
            stretch(&sum->size[letter], size);
        } else if (strncmp(c, "...", 3) == 0) {
            double product = 1;
            for (int32_t i = n_letters; i < shape->rank; i++) product *= berth_measure_dim(shape, axis++);
            stretch(&sum->dots, product);
            c += 2;
        } else if (*c != ' ') {
            return false;
        }
    }
    *text = *end == ',' ? end + 1 : end;
    return axis == shape->rank;
}

/* The product over all indices, for each multiplication and, if an index is summed over, the addition. */
double berth_flops_einsum(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)parameter;
    const berth_attribute *equation = berth_op_attribute(op, "equation");
    if (!equation || equation->kind != BERTH_ATTRIBUTE_STRING) return NAN;
    einsum sum = {.dots = 1};
    const char *text = equation->string;
    for (int32_t i = 0; i < op->n_inputs; i++) {
        berth_shape shape = berth_measure_input(graph, op, i);
        if (!take_operand(&sum, &text, &shape)) return NAN;
    }
    double all = sum.dots, outputs = outputs_of(graph, op);
    for (int letter = 0; letter < N_LETTERS; letter++)
        if (sum.met[letter]) all *= sum.size[letter];
    if (isnan(outputs)) return NAN;
    return all * (op->n_inputs - 1 + (all > outputs));
}
