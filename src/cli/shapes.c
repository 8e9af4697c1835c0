/* SPDX-License-Identifier: Apache-2.0 */
/* Bindings of input shapes. The last '=' separates name and dimensions: a name may hold one, dimensions may not. */
#include "cli/shapes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1x3x224x224" into `dims`, of which `room` are free, and what stands behind it. Returns the rank, or -1. */
static int32_t parse_dims(const char *text, int64_t *dims, int32_t room, const char **rest) {
    for (int32_t rank = 0; rank < room && rank < BERTH_MAX_RANK;) {
        char *end = NULL;
        errno = 0;
        long long dim = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
        if (dim < 0 || errno != 0) return -1;
        dims[rank++] = dim;
        *rest = end;
        if (*end == '\0' || *end == '@') return rank;
        if (*end != 'x') return -1;
        text = end + 1;
    }
    return -1;
}

/* Behind a shape: nothing, or "@0.3". */
static bool parse_weight(const char *text, bool weighted, double *weight) {
    char *end = NULL;
    *weight = NAN;
    if (*text == '\0') return true;
    if (!weighted) return false;
    *weight = strtod(text + 1, &end);
    return end != text + 1 && *end == '\0' && *weight > 0 && *weight < INFINITY;
}

static bool add_shape(cli_shapes *shapes, const char *value, bool weighted, char *message, size_t size) {
    const char *equals = strrchr(value, '=');
    if (!equals || equals == value) {
        snprintf(message, size, "--shape needs NAME=1x3x224x224, not '%.100s'", value);
        return false;
    }
    size_t name_size = (size_t)(equals - value);
    if (shapes->n == CLI_MAX_SHAPES || name_size >= (size_t)(CLI_MAX_NAMES - shapes->n_names)) {
        snprintf(message, size, "too many --shape options");
        return false;
    }
    const char *rest = NULL;
    int32_t rank = parse_dims(equals + 1, shapes->dims + shapes->n_dims, CLI_MAX_DIMS - shapes->n_dims, &rest);
    if (rank < 0 || !parse_weight(rest, weighted, &shapes->weights[shapes->n])) {
        snprintf(message, size, "--shape %.100s: '%.100s' is no shape such as 1x3x224x224", value, equals + 1);
        return false;
    }
    char *name = shapes->names + shapes->n_names;
    memcpy(name, value, name_size);
    shapes->bindings[shapes->n++] = (berth_shape_binding){name, rank, shapes->dims + shapes->n_dims};
    shapes->n_dims += rank;
    shapes->n_names += (int32_t)name_size + 1;
    return true;
}

static bool parse(cli_shapes *shapes, const cli_list *values, bool weighted, char *message, size_t size) {
    cli_scan at = values->start;
    for (const char *value; (value = cli_list_next(values, &at));)
        if (!add_shape(shapes, value, weighted, message, size)) return false;
    return true;
}

bool cli_shapes_parse(cli_shapes *shapes, const cli_list *values, char *message, size_t size) {
    return parse(shapes, values, false, message, size);
}

/* --- cases ------------------------------------------------------------------------------------------------------ */

/* How many shapes an input has, or how many before number `end`. */
static int32_t count(const cli_shapes *shapes, const char *input, int32_t end) {
    int32_t n = 0;
    for (int32_t i = 0; i < end; i++) n += strcmp(shapes->bindings[i].input, input) == 0;
    return n;
}

static bool take_case(cli_cases *cases, const cli_shapes *shapes, int32_t k, char *message, size_t size) {
    double weight = NAN;
    int32_t at = cases->start[k];
    for (int32_t i = 0; i < shapes->n; i++) {
        const berth_shape_binding *binding = &shapes->bindings[i];
        bool is_only = count(shapes, binding->input, shapes->n) == 1;
        if (!is_only && count(shapes, binding->input, i) != k) continue;
        if (at == CLI_MAX_SHAPES) {
            snprintf(message, size, "too many --shape options");
            return false;
        }
        cases->bindings[at++] = *binding;
        double said = is_only && cases->n > 1 ? NAN : shapes->weights[i];
        if (!isnan(weight) && !isnan(said) && weight != said) {
            snprintf(message, size, "--shape: the shapes of one case have weights %g and %g", weight, said);
            return false;
        }
        if (!isnan(said)) weight = said;
    }
    cases->start[k + 1] = at;
    cases->weight[k] = isnan(weight) ? 1 : weight;
    return true;
}

/* Only the ratios of weights matter. By a power of two, so that nothing is rounded, they come to where no sum of them
 * overflows; what vanishes there would not count at all. */
static bool scale_weights(cli_cases *cases, char *message, size_t size) {
    double largest = 0, sum = 0;
    int exponent = 0;
    for (int32_t k = 0; k < cases->n; k++) largest = fmax(largest, cases->weight[k]);
    frexp(largest, &exponent);
    for (int32_t k = 0; k < cases->n; k++) sum += ldexp(cases->weight[k], -exponent);
    for (int32_t k = 0; k < cases->n; k++) {
        double weight = ldexp(cases->weight[k], -exponent);
        if (!(weight / sum > 0)) {
            snprintf(message, size, "--shape: a weight of %g is nothing beside one of %g", cases->weight[k], largest);
            return false;
        }
        cases->weight[k] = weight;
    }
    return true;
}

bool cli_cases_parse(cli_cases *cases, cli_shapes *shapes, const cli_list *values, char *message, size_t size) {
    if (!parse(shapes, values, true, message, size)) return false;
    cases->n = 1;
    for (int32_t i = 0; i < shapes->n; i++) {
        int32_t n = count(shapes, shapes->bindings[i].input, shapes->n);
        if (n > 1 && cases->n > 1 && n != cases->n) {
            snprintf(message, size, "--shape: '%.100s' has %d shapes, and another input %d", shapes->bindings[i].input,
                     (int)n, (int)cases->n);
            return false;
        }
        if (n > 1) cases->n = n;
    }
    if (cases->n > CLI_MAX_CASES) {
        snprintf(message, size, "--shape: more than %d shapes of one input", CLI_MAX_CASES);
        return false;
    }
    for (int32_t k = 0; k < cases->n; k++)
        if (!take_case(cases, shapes, k, message, size)) return false;
    return scale_weights(cases, message, size);
}
