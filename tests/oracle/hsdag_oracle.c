/* SPDX-License-Identifier: Apache-2.0 */
/* hsdag_oracle FIXTURE.json: is our network the published one?
 *
 * A fixture is a list of named tensors, {"name", "shape", "offset"}, whose numbers stand in FIXTURE.f64 beside it as
 * little-endian doubles: an input, a graph, parameters by their PyTorch names, and for each of `one_round` (parsing
 * stopped after one round) and `recursive` everything that the published network computed on the way, dropout off, with
 * the gradients of its loss, -1.7 x the sum of the log-probabilities of the actions. Widths, layers and devices are
 * read off the shapes. The same program takes a list of parser cases, {"nodes", "pairs", "score", ...}.
 *
 * Compared in double precision: max |a - b| <= 1e-9 x max |b| for every recorded tensor, 1e-8 for every gradient;
 * integers exactly; nu of parser cases to 1e-12. Exit status: 0 all agree, 1 something does not, 2 usage, 3 no valid
 * fixture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "policy/head.h"

_Static_assert(sizeof(berth_real) == sizeof(double), "built with BERTH_REAL_DOUBLE");

enum { AGREES = 0, DIFFERS = 1, USAGE = 2, BAD_FIXTURE = 3 };

typedef struct tensor {
    const char *name;
    int32_t n_dims, rows, cols; /* a list is a row */
    const double *value;
} tensor;

/* A group of tensors in the report. */
typedef struct group {
    const char *name;
    double tolerance; /* 0: exactly */
    int n_tensors, n_bad;
    double worst;
} group;

enum { N_GROUPS = 14 };
static const group no_groups[N_GROUPS] = {
    {"input_trans", 1e-9, 0, 0, 0}, {"pairs", 0, 0, 0, 0},          {"z", 1e-9, 0, 0, 0},
    {"score", 1e-9, 0, 0, 0},       {"community", 0, 0, 0, 0},      {"nu", 1e-9, 0, 0, 0},
    {"lambda", 0, 0, 0, 0},         {"h", 1e-9, 0, 0, 0},           {"cluster_of_group", 0, 0, 0, 0},
    {"F", 1e-9, 0, 0, 0},           {"probability", 1e-9, 0, 0, 0}, {"log_probability", 1e-9, 0, 0, 0},
    {"loss", 1e-9, 0, 0, 0},        {"grad", 1e-8, 0, 0, 0},
};

typedef struct oracle {
    berth_ctx *ctx;
    berth_arena arena;
    const char *path;
    tensor *tensors;
    int32_t n_tensors;
    berth_map by_name;
    berth_params params;
    berth_gpn gpn;
    berth_head head;
    int32_t n_devices;
    group groups[N_GROUPS];
} oracle;

/* --- reading ---------------------------------------------------------------------------------------------------- */

static berth_status bad(oracle *o, const char *name, const char *what) {
    return berth_fail(o->ctx, BERTH_E_FORMAT, "%.200s: tensor %.100s %s", o->path, name, what);
}

static berth_status read_shape(oracle *o, const berth_json *shape, tensor *t) {
    int64_t dims[2] = {1, 1};
    if (shape->count < 1 || shape->count > 2) return bad(o, t->name, "must have one or two dimensions");
    int first = 2 - shape->count;
    t->n_dims = shape->count;
    for (const berth_json *d = shape->child; d; d = d->next) {
        if (d->kind != BERTH_JSON_NUMBER || !d->is_integer || d->integer < 0 || d->integer > INT32_MAX)
            return bad(o, t->name, "has a dimension that is no size");
        dims[first++] = d->integer;
    }
    t->rows = (int32_t)dims[0];
    t->cols = (int32_t)dims[1];
    return BERTH_OK;
}

/* The numbers lie in memory as they do in the file, but for the order of their bytes. */
static const double *read_numbers(oracle *o, const char *bytes, size_t n) {
    double *numbers = berth_arena_push(&o->arena, n + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++) {
        uint64_t bits = 0;
        for (int k = 7; k >= 0; k--) bits = bits << 8 | (unsigned char)bytes[8 * i + (size_t)k];
        memcpy(&numbers[i], &bits, sizeof bits);
    }
    return numbers;
}

