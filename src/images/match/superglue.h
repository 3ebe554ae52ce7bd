/* SuperGlue: matches keypoints of two images by an attentional graph network.
 * Sarlin, DeTone, Malisiewicz, Rabinovich, "SuperGlue", CVPR 2020. */
#ifndef PSFM_MATCH_SUPERGLUE_H
#define PSFM_MATCH_SUPERGLUE_H

#include "core/base/options.h"
#include "images/match/neural_matches.h"
#include "images/nn/engine.h"
#include "images/nn/network.h"

typedef struct {
    double threshold; /* lowest confidence of a match */
} psfm_superglue_options;

extern const psfm_option_table psfm_superglue_option_table;

/* How its weights file is known. */
extern const psfm_network_file psfm_superglue_file;

typedef struct psfm_superglue psfm_superglue;

/* Its weights are a safetensors file with the names of the Hugging Face models
 * magic-leap-community/superglue_indoor and superglue_outdoor. Width and depth are taken from the
 * file. */
extern const psfm_network_type psfm_superglue_network;

/* Length of the descriptors it takes, 256 for SuperPoint. */
size_t psfm_superglue_dim(const psfm_superglue *model);

/* Matches two sets of features; their descriptors must have the model's length. Time grows with
 * m + n and m n, the numbers of keypoints: 88 GFLOP at 1024 keypoints each. The model keeps its
 * memory for the next pair. The caller frees the matches. `options` may be NULL. */
psfm_status psfm_superglue_match(psfm_context *ctx, psfm_superglue *model,
                                 const psfm_neural_input *a, const psfm_neural_input *b,
                                 const psfm_superglue_options *options,
                                 psfm_neural_matches *matches);

typedef struct {
    size_t m, n, ld;
    const float *z; /* (m + 1) x (n + 1), rows ld floats apart, ld a multiple of 16 */
    float *u, *v;   /* out: m + 1 and ld entries */
} psfm_transport;

/* Sinkhorn's iterations from u = v = 0 towards shifts for which P = exp(z[i][j] + u[i] + v[j]) has
 * row sums 1 and column sums 1, except the dustbins, the last row (sum n) and column (sum m). The
 * last step sets the column sums, so those are exact. Parallel. */
psfm_status psfm_sinkhorn(psfm_context *ctx, psfm_engine *nn, const psfm_transport *transport,
                          int iterations);

#endif
