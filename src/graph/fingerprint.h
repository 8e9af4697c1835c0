/* SPDX-License-Identifier: Apache-2.0 */
/* The fingerprint: SHA-256 over a canonical byte string of what the model is (docs/formats.md). */
#ifndef BERTH_GRAPH_FINGERPRINT_H
#define BERTH_GRAPH_FINGERPRINT_H

#include "graph/graph.h"

/* Fill graph->fingerprint from what the file declares; called by link, before any inference or shape binding. False:
 * no memory in the graph's arena. */
bool berth_graph_fingerprint_set(berth_graph *graph);

#endif
