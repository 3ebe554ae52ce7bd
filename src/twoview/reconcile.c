#include "twoview/reconcile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/mat3.h"
#include "twoview/homography.h"
#include "twoview/joint_motion.h"
#include "twoview/least_squares.h"
#include "twoview/spread.h"

/* A plane obeys the motion if at least this share of its matches stay inliers under it, at a mean
 * squared error of at most this many times the free homography's. */
#define MIN_KEPT 0.8
#define MAX_GROWTH 1.7

/* A plane is flat if its errors exceed those of the epipolar geometry by no more than this factor
 * in the variance. Relief of a pixel would bias the motion more than the plane steadies it. */
#define MAX_RELIEF 1.3

typedef struct {
    psfm_context *ctx;
    const psfm_ray_pairs *pairs;
    double max_squared;
    psfm_plane_set *planes;
    psfm_essential_found *essential;
    psfm_joint_plane *joint; /* per plane */
    bool *obeys;
    bool *flat;      /* per plane: its matches obey the homography as well as the motion */
    double *squared; /* scratch, per lane */
    uint32_t *idx;   /* scratch, per pair */
} reconciler;

/* Fits m to the plane's matches with the motion held: Gauss-Newton in three unknowns. */
static void fit_plane(const psfm_motion *motion, psfm_joint_plane *plane, double max_squared) {
    psfm_loss loss = {max_squared, 0.0};
    double cost = INFINITY;
    for (int iteration = 0; iteration < 8; ++iteration) {
        double H[9], N[81], g[9], A[9] = {0}, step[3] = {0};
        psfm_joint_homography(motion, plane->m, H);
        double cost_new =
            psfm_homography_normal_equations(&plane->pairs, plane->pairs.num_blocks, H, loss, N, g);
        if (!(cost_new < cost * (1.0 - 1e-4)))
            break;
        cost = cost_new;
        for (int k = 0; k < 9; ++k) {
            step[k % 3] -= motion->t_21[k / 3] * g[k];
            for (int j = 0; j < 9; ++j)
                A[3 * (k % 3) + j % 3] += motion->t_21[k / 3] * motion->t_21[j / 3] * N[9 * k + j];
        }
        if (!psfm_solve_spd(A, 3, step))
            break;
        psfm_axpy3(plane->m, 1.0, step, plane->m);
    }
}

