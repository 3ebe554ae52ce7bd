/* Alignment of a small patch of one photograph with another one of the same plane. */
#ifndef PSFM_PHOTOMETRIC_PATCH_H
#define PSFM_PHOTOMETRIC_PATCH_H

#include "core/base/options.h"
#include "images/photometric/plane_fit.h"
#include "images/photometric/pyramid.h"

#define PSFM_PATCH_MAX_RADIUS 15

typedef struct {
    int radius; /* of the patch, in samples; it is 2 radius + 1 wide */
} psfm_patch_options;

extern const psfm_option_table psfm_patch_option_table;

/* What became of a patch. */
typedef enum {
    PSFM_PATCH_ALIGNED,
    PSFM_PATCH_OUTSIDE,  /* not wholly within both photographs, or seen too differently */
    PSFM_PATCH_FLAT,     /* no texture, or only along one direction */
    PSFM_PATCH_DIVERGED, /* no end within max_shift */
    PSFM_PATCH_UNLIKE,   /* correlation too low */
    PSFM_PATCH_ONE_WAY,  /* the way back ends elsewhere */
    PSFM_NUM_PATCH_OUTCOMES
} psfm_patch_outcome;

/* A word for reports, e.g. "flat". */
const char *psfm_patch_outcome_name(psfm_patch_outcome outcome);

/* One photograph with its camera. */
typedef struct {
    const psfm_camera *camera;
    const psfm_pyramid *photo;
} psfm_patch_view;

/* A point of image 1 to be found in image 2. */
typedef struct {
    psfm_patch_view view1, view2;
    double xy1[2];
    const double *H_21; /* ray2 ~ H_21 ray1, 3 x 3: where it should be */
    const double *H_12; /* the inverse; NULL: do not try the way back */
    double max_shift;   /* from where H_21 puts it, in pixels of image 1 */
    int coarse_levels;  /* > 0: start at so many times half the resolution */
} psfm_patch_query;

/* Where the patch about a point of image 1 was found in image 2. */
typedef struct {
    psfm_patch_outcome outcome;
    double xy2[2];  /* pixels */
    double cov2[3]; /* its covariance xx, xy, yy in px^2 of image 2 */
    double ncc;
    double shift_px; /* how far from where the homography puts it, in pixels of image 2 */
} psfm_patch_match;

/* Scratch memory and constants of one thread. */
typedef struct psfm_patch_aligner psfm_patch_aligner;

psfm_status psfm_patch_aligner_create(psfm_context *ctx, const psfm_patch_options *options,
                                      psfm_patch_aligner **aligner);
void psfm_patch_aligner_destroy(psfm_patch_aligner **aligner);

/* Finds the point of the query. Cost: five to ten microseconds, 289 samples, both ways. */
void psfm_patch_align(psfm_patch_aligner *aligner, const psfm_patch_query *query,
                      psfm_patch_match *match);

#endif
