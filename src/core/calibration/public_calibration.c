/* The front of planarsfm/calibration.h: a match set of the caller's arrays. */
#include "planarsfm/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"
#include "core/calibration/calibrate.h"

/* ---- input ---- */

static psfm_status check_begin(psfm_context *ctx, const size_t *begin, size_t num,
                               const char *name) {
    psfm_status status = psfm_require(ctx, begin, name);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        if (begin[0] != 0 || begin[k + 1] < begin[k])
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s must start at 0 and not descend", name);
    return status;
}

static psfm_status take_images(psfm_context *ctx, const psfm_matched_images *given,
                               psfm_matched_images *in) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, given)) ||
        (status = psfm_take_input(ctx, given, in, sizeof *in)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, in->cameras, in->num_cameras)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, in->image_camera, in->num_images)) ||
        (status = check_begin(ctx, in->keypoint_begin, in->num_images, "keypoint_begin")) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, in->keypoints, in->keypoint_begin[in->num_images])) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, in->pairs, in->num_pairs)) ||
        (status = check_begin(ctx, in->match_begin, in->num_pairs, "match_begin")) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, in->matches, in->match_begin[in->num_pairs])))
        return status;
    if (in->num_cameras > UINT32_MAX || in->num_images >= UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many cameras or images");
    return status;
}

static psfm_status copy_cameras(psfm_context *ctx, const psfm_matched_images *in,
                                psfm_match_set *set) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, in->num_cameras, &set->cameras)) ||
        (status = PSFM_ALLOC(ctx, in->num_cameras, &set->origins)))
        return status;
    set->num_cameras = in->num_cameras;
    for (size_t k = 0; k < in->num_cameras; ++k) {
        bool known = in->camera_known != NULL && in->camera_known[k];
        set->cameras[k] = in->cameras[k];
        set->origins[k] =
            (psfm_camera_origin){.source = known ? PSFM_FOCAL_GIVEN : PSFM_FOCAL_GUESS,
                                 .sigma = known ? 0.0 : PSFM_GUESS_SIGMA,
                                 .keeps_model = true,
                                 .before = in->cameras[k]};
    }
    return PSFM_OK;
}

static psfm_status copy_views(psfm_context *ctx, const psfm_matched_images *in,
                              psfm_match_set *set) {
    psfm_status status = PSFM_ALLOC(ctx, in->num_images, &set->views);
    for (uint32_t v = 0; status == PSFM_OK && v < in->num_images; ++v) {
        psfm_view *view = &set->views[set->num_views++];
        size_t first = in->keypoint_begin[v], num = in->keypoint_begin[v + 1] - first;
        *view = (psfm_view){.id = v, .camera_idx = in->image_camera[v], .num_keypoints = num};
        if ((status = PSFM_ALLOC(ctx, 24, &view->name)) ||
            (status = PSFM_ALLOC(ctx, num, &view->keypoints)))
            break;
        snprintf(view->name, 24, "image %u", v);
        if (num > 0)
            memcpy(view->keypoints, in->keypoints + 2 * first, num * sizeof *view->keypoints);
    }
    return status;
}

static psfm_status copy_pairs(psfm_context *ctx, const psfm_matched_images *in,
                              psfm_match_set *set) {
    psfm_status status = PSFM_ALLOC(ctx, in->num_pairs, &set->pairs);
    for (size_t p = 0; status == PSFM_OK && p < in->num_pairs; ++p) {
        size_t first = in->match_begin[p], num = in->match_begin[p + 1] - first;
        psfm_match_pair *pair = &set->pairs[set->num_pairs++];
        *pair = (psfm_match_pair){
            .view1 = in->pairs[2 * p], .view2 = in->pairs[2 * p + 1], .num_matches = num};
        status = PSFM_ALLOC(ctx, num, &pair->matches);
        if (status == PSFM_OK && num > 0)
            memcpy(pair->matches, in->matches + 2 * first, num * sizeof *pair->matches);
    }
    if (status == PSFM_OK && set->num_pairs > 0)
        qsort(set->pairs, set->num_pairs, sizeof *set->pairs, psfm_match_pair_compare);
    return status;
}

/* A mistake in the caller's arrays is one of arguments, whatever the check says of a data base. */
static psfm_status make_set(psfm_context *ctx, const psfm_matched_images *in, psfm_match_set *set) {
    psfm_status status;
    if ((status = copy_cameras(ctx, in, set)) || (status = copy_views(ctx, in, set)) ||
        (status = copy_pairs(ctx, in, set)))
        return status;
    status = psfm_match_set_check(ctx, set);
    if (status == PSFM_ERR_DATA)
        return PSFM_ERR_ARGUMENT;
    return status == PSFM_OK ? psfm_match_set_compute_rays(ctx, set, NULL) : status;
}

/* ---- calibration ---- */

typedef struct {
    psfm_calibrate_options calibrate;
    psfm_focal_options focal;
    psfm_two_view_options two_view;
} calibration_options;

static psfm_status take_options(psfm_context *ctx, const psfm_calibration_options *given,
                                calibration_options *o) {
    psfm_calibration_options known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    psfm_options_init(&psfm_calibrate_option_table, &o->calibrate);
    psfm_options_init(&psfm_focal_option_table, &o->focal);
    psfm_options_init(&psfm_two_view_option_table, &o->two_view);
    o->calibrate.distortion = known.distortion >= 0;
    o->focal.max_sigma = psfm_value_or(known.max_sigma, o->focal.max_sigma);
    o->two_view.max_error_px = psfm_value_or(known.max_error_px, o->two_view.max_error_px);
    if (status == PSFM_OK)
        status = psfm_options_check(ctx, &psfm_focal_option_table, &o->focal);
    return status == PSFM_OK ? psfm_options_check(ctx, &psfm_two_view_option_table, &o->two_view)
                             : status;
}

static void give_cameras(const psfm_match_set *set, const psfm_matched_images *in,
                         double *focal_sigma) {
    for (size_t k = 0; k < in->num_cameras; ++k) {
        psfm_focal_source source = set->origins[k].source;
        bool found =
            source == PSFM_FOCAL_PLANES || source == PSFM_FOCAL_PAIRS || source == PSFM_FOCAL_HINT;
        bool known = in->camera_known != NULL && in->camera_known[k];
        focal_sigma[k] = known ? 0.0 : found ? set->origins[k].sigma : INFINITY;
        if (found)
            in->cameras[k] = set->cameras[k];
    }
}

psfm_status psfm_calibrate_cameras(psfm_context *ctx, const psfm_matched_images *images,
                                   const psfm_calibration_options *options, double *focal_sigma,
                                   psfm_calibration_result *result) {
    psfm_matched_images in;
    calibration_options o;
    psfm_match_set set = {0};
    psfm_calibrate_stats stats = {0};
    psfm_status status;
    if ((status = take_images(ctx, images, &in)) || (status = take_options(ctx, options, &o)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, focal_sigma, in.num_cameras)))
        return status;
    status = make_set(ctx, &in, &set);
    if (status == PSFM_OK && psfm_needs_calibration(&set, &o.calibrate))
        status = psfm_calibrate(ctx, &o.calibrate, &o.focal, &o.two_view, &set, &stats);
    if (status == PSFM_OK) {
        const psfm_calibration_result made = {sizeof made, stats.num_determined, stats.num_planes,
                                              stats.num_homographies, stats.num_pairs};
        give_cameras(&set, &in, focal_sigma);
        psfm_give_output(&made, result);
    }
    psfm_match_set_free(&set);
    return status;
}
