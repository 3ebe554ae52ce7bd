/* Sparse matrices.
 *
 * A system that is assembled again and again from triplets has its pattern sorted once (two
 * counting sorts, O(n + triplets)); each triplet keeps the slot it adds to, so that a new matrix
 * is one pass over the values. CHOLMOD analyses the fill once and factors each time, as L L^T: an
 * indefinite matrix is then an error and not a wrong step.
 *
 * Where the analysis predicts a factor that is too expensive, as in graphs without small
 * separators, a caller that can live with a rough step may let conjugate gradients with a diagonal
 * preconditioner do the solve. */
#include "core/linalg/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/cholmod_solve.h"
#include "core/linalg/vec3.h"

void psfm_csr_free(psfm_csr *A) {
    free(A->row_begin);
    free(A->col);
    free(A->value);
    *A = (psfm_csr){0};
}

struct psfm_spd {
    cholmod_common common;
    cholmod_sparse *A; /* upper triangle, columns sorted */
    cholmod_factor *L;
    psfm_cholmod_memory memory;
    size_t num_triplets;
    size_t *slot; /* entry of A that triplet k adds to */
    bool iterative;
    double tolerance; /* of the iterative solve */
    int max_iterations;
};

/* Sorts the triplets into the columns of the upper triangle: a counting sort by column, then one
 * by row within it, done as two stable passes. order[k] is the k-th triplet of that order. */
static void sort_triplets(uint32_t n, size_t num, const uint32_t *row, const uint32_t *col,
                          size_t *order, size_t *scratch, size_t *count) {
    for (int pass = 0; pass < 2; ++pass) {
        memset(count, 0, ((size_t)n + 1) * sizeof *count);
        for (size_t k = 0; k < num; ++k)
            ++count[(pass == 0 ? row[k] : col[k]) + 1];
        for (uint32_t v = 0; v < n; ++v)
            count[v + 1] += count[v];
        for (size_t k = 0; k < num; ++k) {
            size_t t = pass == 0 ? k : scratch[k];
            size_t to = count[pass == 0 ? row[t] : col[t]]++;
            (pass == 0 ? scratch : order)[to] = t;
        }
    }
}

/* Fills the pattern of spd->A from n diagonal entries followed by the caller's triplets. */
static void fill_pattern(psfm_spd *spd, uint32_t n, size_t num, const uint32_t *row,
                         const uint32_t *col, const size_t *order) {
    SuiteSparse_long *begin = spd->A->p;
    SuiteSparse_long *index = spd->A->i;
    size_t entries = 0;
    uint32_t current = 0;
    begin[0] = 0;
    for (size_t k = 0; k < num; ++k) {
        size_t t = order[k];
        bool same = k > 0 && row[order[k - 1]] == row[t] && col[order[k - 1]] == col[t];
        if (!same) {
            while (current < col[t])
                begin[++current] = (SuiteSparse_long)entries;
            index[entries++] = row[t];
        }
        if (t >= n)
            spd->slot[t - n] = entries - 1;
    }
    while (current < n)
        begin[++current] = (SuiteSparse_long)entries;
}

psfm_status psfm_spd_create(psfm_context *ctx, uint32_t n, size_t num_triplets, const uint32_t *row,
                            const uint32_t *col, psfm_spd **spd) {
    size_t num = num_triplets + n;
    uint32_t *upper_row = NULL, *upper_col = NULL;
    size_t *order = NULL, *scratch = NULL, *count = NULL;
    psfm_spd *made = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &made);
    if (status != PSFM_OK)
        return status;
    psfm_cholmod_start(&made->common);
    made->num_triplets = num_triplets;
    if ((status = PSFM_ALLOC(ctx, num, &upper_row)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &upper_col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &order)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &scratch)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, (size_t)n + 1, &count)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_triplets, &made->slot)) != PSFM_OK)
        goto cleanup;
    for (uint32_t v = 0; v < n; ++v)
        upper_row[v] = upper_col[v] = v;
    for (size_t k = 0; k < num_triplets; ++k) {
        if (row[k] >= n || col[k] >= n) {
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "triplet (%u, %u) outside a matrix of %u",
                               row[k], col[k], n);
            goto cleanup;
        }
        upper_row[n + k] = row[k] < col[k] ? row[k] : col[k];
        upper_col[n + k] = row[k] < col[k] ? col[k] : row[k];
    }
    sort_triplets(n, num, upper_row, upper_col, order, scratch, count);
    made->A = cholmod_l_allocate_sparse(n, n, num, 1, 1, 1, CHOLMOD_REAL, &made->common);
    if (made->A == NULL) {
        status = psfm_cholmod_failure(ctx, &made->common, "sparse", "allocation");
        goto cleanup;
    }
    fill_pattern(made, n, num, upper_row, upper_col, order);
    status = psfm_cholmod_analyze(ctx, made->A, &made->common, "sparse", &made->L);

cleanup:
    free(upper_row);
    free(upper_col);
    free(order);
    free(scratch);
    free(count);
    if (status != PSFM_OK)
        psfm_spd_destroy(&made);
    *spd = made;
    return status;
}

