/* SuperPoint: keypoints and 256-dimensional descriptors by a convolutional network.
 * DeTone, Malisiewicz, Rabinovich, "SuperPoint", CVPR Workshops 2018. */
#ifndef PSFM_FEATURE_SUPERPOINT_H
#define PSFM_FEATURE_SUPERPOINT_H

#include "base/options.h"
#include "feature/neural_features.h"
#include "nn/engine.h"
#include "nn/weights_files.h"

#define PSFM_SUPERPOINT_DIM 256

typedef struct {
    int max_keypoints; /* the best are kept */
    double threshold;  /* lowest score of a keypoint */
    int nms_radius;    /* pixels within which only the best stays */
    int border;        /* pixels at the image border without keypoints */
    bool subpixel;     /* positions by parabolas through the scores; pixel centres otherwise */
} psfm_superpoint_options;

extern const psfm_option_table psfm_superpoint_option_table;

/* How its weights file is known. */
extern const psfm_network_file psfm_superpoint_file;

typedef struct psfm_superpoint psfm_superpoint;

/* Loads the weights: a safetensors file with the names of the Hugging Face model
 * magic-leap-community/superpoint (a SuperGlue file that carries the detector does too). The
 * engine must outlive the model. */
psfm_status psfm_superpoint_create(psfm_context *ctx, psfm_engine *nn, const char *path,
                                   psfm_superpoint **out);
/* Frees and sets *model to NULL. */
void psfm_superpoint_destroy(psfm_superpoint **model);

/* Finds keypoints. They are in row order, or by falling score if there were more than
 * max_keypoints. Work and memory grow with the image: 180 bytes and 0.17 MFLOP a pixel. The model
 * keeps its maps for the next image. The caller frees the features. `options` may be NULL. */
psfm_status psfm_superpoint_extract(psfm_context *ctx, psfm_superpoint *model,
                                    const psfm_gray_view *image,
                                    const psfm_superpoint_options *options,
                                    psfm_keypoint_set *features);

/* Operations of the convolutions on an image, counted as direct convolutions. */
double psfm_superpoint_flops(size_t width, size_t height);

#endif
