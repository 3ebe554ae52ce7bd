#include "test_util.h"

#include "core/twoview/homography.h"
#include "unit/core/twoview/twoview_util.h"

static void four_points_give_the_homography(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 3000; ++round) {
        motion_case m = random_motion_case(&rng, 0.8, 1.0);
        double ray1[4][3], ray2[4][3], H[9];
        draw_rays(&rng, &m, 4, ray1, ray2);
        if (!psfm_homography_from_four((const double(*)[3])ray1, (const double(*)[3])ray2, H))
            continue; /* nearly collinear by chance; counted in the next test */
        assert_true(psfm_mat3_det(H) > 0.0);
        assert_same_up_to_scale(H, m.H_21, 1e-9);
        for (int k = 0; k < 4; ++k) {
            double y[3];
            psfm_mat3_mul_vec(H, ray1[k], y);
            assert_true(psfm_dot3(y, ray2[k]) > 0.0);
        }
    }
}

static void most_samples_of_a_plane_are_accepted(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    int num = 0;
    for (int round = 0; round < 1000; ++round) {
        motion_case m = random_motion_case(&rng, 0.8, 1.0);
        double ray1[4][3], ray2[4][3], H[9];
        draw_rays(&rng, &m, 4, ray1, ray2);
        num += psfm_homography_from_four((const double(*)[3])ray1, (const double(*)[3])ray2, H);
    }
    assert_true(num > 970);
}

static void a_flipped_triangle_is_rejected(void **state) {
    (void)state;
    const double square[4][3] = {{0, 0, 1}, {0.3, 0, 1}, {0.3, 0.3, 1}, {0, 0.3, 1}};
    double flipped[4][3], H[9];
    assert_true(psfm_homography_from_four(square, square, H));
    memcpy(flipped, square, sizeof square);
    memcpy(flipped[1], square[3], sizeof flipped[1]);
    memcpy(flipped[3], square[1], sizeof flipped[3]);
    assert_false(psfm_homography_from_four(square, (const double(*)[3])flipped, H));
    /* a bow tie: one point moved across the diagonal, so that only one triangle flips */
    const double dart[4][3] = {{0, 0, 1}, {0.3, 0, 1}, {0.1, 0.1, 1}, {0, 0.3, 1}};
    assert_false(psfm_homography_from_four(square, dart, H));
}

static void collinear_points_are_rejected(void **state) {
    (void)state;
    const double square[4][3] = {{0, 0, 1}, {0.3, 0, 1}, {0.3, 0.3, 1}, {0, 0.3, 1}};
    const double line[4][3] = {{0, 0, 1}, {0.3, 0, 1}, {0.6, 0, 1}, {0, 0.3, 1}};
    const double twice[4][3] = {{0, 0, 1}, {0, 0, 1}, {0.6, 0, 1}, {0, 0.3, 1}};
    double H[9];
    assert_false(psfm_homography_from_four(line, line, H));
    assert_false(psfm_homography_from_four(square, line, H));
    assert_false(psfm_homography_from_four(line, square, H));
    assert_false(psfm_homography_from_four(twice, twice, H));
}

