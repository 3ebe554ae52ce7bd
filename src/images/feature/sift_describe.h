/* Orientations and descriptors of SIFT. */
#ifndef PSFM_FEATURE_SIFT_DESCRIBE_H
#define PSFM_FEATURE_SIFT_DESCRIBE_H

#include "images/feature/sift_scale_space.h"

/* Keypoints of one position, each with its orientation. */
#define PSFM_SIFT_MAX_ORIENTATIONS 2

/* The gradients round one keypoint. Grows with the largest; zero-initialise before use. */
typedef struct {
    const psfm_sift_octave *octave;
    double x, y, sigma;
    int xi, yi;               /* nearest pixel */
    int radius;               /* pixels of the patch on either side of it */
    size_t row_size;          /* floats per row of the patch */
    float *magnitude, *angle; /* (2 radius + 1) rows; not set outside the image and the circle */
    float *weight, *weight_y; /* scratch: of columns and rows */
    size_t capacity, weight_capacity;
} psfm_sift_patch;

void psfm_sift_patch_free(psfm_sift_patch *patch);

/* Computes the gradients that the orientation and the descriptor of a point need. */
psfm_status psfm_sift_patch_load(psfm_context *ctx, const psfm_sift_octave *octave,
                                 const psfm_sift_point *point, psfm_sift_patch *patch);

/* Dominant directions in radians, by rising angle from 0 to 2 pi; returns their number. */
int psfm_sift_orientations(const psfm_sift_patch *patch, double angles[PSFM_SIFT_MAX_ORIENTATIONS]);

/* The descriptor for a direction, as COLMAP stores it. */
void psfm_sift_describe(psfm_sift_patch *patch, double angle, uint8_t descriptor[128]);

/* From 4 x 4 cells x 8 directions (rows of cells from the top, directions as angles grow) to what
 * COLMAP stores: the square roots of the shares of the sum, times 512, directions reversed. */
void psfm_sift_root(const float histogram[128], uint8_t descriptor[128]);

#endif
