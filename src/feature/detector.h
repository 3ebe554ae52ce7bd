/* The choice of features, and the networks among them behind one interface. */
#ifndef PSFM_FEATURE_DETECTOR_H
#define PSFM_FEATURE_DETECTOR_H

#include "feature/edgepoint2.h"
#include "feature/superpoint.h"
#include "feature/xfeat.h"

typedef enum {
    PSFM_FEATURES_SIFT,
    PSFM_FEATURES_SUPERPOINT,
    PSFM_FEATURES_XFEAT,
    PSFM_FEATURES_EDGEPOINT2,
    PSFM_NUM_FEATURE_KINDS
} psfm_feature_kind;

/* "sift", "superpoint", ...; NULL-terminated. */
extern const char *const psfm_feature_names[];
/* The kind of this name, or PSFM_NUM_FEATURE_KINDS. */
psfm_feature_kind psfm_feature_kind_find(const char *name);

typedef struct {
    int kind; /* psfm_feature_kind */
    psfm_superpoint_options superpoint;
    psfm_xfeat_options xfeat;
    psfm_edgepoint2_options edgepoint2;
} psfm_detector_options;

/* The kind alone; the options of a network have its own table. */
extern const psfm_option_table psfm_feature_option_table;
/* Fills in all defaults. */
void psfm_detector_options_init(psfm_detector_options *options);
/* The table of a network's options and their place in `options`. Not for SIFT. */
const psfm_option_table *psfm_detector_table(psfm_feature_kind kind);
const void *psfm_detector_network_options(const psfm_detector_options *options);
/* How the weights file of a network is known. Not for SIFT. */
const psfm_network_file *psfm_detector_file(psfm_feature_kind kind);

/* Networks with the same weights, so that several images can be worked on at once. */
typedef struct psfm_detectors psfm_detectors;

/* Loads the weights file. Makes as many networks as the context has threads, but no more than
 * num_images, or than fit in half of the machine's memory with images of max_pixels; they share
 * out the threads. The features do not depend on it. Not for SIFT. */
psfm_status psfm_detectors_create(psfm_context *ctx, const psfm_detector_options *options,
                                  const char *path, size_t num_images, double max_pixels,
                                  psfm_detectors **out);
/* Frees and sets *detectors to NULL. */
void psfm_detectors_destroy(psfm_detectors **detectors);

/* Features of one image, in the order of the network's own function. Any number of threads may call
 * it at once and wait for each other. PSFM_ERR_DATA if the network cannot take an image of this
 * size. The caller frees. */
psfm_status psfm_detectors_extract(psfm_context *ctx, psfm_detectors *detectors,
                                   const psfm_gray_view *image, psfm_keypoint_set *features);

#endif