static void linear_fit_is_exact_without_noise(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    for (uint64_t seed = 0; seed < 50; ++seed) {
        o.num_matches = 4 + 3 * seed;
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double H[9];
        assert_true(psfm_homography_fit(&pairs, pairs.num_blocks, H));
        assert_same_up_to_scale(H, s.H_21[0], 1e-8);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* Rays all around, as of a spherical image: nothing may rely on z > 0. */
static void linear_fit_works_on_the_whole_sphere(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    const double n[3] = {0, 0.6, 0.8}, t[3] = {0.2, -0.1, 0.3}, w[3] = {0.4, 1.0, -2.0};
    double R[9], H[9], estimate[9];
    psfm_rotation_exp(w, R);
    for (int k = 0; k < 9; ++k)
        H[k] = R[k] + t[k / 3] * n[k % 3];
    psfm_correspondences c = correspondences_alloc(100);
    for (size_t i = 0; i < c.num; ++i) {
        do {
            psfm_rng_direction(&rng, c.ray1[i]);
        } while (psfm_dot3(n, c.ray1[i]) < 0.1);
        psfm_mat3_mul_vec(H, c.ray1[i], c.ray2[i]);
        psfm_normalize3(c.ray2[i]);
        angular_pixels(c.ray1[i], 500.0, c.px1[i]);
        angular_pixels(c.ray2[i], 500.0, c.px2[i]);
    }
    psfm_ray_pairs pairs;
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &c, NULL, &pairs));
    assert_true(psfm_homography_fit(&pairs, pairs.num_blocks, estimate));
    assert_same_up_to_scale(estimate, H, 1e-10);
    psfm_ray_pairs_free(&pairs);
    correspondences_drop(&c);
}

static void linear_fit_knows_when_points_do_not_do(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 20;
    scene s = scene_make(&o, 1);
    for (size_t i = 0; i < 20; ++i) { /* all on one line of image 1 */
        double ray[3] = {0.01 * (double)i, 0.02 * (double)i, 1.0};
        memcpy(s.c.ray1[i], ray, sizeof ray);
        psfm_normalize3(s.c.ray1[i]);
        psfm_mat3_mul_vec(s.H_21[0], s.c.ray1[i], s.c.ray2[i]);
        psfm_normalize3(s.c.ray2[i]);
    }
    psfm_ray_pairs pairs = pairs_of(&s);
    double H[9];
    assert_false(psfm_homography_fit(&pairs, pairs.num_blocks, H));
    psfm_ray_pairs three = psfm_ray_pairs_head(&pairs, 1);
    three.num = 3;
    assert_false(psfm_homography_fit(&three, 1, H));
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

/* The squared length of the shortest move of both points that makes them agree, by Gauss-Newton on
 * the point in image 1 with exact projections. */
static double reprojection_error(const scene *s, const double H[9], size_t i) {
    scene_options o = scene_defaults();
    double u[2] = {s->xy1[i][0], s->xy1[i][1]}, cost = 0.0;
    for (int iteration = 0; iteration < 20; ++iteration) {
        double value[3][2], J[2][2], step = 1e-3;
        for (int k = 0; k < 3; ++k) {
            double v[2] = {u[0] + (k == 1 ? step : 0.0), u[1] + (k == 2 ? step : 0.0)};
            double ray[3], y[3], px[6];
            scene_unproject(&o.camera, v, ray);
            psfm_mat3_mul_vec(H, ray, y);
            assert_true(scene_project(&o.camera, y, value[k], px));
        }
        for (int r = 0; r < 2; ++r)
            for (int c = 0; c < 2; ++c)
                J[r][c] = (value[c + 1][r] - value[0][r]) / step;
        double e[2] = {value[0][0] - s->xy2[i][0], value[0][1] - s->xy2[i][1]};
        double d[2] = {u[0] - s->xy1[i][0], u[1] - s->xy1[i][1]};
        cost = e[0] * e[0] + e[1] * e[1] + d[0] * d[0] + d[1] * d[1];
        double a = 1 + J[0][0] * J[0][0] + J[1][0] * J[1][0],
               b = J[0][0] * J[0][1] + J[1][0] * J[1][1];
        double c = 1 + J[0][1] * J[0][1] + J[1][1] * J[1][1], det = a * c - b * b;
        double g0 = d[0] + J[0][0] * e[0] + J[1][0] * e[1],
               g1 = d[1] + J[0][1] * e[0] + J[1][1] * e[1];
        u[0] -= (c * g0 - b * g1) / det;
        u[1] -= (a * g1 - b * g0) / det;
    }
    return cost;
}

static void error_is_the_reprojection_error(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 100;
    o.noise_px = 1.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double squared[104];
        psfm_homography_errors(&pairs, s.H_21[0], squared);
        for (size_t i = 0; i < pairs.num; ++i) {
            double exact = reprojection_error(&s, s.H_21[0], pairs.row[i]);
            assert_close(sqrt(squared[i]), sqrt(exact), 0.02 * sqrt(exact) + 0.01);
        }
        for (size_t i = pairs.num; i < pairs.num_blocks * PSFM_LANES; ++i)
            assert_true(isinf(squared[i]));
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void error_does_not_depend_on_the_direction(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 100;
    o.noise_px = 1.0;
    scene s = scene_make(&o, 7);
    psfm_correspondences swapped = {s.c.num, s.c.ray2, s.c.ray1, s.c.px2, s.c.px1, s.c.match_idx};
    psfm_ray_pairs pairs, back;
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &s.c, NULL, &pairs));
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &swapped, NULL, &back));
    double H_12[9], forward[104], backward[104];
    assert_true(psfm_mat3_inverse(s.H_21[0], H_12));
    psfm_homography_errors(&pairs, s.H_21[0], forward);
    psfm_homography_errors(&back, H_12, backward);
    for (size_t i = 0; i < pairs.num; ++i)
        assert_close(sqrt(forward[i]), sqrt(backward[i]), 0.02 * sqrt(forward[i]) + 1e-3);
    psfm_ray_pairs_free(&pairs);
    psfm_ray_pairs_free(&back);
    scene_free(&s);
}

