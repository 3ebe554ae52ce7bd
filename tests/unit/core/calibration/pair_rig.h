/* Pairs of cameras about a cloud of points, as matches whose truth is known. */
#ifndef PSFM_TESTS_PAIR_RIG_H
#define PSFM_TESTS_PAIR_RIG_H

#include "test_util.h"

#include "core/base/rng.h"
#include "core/camera/camera_origin.h"
#include "core/linalg/mat3.h"
#include "core/twoview/two_view.h"

enum { MAX_CAMERAS = 16, NUM_POINTS = 400 };

#define WIDTH 1280
#define HEIGHT 720

typedef struct {
    size_t num;
    bool shared;
    double R[MAX_CAMERAS][9], center[MAX_CAMERAS][3], focal[MAX_CAMERAS]; /* focal in pixels */
    double k1; /* radial coefficient of all lenses */
    double noise_px, outliers;
    psfm_match_set set;
} rig;

static inline void look_at(rig *r, size_t k, const double center[3], const double target[3],
                           double roll) {
    double x[3], y[3], z[3], up[3] = {0.1, 0.05, 1.0}, turn[9], R[9];
    const double axis[3] = {0.0, 0.0, roll};
    psfm_axpy3(target, -1.0, center, z);
    psfm_normalize3(z);
    psfm_cross3(z, up, x);
    psfm_normalize3(x);
    psfm_cross3(z, x, y);
    for (size_t i = 0; i < 3; ++i) {
        R[i] = x[i];
        R[3 + i] = y[i];
        R[6 + i] = z[i];
    }
    psfm_rotation_exp(axis, turn);
    psfm_mat3_mul(turn, R, r->R[k]);
    memcpy(r->center[k], center, sizeof r->center[k]);
}

/* On a circle about the cloud; the targets are scattered about its middle. */
static inline void place_ring(rig *r, psfm_rng *rng, double scatter) {
    for (size_t k = 0; k < r->num; ++k) {
        double angle = 6.283185307 * (double)k / (double)r->num;
        double center[3] = {2.2 * cos(angle), 2.2 * sin(angle), 0.8}, target[3];
        for (int i = 0; i < 3; ++i) {
            center[i] += scatter * psfm_rng_normal(rng);
            target[i] = scatter * psfm_rng_normal(rng);
        }
        look_at(r, k, center, target, scatter * psfm_rng_normal(rng));
    }
}

/* Pixel of a point in camera k, with noise; false if it is not in the image. */
static inline bool see(const rig *r, psfm_rng *rng, size_t k, const double X[3], double xy[2]) {
    double from[3], ray[3];
    psfm_axpy3(X, -1.0, r->center[k], from);
    psfm_mat3_mul_vec(r->R[k], from, ray);
    double x = ray[0] / ray[2], y = ray[1] / ray[2], s = 1.0 + r->k1 * (x * x + y * y);
    xy[0] = 0.5 * WIDTH + r->focal[k] * s * x + r->noise_px * psfm_rng_normal(rng);
    xy[1] = 0.5 * HEIGHT + r->focal[k] * s * y + r->noise_px * psfm_rng_normal(rng);
    return ray[2] > 0.1 && xy[0] > 0 && xy[0] < WIDTH && xy[1] > 0 && xy[1] < HEIGHT;
}

/* All points as keypoints of all views, by their numbers; those not seen are in no match. */
static inline void fill_views(rig *r, psfm_rng *rng, const double (*points)[3],
                              bool (*seen)[NUM_POINTS]) {
    psfm_match_set *set = &r->set;
    for (size_t k = 0; k < r->num; ++k) {
        psfm_view *view = &set->views[k];
        char name[16];
        snprintf(name, sizeof name, "%02zu.jpg", k);
        view->name = strdup(name);
        view->camera_idx = r->shared ? 0 : (uint32_t)k;
        view->num_keypoints = NUM_POINTS;
        view->keypoints = calloc(NUM_POINTS, sizeof *view->keypoints);
        for (size_t i = 0; i < NUM_POINTS; ++i)
            seen[k][i] = see(r, rng, k, points[i], view->keypoints[i]);
    }
}

static inline void fill_pairs(rig *r, psfm_rng *rng, bool (*seen)[NUM_POINTS]) {
    psfm_match_set *set = &r->set;
    set->pairs = calloc(2 * r->num, sizeof *set->pairs);
    for (size_t k = 0; k < r->num; ++k)
        for (size_t step = 1; step <= 2; ++step) {
            size_t other = (k + step) % r->num;
            psfm_match_pair *pair = &set->pairs[set->num_pairs++];
            pair->view1 = (uint32_t)(k < other ? k : other);
            pair->view2 = (uint32_t)(k < other ? other : k);
            pair->matches = calloc(NUM_POINTS, sizeof *pair->matches);
            for (uint32_t i = 0; i < NUM_POINTS; ++i) {
                if (!seen[k][i] || !seen[other][i])
                    continue;
                uint32_t *match = pair->matches[pair->num_matches++];
                match[0] = match[1] = i;
                while (psfm_rng_uniform(rng) < r->outliers || !seen[pair->view2][match[1]])
                    match[1] = (uint32_t)psfm_rng_below(rng, NUM_POINTS);
            }
        }
}

/* The match set of a rig, whose cameras are at the guess. flat is the share of the points' height
 * that is left. */
static inline void make_set(psfm_context *ctx, rig *r, psfm_rng *rng, double flat) {
    double(*points)[3] = calloc(NUM_POINTS, sizeof *points);
    bool(*seen)[NUM_POINTS] = calloc(MAX_CAMERAS, sizeof *seen);
    psfm_match_set *set = &r->set;
    for (size_t i = 0; i < NUM_POINTS; ++i) {
        psfm_rng_direction(rng, points[i]);
        psfm_scale3(cbrt(psfm_rng_uniform(rng)), points[i], points[i]);
        points[i][2] *= flat;
    }
    *set = (psfm_match_set){0};
    set->num_views = r->num;
    set->views = calloc(r->num, sizeof *set->views);
    set->num_cameras = r->shared ? 1 : r->num;
    set->cameras = calloc(set->num_cameras, sizeof *set->cameras);
    for (size_t c = 0; c < set->num_cameras; ++c)
        set->cameras[c] = psfm_camera_simple(WIDTH, HEIGHT, PSFM_GUESS_FACTOR * WIDTH);
    fill_views(r, rng, (const double(*)[3])points, seen);
    fill_pairs(r, rng, seen);
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
    free(points);
    free(seen);
}

/* A rig of 12 cameras, each with its own focal length unless shared. */
static inline rig new_rig(psfm_rng *rng, bool shared) {
    rig r = {.num = 12, .shared = shared, .noise_px = 0.7, .outliers = 0.2};
    for (size_t k = 0; k < r.num; ++k)
        r.focal[k] = shared ? 1200.0 : 1200.0 * exp(psfm_rng_range(rng, -0.22, 0.22));
    return r;
}

#endif
