/* A lens with distortion spoils homographies: matches of one plane no longer agree with any. So
 * the distortion that lets the strongest homographies fit best is that of the lens. One number is
 * searched: on a grid, then by golden section. For each value the pixels of the matches are
 * undistorted anew, every homography is refitted, and the score is the sum of num * log rms over
 * the homographies: the logarithm of a likelihood. Errors are bounded by what the matches scatter
 * with the cameras as they are, so that wrong matches count the same for every value.
 *
 * Matches count that are within a loose bound of a homography, not only its inliers: those that
 * distortion has pushed out are the ones that tell about it.
 *
 * A fisheye has more distortion than that number can say. Its images of angles are linear, r = f
 * theta, and which angle a pixel shows depends on f: so the same search finds the focal length. */
#include "core/calibration/radial_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/calibration/measured_planes.h"
#include "core/camera/camera_model.h"
#include "core/linalg/order_statistics.h"
#include "core/twoview/homography.h"

#define MAX_HOMOGRAPHIES 24 /* the largest are enough */
#define LOOSE_PX 15.0       /* how far distortion may push a match, in a pair of usual images */
#define MIN_MATCHES 20
#define MAX_STRENGTH 0.5
#define WIDE_STRENGTH 1.5 /* of wide lenses whose images of lines are nearly straight */
/* Focal lengths of fisheyes in units of the longer side, which then shows 286 and 82 degrees: a
 * lens that sees less is as well said by a radial term. */
#define MIN_FISHEYE 0.2
#define MAX_FISHEYE 0.7
#define GRID 11
#define GOLDEN_STEPS 10
#define GOLDEN 0.6180339887498949
#define MIN_GAIN 30.0 /* of the log likelihood: far beyond chance, as pairs share keypoints */
#define MIN_FALL 0.02 /* of the scatter: less is lost in the noise, and left to the adjustment */
#define FISHEYE_FALL 0.01 /* of the scatter beside the best radial term */
#define MIN_SIGMA_PX 1e-6
#define MEDIAN_CHI2_2 1.386
#define MAX_SIGMAS 3.5
#define MAX_STEPS 6

/* One homography with the matches that may belong to it. */
typedef struct {
    const psfm_match_pair *pair;
    double H[9];       /* on the rays of the cameras as they are */
    uint32_t *matches; /* owned */
    size_t num;
    double bound; /* of the squared error */
    double score;
} sample;

/* What is searched. */
typedef enum {
    STRENGTH,    /* the coefficient for a focal length of one longer side */
    COEFFICIENT, /* the coefficient itself */
    FISHEYE,     /* log of the focal length of an equidistant lens, in units of the longer side */
} searched;

typedef struct {
    psfm_match_set *set;
    const bool *is_free;
    searched what;
    double low, high; /* range of the value */
    sample samples[MAX_HOMOGRAPHIES];
    size_t num;
    psfm_camera *cameras; /* of the value being tried */
} search;

bool psfm_has_radial(const psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    return !info->is_fisheye && info->radial[0] != 0;
}

double psfm_radial_strength(const psfm_camera *camera) {
    double scale[2];
    psfm_image_scale(camera, scale);
    return camera->params[psfm_camera_model_get(camera->model)->radial[0]] / (scale[0] * scale[1]);
}

void psfm_radial_set(psfm_camera *camera, double strength) {
    double scale[2];
    psfm_image_scale(camera, scale);
    camera->params[psfm_camera_model_get(camera->model)->radial[0]] =
        strength * scale[0] * scale[1];
}

/* An equidistant lens in the place of a camera. */
static void make_fisheye(psfm_camera *camera, double focal) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double longer = camera->width > camera->height ? (double)camera->width : (double)camera->height;
    double center[2] = {camera->params[info->center[0]], camera->params[info->center[1]]};
    camera->model = PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE;
    info = psfm_camera_model_get(camera->model);
    memset(camera->params, 0, sizeof camera->params);
    camera->params[info->focal[0]] = focal * longer;
    camera->params[info->center[0]] = center[0];
    camera->params[info->center[1]] = center[1];
}

