/* SuperGlue: matches keypoints of two images by an attentional graph network.
 * Sarlin, DeTone, Malisiewicz, Rabinovich, "SuperGlue", CVPR 2020. */
#ifndef PSFM_MATCH_SUPERGLUE_H
#define PSFM_MATCH_SUPERGLUE_H

#include "base/options.h"
#include "match/neural_matches.h"
#include "nn/weights_files.h"

typedef struct {
    int iterations;   /* of Sinkhorn's algorithm */
    double threshold; /* lowest confidence of a match */
} psfm_superglue_options;

extern const psfm_option_table psfm_superglue_option_table;

/* How its weights file is known. */
extern const psfm_network_file psfm_superglue_file;

typedef struct psfm_superglue psfm_superglue;

/* Loads the weights: a safetensors file with the names of the Hugging Face models
 * magic-leap-community/superglue_indoor and superglue_outdoor. Width and depth are taken from the
 * file. The engine must outlive the model. */
psfm_status psfm_superglue_create(psfm_context *ctx, psfm_engine *nn, const char *path,
                                  psfm_superglue **out);
/* Frees and sets *model to NULL. */
void psfm_superglue_destroy(psfm_superglue **model);

/* Length of the descriptors it takes, 256 for SuperPoint. */
size_t psfm_superglue_dim(const psfm_superglue *model);

/* Matches two sets of features; their descriptors must have the model's length. Time grows with
 * m + n and m n, the numbers of keypoints: 88 GFLOP at 1024 keypoints each. The model keeps its
 * memory for the next pair. The caller frees the matches. `options` may be NULL. */
psfm_status psfm_superglue_match(psfm_context *ctx, psfm_superglue *model,
                                 const psfm_neural_input *a, const psfm_neural_input *b,
                                 const psfm_superglue_options *options,
                                 psfm_neural_matches *matches);

/* Operations of the matrix products for m and n keypoints. */
double psfm_superglue_flops(const psfm_superglue *model, size_t m, size_t n);

#endif