static berth_status read_tensors(oracle *o, const berth_json *root) {
    const char *bytes = NULL, *dot = strrchr(o->path, '.');
    size_t size = 0;
    char *beside = berth_arena_printf(&o->arena, "%.*s.f64", (int)(dot ? dot - o->path : 0), o->path);
    if (!beside) return berth_fail_nomem(o->ctx);
    BERTH_TRY(berth_file_read(o->ctx, &o->arena, beside, (size_t)1 << 32, &bytes, &size));
    if (size % 8 != 0) return berth_fail(o->ctx, BERTH_E_FORMAT, "%.200s: not a whole number of doubles", beside);
    const double *numbers = read_numbers(o, bytes, size / 8);
    o->tensors = berth_arena_push(&o->arena, (size_t)root->count, sizeof *o->tensors);
    if (o->arena.failed) return berth_fail_nomem(o->ctx);
    for (const berth_json *item = root->child; item; item = item->next) {
        tensor *t = &o->tensors[o->n_tensors];
        const berth_json *shape = NULL;
        int64_t offset = 0;
        bool is_new = false;
        BERTH_TRY(berth_json_want_string(o->ctx, o->path, item, "name", &t->name));
        BERTH_TRY(berth_json_want(o->ctx, o->path, item, "shape", BERTH_JSON_ARRAY, &shape));
        BERTH_TRY(berth_json_want_integer(o->ctx, o->path, item, "offset", 0, (int64_t)(size / 8), &offset));
        BERTH_TRY(read_shape(o, shape, t));
        if ((double)t->rows * t->cols > (double)(size / 8) - (double)offset)
            return bad(o, t->name, "reaches beyond the numbers");
        t->value = numbers + offset;
        for (int64_t i = 0; i < (int64_t)t->rows * t->cols; i++)
            if (!isfinite(t->value[i])) return bad(o, t->name, "holds what is no number");
        if (!berth_map_insert(&o->by_name, t->name, strlen(t->name), o->n_tensors, &is_new))
            return berth_fail_nomem(o->ctx);
        if (!is_new) return bad(o, t->name, "stands there twice");
        o->n_tensors++;
    }
    return BERTH_OK;
}

static const tensor *find(const oracle *o, const char *name) {
    const int32_t *index = berth_map_find(&o->by_name, name, strlen(name));
    return index ? &o->tensors[*index] : NULL;
}

static berth_status want(oracle *o, const char *name, const tensor **out) {
    *out = find(o, name);
    return *out ? BERTH_OK : bad(o, name, "is missing");
}

/* --- the network of the fixture --------------------------------------------------------------------------------- */

/* How many PREFIX*.weight there are: matrices of layers (2 dimensions) or rows of norms (1). */
static int32_t count_weights(const oracle *o, const char *prefix, int32_t n_dims) {
    int32_t n = 0;
    for (int32_t i = 0; i < o->n_tensors; i++) {
        const tensor *t = &o->tensors[i];
        size_t size = strlen(t->name), suffix = strlen(".weight");
        if (strncmp(t->name, prefix, strlen(prefix)) != 0 || size < suffix || t->n_dims != n_dims) continue;
        n += strcmp(t->name + size - suffix, ".weight") == 0;
    }
    return n;
}

static berth_status read_options(oracle *o, berth_gpn_options *out) {
    const tensor *x, *first;
    BERTH_TRY(want(o, "x", &x));
    BERTH_TRY(want(o, "param.gpnn.input_trans.mlp.0.weight", &first));
    *out = berth_gpn_options_paper(x->cols);
    out->layer_trans = count_weights(o, "param.gpnn.input_trans.mlp.", 2);
    out->layer_gnn1 = count_weights(o, "param.gpnn.gnn1.gnn.", 2);
    out->layer_gnn2 = count_weights(o, "param.gpnn.gnn2.gnn.", 2);
    out->layer_deepsets = count_weights(o, "param.gpnn.deepsets_pre.mlp.", 2);
    out->layer_parsingnet = count_weights(o, "param.gpnn.parsing_net.edge_net.mlp.", 2);
    /* One layer alone has no norm to tell it by; the published network has activations. */
    int32_t n_norms = count_weights(o, "param.gpnn.input_trans.mlp.", 1);
    out->act_final = out->layer_trans < 2 || n_norms == out->layer_trans;
    out->hidden = first->rows;
    out->dropout_network = 0;
    if (out->layer_trans > BERTH_MAX_LAYERS || out->layer_gnn1 > BERTH_MAX_LAYERS ||
        out->layer_gnn2 > BERTH_MAX_LAYERS || out->layer_deepsets > BERTH_MAX_LAYERS ||
        out->layer_parsingnet > BERTH_MAX_LAYERS || out->layer_parsingnet < 1 || out->hidden < 1 || out->width < 1)
        return berth_fail(o->ctx, BERTH_E_FORMAT, "%.200s: no network of the shape that its parameters have", o->path);
    return BERTH_OK;
}

