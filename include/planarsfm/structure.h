/* Points from poses, and poses from points (part of libplanarsfm-core; conventions in
 * homography.h).
 */
#ifndef PLANARSFM_STRUCTURE_H
#define PLANARSFM_STRUCTURE_H

#include "planarsfm/bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Poses from which three rays (3 x 3, any length) see three points (3 x 3), in front: up to four,
 * X_cam = R (X - c), in cam_from_world (4 x 9) and centers (4 x 3). 0 if there is none or the
 * points are on one line. */
PSFM_API psfm_status psfm_find_p3p_poses(psfm_context *ctx, const double *rays,
                                         const double *points, double *cam_from_world,
                                         double *centers, size_t *num_poses);

typedef struct {
    size_t struct_size;
    double max_error_px; /* 4: largest reprojection error of an inlier */
    int min_inliers;     /* 6: fewer are no pose; of many points more are asked for */
} psfm_resect_options;

typedef struct {
    size_t struct_size;
    bool found;
    double cam_from_world[9], center[3];
    size_t num_inliers;
    double rms_px; /* of the inliers */
} psfm_resect_result;

/* The pose of an image that shows num points (num x 3) at pixels xy (num x 2), of which many may be
 * wrong: P3P in RANSAC, refined. Points may lie in one plane. To find none is a result. inlier
 * (num) may be NULL. Random draws come from the context's seed. */
PSFM_API psfm_status psfm_resect_image(psfm_context *ctx, const psfm_camera *camera, size_t num,
                                       const double *xy, const double *points,
                                       const psfm_resect_options *options, bool *inlier,
                                       psfm_resect_result *result);

typedef struct {
    size_t struct_size;
    double max_error_px;  /* 4: largest reprojection error of an observation */
    double min_angle_deg; /* 1: a point whose rays all meet at less has no depth; negative: none */
} psfm_triangulation_options;

/* Points of a scene from its poses and observations: each is found from those of its observations
 * that agree, in front of their cameras; points of the scene that were not found keep their values.
 * found (num_points) and inlier (num_observations) say what came of them; inlier may be NULL.
 * Planes are not looked at. Random draws come from the context's seed. */
PSFM_API psfm_status psfm_triangulate_scene(psfm_context *ctx, const psfm_bundle_scene *scene,
                                            const psfm_triangulation_options *options, bool *found,
                                            bool *inlier);

#ifdef __cplusplus
}
#endif
#endif