/* Gives the free cameras this value. */
static void set_value(const search *s, double value, psfm_camera *cameras) {
    memcpy(cameras, s->set->cameras, s->set->num_cameras * sizeof *cameras);
    for (size_t c = 0; c < s->set->num_cameras; ++c) {
        if (!s->is_free[c])
            continue;
        if (s->what == COEFFICIENT)
            cameras[c].params[psfm_camera_model_get(cameras[c].model)->radial[0]] = value;
        else if (s->what == STRENGTH)
            psfm_radial_set(&cameras[c], value);
        else
            make_fisheye(&cameras[c], exp(value));
    }
}

/* Ray and derivative of a keypoint under a camera; zeros if it has none. */
static void unproject_keypoint(const psfm_camera *camera, const double xy[2], double ray[3],
                               double px[6]) {
    double again[2];
    if (!psfm_camera_unproject(camera, xy, ray) ||
        !psfm_camera_project_jacobian(camera, ray, again, px))
        memset(ray, 0, 3 * sizeof *ray);
}

/* The matches of a sample as pairs of rays of the cameras being tried. */
static psfm_status make_pairs(psfm_context *ctx, const search *s, const sample *p,
                              psfm_ray_pairs *out) {
    const psfm_view *view1 = &s->set->views[p->pair->view1];
    const psfm_view *view2 = &s->set->views[p->pair->view2];
    psfm_correspondences c = {.num = p->num};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num, &c.ray1)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, p->num, &c.ray2)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, p->num, &c.px1)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, p->num, &c.px2)) == PSFM_OK) {
        for (size_t k = 0; k < p->num; ++k) {
            const uint32_t *match = p->pair->matches[p->matches[k]];
            unproject_keypoint(&s->cameras[view1->camera_idx], view1->keypoints[match[0]],
                               c.ray1[k], c.px1[k]);
            unproject_keypoint(&s->cameras[view2->camera_idx], view2->keypoints[match[1]],
                               c.ray2[k], c.px2[k]);
        }
        status = psfm_ray_pairs_init(ctx, &c, NULL, out);
    }
    psfm_correspondences_free(&c);
    return status;
}

/* The bound of a sample's errors, from their median about the homography refitted to them. */
static psfm_status find_bound(psfm_context *ctx, const psfm_ray_pairs *pairs,
                              const double H_start[9], double *bound) {
    double *squared = NULL, H[9];
    memcpy(H, H_start, sizeof H);
    psfm_status status = PSFM_ALLOC(ctx, pairs->num_blocks * PSFM_LANES, &squared);
    for (int round = 0; status == PSFM_OK && round < 3; ++round) {
        psfm_homography_errors(pairs, H, squared);
        double median = psfm_median(squared, pairs->num);
        *bound =
            MAX_SIGMAS * MAX_SIGMAS * fmax(median / MEDIAN_CHI2_2, MIN_SIGMA_PX * MIN_SIGMA_PX);
        if (round < 2 && isfinite(median))
            psfm_homography_refine(pairs, pairs->num_blocks, (psfm_loss){*bound, 0.0}, MAX_STEPS,
                                   H);
    }
    free(squared);
    return status;
}

static psfm_status score_sample(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    search *s = user;
    sample *p = &s->samples[index];
    psfm_ray_pairs pairs = {0};
    double H[9];
    memcpy(H, p->H, sizeof H);
    psfm_homography_normalize_norm(H);
    psfm_status status = make_pairs(ctx, s, p, &pairs);
    if (status == PSFM_OK && !(p->bound > 0.0))
        status = find_bound(ctx, &pairs, H, &p->bound);
    double cost = (double)p->num * p->bound;
    bool is_near = s->what != FISHEYE || psfm_homography_fit(&pairs, pairs.num_blocks, H);
    if (status == PSFM_OK && is_near && 10 * pairs.num >= 9 * p->num) /* nearly all have a ray */
        cost = psfm_homography_refine(&pairs, pairs.num_blocks, (psfm_loss){p->bound, 0.0},
                                      MAX_STEPS, H);
    double least = MIN_SIGMA_PX * MIN_SIGMA_PX, mean = cost / (double)p->num;
    p->score = 0.5 * (double)p->num * log(fmax(0.5 * mean, least));
    psfm_ray_pairs_free(&pairs);
    return status;
}

