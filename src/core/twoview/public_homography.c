/* The front of planarsfm/homography.h.
 *
 * Without cameras each image gets a pinhole that sees its points under usual angles, K; what comes
 * out is turned into a homography of pixels, K2 H K1^-1. Any K gives the same, errors being
 * measured in pixels. */
#include "planarsfm/homography.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"
#include "core/linalg/mat3.h"
#include "core/twoview/homography.h"
#include "core/twoview/homography_decompose.h"
#include "core/twoview/multi_homography.h"

/* ---- input ---- */

static psfm_status check_points(psfm_context *ctx, const psfm_matched_points *points) {
    psfm_status status = PSFM_OK;
    if ((status = PSFM_REQUIRE_ARRAY(ctx, points->xy1, points->num)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, points->xy2, points->num)))
        return status;
    if (points->num > UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%zu matches are too many", points->num);
    if ((points->camera1 == NULL) != (points->camera2 == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "one camera of two is NULL");
    if (points->camera1 != NULL)
        status = psfm_camera_check(ctx, points->camera1);
    if (status == PSFM_OK && points->camera2 != NULL)
        status = psfm_camera_check(ctx, points->camera2);
    return status;
}

/* A pinhole for points without a camera: their middle, and the longer side of what they cover as
 * its focal length. */
static psfm_camera make_pinhole(const double *xy, size_t num) {
    double low[2] = {0.0, 0.0}, high[2] = {0.0, 0.0};
    for (size_t k = 0, first = 1; k < num; ++k) {
        if (!psfm_all_finite(xy + 2 * k, 2))
            continue;
        for (int i = 0; i < 2; ++i) {
            low[i] = first ? xy[2 * k + (size_t)i] : fmin(low[i], xy[2 * k + (size_t)i]);
            high[i] = first ? xy[2 * k + (size_t)i] : fmax(high[i], xy[2 * k + (size_t)i]);
        }
        first = 0;
    }
    double width = fmax(high[0] - low[0], 1.0), height = fmax(high[1] - low[1], 1.0);
    double focal = fmax(width, height);
    return (psfm_camera){
        .model = PSFM_CAMERA_PINHOLE,
        .width = (uint64_t)ceil(width),
        .height = (uint64_t)ceil(height),
        .params = {focal, focal, 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])}};
}

/* A match set of two views whose pair has match k join keypoint k of both. */
static psfm_status make_set(psfm_context *ctx, const psfm_matched_points *points,
                            psfm_match_set *set) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, 2, &set->cameras)) || (status = PSFM_ALLOC(ctx, 2, &set->views)))
        return status;
    set->num_cameras = set->num_views = 2;
    for (uint32_t v = 0; v < 2; ++v) {
        const psfm_camera *camera = v == 0 ? points->camera1 : points->camera2;
        const double *xy = v == 0 ? points->xy1 : points->xy2;
        set->cameras[v] = camera != NULL ? *camera : make_pinhole(xy, points->num);
        psfm_view *view = &set->views[v];
        *view = (psfm_view){.id = v, .camera_idx = v, .num_keypoints = points->num};
        if ((status = PSFM_ALLOC(ctx, points->num, &view->keypoints)))
            return status;
        if (points->num > 0)
            memcpy(view->keypoints, xy, points->num * sizeof *view->keypoints);
    }
    if ((status = PSFM_ALLOC(ctx, 1, &set->pairs)) ||
        (status = PSFM_ALLOC(ctx, points->num, &set->pairs[0].matches)))
        return status;
    set->num_pairs = 1;
    set->pairs[0].view2 = 1;
    set->pairs[0].num_matches = points->num;
    for (uint32_t k = 0; k < points->num; ++k)
        set->pairs[0].matches[k][0] = set->pairs[0].matches[k][1] = k;
    return psfm_match_set_compute_rays(ctx, set, NULL);
}

static psfm_status take_options(psfm_context *ctx, const psfm_homography_options *given,
                                psfm_two_view_options *options) {
    psfm_homography_options known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    psfm_options_init(&psfm_two_view_option_table, options);
    options->max_error_px = psfm_value_or(known.max_error_px, options->max_error_px);
    options->min_inliers = psfm_int_or(known.min_inliers, options->min_inliers);
    options->min_area = psfm_value_or(known.min_area, options->min_area);
    options->max_iterations = psfm_int_or(known.max_iterations, options->max_iterations);
    return status == PSFM_OK ? psfm_options_check(ctx, &psfm_two_view_option_table, options)
                             : status;
}

/* ---- homographies ---- */

/* From rays of the two pinholes to pixels, of unit norm. */
static void turn_into_pixels(const psfm_match_set *set, double H[9]) {
    const double *p1 = set->cameras[0].params, *p2 = set->cameras[1].params;
    const double K1_inverse[9] = {1 / p1[0], 0, -p1[2] / p1[0], 0, 1 / p1[1], -p1[3] / p1[1], 0,
                                  0,         1};
    const double K2[9] = {p2[0], 0, p2[2], 0, p2[1], p2[3], 0, 0, 1};
    double half[9];
    psfm_mat3_mul(H, K1_inverse, half);
    psfm_mat3_mul(K2, half, H);
    psfm_homography_normalize_norm(H);
}

static psfm_status search_planes(psfm_context *ctx, const psfm_match_set *set, size_t most,
                                 const psfm_two_view_options *options, const psfm_ray_pairs *pairs,
                                 psfm_plane_set *planes) {
    psfm_rng rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_HOMOGRAPHY, 0, 1);
    double area[2];
    for (int v = 0; v < 2; ++v)
        area[v] = (double)set->cameras[v].width * (double)set->cameras[v].height;
    psfm_status status = psfm_plane_set_init(ctx, pairs->num, most, planes);
    if (status == PSFM_OK && pairs->num >= 4)
        status = psfm_multi_homography(ctx, pairs, area, options, most, &rng, planes);
    return status;
}

