/* The order of things: homographies of the cameras as they are; the common distortion; homographies
 * again if there is any, since matches near the edges come back with it; which images share a
 * camera (camera_groups.c), where that was only guessed; focal lengths, and every lens's own
 * distortion about the common one, together. If the lens does distort, once more: now that focal
 * lengths are known, it is the coefficient of the lens that images share, not its effect in units
 * of the image.
 *
 * Cameras that planes leave undetermined are left to the epipolar geometry of their pairs
 * (focal_pairs.c), which needs no plane and is less sure.
 *
 * An EXIF focal length is weighed against what planes or pairs say by their standard deviations,
 * unless they contradict each other: then it is that of another lens, or of a picture cut to size,
 * and goes. Where planes are too unsure for that, it stays, and moves in the adjustment if they are
 * not blind. A value that planes or pairs only hint at takes the place of one that is less sure,
 * but is not called determined. */
#include "core/calibration/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/calibration/focal_pairs.h"
#include "core/calibration/radial_search.h"
#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"
#include "core/matches/camera_groups.h"

#define MAX_PASSES 2
#define CONTRADICTION 4.0 /* standard deviations between EXIF data and planes */
#define OPEN_SIGMA 0.2    /* from which on matches do not tell a wrong value from a right one */
#define K1_SIGMA 0.1      /* by which distortions of lenses differ from the common one */
#define K1_KNOWN 0.5      /* share of it below which a lens's own is determined */
#define K1_CONVERGED 0.1  /* of its standard deviation, */
#define MIN_K1 1e-9       /* or this: a change that matters no more */
#define MAX_K1_ROUNDS 5
#define FISHEYE_SIGMA 0.05 /* of a fisheye's focal length: no lens is quite equidistant */
#define MAX_FISHEYE_ROUNDS 4

static const char *const which_choices[] = {"auto", "off", "all", NULL};
/* "auto", then COLMAP's first models in their order: the others are for lenses that homographies of
 * pixels do not suit. */
static const char *const model_choices[] = {"auto",   "SIMPLE_PINHOLE", "PINHOLE", "SIMPLE_RADIAL",
                                            "RADIAL", "OPENCV",         NULL};
static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(
        psfm_calibrate_options, cameras, "cameras", PSFM_CALIBRATE_AUTO, which_choices,
        "which cameras get their focal length from planes, or else from pairs: those "
        "whose value is a guess or from EXIF data, none, or all"),
    PSFM_OPTION_BOOL(psfm_calibrate_options, distortion, "distortion", 1,
                     "search their radial distortion, too, where the camera model has it"),
    PSFM_OPTION_CHOICE(psfm_calibrate_options, camera_model, "camera-model", 0, model_choices,
                       "camera model of these cameras, all of whose distortion is refined; auto: "
                       "one focal length, and what else the data support"),
};
const psfm_option_table psfm_calibrate_option_table = PSFM_OPTION_TABLE("calibrate", rows);

static bool is_unknown(const psfm_match_set *set, const psfm_calibrate_options *options, size_t c) {
    bool given = set->origins == NULL || set->origins[c].source == PSFM_FOCAL_GIVEN ||
                 set->origins[c].source == PSFM_FOCAL_LINES;
    return options->cameras == PSFM_CALIBRATE_ALL ||
           (options->cameras == PSFM_CALIBRATE_AUTO && !given);
}

bool psfm_needs_calibration(const psfm_match_set *set, const psfm_calibrate_options *options) {
    for (size_t c = 0; c < set->num_cameras; ++c)
        if (is_unknown(set, options, c))
            return true;
    return false;
}

typedef struct {
    const psfm_calibrate_options *options;
    const psfm_focal_options *focal;
    psfm_two_view_options two_view;
    psfm_match_set *set;
    bool *unknown; /* per camera */
    bool *free_k1; /* per camera: its distortion is searched */
    psfm_two_view *two_views;
    psfm_calibrate_stats *stats;
} calibration;

static void forget_two_views(calibration *c) {
    for (size_t p = 0; c->two_views != NULL && p < c->set->num_pairs; ++p)
        psfm_two_view_free(&c->two_views[p]);
    free(c->two_views);
    c->two_views = NULL;
}