/* Score and typical scatter with the cameras in s->cameras. */
static psfm_status evaluate_cameras(psfm_context *ctx, search *s, double *score, double *sigma_px) {
    double num = 0.0;
    psfm_status status = psfm_parallel_for(ctx, NULL, s->num, score_sample, s);
    *score = 0.0;
    for (size_t k = 0; k < s->num; ++k) {
        *score += s->samples[k].score;
        num += (double)s->samples[k].num;
    }
    *sigma_px = exp(*score / fmax(num, 1.0));
    return status;
}

static psfm_status score_of(psfm_context *ctx, search *s, double value, double *score) {
    double sigma_px;
    set_value(s, value, s->cameras);
    return evaluate_cameras(ctx, s, score, &sigma_px);
}

/* ---- samples ---- */

typedef struct {
    size_t pair, num;
    const psfm_homography *h;
} ranked;

static int by_inliers(const void *x, const void *y) {
    const ranked *a = x, *b = y;
    if (a->num != b->num)
        return a->num > b->num ? -1 : 1;
    return (a->pair > b->pair) - (a->pair < b->pair);
}

/* Matches of the pair within LOOSE_PX of the homography, as the cameras are. */
static psfm_status take_sample(psfm_context *ctx, const psfm_match_set *set, const ranked *from,
                               sample *out) {
    const psfm_match_pair *pair = &set->pairs[from->pair];
    psfm_correspondences c = {0};
    psfm_ray_pairs all = {0};
    double *squared = NULL, H[9];
    out->pair = pair;
    memcpy(out->H, from->h->H_21, sizeof out->H);
    memcpy(H, out->H, sizeof H);
    psfm_homography_normalize_norm(H);
    psfm_status status = psfm_correspondences_init(ctx, set, pair, &c);
    if (status == PSFM_OK)
        status = psfm_ray_pairs_init(ctx, &c, NULL, &all);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, all.num_blocks * PSFM_LANES, &squared);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, all.num, &out->matches);
    if (status == PSFM_OK)
        psfm_homography_errors(&all, H, squared);
    for (size_t k = 0; status == PSFM_OK && k < all.num; ++k)
        if (squared[k] < LOOSE_PX * LOOSE_PX)
            out->matches[out->num++] = c.match_idx[all.row[k]];
    free(squared);
    psfm_ray_pairs_free(&all);
    psfm_correspondences_free(&c);
    return status;
}

static bool is_usable(const search *s, const psfm_match_pair *pair) {
    return s->is_free[s->set->views[pair->view1].camera_idx] &&
           s->is_free[s->set->views[pair->view2].camera_idx];
}

/* The largest homography of each pair, the largest of these. */
static psfm_status take_samples(psfm_context *ctx, const psfm_two_view *two_views, search *s) {
    ranked *rank = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, s->set->num_pairs, &rank);
    for (size_t p = 0; status == PSFM_OK && p < s->set->num_pairs; ++p)
        if (two_views[p].num_homographies > 0 && is_usable(s, &s->set->pairs[p]) &&
            two_views[p].homographies[0].num_inliers >= MIN_MATCHES)
            rank[num++] = (ranked){p, two_views[p].homographies[0].num_inliers,
                                   &two_views[p].homographies[0]};
    if (status == PSFM_OK)
        qsort(rank, num, sizeof *rank, by_inliers);
    for (size_t k = 0; status == PSFM_OK && k < num && k < MAX_HOMOGRAPHIES; ++k)
        status = take_sample(ctx, s->set, &rank[k], &s->samples[s->num++]);
    free(rank);
    return status;
}

/* The best value: the best of a grid, then golden section between its neighbours. */
static psfm_status minimise_score(psfm_context *ctx, search *s, double *best, double *best_score) {
    double step = (s->high - s->low) / (GRID - 1), score;
    psfm_status status = PSFM_OK;
    *best = 0.0;
    *best_score = INFINITY;
    for (int k = 0; status == PSFM_OK && k < GRID; ++k) {
        status = score_of(ctx, s, s->low + k * step, &score);
        if (score < *best_score) {
            *best_score = score;
            *best = s->low + k * step;
        }
    }
    double low = *best - step, high = *best + step, x[2], f[2] = {0};
    x[0] = high - GOLDEN * (high - low);
    x[1] = low + GOLDEN * (high - low);
    for (int k = 0; status == PSFM_OK && k < 2; ++k)
        status = score_of(ctx, s, x[k], &f[k]);
    for (int k = 0; status == PSFM_OK && k < GOLDEN_STEPS; ++k) {
        bool left = f[0] < f[1];
        if (left)
            high = x[1];
        else
            low = x[0];
        x[left] = x[!left];
        f[left] = f[!left];
        x[!left] = left ? high - GOLDEN * (high - low) : low + GOLDEN * (high - low);
        status = score_of(ctx, s, x[!left], &f[!left]);
    }
    int lower = f[0] < f[1] ? 0 : 1;
    if (status == PSFM_OK && f[lower] < *best_score) {
        *best_score = f[lower];
        *best = x[lower];
    }
    return status;
}