psfm_status psfm_spd_factor(psfm_context *ctx, psfm_spd *spd, const double *values, double shift) {
    SuiteSparse_long *begin = spd->A->p;
    double *entry = spd->A->x;
    memset(entry, 0, (size_t)begin[spd->A->ncol] * sizeof *entry);
    for (size_t k = 0; k < spd->num_triplets; ++k)
        entry[spd->slot[k]] += values[k];
    for (size_t c = 0; c < spd->A->ncol; ++c)
        entry[begin[c + 1] - 1] +=
            shift; /* the diagonal closes each column of the upper triangle */
    if (spd->iterative)
        return PSFM_OK;
    return psfm_cholmod_factor(ctx, spd->A, spd->L, &spd->common, "sparse");
}

/* Flops of a factorisation, per entry of the matrix, from which conjugate gradients are cheaper as
 * a rule: about the cost of as many iterations. */
#define HEAVY_FILL 30000.0

bool psfm_spd_allow_iterative(psfm_spd *spd, double tolerance, int max_iterations) {
    const SuiteSparse_long *begin = spd->A->p;
    spd->iterative = spd->common.fl > HEAVY_FILL * (double)begin[spd->A->ncol];
    spd->tolerance = tolerance;
    spd->max_iterations = max_iterations;
    return spd->iterative;
}

/* y = A x from the upper triangle. */
static void multiply_symmetric(const cholmod_sparse *A, const double *x, double *y) {
    const SuiteSparse_long *begin = A->p, *row = A->i;
    const double *value = A->x;
    memset(y, 0, A->nrow * sizeof *y);
    for (size_t c = 0; c < A->ncol; ++c) {
        double sum = 0.0, xc = x[c];
        for (SuiteSparse_long k = begin[c]; k < begin[c + 1] - 1; ++k) {
            sum += value[k] * x[row[k]];
            y[row[k]] += value[k] * xc;
        }
        y[c] += sum + value[begin[c + 1] - 1] * xc;
    }
}

/* z = r over the diagonal of A. */
static void precondition_residual(const cholmod_sparse *A, const double *r, double *z) {
    const SuiteSparse_long *begin = A->p;
    const double *value = A->x;
    for (size_t c = 0; c < A->ncol; ++c)
        z[c] = r[c] / value[begin[c + 1] - 1];
}

/* Preconditioned conjugate gradients from zero. `work` has room for 4 n. */
static psfm_status conjugate_gradients(psfm_context *ctx, const psfm_spd *spd, const double *b,
                                       double *x, double *work) {
    size_t n = spd->A->nrow;
    double *r = work, *z = work + n, *p = work + 2 * n, *Ap = work + 3 * n;
    memcpy(r, b, n * sizeof *r);
    memset(x, 0, n * sizeof *x);
    precondition_residual(spd->A, r, z);
    memcpy(p, z, n * sizeof *p);
    double rz = psfm_dot(r, z, n), target = spd->tolerance * spd->tolerance * rz;
    for (int k = 0; k < spd->max_iterations && rz > target; ++k) {
        multiply_symmetric(spd->A, p, Ap);
        double curvature = psfm_dot(p, Ap, n);
        if (!(curvature > 0.0))
            return psfm_fail(ctx, PSFM_ERR_NUMERIC, "sparse matrix is not positive definite");
        double step = rz / curvature;
        for (size_t i = 0; i < n; ++i) {
            x[i] += step * p[i];
            r[i] -= step * Ap[i];
        }
        precondition_residual(spd->A, r, z);
        double next = psfm_dot(r, z, n), ratio = next / rz;
        for (size_t i = 0; i < n; ++i)
            p[i] = z[i] + ratio * p[i];
        rz = next;
    }
    return PSFM_OK;
}

static psfm_status solve_iteratively(psfm_context *ctx, const psfm_spd *spd, size_t num_rhs,
                                     const double *b, double *x) {
    size_t n = spd->A->nrow;
    double *work = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 5 * n, &work);
    for (size_t k = 0; status == PSFM_OK && k < num_rhs; ++k) {
        memcpy(work + 4 * n, b + k * n, n * sizeof *b); /* x may be b */
        status = conjugate_gradients(ctx, spd, work + 4 * n, x + k * n, work);
    }
    free(work);
    return status;
}

psfm_status psfm_spd_solve(psfm_context *ctx, psfm_spd *spd, size_t num_rhs, const double *b,
                           double *x) {
    if (spd->iterative)
        return solve_iteratively(ctx, spd, num_rhs, b, x);
    return psfm_cholmod_solve(ctx, spd->L, &spd->common, "sparse", &spd->memory, num_rhs, b, x);
}

void psfm_spd_destroy(psfm_spd **spd) {
    if (spd == NULL || *spd == NULL)
        return;
    psfm_spd *s = *spd;
    psfm_cholmod_memory_free(&s->memory, &s->common);
    cholmod_l_free_factor(&s->L, &s->common);
    cholmod_l_free_sparse(&s->A, &s->common);
    cholmod_l_finish(&s->common);
    free(s->slot);
    free(s);
    *spd = NULL;
}