/* Homographies of the cameras as they are now. */
static psfm_status verify_pairs(psfm_context *ctx, calibration *c) {
    forget_two_views(c);
    psfm_status status = PSFM_ALLOC(ctx, c->set->num_pairs, &c->two_views);
    return status == PSFM_OK ? psfm_two_view_estimate_all(ctx, c->set, &c->two_view, c->two_views)
                             : status;
}

/* Rays of the cameras as they are now, and their homographies. */
static psfm_status verify_anew(psfm_context *ctx, calibration *c) {
    psfm_status status = psfm_match_set_compute_rays(ctx, c->set, NULL);
    return status == PSFM_OK ? verify_pairs(ctx, c) : status;
}

/* Searches the distortion; *found says that there is some. */
static psfm_status find_distortion(psfm_context *ctx, calibration *c, bool same_coefficient,
                                   bool *found) {
    psfm_radial_result radial = {0};
    *found = false;
    if (!c->options->distortion)
        return PSFM_OK;
    psfm_status status =
        psfm_radial_search(ctx, c->set, c->two_views, c->free_k1, same_coefficient, &radial);
    if (status != PSFM_OK || !radial.found)
        return status;
    *found = true;
    c->stats->distortion = radial.value;
    psfm_log(ctx, PSFM_LOG_INFO,
             "calibration: radial distortion %.4f takes the scatter from %.2f to %.2f px",
             radial.value, radial.sigma_before_px, radial.sigma_px);
    return verify_anew(ctx, c);
}

/* Whether the lenses are fisheyes. Few matches of one are verified as those of a usual lens: there
 * are more once it is known roughly, and it is searched again. */
static psfm_status find_fisheye(psfm_context *ctx, calibration *c, bool *found) {
    psfm_status status = PSFM_OK;
    psfm_radial_result lens = {.found = true};
    *found = false;
    if (!c->options->distortion || c->options->camera_model != 0)
        return PSFM_OK;
    for (int round = 0; status == PSFM_OK && lens.found && round < MAX_FISHEYE_ROUNDS; ++round) {
        status = psfm_fisheye_search(ctx, c->set, c->two_views, c->free_k1, *found, &lens);
        if (status != PSFM_OK || !lens.found)
            break;
        *found = true;
        c->stats->fisheye_focal = lens.value;
        status = verify_anew(ctx, c);
    }
    for (size_t k = 0; *found && k < c->set->num_cameras; ++k) {
        if (!c->free_k1[k])
            continue;
        c->set->origins[k].source = PSFM_FOCAL_HINT;
        c->set->origins[k].sigma = FISHEYE_SIGMA;
        ++c->stats->num_fisheye;
    }
    return status;
}

/* Gives a camera another focal length; the image of its distortion stays. */
static void set_focal(psfm_camera *camera, double factor) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    camera->params[info->focal[0]] *= factor;
    if (info->focal[1] != info->focal[0])
        camera->params[info->focal[1]] *= factor;
    for (int k = 0; k < 6; ++k)
        if (info->radial[k] != 0)
            camera->params[info->radial[k]] *= pow(factor, 2.0 * (k + 1));
    if (info->division != 0)
        camera->params[info->division] *= factor * factor;
}

/* Weighs what planes say, a change of the focal length by *log_factor, against EXIF data that ask
 * for log_exif; counts a contradiction and is false then. */
static bool weigh_exif(double log_exif, double *log_factor, double *sigma,
                       psfm_calibrate_stats *stats) {
    double off = *log_factor - log_exif, both = hypot(*sigma, PSFM_EXIF_SIGMA);
    if (fabs(off) > CONTRADICTION * both) {
        ++stats->num_wrong_exif;
        return false;
    }
    double weight = (*sigma * *sigma) / (both * both); /* of the EXIF value */
    *log_factor -= weight * off;
    *sigma = *sigma * PSFM_EXIF_SIGMA / both;
    return true;
}

/* What the estimate of lenses from planes is given, per camera or view. */
typedef struct {
    uint32_t *group;
    double *known;
    double *start;               /* strength of the radial distortion at the beginning */
    double *prior_k1, *k1_sigma; /* from where the lens is now to where it began */
} lens_input;

