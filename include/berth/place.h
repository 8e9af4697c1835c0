/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/place.h: the main job: find every operation its device.
 */
#ifndef BERTH_PLACE_H
#define BERTH_PLACE_H

#include "berth/group.h"
#include "berth/learn.h"
#include "berth/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Methods for listings: number `index`, or NULL past the end. */
BERTH_API const char *berth_method_name(int32_t index);
BERTH_API const char *berth_method_summary(int32_t index);

/** How a search stands. */
typedef struct berth_progress {
    const char *method;    /* at work */
    double makespan_ms;    /* of the best placement so far; INFINITY: none yet */
    double lower_bound_ms; /* 0: none yet */
    int64_t evaluations;
    double seconds;
} berth_progress;

typedef void (*berth_progress_fn)(void *user, const berth_progress *progress);

typedef struct berth_place_options {
    const char *method;         /* a name of the table, such as "auto" */
    const berth_limits *limits; /* NULL: none */
    const char *profile;        /* path of measured times; NULL: none */
    berth_model model;          /* BERTH_MODEL_COUNT: the device set's */
    double piece_ms;            /* NAN: the device set's */
    berth_objective objective;
    bool grouped; /* search over the groups of this rule instead of single operations */
    berth_group_rule group;
    double seconds; /* wall clock; INFINITY: no limit */
    /* Makespans, or as many decisions about single tasks of partial placements as there are tasks; INT64_MAX: no limit.
     * With this limit alone every method ends, and the plan depends on neither time nor threads. */
    int64_t evaluations;
    uint64_t seed;                     /* at most INT64_MAX */
    int32_t threads;                   /* 0: one per processor */
    const berth_shape_binding *shapes; /* that the graph was read with, to be written down */
    int32_t n_shapes;
    const char *const *set; /* [n_set] settings of a learned method, as "learning_rate=0" */
    int32_t n_set;
    const char *policy;         /* path of a policy that a learned method starts from; NULL: none */
    berth_progress_fn progress; /* called from the calling thread, a few times a second; may be NULL */
    void *progress_user;

    const int32_t *given; /* [n_ops] the device of each operation: nothing is searched, the plan is of this; or NULL */
    /* for those who compare methods */
    bool seeded;          /* `local` and `anneal` start from the best of the methods that build, which are counted */
    bool unbounded;       /* no bound is computed for a method that needs none: nothing is known to be optimal */
    const int64_t *marks; /* [n_marks] numbers of evaluations, ascending, or NULL */
    double *marks_ms;     /* [n_marks] gets the best makespan after so many; INFINITY: none yet */
    int32_t n_marks;
} berth_place_options;

/** Method auto, 10 seconds, seed 0, one thread per processor, latency, no limits. */
BERTH_API berth_place_options berth_place_options_default(void);

/**
 * Place a graph on devices. Graph and devices are borrowed and must outlive the plan.
 *
 * The cancel callback of the context stops the search; the best placement so far is then the plan, with `interrupted`
 * set. It is called from the calling thread only. With several threads the allocator of the context must be safe to use
 * from all of them.
 *
 * @return BERTH_OK; BERTH_E_ARG (no such method or setting, a rule that names nothing, a policy for another method or
 *         network); BERTH_E_NUMERIC (a learned method diverged); BERTH_E_INFEASIBLE (nothing satisfies the
 *         limits, or the method found nothing that does); BERTH_E_CANCELLED (before anything was found); what
 *         berth_costs_new() returns; BERTH_E_UNSUPPORTED (a method that this build lacks, or that is not for this
 *         execution model)
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_place(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                                                    const berth_device_set *devices,
                                                    const berth_place_options *options);

/** One graph to learn on, and the devices it is placed on. All are borrowed. */
typedef struct berth_lesson {
    const berth_graph *graph;
    const berth_device_set *devices;
    const berth_limits *limits; /* NULL: none */
} berth_lesson;

/** How a training stands. */
typedef struct berth_train_progress {
    int64_t episode, episodes; /* done, of how many */
    int32_t lesson;            /* of the last one */
    const berth_episode *last;
    double seconds;
} berth_train_progress;

typedef void (*berth_train_fn)(void *user, const berth_train_progress *progress);

typedef struct berth_train_options {
    const char *method;     /* a learned method */
    const char *const *set; /* [n_set] settings, as "learning_rate=0.001" */
    int32_t n_set;
    const char *policy;   /* path of a policy to start from, with its settings; NULL: none */
    berth_model model;    /* BERTH_MODEL_COUNT: the device sets' */
    double piece_ms;      /* NAN: the device sets' */
    int64_t episodes;     /* in all, those of a training that is resumed included */
    int64_t evaluations;  /* of each; 0: what the method takes for one */
    uint64_t seed;        /* at most INT64_MAX */
    int32_t threads;      /* 0: one per processor */
    const char *output;   /* path of the policy file; NULL: none */
    bool resume;          /* go on from `output`, if it is there */
    double save_seconds;  /* between two times that `output` is written; it always is in the end */
    berth_train_fn train; /* called after each episode; may be NULL */
    void *train_user;
    void (*ready)(void *train_user); /* called when all is read: BERTH_E_IO is then about `output`; may be NULL */
} berth_train_options;

/** Method hsdag, 100 episodes, seed 0, saved every second, nothing resumed. */
BERTH_API berth_train_options berth_train_options_default(void);

/**
 * Learn a policy on n graphs: an episode is a search on one of them, from nothing but what everything on one device
 * takes; every graph has its turn before any has two. The cancel callback of the context ends the training after what
 * is complete: berth_policy_episodes() of the policy then says how far it came.
 *
 * That `output` cannot be written is found before the first episode, as far as that can be told.
 *
 * Equal arguments give equal files, also if the training was interrupted or killed and resumed, any number of times.
 *
 * @return BERTH_OK; BERTH_E_ARG (no such method or setting; a file to resume that comes from other graphs, devices or
 *         options); BERTH_E_NUMERIC (learning diverged: `output` has the last good state); what berth_policy_load(),
 *         berth_costs_new() and berth_policy_save() return
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_train(berth_ctx *ctx, berth_policy **out, const berth_lesson *lessons,
                                                    int32_t n_lessons, const berth_train_options *options);
/** The lesson of an episode, from 0. */
BERTH_API int32_t berth_train_lesson(uint64_t seed, int32_t n_lessons, int64_t episode);

#ifdef __cplusplus
}
#endif
#endif
