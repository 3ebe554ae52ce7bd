/* Direction of a gradient. */
#ifndef PSFM_FEATURE_SIFT_ANGLE_H
#define PSFM_FEATURE_SIFT_ANGLE_H

#include <float.h>
#include <math.h>

/* The arc tangent by a cubic in (x - |y|) / (x + |y|) (J. Shima, "Fixed-point atan2 with self
 * normalization"), right to 0.01 rad: VLFeat uses it, and with it COLMAP. Coefficients for eighths
 * of a turn instead of radians. */
#define PSFM_ANGLE_C1 (0.9675F * 1.2732395F)
#define PSFM_ANGLE_C3 (0.1821F * 1.2732395F)

/* Direction of (gx, gy) in eighths of a turn, 0 <= angle < 8; of (0, 0) it is 2. */
static inline float psfm_sift_angle(float gx, float gy) {
    float ay = fabsf(gy) + FLT_EPSILON;
    float numerator = gx >= 0.0F ? gx - ay : gx + ay;
    float denominator = gx >= 0.0F ? gx + ay : ay - gx;
    float r = numerator / denominator;
    float angle = gx >= 0.0F ? 1.0F : 3.0F;
    angle = angle + (PSFM_ANGLE_C3 * r * r - PSFM_ANGLE_C1) * r;
    angle = gy < 0.0F ? 8.0F - angle : angle;
    return angle >= 8.0F ? angle - 8.0F : angle < 0.0F ? 0.0F : angle;
}

#endif
