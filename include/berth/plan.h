/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/plan.h: the plan: where every operation of a model runs, under which assumptions, and how good that is.
 *
 * A plan is made by berth_place() or read from a file (plan.json, docs/formats.md). The file holds all that a
 * simulation needs besides the model, so that it gives the same makespan, bit for bit, on any machine.
 */
#ifndef BERTH_PLAN_H
#define BERTH_PLAN_H

#include "berth/read.h"
#include "berth/runtime.h"
#include "berth/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_plan_op {
    const char *name, *type;
    int32_t device;
} berth_plan_op;

/** A model input as the plan was made for it. A dimension of -1 is open; rank -1: unknown. */
typedef struct berth_plan_input {
    const char *name, *type;
    int32_t rank;
    const int64_t *dims;
} berth_plan_input;

/** What one method did during the search. */
typedef struct berth_plan_method {
    const char *method;
    double makespan_ms; /* INFINITY: it found no feasible placement; measured, if evaluations were real runs */
    int64_t evaluations;
    double seconds;
} berth_plan_method;

/** A setting of a learned method. */
typedef struct berth_plan_setting {
    const char *name;
    const char *word; /* a choice, or NULL: a number ... */
    double number;    /* ... or, if it is a switch, 0 or 1 */
    bool is_switch;
} berth_plan_setting;

/** What a plan for several shapes takes with one of them (berth/cases.h). */
typedef struct berth_plan_case {
    const berth_shape_binding *shapes;
    int32_t n_shapes;
    double weight; /* of 1 for all */
    bool measured; /* else simulated */
    double ms;
    double best_ms; /* of the best plan that was found for this case alone */
    double loss;    /* ms / best_ms - 1 */
} berth_plan_case;

/** Evaluations of a search that were real runs, each of one placement in one process. */
typedef struct berth_plan_runs {
    int64_t placements; /* different ones: those that were made and those from the store */
    int64_t made;       /* by this command */
    int64_t stored;     /* by one that was killed (`resume`) */
    int64_t failed;     /* of these, what could not be run: masked, never a time */
    int64_t repeated;   /* times that the search came back to one of them */
} berth_plan_runs;

typedef struct berth_plan {
    /* the model */
    const char *version; /* of the berth that made it */
    const char *model_name, *model_format, *fingerprint;
    int32_t n_inputs, n_shapes;
    const berth_plan_input *inputs;
    const berth_shape_binding *shapes; /* --shape: what to bind before the model is read */

    /* the assumptions */
    const char *costs; /* "estimated", "given" (by a workload file) or "profile" */
    const char *profile, *profile_sha256;
    int32_t n_devices;
    const char *const *device_names;
    const berth_device_set *devices; /* NULL in a plan read from a file if the workload brings them */
    berth_model execution_model;
    double piece_ms;
    berth_objective objective;
    berth_limits limits;

    /* the answer */
    const char *method;   /* that was asked for */
    const char *found_by; /* the method that found it */
    const char *group;    /* rule by which operations were joined for the search, or NULL */
    const char *source;   /* "seed", "polished seed", "sample", "polished sample" */
    uint64_t seed;
    int32_t n_settings; /* of the learned method that took part, if one did */
    const berth_plan_setting *settings;
    const char *policy_sha256; /* of the policy file that it started from, or NULL */
    double makespan_ms;
    double lower_bound_ms;   /* NAN: none, since evaluations were real runs */
    double gap;              /* makespan / bound - 1; 0: proven optimal; INFINITY: no bound but 0 */
    const double *single_ms; /* [n_devices] all on one device; INFINITY: infeasible */
    int32_t n_ops, n_order;
    const berth_plan_op *ops; /* [n_ops], in file order */
    const int32_t *order;     /* [n_order] operations as they are to be started, or NULL: the model's own order */

    /* several shapes, if it is for several (berth/cases.h); written, but not read back */
    int32_t n_cases;
    const berth_plan_case *cases;

    /* real runs, if there were any (berth/real.h); written, but not read back, but for the first */
    bool native_precision; /* devices computed in a narrower type than the model's where they do so by themselves */
    const berth_measured *measured;
    const berth_graph *graph; /* of `measured` */
    const char *verdict;
    const berth_plan_runs *runs; /* NULL: evaluations were simulated */

    /* the search; not in the file */
    bool searched; /* the members below are filled in */
    bool interrupted;
    int64_t evaluations;
    double seconds;
    int32_t n_methods;
    const berth_plan_method *methods; /* in the order of their first turns */
} berth_plan;

BERTH_API void berth_plan_free(berth_plan *plan);

/**
 * Append the plan as JSON. Equal plans give equal bytes. With `search`, the keys about the search follow, which differ
 * from run to run: for `--json`, not for the file.
 */
BERTH_API void berth_plan_write(berth_text *text, const berth_plan *plan, bool search);

/**
 * Read a plan file ("-": standard input). It is checked in itself; whether it fits a model, berth_plan_fit() says.
 * @return BERTH_OK; BERTH_E_IO; BERTH_E_FORMAT (with the line); BERTH_E_LIMIT; BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_plan_read(berth_ctx *ctx, berth_plan **out, const char *path);

/**
 * The placement that the plan means for a model. The fingerprint, the shapes of inputs and every operation must agree;
 * with `force` operations are found by name, and a line of the log says what does not agree.
 * @return BERTH_OK; BERTH_E_FORMAT (made for another model, for other shapes; an operation that it does not have);
 *         BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_plan_fit(berth_ctx *ctx, berth_placement **out, const berth_plan *plan,
                                                       const berth_graph *graph, bool force);

/**
 * Simulate a plan: costs as the plan says, then berth_simulate(). With the plan's own model the makespan is the plan's.
 * @param profile  another place of the profile that the plan was made with, or NULL
 * @return what berth_plan_fit(), berth_costs_new() and berth_simulate() return
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_plan_simulate(berth_ctx *ctx, berth_timeline **out,
                                                            const berth_plan *plan, const berth_graph *graph,
                                                            const char *profile, bool force);

#ifdef __cplusplus
}
#endif
#endif
