/* Matching again along homographies.
 *
 * A keypoint of image 1 without a match, inside the grown hull of a homography's inliers, can only
 * go to keypoints within a few pixels of where the homography puts it. Among these the descriptors
 * are compared as in the first matching: nearest, ratio to the second, the same from the other
 * side. Repeated texture, which fails the ratio test over the whole image, passes it there.
 * Homographies are followed in the order given; what one has matched is no candidate of the next.
 *
 * Candidates come from a grid over the rays (match/ray_grid.h) whose cells are as large as the
 * allowed error, so the cost is that of the few descriptors compared. */
#include "match/guided.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/hull.h"
#include "linalg/mat3.h"
#include "match/nearest_score.h"
#include "match/ray_grid.h"

static const psfm_option rows[] = {
    PSFM_OPTION_BOOL(psfm_guided_options, enabled, "enabled", 1,
                     "match again along the homographies of each pair"),
    PSFM_OPTION_INT(psfm_guided_options, min_inliers, "min-inliers", 15, 3, 1e6,
                    "homographies with fewer inliers lead to no new matches"),
    PSFM_OPTION_DOUBLE(psfm_guided_options, max_error_px, "max-error-px", 2.0, 0.1, 100.0,
                       "largest transfer error of a new match, in pixels"),
    PSFM_OPTION_DOUBLE(psfm_guided_options, max_ratio, "max-ratio", 0.9, 0.01, 1.0,
                       "largest ratio of the best to the second-best descriptor distance"),
    PSFM_OPTION_DOUBLE(psfm_guided_options, max_distance, "max-distance", 0.7, 0.01,
                       1.5707963267948966, "largest angle between descriptors, in radians"),
    PSFM_OPTION_DOUBLE(psfm_guided_options, region_margin, "region-margin", 0.25, 0.0, 100.0,
                       "growth of the inliers' hull, as a share of its size"),
};
const psfm_option_table psfm_guided_option_table = {"guided", rows, sizeof rows / sizeof rows[0]};

void psfm_guided_matches_free(psfm_guided_matches *matches) {
    free(matches->matches);
    free(matches->guide);
    *matches = (psfm_guided_matches){0};
}

/* ---- the region of a homography: the hull of its inliers in image 1, grown ---- */

typedef struct {
    double (*corners)[2]; /* anticlockwise in a frame with y up */
    size_t num;
} hull;

static double turn(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Corners of the hull, moved away from their mean by `margin` of their distance from it. */
static void grow(const double (*points)[2], const uint32_t *corners, double margin, hull *out) {
    double centre[2] = {0.0, 0.0};
    for (size_t k = 0; k < out->num; ++k)
        for (int c = 0; c < 2; ++c)
            centre[c] += points[corners[k]][c] / (double)out->num;
    for (size_t k = 0; k < out->num; ++k)
        for (int c = 0; c < 2; ++c) {
            double corner = points[corners[k]][c];
            out->corners[k][c] = corner + margin * (corner - centre[c]);
        }
}

static psfm_status make_hull(psfm_context *ctx, const psfm_view *view, const psfm_match_pair *pair,
                             const psfm_guide *guide, double margin, hull *out) {
    double(*points)[2] = NULL;
    uint32_t *corners = NULL, num = 0;
    psfm_status status = PSFM_ALLOC(ctx, guide->num_inliers, &points);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < guide->num_inliers; ++k)
        memcpy(points[k], view->keypoints[pair->matches[guide->inliers[k]][0]], sizeof *points);
    status = psfm_convex_hull(ctx, guide->num_inliers, (const double(*)[2])points, &corners, &num);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &out->corners);
    if (status == PSFM_OK) {
        out->num = num;
        grow((const double(*)[2])points, corners, margin, out);
    }
    free(corners);
    free(points);
    return status;
}

static bool is_inside(const hull *h, const double p[2]) {
    if (h->num < 3)
        return false;
    for (size_t k = 0; k < h->num; ++k)
        if (!(turn(h->corners[k], h->corners[(k + 1) % h->num], p) >= 0.0))
            return false;
    return true;
}