/* Number of the plane's matches within the bound, and their mean squared error. */
static size_t support(const reconciler *r, const psfm_ray_pairs *own, const double H[9],
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

/* Whether the plane of the motion with this m explains what the free homography explains. */
static bool check_plane(const reconciler *r, size_t p) {
    double H[9], mean_free, mean;
    const psfm_joint_plane *plane = &r->joint[p];
    psfm_joint_homography(&r->essential->motion, plane->m, H);
    size_t num_free = support(r, &plane->pairs, r->planes->H_21[p], &mean_free);
    size_t num = support(r, &plane->pairs, H, &mean);
    double noise = 0.01; /* px^2; below this, nothing can be told from rounding and calibration */
    return (double)num >= MIN_KEPT * (double)num_free &&
           mean <= MAX_GROWTH * fmax(mean_free, noise) && psfm_mat3_det(H) > 0.0;
}

/* Compares the noise of the plane's matches under its homography and under the motion. */
static bool is_flat(const reconciler *r, const psfm_joint_plane *plane) {
    double H[9], E[9];
    psfm_joint_homography(&r->essential->motion, plane->m, H);
    psfm_essential_from_motion(&r->essential->motion, E);
    psfm_homography_errors(&plane->pairs, H, r->squared);
    double across = psfm_noise_bound(r->squared, plane->pairs.num, 2, r->max_squared);
    psfm_essential_errors(&plane->pairs, E, r->squared);
    double along = psfm_noise_bound(r->squared, plane->pairs.num, 1, r->max_squared);
    return across < MAX_RELIEF * along;
}

/* Collects the matches of each plane and tests each against the motion. */
static psfm_status prepare(reconciler *r) {
    for (uint32_t p = 0; p < r->planes->num_planes; ++p) {
        psfm_joint_plane *plane = &r->joint[p];
        size_t num = 0;
        for (size_t i = 0; i < r->pairs->num; ++i)
            if (r->planes->plane[i] == p)
                r->idx[num++] = (uint32_t)i;
        psfm_status status = psfm_ray_pairs_select(r->ctx, r->pairs, r->idx, num, &plane->pairs);
        if (status != PSFM_OK)
            return status;
        psfm_homography_errors(&plane->pairs, r->planes->H_21[p], r->squared);
        plane->max_squared = psfm_noise_bound(r->squared, plane->pairs.num, 2, r->max_squared);
        psfm_joint_plane_start(&r->essential->motion, r->planes->H_21[p], plane->m);
        fit_plane(&r->essential->motion, plane, 4.0 * r->max_squared);
        r->obeys[p] = check_plane(r, p);
        r->flat[p] = r->obeys[p] && is_flat(r, plane);
    }
    return PSFM_OK;
}

/* Refines the motion with the planes that obey it and the inliers on no such plane. */
static psfm_status refine_jointly(reconciler *r) {
    psfm_joint_plane *chosen = NULL;
    psfm_ray_pairs off = {0};
    size_t num = 0, num_off = 0;
    psfm_essential_found *e = r->essential;
    for (size_t k = 0; k < e->num_inliers; ++k) {
        uint32_t p = r->planes->plane[e->inliers[k]];
        if (p == PSFM_NO_PLANE || !r->flat[p])
            r->idx[num_off++] = e->inliers[k];
    }
    psfm_status status =
        psfm_alloc(r->ctx, r->planes->num_planes, sizeof *chosen, (void **)&chosen);
    if (status == PSFM_OK)
        status = psfm_ray_pairs_select(r->ctx, r->pairs, r->idx, num_off, &off);
    if (status == PSFM_OK) {
        double E[9];
        psfm_essential_from_motion(&e->motion, E);
        psfm_essential_errors(&off, E, r->squared);
        double bound = psfm_noise_bound(r->squared, off.num, 1, r->max_squared);
        for (size_t p = 0; p < r->planes->num_planes; ++p)
            if (r->flat[p])
                chosen[num++] = r->joint[p];
        status = psfm_joint_refine(r->ctx, chosen, num, &off, bound, &e->motion);
    }
    num = 0;
    for (size_t p = 0; status == PSFM_OK && p < r->planes->num_planes; ++p) {
        if (r->flat[p])
            memcpy(r->joint[p].m, chosen[num++].m, sizeof r->joint[p].m);
        else
            fit_plane(&e->motion, &r->joint[p], r->max_squared);
    }
    psfm_ray_pairs_free(&off);
    free(chosen);
    return status;
}

/* Takes over the refined homographies, and drops the planes that contradict the motion. */
static void replace_planes(reconciler *r) {
    psfm_plane_set *set = r->planes;
    uint32_t left = 0;
    for (uint32_t p = 0; p < set->num_planes; ++p) {
        bool obeys = r->obeys[p] && check_plane(r, p);
        bool contradicts = !obeys && 2 * set->num_inliers[p] < r->essential->num_inliers;
        double H[9];
        memcpy(H, set->H_21[p], sizeof H);
        if (obeys)
            psfm_joint_homography(&r->essential->motion, r->joint[p].m, H);
        psfm_homography_errors(r->pairs, H, r->squared);
        size_t num = 0;
        for (size_t i = 0; i < r->pairs->num; ++i) {
            if (set->plane[i] != p)
                continue;
            bool keep = !contradicts && r->squared[i] < r->max_squared;
            set->plane[i] = keep ? left : PSFM_NO_PLANE;
            num += keep;
        }
        if (contradicts)
            continue;
        memcpy(set->H_21[left], H, sizeof H);
        set->num_inliers[left] = num;
        r->obeys[left++] = obeys;
    }
    set->num_planes = left;
}

/* Inliers of the refined motion. */
static void update_inliers(reconciler *r) {
    double E[9];
    psfm_essential_found *e = r->essential;
    psfm_essential_from_motion(&e->motion, E);
    psfm_essential_errors(r->pairs, E, r->squared);
    e->num_inliers = 0;
    for (size_t i = 0; i < r->pairs->num; ++i) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(r->pairs, i, ray1, ray2);
        if (r->squared[i] < r->max_squared && psfm_in_front(&e->motion, ray1, ray2))
            e->inliers[e->num_inliers++] = (uint32_t)i;
    }
}

psfm_status psfm_reconcile(psfm_context *ctx, const psfm_ray_pairs *pairs,
                           const psfm_two_view_options *options, psfm_plane_set *planes,
                           psfm_essential_found *essential, bool *obeys) {
    reconciler r = {.ctx = ctx,
                    .pairs = pairs,
                    .max_squared = options->max_error_px * options->max_error_px,
                    .planes = planes,
                    .essential = essential,
                    .obeys = obeys};
    size_t lanes = pairs->num_blocks * PSFM_LANES, num = planes->num_planes;
    for (size_t p = 0; p < num; ++p)
        obeys[p] = false;
    if (!essential->found || !essential->has_off_plane || num == 0 ||
        essential->plane_share >= options->degenerate_share)
        return PSFM_OK;
    psfm_status status = psfm_alloc(ctx, lanes, sizeof *r.squared, (void **)&r.squared);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, lanes, sizeof *r.idx, (void **)&r.idx);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num, sizeof *r.joint, (void **)&r.joint);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num, sizeof *r.flat, (void **)&r.flat);
    if (status == PSFM_OK)
        status = prepare(&r);
    if (status == PSFM_OK)
        status = refine_jointly(&r);
    if (status == PSFM_OK) {
        replace_planes(&r);
        update_inliers(&r);
    }
    for (size_t p = 0; r.joint != NULL && p < num; ++p)
        psfm_ray_pairs_free(&r.joint[p].pairs);
    free(r.joint);
    free(r.flat);
    free(r.squared);
    free(r.idx);
    return status;
}
