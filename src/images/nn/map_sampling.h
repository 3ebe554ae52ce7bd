/* Reading feature maps between pixels. Positions are in pixels of the map, (0, 0) being the centre
 * of the first. */
#ifndef PSFM_NN_MAP_SAMPLING_H
#define PSFM_NN_MAP_SAMPLING_H

#include "images/nn/conv.h"

typedef enum {
    PSFM_SAMPLE_NEAREST, /* halves go to the even neighbour */
    PSFM_SAMPLE_BILINEAR,
    PSFM_SAMPLE_BICUBIC, /* Keys' kernel with a = -0.75 */
} psfm_sample_mode;

/* All channels of one position into out; what lies outside the map counts as zero. */
void psfm_map_sample(const psfm_map *map, psfm_sample_mode mode, float x, float y, float *out);

/* Samples `num` positions and scales each to unit length: out is num x channels. Parallel. */
psfm_status psfm_map_sample_unit(psfm_context *ctx, psfm_engine *nn, const psfm_map *map,
                                 psfm_sample_mode mode, size_t num, const float (*positions)[2],
                                 float *out);

/* Scales each pixel to unit length over its channels (by at most 1e12). Parallel. */
psfm_status psfm_map_normalise(psfm_context *ctx, psfm_engine *nn, psfm_map *map);

/* How pixel i of n new pixels is found among m old ones. */
typedef enum {
    PSFM_RESIZE_CENTERS, /* (i + 1/2) m / n - 1/2, cut at the border: edges of the images agree */
    PSFM_RESIZE_CORNERS, /* i (m - 1) / (n - 1): centres of the corner pixels agree */
} psfm_resize_rule;

typedef struct {
    size_t height, width; /* of the result */
    psfm_resize_rule rule;
    bool add; /* dst += instead of dst =; dst has that size already */
} psfm_resize;

/* Bilinear resize of all channels. Parallel. */
psfm_status psfm_map_resize_bilinear(psfm_context *ctx, psfm_engine *nn, const psfm_map *src,
                                     const psfm_resize *resize, psfm_map *dst);

#endif