static berth_status build_network(oracle *o) {
    berth_gpn_options options;
    const tensor *hidden, *devices;
    int32_t n_recorded = 0;
    BERTH_TRY(read_options(o, &options));
    BERTH_TRY(want(o, "param.classifier.0.weight", &hidden));
    BERTH_TRY(want(o, "param.classifier.2.weight", &devices));
    if (hidden->rows < 1 || devices->rows < 1) return bad(o, "param.classifier", "is empty");
    o->n_devices = devices->rows;
    if (!berth_gpn_declare(&o->gpn, &o->params, &options) ||
        !berth_head_declare(&o->head, &o->params, options.width, hidden->rows, devices->rows))
        return berth_fail_nomem(o->ctx);
    BERTH_TRY(berth_params_fix(&o->params));
    for (int32_t i = 0; i < o->params.n_items; i++) {
        berth_param *param = &o->params.items[i];
        const tensor *t;
        char name[80];
        snprintf(name, sizeof name, "param.%s", param->name);
        BERTH_TRY(want(o, name, &t));
        if (t->rows != param->tensor.rows || t->cols != param->tensor.cols) return bad(o, name, "has another shape");
        memcpy(param->tensor.value, t->value, (size_t)t->rows * (size_t)t->cols * sizeof *t->value);
    }
    for (int32_t i = 0; i < o->n_tensors; i++) n_recorded += strncmp(o->tensors[i].name, "param.", 6) == 0;
    if (n_recorded != o->params.n_items)
        return berth_fail(o->ctx, BERTH_E_FORMAT, "%.200s: %d parameters, where a network of that shape has %d",
                          o->path, (int)n_recorded, (int)o->params.n_items);
    return BERTH_OK;
}

static berth_status read_links(oracle *o, const tensor *x, berth_links *out) {
    const tensor *edges;
    BERTH_TRY(want(o, "group_edges", &edges));
    if (edges->rows > 0 && edges->cols != 2) return bad(o, "group_edges", "must have two columns");
    int32_t *from = berth_arena_push(&o->arena, (size_t)edges->rows, sizeof *from);
    int32_t *to = berth_arena_push(&o->arena, (size_t)edges->rows, sizeof *to);
    if (o->arena.failed) return berth_fail_nomem(o->ctx);
    for (int32_t i = 0; i < edges->rows; i++) {
        const double *pair = edges->value + 2 * (size_t)i;
        if (!(pair[0] >= 0 && pair[0] < x->rows && pair[1] >= 0 && pair[1] < x->rows))
            return bad(o, "group_edges", "names a node that is not there");
        from[i] = (int32_t)pair[0];
        to[i] = (int32_t)pair[1];
        if (from[i] != pair[0] || to[i] != pair[1]) return bad(o, "group_edges", "holds what is no whole number");
    }
    if (!berth_links_build(&o->arena, x->rows, edges->rows, from, to, 1, NULL, out)) return berth_fail_nomem(o->ctx);
    return BERTH_OK;
}

/* --- comparing -------------------------------------------------------------------------------------------------- */

static group *find_group(oracle *o, const char *name) {
    for (int i = 0; i < N_GROUPS; i++)
        if (strcmp(o->groups[i].name, name) == 0) return &o->groups[i];
    return NULL;
}

