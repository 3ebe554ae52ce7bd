/* Several homographies in one pair of views, found one after the other on what is left.
 *
 * Acceptance. A homography through four of n unrelated matches meets others by chance. A match of
 * unrelated points spread over areas a1, a2 of the images lies within the joint error T of a given
 * homography with probability p = pi T^2 (1/a1 + 1/a2) at most: with s^2 the local change of area
 * its partner must fall into pi T^2 (1 + s^2) px^2 of image 2, and the homography covers a share of
 * at most a2 / (s^2 a1) of image 1. A homography with k inliers is kept if the expected number of
 * such coincidences over all samples, (n - 4) C(n, k) C(k, 4) p^(k - 4), is below 1e-3 (a
 * contrario; Moisan, Moulon and Monasse 2012). So 8 of 8 labelled points are significant, 8 of 500
 * are not. Repeated keypoints count once, and areas are smaller where keypoints cluster.
 *
 * Residual matches. Matches just beyond the bound of a plane that is already known are its noise,
 * not chance: within 3 T of a known plane they get p = 1/4, the share of that ring's area that lies
 * within T of any other homography.
 *
 * Assignment. After each find every match goes to the homography that fits it best, all are refined
 * on their own matches, and two that one homography explains are merged. */
#include "core/twoview/multi_homography.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/twoview/homography.h"
#include "core/twoview/homography_ransac.h"
#include "core/twoview/point_spread.h"

#define MAX_LOG10_FALSE_ALARMS (-3.0)
#define RESIDUAL_BOUND 3.0        /* errors, in units of the bound, that may be a plane's noise */
#define LOG10_RESIDUAL (-0.60206) /* log10 of 1/4 */
#define UNIFORM_ITERATIONS 1000   /* after which samples of neighbours are tried, too */
#define REST_ITERATIONS 500       /* for what is left after the first plane */
#define MERGE_SHARE 0.9           /* of two planes' matches that one homography must explain */
#define MIN_PEAK 0.6              /* of the matches within RESIDUAL_BOUND that must be inliers */
#define MAX_ROUNDS 3              /* of assignment and refinement */
#define MAX_SMALL 3               /* homographies over too little area to set aside */

/* Label of pairs whose homography was beyond chance but too small to keep: they are left out of
 * further searches. */
#define TOO_SMALL (PSFM_NO_PLANE - 1)

typedef struct {
    psfm_context *ctx;
    const psfm_ray_pairs *pairs;
    const psfm_two_view_options *options;
    psfm_rng *rng;
    double image_area[2];
    double max_squared;
    double log10_chance; /* of an unrelated match to be an inlier */
    double *squared;     /* scratch, per lane of the pairs */
    double *nearest;     /* per lane: least squared error over the known planes */
    uint32_t *idx;       /* scratch, per pair */
    psfm_plane_set *set;
} finder;

static bool is_residual(const finder *f, size_t i) {
    return f->nearest[i] < RESIDUAL_BOUND * RESIDUAL_BOUND * f->max_squared;
}

/* Whether `num` inliers f->idx among the pairs without a plane are more than chance. */
static bool is_significant(const finder *f, size_t num) {
    psfm_chance_group far = {.log10_p = f->log10_chance}, near = {.log10_p = LOG10_RESIDUAL};
    double distinct = psfm_distinct_share(f->pairs, f->idx, num, 0.5 * f->options->max_error_px);
    for (size_t i = 0; i < f->pairs->num; ++i)
        if (f->set->plane[i] == PSFM_NO_PLANE)
            ++(is_residual(f, i) ? &near : &far)->num;
    for (size_t i = 0; i < num; ++i)
        ++(is_residual(f, f->idx[i]) ? &near : &far)->num_inliers;
    near.num_inliers = (size_t)(distinct * (double)near.num_inliers);
    far.num_inliers = (size_t)(distinct * (double)far.num_inliers);
    psfm_chance_group evidence[2] = {far, near};
    return psfm_log10_false_alarms(evidence, 2, 4) < MAX_LOG10_FALSE_ALARMS;
}

