/* Blur takes the differences of neighbours more than those of pixels further apart. Their ratio
 * does not depend on contrast, and little on what there is to see. */
#include "images/image/sharpness.h"

#include <math.h>

#define FAR 8

static double sum_squares(const psfm_image *image, int step) {
    const int width = image->width, height = image->height;
    double sum = 0.0;
    for (int y = 0; y + FAR < height; ++y)
        for (int x = 0; x + FAR < width; ++x) {
            const uint8_t *at = image->gray + (size_t)y * (size_t)width + x;
            const double across = (double)at[step] - (double)at[0];
            const double down = (double)at[(size_t)step * (size_t)width] - (double)at[0];
            sum += across * across + down * down;
        }
    return sum;
}

double psfm_image_sharpness(const psfm_image *image) {
    if (image->width < 2 * FAR || image->height < 2 * FAR)
        return 0.0;
    const double far = sum_squares(image, FAR);
    return far > 0.0 ? sqrt(sum_squares(image, 1) / far) : 0.0;
}
