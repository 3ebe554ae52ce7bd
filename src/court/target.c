/* Courts of one game differ by decimetres: a wrong one fits roughly, and better than nothing. So a
 * pose is compared with all of them before it is believed. */
#include "court/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/camera/camera_model.h"
#include "court/court_evidence.h"
#include "court/registration.h"
#include "court/upright.h"

/* ---- photographs straightened with a lens ---- */

/* One photograph is a bundle adjustment of one image: the places of the drawing are its known
 * points, its line points the observations, and the prior of the camera holds what they do not
 * tell. */

#define MAX_ROUNDS 3
#define DISTORTION_SIGMA 0.1 /* of each coefficient, before the lines are looked at */
#define FOCAL_SIGMA 0.5      /* relative, of one that is not known */
#define FIXED_SIGMA 1e-6     /* of one that is */
#define LOSS_SCALE 3.0       /* standard deviations */
#define CONVERGED 1e-3       /* change of the first coefficient */

typedef struct {
    const psfm_image *image;
    const psfm_drawing *drawing;
    const psfm_court_options *court;
    psfm_bundle_options options;
    psfm_camera camera;
    psfm_camera_prior prior;
    uint32_t image_camera;
    double R[1][9], center[1][3];
    double (*points)[3];
    bool *fixed;
    uint32_t *obs_image, *obs_point;
    double (*xy)[2], (*sqrt_info)[3];
    psfm_bundle_problem problem;
} lens_fit;

/* The same camera in a model that has distortion. */
static psfm_camera with_distortion(const psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    psfm_camera out = *camera;
    if (psfm_camera_num_params(camera->model) > (info->focal[0] == info->focal[1] ? 3 : 4))
        return out;
    double fx = camera->params[info->focal[0]], fy = camera->params[info->focal[1]];
    double center[2] = {camera->params[info->center[0]], camera->params[info->center[1]]};
    bool one = fx == fy;
    memset(out.params, 0, sizeof out.params);
    if (info->is_fisheye)
        out.model = one ? PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE : PSFM_CAMERA_OPENCV_FISHEYE;
    else
        out.model = one ? PSFM_CAMERA_SIMPLE_RADIAL : PSFM_CAMERA_OPENCV;
    info = psfm_camera_model_get(out.model);
    out.params[info->focal[0]] = fx;
    out.params[info->focal[1]] = fy;
    for (int d = 0; d < 2; ++d)
        out.params[info->center[d]] = center[d];
    return out;
}

static psfm_status open_fit(psfm_context *ctx, const psfm_court_pose *pose, lens_fit *f) {
    size_t n = pose->lines.num;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &f->points)) || (status = PSFM_ALLOC(ctx, n, &f->fixed)) ||
        (status = PSFM_ALLOC(ctx, n, &f->obs_image)) ||
        (status = PSFM_ALLOC(ctx, n, &f->obs_point)) || (status = PSFM_ALLOC(ctx, n, &f->xy)) ||
        (status = PSFM_ALLOC(ctx, n, &f->sqrt_info)))
        return status;
    for (size_t k = 0; k < n; ++k) {
        const psfm_line_point *line = &pose->lines.items[k];
        memcpy(f->points[k], line->on, sizeof line->on);
        f->fixed[k] = true;
        f->obs_point[k] = (uint32_t)k;
        memcpy(f->xy[k], line->xy, sizeof line->xy);
        memcpy(f->sqrt_info[k], line->row, sizeof line->row);
    }
    memcpy(f->R[0], pose->R, sizeof f->R[0]);
    memcpy(f->center[0], pose->center, sizeof f->center[0]);
    f->problem = (psfm_bundle_problem){.num_cameras = 1,
                                       .cameras = &f->camera,
                                       .camera_priors = &f->prior,
                                       .num_images = 1,
                                       .image_camera = &f->image_camera,
                                       .cam_from_world = f->R,
                                       .centers = f->center,
                                       .num_points = n,
                                       .points = f->points,
                                       .point_fixed = f->fixed,
                                       .num_observations = n,
                                       .obs_image = f->obs_image,
                                       .obs_point = f->obs_point,
                                       .obs_xy = (const double(*)[2])f->xy,
                                       .obs_sqrt_info = (const double(*)[3])f->sqrt_info};
    return PSFM_OK;
}

