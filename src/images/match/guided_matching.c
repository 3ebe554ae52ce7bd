/* Matching again along homographies.
 *
 * A keypoint of image 1 without a match, inside the grown hull of a homography's inliers, can only
 * go to keypoints within a few pixels of where the homography puts it. Among these the descriptors
 * are compared as in the first matching: nearest, ratio to the second, the same from the other
 * side. Repeated texture, which fails the ratio test over the whole image, passes it there.
 * Homographies are followed in the order given; what one has matched is no candidate of the next.
 *
 * Candidates come from a grid over the rays whose cells are as large as the
 * allowed error, so the cost is that of the few descriptors compared. */
#include "images/match/guided_matching.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/convex_hull.h"
#include "core/linalg/mat3.h"
#include "images/match/nearest_score.h"

/* ---- a grid of rays ---- */

/* A hash grid over unit vectors. Space is cut into cubes as large as the search radius, so that
 * all rays within the radius of a direction are in the 27 cubes round it. Unlike a grid over
 * pixels it serves any lens. O(1) per visit and neighbour. */

/* Unit rays in cubes of space of side `cell`, hashed. Owns its arrays. */
typedef struct {
    double cell;
    size_t num_buckets; /* a power of two */
    uint32_t *heads;    /* per bucket: index into entries + 1, 0 for none */
    struct ray_entry {
        int32_t cube[3];
        uint32_t idx, next;
    } * entries;
    size_t num;
} ray_grid;

static size_t bucket_of(const ray_grid *grid, const int32_t cube[3]) {
    uint64_t h = (uint64_t)(uint32_t)cube[0] * 0x9e3779b97f4a7c15U;
    h = (h ^ (uint32_t)cube[1]) * 0xbf58476d1ce4e5b9U;
    h = (h ^ (uint32_t)cube[2]) * 0x94d049bb133111ebU;
    return (size_t)(h >> 32) & (grid->num_buckets - 1);
}

static void cube_of(const ray_grid *grid, const double ray[3], int32_t cube[3]) {
    for (int k = 0; k < 3; ++k)
        cube[k] = (int32_t)floor(ray[k] / grid->cell);
}

static void free_grid(ray_grid *grid) {
    free(grid->heads);
    free(grid->entries);
    *grid = (ray_grid){0};
}

/* Takes the rays with wanted[k]; zero rays are left out. */
static psfm_status init_grid(psfm_context *ctx, const double (*rays)[3], size_t num,
                             const bool *wanted, double cell, ray_grid *grid) {
    ray_grid made = {.cell = cell, .num_buckets = 64};
    while (made.num_buckets < 2 * num)
        made.num_buckets *= 2;
    psfm_status status = PSFM_ALLOC(ctx, made.num_buckets, &made.heads);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &made.entries);
    if (status != PSFM_OK) {
        free_grid(&made);
        *grid = made;
        return status;
    }
    for (size_t k = 0; k < num; ++k) {
        if (!wanted[k] || (rays[k][0] == 0.0 && rays[k][1] == 0.0 && rays[k][2] == 0.0))
            continue;
        struct ray_entry *entry = &made.entries[made.num++];
        cube_of(&made, rays[k], entry->cube);
        uint32_t *head = &made.heads[bucket_of(&made, entry->cube)];
        entry->idx = (uint32_t)k;
        entry->next = *head;
        *head = (uint32_t)made.num;
    }
    *grid = made;
    return PSFM_OK;
}

/* A bucket may hold other cubes too, so each entry's own is compared. */
static void visit_cube(const ray_grid *grid, const int32_t cube[3],
                       void (*visit)(uint32_t idx, void *user), void *user) {
    for (uint32_t k = grid->heads[bucket_of(grid, cube)]; k != 0;) {
        const struct ray_entry *entry = &grid->entries[k - 1];
        if (entry->cube[0] == cube[0] && entry->cube[1] == cube[1] && entry->cube[2] == cube[2])
            visit(entry->idx, user);
        k = entry->next;
    }
}

/* Calls `visit` for every ray in the 27 cubes round a unit direction: all within `cell` of it, and
 * some beyond. */
static void visit_rays(const ray_grid *grid, const double direction[3],
                       void (*visit)(uint32_t idx, void *user), void *user) {
    int32_t centre[3];
    cube_of(grid, direction, centre);
    for (int32_t k = 0; k < 27; ++k) {
        const int32_t cube[3] = {centre[0] + k % 3 - 1, centre[1] + k / 3 % 3 - 1,
                                 centre[2] + k / 9 - 1};
        visit_cube(grid, cube, visit, user);
    }
}

/* ---- guided matching ---- */

#define MAX_ERROR_PX 2.0   /* of the transfer of a new match, in either image */
#define MAX_RATIO 0.9F     /* of descriptor angles, best over second best within that error */
#define MAX_DISTANCE 0.7F  /* between descriptors, in radians */
#define REGION_MARGIN 0.25 /* by which the hull of the inliers grows, as a share of its size */

