/* Once there are poses, every image says more surely what its own focal length is than planes do
 * before. All are adjusted at once from the common one, with everything else of the lens as it is;
 * what they come to and how surely is what camera_groups.c decides by.
 *
 * As for other intrinsics (lens_selection.c), normal equations make standard deviations too small:
 * neighbours share errors. They are doubled, and if something would still be split, raised to what
 * two halves of the points differ by. What is wrong with a whole image is in both halves: so they
 * are raised once more. */
#include "core/refine/camera_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/camera/camera_model.h"
#include "core/matches/camera_groups.h"
#include "core/refine/bundle_copy.h"

#define STEPS 10
#define TOLERANCE 1e-5
#define FREE_SIGMA 0.2 /* of the logarithm of an image's focal length about the common one */
/* Times: errors of a whole image that are in both halves, such as its shutter's. On photographs of
 * one camera own focal lengths scatter by 1.6 (fox25) to 4.5 times what halves differ by (a phone,
 * monstree23; a video, tandt_train30), where the zoom turned by ten and more. */
#define BOTH_HALVES 4.0
#define MIN_FACTOR 2.0  /* of standard deviations */
#define MIN_SIGMA 0.001 /* by focus, and by lenses that are not as assumed */

typedef struct {
    const psfm_bundle_problem *problem;
    psfm_bundle_options options;
    psfm_camera *cameras; /* of the problem, then one for each image */
    psfm_camera_prior *priors;
    uint32_t *image_camera;
    double (*sigmas)[PSFM_CAMERA_MAX_PARAMS];
    double *log_focal, *sigma, *half[2]; /* per image */
} trial;

static size_t num_cameras(const trial *t) {
    return t->problem->num_cameras + t->problem->num_images;
}

static psfm_status trial_init(psfm_context *ctx, const psfm_refinement *r,
                              const psfm_bundle_problem *problem, trial *t) {
    const size_t n = problem->num_images;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_cameras(t), &t->cameras)) ||
        (status = PSFM_ALLOC(ctx, num_cameras(t), &t->priors)) ||
        (status = PSFM_ALLOC(ctx, num_cameras(t), &t->sigmas)) ||
        (status = PSFM_ALLOC(ctx, n, &t->image_camera)) ||
        (status = PSFM_ALLOC(ctx, n, &t->log_focal)) || (status = PSFM_ALLOC(ctx, n, &t->sigma)) ||
        (status = PSFM_ALLOC(ctx, n, &t->half[0])) || (status = PSFM_ALLOC(ctx, n, &t->half[1])))
        return status;
    for (size_t v = 0; v < n; ++v) {
        uint32_t c = problem->image_camera[v];
        bool may_split = psfm_camera_may_split(r->input->set, c) &&
                         r->input->set->origins[c].source != PSFM_FOCAL_LINES &&
                         psfm_bundle_moves_camera(problem, &t->options, c);
        t->image_camera[v] = may_split ? (uint32_t)(problem->num_cameras + v) : c;
    }
    return PSFM_OK;
}

static void trial_free(trial *t) {
    free(t->cameras);
    free(t->priors);
    free(t->sigmas);
    free(t->image_camera);
    free(t->log_focal);
    free(t->sigma);
    free(t->half[0]);
    free(t->half[1]);
}

static bool is_tried(const trial *t, size_t v) {
    return t->image_camera[v] >= t->problem->num_cameras;
}

static bool is_any_tried(const trial *t) {
    for (size_t v = 0; v < t->problem->num_images; ++v)
        if (is_tried(t, v))
            return true;
    return false;
}

static double focal_of(const psfm_camera *camera) {
    return camera->params[psfm_camera_model_get(camera->model)->focal[0]];
}

/* Cameras as they are, and one more for each image that is tried. */
static void begin_cameras(trial *t, const psfm_bundle_copy *copy) {
    const size_t num = t->problem->num_cameras;
    memcpy(t->cameras, copy->cameras, num * sizeof *t->cameras);
    memcpy(t->priors, copy->priors, num * sizeof *t->priors);
    for (size_t v = 0; v < t->problem->num_images; ++v) {
        const psfm_camera *common = &t->problem->cameras[t->problem->image_camera[v]];
        t->cameras[num + v] = *common;
        t->priors[num + v] = (psfm_camera_prior){
            .refine = PSFM_REFINE_FOCAL, .camera = *common, .focal_sigma = FREE_SIGMA};
    }
}

/* Adjusts a part of the points with a focal length for each image: how much longer it is. */
static psfm_status adjust_part(psfm_context *ctx, trial *t, psfm_bundle_part part, double *own) {
    psfm_bundle_copy copy = {0};
    psfm_status status = psfm_bundle_copy_make(ctx, t->problem, part, &copy);
    if (status == PSFM_OK) {
        begin_cameras(t, &copy);
        copy.problem.num_cameras = num_cameras(t);
        copy.problem.cameras = t->cameras;
        copy.problem.camera_priors = t->priors;
        copy.problem.image_camera = t->image_camera;
        status = psfm_bundle_adjust(ctx, &copy.problem, &t->options, NULL);
    }
    for (size_t v = 0; status == PSFM_OK && v < t->problem->num_images; ++v)
        own[v] = log(focal_of(&t->cameras[t->image_camera[v]]) /
                     focal_of(&t->problem->cameras[t->problem->image_camera[v]]));
    if (status == PSFM_OK && part == PSFM_BUNDLE_ALL)
        status = psfm_camera_sigmas(ctx, &copy.problem, &t->options, t->sigmas);
    psfm_bundle_copy_free(&copy);
    return status;
}

