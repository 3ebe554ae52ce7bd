/* Corners and planes of a pair of photographs, for whoever aligns it. */
#include "refine/pair_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

psfm_status psfm_view_corners_find(psfm_context *ctx, const psfm_pair_plane_options *planes,
                                   const psfm_patch_options *patch, const psfm_pyramid *photo,
                                   psfm_view_corners *out) {
    double area = (double)photo->levels[0].width * (double)photo->levels[0].height;
    const psfm_corner_grid grid = {
        .spacing = (int)ceil(sqrt(area / planes->corners)),
        .radius = patch->radius / 2,
        .margin = patch->radius + 3,
        .min_strength = planes->min_strength * planes->min_strength,
    };
    return psfm_corners_find(ctx, photo, &grid, &out->corners, &out->num);
}

void psfm_view_corners_free(psfm_view_corners *corners) {
    free(corners->corners);
    free(corners->problem);
    *corners = (psfm_view_corners){0};
}

psfm_status psfm_raw_planes_list(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_match_pair *pair, const psfm_two_view *view,
                                 psfm_raw_planes *out) {
    size_t total = 0;
    *out = (psfm_raw_planes){.num = view->num_homographies};
    for (size_t h = 0; h < out->num; ++h)
        total += view->homographies[h].num_inliers;
    psfm_status status = PSFM_ALLOC(ctx, out->num, &out->planes);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 2 * total, &out->xy);
    double(*at)[2] = out->xy;
    for (size_t h = 0; status == PSFM_OK && h < out->num; ++h) {
        const psfm_homography *from = &view->homographies[h];
        psfm_raw_plane *to = &out->planes[h];
        memcpy(to->H_21, from->H_21, sizeof to->H_21);
        to->num_inliers = from->is_rotation ? 0 : from->num_inliers;
        double(*xy1)[2] = at, (*xy2)[2] = at + to->num_inliers;
        for (size_t k = 0; k < to->num_inliers; ++k) {
            const uint32_t *match = pair->matches[from->inliers[k]];
            memcpy(xy1[k], set->views[pair->view1].keypoints[match[0]], sizeof *xy1);
            memcpy(xy2[k], set->views[pair->view2].keypoints[match[1]], sizeof *xy2);
        }
        to->xy1 = (const double(*)[2])xy1;
        to->xy2 = (const double(*)[2])xy2;
        at += 2 * to->num_inliers;
    }
    return status;
}

void psfm_raw_planes_free(psfm_raw_planes *planes) {
    free(planes->planes);
    free(planes->xy);
    *planes = (psfm_raw_planes){0};
}