static psfm_status find_homographies(psfm_context *ctx, const psfm_match_set *set, size_t most,
                                     const psfm_two_view_options *options, double *H_21,
                                     int32_t *plane, size_t *num_found) {
    psfm_correspondences c = {0};
    psfm_ray_pairs pairs = {0};
    psfm_plane_set planes = {0};
    psfm_rng rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_HOMOGRAPHY, 0, 0);
    psfm_status status;
    if ((status = psfm_correspondences_init(ctx, set, set->pairs, &c)) ||
        (status = psfm_ray_pairs_init(ctx, &c, &rng, &pairs)) ||
        (status = search_planes(ctx, set, most, options, &pairs, &planes)))
        goto cleanup;
    for (size_t k = 0; k < planes.num_planes; ++k)
        memcpy(H_21 + 9 * k, planes.H_21[k], sizeof planes.H_21[k]);
    *num_found = planes.num_planes;
    for (size_t k = 0; plane != NULL && k < set->pairs[0].num_matches; ++k)
        plane[k] = -1;
    for (size_t i = 0; plane != NULL && i < pairs.num; ++i)
        if (planes.plane[i] < planes.num_planes)
            plane[c.match_idx[pairs.row[i]]] = (int32_t)planes.plane[i];

cleanup:
    psfm_correspondences_free(&c);
    psfm_ray_pairs_free(&pairs);
    psfm_plane_set_free(&planes);
    return status;
}

psfm_status psfm_find_homographies(psfm_context *ctx, const psfm_matched_points *points,
                                   const psfm_homography_options *options, size_t most,
                                   double *H_21, int32_t *plane, size_t *num_found) {
    psfm_matched_points known;
    psfm_two_view_options two_view;
    psfm_match_set set = {0};
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, points)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, H_21, most)) || (status = PSFM_REQUIRE(ctx, num_found)) ||
        (status = psfm_take_input(ctx, points, &known, sizeof known)) ||
        (status = check_points(ctx, &known)) || (status = take_options(ctx, options, &two_view)))
        return status;
    if (most > 1000)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%zu homographies of one pair are too many", most);
    status = make_set(ctx, &known, &set);
    if (status == PSFM_OK)
        status = find_homographies(ctx, &set, most, &two_view, H_21, plane, num_found);
    for (size_t k = 0; status == PSFM_OK && known.camera1 == NULL && k < *num_found; ++k)
        turn_into_pixels(&set, H_21 + 9 * k);
    psfm_match_set_free(&set);
    return status;
}

/* ---- motions ---- */

/* Rays alone, of unit length; a lane without a point is zero. */
static psfm_status list_rays(psfm_context *ctx, size_t num, const double *rays1,
                             const double *rays2, psfm_ray_pairs *pairs, uint32_t **idx) {
    psfm_status status;
    *pairs = (psfm_ray_pairs){.num = num, .num_blocks = (num + PSFM_LANES - 1) / PSFM_LANES};
    if ((status = PSFM_ALLOC(ctx, pairs->num_blocks, &pairs->blocks)) ||
        (status = PSFM_ALLOC(ctx, num, idx)))
        return status;
    for (size_t i = 0; i < num; ++i) {
        psfm_ray_block *block = &pairs->blocks[i / PSFM_LANES];
        double ray1[3], ray2[3];
        memcpy(ray1, rays1 + 3 * i, sizeof ray1);
        memcpy(ray2, rays2 + 3 * i, sizeof ray2);
        psfm_normalize3(ray1);
        psfm_normalize3(ray2);
        for (int k = 0; k < 3; ++k) {
            block->ray1[k][i % PSFM_LANES] = ray1[k];
            block->ray2[k][i % PSFM_LANES] = ray2[k];
        }
        (*idx)[i] = (uint32_t)i;
    }
    return PSFM_OK;
}

psfm_status psfm_decompose_homography(psfm_context *ctx, const double *H_21, size_t num,
                                      const double *rays1, const double *rays2,
                                      psfm_plane_motion *motions, size_t *num_motions) {
    const double axis[3] = {0.0, 0.0, 1.0};
    psfm_ray_pairs pairs = {0};
    uint32_t *idx = NULL;
    double H[9], image_of_axis[3];
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, H_21)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, rays1, num)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, rays2, num)) || (status = PSFM_REQUIRE(ctx, motions)) ||
        (status = PSFM_REQUIRE(ctx, num_motions)) ||
        (status = psfm_require_finite(ctx, H_21, 9, "H_21")) ||
        (status = psfm_require_finite(ctx, rays1, 3 * num, "rays1")) ||
        (status = psfm_require_finite(ctx, rays2, 3 * num, "rays2")))
        return status;
    memcpy(H, H_21, sizeof H);
    if (num > UINT32_MAX || !psfm_homography_normalize(H))
        return psfm_fail(ctx, num > UINT32_MAX ? PSFM_ERR_ARGUMENT : PSFM_ERR_DATA,
                         num > UINT32_MAX ? "too many rays" : "the homography is singular");
    psfm_mat3_mul_vec(H, axis, image_of_axis);
    status = num > 0 ? list_rays(ctx, num, rays1, rays2, &pairs, &idx)
                     : list_rays(ctx, 1, axis, image_of_axis, &pairs, &idx);
    if (status == PSFM_OK) {
        int found = psfm_homography_decompose(H, motions);
        *num_motions =
            (size_t)psfm_plane_motions_keep_visible(&pairs, idx, pairs.num, motions, found);
    }
    psfm_ray_pairs_free(&pairs);
    free(idx);
    return status;
}
