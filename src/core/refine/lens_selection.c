/* Most lenses are straight and centred, and what few points say against it is chance; what many say
 * is true. How many is many, standard deviations from the normal equations do not tell: they take
 * every observation for independent, while neighbours share the errors of the detector, the light
 * and the surface. So both halves of the points are adjusted on their own as well. What these
 * differ by, over all intrinsics, is what the standard deviations are raised to, and they are
 * doubled at least.
 *
 * An error of the scene, a shutter that rolls or a coefficient that takes up another one's part is
 * in both halves of the points. It is not the same in other images, and a lens is. So what moves by
 * more than chance must also generalise: with the intrinsics a of every second image, b of the
 * others, counted from what is held and in standard deviations, a must predict b better than what
 * is held does, and b a: |a - b|^2 + |b - a|^2 < |a|^2 + |b|^2.
 *
 * Numbers that trade against each other hide each other: a second coefficient of the distortion
 * makes the first one uncertain, and a decentred lens looks much like a principal point. So all are
 * tried first, and if what only a large model has is not needed, the simple ones on their own. */
#include "core/refine/lens_selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"
#include "core/refine/bundle_copy.h"

#define STEPS 10
#define TOLERANCE 1e-5  /* of these: intrinsics converge early */
#define MAX_SIGMAS 3.0  /* more is not chance, */
#define RARE_SIGMAS 5.0 /* for what few lenses have, and where images are too few to generalise */
#define MIN_FACTOR \
    2.0              /* of standard deviations: few intrinsics may agree by chance in both halves */
#define MIN_IMAGES 5 /* of a camera, for all but the first coefficient of the distortion */
#define MIN_SHIFT 0.002  /* of a principal point, as a share of the longer side */
#define MIN_ASPECT 0.005 /* sensors have square pixels; a picture squeezed by less is rare */

/* Kinds of intrinsics, as bits. */
enum {
    CENTER = 1,
    RADIAL = 2, /* the first coefficient of the distortion */
    HIGHER = 4, /* the other radial ones */
    DECENTRED = 8,
    ASPECT = 16,
    SIMPLE = CENTER | RADIAL | ASPECT,
    EVERYTHING = SIMPLE | HIGHER | DECENTRED,
};

/* The kind of a parameter; 0 for the (first) focal length. */
static unsigned kind_of(const psfm_camera_model_info *info, int k) {
    if (k == info->focal[0])
        return 0;
    if (k == info->focal[1])
        return ASPECT;
    if (k == info->center[0] || k == info->center[1])
        return CENTER;
    if (k == info->radial[0] || k == info->omega || k == info->division || k == info->unified[0])
        return RADIAL;
    return k == info->tangential[0] || k == info->tangential[1] ? DECENTRED : HIGHER;
}

/* All kinds that a model has a place for. */
static unsigned kinds_of_model(psfm_camera_model model) {
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    unsigned kinds = 0;
    for (int k = 0; k < info->num_params; ++k)
        kinds |= kind_of(info, k);
    return kinds;
}

/* The kinds that a prior lets move. */
static unsigned kinds_of_prior(const psfm_camera_prior *prior) {
    const psfm_camera_model_info *info = psfm_camera_model_get(prior->camera.model);
    unsigned level = prior->refine == PSFM_REFINE_ALL                ? ~0u
                     : prior->refine == PSFM_REFINE_FOCAL_DISTORTION ? ~(unsigned)CENTER
                                                                     : (unsigned)ASPECT;
    unsigned kinds = 0;
    for (int k = 0; k < info->num_params; ++k)
        if ((prior->fixed >> k & 1) == 0)
            kinds |= kind_of(info, k) & level;
    return prior->two_focals ? kinds : kinds & ~(unsigned)ASPECT;
}

/* Lets these kinds move, and the focal length. */
static void free_kinds(psfm_camera_prior *prior, unsigned kinds) {
    const psfm_camera_model_info *info = psfm_camera_model_get(prior->camera.model);
    prior->refine = kinds & CENTER                          ? PSFM_REFINE_ALL
                    : kinds & (RADIAL | HIGHER | DECENTRED) ? PSFM_REFINE_FOCAL_DISTORTION
                                                            : PSFM_REFINE_FOCAL;
    prior->two_focals = (kinds & ASPECT) != 0;
    prior->fixed = 0;
    for (int k = 0; k < info->num_params; ++k)
        if (k != info->focal[0] && (kinds & kind_of(info, k)) == 0)
            prior->fixed |= 1u << k;
}