/* Whether the plane is a slice through a cloud of points: the errors f->squared of the pairs that
 * no plane has do not peak within the bound. In a cloud they spread evenly along the epipolar
 * lines, so a third of those within three times the bound are inliers; of a plane's matches nearly
 * all are. */
static bool is_slice(const finder *f, size_t num_inliers) {
    size_t around = 0;
    for (size_t i = 0; i < f->pairs->num; ++i)
        around += f->set->plane[i] == PSFM_NO_PLANE &&
                  f->squared[i] < RESIDUAL_BOUND * RESIDUAL_BOUND * f->max_squared;
    return (double)num_inliers < MIN_PEAK * (double)around;
}

static bool is_large_enough(const finder *f, size_t num) {
    return num >= (size_t)f->options->min_inliers &&
           psfm_covered_share(f->pairs, f->idx, num, f->image_area) >= f->options->min_area;
}

static bool assign_matches(finder *f) {
    return psfm_plane_set_assign(f->set, f->pairs, f->max_squared, f->nearest, f->squared, f->idx);
}

/* Refines each homography on its own pairs and assigns again, until nothing changes. One plane
 * alone is refined already. */
static psfm_status reassign_until_stable(finder *f) {
    psfm_plane_set *set = f->set;
    bool changed = assign_matches(f);
    for (int round = 0; changed && round < MAX_ROUNDS && set->num_planes > 1; ++round) {
        for (size_t p = 0; p < set->num_planes; ++p) {
            psfm_ray_pairs own;
            size_t num = psfm_plane_set_gather(set, f->pairs->num, (uint32_t)p, f->idx);
            psfm_status status = psfm_ray_pairs_select(f->ctx, f->pairs, f->idx, num, &own);
            if (status != PSFM_OK)
                return status;
            psfm_homography_errors(&own, set->H_21[p], f->squared);
            psfm_loss loss = {psfm_noise_bound(f->squared, num, 2, f->max_squared), 0.0};
            psfm_homography_refine(&own, own.num_blocks, loss, 10, set->H_21[p]);
            psfm_ray_pairs_free(&own);
        }
        changed = assign_matches(f);
    }
    return PSFM_OK;
}

/* Inliers of H among the pairs that no plane has, into f->idx. */
static size_t gather_inliers(finder *f, const double H[9]) {
    size_t num = 0;
    psfm_homography_errors(f->pairs, H, f->squared);
    for (size_t i = 0; i < f->pairs->num; ++i)
        if (f->set->plane[i] == PSFM_NO_PLANE && f->squared[i] < f->max_squared)
            f->idx[num++] = (uint32_t)i;
    return num;
}

/* How a search ended. */
typedef enum { NOTHING, SMALL, FOUND } outcome;

/* One search among `rest`. What is beyond chance but too small is set aside. */
static outcome try_search(finder *f, const psfm_ray_pairs *rest, const uint32_t *order,
                          int max_iterations, double H[9]) {
    if (max_iterations > f->options->max_iterations)
        max_iterations = f->options->max_iterations;
    psfm_homography_search search = {f->options->max_error_px, PSFM_RANSAC_CONFIDENCE,
                                     max_iterations, f->squared, order};
    psfm_homography_found found;
    if (!psfm_homography_ransac(rest, &search, f->rng, &found))
        return NOTHING;
    memcpy(H, found.H_21, 9 * sizeof *H);
    size_t num = gather_inliers(f, H);
    if (!is_significant(f, num) || is_slice(f, num))
        return NOTHING;
    if (is_large_enough(f, num))
        return FOUND;
    for (size_t i = 0; i < num; ++i)
        f->set->plane[f->idx[i]] = TOO_SMALL;
    return SMALL;
}

