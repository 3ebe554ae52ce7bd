/* Corners and planes of a pair of photographs, for whoever aligns it. */
#include "images/photometric/pair_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* Of a corner, gray levels per pixel along its weaker direction; less is noise. */
#define MIN_STRENGTH 1.0

psfm_status psfm_view_corners_find(psfm_context *ctx, const psfm_pair_plane_options *planes,
                                   const psfm_patch_options *patch, const psfm_pyramid *photo,
                                   psfm_view_corners *out) {
    double area = (double)photo->levels[0].width * (double)photo->levels[0].height;
    const psfm_corner_grid grid = {
        .spacing = (int)ceil(sqrt(area / planes->corners)),
        .radius = patch->radius / 2,
        .margin = patch->radius + 3,
        .min_strength = MIN_STRENGTH * MIN_STRENGTH,
    };
    return psfm_corners_find(ctx, photo, &grid, &out->corners, &out->num);
}

void psfm_view_corners_free(psfm_view_corners *corners) {
    free(corners->corners);
    free(corners->problem);
    *corners = (psfm_view_corners){0};
}

void psfm_raw_planes_share(psfm_raw_planes *planes) {
    const double(*at)[2] = (const double(*)[2])planes->xy;
    for (size_t h = 0; at != NULL && h < planes->num; ++h) {
        psfm_raw_plane *plane = &planes->planes[h];
        plane->xy1 = at;
        plane->xy2 = at + plane->num_inliers;
        at += 2 * plane->num_inliers;
    }
}

psfm_status psfm_raw_planes_list(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_match_pair *pair, const psfm_two_view *view,
                                 psfm_raw_planes *out) {
    size_t total = 0, at = 0;
    *out = (psfm_raw_planes){.num = view->num_homographies};
    for (size_t h = 0; h < out->num; ++h)
        total += view->homographies[h].num_inliers;
    psfm_status status = PSFM_ALLOC(ctx, out->num, &out->planes);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 2 * total, &out->xy);
    for (size_t h = 0; status == PSFM_OK && h < out->num; ++h) {
        const psfm_homography *from = &view->homographies[h];
        const size_t num = from->is_rotation ? 0 : from->num_inliers;
        memcpy(out->planes[h].H_21, from->H_21, sizeof from->H_21);
        out->planes[h].num_inliers = num;
        for (size_t k = 0; k < num; ++k) {
            const uint32_t *match = pair->matches[from->inliers[k]];
            memcpy(out->xy[at + k], set->views[pair->view1].keypoints[match[0]], sizeof *out->xy);
            memcpy(out->xy[at + num + k], set->views[pair->view2].keypoints[match[1]],
                   sizeof *out->xy);
        }
        at += 2 * num;
    }
    psfm_raw_planes_share(out);
    return status;
}

void psfm_raw_planes_free(psfm_raw_planes *planes) {
    free(planes->planes);
    free(planes->xy);
    *planes = (psfm_raw_planes){0};
}