static void report(group *g, const char *name, double error) {
    bool ok = g->tolerance > 0 ? error <= g->tolerance : error == 0;
    g->n_tensors++;
    if (!(error <= g->worst)) g->worst = error;
    if (ok) return;
    g->n_bad++;
    printf("%s: error %.3g, at most %.3g allowed\n", name, error, g->tolerance);
}

/* max |a - b| / max |b|; integers: max |a - b|. INFINITY if sizes differ. */
static double error_of(const tensor *want_t, int64_t n, const double *got, bool exact) {
    double most = 0, off = 0;
    if ((int64_t)want_t->rows * want_t->cols != n) return INFINITY;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(want_t->value[i]));
        if (!(fabs(got[i] - want_t->value[i]) <= off)) off = fabs(got[i] - want_t->value[i]);
    }
    return exact || off == 0 ? off : off / most;
}

static void compare(oracle *o, const tensor *t, const char *group_name, int64_t n, const double *got) {
    group *g = find_group(o, group_name);
    report(g, t->name, error_of(t, n, got, g->tolerance == 0));
}

static void compare_matrix(oracle *o, const tensor *t, const char *group_name, const berth_matrix *got) {
    compare(o, t, group_name, (int64_t)got->rows * got->cols, got->value);
}

static bool compare_integers(oracle *o, const tensor *t, const char *group_name, int64_t n, const int32_t *got) {
    double *numbers = berth_arena_push(&o->arena, (size_t)n, sizeof *numbers);
    for (int64_t i = 0; numbers && i < n; i++) numbers[i] = got[i];
    if (numbers) compare(o, t, group_name, n, numbers);
    return numbers != NULL;
}

static bool compare_pairs(oracle *o, const tensor *t, const berth_links *links) {
    int32_t *pairs = berth_arena_push(&o->arena, 2 * (size_t)links->n_pairs, sizeof *pairs);
    for (int32_t i = 0; pairs && i < links->n_pairs; i++) {
        pairs[2 * i] = links->source[i];
        pairs[2 * i + 1] = links->target[i];
    }
    return pairs && compare_integers(o, t, "pairs", 2 * (int64_t)links->n_pairs, pairs);
}

static bool compare_lambda(oracle *o, const tensor *t, const berth_parsed *parsed) {
    double *lambda = berth_arena_push(&o->arena, (size_t)parsed->n_communities, sizeof *lambda);
    for (int32_t c = 0; lambda && c < parsed->n_communities; c++) lambda[c] = berth_parsed_lambda(parsed, c);
    if (lambda) compare(o, t, "lambda", parsed->n_communities, lambda);
    return lambda != NULL;
}

/* What is recorded of a round under `what`. */
static berth_status compare_round(oracle *o, const tensor *t, const berth_gpn_pass *pass, long number,
                                  const char *what) {
    const berth_gpn_round *round = pass->rounds;
    bool ok = true;
    for (long i = 1; i < number && round; i++) round = round->next;
    if (number < 1) return bad(o, t->name, "is not known here");
    if (!round) {
        group *g = find_group(o, what);
        if (!g) return bad(o, t->name, "is not known here");
        report(g, t->name, INFINITY); /* a round more than we made */
        return BERTH_OK;
    }
    if (strcmp(what, "pairs") == 0)
        ok = compare_pairs(o, t, &round->links);
    else if (strcmp(what, "z") == 0)
        compare_matrix(o, t, "z", round->z);
    else if (strcmp(what, "score") == 0)
        compare_matrix(o, t, "score", round->score);
    else if (strcmp(what, "community") == 0)
        ok = compare_integers(o, t, "community", round->links.n_nodes, round->parsed.community);
    else if (strcmp(what, "nu") == 0)
        compare_matrix(o, t, "nu", round->nu);
    else if (strcmp(what, "lambda") == 0)
        ok = compare_lambda(o, t, &round->parsed);
    else if (strcmp(what, "h") == 0)
        compare_matrix(o, t, "h", round->h);
    else
        return bad(o, t->name, "is not known here");
    return ok ? BERTH_OK : berth_fail_nomem(o->ctx);
}

typedef struct outcome {
    const char *section;
    berth_gpn_pass pass;
    berth_matrix *log_p, *chosen, *loss;
    int32_t n_rounds_recorded;
} outcome;

