/* A wrong focal length rarely stops a reconstruction. It bends it, and the residuals hide most of
 * that. So once everything is adjusted, the focal lengths are let go for a few steps, and what they
 * do is compared with how well the images determine them. Distortions and principal points are
 * treated likewise: most lenses are straight and centred, and what few points say against it is
 * chance; what many say is true. */
#include "refine/check_intrinsics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "camera/camera_model.h"
#include "pose/covariance.h"

#define STEPS 5
#define FREE_SIGMA 0.2   /* of the prior: hardly any */
#define MAX_SIGMAS 5.0   /* that a focal length may want to move */
#define MIN_CHANGE 0.005 /* less than that is nobody's concern */
#define TRIAL_STEPS 10
#define MIN_IMAGES 5
#define MIN_SHIFT 0.002 /* of a principal point, as a share of the longer side */

/* The parts of a problem that an adjustment changes, copied. */
typedef struct {
    psfm_camera *cameras;
    double (*cam_from_world)[9], (*centers)[3], (*points)[3];
    psfm_bundle_plane *planes;
    psfm_camera_prior *priors;
    double (*sigma)[PSFM_CAMERA_MAX_PARAMS];
    size_t *num_images; /* per camera */
} copies;

static psfm_status copy(psfm_context *ctx, psfm_bundle_problem *p, copies *c) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_cameras, &c->cameras)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_images, &c->cam_from_world)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_images, &c->centers)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_points, &c->points)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_planes, &c->planes)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->priors)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->sigma)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->num_images)) != PSFM_OK)
        return status;
    for (size_t i = 0; i < p->num_images; ++i)
        ++c->num_images[p->image_camera[i]];
    memcpy(c->cameras, p->cameras, p->num_cameras * sizeof *c->cameras);
    memcpy(c->cam_from_world, p->cam_from_world, p->num_images * sizeof *c->cam_from_world);
    memcpy(c->centers, p->centers, p->num_images * sizeof *c->centers);
    if (p->num_points > 0)
        memcpy(c->points, p->points, p->num_points * sizeof *c->points);
    if (p->num_planes > 0)
        memcpy(c->planes, p->planes, p->num_planes * sizeof *c->planes);
    p->cameras = c->cameras;
    p->cam_from_world = c->cam_from_world;
    p->centers = c->centers;
    p->points = c->points;
    p->planes = c->planes;
    return PSFM_OK;
}

static void forget(copies *c) {
    free(c->cameras);
    free(c->cam_from_world);
    free(c->centers);
    free(c->points);
    free(c->planes);
    free(c->priors);
    free(c->sigma);
    free(c->num_images);
}

/* Lets the focal lengths go that are held; returns how many. */
static size_t release(const psfm_bundle_problem *given, psfm_bundle_problem *p, copies *c) {
    size_t num = 0;
    for (size_t k = 0; k < p->num_cameras; ++k) {
        bool moves =
            given->camera_priors != NULL && given->camera_priors[k].refine != PSFM_REFINE_NONE;
        num += !moves;
        c->priors[k] = (psfm_camera_prior){.refine = moves ? PSFM_REFINE_NONE : PSFM_REFINE_FOCAL,
                                           .camera = p->cameras[k],
                                           .focal_sigma = FREE_SIGMA};
    }
    p->camera_priors = c->priors;
    return num;
}

/* What the cameras want, against how surely. */
static void judge(const psfm_bundle_problem *given, const copies *c, psfm_intrinsics_check *out) {
    double worst = 0.0;
    for (size_t k = 0; k < given->num_cameras; ++k) {
        int focal = psfm_camera_model_get(given->cameras[k].model)->focal[0];
        double before = given->cameras[k].params[focal], after = c->cameras[k].params[focal];
        double sigma = c->sigma[k][focal] / after, change = after / before - 1.0;
        if (!isfinite(sigma) || !(fabs(change) > fmax(MIN_CHANGE, MAX_SIGMAS * sigma)))
            continue;
        ++out->num_wrong;
        if (fabs(change) / sigma > worst) {
            worst = fabs(change) / sigma;
            out->worst = (uint32_t)k;
            out->change = change;
            out->sigma = sigma;
        }
    }
}