static psfm_status try_local_search(finder *f, const psfm_ray_pairs *rest, int max_iterations,
                                    double H[9], outcome *result) {
    uint32_t *order;
    psfm_status status = PSFM_ALLOC(f->ctx, rest->num, &order);
    if (status == PSFM_OK)
        status = psfm_spatial_order(f->ctx, rest, order);
    if (status == PSFM_OK)
        *result = try_search(f, rest, order, max_iterations, H);
    free(order);
    return status;
}

/* Samples after which a homography with the fewest inliers that could be more than chance among
 * `num` pairs would have been met: more are not needed. */
static int worthwhile_iterations(const finder *f, size_t num) {
    psfm_chance_group group = {num, (size_t)f->options->min_inliers, f->log10_chance};
    while (group.num_inliers < num &&
           psfm_log10_false_alarms(&group, 1, 4) >= MAX_LOG10_FALSE_ALARMS)
        ++group.num_inliers;
    return psfm_ransac_iterations((double)group.num_inliers / (double)num, 4,
                                  PSFM_RANSAC_CONFIDENCE, f->options->max_iterations);
}

/* Looks for one more homography among the pairs that no plane has. */
static psfm_status find_next(finder *f, double H[9], outcome *result) {
    psfm_ray_pairs rest = {0};
    const psfm_ray_pairs *where = f->pairs;
    bool first = f->set->num_planes == 0;
    size_t num = psfm_plane_set_gather(f->set, f->pairs->num, PSFM_NO_PLANE, f->idx);
    psfm_status status = PSFM_OK;
    *result = NOTHING;
    if (num < (size_t)f->options->min_inliers)
        return PSFM_OK;
    if (num < f->pairs->num) {
        status = psfm_ray_pairs_select(f->ctx, f->pairs, f->idx, num, &rest);
        where = &rest;
    }
    if (status == PSFM_OK && first)
        *result = try_search(f, where, NULL, UNIFORM_ITERATIONS, H);
    if (status == PSFM_OK && *result == NOTHING)
        status = try_local_search(f, where, first ? worthwhile_iterations(f, num) : REST_ITERATIONS,
                                  H, result);
    psfm_ray_pairs_free(&rest);
    return status;
}

/* Whether most pairs of plane `from` are at least near to the homography of plane `to`. */
static bool is_near(const finder *f, uint32_t from, uint32_t to) {
    size_t near = 0;
    double bound = RESIDUAL_BOUND * RESIDUAL_BOUND * f->max_squared;
    psfm_homography_errors(f->pairs, f->set->H_21[to], f->squared);
    for (size_t i = 0; i < f->pairs->num; ++i)
        near += f->set->plane[i] == from && f->squared[i] < bound;
    return 2 * near > f->set->num_inliers[from];
}

/* Merges plane b into a < b if one homography explains both. */
static psfm_status try_merge(finder *f, uint32_t a, uint32_t b, bool *merged) {
    psfm_plane_set *set = f->set;
    size_t num = 0;
    double H[9];
    psfm_ray_pairs both;
    *merged = false;
    if (!is_near(f, a, b) && !is_near(f, b, a))
        return PSFM_OK;
    for (size_t i = 0; i < f->pairs->num; ++i)
        if (set->plane[i] == a || set->plane[i] == b)
            f->idx[num++] = (uint32_t)i;
    psfm_status status = psfm_ray_pairs_select(f->ctx, f->pairs, f->idx, num, &both);
    if (status != PSFM_OK)
        return status;
    uint32_t larger = set->num_inliers[a] >= set->num_inliers[b] ? a : b;
    memcpy(H, set->H_21[larger], sizeof H);
    psfm_homography_refine(&both, both.num_blocks, (psfm_loss){4.0 * f->max_squared, 0.0}, 5, H);
    psfm_homography_refine(&both, both.num_blocks, (psfm_loss){f->max_squared, 0.0}, 10, H);
    size_t explained = psfm_homography_count(&both, H, f->options->max_error_px);
    if ((double)explained >= MERGE_SHARE * (double)num) {
        memcpy(set->H_21[a], H, sizeof H);
        psfm_plane_set_remove(set, f->pairs->num, b, a);
        *merged = true;
    }
    psfm_ray_pairs_free(&both);
    return PSFM_OK;
}

