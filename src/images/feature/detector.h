/* The choice of features, and the networks among them behind one interface. */
#ifndef PSFM_FEATURE_DETECTOR_H
#define PSFM_FEATURE_DETECTOR_H

#include "images/feature/neural_features.h"

typedef enum {
    PSFM_FEATURES_SIFT,
    PSFM_FEATURES_SUPERPOINT,
    PSFM_FEATURES_XFEAT,
    PSFM_FEATURES_EDGEPOINT2,
    PSFM_NUM_FEATURE_KINDS
} psfm_feature_kind;

/* The networks among them, for the registry of options: kind and name. The options of each are a
 * table psfm_<name>_option_table of psfm_neural_options. */
#define PSFM_NEURAL_DETECTORS(NETWORK) \
    NETWORK(SUPERPOINT, superpoint), NETWORK(XFEAT, xfeat), NETWORK(EDGEPOINT2, edgepoint2)
#define PSFM_NETWORK_OPTION_TABLE(kind, name) psfm_##name##_option_table
extern const psfm_option_table PSFM_NEURAL_DETECTORS(PSFM_NETWORK_OPTION_TABLE);

/* "sift", "superpoint", ...; NULL-terminated. */
extern const char *const psfm_feature_names[];
/* The kind of this name, or PSFM_NUM_FEATURE_KINDS. */
psfm_feature_kind psfm_feature_kind_find(const char *name);

/* DeTone, Malisiewicz, Rabinovich, "SuperPoint", CVPR Workshops 2018: a convolutional network for
 * keypoints, in row order or by falling score if there were more than max_keypoints, and
 * descriptors of 256 dimensions. Its weights have the names of the Hugging Face model
 * magic-leap-community/superpoint (a SuperGlue file that carries the detector does too). Work and
 * memory grow with the image: 180 bytes and 0.17 MFLOP a pixel. */
extern const psfm_neural_detector psfm_superpoint_detector;
/* Potje, Cadar, Araujo, Martins, Nascimento, "XFeat", CVPR 2024: a small, fast network for
 * keypoints by falling score, the product of keypoint and reliability map, and descriptors of 64
 * dimensions. It works on the image shrunk to multiples of 32 pixels; keypoints are in the image
 * given. Its weights have the names of the original model, batch norms folded (block1.0.weight) or
 * not (block1.0.layer.0.weight), with or without "net." before them. */
extern const psfm_neural_detector psfm_xfeat_detector;
/* Yao and others, "EdgePoint2: Compact descriptors for superior efficiency and accuracy", 2025: a
 * family of small networks for keypoints by falling score and descriptors of 32, 48 or 64
 * dimensions, to be matched by mutual nearest neighbours. They work on the image shrunk to
 * multiples of 32 pixels; keypoints are in the image given. Weights have the names of the original
 * model, of any size from T32 to E64; the sizes of the layers are taken from the file. */
extern const psfm_neural_detector psfm_edgepoint2_detector;

typedef struct {
    int kind;                                           /* psfm_feature_kind */
    psfm_neural_options neural[PSFM_NUM_FEATURE_KINDS]; /* not of SIFT */
} psfm_detector_options;

/* The kind alone; the options of each network have a table of their own. */
extern const psfm_option_table psfm_feature_option_table;
/* The detector of a kind that is a network; NULL for SIFT. */
const psfm_neural_detector *psfm_detector_get(psfm_feature_kind kind);

/* Networks with the same weights, so that several images can be worked on at once. */
typedef struct psfm_detectors psfm_detectors;

/* Loads the weights file. Makes as many networks as wanted, or as fit in half of the machine's
 * memory with images of max_pixels, but one at least. The features do not depend on it. Not for
 * SIFT. */
psfm_status psfm_detectors_create(psfm_context *ctx, const psfm_detector_options *options,
                                  const char *path, int num_wanted, double max_pixels,
                                  psfm_detectors **out);
/* Frees and sets *detectors to NULL. */
void psfm_detectors_destroy(psfm_detectors **detectors);
/* How many networks there are: one for each of as many workers. */
int psfm_detectors_num(const psfm_detectors *detectors);

/* Features of one image by a worker's network, in the order of its own function. Workers may run at
 * once. PSFM_ERR_DATA if the network cannot take an image of this size. The caller frees. */
psfm_status psfm_detectors_extract(psfm_context *ctx, psfm_detectors *detectors, int worker,
                                   const psfm_gray_view *image, psfm_keypoint_set *features);

#endif
