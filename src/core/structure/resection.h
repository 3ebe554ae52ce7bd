/* Pose of one image from pixels of known points (resection), with wrong correspondences. */
#ifndef PSFM_STRUCTURE_RESECTION_H
#define PSFM_STRUCTURE_RESECTION_H

#include "core/base/options.h"
#include "planarsfm/camera.h"

/* Poses from which three unit rays see three points: point k lies at X with R (X - c) parallel to
 * ray k, in front. Fills up to four and returns their number; 0 if there is none or the points are
 * collinear. */
int psfm_p3p(const double rays[3][3], const double points[3][3], double R[4][9], double c[4][3]);

typedef struct {
    double max_error_px; /* inlier threshold */
    int min_inliers;     /* fewer are no pose */
} psfm_resection_options;

extern const psfm_option_table psfm_resection_option_table;

typedef struct {
    bool found;
    double cam_from_world[9];
    double center[3];
    size_t num_inliers;
    double rms_px; /* of the inliers */
    int iterations;
} psfm_resection;

/* Pixels of one image and the points that they show. */
typedef struct {
    const psfm_camera *camera;
    size_t num;
    const double (*xy)[2];
    const double (*points)[3];
} psfm_seen_points;

/* Estimates the pose from which the points are seen. They may all lie on a plane. Finding none is
 * a result, not an error. inlier (seen->num entries) may be NULL. Random draws come from
 * (seed, PSFM_RNG_RESECTION, stream, 0). Pixels or points that are not finite, and pixels without
 * a ray, are never inliers. Cost: a few milliseconds for 1000 points, half of them wrong. */
psfm_status psfm_resection_estimate(psfm_context *ctx, const psfm_seen_points *seen,
                                    uint64_t stream, const psfm_resection_options *options,
                                    psfm_resection *out, bool *inlier);

#endif
