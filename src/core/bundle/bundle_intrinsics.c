/* Intrinsics in the adjustment: which of them move, their derivatives, their priors.
 *
 * A camera has one focal length unless two are asked for: fx and fy keep their ratio, and the free
 * parameter is fx. With the pixel x = fx u + cx, y = fy v + cy the derivative by it is then
 * ((x - cx) / fx, (y - cy) / fx). Every free parameter has a normal prior, so that directions that
 * the images do not determine (a focal length over flat ground, seen from straight above) stay
 * where they were instead of running off. */
#include <math.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"
#include "core/camera/camera_model.h"

#define MIN_FOCAL_RATIO 0.2 /* of a step; beyond, the linear model says nothing */
#define MIN_FOCAL 0.02      /* of the longer side: a field of view of 178 degrees */
#define MAX_FOCAL 1000.0
#define MIN_BETA 0.01 /* of the enhanced unified model, whose alpha is from 0 to 1 */
#define FIXED 1e10    /* times the weight of a prior: the parameter does not move */

static double longer_side(const psfm_camera *camera) {
    return (double)(camera->width > camera->height ? camera->width : camera->height);
}

/* The prior of a camera: the problem's, or what the options say about the values at the start. */
static psfm_camera_prior prior_of(const psfm_bundle *b, size_t c) {
    const psfm_bundle_options *o = &b->options;
    psfm_camera_prior prior = {.refine = (psfm_bundle_refine)o->refine,
                               .camera = b->problem->cameras[c],
                               .focal_sigma = o->focal_sigma,
                               .distortion_sigma = o->distortion_sigma,
                               .center_sigma = o->center_sigma};
    if (b->problem->camera_priors != NULL && o->refine != PSFM_REFINE_NONE)
        prior = b->problem->camera_priors[c];
    return prior;
}

/* Standard deviation of parameter k of a camera; 0 if it does not move. */
static double sigma_of(const psfm_bundle *b, const psfm_camera_prior *prior, int k) {
    const psfm_camera_model_info *info = psfm_camera_model_get(prior->camera.model);
    bool is_second = k == info->focal[1] && k != info->focal[0];
    bool are_apart = b->options.two_focals || prior->two_focals;
    if (prior->fixed >> k & 1)
        return 0.0;
    if (is_second && prior->aspect_sigma > 0.0)
        return prior->aspect_sigma * prior->camera.params[k];
    if (k == info->focal[0] || is_second)
        return prior->refine >= PSFM_REFINE_FOCAL && (!is_second || are_apart)
                   ? prior->focal_sigma * prior->camera.params[k]
                   : 0.0;
    if (k == info->center[0] || k == info->center[1])
        return prior->refine == PSFM_REFINE_ALL ? prior->center_sigma * longer_side(&prior->camera)
                                                : 0.0;
    return prior->refine >= PSFM_REFINE_FOCAL_DISTORTION ? prior->distortion_sigma : 0.0;
}

bool psfm_bundle_moves_camera(const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, size_t camera) {
    if (options->refine == PSFM_REFINE_NONE)
        return false;
    if (problem->camera_priors == NULL)
        return options->refine != PSFM_REFINE_AUTO;
    return problem->camera_priors[camera].refine != PSFM_REFINE_NONE;
}

static void select_parameters(psfm_bundle *b, size_t c) {
    psfm_camera_prior prior = prior_of(b, c);
    uint32_t num = 0;
    for (int k = 0; k < psfm_camera_num_params(prior.camera.model); ++k) {
        double sigma = sigma_of(b, &prior, k);
        if (!(sigma > 0.0))
            continue;
        b->free_params[c][num] = (uint32_t)k;
        b->prior_value[c][num] = prior.camera.params[k];
        b->prior_weight[c][num] = 1.0 / (sigma * sigma);
        ++num;
    }
    b->num_free_params[c] = num;
    b->max_free_params = num > b->max_free_params ? num : b->max_free_params;
}

psfm_status psfm_bundle_select_intrinsics(psfm_context *ctx, psfm_bundle *b) {
    const psfm_bundle_problem *p = b->problem;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_cameras, &b->num_free_params)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &b->free_params)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &b->prior_value)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &b->prior_weight)) != PSFM_OK)
        return status;
    for (uint32_t o = 0; o < b->num_obs; ++o)
        b->num_free_params[p->image_camera[b->obs_image[o]]] = 1; /* marks the cameras in use */
    for (size_t c = 0; c < p->num_cameras; ++c)
        if (b->num_free_params[c] > 0)
            select_parameters(b, c);
    return PSFM_OK;
}

/* Whether fy goes with fx: it is not free, or only their ratio is. */
static bool keeps_ratio(const psfm_bundle *b, size_t c) {
    const psfm_camera_prior *priors = b->problem->camera_priors;
    if (priors != NULL && priors[c].aspect_sigma > 0.0)
        return true;
    int second = psfm_camera_model_get(b->problem->cameras[c].model)->focal[1];
    for (uint32_t k = 1; k < b->num_free_params[c]; ++k)
        if ((int)b->free_params[c][k] == second)
            return false;
    return true;
}

