/* What the users of CHOLMOD share: starting it, an analysis that does not hide failures, and solves
 * whose memory is kept. Only sources that include CHOLMOD's header include this one. */
#ifndef PSFM_LINALG_CHOLMOD_SOLVE_H
#define PSFM_LINALG_CHOLMOD_SOLVE_H

#include <cholmod.h>

#include "core/base/context.h"

/* Vectors that solves need; zero-initialise. */
typedef struct {
    cholmod_dense *x, *y, *e;
} psfm_cholmod_memory;

void psfm_cholmod_start(cholmod_common *common);

/* The failure of the last call as a status; `what` and `step` go into the message. */
psfm_status psfm_cholmod_failure(psfm_context *ctx, const cholmod_common *common, const char *what,
                                 const char *step);

/* Analyses the fill of A. CHOLMOD itself would go on with another ordering if memory was out for
 * one, and so give other roundings. */
psfm_status psfm_cholmod_analyze(psfm_context *ctx, cholmod_sparse *A, cholmod_common *common,
                                 const char *what, cholmod_factor **L);

/* Factors A by the calling thread alone. PSFM_ERR_NUMERIC if A is not positive definite. */
psfm_status psfm_cholmod_factor(psfm_context *ctx, cholmod_sparse *A, cholmod_factor *L,
                                cholmod_common *common, const char *what);

/* Solves for num_rhs right-hand sides, stored one after the other; x may equal b. The first solve
 * takes memory, later ones of no more right-hand sides do not. */
psfm_status psfm_cholmod_solve(psfm_context *ctx, cholmod_factor *L, cholmod_common *common,
                               const char *what, psfm_cholmod_memory *memory, size_t num_rhs,
                               const double *b, double *x);
void psfm_cholmod_memory_free(psfm_cholmod_memory *memory, cholmod_common *common);

#endif
