/* LightGlue: matches keypoints of two images by attention with relative positions.
 * Lindenberger, Sarlin, Pollefeys, "LightGlue", ICCV 2023. The same code runs the full network
 * (SuperPoint, DISK or ALIKED descriptors) and LighterGlue, its small version for XFeat
 * (Potje and others, "XFeat", CVPR 2024). */
#ifndef PSFM_MATCH_LIGHTGLUE_H
#define PSFM_MATCH_LIGHTGLUE_H

#include "core/base/options.h"
#include "images/match/neural_matches.h"
#include "images/nn/network.h"

typedef struct {
    double threshold; /* lowest confidence of a match */
    double confident; /* where there are matches enough, only those above this; 0: off; no option */
    int at_least;     /* how many are enough */
} psfm_lightglue_options;

extern const psfm_option_table psfm_lightglue_option_table;

/* How the weights files for SuperPoint's and XFeat's descriptors are known. */
extern const psfm_network_file psfm_lightglue_superpoint_file, psfm_lightglue_xfeat_file;

typedef struct psfm_lightglue psfm_lightglue;

/* Its weights are a safetensors file with the names of the original code (transformers.0. ... or
 * self_attn.0. ...) or of the Hugging Face models (transformer_layers.0. ..., for example
 * ETH-CVG/lightglue_superpoint). Width, depth, heads and input are taken from the file. */
extern const psfm_network_type psfm_lightglue_network;

/* Length of the descriptors it takes: 256 for SuperPoint, 128 for ALIKED and DISK, 64 for XFeat. */
size_t psfm_lightglue_dim(const psfm_lightglue *model);

/* Matches two sets of features; their descriptors must have the model's length. Time grows with
 * m + n and m n, the numbers of keypoints. The model keeps its memory for the next pair. The caller
 * frees the matches. `options` may be NULL. */
psfm_status psfm_lightglue_match(psfm_context *ctx, psfm_lightglue *model,
                                 const psfm_neural_input *a, const psfm_neural_input *b,
                                 const psfm_lightglue_options *options,
                                 psfm_neural_matches *matches);

#endif