static bool compare_probability(oracle *o, const tensor *t, const berth_matrix *log_p) {
    int64_t n = (int64_t)log_p->rows * log_p->cols;
    double *p = berth_arena_push(&o->arena, (size_t)n, sizeof *p);
    for (int64_t i = 0; p && i < n; i++) p[i] = exp(log_p->value[i]);
    if (p) compare(o, t, "probability", n, p);
    return p != NULL;
}

static berth_status compare_one(oracle *o, const tensor *t, outcome *out, const char *what) {
    char *rest = NULL;
    bool ok = true;
    if (strncmp(what, "round", 5) == 0) {
        long number = strtol(what + 5, &rest, 10);
        if (*rest != '.') return bad(o, t->name, "is not known here");
        if (number > out->n_rounds_recorded) out->n_rounds_recorded = (int32_t)number;
        return compare_round(o, t, &out->pass, number, rest + 1);
    }
    if (strncmp(what, "grad.", 5) == 0) {
        const berth_matrix *param = berth_params_find(&o->params, what + 5);
        if (!param) return bad(o, t->name, "is not known here");
        compare(o, t, "grad", (int64_t)param->rows * param->cols, param->grad);
    } else if (strcmp(what, "input_trans") == 0) {
        compare_matrix(o, t, what, out->pass.start);
    } else if (strcmp(what, "cluster_of_group") == 0) {
        ok = compare_integers(o, t, what, out->pass.start->rows, out->pass.cluster_of);
    } else if (strcmp(what, "F") == 0) {
        compare_matrix(o, t, what, out->pass.f);
    } else if (strcmp(what, "probability") == 0) {
        ok = compare_probability(o, t, out->log_p);
    } else if (strcmp(what, "log_probability") == 0) {
        compare_matrix(o, t, what, out->chosen);
    } else if (strcmp(what, "loss") == 0) {
        compare_matrix(o, t, what, out->loss);
    } else {
        return bad(o, t->name, "is not known here");
    }
    return ok ? BERTH_OK : berth_fail_nomem(o->ctx);
}

/* --- sections --------------------------------------------------------------------------------------------------- */

/* The action of a cluster is its number mod 2; on a record of other than two devices perhaps mod their number, which
 * the recorded log-probabilities tell. */
static int32_t modulus_of(oracle *o, const outcome *out) {
    char name[80];
    snprintf(name, sizeof name, "%s.log_probability", out->section);
    const tensor *t = find(o, name);
    int32_t n = o->n_devices, rows = out->log_p->rows;
    if (n <= 2 || !t || t->rows * t->cols != rows) return n < 2 ? 1 : 2;
    for (int32_t c = 0; c < rows; c++)
        if (fabs(out->log_p->value[c * n + c % 2] - t->value[c]) > 1e-9 * fabs(t->value[c])) return n;
    return 2;
}

static berth_status compute(oracle *o, berth_tape *tape, const tensor *x, const berth_links *links, outcome *out) {
    berth_run run = {.tape = tape, .params = &o->params};
    berth_matrix *input = berth_input(tape, x->value, x->rows, x->cols);
    o->gpn.options.max_rounds = strcmp(out->section, "one_round") == 0 ? 1 : 0;
    BERTH_TRY(berth_gpn_forward(o->ctx, &o->gpn, run, &o->arena, input, links, NULL, &out->pass));
    out->log_p = berth_head_forward(&o->head, &run, out->pass.f, NULL);
    int32_t *action = berth_arena_push(&o->arena, (size_t)out->pass.n_clusters, sizeof *action);
    if (!out->log_p || !action) return berth_fail_nomem(o->ctx);
    int32_t modulus = modulus_of(o, out);
    for (int32_t c = 0; c < out->pass.n_clusters; c++) action[c] = c % modulus;
    out->chosen = berth_pick(tape, out->log_p, action);
    out->loss = berth_scale(tape, berth_sum(tape, out->chosen), -1.7);
    berth_params_zero_grad(&o->params);
    return berth_tape_backward(tape, out->loss);
}

