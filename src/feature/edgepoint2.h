/* EdgePoint2: a family of small networks for keypoints and descriptors of 32, 48 or 64 dimensions,
 * to be matched by mutual nearest neighbours.
 * Yao and others, "EdgePoint2: Compact descriptors for superior efficiency and accuracy", 2025. */
#ifndef PSFM_FEATURE_EDGEPOINT2_H
#define PSFM_FEATURE_EDGEPOINT2_H

#include "base/options.h"
#include "feature/neural_features.h"
#include "nn/engine.h"
#include "nn/weights_files.h"

typedef struct {
    int max_keypoints; /* the best are kept */
    double threshold;  /* lowest score of a keypoint; scores are logits */
    int nms_radius;    /* pixels within which only the best stays */
    bool subpixel;     /* positions by parabolas through the scores; pixel centres otherwise */
} psfm_edgepoint2_options;

extern const psfm_option_table psfm_edgepoint2_option_table;

/* How its weights file is known. */
extern const psfm_network_file psfm_edgepoint2_file;

typedef struct psfm_edgepoint2 psfm_edgepoint2;

/* Loads the weights: a safetensors file with the names of the original model, of any size from T32
 * to E64; the sizes of the layers are taken from the file. The engine must outlive the model. */
psfm_status psfm_edgepoint2_create(psfm_context *ctx, psfm_engine *nn, const char *path,
                                   psfm_edgepoint2 **out);
/* Frees and sets *model to NULL. */
void psfm_edgepoint2_destroy(psfm_edgepoint2 **model);

/* Length of its descriptors. */
size_t psfm_edgepoint2_dim(const psfm_edgepoint2 *model);

/* Finds keypoints, sorted by falling score. The network works on the image shrunk to multiples of
 * 32 pixels; keypoints are in the image given. The model keeps its maps for the next image. The
 * caller frees the features. `options` may be NULL. */
psfm_status psfm_edgepoint2_extract(psfm_context *ctx, psfm_edgepoint2 *model,
                                    const psfm_gray_view *image,
                                    const psfm_edgepoint2_options *options,
                                    psfm_keypoint_set *features);

/* Operations of the convolutions on an image, counted as direct convolutions. */
double psfm_edgepoint2_flops(const psfm_edgepoint2 *model, size_t width, size_t height);

#endif
