/* Null spaces of a few rows of nine numbers, as epipolar constraints have them. */
#ifndef PSFM_LINALG_NULL_SPACE_H
#define PSFM_LINALG_NULL_SPACE_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* 9 - num orthonormal vectors orthogonal to the num < 9 rows, by Householder reflections of the
 * transposed matrix. Overwrites the rows. False if they are dependent. Inline: num is constant
 * where it is called. */
static inline bool psfm_null_space(int num, double rows[][9], double basis[][9]) {
    double reflector[8][9], scale[8];
    for (int k = 0; k < num; ++k) {
        double norm2 = 0.0, *v = reflector[k];
        memset(v, 0, 9 * sizeof *v);
        for (int c = k; c < 9; ++c) {
            v[c] = rows[k][c];
            norm2 += v[c] * v[c];
        }
        double norm = sqrt(norm2);
        if (!(norm > 1e-10))
            return false;
        scale[k] = 1.0 / (norm2 + norm * fabs(v[k])); /* 2 / |v|^2 after the next line */
        v[k] += copysign(norm, v[k]);
        for (int r = k + 1; r < num; ++r) {
            double dot = 0.0;
            for (int c = k; c < 9; ++c)
                dot += v[c] * rows[r][c];
            for (int c = k; c < 9; ++c)
                rows[r][c] -= scale[k] * dot * v[c];
        }
    }
    for (int b = 0; b < 9 - num; ++b) {
        memset(basis[b], 0, sizeof basis[b]);
        basis[b][num + b] = 1.0;
        for (int k = num - 1; k >= 0; --k) {
            double dot = 0.0;
            for (int c = k; c < 9; ++c)
                dot += reflector[k][c] * basis[b][c];
            for (int c = k; c < 9; ++c)
                basis[b][c] -= scale[k] * dot * reflector[k][c];
        }
    }
    return true;
}

#endif