static bool print_groups(const oracle *o, const char *section) {
    bool ok = true;
    for (int i = 0; i < N_GROUPS; i++) {
        const group *g = &o->groups[i];
        if (g->n_tensors == 0) continue;
        printf("%-10s %-16s %3d tensor%s  largest error %-9.3g %s\n", section, g->name, g->n_tensors,
               g->n_tensors == 1 ? " " : "s", g->worst, g->n_bad == 0 ? "ok" : "DIFFERS");
        ok = ok && g->n_bad == 0;
    }
    return ok;
}

static berth_status check_section(oracle *o, berth_tape *tape, const tensor *x, const berth_links *links,
                                  const char *section, bool *ok) {
    outcome out = {.section = section};
    size_t size = strlen(section);
    memcpy(o->groups, no_groups, sizeof no_groups);
    BERTH_TRY(compute(o, tape, x, links, &out));
    int n = 0;
    for (int32_t i = 0; i < o->n_tensors; i++) {
        const tensor *t = &o->tensors[i];
        if (strncmp(t->name, section, size) != 0 || t->name[size] != '.') continue;
        BERTH_TRY(compare_one(o, t, &out, t->name + size + 1));
        n++;
    }
    if (n == 0) return bad(o, section, "is missing");
    if (!print_groups(o, section)) *ok = false;
    if (out.n_rounds_recorded != out.pass.n_rounds) {
        printf("%s: %d rounds, %d recorded\n", section, (int)out.pass.n_rounds, (int)out.n_rounds_recorded);
        *ok = false;
    }
    berth_tape_clear(tape);
    return BERTH_OK;
}

static berth_status check_network(oracle *o, const berth_json *root, bool *ok) {
    static const char *const sections[] = {"one_round", "recursive"};
    const tensor *x;
    berth_links links;
    berth_tape *tape = NULL;
    BERTH_TRY(read_tensors(o, root));
    BERTH_TRY(build_network(o));
    BERTH_TRY(want(o, "x", &x));
    if (x->rows < 1) return bad(o, "x", "has no rows");
    BERTH_TRY(read_links(o, x, &links));
    for (int32_t i = 0; i < o->n_tensors; i++) {
        static const char *const known[] = {"x", "group_edges", "param.", "one_round.", "recursive."};
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known |= strncmp(o->tensors[i].name, known[k], strlen(known[k])) == 0;
        if (!is_known) return bad(o, o->tensors[i].name, "is not known here");
    }
    printf("%d nodes, %d links, width %d, hidden %d, %d devices, %zu parameters\n", (int)x->rows,
           (int)links.n_pairs / 2, (int)x->cols, (int)o->gpn.options.hidden, (int)o->n_devices, o->params.n);
    berth_status status = berth_tape_new(o->ctx, &tape);
    for (int i = 0; i < 2 && status == BERTH_OK; i++) status = check_section(o, tape, x, &links, sections[i], ok);
    berth_tape_free(tape);
    return status;
}

/* --- parser cases ----------------------------------------------------------------------------------------------- */

typedef struct parse_case {
    int32_t n_nodes, n_pairs;
    int32_t *from, *to, *start;
    double *score;
} parse_case;

static berth_status want_list(oracle *o, const berth_json *item, const char *key, const berth_json **out) {
    return berth_json_want(o->ctx, o->path, item, key, BERTH_JSON_ARRAY, out);
}

static berth_status bad_case(oracle *o, const berth_json *item, const char *what) {
    return berth_fail(o->ctx, BERTH_E_FORMAT, "%.200s:%d: %s", o->path, (int)item->line, what);
}

/* A list of pairs of numbers below `limit`. */
static berth_status read_pair_list(oracle *o, const berth_json *list, int64_t limit, int32_t *from, int32_t *to) {
    int32_t n = 0;
    for (const berth_json *pair = list->child; pair; pair = pair->next, n++) {
        if (pair->kind != BERTH_JSON_ARRAY || pair->count != 2) return bad_case(o, pair, "not a pair");
        const berth_json *a = pair->child, *b = a->next;
        if (a->kind != BERTH_JSON_NUMBER || b->kind != BERTH_JSON_NUMBER || !a->is_integer || !b->is_integer ||
            a->integer < 0 || b->integer < 0 || a->integer >= limit || b->integer >= limit)
            return bad_case(o, pair, "not a pair of nodes");
        from[n] = (int32_t)a->integer;
        to[n] = (int32_t)b->integer;
    }
    return BERTH_OK;
}