static void close_fit(lens_fit *f) {
    free(f->points);
    free(f->fixed);
    free(f->obs_image);
    free(f->obs_point);
    free(f->xy);
    free(f->sqrt_info);
    f->points = NULL;
    f->fixed = NULL;
    f->obs_image = f->obs_point = NULL;
    f->xy = NULL;
    f->sqrt_info = NULL;
}

/* Adjusts camera and pose to the lines of the pose; *sigma is that of the first coefficient. */
static psfm_status adjust_lens(psfm_context *ctx, const psfm_court_pose *pose, lens_fit *f,
                               double *sigma) {
    double sigmas[1][PSFM_CAMERA_MAX_PARAMS];
    psfm_status status = open_fit(ctx, pose, f);
    if (status == PSFM_OK)
        status = psfm_bundle_adjust(ctx, &f->problem, &f->options, NULL);
    if (status == PSFM_OK)
        status = psfm_camera_sigmas(ctx, &f->problem, &f->options, sigmas);
    if (status == PSFM_OK)
        *sigma = sigmas[0][psfm_camera_first_coefficient(f->camera.model)];
    close_fit(f);
    return status;
}

/* Looks at the photograph through the lens found, and fits the pose again; true if it is better. */
static psfm_status look_again(psfm_context *ctx, const lens_fit *f, psfm_court_view *view,
                              psfm_court_pose *pose, bool *better) {
    psfm_court_view straight;
    psfm_court_pose start = *pose, found = {0};
    memcpy(start.R, f->R[0], sizeof start.R);
    memcpy(start.center, f->center[0], sizeof start.center);
    start.camera = f->camera;
    *better = false;
    psfm_status status =
        psfm_court_view_init(ctx, f->image, &f->camera, view->focal, f->court, &straight);
    if (status == PSFM_OK)
        status = psfm_court_refit(ctx, &straight, f->drawing, f->court, &start, &found);
    if (status == PSFM_OK && found.score > pose->score) {
        psfm_court_pose old = *pose;
        *pose = found;
        found = old;
        psfm_court_view_swap(view, &straight);
        *better = true;
    }
    psfm_court_pose_free(&found);
    psfm_court_view_free(&straight);
    return status;
}

/* Refines the distortion of the camera of a pose with the pose, from line residuals and a prior,
 * and the focal length if the view's is not fixed: pose->camera gets a model with distortion if it
 * has none, pose->sigma_distortion is set. Each round straightens the photograph with the lens so
 * far, so that more lines are near the drawing. *view becomes the one of the last lens. The pose
 * stays as it was if no better one is found. Cost: one psfm_court_view_init a round, three at most.
 */
