/* Convolutions of feature maps. */
#ifndef PSFM_NN_CONV_H
#define PSFM_NN_CONV_H

#include "images/nn/engine.h"
#include "images/nn/weights.h"

/* A feature map, pixel by pixel: channel c of pixel (x, y) is data[(y * width + x) * pitch + c].
 * The pitch is the number of channels rounded up to 16, or 1 for one channel; what lies between is
 * undefined. Owns its memory, which grows and is kept. Zero-initialise. */
typedef struct {
    size_t height, width, channels, pitch;
    float *data;
    psfm_buffer buffer;
} psfm_map;

psfm_status psfm_map_resize(psfm_context *ctx, psfm_map *map, size_t height, size_t width,
                            size_t channels);
void psfm_map_free(psfm_map *map);

/* Zero padding is (kernel - 1) / 2 on all sides. */
typedef struct {
    size_t c_in, c_out;
    size_t kernel; /* side */
    size_t stride;
    size_t groups; /* 1 unless the convolution is by Winograd */
    bool relu;
} psfm_conv_shape;

typedef enum {
    PSFM_CONV_POINTWISE, /* 1 x 1: a product of pixels and weights */
    PSFM_CONV_WINOGRAD, /* 3 x 3, stride 1: F(4x4, 3x3), 36 products of tiles, a quarter of the work
                         */
    PSFM_CONV_GATHER,   /* the rest: neighbourhoods copied side by side, then one product */
} psfm_conv_method;

/* A layer, its weights laid out for its method. Owns them. */
typedef struct {
    psfm_conv_shape shape;
    psfm_conv_method method;
    bool panels; /* weights are in panels (psfm_product), not row by row */
    float *weights;
    float *bias; /* c_out, rounded up to 16 */
} psfm_conv;

/* Reads the weights (c_out x c_in / groups x kernel x kernel) of LAYER, norm folded as in
 * psfm_layer_weights_read. */
psfm_status psfm_conv_load(psfm_context *ctx, const psfm_safetensors *file, const char *layer,
                           const char *norm, const psfm_conv_shape *shape, psfm_conv *conv);
void psfm_conv_free(psfm_conv *conv);

/* What a convolution may do besides; all NULL or false is plain. */
typedef struct {
    const psfm_map *add; /* of the size of the output: added before the activation */
    bool pool;           /* Winograd only, no add: output the maxima of 2 x 2 pixels */
    /* Winograd only: a convolution of one channel to c_in, run just before on the rows that a tile
     * needs, so that the map between the two never exists. */
    const psfm_conv *first;
} psfm_conv_extras;

/* Convolves; dst is resized. `extras` may be NULL. */
psfm_status psfm_conv_run(psfm_context *ctx, psfm_engine *nn, const psfm_conv *conv,
                          const psfm_map *src, const psfm_conv_extras *extras, psfm_map *dst);

#endif
