/* The Gaussian scale space of SIFT. */
#ifndef PSFM_FEATURE_SIFT_SPACE_H
#define PSFM_FEATURE_SIFT_SPACE_H

#include "feature/sift.h"
#include "feature/sift_kernel.h"

#define PSFM_SIFT_MAX_LEVELS 8
#define PSFM_SIFT_MAX_OCTAVES 16

/* One octave: levels[s + 1] has smoothing sigma0 2^(s / S) of its own pixels, s = -1 .. S + 1.
 * Rows are `stride` floats apart; pixels between width and stride have no meaning. */
typedef struct {
    int index; /* o: its pixels are 2^o of the image's */
    int width, height;
    ptrdiff_t stride;
    int num_levels; /* S */
    double sigma0;
    const float *levels[PSFM_SIFT_MAX_LEVELS + 3];
} psfm_sift_octave;

/* Builds octave after octave in one workspace. Of an octave that is done, only the levels
 * s = 0 .. S - 1 survive the building of the next. */
typedef struct {
    const psfm_image *image;
    int first_octave, num_octaves; /* what the image allows */
    int num_levels;
    float *planes;
    size_t used; /* floats that must survive */
    psfm_sift_octave octaves[PSFM_SIFT_MAX_OCTAVES];
    int num_built;
} psfm_sift_space;

/* Prepares the workspace for an image; num_octaves may come out 0 for a tiny one. */
psfm_status psfm_sift_space_init(psfm_context *ctx, const psfm_image *image,
                                 const psfm_sift_options *options, psfm_sift_workspace *workspace,
                                 psfm_sift_space *space);

/* Builds the next octave and returns it, or NULL after the last one. */
const psfm_sift_octave *psfm_sift_space_next(psfm_sift_space *space);

#endif
