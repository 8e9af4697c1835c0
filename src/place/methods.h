/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of methods. */
#ifndef BERTH_PLACE_METHODS_H
#define BERTH_PLACE_METHODS_H

#include "search/search.h"

typedef enum berth_method_kind {
    BERTH_METHOD_BUILDS,    /* makes a placement from nothing, in one go */
    BERTH_METHOD_DRAWS,     /* makes any number of them, until the budget ends */
    BERTH_METHOD_IMPROVES,  /* starts from the best placement of the search and goes on until the budget ends */
    BERTH_METHOD_LEARNS,    /* improves, or draws where its setting `seeds` is none; see learn/learn.h */
    BERTH_METHOD_PROVES,    /* ends with a proof, if it ends */
    BERTH_METHOD_BOUNDS,    /* raises the bound only; no row of the table */
    BERTH_METHOD_PORTFOLIO, /* runs others */
} berth_method_kind;

typedef struct berth_method {
    const char *name;
    berth_method_kind kind;
    berth_status (*run)(berth_search *search); /* NULL for a portfolio */
    const char *summary;                       /* for listings, without a full stop */
} berth_method;

/* The row of that name, or NULL. */
const berth_method *berth_method_find(const char *name);

#endif
