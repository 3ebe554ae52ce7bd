/* Images of stripes with known places, for the tests of src/lines. */
#ifndef PSFM_TEST_LINE_SCENE_H
#define PSFM_TEST_LINE_SCENE_H

#include <math.h>

#include "core/base/rng.h"
#include "images/image/image_io.h"

/* A stripe along the line x cos a + y sin a = d (pixels, the first centre at 0.5). */
typedef struct {
    double angle, distance, width;
    double on, left, right; /* grey levels on the stripe and on its sides */
} line_stripe;

static inline double stripe_across(const line_stripe *s, double x, double y) {
    return x * cos(s->angle) + y * sin(s->angle) - s->distance;
}

/* Grey value of a pixel, the mean over 16 x 16 places in it. */
static inline double stripe_value(const line_stripe *s, int x, int y) {
    enum { N = 16 };
    double sum = 0.0;
    for (int v = 0; v < N; ++v) {
        for (int u = 0; u < N; ++u) {
            double across = stripe_across(s, x + (u + 0.5) / N, y + (v + 0.5) / N);
            sum += fabs(across) <= 0.5 * s->width ? s->on : across < 0.0 ? s->left : s->right;
        }
    }
    return sum / (N * N);
}

/* Draws the stripe into the gray values, with noise. */
static inline void draw_stripe(psfm_image *image, const line_stripe *s, double noise) {
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 1, 0);
    for (int y = 0; y < image->height; ++y)
        for (int x = 0; x < image->width; ++x) {
            double value = stripe_value(s, x, y) + noise * psfm_rng_normal(&rng);
            image->gray[y * image->width + x] = (uint8_t)fmin(fmax(value + 0.5, 0.0), 255.0);
        }
}

#endif
