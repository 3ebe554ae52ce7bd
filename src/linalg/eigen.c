/* Eigenvectors of symmetric matrices: all of a dense one by LAPACK's divide and conquer, O(n^3);
 * the one of the smallest eigenvalue of a sparse one by ARPACK's restarted Lanczos method, which
 * needs nothing but products A x.
 *
 * ARPACK keeps state in global variables, so a lock lets one call in at a time. It also draws
 * random vectors when its Krylov space is exhausted; such a result would depend on earlier calls
 * and counts as not converged. */
#include "linalg/eigen.h"

#include <arpack/arpack.h>
#include <arpack/stat_c.h>
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

psfm_status psfm_eigen_symmetric(psfm_context *ctx, uint32_t n, double *A, double *w) {
    if (n == 0)
        return PSFM_OK;
    if (n > INT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a dense matrix of %u rows is too large", n);
    for (size_t c = 0; c < n; ++c)
        for (size_t r = 0; r <= c; ++r)
            if (!isfinite(A[c * n + r]))
                return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                                 "entry (%zu, %zu) of the matrix is not finite", r, c);
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, A, (lapack_int)n, w);
    if (info == LAPACK_WORK_MEMORY_ERROR)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory in the eigenproblem of %u rows", n);
    if (info != 0)
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "LAPACK could not solve an eigenproblem of %u rows",
                         n);
    return PSFM_OK;
}

/* Lanczos vectors between restarts, and eigenpairs that must converge: two, so that a second
 * eigenvalue close to the first is not filtered out in its place, or it in the second's. */
#define NUM_VECTORS 20
#define NUM_PAIRS 2

/* ARPACK's arguments between its calls. */
typedef struct {
    a_int ido, info;
    a_int iparam[11], ipntr[11];
    double *resid, *vectors, *workd;
    double workl[NUM_VECTORS * (NUM_VECTORS + 8)];
} arpack_state;

static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether ARPACK ran out of its Krylov space and went on from a random vector. Its generator keeps
 * its state from call to call, so that such a result would depend on what ran before. */
static bool drew_random_vectors(void) {
    a_int n[4], num_restarts = 0;
    float t[26];
    stat_c(&n[0], &n[1], &n[2], &n[3], &num_restarts, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
           &t[6], &t[7], &t[8], &t[9], &t[10], &t[11], &t[12], &t[13], &t[14], &t[15], &t[16],
           &t[17], &t[18], &t[19], &t[20], &t[21], &t[22], &t[23], &t[24], &t[25]);
    return num_restarts > 0;
}

/* Runs the reverse communication until ARPACK is done. */
static psfm_status iterate(psfm_context *ctx, const psfm_operator *A, double tolerance,
                           arpack_state *s, int *num_products) {
    a_int n = (a_int)A->n;
    *num_products = 0;
    for (;;) {
        dsaupd_c(&s->ido, "I", n, "SA", NUM_PAIRS, tolerance, s->resid, NUM_VECTORS, s->vectors, n,
                 s->iparam, s->ipntr, s->workd, s->workl, NUM_VECTORS * (NUM_VECTORS + 8),
                 &s->info);
        if (s->ido != 1 && s->ido != -1)
            return PSFM_OK;
        psfm_status status =
            A->product(ctx, s->workd + s->ipntr[0] - 1, s->workd + s->ipntr[1] - 1, A->user);
        if (status != PSFM_OK)
            return status;
        ++*num_products;
    }
}

/* Overwrites the Lanczos vectors with the eigenvectors, in ascending order of eigenvalues. */
static void extract(uint32_t n, double tolerance, arpack_state *s, double values[NUM_PAIRS]) {
    a_int select[NUM_VECTORS] = {0};
    dseupd_c(1, "A", select, values, s->vectors, (a_int)n, 0.0, "I", (a_int)n, "SA", NUM_PAIRS,
             tolerance, s->resid, NUM_VECTORS, s->vectors, (a_int)n, s->iparam, s->ipntr, s->workd,
             s->workl, NUM_VECTORS * (NUM_VECTORS + 8), &s->info);
}

psfm_status psfm_eigen_smallest(psfm_context *ctx, const psfm_operator *A, double tolerance,
                                int max_restarts, double *x, psfm_eigen_result *result) {
    uint32_t n = A->n;
    if (n <= NUM_VECTORS || n > INT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "ARPACK is not for a matrix of %u rows", n);
    arpack_state s = {.info = 1}; /* 1: resid is the start vector */
    s.iparam[0] = 1;              /* ARPACK chooses the shifts */
    s.iparam[2] = max_restarts;
    s.iparam[3] = 1; /* the only block size there is */
    s.iparam[6] = 1; /* A x = lambda x */
    *result = (psfm_eigen_result){0};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &s.resid)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, (size_t)n * NUM_VECTORS, &s.vectors)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, (size_t)n * 3, &s.workd)) != PSFM_OK)
        goto cleanup;
    memcpy(s.resid, x, n * sizeof *x);
    pthread_mutex_lock(&arpack_lock);
    status = iterate(ctx, A, tolerance, &s, &result->num_products);
    bool found =
        status == PSFM_OK && s.info == 0 && s.iparam[4] >= NUM_PAIRS && !drew_random_vectors();
    double values[NUM_PAIRS] = {0.0};
    if (found)
        extract(n, tolerance, &s, values);
    pthread_mutex_unlock(&arpack_lock);
    result->converged = found && s.info == 0;
    if (result->converged) {
        result->value = values[0];
        memcpy(x, s.vectors, n * sizeof *x);
    }
    if (status == PSFM_OK && s.info < 0)
        status = psfm_fail(ctx, PSFM_ERR_NUMERIC, "ARPACK failed on a matrix of %u rows (info %d)",
                           n, (int)s.info);

cleanup:
    free(s.resid);
    free(s.vectors);
    free(s.workd);
    return status;
}
