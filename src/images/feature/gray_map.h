/* Gray images as the input of networks. */
#ifndef PSFM_FEATURE_GRAY_MAP_H
#define PSFM_FEATURE_GRAY_MAP_H

#include "images/feature/neural_features.h"
#include "images/nn/map_sampling.h"

/* Gray values between 0 and 1, one channel. */
psfm_status psfm_gray_to_map(psfm_context *ctx, psfm_engine *nn, const psfm_gray_view *image,
                             psfm_map *map);

/* The same, then resized so that width and height are multiples of `multiple`, rounded down; the
 * image is at least that large. `whole` holds the image before the resize. */
psfm_status psfm_gray_to_multiple(psfm_context *ctx, psfm_engine *nn, const psfm_gray_view *image,
                                  size_t multiple, psfm_resize_rule rule, psfm_map *whole,
                                  psfm_map *map);

/* Shifts and scales a map of one channel to mean 0 and variance 1 (v / (v + 1e-5), precisely). */
psfm_status psfm_map_standardise(psfm_context *ctx, psfm_engine *nn, psfm_map *map);

#endif
