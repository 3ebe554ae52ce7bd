/* Planes and the essential matrix of one pair, made to agree.
 *
 * Once matches off the largest plane determine the motion (R, t), planes have three parameters
 * each. A homography that was found without knowing the motion may be a compromise between two
 * planes, or a slice through a cloud of points; such ones are given up and their matches searched
 * again under the motion. What is flat to within the noise is then refined together with the
 * motion. */
#include "core/twoview/plane_motion_agreement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/twoview/guided_plane.h"
#include "core/twoview/homography.h"
#include "core/twoview/joint_motion.h"
#include "core/twoview/point_spread.h"

/* A plane obeys the motion if at least this share of its matches stay inliers under it, at a mean
 * squared error of at most this many times the free homography's. */
#define MIN_KEPT 0.8
#define MAX_GROWTH 1.7

/* A plane is flat if its errors exceed those of the epipolar geometry by no more than this factor
 * in the variance. Relief of a pixel would bias the motion more than the plane steadies it. */
#define MAX_RELIEF 1.3

/* A homography that disobeys is given up if this share of its matches obeys the motion. */
#define MIN_EPIPOLAR 0.8

typedef struct {
    double m[3];
    bool obeys; /* the homography is R + t m^T */
    bool flat;  /* and its matches are as accurate as the motion's */
} plane_state;

typedef struct {
    psfm_context *ctx;
    const psfm_ray_pairs *pairs;
    const psfm_two_view_options *options;
    const double *image_area;
    psfm_rng *rng;
    double max_squared;
    psfm_plane_set *planes;
    psfm_essential_found *essential;
    plane_state *state; /* per plane, capacity of the set */
    bool *is_epipolar;  /* per pair: inlier of the motion */
    double *squared;    /* scratch, per lane */
    double *nearest;    /* scratch, per lane */
    uint32_t *idx;      /* scratch, per pair */
} reconciler;

/* The matches of plane p (PSFM_NO_PLANE: of none), only inliers of the motion if `epipolar`. */
static psfm_status select_pairs(reconciler *r, uint32_t p, bool epipolar, psfm_ray_pairs *out) {
    size_t num = 0;
    for (size_t i = 0; i < r->pairs->num; ++i)
        if (r->planes->plane[i] == p && (!epipolar || r->is_epipolar[i]))
            r->idx[num++] = (uint32_t)i;
    return psfm_ray_pairs_select(r->ctx, r->pairs, r->idx, num, out);
}

/* Number of the matches within the bound under H, and their mean squared error. */
static size_t count_support(const reconciler *r, const psfm_ray_pairs *own, const double H[9],
                            double *mean) {
    size_t num = 0;
    double sum = 0.0;
    psfm_homography_errors(own, H, r->squared);
    for (size_t i = 0; i < own->num; ++i) {
        if (r->squared[i] < r->max_squared) {
            ++num;
            sum += r->squared[i];
        }
    }
    *mean = num > 0 ? sum / (double)num : INFINITY;
    return num;
}

/* Whether the plane m under the motion explains what the free homography explains. */
static bool does_obey(const reconciler *r, const psfm_ray_pairs *own, const double H_free[9],
                      const double m[3]) {
    double H[9], mean_free, mean;
    psfm_joint_homography(&r->essential->motion, m, H);
    size_t num_free = count_support(r, own, H_free, &mean_free);
    size_t num = count_support(r, own, H, &mean);
    double noise = 0.01; /* px^2; below this nothing can be told from rounding and calibration */
    return (double)num >= MIN_KEPT * (double)num_free &&
           mean <= MAX_GROWTH * fmax(mean_free, noise) && psfm_mat3_det(H) > 0.0;
}

