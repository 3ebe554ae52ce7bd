/* Contraction of weighted graphs: groups of strongly linked nodes become one. */
#ifndef PSFM_LINALG_COARSEN_H
#define PSFM_LINALG_COARSEN_H

#include "core/linalg/sparse.h"

/* Groups the nodes of the graph with symmetric weights W >= 0 (diagonal ignored) and node masses >
 * 0: group[i] in [0, *num_groups). Groups grow to 16 nodes around a node and its strongest
 * neighbours; nodes without a group join that of their strongest neighbour. O(entries). */
psfm_status psfm_coarsen_group(psfm_context *ctx, const psfm_csr *W, const double *mass,
                               uint32_t *group, uint32_t *num_groups);

/* The graph of the groups: weights between groups summed (those within vanish), masses summed.
 * With P the 0/1 matrix that gives each node its group's value, its Laplacian is P^T L P. `coarse`
 * and mass_coarse (num_groups) are filled; columns are not sorted. */
psfm_status psfm_coarsen_contract(psfm_context *ctx, const psfm_csr *W, const double *mass,
                                  const uint32_t *group, uint32_t num_groups, psfm_csr *coarse,
                                  double *mass_coarse);

#endif