/* The smallest model for these kinds: the camera's own if it has them, else the first in a row. */
static psfm_camera_model find_model(psfm_camera_model own, unsigned kinds) {
    static const psfm_camera_model straight[] = {PSFM_CAMERA_SIMPLE_RADIAL, PSFM_CAMERA_RADIAL,
                                                 PSFM_CAMERA_PINHOLE, PSFM_CAMERA_OPENCV};
    static const psfm_camera_model fisheye[] = {
        PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE, PSFM_CAMERA_RADIAL_FISHEYE, PSFM_CAMERA_OPENCV_FISHEYE};
    const psfm_camera_model_info *info = psfm_camera_model_get(own);
    const psfm_camera_model *row = info->is_fisheye ? fisheye : straight;
    size_t num =
        info->is_fisheye ? sizeof fisheye / sizeof *fisheye : sizeof straight / sizeof *straight;
    unsigned needed = kinds | (kinds_of_model(own) & ASPECT);
    bool is_of_its_kind = info->omega != 0 || info->division != 0 || info->unified[0] != 0;
    if ((kinds & ~kinds_of_model(own)) == 0 || is_of_its_kind)
        return own;
    for (size_t k = 0; k < num; ++k)
        if ((needed & ~kinds_of_model(row[k])) == 0)
            return row[k];
    return own;
}

typedef struct {
    const psfm_bundle_problem *problem;
    const psfm_camera_origin *origins; /* NULL: no model was asked for */
    psfm_bundle_options options;
    psfm_camera_prior *priors; /* the caller's */
    unsigned *kinds;           /* per camera: what it is tried with, then what it has */
    bool *is_open;             /* per camera: still to be decided */
    size_t *num_images;        /* per camera */
    psfm_camera *adjusted;     /* per camera, of the last trial */
    double (*sigma)[PSFM_CAMERA_MAX_PARAMS];
    double factor;          /* that standard deviations of the last trial are raised by */
    psfm_camera *parity[2]; /* per camera: of the last trial with even and odd images alone */
    bool has_parity;
} choice;

/* Adjusts a part of the points with the kinds of now. */
static psfm_status adjust_points(psfm_context *ctx, choice *c, psfm_bundle_part part,
                                 psfm_bundle_copy *copy) {
    psfm_status status = psfm_bundle_copy_make(ctx, c->problem, part, copy);
    for (size_t k = 0; status == PSFM_OK && k < c->problem->num_cameras; ++k) {
        psfm_camera_prior *prior = &copy->priors[k];
        if (prior->refine < PSFM_REFINE_FOCAL)
            continue;
        psfm_camera_model model = find_model(prior->camera.model, c->kinds[k]);
        copy->cameras[k] = psfm_camera_convert(&copy->cameras[k], model);
        prior->camera = psfm_camera_convert(&prior->camera, model);
        free_kinds(prior, c->kinds[k]);
    }
    return status == PSFM_OK ? psfm_bundle_adjust(ctx, &copy->problem, &c->options, NULL) : status;
}

/* How far the halves are apart, in standard deviations of what they should be apart. */
static void compare_halves(choice *c, const psfm_bundle_copy *a, const psfm_bundle_copy *b) {
    double sum = 0.0;
    size_t num = 0;
    for (size_t k = 0; k < c->problem->num_cameras; ++k)
        for (int i = 0; i < psfm_camera_num_params(c->adjusted[k].model); ++i) {
            if (!(c->sigma[k][i] > 0.0)) /* or NAN: fixed */
                continue;
            double off = 0.5 * (a->cameras[k].params[i] - b->cameras[k].params[i]) / c->sigma[k][i];
            sum += off * off;
            ++num;
        }
    c->factor = num == 0 ? MIN_FACTOR : fmax(MIN_FACTOR, sqrt(sum / (double)num));
}

/* What a ratio of focal lengths has become, beyond what it was. */
static double aspect_change(const psfm_camera *now, const psfm_camera *before) {
    const psfm_camera_model_info *info = psfm_camera_model_get(now->model);
    const double *p = now->params, *q = before->params;
    return p[info->focal[1]] / p[info->focal[0]] * q[info->focal[0]] / q[info->focal[1]] - 1.0;
}

/* Whether what a camera's images of either parity say of a kind holds for the others. A camera of
 * few images has too few in each. */
