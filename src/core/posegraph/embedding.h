/* Embedding of the edges on the real line. */
#ifndef PSFM_POSEGRAPH_EMBEDDING_H
#define PSFM_POSEGRAPH_EMBEDDING_H

#include "core/base/context.h"
#include "core/linalg/sparse.h"

typedef struct {
    double tolerance; /* of the residual, relative to the eigenvalue */
    int max_iterations;
} psfm_embedding_options;

typedef struct {
    double *h;               /* per edge: eigenvector of the second-smallest eigenvalue of
                                I - D^-1 S within the edge's component, unit norm in the D-metric;
                                sign: its entry of largest magnitude (the lowest index of those
                                within 1e-6 of it) > 0 */
    uint32_t *component;     /* per edge, by decreasing size, ties by lowest edge */
    uint32_t num_components; /* of S; an edge without neighbours is one of its own, h = 0 */
    double *eigenvalue;      /* per component: the second-smallest; NAN for components of one */
    double *residual; /* per component: |x - D^-1/2 S D^-1/2 x - eigenvalue x|, x = D^1/2 h; NAN for
                         components of one */
} psfm_embedding;

/* Embeds each component of the symmetric S >= 0 apart. Entries below 1e-100 of the largest do not
 * join anything. Deterministic, and independent of the number of threads and the seed. A residual
 * that misses the tolerance is logged; one above 1 % of the eigenvalue and 1e-9 is
 * PSFM_ERR_NUMERIC. Near-linear: see core/linalg/fiedler.h. */
psfm_status psfm_embedding_compute(psfm_context *ctx, const psfm_csr *S,
                                   const psfm_embedding_options *options, psfm_embedding *out);
void psfm_embedding_free(psfm_embedding *embedding);

#endif
