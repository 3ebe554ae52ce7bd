/* Embedding of the edges on the real line. */
#ifndef PSFM_GRAPH_EMBEDDING_H
#define PSFM_GRAPH_EMBEDDING_H

#include "base/options.h"
#include "linalg/sparse.h"

typedef struct {
    int dense_below;    /* components smaller than this are solved densely (LAPACK) */
    double tolerance;   /* of ARPACK, relative */
    int max_iterations; /* of ARPACK, restarts */
} psfm_embedding_options;

extern const psfm_option_table psfm_embedding_option_table;

typedef struct {
    double *h;               /* per edge: eigenvector of the second-smallest eigenvalue of
                                I - D^-1 S within the edge's component, unit norm in the D-metric;
                                sign: its entry of largest magnitude (lowest index on ties) > 0 */
    uint32_t *component;     /* per edge, by decreasing size, ties by lowest edge */
    uint32_t num_components; /* of S; an edge without neighbours is one of its own, h = 0 */
    double *eigenvalue;      /* per component: the second-smallest; NAN for components of one */
} psfm_embedding;

/* Embeds each component of S apart. Deterministic start vector. */
psfm_status psfm_embedding_compute(psfm_context *ctx, const psfm_csr *S,
                                   const psfm_embedding_options *options, psfm_embedding *out);
void psfm_embedding_free(psfm_embedding *embedding);

#endif