static const psfm_option rows[] = {
    PSFM_OPTION_BOOL(psfm_guided_options, enabled, "enabled", 1,
                     "match again along the homographies of each pair"),
};
const psfm_option_table psfm_guided_option_table = PSFM_OPTION_TABLE("guided", rows);

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

static double turn_area(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Corners of the hull, moved away from their mean by a share of their distance from it. */
static void grow_hull(const double (*points)[2], const uint32_t *corners, hull *out) {
    double centre[2] = {0.0, 0.0};
    for (size_t k = 0; k < out->num; ++k)
        for (int c = 0; c < 2; ++c)
            centre[c] += points[corners[k]][c] / (double)out->num;
    for (size_t k = 0; k < out->num; ++k)
        for (int c = 0; c < 2; ++c) {
            double corner = points[corners[k]][c];
            out->corners[k][c] = corner + REGION_MARGIN * (corner - centre[c]);
        }
}

static psfm_status make_hull(psfm_context *ctx, const psfm_view *view, const psfm_match_pair *pair,
                             const psfm_guide *guide, hull *out) {
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
        grow_hull((const double(*)[2])points, corners, out);
    }
    free(corners);
    free(points);
    return status;
}

static bool is_inside(const hull *h, const double p[2]) {
    if (h->num < 3)
        return false;
    for (size_t k = 0; k < h->num; ++k)
        if (!(turn_area(h->corners[k], h->corners[(k + 1) % h->num], p) >= 0.0))
            return false;
    return true;
}

/* ---- candidates and their choice ---- */

/* Best two of the candidates of one keypoint. */
typedef struct {
    int32_t best, second;
    uint32_t idx;
} choice;

static void consider_product(choice *c, int32_t product, uint32_t idx) {
    if (product > c->best)
        c->idx = idx;
    psfm_nearest_fold(product, &c->best, &c->second);
}

typedef struct {
    const psfm_view *view1, *view2;
    const uint8_t *descriptors1, *descriptors2;
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

static void visit_keypoint(uint32_t j, void *user) {
    matcher *m = user;
    double ray1[3];
    if (!(error_px(m->view2, j, m->ray2) <= MAX_ERROR_PX))
        return;
    psfm_mat3_mul_vec(m->H_12, m->view2->rays[j], ray1);
    if (!(error_px(m->view1, m->i, ray1) <= MAX_ERROR_PX))
        return;
    int32_t product = m->dot(m->descriptors1 + (size_t)m->i * PSFM_SIFT_SIZE,
                             m->descriptors2 + (size_t)j * PSFM_SIFT_SIZE);
    consider_product(&m->choice1[m->i], product, j);
    consider_product(&m->choice2[j], product, m->i);
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

static bool choices_agree(const matcher *m, uint32_t i) {
    psfm_nearest_rule rule = {MAX_RATIO, MAX_DISTANCE};
    const choice *here = &m->choice1[i];
    if (!psfm_nearest_rule_passes(&rule, here->best, here->second))
        return false;
    const choice *back = &m->choice2[here->idx];
    return back->idx == i && psfm_nearest_rule_passes(&rule, back->best, back->second);
}

/* Chooses along one homography; the agreements wait in choice1 and choice2. */
static psfm_status follow_homography(psfm_context *ctx, matcher *m, const hull *region,
                                     const psfm_guide *guide) {
    ray_grid grid;
    const psfm_view *view1 = m->view1, *view2 = m->view2;
    double cell = largest_angle(view2, MAX_ERROR_PX);
    psfm_status status = init_grid(ctx, (const double(*)[3])view2->rays, view2->num_keypoints,
                                   m->free2, cell, &grid);
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
            visit_rays(&grid, m->ray2, visit_keypoint, m);
    }
    free_grid(&grid);
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
        if (!m->free1[i] || !choices_agree(m, i))
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
                              psfm_guided_matches *out) {
    matcher m = {.view1 = input->view1,
                 .view2 = input->view2,
                 .descriptors1 = input->descriptors1,
                 .descriptors2 = input->descriptors2,
                 .dot = psfm_nearest_kernel_choose()->dot};
    result *results = NULL;
    size_t num = 0;
    *out = (psfm_guided_matches){0};
    psfm_status status = alloc_matcher(ctx, input->pair, &m, &results);
    for (size_t k = 0; status == PSFM_OK && k < input->num_guides; ++k) {
        const psfm_guide *guide = &input->guides[k];
        hull region = {0};
        if (guide->num_inliers < PSFM_GUIDE_MIN_INLIERS || !psfm_mat3_inverse(guide->H_21, m.H_12))
            continue;
        status = make_hull(ctx, m.view1, input->pair, guide, &region);
        if (status == PSFM_OK)
            status = follow_homography(ctx, &m, &region, guide);
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
