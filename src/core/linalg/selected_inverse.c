/* A supernode is a run of columns J of L with the same rows R below them, kept as one dense matrix.
 * With Y = L_RJ L_JJ^-1, the entries of Z = A^-1 there follow from those to the right of them
 * (K. Takahashi, J. Fagan, M. Chin, 1973, by blocks):
 *   Z_RJ = -Z_RR Y,   Z_JJ = (L_JJ L_JJ^T)^-1 - Y^T Z_RJ.
 * All of Z_RR is where L has entries: two rows of R meet in the supernode that the first is a
 * column of. It is gathered into a dense matrix, so that all that is left are products of such. */
#include "core/linalg/selected_inverse.h"

#include <cblas.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"

typedef SuiteSparse_long integer;

/* What one supernode needs besides L and Z. */
typedef struct {
    double *Z_RR, *Y;
    integer *place; /* of each row of R among the rows of a supernode further to the right */
} scratch;

/* One supernode: its first column, numbers of columns and of rows (columns first), its rows. */
typedef struct {
    integer first, num_cols, num_rows, begin;
    const integer *row;
} block;

static block block_at(const cholmod_factor *L, integer s) {
    const integer *super = L->super, *pi = L->pi, *px = L->px, *row = L->s;
    return (block){super[s], super[s + 1] - super[s], pi[s + 1] - pi[s], px[s], row + pi[s]};
}

/* Gathers Z at rows `from` .. of R and those of its columns that are in supernode `t`; the lower
 * triangle. Returns the next row of R. */
static integer gather_from(const psfm_selected_inverse *inverse, const block *t, const integer *R,
                           integer num, integer from, const scratch *w) {
    integer end = from;
    for (integer k = from, at = 0; k < num; ++k) {
        while (t->row[at] != R[k])
            ++at;
        w->place[k] = at;
        end += at < t->num_cols ? 1 : 0;
    }
    for (integer c = from; c < end; ++c) {
        const double *column = inverse->Z + t->begin + w->place[c] * t->num_rows;
        for (integer k = c; k < num; ++k)
            w->Z_RR[c * num + k] = column[w->place[k]];
    }
    return end;
}

static void gather_rows(const psfm_selected_inverse *inverse, const integer *R, integer num,
                        const scratch *w) {
    for (integer from = 0; from < num;) {
        block t = block_at(inverse->L, inverse->supernode[R[from]]);
        from = gather_from(inverse, &t, R, num, from, w);
    }
}

/* Z_JJ = (L_JJ L_JJ^T)^-1, its lower triangle. */
static psfm_status invert_diagonal(psfm_context *ctx, const block *b, const double *L, double *Z) {
    for (integer c = 0; c < b->num_cols; ++c)
        for (integer k = c; k < b->num_cols; ++k)
            Z[c * b->num_rows + k] = L[c * b->num_rows + k];
    lapack_int info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (lapack_int)b->num_cols, Z,
                                          (lapack_int)b->num_rows);
    return info == 0 ? PSFM_OK : psfm_fail(ctx, PSFM_ERR_NUMERIC, "a factor has no inverse");
}

static psfm_status invert_supernode(psfm_context *ctx, const psfm_selected_inverse *inverse,
                                    integer s, const scratch *w) {
    block b = block_at(inverse->L, s);
    const double *L = (const double *)inverse->L->x + b.begin;
    double *Z = inverse->Z + b.begin, *Z_RJ = Z + b.num_cols;
    int cols = (int)b.num_cols, rows = (int)b.num_rows, below = rows - cols;
    psfm_status status = invert_diagonal(ctx, &b, L, Z);
    if (status != PSFM_OK || below == 0)
        return status;
    gather_rows(inverse, b.row + cols, below, w);
    for (int c = 0; c < cols; ++c)
        memcpy(w->Y + (size_t)c * (size_t)below, L + (size_t)c * (size_t)rows + cols,
               (size_t)below * sizeof *w->Y);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, below, cols, 1.0,
                L, rows, w->Y, below);
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, below, cols, -1.0, w->Z_RR, below, w->Y,
                below, 0.0, Z_RJ, rows);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, cols, cols, below, -1.0, w->Y, below, Z_RJ,
                rows, 1.0, Z, rows);
    return PSFM_OK;
}

static psfm_status alloc_scratch(psfm_context *ctx, const cholmod_factor *L, scratch *w) {
    size_t most_below = 0, largest = 0;
    for (integer s = 0; s < (integer)L->nsuper; ++s) {
        block b = block_at(L, s);
        size_t below = (size_t)(b.num_rows - b.num_cols), size = below * (size_t)b.num_cols;
        most_below = below > most_below ? below : most_below;
        largest = size > largest ? size : largest;
    }
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most_below * most_below, &w->Z_RR)) ||
        (status = PSFM_ALLOC(ctx, largest, &w->Y)))
        return status;
    return PSFM_ALLOC(ctx, most_below, &w->place);
}

static void find_places(psfm_selected_inverse *inverse) {
    const integer *permutation = inverse->L->Perm;
    for (size_t k = 0; k < inverse->L->n; ++k)
        inverse->position[permutation[k]] = (integer)k;
    for (integer s = 0; s < (integer)inverse->L->nsuper; ++s) {
        block b = block_at(inverse->L, s);
        for (integer c = b.first; c < b.first + b.num_cols; ++c)
            inverse->supernode[c] = s;
    }
}

psfm_status psfm_selected_inverse_make(psfm_context *ctx, const cholmod_factor *L,
                                       psfm_selected_inverse *inverse) {
    scratch w = {0};
    psfm_status status;
    *inverse = (psfm_selected_inverse){.L = L};
    if ((status = PSFM_ALLOC(ctx, L->n, &inverse->position)) ||
        (status = PSFM_ALLOC(ctx, L->n, &inverse->supernode)) ||
        (status = PSFM_ALLOC(ctx, L->xsize, &inverse->Z)) || (status = alloc_scratch(ctx, L, &w)))
        goto cleanup;
    find_places(inverse);
    for (integer s = (integer)L->nsuper; status == PSFM_OK && s-- > 0;)
        status = invert_supernode(ctx, inverse, s, &w);

cleanup:
    free(w.Z_RR);
    free(w.Y);
    free(w.place);
    return status;
}

double psfm_selected_inverse_entry(const psfm_selected_inverse *inverse, size_t u, size_t v) {
    integer i = inverse->position[u], j = inverse->position[v];
    if (i < j)
        return psfm_selected_inverse_entry(inverse, v, u);
    block b = block_at(inverse->L, inverse->supernode[j]);
    integer k =
        (integer)psfm_lower_bound(&i, b.row, (size_t)b.num_rows, sizeof i, psfm_compare_u64);
    return inverse->Z[b.begin + (j - b.first) * b.num_rows + k];
}

void psfm_selected_inverse_free(psfm_selected_inverse *inverse) {
    free(inverse->position);
    free(inverse->supernode);
    free(inverse->Z);
    *inverse = (psfm_selected_inverse){0};
}
