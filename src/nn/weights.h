/* Weights of one layer from a file, with the batch norm after it folded in. */
#ifndef PSFM_NN_WEIGHTS_H
#define PSFM_NN_WEIGHTS_H

#include "nn/safetensors.h"

/* Longest tensor name that layers build. */
#define PSFM_TENSOR_NAME_SIZE 192

/* Weights as stored (num_out rows of per_out values) and one bias per row. Owns both. */
typedef struct {
    size_t num_out, per_out;
    float *weights, *bias;
} psfm_layer_weights;

/* Reads LAYER.weight and, if there is one, LAYER.bias (0 otherwise). If `norm` is not NULL, folds
 * the batch norm NORM.running_mean, running_var, and weight and bias if there: y = a x + b with
 * a = weight / sqrt(var + 1e-5), b = bias - a mean. Works for layers that feed the norm directly;
 * one behind an activation cannot be folded. The caller frees with psfm_layer_weights_free. */
psfm_status psfm_layer_weights_read(psfm_context *ctx, const psfm_safetensors *file,
                                    const char *layer, const char *norm, size_t num_out,
                                    size_t per_out, psfm_layer_weights *out);
void psfm_layer_weights_free(psfm_layer_weights *w);

/* Whether the file has the tensor PREFIX.SUFFIX. */
bool psfm_weights_have(const psfm_safetensors *file, const char *prefix, const char *suffix);

#endif
