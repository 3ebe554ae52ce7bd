/* Multilevel solver for Laplacians of weighted graphs: an approximate inverse whose quality hardly
 * depends on the size of the graph. */
#ifndef PSFM_LINALG_MULTILEVEL_H
#define PSFM_LINALG_MULTILEVEL_H

#include "core/linalg/sparse.h"

/* A graph, and the graphs it is contracted to, coarser and coarser. */
typedef struct psfm_multilevel psfm_multilevel;

/* Contracts the connected graph with the symmetric weights W >= 0 (a diagonal is ignored) and the
 * node masses (> 0) until it has 1,000 nodes or fewer, and factors that. W and mass are borrowed
 * and must outlive the result. O(entries). */
psfm_status psfm_multilevel_create(psfm_context *ctx, const psfm_csr *W, const double *mass,
                                   psfm_multilevel **out);
/* Frees *multilevel and sets it to NULL. */
void psfm_multilevel_destroy(psfm_multilevel **multilevel);

/* Number of levels, k below; 0 is the graph itself, the last one the coarsest. */
int psfm_multilevel_num_levels(const psfm_multilevel *m);
/* A level's weights and masses, and per node its node of the next level (NULL at the coarsest). */
typedef struct {
    const psfm_csr *W;
    const double *mass;
    const uint32_t *group;
} psfm_multilevel_graph;
psfm_multilevel_graph psfm_multilevel_level(const psfm_multilevel *m, int k);

/* x ~ L^-1 b at a level, for b orthogonal to the constants; x is determined up to a constant. One
 * cycle; a symmetric positive semidefinite map up to the effect of its inner iterations. x and b do
 * not alias. Parallel, and independent of the number of threads; one call at a time. */
psfm_status psfm_multilevel_solve(psfm_context *ctx, psfm_multilevel *m, int k, const double *b,
                                  double *x);

#endif
