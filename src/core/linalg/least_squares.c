/* Cholesky's factorisation of a small dense matrix, and the solve. A pivot that rounding could
 * have left is a failure, not a huge step. */
#include "core/linalg/least_squares.h"

#include <math.h>

static bool factorize_spd(double *A, int n) {
    for (int j = 0; j < n; ++j) {
        double diagonal = A[n * j + j], d = diagonal;
        for (int k = 0; k < j; ++k)
            d -= A[n * j + k] * A[n * j + k];
        if (!(d > 1e-15 * diagonal))
            return false;
        double root = sqrt(d), inverse = 1.0 / root;
        A[n * j + j] = root;
        for (int i = j + 1; i < n; ++i) {
            double v = A[n * i + j];
            for (int k = 0; k < j; ++k)
                v -= A[n * i + k] * A[n * j + k];
            A[n * i + j] = v * inverse;
        }
    }
    return true;
}

bool psfm_solve_spd(double *A, int n, double *b) {
    if (!factorize_spd(A, n))
        return false;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k)
            b[i] -= A[n * i + k] * b[k];
        b[i] /= A[n * i + i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k)
            b[i] -= A[n * k + i] * b[k];
        b[i] /= A[n * i + i];
    }
    return true;
}
