/* Winograd's convolution F(4x4, 3x3); conv.c is the only user. */
#ifndef PSFM_NN_WINOGRAD_H
#define PSFM_NN_WINOGRAD_H

#include "nn/conv.h"

/* Number of floats of the transformed weights. */
size_t psfm_winograd_weights_size(const psfm_conv_shape *shape);
/* G g G^T of c_out x (c_in / groups) kernels of 3 x 3. */
void psfm_winograd_weights(const psfm_conv_shape *shape, const float *weights, float *out);

/* See psfm_conv_run; dst has its size. */
psfm_status psfm_winograd_run(psfm_context *ctx, psfm_engine *nn, const psfm_conv *conv,
                              const psfm_map *src, const psfm_conv_extras *extras, psfm_map *dst);

#endif