psfm_status psfm_check_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_bundle_options *options, psfm_intrinsics_check *out) {
    psfm_bundle_problem p = *problem;
    psfm_bundle_options steps = *options;
    psfm_bundle_stats stats = {0};
    copies c = {0};
    *out = (psfm_intrinsics_check){0};
    psfm_status status = copy(ctx, &p, &c);
    if (status != PSFM_OK || (out->num_checked = release(problem, &p, &c)) == 0)
        goto cleanup;
    steps.refine = PSFM_REFINE_AUTO;
    steps.max_iterations = STEPS;
    if ((status = psfm_bundle_adjust(ctx, &p, &steps, &stats)) != PSFM_OK)
        goto cleanup;
    out->before_px = stats.initial_mean_px;
    out->after_px = stats.mean_px;
    if ((status = psfm_camera_sigmas(ctx, &p, &steps, c.sigma)) == PSFM_OK)
        judge(problem, &c, out);
    if (status == PSFM_OK && out->num_wrong > 0)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "the focal length of %zu of %zu cameras wants to change: camera %u by %+.1f %% "
                 "(known to %.2f %%), error %.2f to %.2f px; try --refine focal",
                 out->num_wrong, out->num_checked, problem->cameras[out->worst].id,
                 100.0 * out->change, 100.0 * out->sigma, out->before_px, out->after_px);
    else if (status == PSFM_ERR_NUMERIC) /* not determined: nothing to complain about */
        status = PSFM_OK;

cleanup:
    psfm_bundle_stats_free(&stats);
    forget(&c);
    return status;
}

/* Lets everything go of cameras that move at all, but principal points only where enough images
 * share them: in a single image a principal point is next to a turn of the camera, and takes up
 * whatever else is wrong. */
static size_t release_all(psfm_bundle_problem *p, copies *c) {
    size_t num = 0;
    for (size_t k = 0; k < p->num_cameras; ++k) {
        psfm_bundle_refine most =
            c->num_images[k] < MIN_IMAGES ? PSFM_REFINE_FOCAL_DISTORTION : PSFM_REFINE_ALL;
        c->priors[k] = p->camera_priors[k];
        if (c->priors[k].refine < PSFM_REFINE_FOCAL || c->priors[k].refine >= most)
            continue;
        c->priors[k].refine = most;
        ++num;
    }
    p->camera_priors = c->priors;
    return num;
}

/* What of a camera should move: what was held and has left its prior for more than chance. False
 * comparisons with NAN are of parameters that were held in the trial, too. */
static psfm_bundle_refine find_movement(const psfm_camera_prior *prior, const psfm_camera *camera,
                                        const double *sigma) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double longer = (double)(camera->width > camera->height ? camera->width : camera->height);
    psfm_bundle_refine refine = prior->refine;
    for (int k = 0; k < info->num_params; ++k) {
        bool is_center = k == info->center[0] || k == info->center[1];
        bool is_focal = k == info->focal[0] || k == info->focal[1];
        double shift = fabs(camera->params[k] - prior->camera.params[k]);
        double least = fmax(is_center ? MIN_SHIFT * longer : 0.0, MAX_SIGMAS * sigma[k]);
        psfm_bundle_refine wanted = is_center  ? PSFM_REFINE_ALL
                                    : is_focal ? PSFM_REFINE_FOCAL
                                               : PSFM_REFINE_FOCAL_DISTORTION;
        if (shift > least && isfinite(sigma[k]) && wanted > refine)
            refine = wanted;
    }
    return refine;
}

psfm_status psfm_release_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                    const psfm_bundle_options *options, psfm_camera_prior *priors,
                                    size_t *num) {
    psfm_bundle_problem p = *problem;
    psfm_bundle_options steps = *options;
    copies c = {0};
    size_t num_centers = 0;
    *num = 0;
    psfm_status status = copy(ctx, &p, &c);
    if (status != PSFM_OK || release_all(&p, &c) == 0)
        goto cleanup;
    steps.max_iterations = TRIAL_STEPS;
    if ((status = psfm_bundle_adjust(ctx, &p, &steps, NULL)) != PSFM_OK)
        goto cleanup;
    status = psfm_camera_sigmas(ctx, &p, &steps, c.sigma);
    for (size_t k = 0; status == PSFM_OK && k < p.num_cameras; ++k) {
        psfm_bundle_refine refine = priors[k].refine;
        if (c.priors[k].refine > refine)
            refine = find_movement(&priors[k], &c.cameras[k], c.sigma[k]);
        *num += refine > priors[k].refine;
        num_centers += refine > priors[k].refine && refine == PSFM_REFINE_ALL;
        priors[k].refine = refine;
    }
    if (*num > 0)
        psfm_log(ctx, PSFM_LOG_INFO,
                 "%zu cameras distort or have a principal point off the middle (%zu)", *num,
                 num_centers);
    if (status == PSFM_ERR_NUMERIC) /* not determined: they stay */
        status = PSFM_OK;

cleanup:
    forget(&c);
    return status;
}
