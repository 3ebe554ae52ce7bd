/* XFeat: a small, fast network for keypoints and 64-dimensional descriptors.
 * Potje, Cadar, Araujo, Martins, Nascimento, "XFeat", CVPR 2024. */
#ifndef PSFM_FEATURE_XFEAT_H
#define PSFM_FEATURE_XFEAT_H

#include "base/options.h"
#include "feature/neural_features.h"
#include "nn/engine.h"
#include "nn/weights_files.h"

#define PSFM_XFEAT_DIM 64

typedef struct {
    int max_keypoints; /* the best are kept */
    double threshold;  /* lowest value of a maximum in the keypoint map */
    int nms_radius;    /* pixels within which only the best stays */
    bool subpixel;     /* positions by parabolas through the scores; pixel centres otherwise */
} psfm_xfeat_options;

extern const psfm_option_table psfm_xfeat_option_table;

/* How its weights file is known. */
extern const psfm_network_file psfm_xfeat_file;

typedef struct psfm_xfeat psfm_xfeat;

/* Loads the weights: a safetensors file with the names of the original model, batch norms folded
 * (block1.0.weight) or not (block1.0.layer.0.weight), with or without "net." before them. The
 * engine must outlive the model. */
psfm_status psfm_xfeat_create(psfm_context *ctx, psfm_engine *nn, const char *path,
                              psfm_xfeat **out);
/* Frees and sets *model to NULL. */
void psfm_xfeat_destroy(psfm_xfeat **model);

/* Finds keypoints, sorted by falling score; scores are the product of keypoint and reliability map.
 * The network works on the image shrunk to multiples of 32 pixels; keypoints are in the image
 * given. The model keeps its maps for the next image. The caller frees the features. `options`
 * may be NULL. */
psfm_status psfm_xfeat_extract(psfm_context *ctx, psfm_xfeat *model, const psfm_gray_view *image,
                               const psfm_xfeat_options *options, psfm_keypoint_set *features);

/* Operations of the convolutions on an image, counted as direct convolutions. */
double psfm_xfeat_flops(size_t width, size_t height);

#endif