static psfm_status lens_input_init(psfm_context *ctx, const calibration *c, bool free_k1,
                                   lens_input *in) {
    const psfm_match_set *set = c->set;
    double scale[2];
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, set->num_views, &in->group)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, set->num_cameras, &in->known)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, set->num_cameras, &in->start)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, set->num_cameras, &in->prior_k1)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, set->num_cameras, &in->k1_sigma)) != PSFM_OK)
        return status;
    for (size_t v = 0; v < set->num_views; ++v)
        in->group[v] = set->views[v].camera_idx;
    for (size_t k = 0; k < set->num_cameras; ++k) {
        if (!c->unknown[k] && psfm_image_scale(&set->cameras[k], scale))
            in->known[k] = sqrt(scale[0] * scale[1]);
        if (!free_k1 || !c->free_k1[k])
            continue;
        in->start[k] = psfm_radial_strength(&set->cameras[k]);
        in->k1_sigma[k] = K1_SIGMA;
    }
    return PSFM_OK;
}

static void lens_input_free(lens_input *in) {
    free(in->group);
    free(in->known);
    free(in->start);
    free(in->prior_k1);
    free(in->k1_sigma);
}

/* Homographies of the rays as they are, and what they say of the lenses. */
static psfm_status estimate_lenses(psfm_context *ctx, calibration *c, bool free_k1, lens_input *in,
                                   psfm_focal_estimate *out) {
    psfm_measured_planes measured = {0};
    for (size_t k = 0; free_k1 && k < c->set->num_cameras; ++k)
        if (in->k1_sigma[k] > 0.0)
            in->prior_k1[k] = in->start[k] - psfm_radial_strength(&c->set->cameras[k]);
    psfm_focal_input input = {
        c->set->num_views, c->set->num_cameras,           in->group,
        in->known,         free_k1 ? in->prior_k1 : NULL, free_k1 ? in->k1_sigma : NULL};
    psfm_focal_estimate_free(out);
    psfm_status status = psfm_measured_planes_init(ctx, c->set, c->two_views, &measured);
    if (status == PSFM_OK)
        status = psfm_focal_from_planes(ctx, &measured, &input, c->focal, out);
    psfm_measured_planes_free(&measured);
    return status;
}

/* Changes the distortion of the lenses by the estimate, and computes their rays anew; *moved says
 * whether that changed much. Focal lengths stay, so that homographies remain nearly what they are.
 */
static psfm_status distort_lenses(psfm_context *ctx, calibration *c, const lens_input *in,
                                  const psfm_focal_estimate *estimate, bool *moved) {
    *moved = false;
    c->stats->num_k1_free = c->stats->num_k1_determined = 0;
    for (size_t k = 0; k < c->set->num_cameras; ++k) {
        if (!(in->k1_sigma[k] > 0.0))
            continue;
        double k1 = estimate->k1[k], sigma = estimate->k1_sigma[k];
        psfm_radial_set(&c->set->cameras[k], psfm_radial_strength(&c->set->cameras[k]) + k1);
        *moved = *moved || fabs(k1) > fmax(K1_CONVERGED * sigma, MIN_K1);
        ++c->stats->num_k1_free;
        c->stats->num_k1_determined += sigma < K1_KNOWN * K1_SIGMA;
    }
    return psfm_match_set_compute_rays(ctx, c->set, NULL);
}

/* A focal length from planes or pairs into a camera and its origin; false if it is not wanted. */
static bool take_focal(calibration *c, size_t k, double focal, double sigma,
                       psfm_focal_source source) {
    psfm_camera_origin *origin = &c->set->origins[k];
    bool is_determined = sigma < c->focal->max_sigma, is_better = sigma < origin->sigma;
    bool is_wanted =
        source == PSFM_FOCAL_PLANES ? is_better || is_determined : is_better && sigma < OPEN_SIGMA;
    double scale[2], before[2];
    if (source == PSFM_FOCAL_PLANES)
        origin->is_open = isfinite(sigma) && !is_wanted && sigma > OPEN_SIGMA;
    if (!c->unknown[k] || !psfm_image_scale(&c->set->cameras[k], scale) || !is_wanted)
        return false;
    origin->is_open = false;
    psfm_image_scale(&origin->before, before);
    if (origin->from_exif && origin->source == PSFM_FOCAL_HINT)
        --c->stats->num_wrong_exif; /* by what planes hinted at: counted again */
    double now = 0.5 * log(scale[0] * scale[1]), log_factor = log(focal) - now;
    bool agrees = origin->from_exif &&
                  weigh_exif(0.5 * log(before[0] * before[1]) - now, &log_factor, &sigma, c->stats);
    set_focal(&c->set->cameras[k], exp(log_factor));
    origin->sigma = sigma;
    origin->source = is_determined ? source : agrees ? PSFM_FOCAL_EXIF : PSFM_FOCAL_HINT;
    c->stats->num_determined += is_determined;
    c->stats->num_by_pairs += is_determined && source == PSFM_FOCAL_PAIRS;
    return true;
}

