/* Focal lengths from pairs of cameras about a cloud of points, by rigs whose degeneracies are
 * known. */
#include "unit/core/calibration/pair_rig.h"

#include "core/calibration/focal_pairs.h"

static psfm_pair_estimate estimate(psfm_context *ctx, rig *r, double k1_sigma) {
    psfm_camera_knowledge known[MAX_CAMERAS];
    psfm_two_view_options options;
    psfm_two_view *two_views = calloc(r->set.num_pairs, sizeof *two_views);
    psfm_pair_estimate out;
    for (size_t c = 0; c < MAX_CAMERAS; ++c)
        known[c] = (psfm_camera_knowledge){.free = true, .k1_sigma = k1_sigma};
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
    double squares = 0.0, num = 0.0;
    for (uint64_t seed = 0; seed < 3; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        rig r = new_rig(&rng, seed == 0);
        place_ring(&r, &rng, 0.2);
        make_set(ctx, &r, &rng, 1.0);
        psfm_pair_estimate e = estimate(ctx, &r, 0.1);
        for (size_t c = 0; c < r.set.num_cameras; ++c) {
            assert_below(e.sigma[c], 0.05);
            assert_below(fabs(error_of(&r, &e, c)), 3.0 * e.sigma[c]);
            assert_close(e.k1[c], 0.0, 0.0); /* which nothing asks for */
            squares += pow(error_of(&r, &e, c) / e.sigma[c], 2.0);
            num += 1.0;
        }
        psfm_pair_estimate_free(&e);
        psfm_match_set_free(&r.set);
    }
    assert_true(sqrt(squares / num) > 0.2 && sqrt(squares / num) < 1.3);
    psfm_context_destroy(&ctx);
}

/* Of a lens with distortion a focal length would come out 5 % wrong. */
static void distortion_is_found_beside(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 2, 0);
    rig r = new_rig(&rng, true);
    r.k1 = -0.1;
    place_ring(&r, &rng, 0.2);
    make_set(ctx, &r, &rng, 1.0);
    psfm_pair_estimate e = estimate(ctx, &r, 0.1);
    assert_below(fabs(error_of(&r, &e, 0)), 3.0 * e.sigma[0]);
    assert_below(e.sigma[0], 0.02);
    double strength = r.k1 * WIDTH * WIDTH / (1200.0 * 1200.0);
    assert_close(e.k1[0], strength, 0.02);
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

/* What is known stays, and makes what is found beside it surer. Cameras of which nothing can be
 * used, as a fisheye and one that planes say nothing of, take no part. */
static void known_cameras_help_and_unusable_ones_do_not(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_two_view_options options;
    double sigma[2];
    psfm_options_init(&psfm_two_view_option_table, &options);
    for (int known = 0; known < 2; ++known) {
        psfm_rng rng = psfm_rng_make(10, PSFM_RNG_TEST, 7, 0);
        rig r = new_rig(&rng, false);
        psfm_camera_knowledge knowledge[MAX_CAMERAS] = {{0}};
        psfm_two_view none[24] = {{0}};
        psfm_pair_estimate e;
        place_ring(&r, &rng, 0.2);
        make_set(ctx, &r, &rng, 1.0);
        for (size_t c = 0; c < r.num; ++c) {
            bool free = !known || c % 3 == 0;
            knowledge[c] = (psfm_camera_knowledge){
                .free = free, .focal = r.focal[c] / WIDTH, .sigma = 1e-3, .is_certain = true};
        }
        if (known) {
            knowledge[1].sigma = INFINITY;
            r.set.cameras[2].model = PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE;
        }
        assert_ok(ctx, psfm_focal_from_pairs(ctx, &r.set, none, &options, knowledge, &e));
        assert_int_equal(e.num_pairs, known ? 12 : 24);
        for (size_t c = 0; c < r.num; ++c) {
            if (known && c % 3 != 0) {
                assert_true(isinf(e.sigma[c]));
                assert_below(fabs(error_of(&r, &e, c)), 5e-3);
            } else {
                assert_below(fabs(error_of(&r, &e, c)), 3.0 * e.sigma[c]);
            }
        }
        sigma[known] = e.sigma[6];
        psfm_pair_estimate_free(&e);
        assert_null(e.focal);
        psfm_match_set_free(&r.set);
    }
    assert_below(sigma[1], sigma[0]);
    psfm_context_destroy(&ctx);
}

static void nothing_in_nothing_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(11, PSFM_RNG_TEST, 8, 0);
    rig r = new_rig(&rng, false);
    place_ring(&r, &rng, 0.2);
    make_set(ctx, &r, &rng, 1.0);
    for (size_t p = 0; p < r.set.num_pairs; ++p)
        r.set.pairs[p].num_matches = 0;
    psfm_pair_estimate e = estimate(ctx, &r, 0.1);
    assert_int_equal(e.num_pairs, 0);
    assert_false(e.asks_k1);
    for (size_t c = 0; c < r.num; ++c)
        assert_true(isinf(e.sigma[c]) && e.k1[c] == 0.0);
    psfm_pair_estimate_free(&e);
    psfm_match_set_free(&r.set);
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
        cmocka_unit_test(known_cameras_help_and_unusable_ones_do_not),
        cmocka_unit_test(nothing_in_nothing_out),
        cmocka_unit_test(information_has_the_gradient_of_the_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
