/* Groups of nodes that only heavy cuts come between. */
#ifndef PSFM_LABELLING_EDGE_CONNECTIVITY_H
#define PSFM_LABELLING_EDGE_CONNECTIVITY_H

#include "core/posegraph/topology.h"

/* group[v] in [0, *num): every cut between two nodes of one group has a weight of at least `least`.
 * The converse does not hold: two groups may belong together. Weights are not negative; adjacency
 * lists all edges. O(num_edges log num_nodes) a round, a few rounds. */
psfm_status psfm_heavy_groups(psfm_context *ctx, const psfm_topology *graph,
                              const psfm_adjacency *adjacency, const double *weight, double least,
                              uint32_t *group, uint32_t *num);

#endif
