/* Student's t: the distribution of residuals whose tails are heavier than a normal one's. */
#ifndef PSFM_LINALG_STUDENT_T_H
#define PSFM_LINALG_STUDENT_T_H

#include <stddef.h>

typedef struct {
    double freedom; /* degrees of freedom; PSFM_STUDENT_NORMAL for (nearly) normal residuals */
    double scale;   /* of the core: the standard deviation of a coordinate if normal */
} psfm_student;

#define PSFM_STUDENT_NORMAL 1000.0

/* Most likely centred, isotropic t distribution of points in the plane, given their squared
 * distances from the centre (num, finite, >= 0). Degrees of freedom come from a fixed list between
 * 0.5 and PSFM_STUDENT_NORMAL. Without values, or if half of them are zero, the scale is 0.
 * Deterministic; reorders nothing. O(num), some 10 ns a value and degree. */
psfm_student psfm_student_fit(const double *squares, size_t num);

#endif