/* Merges what is one plane; assigns again after each merger. */
static psfm_status merge_planes(finder *f) {
    psfm_status status = PSFM_OK;
    for (uint32_t a = 0; a < f->set->num_planes; ++a) {
        for (uint32_t b = a + 1; b < f->set->num_planes;) {
            bool merged;
            status = try_merge(f, a, b, &merged);
            if (status == PSFM_OK && merged)
                status = reassign_until_stable(f);
            if (status != PSFM_OK)
                return status;
            if (!merged)
                ++b;
        }
    }
    return status;
}

/* Drops planes that lost their support to others. */
static psfm_status drop_weak(finder *f) {
    psfm_plane_set *set = f->set;
    if (set->num_planes == 1)
        return PSFM_OK; /* no other plane took a match from it */
    for (uint32_t p = (uint32_t)set->num_planes; p-- > 0;) {
        size_t num = psfm_plane_set_gather(set, f->pairs->num, p, f->idx);
        if (is_large_enough(f, num))
            continue;
        psfm_plane_set_remove(set, f->pairs->num, p, PSFM_NO_PLANE);
        psfm_status status = reassign_until_stable(f);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

static psfm_status find_all(finder *f, size_t max_planes) {
    psfm_plane_set *set = f->set;
    int num_small = 0;
    for (size_t k = set->num_planes; k < max_planes;) {
        double H[9];
        outcome result;
        psfm_status status = find_next(f, H, &result);
        if (status == PSFM_OK && result == SMALL && num_small++ < MAX_SMALL)
            continue;
        if (status != PSFM_OK || result != FOUND)
            return status;
        ++k;
        memcpy(set->H_21[set->num_planes++], H, sizeof H);
        status = reassign_until_stable(f);
        if (status == PSFM_OK)
            status = merge_planes(f);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

/* log10 of the probability that an unrelated pair is an inlier of a given homography. */
static double log10_chance(const psfm_ray_pairs *pairs, double max_squared) {
    double area1 = psfm_effective_area((const double(*)[2])pairs->xy1, pairs->num);
    double area2 = psfm_effective_area((const double(*)[2])pairs->xy2, pairs->num);
    double p = 3.141592653589793 * max_squared * (1.0 / area1 + 1.0 / area2);
    return log10(fmin(p, 0.5));
}

psfm_status psfm_multi_homography(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                  const double image_area[2], const psfm_two_view_options *options,
                                  size_t max_planes, psfm_rng *rng, psfm_plane_set *set) {
    finder f = {.ctx = ctx,
                .pairs = pairs,
                .options = options,
                .rng = rng,
                .image_area = {image_area[0], image_area[1]},
                .max_squared = options->max_error_px * options->max_error_px,
                .set = set};
    size_t lanes = pairs->num_blocks * PSFM_LANES;
    psfm_status status = PSFM_ALLOC(ctx, lanes, &f.squared);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &f.nearest);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &f.idx);
    if (status != PSFM_OK)
        goto cleanup;
    f.log10_chance = log10_chance(pairs, f.max_squared);
    assign_matches(&f);
    status = find_all(&f, max_planes);
    if (status == PSFM_OK)
        status = drop_weak(&f);
    if (status != PSFM_OK)
        goto cleanup;
    for (size_t i = 0; i < pairs->num; ++i)
        if (set->plane[i] == TOO_SMALL)
            set->plane[i] = PSFM_NO_PLANE;
    psfm_plane_set_sort(set, pairs->num);
    for (size_t p = 0; p < set->num_planes; ++p)
        psfm_homography_normalize(set->H_21[p]);
cleanup:
    free(f.squared);
    free(f.nearest);
    free(f.idx);
    return status;
}