static bool has_generalised(const choice *c, size_t k, unsigned kind) {
    const psfm_camera *now = &c->adjusted[k];
    const psfm_camera_model_info *info = psfm_camera_model_get(now->model);
    psfm_camera before = psfm_camera_convert(&c->priors[k].camera, now->model);
    double apart = 0.0, away = 0.0;
    if (!c->has_parity || c->num_images[k] < MIN_IMAGES)
        return true;
    for (int i = 0; i < info->num_params; ++i) {
        if (kind_of(info, i) != kind || !(c->sigma[k][i] > 0.0))
            continue;
        double a = (c->parity[0][k].params[i] - before.params[i]) / c->sigma[k][i];
        double b = (c->parity[1][k].params[i] - before.params[i]) / c->sigma[k][i];
        apart += 2.0 * (a - b) * (a - b);
        away += a * a + b * b;
    }
    return apart < away;
}

/* The kinds of a camera that have left their prior for more than chance. */
static unsigned find_moved(const choice *c, size_t k) {
    const psfm_camera *now = &c->adjusted[k];
    const psfm_camera_model_info *info = psfm_camera_model_get(now->model);
    psfm_camera before = psfm_camera_convert(&c->priors[k].camera, now->model);
    double longer = (double)(now->width > now->height ? now->width : now->height);
    unsigned moved = 0;
    for (int i = 0; i < info->num_params; ++i) {
        unsigned kind = kind_of(info, i);
        double shift = fabs(now->params[i] - before.params[i]), least = 0.0;
        double sigma = c->factor * c->sigma[k][i];
        bool is_rare = (kind & (CENTER | RADIAL)) == 0 || c->num_images[k] < MIN_IMAGES;
        double most = is_rare ? RARE_SIGMAS : MAX_SIGMAS;
        if (kind == CENTER)
            least = MIN_SHIFT * longer;
        if (kind == ASPECT) {
            shift = fabs(aspect_change(now, &before));
            sigma = hypot(sigma, c->factor * c->sigma[k][info->focal[0]]) / now->params[i];
            least = MIN_ASPECT;
        }
        if (isfinite(sigma) && shift > fmax(least, most * sigma))
            moved |= kind;
    }
    for (unsigned kind = CENTER; kind <= ASPECT; kind *= 2)
        if ((moved & kind) != 0 && !has_generalised(c, k, kind))
            moved &= ~kind;
    if (moved & HIGHER)
        moved |= RADIAL;
    return moved & DECENTRED ? moved | CENTER : moved; /* they go together */
}

static bool has_any_moved(const choice *c) {
    for (size_t k = 0; k < c->problem->num_cameras; ++k)
        if (c->is_open[k] && find_moved(c, k) != 0)
            return true;
    return false;
}

/* By how much the standard deviations are to be raised. */
static psfm_status find_factor(psfm_context *ctx, choice *c) {
    psfm_bundle_copy half[2];
    memset(half, 0, sizeof half);
    psfm_status status = adjust_points(ctx, c, PSFM_BUNDLE_HALF_A, &half[0]);
    if (status == PSFM_OK)
        status = adjust_points(ctx, c, PSFM_BUNDLE_HALF_B, &half[1]);
    if (status == PSFM_OK)
        compare_halves(c, &half[0], &half[1]);
    psfm_bundle_copy_free(&half[0]);
    psfm_bundle_copy_free(&half[1]);
    return status;
}

/* The intrinsics of the images of either parity. */
static psfm_status adjust_parities(psfm_context *ctx, choice *c) {
    psfm_status status = PSFM_OK;
    for (int odd = 0; status == PSFM_OK && odd < 2; ++odd) {
        psfm_bundle_copy half = {0};
        status =
            adjust_points(ctx, c, odd ? PSFM_BUNDLE_ODD_IMAGES : PSFM_BUNDLE_EVEN_IMAGES, &half);
        if (status == PSFM_OK)
            memcpy(c->parity[odd], half.cameras, c->problem->num_cameras * sizeof *half.cameras);
        psfm_bundle_copy_free(&half);
    }
    c->has_parity = status == PSFM_OK;
    return status;
}

/* Tries the kinds of now: values, standard deviations and, where that may matter, their factor. */
static psfm_status try_kinds(psfm_context *ctx, choice *c) {
    psfm_bundle_copy all = {0};
    psfm_status status = adjust_points(ctx, c, PSFM_BUNDLE_ALL, &all);
    if (status == PSFM_OK)
        status = psfm_camera_sigmas(ctx, &all.problem, &c->options, c->sigma);
    if (status == PSFM_OK)
        memcpy(c->adjusted, all.cameras, c->problem->num_cameras * sizeof *c->adjusted);
    psfm_bundle_copy_free(&all);
    c->factor = MIN_FACTOR;
    c->has_parity = false;
    if (status == PSFM_OK && has_any_moved(c))
        status = find_factor(ctx, c);
    return status == PSFM_OK && has_any_moved(c) ? adjust_parities(ctx, c) : status;
}

/* Decides about the cameras that are open; those that do not need a large model are tried with a
 * small one if that is still to come. */
