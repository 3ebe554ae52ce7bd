/* A refinement under way: what its rounds share, and their steps. */
#ifndef PSFM_REFINE_REFINEMENT_H
#define PSFM_REFINE_REFINEMENT_H

#include "refine/observation_list.h"
#include "refine/plane_labels.h"
#include "refine/refine_poses.h"

typedef struct {
    const psfm_refine_input *input;
    const psfm_refine_options *options;
    psfm_evidence *evidence;
    psfm_pose_solution *s;
    psfm_refined *out;
    uint32_t *image_camera;
    psfm_camera_prior *camera_priors;
    bool *use;           /* per match of all pairs */
    double open_px;      /* by which loops were open at last */
    int rounds_to_align; /* of tracks in the photographs, still to come */
    bool has_info;       /* a view knows how well its keypoints are known */
    psfm_keypoint_labels labels;
    psfm_observation_list list; /* of the current structure */
    double loss_scale_px;       /* of the last adjustment */
    psfm_bundle_plane *bundle_planes;
} psfm_refinement;

/* The adjustment of all that there is now; it points into the refinement. */
psfm_bundle_problem psfm_refinement_problem(psfm_refinement *r);

size_t psfm_refinement_num_posed(const psfm_refinement *r);

/* Tracks of the usable matches, triangulated within max_error_px; then, if the poses are refined
 * ones (`merge`), pieces of one point joined. */
psfm_status psfm_refinement_make_points(psfm_context *ctx, psfm_refinement *r, double max_error_px,
                                        bool merge);

/* Lists the observations of the points anew. */
psfm_status psfm_refinement_list(psfm_context *ctx, psfm_refinement *r);

/* Adjusts poses and points, which were triangulated within max_error_px: roughly unless that is the
 * final error. */
psfm_status psfm_refinement_adjust(psfm_context *ctx, psfm_refinement *r, double max_error_px);

/* The first adjustment where the poses of pairs are good: of long tracks alone. Then all points are
 * placed anew. */
psfm_status psfm_refinement_adjust_first(psfm_context *ctx, psfm_refinement *r,
                                         double max_error_px);

#endif
