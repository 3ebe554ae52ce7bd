/* Focal lengths from pairs of cameras about a cloud of points, by rigs whose degeneracies are
 * known. */
#include "test_util.h"

#include "calib/focal_pairs.h"
#include "camera/camera_origin.h"
#include "linalg/mat3.h"
#include "view/match_set.h"

enum { MAX_CAMERAS = 16, NUM_POINTS = 400 };

#define WIDTH 1280
#define HEIGHT 720

typedef struct {
    size_t num;
    bool shared;
    double R[MAX_CAMERAS][9], center[MAX_CAMERAS][3], focal[MAX_CAMERAS]; /* focal in pixels */
    double bend; /* radial coefficient of all lenses */
    double noise_px, outliers;
    psfm_match_set set;
} rig;

static void look_at(rig *r, size_t k, const double center[3], const double target[3], double roll) {
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
static void place_ring(rig *r, psfm_rng *rng, double scatter) {
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
static bool see(const rig *r, psfm_rng *rng, size_t k, const double X[3], double xy[2]) {
    double from[3], ray[3];
    psfm_axpy3(X, -1.0, r->center[k], from);
    psfm_mat3_mul_vec(r->R[k], from, ray);
    double x = ray[0] / ray[2], y = ray[1] / ray[2], s = 1.0 + r->bend * (x * x + y * y);
    xy[0] = 0.5 * WIDTH + r->focal[k] * s * x + r->noise_px * psfm_rng_normal(rng);
    xy[1] = 0.5 * HEIGHT + r->focal[k] * s * y + r->noise_px * psfm_rng_normal(rng);
    return ray[2] > 0.1 && xy[0] > 0 && xy[0] < WIDTH && xy[1] > 0 && xy[1] < HEIGHT;
}

/* All points as keypoints of all views, by their numbers; those not seen are in no match. */
static void fill_views(rig *r, psfm_rng *rng, const double (*points)[3], bool (*seen)[NUM_POINTS]) {
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

static void fill_pairs(rig *r, psfm_rng *rng, bool (*seen)[NUM_POINTS]) {
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
static void make_set(psfm_context *ctx, rig *r, psfm_rng *rng, double flat) {
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
static rig new_rig(psfm_rng *rng, bool shared) {
    rig r = {.num = 12, .shared = shared, .noise_px = 0.7, .outliers = 0.2};
    for (size_t k = 0; k < r.num; ++k)
        r.focal[k] = shared ? 1200.0 : 1200.0 * exp(psfm_rng_range(rng, -0.22, 0.22));
    return r;
}

static psfm_pair_estimate estimate(psfm_context *ctx, rig *r, double bend_sigma) {
    psfm_camera_knowledge known[MAX_CAMERAS];
    psfm_two_view_options options;
    psfm_two_view *two_views = calloc(r->set.num_pairs, sizeof *two_views);
    psfm_pair_estimate out;
    for (size_t c = 0; c < MAX_CAMERAS; ++c)
        known[c] = (psfm_camera_knowledge){.free = true, .bend_sigma = bend_sigma};
    psfm_options_init(&psfm_two_view_option_table, &options);
    options.estimate_essential = false;
    assert_ok(ctx, psfm_two_view_estimate_all(ctx, &r->set, &options, two_views));
    assert_ok(ctx, psfm_lenses_from_pairs(ctx, &r->set, two_views, &options, known, &out));
    for (size_t p = 0; p < r->set.num_pairs; ++p)
        psfm_two_view_free(&two_views[p]);
    free(two_views);
    return out;
}

/* Error of log f of a camera. */
static double error_of(const rig *r, const psfm_pair_estimate *e, size_t c) {
    return log(e->focal[c] * WIDTH / r->focal[c]);
}

static void exact_matches_give_exact_focal_lengths(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    rig r = new_rig(&rng, false);
    r.noise_px = r.outliers = 0.0;
    place_ring(&r, &rng, 0.2);
    make_set(ctx, &r, &rng, 1.0);
    psfm_pair_estimate e = estimate(ctx, &r, 0.0);
    assert_int_equal(e.num_pairs, 24);
    for (size_t c = 0; c < r.num; ++c)
        assert_below(fabs(error_of(&r, &e, c)), 1e-5);
    psfm_pair_estimate_free(&e);
    psfm_match_set_free(&r.set);
    psfm_context_destroy(&ctx);
}

static void noisy_matches_are_within_their_sigma(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        rig r = new_rig(&rng, seed == 0);
        place_ring(&r, &rng, 0.2);
        make_set(ctx, &r, &rng, 1.0);
        psfm_pair_estimate e = estimate(ctx, &r, 0.1);
        for (size_t c = 0; c < r.set.num_cameras; ++c) {
            assert_below(e.sigma[c], 0.05);
            assert_below(fabs(error_of(&r, &e, c)), 3.0 * e.sigma[c]);
            assert_close(e.bend[c], 0.0, 0.0); /* which nothing asks for */
        }
        psfm_pair_estimate_free(&e);
        psfm_match_set_free(&r.set);
    }
    psfm_context_destroy(&ctx);
}

/* Of a lens that bends a focal length would come out 5 % wrong. */
static void distortion_is_found_beside(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 2, 0);
    rig r = new_rig(&rng, true);
    r.bend = -0.1;
    place_ring(&r, &rng, 0.2);
    make_set(ctx, &r, &rng, 1.0);
    psfm_pair_estimate e = estimate(ctx, &r, 0.1);
    assert_below(fabs(error_of(&r, &e, 0)), 3.0 * e.sigma[0]);
    assert_below(e.sigma[0], 0.02);
    double strength = r.bend * WIDTH * WIDTH / (1200.0 * 1200.0);
    assert_close(e.bend[0], strength, 0.02);
    psfm_pair_estimate_free(&e);
    psfm_match_set_free(&r.set);
    psfm_context_destroy(&ctx);
}

static void assert_none_determined(psfm_context *ctx, rig *r) {
    psfm_pair_estimate e = estimate(ctx, r, 0.1);
    for (size_t c = 0; c < r->set.num_cameras; ++c) {
        assert_true(e.sigma[c] > 0.1);
        if (isfinite(e.sigma[c]))
            assert_below(fabs(error_of(r, &e, c)), 3.0 * e.sigma[c]);
    }
    psfm_pair_estimate_free(&e);
    psfm_match_set_free(&r->set);
}

/* Optical axes that meet, at the same distance from every camera: a turntable. */
static void a_turntable_determines_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int shared = 0; shared < 2; ++shared) {
        psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 3, 0);
        rig r = new_rig(&rng, shared == 1);
        place_ring(&r, &rng, 0.0);
        make_set(ctx, &r, &rng, 1.0);
        assert_none_determined(ctx, &r);
    }
    psfm_context_destroy(&ctx);
}

