#include "feature/gray_map.h"

#include <math.h>

psfm_status psfm_gray_to_map(psfm_context *ctx, const psfm_gray_view *image, psfm_map *map) {
    psfm_status status = psfm_map_resize(ctx, map, image->height, image->width, 1);
    for (size_t y = 0; status == PSFM_OK && y < image->height; ++y)
        for (size_t x = 0; x < image->width; ++x)
            map->data[y * image->width + x] = (float)image->pixels[y * image->stride + x] / 255.0f;
    return status;
}

psfm_status psfm_gray_to_multiple(psfm_context *ctx, psfm_engine *nn, const psfm_gray_view *image,
                                  size_t multiple, psfm_resize_rule rule, psfm_map *whole,
                                  psfm_map *map) {
    size_t height = image->height / multiple * multiple, width = image->width / multiple * multiple;
    if (height == image->height && width == image->width)
        return psfm_gray_to_map(ctx, image, map);
    psfm_status status = psfm_gray_to_map(ctx, image, whole);
    return status == PSFM_OK
               ? psfm_map_resize_bilinear(ctx, nn, whole, height, width, rule, false, map)
               : status;
}

/* Sum of (x - shift)^power, power 1 or 2, in eight parts that the compiler can keep in vectors. */
static double sum_powers(const float *x, size_t num, double shift, int power) {
    double parts[8] = {0}, sum = 0;
    size_t k = 0;
    for (; k + 8 <= num; k += 8)
        for (size_t j = 0; j < 8; ++j) {
            double d = (double)x[k + j] - shift;
            parts[j] += power == 1 ? d : d * d;
        }
    for (; k < num; ++k) {
        double d = (double)x[k] - shift;
        sum += power == 1 ? d : d * d;
    }
    for (size_t j = 0; j < 8; ++j)
        sum += parts[j];
    return sum;
}

void psfm_map_standardise(psfm_map *map) {
    size_t num = map->height * map->width;
    double mean = sum_powers(map->data, num, 0, 1) / (double)num;
    double variance = sum_powers(map->data, num, mean, 2) / (double)num;
    float shift = (float)mean, scale = (float)(1.0 / sqrt(variance + 1e-5));
    for (size_t k = 0; k < num; ++k)
        map->data[k] = (map->data[k] - shift) * scale;
}
