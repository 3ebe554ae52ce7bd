/* What the versions of the kernel share; compiled once for each. */
#ifndef PSFM_PHOTO_PATCH_KERNEL_BODY_H
#define PSFM_PHOTO_PATCH_KERNEL_BODY_H

#include "photo/patch_kernel.h"

__attribute__((always_inline)) static inline float add_lanes(const float *s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

__attribute__((always_inline)) static inline void
sum_body(const float *w, float offset, const float *step_x, const float *step_y,
         const float *pattern, const float *window, size_t num, psfm_patch_sums *sums) {
    float value[PSFM_PATCH_LANES] = {0}, square[PSFM_PATCH_LANES] = {0};
    float sx[PSFM_PATCH_LANES] = {0}, sy[PSFM_PATCH_LANES] = {0}, product[PSFM_PATCH_LANES] = {0};
    for (size_t k = 0; k < num; k += PSFM_PATCH_LANES) {
        for (size_t l = 0; l < PSFM_PATCH_LANES; ++l) {
            float d = w[k + l] - offset, weighted = d * window[k + l];
            value[l] += weighted;
            square[l] += weighted * d;
            sx[l] += d * step_x[k + l];
            sy[l] += d * step_y[k + l];
            product[l] += d * pattern[k + l];
        }
    }
    sums->value = add_lanes(value);
    sums->square = add_lanes(square);
    sums->step_x = add_lanes(sx);
    sums->step_y = add_lanes(sy);
    sums->product = add_lanes(product);
}

#endif
