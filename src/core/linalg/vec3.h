/* 3-vectors; a check and the product of vectors of any length. All inputs may alias the output
 * unless said. */
#ifndef PSFM_LINALG_VEC3_H
#define PSFM_LINALG_VEC3_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool psfm_all_finite(const double *values, size_t num) {
    for (size_t k = 0; k < num; ++k)
        if (!isfinite(values[k]))
            return false;
    return true;
}

static inline double psfm_dot(const double *a, const double *b, size_t num) {
    double sum = 0.0;
    for (size_t k = 0; k < num; ++k)
        sum += a[k] * b[k];
    return sum;
}

static inline double psfm_dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double psfm_norm3(const double a[3]) {
    return sqrt(psfm_dot3(a, a));
}

static inline void psfm_cross3(const double a[3], const double b[3], double out[3]) {
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* out = a + s b */
static inline void psfm_axpy3(const double a[3], double s, const double b[3], double out[3]) {
    for (int k = 0; k < 3; ++k)
        out[k] = a[k] + s * b[k];
}

static inline void psfm_sub3(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; ++k)
        out[k] = a[k] - b[k];
}

static inline void psfm_scale3(double s, const double a[3], double out[3]) {
    for (int k = 0; k < 3; ++k)
        out[k] = s * a[k];
}

/* Scales to unit length and returns the former length; a zero vector is left as it is. */
static inline double psfm_normalize3(double a[3]) {
    double length = psfm_norm3(a);
    if (length > 0.0)
        psfm_scale3(1.0 / length, a, a);
    return length;
}

/* Angle between two non-zero vectors in radians, accurate near 0 and pi. */
static inline double psfm_angle3(const double a[3], const double b[3]) {
    double c[3];
    psfm_cross3(a, b, c);
    return atan2(psfm_norm3(c), psfm_dot3(a, b));
}

#endif