static void decide_kinds(choice *c, bool is_last) {
    for (size_t k = 0; k < c->problem->num_cameras; ++k) {
        unsigned before = c->is_open[k] ? kinds_of_prior(&c->priors[k]) : 0;
        unsigned moved = c->is_open[k] ? find_moved(c, k) : 0;
        if (!c->is_open[k])
            continue;
        bool is_large = (c->kinds[k] & ~(unsigned)SIMPLE) != 0;
        if (is_large && !is_last && (moved & ~(unsigned)SIMPLE) == 0) {
            c->kinds[k] &= SIMPLE | before;
            continue;
        }
        c->kinds[k] = before | moved;
        c->is_open[k] = false;
    }
}

static bool is_any_open(const choice *c) {
    for (size_t k = 0; k < c->problem->num_cameras; ++k)
        if (c->is_open[k])
            return true;
    return false;
}

/* Images with a camera of their own: in a single image a principal point is next to a turn of the
 * camera, and takes up whatever else is wrong. */
static psfm_status begin_choice(psfm_context *ctx, choice *c) {
    const psfm_bundle_problem *p = c->problem;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_cameras, &c->kinds)) ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->is_open)) ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->num_images)) ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->adjusted)) ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->parity[0])) ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->parity[1])) ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &c->sigma)))
        return status;
    for (size_t v = 0; v < p->num_images; ++v)
        ++c->num_images[p->image_camera[v]];
    for (size_t k = 0; k < p->num_cameras; ++k) {
        unsigned most = c->num_images[k] < MIN_IMAGES ? RADIAL : EVERYTHING;
        unsigned now = kinds_of_prior(&c->priors[k]);
        psfm_camera_model largest = c->priors[k].camera.model;
        if (c->origins == NULL || !c->origins[k].keeps_model)
            largest = find_model(largest, most);
        most = now | (most & kinds_of_model(largest));
        c->is_open[k] = c->priors[k].refine >= PSFM_REFINE_FOCAL && most != now;
        c->kinds[k] = c->is_open[k] ? most : now;
    }
    return PSFM_OK;
}

/* Hands the kinds over; counts cameras that have gained some, and kinds for the log. */
static void finish_choice(psfm_context *ctx, choice *c, size_t *num) {
    size_t centers = 0, distorted = 0, large = 0, squeezed = 0;
    for (size_t k = 0; k < c->problem->num_cameras; ++k) {
        psfm_camera_prior *prior = &c->priors[k];
        unsigned gained =
            prior->refine < PSFM_REFINE_FOCAL ? 0 : c->kinds[k] & ~kinds_of_prior(prior);
        if (gained == 0)
            continue;
        psfm_camera_model model = find_model(prior->camera.model, c->kinds[k]);
        c->problem->cameras[k] = psfm_camera_convert(&c->problem->cameras[k], model);
        prior->camera = psfm_camera_convert(&prior->camera, model);
        free_kinds(prior, c->kinds[k]);
        ++*num;
        centers += (gained & CENTER) != 0;
        distorted += (gained & (RADIAL | HIGHER | DECENTRED)) != 0;
        large += (gained & (HIGHER | DECENTRED)) != 0;
        squeezed += (gained & ASPECT) != 0;
    }
    if (*num > 0)
        psfm_log(ctx, PSFM_LOG_INFO,
                 "lenses: %zu cameras have a principal point off the middle, %zu distort (%zu by "
                 "more than one coefficient), %zu have pixels that are not square",
                 centers, distorted, large, squeezed);
}

psfm_status psfm_choose_lenses(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_camera_origin *origins,
                               const psfm_bundle_options *options, psfm_camera_prior *priors,
                               size_t *num) {
    choice c = {.problem = problem, .origins = origins, .options = *options, .priors = priors};
    c.options.max_iterations = STEPS;
    c.options.tolerance = fmax(options->tolerance, TOLERANCE);
    *num = 0;
    psfm_status status = begin_choice(ctx, &c);
    for (int trial = 0; status == PSFM_OK && trial < 2 && is_any_open(&c); ++trial) {
        status = try_kinds(ctx, &c);
        if (status == PSFM_OK)
            decide_kinds(&c, trial == 1);
    }
    if (status == PSFM_OK)
        finish_choice(ctx, &c, num);
    if (status == PSFM_ERR_NUMERIC) /* not determined: they stay */
        status = PSFM_OK;
    free(c.kinds);
    free(c.is_open);
    free(c.num_images);
    free(c.adjusted);
    free(c.parity[0]);
    free(c.parity[1]);
    free(c.sigma);
    return status;
}
