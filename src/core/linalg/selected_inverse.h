/* Entries of the inverse of a sparse matrix where its factor has any. */
#ifndef PSFM_LINALG_SELECTED_INVERSE_H
#define PSFM_LINALG_SELECTED_INVERSE_H

#include <cholmod.h>

#include "core/base/context.h"

typedef struct {
    const cholmod_factor *L;
    SuiteSparse_long *position;  /* permuted row of each scalar */
    SuiteSparse_long *supernode; /* of each permuted column */
    double *Z;                   /* as the values of L */
} psfm_selected_inverse;

/* The inverse of A, L being its supernodal factor L L^T, which must live as long as the result.
 * Free with psfm_selected_inverse_free, also after a failure. Twice the operations of the
 * factorisation, and as much memory as L. By one thread. */
psfm_status psfm_selected_inverse_make(psfm_context *ctx, const cholmod_factor *L,
                                       psfm_selected_inverse *inverse);

/* The entry at rows u and v of A, which must meet in L, as they do if they meet in A. */
double psfm_selected_inverse_entry(const psfm_selected_inverse *inverse, size_t u, size_t v);

void psfm_selected_inverse_free(psfm_selected_inverse *inverse);

#endif