static psfm_status refine_lens(psfm_context *ctx, const psfm_image *image,
                               const psfm_drawing *drawing, const psfm_court_options *options,
                               psfm_court_view *view, psfm_court_pose *pose) {
    bool known = view->focal == PSFM_FOCAL_FIXED, better = true;
    lens_fit f = {.image = image,
                  .drawing = drawing,
                  .court = options,
                  .camera = with_distortion(&pose->camera)};
    const int first = psfm_camera_first_coefficient(f.camera.model);
    psfm_status status = PSFM_OK;
    psfm_options_init(&psfm_bundle_option_table, &f.options);
    f.options.loss_scale_px = LOSS_SCALE;
    f.options.refine = PSFM_REFINE_FOCAL_DISTORTION;
    f.prior = (psfm_camera_prior){.refine = PSFM_REFINE_FOCAL_DISTORTION,
                                  .camera = f.camera,
                                  .focal_sigma = known ? FIXED_SIGMA : FOCAL_SIGMA,
                                  .distortion_sigma = DISTORTION_SIGMA,
                                  .center_sigma = 1.0};
    for (int round = 0; round < MAX_ROUNDS && status == PSFM_OK && better && pose->lines.num > 0;
         ++round) {
        double before = f.camera.params[first], sigma = 0.0;
        status = adjust_lens(ctx, pose, &f, &sigma);
        if (status == PSFM_OK)
            status = look_again(ctx, &f, view, pose, &better);
        if (status == PSFM_OK && better)
            pose->sigma_distortion = sigma;
        better = better && fabs(f.camera.params[first] - before) > CONVERGED;
        f.camera = better ? pose->camera : f.camera;
    }
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

/* ---- targets ---- */

psfm_status psfm_court_target_of_court(psfm_context *ctx, const psfm_court *court,
                                       psfm_court_target *target) {
    *target = (psfm_court_target){0};
    psfm_status status = psfm_drawing_from_court(ctx, court, &target->drawing);
    for (size_t k = 0; k < psfm_num_courts && status == PSFM_OK; ++k)
        if (psfm_court_is_related(court, &psfm_courts[k]) && target->num_rivals < PSFM_MAX_RIVALS)
            status = psfm_drawing_from_court(ctx, &psfm_courts[k],
                                             &target->rivals[target->num_rivals++]);
    return status;
}

void psfm_court_target_of_drawing(psfm_drawing *drawing, psfm_court_target *target) {
    *target = (psfm_court_target){.drawing = *drawing};
    *drawing = (psfm_drawing){0};
}

void psfm_court_target_free(psfm_court_target *target) {
    psfm_drawing_free(&target->drawing);
    for (size_t k = 0; k < target->num_rivals; ++k)
        psfm_drawing_free(&target->rivals[k]);
    *target = (psfm_court_target){0};
}

/* Holds a pose against the rivals and makes it canonical. */
static psfm_status finish_pose(psfm_context *ctx, const psfm_court_target *target,
                               const psfm_court_view *view, const psfm_court_options *options,
                               psfm_court_pose *pose) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; k < target->num_rivals && status == PSFM_OK; ++k)
        status = psfm_court_challenge(ctx, view, &target->rivals[k], options, pose);
    return status == PSFM_OK ? psfm_court_pose_make_canonical(ctx, &target->drawing, pose) : status;
}

psfm_status psfm_court_target_register_view(psfm_context *ctx, const psfm_court_target *target,
                                            const psfm_court_view *view,
                                            const psfm_court_options *options,
                                            psfm_court_pose *pose) {
    psfm_status status = psfm_court_register(ctx, view, &target->drawing, options, pose);
    return status == PSFM_OK ? finish_pose(ctx, target, view, options, pose) : status;
}

psfm_status psfm_court_target_register(psfm_context *ctx, const psfm_court_target *target,
                                       const psfm_image *image, psfm_photo_camera camera,
                                       const psfm_court_options *options, psfm_court_pose *pose) {
    psfm_court_view view = {0};
    psfm_upright upright;
    *pose = (psfm_court_pose){.verdict = PSFM_COURT_NO_LINES};
    psfm_status status = psfm_upright_init(ctx, image, camera.camera, &upright);
    if (status == PSFM_OK)
        status =
            psfm_court_view_init(ctx, upright.image, upright.camera, camera.focal, options, &view);
    if (status == PSFM_OK)
        status = psfm_court_register(ctx, &view, &target->drawing, options, pose);
    if (status == PSFM_OK && options != NULL && options->distortion)
        status = refine_lens(ctx, upright.image, &target->drawing, options, &view, pose);
    if (status == PSFM_OK)
        status = finish_pose(ctx, target, &view, options, pose);
    if (status == PSFM_OK)
        psfm_upright_undo(&upright, pose);
    psfm_court_view_free(&view);
    psfm_upright_free(&upright);
    return status;
}