/* Derivative by a coefficient of the distortion, by central differences. */
static void differentiate_distortion(const psfm_camera *at, uint32_t param, const double Y[3],
                                     double column[2]) {
    psfm_camera camera = *at;
    double value = camera.params[param], plus[2], minus[2], h = 1e-4 * fmax(fabs(value), 0.1);
    column[0] = column[1] = 0.0;
    camera.params[param] = value + h;
    bool good = psfm_camera_project(&camera, Y, plus);
    camera.params[param] = value - h;
    if (!psfm_camera_project(&camera, Y, minus) || !good)
        return;
    column[0] = (plus[0] - minus[0]) / (2.0 * h);
    column[1] = (plus[1] - minus[1]) / (2.0 * h);
}

void psfm_bundle_camera_jacobian(const psfm_bundle *b, uint32_t camera_idx, const double Y[3],
                                 const double xy[2], double *J) {
    const psfm_camera *camera = &b->now.cameras[camera_idx];
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    uint32_t num = b->num_free_params[camera_idx];
    bool joint = keeps_ratio(b, camera_idx);
    for (uint32_t k = 0; k < num; ++k) {
        int param = (int)b->free_params[camera_idx][k];
        double column[2] = {0.0, 0.0};
        if (param == info->focal[0] || param == info->focal[1]) {
            for (int side = 0; side < 2; ++side)
                if ((joint && param == info->focal[0]) || param == info->focal[side])
                    column[side] =
                        (xy[side] - camera->params[info->center[side]]) / camera->params[param];
        } else if (param == info->center[0] || param == info->center[1]) {
            column[param == info->center[0] ? 0 : 1] = 1.0;
        } else {
            differentiate_distortion(camera, (uint32_t)param, Y, column);
        }
        J[k] = column[0];
        J[num + k] = column[1];
    }
}

/* Keeps the numbers of the enhanced unified model where it is one. */
static void clamp_unified(psfm_camera *camera, const psfm_camera_model_info *info) {
    if (info->unified[0] == 0)
        return;
    double *alpha = &camera->params[info->unified[0]], *beta = &camera->params[info->unified[1]];
    *alpha = fmin(fmax(*alpha, 0.0), 1.0);
    *beta = fmax(*beta, MIN_BETA);
}

void psfm_bundle_move_camera(psfm_bundle *b, uint32_t camera, const double *d) {
    const psfm_camera *from = &b->now.cameras[camera];
    const psfm_camera_model_info *info = psfm_camera_model_get(from->model);
    psfm_camera *to = &b->trial.cameras[camera];
    double longer = longer_side(from);
    *to = *from;
    for (uint32_t k = 0; k < b->num_free_params[camera]; ++k) {
        int param = (int)b->free_params[camera][k];
        double old = from->params[param];
        to->params[param] = old + d[k];
        if (param != info->focal[0] && param != info->focal[1])
            continue;
        double least = fmax(MIN_FOCAL_RATIO * old, MIN_FOCAL * longer);
        to->params[param] = fmin(fmax(to->params[param], least), MAX_FOCAL * longer);
        if (info->focal[1] != info->focal[0] && keeps_ratio(b, camera))
            to->params[info->focal[1]] = from->params[info->focal[1]] * to->params[param] / old;
    }
    clamp_unified(to, info);
}

psfm_bundle_prior psfm_bundle_prior_of(const psfm_bundle *b, size_t c, uint32_t k) {
    psfm_bundle_prior prior = {b->prior_value[c][k], b->prior_weight[c][k]};
    if (b->holds_cameras) {
        prior.value = b->problem->cameras[c].params[b->free_params[c][k]];
        prior.weight *= FIXED;
    }
    return prior;
}

double psfm_bundle_prior_cost(const psfm_bundle *b, const psfm_bundle_values *values) {
    double cost = 0.0;
    for (size_t c = 0; c < b->problem->num_cameras; ++c)
        for (uint32_t k = 0; k < b->num_free_params[c]; ++k) {
            psfm_bundle_prior prior = psfm_bundle_prior_of(b, c, k);
            double off = values->cameras[c].params[b->free_params[c][k]] - prior.value;
            cost += 0.5 * prior.weight * off * off;
        }
    return cost;
}

double psfm_bundle_prior_decrease(const psfm_bundle *b) {
    double decrease = 0.0;
    for (size_t c = 0; c < b->problem->num_cameras; ++c) {
        if (b->camera_block[c] == PSFM_BUNDLE_NONE)
            continue;
        const double *d = b->step + b->pattern.scalar_begin[b->camera_block[c]];
        for (uint32_t k = 0; k < b->num_free_params[c]; ++k) {
            psfm_bundle_prior prior = psfm_bundle_prior_of(b, c, k);
            double off = b->now.cameras[c].params[b->free_params[c][k]] - prior.value;
            decrease -= prior.weight * d[k] * (off + 0.5 * d[k]);
        }
    }
    return decrease;
}