/* The best that one radial coefficient can do for wide lenses, if it is better than *score. */
static psfm_status find_rival(psfm_context *ctx, const search *fisheye, double *score,
                              double *sigma_px) {
    search s = *fisheye;
    double value, best, sigma;
    s.what = STRENGTH;
    s.low = -WIDE_STRENGTH;
    s.high = 0.0;
    psfm_status status = minimise_score(ctx, &s, &value, &best);
    set_value(&s, value, s.cameras);
    if (status == PSFM_OK)
        status = evaluate_cameras(ctx, &s, &best, &sigma);
    if (status == PSFM_OK && best < *score) {
        *score = best;
        *sigma_px = sigma;
    }
    return status;
}

/* Whether the value found is significant: the scatter falls by so much, and beyond chance. */
static bool is_significant(const search *s, double gain, double min_fall,
                           const psfm_radial_result *result) {
    bool is_inside = s->what != FISHEYE || result->value < s->high;
    return is_inside && gain > MIN_GAIN &&
           result->sigma_px < (1.0 - min_fall) * result->sigma_before_px;
}

/* Searches; if the value is significant the cameras of the set change. Fisheyes have a rival,
 * unless there are such already. */
static psfm_status run_search(psfm_context *ctx, const psfm_two_view *two_views, search *s,
                              bool has_rival, double min_fall, psfm_radial_result *out) {
    double before = 0.0, after = 0.0;
    *out = (psfm_radial_result){0};
    psfm_status status = PSFM_ALLOC(ctx, s->set->num_cameras, &s->cameras);
    if (status == PSFM_OK)
        status = take_samples(ctx, two_views, s);
    if (status != PSFM_OK || s->num == 0)
        goto cleanup;
    memcpy(s->cameras, s->set->cameras, s->set->num_cameras * sizeof *s->cameras);
    if ((status = evaluate_cameras(ctx, s, &before, &out->sigma_before_px)) != PSFM_OK ||
        (has_rival && (status = find_rival(ctx, s, &before, &out->sigma_before_px)) != PSFM_OK) ||
        (status = minimise_score(ctx, s, &out->value, &after)) != PSFM_OK)
        goto cleanup;
    set_value(s, out->value, s->cameras);
    if ((status = evaluate_cameras(ctx, s, &after, &out->sigma_px)) != PSFM_OK)
        goto cleanup;
    out->found = is_significant(s, before - after, min_fall, out);
    if (out->found)
        memcpy(s->set->cameras, s->cameras, s->set->num_cameras * sizeof *s->cameras);

cleanup:
    for (size_t k = 0; k < s->num; ++k)
        free(s->samples[k].matches);
    free(s->cameras);
    return status;
}

psfm_status psfm_radial_search(psfm_context *ctx, psfm_match_set *set,
                               const psfm_two_view *two_views, const bool *is_free,
                               bool same_coefficient, psfm_radial_result *out) {
    search s = {.set = set,
                .is_free = is_free,
                .what = same_coefficient ? COEFFICIENT : STRENGTH,
                .low = -MAX_STRENGTH,
                .high = MAX_STRENGTH};
    return run_search(ctx, two_views, &s, false, MIN_FALL, out);
}

psfm_status psfm_fisheye_search(psfm_context *ctx, psfm_match_set *set,
                                const psfm_two_view *two_views, const bool *is_free, bool again,
                                psfm_radial_result *out) {
    search s = {.set = set,
                .is_free = is_free,
                .what = FISHEYE,
                .low = log(MIN_FISHEYE),
                .high = log(MAX_FISHEYE)};
    psfm_status status = run_search(ctx, two_views, &s, !again, again ? 0.0 : FISHEYE_FALL, out);
    out->value = exp(out->value);
    return status;
}
