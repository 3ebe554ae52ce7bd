/* Extension of a graph of directions until it is parallel rigid, by least widening of the range. */
#ifndef PSFM_GRAPH_RIGID_EXTENSION_H
#define PSFM_GRAPH_RIGID_EXTENSION_H

#include "graph/spanning_tree.h"

/* Goes on adding to the edges in use (is_used, num_edges), in the order in which edges widen the
 * range [low, high] least (an edge inside it widens it by nothing; ties by index), each only if it
 * determines something new, until directions along the edges in use determine all positions up to
 * translation and scale (graph/rigidity.h), or no edge is left. Sorting, and a pebble game. */
psfm_status psfm_rigid_extension(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                 double high, bool *is_used);

#endif