/* What planes say of each camera; false if they leave none undetermined. */
static bool list_knowledge(const calibration *c, const lens_input *in,
                           const psfm_focal_estimate *planes, psfm_camera_knowledge *known) {
    bool any = false;
    for (size_t k = 0; k < c->set->num_cameras; ++k) {
        double scale[2];
        known[k] = (psfm_camera_knowledge){.focal = planes->focal[k], .sigma = planes->sigma[k]};
        known[k].is_certain = in->known[k] > 0.0;
        known[k].free = c->unknown[k] && !(planes->sigma[k] < c->focal->max_sigma) &&
                        psfm_image_scale(&c->set->cameras[k], scale);
        known[k].k1_sigma = c->free_k1[k] && c->options->distortion ? K1_SIGMA : 0.0;
        any = any || known[k].free;
    }
    return any;
}

/* Lenses that planes leave undetermined, from pairs. */
static psfm_status estimate_pairs(psfm_context *ctx, calibration *c, const lens_input *in,
                                  const psfm_focal_estimate *planes, psfm_pair_estimate *out) {
    psfm_camera_knowledge *known = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->set->num_cameras, &known);
    if (status == PSFM_OK && list_knowledge(c, in, planes, known))
        status = psfm_lenses_from_pairs(ctx, c->set, c->two_views, &c->two_view, known, out);
    c->stats->num_pairs = out->num_pairs;
    free(known);
    return status;
}

/* What planes and pairs say of a camera into it; a k1 that only the pairs needed is undone. */
static void take_lens(calibration *c, size_t k, const psfm_focal_estimate *planes,
                      const psfm_pair_estimate *pairs) {
    psfm_camera *camera = &c->set->cameras[k];
    take_focal(c, k, planes->focal[k], planes->sigma[k], PSFM_FOCAL_PLANES);
    if (pairs->sigma == NULL)
        return;
    bool taken = isfinite(pairs->sigma[k]) &&
                 take_focal(c, k, pairs->focal[k], pairs->sigma[k], PSFM_FOCAL_PAIRS);
    if (!taken && pairs->k1[k] != 0.0)
        psfm_radial_set(camera, psfm_radial_strength(camera) - pairs->k1[k]);
}

/* Lenses from planes into the cameras and their origins. Distortion has its effect on homographies
 * to first order, so it is repeated until nothing moves. */
static psfm_status find_lenses(psfm_context *ctx, calibration *c, bool free_k1) {
    lens_input in = {0};
    psfm_focal_estimate estimate = {0};
    psfm_pair_estimate pairs = {0};
    bool moved = free_k1;
    psfm_status status = lens_input_init(ctx, c, free_k1, &in);
    if (status == PSFM_OK)
        status = estimate_lenses(ctx, c, free_k1, &in, &estimate);
    for (int round = 0; status == PSFM_OK && moved && round < MAX_K1_ROUNDS; ++round) {
        status = distort_lenses(ctx, c, &in, &estimate, &moved);
        if (status == PSFM_OK && moved)
            status = estimate_lenses(ctx, c, free_k1, &in, &estimate);
    }
    c->stats->num_planes = estimate.num_planes;
    c->stats->num_homographies = estimate.num_homographies;
    c->stats->num_determined = c->stats->num_by_pairs = c->stats->num_wrong_exif = 0;
    if (status == PSFM_OK)
        status = estimate_pairs(ctx, c, &in, &estimate, &pairs);
    for (size_t k = 0; status == PSFM_OK && k < c->set->num_cameras; ++k)
        take_lens(c, k, &estimate, &pairs);
    psfm_focal_estimate_free(&estimate);
    psfm_pair_estimate_free(&pairs);
    lens_input_free(&in);
    return status;
}

/* ---- photographs that were taken for those of one camera ---- */

/* Every image of a camera that may be split has a focal length of its own. */
typedef struct {
    uint32_t *group; /* per view */
    double *known;   /* per group */
    size_t num;
    double *log_focal, *sigma; /* per view, beyond its camera's now */
} own_focals;

