/* Down the columns first, row by row of the result, then along that row: it is still in the cache,
 * and both loops read and write memory in its order. */
#include "lines/smooth.h"

#include <math.h>

size_t psfm_smooth_scratch(int width) {
    return (size_t)width + 2 * PSFM_SMOOTH_MAX_RADIUS;
}

/* kernel[j] is the weight of the pixels j away; returns the radius. */
static int make_kernel(double sigma, float *kernel) {
    int radius = (int)ceil(3.0 * sigma);
    if (radius > PSFM_SMOOTH_MAX_RADIUS)
        radius = PSFM_SMOOTH_MAX_RADIUS;
    double sum = 0.0, weight[PSFM_SMOOTH_MAX_RADIUS + 1];
    for (int j = 0; j <= radius; ++j) {
        weight[j] = exp(-0.5 * j * j / (sigma * sigma));
        sum += j == 0 ? weight[j] : 2.0 * weight[j];
    }
    for (int j = 0; j <= radius; ++j)
        kernel[j] = (float)(weight[j] / sum);
    return radius;
}

static const float *row_at(const float *in, int width, int height, int y) {
    int inside = y < 0 ? 0 : y >= height ? height - 1 : y;
    return in + (size_t)inside * (size_t)width;
}

static void smooth_columns(const float *in, int width, int height, int y, const float *kernel,
                           int radius, float *restrict out) {
    const float *middle = row_at(in, width, height, y);
    for (int x = 0; x < width; ++x)
        out[x] = kernel[0] * middle[x];
    for (int j = 1; j <= radius; ++j) {
        const float *above = row_at(in, width, height, y - j);
        const float *below = row_at(in, width, height, y + j);
        float weight = kernel[j];
        for (int x = 0; x < width; ++x)
            out[x] += weight * (above[x] + below[x]);
    }
}

/* `row` has `radius` floats before its first and after its last pixel. */
static void smooth_row(float *row, int width, const float *kernel, int radius,
                       float *restrict out) {
    for (int j = 1; j <= radius; ++j) {
        row[-j] = row[0];
        row[width - 1 + j] = row[width - 1];
    }
    for (int x = 0; x < width; ++x)
        out[x] = kernel[0] * row[x];
    for (int j = 1; j <= radius; ++j) {
        float weight = kernel[j];
        const float *left = row - j, *right = row + j;
        for (int x = 0; x < width; ++x)
            out[x] += weight * (left[x] + right[x]);
    }
}

void psfm_smooth(const float *in, int width, int height, double sigma, float *scratch, float *out) {
    float kernel[PSFM_SMOOTH_MAX_RADIUS + 1];
    int radius = make_kernel(sigma, kernel);
    float *row = scratch + PSFM_SMOOTH_MAX_RADIUS;
    for (int y = 0; y < height; ++y) {
        smooth_columns(in, width, height, y, kernel, radius, row);
        smooth_row(row, width, kernel, radius, out + (size_t)y * (size_t)width);
    }
}
