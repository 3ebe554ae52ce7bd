/* The weights of LightGlue, as lightglue.c uses them. */
#ifndef PSFM_MATCH_LIGHTGLUE_WEIGHTS_H
#define PSFM_MATCH_LIGHTGLUE_WEIGHTS_H

#include "nn/linear.h"

#define PSFM_LIGHTGLUE_MAX_LAYERS 32

/* x <- x + W2 gelu(norm(W1 [x, attention])); the output projection of the attention is in W1. */
typedef struct {
    psfm_linear qkv; /* dim -> [Q, K, V], or across images [QK, V] */
    psfm_linear ffn1;
    float *norm; /* 2 dim gains, 2 dim offsets */
    psfm_linear ffn2;
} psfm_lightglue_block;

/* Turns final states into scores; not all layers of a file need have one. */
typedef struct {
    bool present;
    psfm_linear final;        /* scaled by dim^-1/4 */
    psfm_linear matchability; /* dim -> 1 */
} psfm_lightglue_head;

typedef struct {
    size_t dim_in, dim, num_heads, num_layers;
    psfm_linear input;  /* in == 0 if descriptors are used as they are */
    float *frequencies; /* (dim / num_heads / 2) x 2 */
    psfm_lightglue_block within[PSFM_LIGHTGLUE_MAX_LAYERS], across[PSFM_LIGHTGLUE_MAX_LAYERS];
    psfm_lightglue_head heads[PSFM_LIGHTGLUE_MAX_LAYERS];
    psfm_linear confidence[PSFM_LIGHTGLUE_MAX_LAYERS]; /* dim -> 1; in == 0 if the file has none */
} psfm_lightglue_weights;

/* Length of the descriptors that a file is for, 0 if it is not LightGlue's. */
size_t psfm_lightglue_weights_dim(const psfm_safetensors *file);

/* Zero-initialise before; free after success and failure. */
psfm_status psfm_lightglue_weights_load(psfm_context *ctx, psfm_engine *nn, const char *path,
                                        psfm_lightglue_weights *w);
void psfm_lightglue_weights_free(psfm_lightglue_weights *w);

#endif
