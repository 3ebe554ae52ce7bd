/* A refinement under way: its steps, in their order, and what they share. */
#ifndef PSFM_REFINE_REFINEMENT_H
#define PSFM_REFINE_REFINEMENT_H

#include "core/refine/observation_list.h"
#include "core/refine/plane_labels.h"
#include "core/refine/refine_poses.h"

typedef struct {
    const psfm_refine_input *input;
    const psfm_refine_options *options;
    psfm_pose_solution *s;
    psfm_refined *out;
    uint32_t *image_camera;
    psfm_camera_prior *camera_priors;
    bool *use;         /* per match of all pairs */
    double open_px;    /* by which loops were open at last */
    int num_to_follow; /* adjustments to better keypoints, still to come */
    bool has_info;     /* a view knows how well its keypoints are known */
    psfm_keypoint_labels labels;
    psfm_observation_list list; /* of the current structure */
    double loss_scale_px;       /* of the last adjustment */
    psfm_bundle_plane *bundle_planes;
    psfm_free_intrinsics
        focals; /* of the check of given focal lengths; the stability tests need it as well */
} psfm_refinement;

/* Begins with poses of `solution`, which are refined in place; what is found goes to `out`, which
 * is zeroed. All of them, input and options outlive the refinement. num_to_follow is how often
 * psfm_refinement_follow will be called. End it in any case. */
psfm_status psfm_refinement_begin(psfm_context *ctx, const psfm_refine_input *input,
                                  const psfm_refine_options *options, int num_to_follow,
                                  psfm_pose_solution *solution, psfm_refined *out,
                                  psfm_refinement *r);

/* Poses and points in rounds. Views that are resected join the component of their points; those
 * that too few points agree with lose theirs. */
psfm_status psfm_refine_poses(psfm_context *ctx, psfm_refinement *r);

/* Adjusts once more, to keypoints that have moved since, or joined the tracks, and know how well
 * they are known. */
psfm_status psfm_refinement_follow(psfm_context *ctx, psfm_refinement *r);

/* What is known about the result: errors of points, uncertainty of poses and intrinsics, whether
 * given focal lengths are right. */
psfm_status psfm_refinement_judge(psfm_context *ctx, psfm_refinement *r);

/* Adjusts halves of the points, and free intrinsics, for the verdict, if that is wanted. What
 * cannot be adjusted leaves the verdict without it; the poses stand. After psfm_refinement_judge.
 */
psfm_status psfm_refinement_test_stability(psfm_context *ctx, psfm_refinement *r);

/* Frees what it owns; `out` is the caller's. */
void psfm_refinement_end(psfm_refinement *r);

/* ---- steps of the rounds ---- */

/* The adjustment of all that there is now; it points into the refinement. */
psfm_bundle_problem psfm_refinement_problem(psfm_refinement *r);

size_t psfm_refinement_num_posed(const psfm_refinement *r);

/* Tracks of the usable matches, triangulated within max_error_px; then, if the poses are refined
 * ones (`merge`), fragments of one track merged. */
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
