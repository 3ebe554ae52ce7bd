/* Centres along the best edges alone. */
#ifndef PSFM_POSITIONS_POSITION_TREE_H
#define PSFM_POSITIONS_POSITION_TREE_H

#include "core/base/context.h"

typedef struct {
    uint32_t a, b; /* nodes */
    double weight;
    double baseline[3]; /* c_a - c_b */
    double ruler;       /* what it is off by is measured by this; 0: by its length */
} psfm_weighted_baseline;

/* The length that misfits of a baseline are shares of. */
double psfm_baseline_ruler(const psfm_weighted_baseline *edge);

/* Centres (num_nodes x 3) along the spanning tree of the largest total weight, node 0 at the
 * origin. *spans is false, and the centres are not touched, if the edges do not connect all nodes.
 * O(n log n) in the number of edges. */
psfm_status psfm_centers_along_tree(psfm_context *ctx, uint32_t num_nodes,
                                    const psfm_weighted_baseline *edges, uint32_t num_edges,
                                    double *centers, bool *spans);

#endif