static void turned_away_rays_are_outliers(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 16;
    scene s = scene_make(&o, 3);
    psfm_ray_pairs pairs = pairs_of(&s);
    double H[9], squared[16];
    for (int k = 0; k < 9; ++k)
        H[k] = -s.H_21[0][k];
    psfm_homography_errors(&pairs, H, squared);
    for (int i = 0; i < 16; ++i)
        assert_true(isinf(squared[i]));
    assert_int_equal(psfm_homography_count(&pairs, H, 4.0), 0);
    assert_int_equal(psfm_homography_count(&pairs, s.H_21[0], 4.0), 16);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void cost_sums_the_losses(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 101;
    o.noise_px = 1.0;
    o.outliers = 0.3;
    scene s = scene_make(&o, 4);
    psfm_ray_pairs pairs = pairs_of(&s);
    double squared[104], truncated = 0.0, graded = 0.0;
    psfm_homography_errors(&pairs, s.H_21[0], squared);
    for (size_t i = 0; i < pairs.num; ++i) {
        truncated += fmin(squared[i], 16.0);
        graded +=
            (fmin(squared[i], 16.0) + fmin(4 * squared[i], 16.0) + fmin(16 * squared[i], 16.0)) / 3;
    }
    psfm_loss plain = {16.0, 0.0}, tight = {16.0, 1.0};
    assert_close(psfm_homography_cost(&pairs, s.H_21[0], plain, INFINITY), truncated, 1e-9);
    assert_close(psfm_homography_cost(&pairs, s.H_21[0], tight, INFINITY), graded, 1e-9);
    assert_true(psfm_homography_cost(&pairs, s.H_21[0], plain, 0.5 * truncated) > 0.5 * truncated);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void refinement_reaches_the_minimum(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 100;
    o.noise_px = 1.0;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    psfm_loss loss = {1e6, 0.0};
    for (uint64_t seed = 0; seed < 10; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double H[9];
        assert_true(psfm_homography_fit(&pairs, 2, H));
        double cost = psfm_homography_refine(&pairs, pairs.num_blocks, loss, 50, H);
        assert_close(cost, psfm_homography_cost(&pairs, H, loss, INFINITY), 1e-9 * cost);
        /* 2 n residuals, 8 unknowns, unit noise */
        assert_true(cost / 192.0 > 0.6 && cost / 192.0 < 1.5);
        for (int round = 0; round < 20; ++round) {
            double moved[9];
            for (int k = 0; k < 9; ++k)
                moved[k] = H[k] + 1e-5 * psfm_rng_normal(&rng);
            /* weights are held fixed in the step, which moves the minimum by a trifle */
            assert_true(psfm_homography_cost(&pairs, moved, loss, INFINITY) > cost * (1 - 1e-3));
        }
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void refinement_is_exact_without_noise(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 60;
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double H[9];
        memcpy(H, s.H_21[0], sizeof H);
        psfm_homography_normalize_norm(H);
        for (int k = 0; k < 9; ++k)
            H[k] += 1e-4 * psfm_rng_normal(&rng);
        psfm_homography_normalize_norm(H);
        psfm_homography_refine(&pairs, pairs.num_blocks, (psfm_loss){100.0, 0.0}, 50, H);
        assert_same_up_to_scale(H, s.H_21[0], 1e-9);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void gradient_agrees_with_differences(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 50;
    o.noise_px = 0.05; /* the derivative of the weights is left out, of second order in the error */
    scene s = scene_make(&o, 8);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_loss loss = {1e6, 0.0};
    psfm_normal9 at;
    double H[9];
    memcpy(H, s.H_21[0], sizeof H);
    psfm_homography_normalize_norm(H);
    psfm_homography_normal_equations(&pairs, pairs.num_blocks, H, loss, &at);
    double norm = 0.0;
    for (int k = 0; k < 9; ++k)
        norm = fmax(norm, fabs(at.g[k]));
    for (int k = 0; k < 9; ++k) {
        double plus[9], minus[9], step = 1e-7;
        memcpy(plus, H, sizeof H);
        memcpy(minus, H, sizeof H);
        plus[k] += step;
        minus[k] -= step;
        double difference = psfm_homography_cost(&pairs, plus, loss, INFINITY) -
                            psfm_homography_cost(&pairs, minus, loss, INFINITY);
        assert_close(at.g[k], 0.5 * difference / (2 * step), 2e-2 * norm);
        for (int j = 0; j < 9; ++j)
            assert_close(at.N[9 * k + j], at.N[9 * j + k], 0.0);
    }
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void normalization(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 100; ++round) {
        motion_case m = random_motion_case(&rng, 0.8, 1.0);
        double H[9], U[9], s[3], V[9], scale = psfm_rng_range(&rng, -5.0, 5.0);
        for (int k = 0; k < 9; ++k)
            H[k] = scale * m.H_21[k];
        assert_true(psfm_homography_normalize(H));
        psfm_mat3_svd(H, U, s, V);
        assert_close(s[1], 1.0, 1e-12);
        for (int k = 0; k < 9; ++k)
            assert_close(H[k], m.H_21[k], 1e-12);
    }
    double singular[9] = {1, 0, 0, 0, 1, 0, 1, 1, 0}, bad[9] = {NAN};
    assert_false(psfm_homography_normalize(singular));
    assert_false(psfm_homography_normalize(bad));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_points_give_the_homography),
        cmocka_unit_test(most_samples_of_a_plane_are_accepted),
        cmocka_unit_test(a_flipped_triangle_is_rejected),
        cmocka_unit_test(collinear_points_are_rejected),
        cmocka_unit_test(linear_fit_is_exact_without_noise),
        cmocka_unit_test(linear_fit_works_on_the_whole_sphere),
        cmocka_unit_test(linear_fit_knows_when_points_do_not_do),
        cmocka_unit_test(error_is_the_reprojection_error),
        cmocka_unit_test(error_does_not_depend_on_the_direction),
        cmocka_unit_test(turned_away_rays_are_outliers),
        cmocka_unit_test(cost_sums_the_losses),
        cmocka_unit_test(refinement_reaches_the_minimum),
        cmocka_unit_test(refinement_is_exact_without_noise),
        cmocka_unit_test(gradient_agrees_with_differences),
        cmocka_unit_test(normalization),
    };
    return cmocka_run_group_tests_name("twoview/homography", tests, NULL, NULL);
}
