#include "unit/core/calibration/plane_rig.h"

static void noise_free_views_give_their_focal_lengths_exactly(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
        rig r = {.num = 8};
        for (size_t k = 0; k < r.num; ++k)
            r.f[k] = psfm_rng_range(&rng, 0.7, 1.8);
        place_ring(&r, &rng);
        add_ring(&r, &rng, 2, 2.5);
        psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
        for (size_t k = 0; k < r.num; ++k) {
            assert_close(out.focal[k] / r.f[k], 1.0, 1e-9);
            assert_below(out.sigma[k], DETERMINED);
        }
        assert_int_equal(out.num_planes, 1);
        assert_int_equal(out.num_homographies, 16);
        psfm_focal_estimate_free(&out);
        free_rig(&r);
    }
    psfm_context_destroy(&ctx);
}

static void noisy_views_are_within_their_sigma(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        rig r = {.num = 12, .sigma = 0.7 / 1280.0};
        for (size_t k = 0; k < r.num; ++k)
            r.f[k] = psfm_rng_range(&rng, 0.8, 1.25);
        place_ring(&r, &rng);
        add_ring(&r, &rng, 2, 2.5);
        psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
        for (size_t k = 0; k < r.num; ++k) {
            assert_below(fabs(log(out.focal[k] / r.f[k])), 0.01);
            assert_below(fabs(log(out.focal[k] / r.f[k])), 4.0 * out.sigma[k]);
            assert_below(out.sigma[k], DETERMINED);
        }
        psfm_focal_estimate_free(&out);
        free_rig(&r);
    }
    psfm_context_destroy(&ctx);
}

/* Principal points that are off move focal lengths by what the standard deviations say, no more and
 * not much less, however many homographies a view has. */
static void principal_points_that_are_off_are_in_sigma(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double sum = 0.0;
    for (uint64_t seed = 0; seed < 4; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 12, 0);
        rig r = {.num = 64, .sigma = 0.7 / 1280.0};
        for (size_t k = 0; k < r.num; ++k) {
            r.f[k] = psfm_rng_range(&rng, 0.8, 1.25);
            for (int i = 0; i < 2; ++i)
                r.middle[k][i] = 0.005 * psfm_rng_normal(&rng);
        }
        place_ring(&r, &rng);
        add_ring(&r, &rng, 5, 2.5);
        psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
        for (size_t k = 0; k < r.num; ++k) {
            double off = log(out.focal[k] / r.f[k]) / out.sigma[k];
            assert_below(fabs(off), 4.0);
            sum += off * off / (4.0 * (double)r.num);
        }
        psfm_focal_estimate_free(&out);
        free_rig(&r);
    }
    assert_below(sqrt(sum), 1.2);
    assert_below(0.4, sqrt(sum));
    psfm_context_destroy(&ctx);
}

/* More views than are searched at once: the solution grows from a part of the ring. */
static void solutions_grow_to_all_views_of_a_large_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int noisy = 0; noisy < 2; ++noisy) {
        psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 7, 0);
        rig r = {.num = MAX_VIEWS, .sigma = noisy ? 0.7 / 1280.0 : 0.0};
        for (size_t k = 0; k < r.num; ++k)
            r.f[k] = psfm_rng_range(&rng, 0.8, 1.6);
        place_ring(&r, &rng);
        add_ring(&r, &rng, 2, 2.5);
        psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
        assert_int_equal(out.num_homographies, 2 * MAX_VIEWS);
        for (size_t k = 0; k < r.num; ++k) {
            double off = fabs(log(out.focal[k] / r.f[k]));
            assert_below(off, noisy ? fmin(0.015, 4.0 * out.sigma[k]) : 1e-9);
            assert_below(out.sigma[k], DETERMINED);
        }
        psfm_focal_estimate_free(&out);
        free_rig(&r);
    }
    psfm_context_destroy(&ctx);
}

