#include "feature/gray_map.h"

#include <math.h>

psfm_status psfm_gray_to_map(psfm_context *ctx, const psfm_gray_view *image, psfm_map *map) {
    psfm_status status = psfm_map_resize(ctx, map, image->height, image->width, 1);
    for (size_t y = 0; status == PSFM_OK && y < image->height; ++y)
        for (size_t x = 0; x < image->width; ++x)
            map->data[y * image->width + x] = (float)image->pixels[y * image->stride + x] / 255.0f;
    return status;
}

psfm_status psfm_gray_to_multiple(psfm_context *ctx, psfm_nn *nn, const psfm_gray_view *image,
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

void psfm_map_standardise(psfm_map *map) {
    size_t num = map->height * map->width;
    double sum = 0, squares = 0;
    for (size_t k = 0; k < num; ++k)
        sum += map->data[k];
    double mean = sum / (double)num;
    for (size_t k = 0; k < num; ++k)
        squares += (map->data[k] - mean) * (map->data[k] - mean);
    double scale = 1.0 / sqrt(squares / (double)num + 1e-5);
    for (size_t k = 0; k < num; ++k)
        map->data[k] = (float)((map->data[k] - mean) * scale);
}