static berth_status read_number_list(oracle *o, const berth_json *list, double *out) {
    int32_t n = 0;
    for (const berth_json *item = list->child; item; item = item->next) {
        if (item->kind != BERTH_JSON_NUMBER) return bad_case(o, item, "not a number");
        out[n++] = item->number;
    }
    return BERTH_OK;
}

static bool has_pair(const parse_case *c, int32_t from, int32_t to) {
    int32_t low = c->start[from], high = c->start[from + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (c->to[middle] == to) return true;
        if (c->to[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static berth_status read_case(oracle *o, const berth_json *item, parse_case *c) {
    const berth_json *pairs, *score;
    int64_t nodes = 0;
    BERTH_TRY(berth_json_want_integer(o->ctx, o->path, item, "nodes", 0, 1 << 28, &nodes));
    BERTH_TRY(want_list(o, item, "pairs", &pairs));
    BERTH_TRY(want_list(o, item, "score", &score));
    c->n_nodes = (int32_t)nodes;
    c->n_pairs = pairs->count;
    c->from = berth_arena_push(&o->arena, (size_t)pairs->count, sizeof *c->from);
    c->to = berth_arena_push(&o->arena, (size_t)pairs->count, sizeof *c->to);
    c->score = berth_arena_push(&o->arena, (size_t)score->count, sizeof *c->score);
    c->start = berth_arena_push(&o->arena, (size_t)nodes + 1, sizeof *c->start);
    if (o->arena.failed) return berth_fail_nomem(o->ctx);
    if (score->count != pairs->count) return bad_case(o, score, "not one score per pair");
    BERTH_TRY(read_pair_list(o, pairs, nodes, c->from, c->to));
    BERTH_TRY(read_number_list(o, score, c->score));
    for (int32_t e = 0; e < c->n_pairs; e++) {
        c->start[c->from[e] + 1]++;
        bool sorted =
            e == 0 || c->from[e - 1] < c->from[e] || (c->from[e - 1] == c->from[e] && c->to[e - 1] < c->to[e]);
        if (!sorted) return bad_case(o, pairs, "pairs are not sorted");
    }
    for (int32_t v = 0; v < c->n_nodes; v++) c->start[v + 1] += c->start[v];
    for (int32_t e = 0; e < c->n_pairs; e++)
        if (!has_pair(c, c->to[e], c->from[e])) return bad_case(o, pairs, "a pair does not stand both ways");
    return BERTH_OK;
}

/* Whether a list of integers is the given one. */
static berth_status same_integers(oracle *o, const berth_json *list, int32_t n, const int32_t *got, bool *same) {
    double *wanted = berth_arena_push(&o->arena, (size_t)list->count, sizeof *wanted);
    if (!wanted) return berth_fail_nomem(o->ctx);
    BERTH_TRY(read_number_list(o, list, wanted));
    *same = list->count == n;
    for (int32_t i = 0; *same && i < n; i++) *same = wanted[i] == got[i];
    return BERTH_OK;
}

static berth_status same_weights(oracle *o, const berth_json *item, const parse_case *c, const berth_parsed *got,
                                 bool *same) {
    const berth_json *nu, *lambda;
    BERTH_TRY(want_list(o, item, "nu", &nu));
    BERTH_TRY(want_list(o, item, "lambda", &lambda));
    double *numbers = berth_arena_push(&o->arena, (size_t)(nu->count + lambda->count), sizeof *numbers);
    if (!numbers) return berth_fail_nomem(o->ctx);
    BERTH_TRY(read_number_list(o, nu, numbers));
    BERTH_TRY(read_number_list(o, lambda, numbers + nu->count));
    *same = nu->count == got->n_communities && lambda->count == got->n_communities;
    for (int32_t k = 0; *same && k < got->n_communities; k++)
        *same = fabs(berth_parsed_nu(got, c->score, k) - numbers[k]) <= 1e-12 * fabs(numbers[k]) &&
                berth_parsed_lambda(got, k) == numbers[nu->count + k];
    return BERTH_OK;
}

static berth_status same_pooled(oracle *o, const berth_json *item, const berth_links *got, bool *same) {
    const berth_json *pooled;
    BERTH_TRY(want_list(o, item, "pooled", &pooled));
    int32_t *from = berth_arena_push(&o->arena, (size_t)pooled->count, sizeof *from);
    int32_t *to = berth_arena_push(&o->arena, (size_t)pooled->count, sizeof *to);
    if (o->arena.failed) return berth_fail_nomem(o->ctx);
    BERTH_TRY(read_pair_list(o, pooled, INT32_MAX, from, to));
    *same = pooled->count == got->n_pairs;
    for (int32_t e = 0; *same && e < got->n_pairs; e++) *same = from[e] == got->source[e] && to[e] == got->target[e];
    return BERTH_OK;
}

static berth_status check_case(oracle *o, const berth_json *item, int number, int *n_bad) {
    static const char *const names[] = {"community", "pooled", "nu or lambda"};
    const berth_json *community;
    bool same[3] = {false, false, false};
    parse_case c;
    berth_parsed got;
    BERTH_TRY(read_case(o, item, &c));
    BERTH_TRY(want_list(o, item, "community", &community));
    int32_t graph_start[2] = {0, c.n_nodes};
    berth_scored scored = {c.n_nodes, c.n_pairs, 1, c.start, c.to, graph_start, c.score};
    if (!berth_parse(&o->arena, &scored, &got)) return berth_fail_nomem(o->ctx);
    BERTH_TRY(same_integers(o, community, c.n_nodes, got.community, &same[0]));
    BERTH_TRY(same_pooled(o, item, &got.pooled, &same[1]));
    BERTH_TRY(same_weights(o, item, &c, &got, &same[2]));
    for (int i = 0; i < 3; i++)
        if (!same[i]) printf("case %d: %s differs\n", number, names[i]);
    *n_bad += !(same[0] && same[1] && same[2]);
    return BERTH_OK;
}

static berth_status check_cases(oracle *o, const berth_json *root, bool *ok) {
    int n = 0, n_bad = 0;
    for (const berth_json *item = root->child; item; item = item->next) BERTH_TRY(check_case(o, item, ++n, &n_bad));
    printf("parser     %d cases, %d differ\n", n, n_bad);
    *ok = n_bad == 0;
    return BERTH_OK;
}

/* --- the program ------------------------------------------------------------------------------------------------ */

static berth_status check(oracle *o, bool *ok) {
    const char *bytes = NULL;
    const berth_json *root = NULL;
    size_t size = 0;
    BERTH_TRY(berth_file_read(o->ctx, &o->arena, o->path, (size_t)1 << 30, &bytes, &size));
    BERTH_TRY(berth_json_parse(o->ctx, &o->arena, o->path, bytes, size, 16, &root));
    if (root->kind != BERTH_JSON_ARRAY || !root->child)
        return berth_fail(o->ctx, BERTH_E_FORMAT, "%.200s: neither a list of tensors nor of parser cases", o->path);
    if (berth_json_get(root->child, "nodes")) return check_cases(o, root, ok);
    return check_network(o, root, ok);
}

int main(int n_args, char **args) {
    oracle o = {.path = n_args == 2 ? args[1] : NULL};
    bool ok = true;
    if (!o.path) {
        fprintf(stderr, "usage: hsdag_oracle FIXTURE.json\n");
        return USAGE;
    }
    if (berth_ctx_new(&o.ctx, NULL) != BERTH_OK) return DIFFERS;
    berth_arena_init(&o.arena, berth_ctx_allocator(o.ctx));
    berth_map_init(&o.by_name, o.ctx);
    berth_params_init(&o.params, o.ctx);
    berth_status status = check(&o, &ok);
    if (status != BERTH_OK)
        fprintf(stderr, "hsdag_oracle: %s\n", berth_ctx_message(o.ctx));
    else
        printf("%s\n", ok ? "all agree" : "DIFFERENT from what was recorded");
    berth_params_deinit(&o.params);
    berth_map_deinit(&o.by_name);
    berth_arena_deinit(&o.arena);
    berth_ctx_free(o.ctx);
    if (status == BERTH_OK) return ok ? AGREES : DIFFERS;
    return status == BERTH_E_FORMAT || status == BERTH_E_IO || status == BERTH_E_LIMIT ? BAD_FIXTURE : DIFFERS;
}