/* ---- candidates and their choice ---- */

/* Best two of the candidates of one keypoint. */
typedef struct {
    int32_t best, second;
    uint32_t idx;
} choice;

static void consider(choice *c, int32_t product, uint32_t idx) {
    if (product > c->best)
        c->idx = idx;
    psfm_nearest_fold(product, &c->best, &c->second);
}

typedef struct {
    const psfm_view *view1, *view2;
    const uint8_t *descriptors1, *descriptors2;
    psfm_guided_options options;
    int32_t (*dot)(const uint8_t *a, const uint8_t *b);
    bool *free1, *free2;       /* keypoints that have no match yet */
    choice *choice1, *choice2; /* under the present homography */
    double H_12[9];
    uint32_t i;     /* keypoint of image 1 at hand */
    double ray2[3]; /* where the homography puts it */
} matcher;

/* Distance in pixels between a keypoint and a direction; infinite if that lies behind. */
static double error_px(const psfm_view *view, uint32_t idx, const double direction[3]) {
    const double *P = view->px_from_ray[idx];
    double along = psfm_dot3(direction, view->rays[idx]);
    if (!(along > 0.0))
        return INFINITY;
    return hypot(psfm_dot3(P, direction), psfm_dot3(P + 3, direction)) / along;
}

static void visit(uint32_t j, void *user) {
    matcher *m = user;
    double ray1[3];
    if (!(error_px(m->view2, j, m->ray2) <= m->options.max_error_px))
        return;
    psfm_mat3_mul_vec(m->H_12, m->view2->rays[j], ray1);
    if (!(error_px(m->view1, m->i, ray1) <= m->options.max_error_px))
        return;
    int32_t product = m->dot(m->descriptors1 + (size_t)m->i * PSFM_SIFT_SIZE,
                             m->descriptors2 + (size_t)j * PSFM_SIFT_SIZE);
    consider(&m->choice1[m->i], product, j);
    consider(&m->choice2[j], product, m->i);
}

/* The angle on the sphere that the error in pixels can span at any keypoint of a view. */
static double largest_angle(const psfm_view *view, double error) {
    double largest = 1e-6;
    for (size_t k = 0; k < view->num_keypoints; ++k) {
        const double *P = view->px_from_ray[k];
        double a = psfm_dot3(P, P), b = psfm_dot3(P, P + 3), c = psfm_dot3(P + 3, P + 3);
        double smallest = 0.5 * (a + c - hypot(a - c, 2.0 * b));
        if (smallest > 0.0)
            largest = fmax(largest, error / sqrt(smallest));
    }
    return fmin(largest, 0.2);
}

static bool agree(const matcher *m, uint32_t i) {
    psfm_nearest_rule rule = {(float)m->options.max_ratio, (float)m->options.max_distance};
    const choice *here = &m->choice1[i];
    if (!psfm_nearest_rule_passes(&rule, here->best, here->second))
        return false;
    const choice *back = &m->choice2[here->idx];
    return back->idx == i && psfm_nearest_rule_passes(&rule, back->best, back->second);
}

/* Chooses along one homography; the agreements wait in choice1 and choice2. */
static psfm_status follow(psfm_context *ctx, matcher *m, const hull *region,
                          const psfm_guide *guide) {
    psfm_ray_grid grid;
    const psfm_view *view1 = m->view1, *view2 = m->view2;
    double cell = largest_angle(view2, m->options.max_error_px);
    psfm_status status = psfm_ray_grid_init(ctx, (const double(*)[3])view2->rays,
                                            view2->num_keypoints, m->free2, cell, &grid);
    if (status != PSFM_OK)
        return status;
    memset(m->choice1, 0, view1->num_keypoints * sizeof *m->choice1);
    memset(m->choice2, 0, view2->num_keypoints * sizeof *m->choice2);
    for (size_t i = 0; i < view1->num_keypoints; ++i) {
        if (!m->free1[i] || psfm_norm3(view1->rays[i]) == 0.0 ||
            !is_inside(region, view1->keypoints[i]))
            continue;
        m->i = (uint32_t)i;
        psfm_mat3_mul_vec(guide->H_21, view1->rays[i], m->ray2);
        if (psfm_normalize3(m->ray2) > 0.0)
            psfm_ray_grid_visit(&grid, m->ray2, visit, m);
    }
    psfm_ray_grid_free(&grid);
    return PSFM_OK;
}

