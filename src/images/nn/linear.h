/* Fully connected layers and attention, on rows of a few points at a time. Everything here runs on
 * the calling thread; networks share out tiles of rows. */
#ifndef PSFM_NN_LINEAR_H
#define PSFM_NN_LINEAR_H

#include "images/nn/engine.h"
#include "images/nn/weights.h"

/* y = x W + b. Owns its arrays. */
typedef struct {
    size_t in, out;
    float *weights; /* in x out, transposed from the file */
    float *bias;    /* out */
} psfm_linear;

/* Reads LAYER.weight (out x in) and LAYER.bias, norm folded as in psfm_layer_weights_read. */
psfm_status psfm_linear_load(psfm_context *ctx, const psfm_safetensors *file, const char *layer,
                             const char *norm, size_t in, size_t out, psfm_linear *linear);

/* Zeroed weights, for layers put together from others. */
psfm_status psfm_linear_init(psfm_context *ctx, size_t in, size_t out, psfm_linear *linear);
void psfm_linear_free(psfm_linear *linear);

/* Copies `from` into columns column .. column + from->out, times `factor`. */
void psfm_linear_put(psfm_linear *to, const psfm_linear *from, size_t column, float factor);

/* Where the inputs row .. row + first->out of `second` are the outputs of `first`, makes them take
 * the inputs of `first` directly: W2' = W1 W2, b2' = b2 + b1 W2. first->in == first->out. */
psfm_status psfm_linear_absorb(psfm_context *ctx, psfm_engine *nn, const psfm_linear *first,
                               size_t row, psfm_linear *second);

/* y = x W + b, or with a ReLU; num rows, ldx and ldy floats apart: a matrix is given as to
 * psfm_engine_gemm, by its first value and the distance of its rows. */
void psfm_linear_apply(psfm_engine *nn, const psfm_linear *linear, size_t num, const float *x,
                       size_t ldx, float *y, size_t ldy, bool relu);

/* Most queries of a tile: the products are long enough, and its weights fit in the cache. */
#define PSFM_ATTENTION_ROWS ((size_t)64)

/* Queries of a tile, keys and values of all points: head h in columns h * head_dim ... */
typedef struct {
    size_t num_heads, head_dim;
    size_t num_queries, num_keys; /* num_keys > 0 */
    const float *queries, *keys, *values;
    size_t ld; /* of all three */
} psfm_attention;

/* Floats of scratch for psfm_attention_run. */
size_t psfm_attention_scratch(size_t num_queries, size_t num_keys);

/* out = softmax(Q K^T) V head by head; the scale of Q K^T is in the weights of Q. */
void psfm_attention_run(psfm_engine *nn, const psfm_attention *attention, float *out, size_t ld_out,
                        float *scratch);

#endif
