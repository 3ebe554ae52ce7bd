/* The Gaussian scale space of SIFT. */
#ifndef PSFM_FEATURE_SIFT_SCALE_SPACE_H
#define PSFM_FEATURE_SIFT_SCALE_SPACE_H

#include "images/feature/sift.h"
#include "images/feature/sift_kernel.h"

/* As COLMAP has them: S levels an octave, and octaves, at most as many as the image allows. */
enum { PSFM_SIFT_LEVELS = 3, PSFM_SIFT_OCTAVES = 4 };

/* One octave: levels[s + 1] has smoothing sigma0 2^(s / S) of its own pixels, s = -1 .. S + 1.
 * Rows are `stride` floats apart; pixels between width and stride have no meaning. */
typedef struct {
    int index; /* o: its pixels are 2^o of the image's */
    int width, height;
    ptrdiff_t stride;
    double sigma0;
    const float *levels[PSFM_SIFT_LEVELS + 3];
} psfm_sift_octave;

/* Builds octave after octave in one workspace. Of an octave that is done, only the levels
 * s = 0 .. S - 1 survive the building of the next. */
typedef struct {
    const psfm_image *image;
    int first_octave, num_octaves; /* what the image allows */
    float *planes;
    size_t used; /* floats that must survive */
    psfm_sift_octave octaves[PSFM_SIFT_OCTAVES];
    int num_built;
} psfm_sift_space;

/* Prepares the workspace for an image; num_octaves may come out 0 for a tiny one. */
psfm_status psfm_sift_space_init(psfm_context *ctx, const psfm_image *image,
                                 const psfm_sift_options *options, psfm_sift_workspace *workspace,
                                 psfm_sift_space *space);

/* Builds the next octave and returns it, or NULL after the last one. */
const psfm_sift_octave *psfm_sift_space_next(psfm_sift_space *space);

/* In pixels of its octave, centre of the first pixel at 0. */
typedef struct {
    int octave; /* position in the scale space, from 0 */
    int level;  /* s at which it was found, 0 .. S - 1 */
    float x, y, sigma;
} psfm_sift_point;

typedef struct {
    psfm_sift_point *points;
    size_t num, capacity;
} psfm_sift_points;

/* Appends the keypoints of an octave, sorted by level, row and column where they were found.
 * `position` of the octave in the space is noted in them. */
psfm_status psfm_sift_detect(psfm_context *ctx, const psfm_sift_octave *octave, int position,
                             const psfm_sift_options *options, psfm_sift_points *points);

#endif
