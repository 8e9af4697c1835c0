/* SPDX-License-Identifier: Apache-2.0 */
/* The settings by number, for the methods; names, ranges and defaults stand in settings.c. */
#ifndef BERTH_LEARN_SETTINGS_H
#define BERTH_LEARN_SETTINGS_H

#include "berth/learn.h"

typedef enum berth_setting_id {
    /* the shape of the method */
    BERTH_SET_DESIGN,       /* refine | joint | faithful */
    BERTH_SET_ARCHITECTURE, /* encoder-placer | grouper-placer | joint */
    BERTH_SET_GROUPING,     /* parse | grow | none */
    BERTH_SET_COLOCATE,     /* paper | code | fused | none: what the nodes of the network are */
    BERTH_SET_GROUPS,       /* of grouper-placer */
    /* features, HSDAG.md 3.1 and 14.6 */
    BERTH_SET_FEATURE_TYPE,
    BERTH_SET_FEATURE_SHAPE,
    BERTH_SET_FEATURE_IN_DEGREE,
    BERTH_SET_FEATURE_OUT_DEGREE,
    BERTH_SET_FEATURE_FRACTAL,
    BERTH_SET_FEATURE_POSITION, /* none | index | rank | sinusoid */
    BERTH_SET_POSITION_WIDTH,   /* d_pos */
    BERTH_SET_FEATURE_COST,
    /* network, HSDAG.md 4 and 7 */
    BERTH_SET_HIDDEN,
    BERTH_SET_LAYER_TRANS,
    BERTH_SET_LAYER_GNN,
    BERTH_SET_LAYER_PARSINGNET,
    BERTH_SET_DROPOUT_NETWORK,
    BERTH_SET_DROPOUT_PARSING,
    BERTH_SET_IGNORE_SELF_LOOP,
    BERTH_SET_ACT_FINAL,
    BERTH_SET_MAX_ROUNDS, /* 0: until nothing merges */
    BERTH_SET_SYMMETRIC,  /* one score per undirected edge */
    /* training, HSDAG.md 6 and 7 */
    BERTH_SET_LEARNING_RATE,
    BERTH_SET_EPISODES, /* 0: as many as the budget allows */
    BERTH_SET_STEPS,    /* samples per episode, or proposals per update */
    BERTH_SET_EPOCHS,   /* passes over them per update */
    BERTH_SET_DISCOUNT,
    BERTH_SET_RETURN,       /* shared | per-step | advantage */
    BERTH_SET_STATE_UPDATE, /* X := X + F */
    BERTH_SET_BAN_SINGLE,   /* placements on one device count as failures */
    BERTH_SET_ENTROPY,
    BERTH_SET_CLIP,
    BERTH_SET_GRADIENT_NORM,
    /* refinement, LEARNING.md */
    BERTH_SET_WINDOW, /* proposals that an update looks at */
    BERTH_SET_CANDIDATES,
    BERTH_SET_CRITICAL, /* share of them around the critical chain */
    BERTH_SET_GROW,
    BERTH_SET_HOT,
    BERTH_SET_COLD,
    BERTH_SET_SEEDS,  /* all | single | none: classical candidates */
    BERTH_SET_POLISH, /* share of the evaluations for moves after sampling */
    BERTH_SET_ORDER,  /* the order is part of the decision */
    /* baselines */
    BERTH_SET_RNN_HIDDEN,
    BERTH_SETTING_COUNT_OF,
} berth_setting_id;

/* Positions of choices that others than the method look at. */
enum { BERTH_SEEDS_ALL, BERTH_SEEDS_SINGLE, BERTH_SEEDS_NONE };
enum { BERTH_GROUPING_PARSE, BERTH_GROUPING_GROW, BERTH_GROUPING_NONE };
enum { BERTH_DESIGN_REFINE, BERTH_DESIGN_JOINT, BERTH_DESIGN_FAITHFUL };

_Static_assert((int)BERTH_SETTING_COUNT_OF <= (int)BERTH_MAX_SETTINGS, "settings fit");

static inline double berth_settings_get(const berth_settings *settings, berth_setting_id id) {
    return settings->value[id];
}

#endif
