/* The front of planarsfm/bundle.h. */
#include "planarsfm/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"
#include "core/bundle/covariance.h"

/* ---- input ---- */

static psfm_status require_arrays(psfm_context *ctx, const psfm_bundle_scene *s) {
    psfm_status status;
    if ((status = PSFM_REQUIRE_ARRAY(ctx, s->cameras, s->num_cameras)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->image_camera, s->num_images)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->cam_from_world, s->num_images)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->centers, s->num_images)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->points, s->num_points)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->planes, s->num_planes)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->obs_image, s->num_observations)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, s->obs_point, s->num_observations)))
        return status;
    return PSFM_REQUIRE_ARRAY(ctx, s->obs_xy, s->num_observations);
}

/* Points to the caller's arrays; planes, which have another layout, are copied. */
static psfm_status take_scene(psfm_context *ctx, const psfm_bundle_scene *given,
                              psfm_bundle_scene *known, psfm_bundle_problem *p) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, given)) ||
        (status = psfm_take_input(ctx, given, known, sizeof *known)) ||
        (status = require_arrays(ctx, known)) ||
        (status = PSFM_ALLOC(ctx, known->num_planes, &p->planes)))
        return status;
    p->num_cameras = known->num_cameras;
    p->cameras = known->cameras;
    p->num_images = known->num_images;
    p->image_camera = known->image_camera;
    p->cam_from_world = (double(*)[9])known->cam_from_world;
    p->centers = (double(*)[3])known->centers;
    p->image_fixed = known->image_fixed;
    p->num_points = known->num_points;
    p->points = (double(*)[3])known->points;
    p->point_fixed = known->point_fixed;
    p->point_plane = known->point_plane;
    p->num_planes = known->num_planes;
    p->num_observations = known->num_observations;
    p->obs_image = known->obs_image;
    p->obs_point = known->obs_point;
    p->obs_xy = (const double(*)[2])known->obs_xy;
    p->obs_sqrt_info = (const double(*)[3])known->obs_sqrt_info;
    for (size_t k = 0; k < known->num_planes; ++k) {
        memcpy(p->planes[k].normal, known->planes + 4 * k, sizeof p->planes[k].normal);
        p->planes[k].distance = known->planes[4 * k + 3];
    }
    return PSFM_OK;
}

static void give_planes(const psfm_bundle_problem *p, double *planes) {
    for (size_t k = 0; k < p->num_planes; ++k) {
        memcpy(planes + 4 * k, p->planes[k].normal, sizeof p->planes[k].normal);
        planes[4 * k + 3] = p->planes[k].distance;
    }
}

static psfm_status check_choices(psfm_context *ctx, const psfm_adjust_options *o) {
    if (o->loss < 0 || o->loss > PSFM_ADJUST_HUBER || o->planes < 0 ||
        o->planes > PSFM_ADJUST_PLANES_FREE || o->refine < 0 ||
        o->refine > PSFM_ADJUST_ALL_INTRINSICS || o->solver < 0 ||
        o->solver > PSFM_ADJUST_ITERATIVE)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "loss, planes, refine or solver of an adjustment is none of its choices");
    if (!(o->loss_scale_px >= 0.0) || !(o->plane_sigma_px >= 0.0) || o->max_iterations < 0 ||
        !(o->tolerance >= 0.0) || o->min_observations < 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "options of an adjustment cannot be negative");
    return PSFM_OK;
}

static psfm_status take_options(psfm_context *ctx, const psfm_adjust_options *given,
                                psfm_bundle_options *o) {
    static const int losses[] = {PSFM_LOSS_CAUCHY, PSFM_LOSS_SQUARED, PSFM_LOSS_HUBER};
    static const int modes[] = {PSFM_PLANES_SOFT, PSFM_PLANES_HARD, PSFM_PLANES_FREE};
    static const int refined[] = {PSFM_REFINE_NONE, PSFM_REFINE_FOCAL, PSFM_REFINE_FOCAL_DISTORTION,
                                  PSFM_REFINE_ALL};
    static const int solvers[] = {PSFM_BUNDLE_AUTO, PSFM_BUNDLE_DIRECT, PSFM_BUNDLE_ITERATIVE};
    psfm_adjust_options known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    if (status == PSFM_OK)
        status = check_choices(ctx, &known);
    if (status != PSFM_OK)
        return status;
    psfm_options_init(&psfm_bundle_option_table, o);
    o->loss = losses[known.loss];
    o->planes = modes[known.planes];
    o->refine = refined[known.refine];
    o->solver = solvers[known.solver];
    o->loss_scale_px = psfm_value_or(known.loss_scale_px, o->loss_scale_px);
    o->plane_sigma_px = known.plane_sigma_px;
    o->max_iterations = psfm_int_or(known.max_iterations, o->max_iterations);
    o->tolerance = psfm_value_or(known.tolerance, o->tolerance);
    o->converged = known.converged < 0.0 ? 0.0 : psfm_value_or(known.converged, o->converged);
    if (known.converged < 0.0)
        o->converged_share = 0.0;
    o->min_observations = psfm_int_or(known.min_observations, o->min_observations);
    return psfm_options_check(ctx, &psfm_bundle_option_table, o);
}