/* Whether the matches of plane p, and those near it that no plane has, peak at it. */
static bool is_peak(const reconciler *r, uint32_t p, const double H[9]) {
    size_t num = 0, around = 0, inliers = 0;
    psfm_homography_errors(r->pairs, H, r->squared);
    for (size_t i = 0; i < r->pairs->num; ++i)
        if (r->is_epipolar[i] && (r->planes->plane[i] == p || r->planes->plane[i] == PSFM_NO_PLANE))
            r->nearest[num++] = r->squared[i];
    double bound = psfm_noise_bound(r->nearest, num, 2, r->max_squared);
    for (size_t i = 0; i < num; ++i) {
        around += r->nearest[i] < 9.0 * bound;
        inliers += r->nearest[i] < bound;
    }
    return psfm_is_peak(num, around, inliers);
}

/* Sets the homography of plane p and lets go the matches that it does not explain. */
static void replace_homography(reconciler *r, uint32_t p, const double H[9]) {
    memcpy(r->planes->H_21[p], H, sizeof r->planes->H_21[p]);
    psfm_homography_errors(r->pairs, H, r->squared);
    for (size_t i = 0; i < r->pairs->num; ++i)
        if (r->planes->plane[i] == p && !(r->squared[i] < r->max_squared))
            r->planes->plane[i] = PSFM_NO_PLANE;
}

/* Tests plane p against the motion; whether it is to be given up. */
static psfm_status test_plane(reconciler *r, uint32_t p, bool *give_up) {
    psfm_ray_pairs own;
    plane_state *state = &r->state[p];
    double H[9];
    psfm_status status = select_pairs(r, p, false, &own);
    if (status != PSFM_OK)
        return status;
    psfm_joint_plane_start(&r->essential->motion, r->planes->H_21[p], state->m);
    psfm_loss wide = {4.0 * r->max_squared, 1.0};
    psfm_guided_plane_fit(&r->essential->motion, &own, wide, state->m);
    psfm_joint_homography(&r->essential->motion, state->m, H);
    state->obeys = does_obey(r, &own, r->planes->H_21[p], state->m) && is_peak(r, p, H);
    size_t num_epipolar = 0;
    for (size_t i = 0; i < r->pairs->num; ++i)
        num_epipolar += r->planes->plane[i] == p && r->is_epipolar[i];
    bool is_minor = 2 * own.num < r->essential->num_inliers;
    *give_up = !state->obeys && (is_minor || (double)num_epipolar > MIN_EPIPOLAR * (double)own.num);
    if (state->obeys)
        replace_homography(r, p, H);
    psfm_ray_pairs_free(&own);
    return PSFM_OK;
}

static void remove_plane(reconciler *r, uint32_t p) {
    psfm_plane_set_remove(r->planes, r->pairs->num, p, PSFM_NO_PLANE);
    for (size_t k = p; k < r->planes->num_planes; ++k)
        r->state[k] = r->state[k + 1];
}

/* Gives up the planes that do not obey the motion though their matches do, or are few. */
static psfm_status test_planes(reconciler *r) {
    for (uint32_t p = (uint32_t)r->planes->num_planes; p-- > 0;) {
        bool give_up;
        psfm_status status = test_plane(r, p, &give_up);
        if (status != PSFM_OK)
            return status;
        if (give_up)
            remove_plane(r, p);
    }
    return PSFM_OK;
}

static bool is_large_enough(reconciler *r, uint32_t p) {
    size_t num = psfm_plane_set_gather(r->planes, r->pairs->num, p, r->idx);
    return num >= (size_t)r->options->min_inliers &&
           psfm_covered_share(r->pairs, r->idx, num, r->image_area) >= r->options->min_area;
}

static void assign_matches(reconciler *r) {
    psfm_plane_set_assign(r->planes, r->pairs, r->max_squared, r->nearest, r->squared, r->idx);
}

/* Looks for one more plane among the inliers of the motion that no plane has; it must be more than
 * a slice unless there is no other. */
