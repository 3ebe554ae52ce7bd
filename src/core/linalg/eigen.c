/* LAPACK's divide and conquer. */
#include "core/linalg/eigen.h"

#include <lapacke.h>
#include <math.h>

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
        return psfm_fail_memory(ctx);
    if (info != 0)
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "LAPACK could not solve an eigenproblem of %u rows",
                         n);
    return PSFM_OK;
}