/* ---- what is computed ---- */

static void give_result(const psfm_bundle_stats *stats, size_t num_images, int32_t *image_state,
                        psfm_adjust_result *result) {
    static const int32_t states[] = {PSFM_ADJUSTED, PSFM_ADJUST_FIXED, PSFM_ADJUST_DATUM,
                                     PSFM_ADJUST_LEFT_OUT};
    const psfm_adjust_result made = {.struct_size = sizeof made,
                                     .initial_cost = stats->initial_cost,
                                     .final_cost = stats->final_cost,
                                     .iterations = stats->iterations,
                                     .converged = stats->stop == PSFM_BUNDLE_CONVERGED,
                                     .initial_mean_px = stats->initial_mean_px,
                                     .mean_px = stats->mean_px,
                                     .rms_px = stats->rms_px,
                                     .num_observations = stats->num_observations,
                                     .num_points = stats->num_points};
    psfm_give_output(&made, result);
    for (size_t k = 0; image_state != NULL && k < num_images; ++k)
        image_state[k] = states[stats->images[k].state];
}

psfm_status psfm_adjust_bundle(psfm_context *ctx, const psfm_bundle_scene *scene,
                               const psfm_adjust_options *options, int32_t *image_state,
                               psfm_adjust_result *result) {
    psfm_bundle_scene known;
    psfm_bundle_problem p = {0};
    psfm_bundle_options o;
    psfm_bundle_stats stats = {0};
    psfm_status status = take_scene(ctx, scene, &known, &p);
    if (status == PSFM_OK)
        status = take_options(ctx, options, &o);
    if (status == PSFM_OK)
        status = psfm_bundle_adjust(ctx, &p, &o, &stats);
    if (status == PSFM_OK) {
        give_planes(&p, known.planes);
        give_result(&stats, p.num_images, image_state, result);
    }
    psfm_bundle_stats_free(&stats);
    free(p.planes);
    return status;
}

psfm_status psfm_reprojection_errors(psfm_context *ctx, const psfm_bundle_scene *scene,
                                     double *error_px) {
    psfm_bundle_scene known;
    psfm_bundle_problem p = {0};
    psfm_status status = take_scene(ctx, scene, &known, &p);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, error_px, p.num_observations);
    if (status == PSFM_OK)
        status = psfm_bundle_errors(ctx, &p, error_px);
    free(p.planes);
    return status;
}

psfm_status psfm_bundle_covariance(psfm_context *ctx, const psfm_bundle_scene *scene,
                                   const psfm_adjust_options *options, bool known_sigma,
                                   double *covariance, double *sigma) {
    psfm_bundle_scene known;
    psfm_bundle_problem p = {0};
    psfm_bundle_options o;
    psfm_covariance_stats stats;
    psfm_status status = take_scene(ctx, scene, &known, &p);
    if (status == PSFM_OK)
        status = take_options(ctx, options, &o);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, covariance, p.num_images);
    if (status == PSFM_OK)
        status = psfm_pose_covariance(ctx, &p, &o, known_sigma, (double(*)[36])covariance, &stats);
    if (status == PSFM_OK && sigma != NULL)
        *sigma = stats.sigma;
    free(p.planes);
    return status;
}

psfm_status psfm_intrinsics_sigmas(psfm_context *ctx, const psfm_bundle_scene *scene,
                                   const psfm_adjust_options *options, double *sigma) {
    psfm_bundle_scene known;
    psfm_bundle_problem p = {0};
    psfm_bundle_options o;
    psfm_status status = take_scene(ctx, scene, &known, &p);
    if (status == PSFM_OK)
        status = take_options(ctx, options, &o);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, sigma, p.num_cameras);
    if (status == PSFM_OK)
        status = psfm_camera_sigmas(ctx, &p, &o, (double(*)[PSFM_CAMERA_MAX_PARAMS])sigma);
    free(p.planes);
    return status;
}
