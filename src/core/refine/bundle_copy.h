/* A bundle problem of its own that may be adjusted without changing the one it came from. */
#ifndef PSFM_REFINE_BUNDLE_COPY_H
#define PSFM_REFINE_BUNDLE_COPY_H

#include "core/bundle/bundle.h"

/* Which observations a copy has. The halves are the squares of a chessboard laid over the image
 * that a point is first seen in, so that errors which neighbours have in common are not in both. */
typedef enum {
    PSFM_BUNDLE_ALL = -1,
    PSFM_BUNDLE_HALF_A = 0,
    PSFM_BUNDLE_HALF_B = 1,
    PSFM_BUNDLE_EVEN_IMAGES =
        2, /* all points, as far as every second image of a camera shows them */
    PSFM_BUNDLE_ODD_IMAGES = 3,
} psfm_bundle_part;

/* `problem` points into the other members and the original, which must live on; a copy is not
 * moved.
 */
typedef struct {
    psfm_bundle_problem problem;
    psfm_camera *cameras;
    psfm_camera_prior *priors; /* zero if the problem has none */
    double (*cam_from_world)[9], (*centers)[3], (*points)[3];
    psfm_bundle_plane *planes;
    psfm_bundle_shape shape;
    uint32_t *obs_image, *obs_point; /* of a half; all observations stay the original's */
    double (*obs_xy)[2], (*obs_sqrt_info)[3];
} psfm_bundle_copy;

/* Copies what an adjustment changes, and the observations of a half. Points without observations
 * stay, and are left out by the adjustment. Free the copy in any case. */
psfm_status psfm_bundle_copy_make(psfm_context *ctx, const psfm_bundle_problem *from,
                                  psfm_bundle_part part, psfm_bundle_copy *copy);
void psfm_bundle_copy_free(psfm_bundle_copy *copy);

#endif