/* Measurements that say nothing about distortion leave it at its prior. */
static void distortion_that_nothing_tells_stays_at_its_prior(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(8, PSFM_RNG_TEST, 8, 0);
    rig r = {.num = 8, .sigma = 0.7 / 1280.0};
    uint32_t group[8];
    double known[8] = {0}, prior[8], prior_sigma[8];
    for (uint32_t k = 0; k < 8; ++k) {
        r.f[k] = psfm_rng_range(&rng, 0.8, 1.25);
        group[k] = k;
        prior[k] = 0.01 * k;
        prior_sigma[k] = k % 2 == 0 ? 0.1 : 0.0;
    }
    place_ring(&r, &rng);
    add_ring(&r, &rng, 2, 2.5);
    psfm_measured_planes measured = measured_by(&r);
    psfm_focal_input input = {8, 8, group, known, prior, prior_sigma};
    psfm_focal_estimate out;
    assert_ok(ctx, psfm_focal_from_planes(ctx, &measured, &input, NULL, &out));
    for (size_t k = 0; k < 8; ++k) {
        assert_close(out.k1[k], prior[k], 1e-12);
        assert_close(out.k1_sigma[k], prior_sigma[k], 1e-9);
        assert_below(fabs(log(out.focal[k] / r.f[k])), 0.01);
    }
    psfm_focal_estimate_free(&out);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

static void three_views_determine_one_shared_focal_length_but_not_three(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 2, 0);
    rig r = {.num = 3, .f = {1.1, 1.1, 1.1}, .sigma = 1e-5};
    place_ring(&r, &rng);
    add_pair(&r, &rng, 0, 1, 2.5);
    add_pair(&r, &rng, 0, 2, 2.5);
    add_pair(&r, &rng, 1, 2, 2.5);
    psfm_focal_estimate out = estimate(ctx, &r, true, NULL);
    assert_close(out.focal[0], 1.1, 0.003);
    assert_below(out.sigma[0], DETERMINED);
    psfm_focal_estimate_free(&out);
    out = estimate(ctx, &r, false, NULL);
    for (int k = 0; k < 3; ++k)
        assert_true(isinf(out.sigma[k]));
    psfm_focal_estimate_free(&out);
    double known[MAX_VIEWS] = {1.1, 1.1, 0.0}; /* two known ones leave one unknown */
    out = estimate(ctx, &r, false, known);
    assert_close(out.focal[2], 1.1, 0.003);
    assert_close(out.sigma[0], 0.0, 0.0);
    psfm_focal_estimate_free(&out);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

static void homographies_of_another_motion_are_outvoted(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 6, 0);
    rig r = {.num = 16, .sigma = 0.5 / 1280.0};
    for (size_t k = 0; k < r.num; ++k)
        r.f[k] = psfm_rng_range(&rng, 0.9, 1.3);
    place_ring(&r, &rng);
    add_ring(&r, &rng, 2, 2.5);
    for (size_t k = 3; k < r.num_planes; k += 11) { /* seen as another pair saw it */
        memcpy(r.planes[k].H, r.planes[k + 1].H, sizeof r.planes[k].H);
        memcpy(r.planes[k].information, r.planes[k + 1].information,
               sizeof r.planes[k].information);
    }
    psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
    for (size_t k = 0; k < r.num; ++k)
        assert_below(fabs(log(out.focal[k] / r.f[k])), 0.015);
    psfm_focal_estimate_free(&out);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

/* Some pairs see only the floor, others only a slope at its edge, whose points there are on both.
 */
static void a_floor_and_a_slope_are_not_taken_for_one_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 4; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 9, 0);
        rig r = {.num = 16, .sigma = 0.5 / 1280.0, .edge = 2.0};
        for (size_t k = 0; k < r.num; ++k)
            r.f[k] = psfm_rng_range(&rng, 0.8, 1.25);
        place_ring(&r, &rng);
        for (size_t i = 0; i < r.num; ++i) {
            r.slope = i < r.num / 2 ? 0.0 : 0.5;
            r.next_keypoint = i < r.num / 2 ? 0 : GRID * (GRID - STRIP);
            for (size_t d = 1; d < 3; ++d) {
                size_t j = (i + d) % r.num;
                add_pair(&r, &rng, i < j ? i : j, i < j ? j : i, 2.0);
            }
        }
        psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
        for (size_t k = 0; k < r.num; ++k) {
            double off = fabs(log(out.focal[k] / r.f[k]));
            if (!(off < 4.0 * out.sigma[k] && off < 0.02))
                fail_msg("view %zu: f is off by %g, called known to %g", k, off, out.sigma[k]);
        }
        assert_int_equal(out.num_planes, 2);
        psfm_focal_estimate_free(&out);
        free_rig(&r);
    }
    psfm_context_destroy(&ctx);
}

/* Homographies of a ring that are off by more than they say. There are few more of them than
 * unknowns, so that most of it goes into the focal lengths and little is left to be seen. */
static void rough_planes_are_called_no_surer_than_they_are(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double squares = 0.0;
    const int num_seeds = 6;
    for (int seed = 0; seed < num_seeds; ++seed) {
        psfm_rng rng = psfm_rng_make((uint64_t)seed, PSFM_RNG_TEST, 10, 0);
        rig r = {.num = 12, .sigma = 3.0 / 1280.0};
        for (size_t k = 0; k < r.num; ++k)
            r.f[k] = psfm_rng_range(&rng, 0.8, 1.25);
        place_ring(&r, &rng);
        add_ring(&r, &rng, 1, 2.5);
        for (size_t k = 0; k < r.num_planes; ++k) /* it says 0.1 px */
            for (int i = 0; i < 81; ++i)
                r.planes[k].information[i] *= 900.0;
        psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
        for (size_t k = 0; k < r.num; ++k) {
            double off = log(out.focal[k] / r.f[k]) / out.sigma[k];
            squares += off * off / (double)(r.num * (size_t)num_seeds);
        }
        psfm_focal_estimate_free(&out);
        free_rig(&r);
    }
    assert_below(sqrt(squares), 1.3);
    assert_below(0.3, sqrt(squares));
    psfm_context_destroy(&ctx);
}

static void nothing_in_nothing_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    rig r = {.num = 4};
    psfm_focal_estimate out = estimate(ctx, &r, false, NULL);
    for (int k = 0; k < 4; ++k)
        assert_true(isinf(out.sigma[k]));
    assert_int_equal(out.num_planes, 0);
    psfm_focal_estimate_free(&out);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_free_views_give_their_focal_lengths_exactly),
        cmocka_unit_test(noisy_views_are_within_their_sigma),
        cmocka_unit_test(principal_points_that_are_off_are_in_sigma),
        cmocka_unit_test(solutions_grow_to_all_views_of_a_large_plane),
        cmocka_unit_test(distortion_that_nothing_tells_stays_at_its_prior),
        cmocka_unit_test(three_views_determine_one_shared_focal_length_but_not_three),
        cmocka_unit_test(homographies_of_another_motion_are_outvoted),
        cmocka_unit_test(a_floor_and_a_slope_are_not_taken_for_one_plane),
        cmocka_unit_test(rough_planes_are_called_no_surer_than_they_are),
        cmocka_unit_test(nothing_in_nothing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