static void set_sigmas(trial *t, double factor) {
    for (size_t v = 0; v < t->problem->num_images; ++v) {
        const psfm_camera *camera = &t->cameras[t->image_camera[v]];
        int k = psfm_camera_model_get(camera->model)->focal[0];
        double sigma = t->sigmas[t->image_camera[v]][k] / camera->params[k];
        t->sigma[v] =
            is_tried(t, v) ? hypot(BOTH_HALVES * factor * sigma, MIN_SIGMA) : (double)INFINITY;
    }
}

/* By how much standard deviations are to be raised, from what halves of the points differ by. */
static psfm_status find_factor(psfm_context *ctx, trial *t, double *factor) {
    double sum = 0.0, num = 0.0;
    psfm_status status = adjust_part(ctx, t, PSFM_BUNDLE_HALF_A, t->half[0]);
    if (status == PSFM_OK)
        status = adjust_part(ctx, t, PSFM_BUNDLE_HALF_B, t->half[1]);
    for (size_t v = 0; status == PSFM_OK && v < t->problem->num_images; ++v) {
        const psfm_camera *camera = &t->cameras[t->image_camera[v]];
        int k = psfm_camera_model_get(camera->model)->focal[0];
        double sigma = t->sigmas[t->image_camera[v]][k] / camera->params[k];
        if (!is_tried(t, v) || !(sigma > 0.0))
            continue;
        double off = 0.5 * (t->half[0][v] - t->half[1][v]) / sigma;
        sum += off * off;
        num += 1.0;
    }
    *factor = num > 0.0 ? fmax(MIN_FACTOR, sqrt(sum / num)) : MIN_FACTOR;
    return status;
}

/* ---- into the refinement ---- */

/* Cameras and priors of those that were split off, and of what is left. What was freed of their
 * lenses was chosen for all of them together, so it is as it was before. */
static psfm_status take_split(psfm_context *ctx, psfm_refinement *r, const trial *t,
                              const psfm_camera_prior *held, size_t before) {
    psfm_match_set *set = r->input->set;
    size_t cameras = before, priors = before;
    double *focal = t->half[0]; /* of each image */
    psfm_status status = PSFM_RESERVE(ctx, &r->out->cameras, &cameras, set->num_cameras);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &r->camera_priors, &priors, set->num_cameras);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        focal[v] = focal_of(&r->out->cameras[r->image_camera[v]]) * exp(t->log_focal[v]);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v) {
        const uint32_t old = r->image_camera[v], now = set->views[v].camera_idx;
        psfm_camera *camera = &r->out->cameras[now];
        const psfm_camera_model_info *info = psfm_camera_model_get(set->cameras[now].model);
        r->image_camera[v] = now;
        if (t->log_focal[v] == 0.0 && now == old) /* of a camera that stays as it was */
            continue;
        *camera = set->cameras[now];
        const double longer = focal[v] / camera->params[info->focal[0]];
        camera->params[info->focal[0]] *= longer;
        if (info->focal[1] != info->focal[0])
            camera->params[info->focal[1]] *= longer;
        camera->params[info->center[0]] = 0.5 * (double)camera->width;
        camera->params[info->center[1]] = 0.5 * (double)camera->height;
        r->camera_priors[now] = held[old];
        r->camera_priors[now].camera = *camera;
        r->camera_priors[now].focal_sigma = fmax(held[old].focal_sigma, FREE_SIGMA);
        set->origins[now].source = PSFM_FOCAL_POINTS;
        set->origins[now].sigma = FREE_SIGMA;
    }
    return status;
}

/* Splits by the focal lengths of the trial. */
static psfm_status split_cameras(psfm_context *ctx, psfm_refinement *r, trial *t,
                                 const psfm_camera_prior *held, size_t *num) {
    double factor = MIN_FACTOR;
    psfm_status status = adjust_part(ctx, t, PSFM_BUNDLE_ALL, t->log_focal);
    if (status != PSFM_OK)
        return status;
    set_sigmas(t, factor);
    if (!psfm_camera_groups_differ(r->input->set, t->log_focal, t->sigma))
        return PSFM_OK;
    status = find_factor(ctx, t, &factor);
    set_sigmas(t, factor);
    const size_t before = r->input->set->num_cameras;
    if (status == PSFM_OK)
        status = psfm_camera_groups_split(ctx, r->input->set, t->log_focal, t->sigma, num);
    if (status == PSFM_OK && *num > 0)
        status = take_split(ctx, r, t, held, before);
    return status;
}

psfm_status psfm_refinement_split_cameras(psfm_context *ctx, psfm_refinement *r,
                                          const psfm_camera_prior *held, size_t *num) {
    const psfm_bundle_problem problem = psfm_refinement_problem(r);
    trial t = {.problem = &problem, .options = r->options->bundle};
    t.options.loss_scale_px = r->loss_scale_px;
    t.options.max_iterations = STEPS;
    t.options.tolerance = fmax(t.options.tolerance, TOLERANCE);
    *num = 0;
    psfm_status status = trial_init(ctx, r, &problem, &t);
    if (status == PSFM_OK && is_any_tried(&t))
        status = split_cameras(ctx, r, &t, held, num);
    trial_free(&t);
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status; /* not determined: they stay */
}