static void cameras_that_do_not_turn_determine_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int shared = 0; shared < 2; ++shared) {
        psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 4, 0);
        rig r = new_rig(&rng, shared == 1);
        for (size_t k = 0; k < r.num; ++k) {
            double center[3] = {-2.2, 0.4 * psfm_rng_normal(&rng), 0.4 * psfm_rng_normal(&rng)};
            double target[3] = {0.0, center[1], center[2]};
            look_at(&r, k, center, target, 0.0);
        }
        make_set(ctx, &r, &rng, 1.0);
        assert_none_determined(ctx, &r);
    }
    psfm_context_destroy(&ctx);
}

static void a_plane_determines_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(8, PSFM_RNG_TEST, 5, 0);
    rig r = new_rig(&rng, true);
    place_ring(&r, &rng, 0.2);
    make_set(ctx, &r, &rng, 0.0);
    assert_none_determined(ctx, &r);
    psfm_context_destroy(&ctx);
}

/* Derivatives of what a pair costs, its motion following, by the focal lengths. */
static void information_has_the_gradient_of_the_cost(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 6, 0);
    rig r = new_rig(&rng, false);
    psfm_two_view none[24] = {0};
    bool wanted[24] = {true, true, true};
    psfm_two_view_options options;
    psfm_measured_pairs measured;
    psfm_options_init(&psfm_two_view_option_table, &options);
    place_ring(&r, &rng, 0.2);
    make_set(ctx, &r, &rng, 1.0);
    assert_ok(ctx, psfm_measured_pairs_init(ctx, &r.set, none, wanted, &options, &measured));
    assert_int_equal(measured.num, 3);
    for (size_t p = 0; p < 3; ++p) {
        const psfm_measured_pair *pair = &measured.items[p];
        psfm_pair_lenses lenses = {{{1.2, 1.2}, {1.2, 1.2}}, {0.78, 0.8}};
        psfm_lens_information at;
        psfm_motion motion;
        assert_true(psfm_pair_motion_start(pair, &lenses, &motion));
        psfm_pair_motion_refine(pair, &lenses, 100, &motion);
        assert_true(psfm_pair_information(pair, &lenses, &motion, false, &at));
        for (int side = 0; side < 2; ++side) {
            double cost[2];
            for (int k = 0; k < 2; ++k) {
                psfm_pair_lenses moved = lenses;
                psfm_motion follows = motion;
                moved.factor[side] *= exp(k == 0 ? -1e-3 : 1e-3);
                cost[k] = psfm_pair_motion_refine(pair, &moved, 100, &follows);
            }
            double slope = (cost[1] - cost[0]) / 2e-3, expected = 2.0 * at.g[PSFM_LENS_DIM * side];
            assert_close(slope, expected, 0.03 * fabs(expected) + 1.0);
        }
    }
    psfm_measured_pairs_free(&measured);
    psfm_match_set_free(&r.set);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_matches_give_exact_focal_lengths),
        cmocka_unit_test(noisy_matches_are_within_their_sigma),
        cmocka_unit_test(distortion_is_found_beside),
        cmocka_unit_test(a_turntable_determines_nothing),
        cmocka_unit_test(cameras_that_do_not_turn_determine_nothing),
        cmocka_unit_test(a_plane_determines_nothing),
        cmocka_unit_test(information_has_the_gradient_of_the_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
