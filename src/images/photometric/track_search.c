/* With poses, a point X and the normal n of the surface about it, the warp between any two of its
 * images is known without a match:
 *   H_21 = R_21 + t_21 n1^T / d,   n1 = R_1 n,  d = n1 . R_1 (X - C_1). */
#include "images/photometric/track_search.h"

#include <string.h>

#include "core/linalg/mat3.h"

psfm_track_patch psfm_track_patch_of(const psfm_match_set *set, const psfm_structure *structure,
                                     const psfm_track_plan *plan, const psfm_track_search *search) {
    const uint32_t keypoint = structure->tracks.keypoint[plan->reference[search->point]];
    psfm_track_patch patch;
    memcpy(patch.xy1, set->views[search->from].keypoints[keypoint], sizeof patch.xy1);
    memcpy(patch.point, structure->points[search->point], sizeof patch.point);
    memcpy(patch.normal, plan->normals[search->point], sizeof patch.normal);
    return patch;
}

/* The warp of the surface from the first view to the second. */
static void surface_warp(const psfm_track_view views[2], const psfm_track_patch *patch,
                         double H_21[9]) {
    const double *R1 = views[0].cam_from_world, *R2 = views[1].cam_from_world;
    double D[3], T[3], t_21[3], n1[3];
    psfm_sub3(patch->point, views[0].center, D);
    psfm_sub3(views[0].center, views[1].center, T);
    psfm_mat3_mul_vec(R2, T, t_21);
    psfm_mat3_mul_vec(R1, patch->normal, n1);
    double distance = psfm_dot3(patch->normal, D);
    psfm_mat3_mul_t(R2, R1, H_21);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            H_21[3 * r + c] += t_21[r] * n1[c] / distance;
}

void psfm_track_patch_find(psfm_patch_aligner *aligner, const psfm_track_view views[2],
                           const psfm_track_patch *patch, double max_shift_px,
                           psfm_patch_match *found) {
    double H_21[9], H_12[9];
    const psfm_patch_query query = {.view1 = views[0].photo,
                                    .view2 = views[1].photo,
                                    .xy1 = {patch->xy1[0], patch->xy1[1]},
                                    .H_21 = H_21,
                                    .H_12 = H_12,
                                    .max_shift = max_shift_px};
    found->outcome = PSFM_PATCH_OUTSIDE;
    surface_warp(views, patch, H_21);
    if (psfm_mat3_inverse(H_21, H_12))
        psfm_patch_align(aligner, &query, found);
}
