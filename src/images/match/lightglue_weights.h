/* The weights of LightGlue, as lightglue.c uses them. */
#ifndef PSFM_MATCH_LIGHTGLUE_WEIGHTS_H
#define PSFM_MATCH_LIGHTGLUE_WEIGHTS_H

#include "images/nn/linear.h"

#define PSFM_LIGHTGLUE_MAX_LAYERS 32

/* x <- x + W2 gelu(norm(W1 [x, attention])); the output projection of the attention is in W1. */
typedef struct {
    psfm_linear qkv; /* dim -> [Q, K, V], or across images [QK, V] */
    psfm_linear ffn1;
    psfm_linear norm; /* gains and offsets of 2 dim channels */
    psfm_linear ffn2;
} psfm_lightglue_block;

/* Turns final states into scores. */
typedef struct {
    psfm_linear final;        /* scaled by dim^-1/4 */
    psfm_linear matchability; /* dim -> 1 */
} psfm_lightglue_head;

typedef struct {
    size_t dim_in, dim, num_heads, num_layers;
    float *frequencies; /* (dim / num_heads / 2) x 2 */
    /* From here on nothing but psfm_linear. */
    psfm_linear input; /* in == 0 if descriptors are used as they are */
    psfm_lightglue_block within[PSFM_LIGHTGLUE_MAX_LAYERS], across[PSFM_LIGHTGLUE_MAX_LAYERS];
    psfm_lightglue_head head; /* of the last layer */
} psfm_lightglue_weights;

/* Length of the descriptors that a file is for, 0 if it is not LightGlue's. */
size_t psfm_lightglue_weights_dim(const psfm_safetensors *file);

/* Fills zeroed weights, whoever owns them frees also what failed half way. */
psfm_status psfm_lightglue_weights_load(psfm_context *ctx, psfm_engine *nn,
                                        const psfm_safetensors *file, psfm_lightglue_weights *w);

#endif
