/* Pictures with something to detect. */
#ifndef PSFM_FEATURE_UTIL_H
#define PSFM_FEATURE_UTIL_H

#include "core/base/rng.h"
#include "images/image/image_io.h"

/* Gray 0.5 with `num` bright and dark spots of 1 to 8 pixels. */
static inline psfm_image spotted(psfm_context *ctx, int width, int height, int num, uint64_t seed) {
    psfm_image image;
    float *gray = calloc((size_t)(width * height), sizeof *gray);
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, (uint64_t)width, (uint64_t)height);
    assert_ok(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < num; ++k) {
        double x0 = psfm_rng_range(&rng, 0, width), y0 = psfm_rng_range(&rng, 0, height);
        double a = psfm_rng_range(&rng, 1, 8), b = psfm_rng_range(&rng, 1, 8);
        double turn = psfm_rng_range(&rng, 0, 3.2), height_k = psfm_rng_range(&rng, -0.4, 0.4);
        for (int y = (int)fmax(y0 - 25, 0); y < (int)fmin(y0 + 25, height); ++y) {
            for (int x = (int)fmax(x0 - 25, 0); x < (int)fmin(x0 + 25, width); ++x) {
                double u = cos(turn) * (x - x0) + sin(turn) * (y - y0);
                double v = -sin(turn) * (x - x0) + cos(turn) * (y - y0);
                gray[y * width + x] +=
                    (float)(height_k * exp(-0.5 * (u * u / a / a + v * v / b / b)));
            }
        }
    }
    for (int k = 0; k < width * height; ++k) {
        double noisy = 255.0 * (0.5 + (double)gray[k]) + psfm_rng_normal(&rng);
        image.gray[k] = (uint8_t)fmin(fmax(noisy + 0.5, 0), 255);
    }
    free(gray);
    return image;
}

#endif
