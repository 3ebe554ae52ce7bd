/* 3 x 3 convolutions of a few large planes, as at the entrance of small networks, where pixels have
 * too few channels for vectors and for matrix products. */
#ifndef PSFM_NN_PLANE_CONV_H
#define PSFM_NN_PLANE_CONV_H

#include "images/nn/conv.h"

/* Channel by channel: value (x, y) of channel c is data[(c * height + y) * width + x]. Owns its
 * memory, which grows and is kept. Zero-initialise. */
typedef struct {
    size_t channels, height, width;
    float *data;
    psfm_buffer buffer;
} psfm_planes;

psfm_status psfm_planes_resize(psfm_context *ctx, psfm_planes *planes, size_t channels,
                               size_t height, size_t width);
void psfm_planes_free(psfm_planes *planes);

typedef struct {
    psfm_conv_shape shape; /* kernel 3, stride 1 or 2, c_out a multiple of 4, one group */
    float *weights;        /* (9 c_in) x c_out */
    float *bias;
} psfm_plane_conv;

/* As psfm_conv_load. */
psfm_status psfm_plane_conv_load(psfm_context *ctx, const psfm_safetensors *file, const char *layer,
                                 const char *norm, const psfm_conv_shape *shape,
                                 psfm_plane_conv *conv);
void psfm_plane_conv_free(psfm_plane_conv *conv);

/* Convolves into planes or, for layers that go on with other convolutions, into a map; exactly one
 * of the two is not NULL, and is resized. Parallel. */
psfm_status psfm_plane_conv_run(psfm_context *ctx, psfm_engine *nn, const psfm_plane_conv *conv,
                                const psfm_planes *src, psfm_planes *planes, psfm_map *map);

#endif