static psfm_status find_plane(reconciler *r, bool *found) {
    psfm_ray_pairs pool;
    double H[9];
    psfm_guided_plane plane = {0};
    psfm_plane_set *set = r->planes;
    *found = false;
    psfm_status status = select_pairs(r, PSFM_NO_PLANE, true, &pool);
    if (status == PSFM_OK && pool.num >= (size_t)r->options->min_inliers)
        status =
            psfm_guided_plane_ransac(r->ctx, &r->essential->motion, &pool, r->options->max_error_px,
                                     PSFM_RANSAC_CONFIDENCE, r->rng, &plane);
    psfm_ray_pairs_free(&pool);
    if (status != PSFM_OK || !plane.found)
        return status;
    psfm_joint_homography(&r->essential->motion, plane.m, H);
    *found = psfm_mat3_det(H) > 0.0 && (set->num_planes == 0 || is_peak(r, PSFM_NO_PLANE, H));
    if (!*found)
        return PSFM_OK;
    uint32_t p = (uint32_t)set->num_planes++;
    r->state[p] = (plane_state){.obeys = true};
    memcpy(r->state[p].m, plane.m, sizeof plane.m);
    memcpy(set->H_21[p], H, sizeof H);
    psfm_homography_errors(r->pairs, H, r->squared);
    for (size_t i = 0; i < r->pairs->num; ++i)
        if (set->plane[i] == PSFM_NO_PLANE && r->squared[i] < r->max_squared)
            set->plane[i] = p;
    return PSFM_OK;
}

/* Drops planes that are too small; their matches stay off plane. */
static void drop_small(reconciler *r) {
    for (uint32_t p = (uint32_t)r->planes->num_planes; p-- > 0;)
        if (!is_large_enough(r, p))
            remove_plane(r, p);
}

/* Compares the noise of a plane's matches under its homography and under the motion. */
static bool is_flat(const reconciler *r, const psfm_ray_pairs *own, const double H[9]) {
    double E[9];
    psfm_essential_from_motion(&r->essential->motion, E);
    psfm_homography_errors(own, H, r->squared);
    double across = psfm_noise_bound(r->squared, own->num, 2, r->max_squared);
    psfm_essential_errors(own, E, r->squared);
    double along = psfm_noise_bound(r->squared, own->num, 1, r->max_squared);
    return across < MAX_RELIEF * along;
}

/* The flat planes with their matches and bounds, for the joint refinement. */
static psfm_status list_flat(reconciler *r, psfm_joint_plane *list, size_t *num) {
    *num = 0;
    for (uint32_t p = 0; p < r->planes->num_planes; ++p) {
        psfm_joint_plane *plane = &list[*num];
        psfm_status status = select_pairs(r, p, false, &plane->pairs);
        if (status != PSFM_OK)
            return status;
        r->state[p].flat = r->state[p].obeys && is_flat(r, &plane->pairs, r->planes->H_21[p]);
        if (!r->state[p].flat) {
            psfm_ray_pairs_free(&plane->pairs);
            continue;
        }
        psfm_homography_errors(&plane->pairs, r->planes->H_21[p], r->squared);
        plane->max_squared = psfm_noise_bound(r->squared, plane->pairs.num, 2, r->max_squared);
        memcpy(plane->m, r->state[p].m, sizeof plane->m);
        ++*num;
    }
    return PSFM_OK;
}

/* Inliers of the motion on no flat plane. */
static psfm_status select_off(reconciler *r, psfm_ray_pairs *off) {
    size_t num = 0;
    for (size_t i = 0; i < r->pairs->num; ++i) {
        uint32_t p = r->planes->plane[i];
        if (r->is_epipolar[i] && (p >= r->planes->num_planes || !r->state[p].flat))
            r->idx[num++] = (uint32_t)i;
    }
    return psfm_ray_pairs_select(r->ctx, r->pairs, r->idx, num, off);
}