static psfm_status own_focals_init(psfm_context *ctx, const calibration *c, own_focals *own) {
    const psfm_match_set *set = c->set;
    psfm_status status;
    double scale[2];
    if ((status = PSFM_ALLOC(ctx, set->num_views, &own->group)) ||
        (status = PSFM_ALLOC(ctx, set->num_views, &own->log_focal)) ||
        (status = PSFM_ALLOC(ctx, set->num_views, &own->sigma)) ||
        (status = PSFM_ALLOC(ctx, set->num_cameras + set->num_views, &own->known)))
        return status;
    own->num = set->num_cameras;
    for (size_t v = 0; v < set->num_views; ++v) {
        uint32_t camera = set->views[v].camera_idx;
        bool may_split = c->unknown[camera] && psfm_camera_may_split(set, camera);
        own->group[v] = may_split ? (uint32_t)own->num++ : camera;
        own->sigma[v] = INFINITY;
    }
    for (size_t k = 0; k < set->num_cameras; ++k)
        if (!c->unknown[k] && psfm_image_scale(&set->cameras[k], scale))
            own->known[k] = sqrt(scale[0] * scale[1]);
    return PSFM_OK;
}

static void own_focals_free(own_focals *own) {
    free(own->group);
    free(own->known);
    free(own->log_focal);
    free(own->sigma);
}

/* Each image's own focal length, from planes. */
static psfm_status estimate_own(psfm_context *ctx, const calibration *c, own_focals *own) {
    const psfm_match_set *set = c->set;
    const psfm_focal_input input = {set->num_views, own->num, own->group, own->known, NULL, NULL};
    psfm_measured_planes measured = {0};
    psfm_focal_estimate estimate = {0};
    psfm_status status = psfm_measured_planes_init(ctx, set, c->two_views, &measured);
    if (status == PSFM_OK)
        status = psfm_focal_from_planes(ctx, &measured, &input, c->focal, &estimate);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v) {
        double scale[2];
        if (own->group[v] < set->num_cameras ||
            !psfm_image_scale(&set->cameras[set->views[v].camera_idx], scale))
            continue;
        own->log_focal[v] = log(estimate.focal[own->group[v]]) - 0.5 * log(scale[0] * scale[1]);
        own->sigma[v] = estimate.sigma[own->group[v]];
    }
    psfm_focal_estimate_free(&estimate);
    psfm_measured_planes_free(&measured);
    return status;
}

/* What is known of every camera also holds for those that were split off. */
static psfm_status mark_unknown(psfm_context *ctx, calibration *c) {
    free(c->unknown);
    free(c->free_k1);
    c->unknown = c->free_k1 = NULL;
    c->stats->num_unknown = 0;
    psfm_status status = PSFM_ALLOC(ctx, c->set->num_cameras, &c->unknown);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c->set->num_cameras, &c->free_k1);
    for (size_t k = 0; status == PSFM_OK && k < c->set->num_cameras; ++k) {
        c->unknown[k] = is_unknown(c->set, c->options, k);
        c->free_k1[k] = c->unknown[k] && psfm_has_radial(&c->set->cameras[k]);
        c->stats->num_unknown += c->unknown[k];
    }
    return status;
}

/* Splits cameras whose images have different focal lengths by the planes that they see. */
static psfm_status split_cameras(psfm_context *ctx, calibration *c) {
    own_focals own = {0};
    size_t num = 0;
    psfm_status status = own_focals_init(ctx, c, &own);
    if (status == PSFM_OK && own.num > c->set->num_cameras)
        status = estimate_own(ctx, c, &own);
    if (status == PSFM_OK && own.num > c->set->num_cameras)
        status = psfm_camera_groups_split(ctx, c->set, own.log_focal, own.sigma, &num);
    if (status == PSFM_OK && num > 0)
        status = mark_unknown(ctx, c);
    own_focals_free(&own);
    return status;
}

/* Gives a camera the model that was asked for. */
static void name_model(psfm_match_set *set, size_t k, int choice) {
    psfm_camera_model model = (psfm_camera_model)(choice - 1);
    if (choice == 0 || psfm_camera_model_get(set->cameras[k].model)->is_fisheye)
        return;
    set->cameras[k] = psfm_camera_convert(&set->cameras[k], model);
    set->origins[k].keeps_model = true;
}

