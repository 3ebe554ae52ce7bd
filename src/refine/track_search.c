/* With poses, a point X and the normal n of the surface about it, the warp between any two of its
 * images is known without a match:
 *   H_21 = R_21 + t_21 n1^T / d,   n1 = R_1 n,  d = n1 . R_1 (X - C_1). */
#include "refine/track_search.h"

#include <string.h>

#include "linalg/mat3.h"

void psfm_track_sight_make(const psfm_track_scene *scene, const psfm_match_set *set,
                           const psfm_structure *structure, const psfm_track_plan *plan,
                           const psfm_track_search *search, psfm_track_sight *sight) {
    const psfm_view *from = &set->views[search->from];
    const double *R1 = scene->poses->cam_from_world[search->from],
                 *R2 = scene->poses->cam_from_world[search->to];
    const double *n = psfm_track_scene_normal(scene, search->point);
    double D[3], T[3], t_21[3], n1[3];
    psfm_sub3(structure->points[search->point], scene->poses->center[search->from], D);
    psfm_sub3(scene->poses->center[search->from], scene->poses->center[search->to], T);
    psfm_mat3_mul_vec(R2, T, t_21);
    psfm_mat3_mul_vec(R1, n, n1);
    double distance = psfm_dot3(n, D);
    psfm_mat3_mul_t(R2, R1, sight->H_21);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            sight->H_21[3 * r + c] += t_21[r] * n1[c] / distance;
    memcpy(sight->xy1, from->keypoints[structure->tracks.keypoint[plan->reference[search->point]]],
           sizeof sight->xy1);
}

void psfm_track_sight_seek(psfm_patch_aligner *aligner, const psfm_patch_view views[2],
                           const psfm_track_sight *sight, double max_shift_px,
                           psfm_patch_match *found) {
    double H_12[9];
    const psfm_patch_query query = {.view1 = views[0],
                                    .view2 = views[1],
                                    .xy1 = {sight->xy1[0], sight->xy1[1]},
                                    .H_21 = sight->H_21,
                                    .H_12 = H_12,
                                    .max_shift = max_shift_px};
    found->outcome = PSFM_PATCH_OUTSIDE;
    if (psfm_mat3_inverse(sight->H_21, H_12))
        psfm_patch_align(aligner, &query, found);
}
