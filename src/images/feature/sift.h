/* SIFT features, as COLMAP extracts them on the CPU. */
#ifndef PSFM_FEATURE_SIFT_H
#define PSFM_FEATURE_SIFT_H

#include "core/base/options.h"
#include "images/feature/keypoint_set.h"
#include "images/image/image_io.h"

typedef struct {
    int max_num_features;  /* whole levels are kept, largest scales first, until this is passed */
    int first_octave;      /* -1: the image is doubled first; this and the next two come from the
                              effort and are no options */
    int max_image_size;    /* larger photographs are shrunk to it; 0: as for all features */
    bool reduced_decoding; /* a JPEG's codec does as much of the shrinking as it can */
    double peak_threshold; /* smallest difference of Gaussians, gray values from 0 to 1 */
    bool upright;          /* orientation 0 for all */
} psfm_sift_options;

extern const psfm_option_table psfm_sift_option_table;

/* Memory that one worker uses for image after image. Zero-initialise before the first use. */
typedef struct {
    float *planes;
    size_t num_floats;
} psfm_sift_workspace;

void psfm_sift_workspace_free(psfm_sift_workspace *workspace);

/* Bytes of workspace that an image of this size takes: 24 times its pixels times 4 if
 * it is doubled. */
size_t psfm_sift_memory(int width, int height, const psfm_sift_options *options);

/* Extracts features of the gray image: keypoints with descriptors of 128 bytes (L1 norm, square
 * root, times 512), from fine to coarse scale. An image without any gives an empty set. One thread;
 * same bytes on any machine of the same word format. workspace may be NULL. The caller frees *out.
 * Cost: about 0.2 s for 1600 x 1200 pixels. */
psfm_status psfm_sift_extract(psfm_context *ctx, const psfm_image *image,
                              const psfm_sift_options *options, psfm_sift_workspace *workspace,
                              psfm_keypoint_set *out);

#endif