static psfm_status begin_calibration(psfm_context *ctx, calibration *c) {
    psfm_match_set *set = c->set;
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, &c->unknown);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_cameras, &c->free_k1);
    if (status == PSFM_OK && set->origins == NULL) {
        status = PSFM_ALLOC(ctx, set->num_cameras, &set->origins);
        for (size_t k = 0; status == PSFM_OK && k < set->num_cameras; ++k)
            set->origins[k] = (psfm_camera_origin){.before = set->cameras[k]};
    }
    for (size_t k = 0; status == PSFM_OK && k < set->num_cameras; ++k) {
        c->unknown[k] = is_unknown(set, c->options, k);
        if (c->unknown[k])
            name_model(set, k, c->options->camera_model);
        c->free_k1[k] = c->unknown[k] && psfm_has_radial(&set->cameras[k]);
        c->stats->num_unknown += c->unknown[k];
        if (c->unknown[k] && set->origins[k].source == PSFM_FOCAL_GIVEN) {
            set->origins[k].source = PSFM_FOCAL_GUESS;
            set->origins[k].sigma = PSFM_GUESS_SIGMA;
        }
    }
    return status;
}

static psfm_status run_passes(psfm_context *ctx, calibration *c) {
    bool free_k1 = false, is_fisheye = false;
    psfm_status status = verify_pairs(ctx, c);
    for (int pass = 0; status == PSFM_OK && pass < MAX_PASSES; ++pass) {
        if (pass > 0)
            status = verify_anew(ctx, c);
        if (status == PSFM_OK)
            status = find_distortion(ctx, c, pass > 0, &free_k1);
        if (status == PSFM_OK && pass == 0)
            status = find_fisheye(ctx, c, &is_fisheye);
        if (status == PSFM_OK && !is_fisheye && pass == 0)
            status = split_cameras(ctx, c);
        if (status == PSFM_OK && !is_fisheye && (pass == 0 || free_k1))
            status = find_lenses(ctx, c, free_k1);
        if (!free_k1 || is_fisheye)
            break;
    }
    return status == PSFM_OK ? psfm_match_set_compute_rays(ctx, c->set, NULL) : status;
}

psfm_status psfm_calibrate(psfm_context *ctx, const psfm_calibrate_options *options,
                           const psfm_focal_options *focal, const psfm_two_view_options *two_view,
                           psfm_match_set *set, psfm_calibrate_stats *stats) {
    char text[512];
    calibration c = {
        .options = options, .focal = focal, .two_view = *two_view, .set = set, .stats = stats};
    *stats = (psfm_calibrate_stats){.done = true};
    c.two_view.estimate_essential = false; /* it would need the focal lengths */
    psfm_status status = begin_calibration(ctx, &c);
    if (status == PSFM_OK)
        status = run_passes(ctx, &c);
    if (status == PSFM_OK) {
        bool all = stats->num_determined == stats->num_unknown;
        psfm_calibrate_describe(stats, text, sizeof text);
        psfm_log(ctx, all ? PSFM_LOG_INFO : PSFM_LOG_WARNING, "%s", text);
    }
    forget_two_views(&c);
    free(c.unknown);
    free(c.free_k1);
    return status;
}

void psfm_calibrate_describe(const psfm_calibrate_stats *s, char *text, size_t size) {
    int n = snprintf(text, size,
                     "calibration: %zu of %zu unknown focal lengths determined, from %u "
                     "homographies of %u planes",
                     s->num_determined, s->num_unknown, s->num_homographies, s->num_planes);
    if (s->num_by_pairs > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n,
                      " and, %zu of them, from the epipolar geometry of %u pairs", s->num_by_pairs,
                      s->num_pairs);
    if (s->num_wrong_exif > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "; %zu contradict their EXIF data",
                      s->num_wrong_exif);
    if (s->num_fisheye > 0 && (size_t)n < size) {
        snprintf(
            text + n, size - (size_t)n,
            "; %zu look like fisheye lenses of a focal length of %.2f of the longer side, which "
            "is refined: give --cameras or --camera-model if they are not",
            s->num_fisheye, s->fisheye_focal);
        return;
    }
    if (s->num_k1_free > 0 && (size_t)n < size)
        n +=
            snprintf(text + n, size - (size_t)n,
                     "; radial distortion of %zu of %zu determined, the others keep the common one",
                     s->num_k1_determined, s->num_k1_free);
    if (s->num_determined < s->num_unknown && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 "; for the others turn the camera between photographs, take some at a slant to "
                 "the plane, or give one focal length");
}