/* The new match of a keypoint of image 1. */
typedef struct {
    bool found;
    uint32_t partner, guide;
} result;

/* Takes the agreements of one homography; being mutual, they share no keypoint. */
static size_t take_agreements(matcher *m, uint32_t guide, result *results) {
    size_t num = 0;
    for (uint32_t i = 0; i < m->view1->num_keypoints; ++i) {
        if (!m->free1[i] || !agree(m, i))
            continue;
        results[i] = (result){true, m->choice1[i].idx, guide};
        m->free1[i] = m->free2[results[i].partner] = false;
        ++num;
    }
    return num;
}

static psfm_status list_results(psfm_context *ctx, const result *results, size_t num_keypoints,
                                size_t num, psfm_guided_matches *out) {
    psfm_guided_matches made = {0};
    psfm_status status = PSFM_ALLOC(ctx, num, &made.matches);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &made.guide);
    for (size_t i = 0; status == PSFM_OK && i < num_keypoints; ++i) {
        if (!results[i].found)
            continue;
        made.matches[made.num][0] = (uint32_t)i;
        made.matches[made.num][1] = results[i].partner;
        made.guide[made.num++] = results[i].guide;
    }
    if (status != PSFM_OK)
        psfm_guided_matches_free(&made);
    *out = made;
    return status;
}

static psfm_status alloc_matcher(psfm_context *ctx, const psfm_match_pair *pair, matcher *m,
                                 result **results) {
    size_t n1 = m->view1->num_keypoints, n2 = m->view2->num_keypoints;
    psfm_status status = PSFM_ALLOC(ctx, n1, &m->free1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n2, &m->free2);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n1, &m->choice1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n2, &m->choice2);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n1, results);
    if (status != PSFM_OK)
        return status;
    memset(m->free1, 1, n1 * sizeof *m->free1);
    memset(m->free2, 1, n2 * sizeof *m->free2);
    for (size_t k = 0; k < pair->num_matches; ++k)
        m->free1[pair->matches[k][0]] = m->free2[pair->matches[k][1]] = false;
    return PSFM_OK;
}

psfm_status psfm_guided_match(psfm_context *ctx, const psfm_guided_pair *input,
                              const psfm_guided_options *options, psfm_guided_matches *out) {
    matcher m = {.view1 = input->view1,
                 .view2 = input->view2,
                 .descriptors1 = input->descriptors1,
                 .descriptors2 = input->descriptors2,
                 .dot = psfm_nearest_kernel_choose()->dot};
    result *results = NULL;
    size_t num = 0;
    psfm_options_init(&psfm_guided_option_table, &m.options);
    if (options != NULL)
        m.options = *options;
    *out = (psfm_guided_matches){0};
    psfm_status status = psfm_options_check(ctx, &psfm_guided_option_table, &m.options);
    if (status == PSFM_OK)
        status = alloc_matcher(ctx, input->pair, &m, &results);
    for (size_t k = 0; status == PSFM_OK && k < input->num_guides; ++k) {
        const psfm_guide *guide = &input->guides[k];
        hull region = {0};
        if (guide->num_inliers < (size_t)m.options.min_inliers ||
            !psfm_mat3_inverse(guide->H_21, m.H_12))
            continue;
        status = make_hull(ctx, m.view1, input->pair, guide, m.options.region_margin, &region);
        if (status == PSFM_OK)
            status = follow(ctx, &m, &region, guide);
        if (status == PSFM_OK)
            num += take_agreements(&m, (uint32_t)k, results);
        free(region.corners);
    }
    if (status == PSFM_OK)
        status = list_results(ctx, results, m.view1->num_keypoints, num, out);
    free(m.free1);
    free(m.free2);
    free(m.choice1);
    free(m.choice2);
    free(results);
    return status;
}