/* Refines the motion with all flat planes and the inliers on none. */
static psfm_status refine_jointly(reconciler *r) {
    psfm_joint_plane *list = NULL;
    psfm_ray_pairs off = {0};
    size_t num = 0, next = 0;
    psfm_motion *motion = &r->essential->motion;
    psfm_status status = PSFM_ALLOC(r->ctx, r->planes->num_planes, &list);
    if (status == PSFM_OK)
        status = list_flat(r, list, &num);
    if (status == PSFM_OK)
        status = select_off(r, &off);
    if (status == PSFM_OK && num > 0) {
        double E[9];
        psfm_essential_from_motion(motion, E);
        psfm_essential_errors(&off, E, r->squared);
        double bound = psfm_noise_bound(r->squared, off.num, 1, r->max_squared);
        status = psfm_joint_refine(r->ctx, list, num, &off, bound, motion);
    }
    for (size_t p = 0; status == PSFM_OK && p < r->planes->num_planes; ++p)
        if (r->state[p].flat)
            memcpy(r->state[p].m, list[next++].m, sizeof r->state[p].m);
    for (size_t k = 0; k < num; ++k)
        psfm_ray_pairs_free(&list[k].pairs);
    psfm_ray_pairs_free(&off);
    free(list);
    return status;
}

/* Homographies of the final motion; planes that are not flat are fitted to it. */
static psfm_status update_planes(reconciler *r) {
    for (uint32_t p = 0; p < r->planes->num_planes; ++p) {
        psfm_ray_pairs own;
        plane_state *state = &r->state[p];
        if (!state->obeys)
            continue;
        if (!state->flat) {
            psfm_status status = select_pairs(r, p, false, &own);
            if (status != PSFM_OK)
                return status;
            psfm_loss loss = {r->max_squared, 1.0};
            psfm_guided_plane_fit(&r->essential->motion, &own, loss, state->m);
            psfm_ray_pairs_free(&own);
        }
        psfm_joint_homography(&r->essential->motion, state->m, r->planes->H_21[p]);
    }
    return PSFM_OK;
}

/* Marks the inliers of the motion and lists them in `essential`. */
static void update_inliers(reconciler *r) {
    double E[9];
    psfm_essential_found *e = r->essential;
    psfm_essential_from_motion(&e->motion, E);
    psfm_essential_errors(r->pairs, E, r->squared);
    e->num_inliers = 0;
    for (size_t i = 0; i < r->pairs->num; ++i) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(r->pairs, i, ray1, ray2);
        r->is_epipolar[i] = r->squared[i] < r->max_squared && psfm_in_front(&e->motion, ray1, ray2);
        if (r->is_epipolar[i])
            e->inliers[e->num_inliers++] = (uint32_t)i;
    }
}

static psfm_status run_agreement(reconciler *r) {
    update_inliers(r);
    psfm_status status = test_planes(r);
    bool found = true;
    while (status == PSFM_OK && found && r->planes->num_planes < r->planes->capacity)
        status = find_plane(r, &found);
    if (status != PSFM_OK)
        return status;
    assign_matches(r);
    drop_small(r);
    status = refine_jointly(r);
    if (status == PSFM_OK)
        status = update_planes(r);
    if (status != PSFM_OK)
        return status;
    assign_matches(r);
    drop_small(r);
    update_inliers(r);
    for (size_t p = 0; p < r->planes->num_planes; ++p)
        r->planes->obeys[p] = r->state[p].obeys;
    psfm_plane_set_sort(r->planes, r->pairs->num);
    return PSFM_OK;
}

psfm_status psfm_reconcile(psfm_context *ctx, const psfm_ray_pairs *pairs,
                           const double image_area[2], const psfm_two_view_options *options,
                           psfm_rng *rng, psfm_plane_set *planes, psfm_essential_found *essential) {
    reconciler r = {.ctx = ctx,
                    .pairs = pairs,
                    .options = options,
                    .image_area = image_area,
                    .rng = rng,
                    .max_squared = options->max_error_px * options->max_error_px,
                    .planes = planes,
                    .essential = essential};
    size_t lanes = pairs->num_blocks * PSFM_LANES;
    for (size_t p = 0; p < planes->capacity; ++p)
        planes->obeys[p] = false;
    if (planes->num_planes == 0 || !psfm_essential_is_determined(essential))
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, lanes, &r.squared);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &r.nearest);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &r.idx);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &r.is_epipolar);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, planes->capacity, &r.state);
    if (status == PSFM_OK)
        status = run_agreement(&r);
    free(r.squared);
    free(r.nearest);
    free(r.idx);
    free(r.is_epipolar);
    free(r.state);
    return status;
}
