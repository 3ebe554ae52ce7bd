#include "test_util.h"

#include "core/twoview/essential.h"
#include "unit/core/twoview/twoview_util.h"

static psfm_motion true_motion(const scene *s) {
    psfm_motion m;
    memcpy(m.R_21, s->R_21, sizeof m.R_21);
    memcpy(m.t_21, s->t_21, sizeof m.t_21);
    psfm_normalize3(m.t_21);
    return m;
}

static scene cloud(double noise_px, size_t num, uint64_t seed) {
    scene_options o = scene_defaults();
    o.num_planes = 0;
    o.noise_px = noise_px;
    o.num_matches = num;
    o.baseline[0] = 0.2;
    return scene_make(&o, seed);
}

static void errors_vanish_for_the_truth(void **state) {
    (void)state;
    scene s = cloud(0.0, 50, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_motion m = true_motion(&s);
    double E[9], squared[56];
    psfm_essential_from_motion(&m, E);
    psfm_essential_errors(&pairs, E, squared);
    for (size_t i = 0; i < 50; ++i)
        assert_below(squared[i], 1e-16);
    for (size_t i = 50; i < 56; ++i)
        assert_true(isinf(squared[i]));
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

/* Moving the point of image 2 off its epipolar line by a known distance, and only it: the joint
 * error is that distance shared between both images. */
static void error_is_in_pixels(void **state) {
    (void)state;
    scene s = cloud(0.0, 40, 2);
    scene_options o = scene_defaults();
    psfm_motion m = true_motion(&s);
    double E[9], squared[40];
    psfm_essential_from_motion(&m, E);
    for (size_t i = 0; i < 40; ++i) {
        double line[3], ray[3], g[2], xy[2];
        psfm_mat3_mul_vec(E, s.c.ray1[i], line);
        /* gradient of the line's equation by the pixel, by differences */
        for (int k = 0; k < 2; ++k) {
            double at[2] = {s.xy2[i][0], s.xy2[i][1]};
            at[k] += 1e-3;
            scene_unproject(&o.camera, at, ray);
            g[k] = psfm_dot3(line, ray) / 1e-3;
        }
        double norm = hypot(g[0], g[1]);
        xy[0] = s.xy2[i][0] + 2.0 * g[0] / norm;
        xy[1] = s.xy2[i][1] + 2.0 * g[1] / norm;
        scene_unproject(&o.camera, xy, s.c.ray2[i]);
        scene_project(&o.camera, s.c.ray2[i], xy, s.c.px2[i]);
    }
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_essential_errors(&pairs, E, squared);
    for (size_t i = 0; i < 40; ++i)
        assert_true(sqrt(squared[i]) <= 2.0 * 1.01 && sqrt(squared[i]) > 0.3);
    psfm_loss loss = {1.0, 0.0};
    double sum = 0.0;
    for (size_t i = 0; i < 40; ++i)
        sum += fmin(squared[i], 1.0);
    assert_close(psfm_essential_cost(&pairs, E, loss, INFINITY), sum, 1e-9);
    assert_true(psfm_essential_cost(&pairs, E, loss, 5.0) > 5.0);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void motion_comes_back_from_the_matrix(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        scene s = cloud(0.0, 20, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_motion truth = true_motion(&s), m;
        uint32_t idx[20];
        double E[9];
        for (uint32_t i = 0; i < 20; ++i)
            idx[i] = i;
        psfm_essential_from_motion(&truth, E);
        for (int k = 0; k < 9; ++k)
            E[k] *= seed % 2 == 0 ? -3.0 : 0.2;
        assert_true(psfm_essential_to_motion(&pairs, idx, 20, E, &m));
        assert_below(motion_error_deg(m.R_21, m.t_21, truth.R_21, truth.t_21), 1e-6);
        assert_close(psfm_mat3_det(m.R_21), 1.0, 1e-12);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
    psfm_ray_pairs none = {0};
    psfm_motion m;
    const double rank_one[9] = {1};
    assert_false(psfm_essential_to_motion(&none, NULL, 0, rank_one, &m));
}

static void points_behind_are_noticed(void **state) {
    (void)state;
    scene s = cloud(0.0, 100, 3);
    psfm_motion m = true_motion(&s), back = m;
    psfm_scale3(-1.0, m.t_21, back.t_21);
    for (size_t i = 0; i < 100; ++i) {
        assert_true(psfm_in_front(&m, s.c.ray1[i], s.c.ray2[i]));
        assert_false(psfm_in_front(&back, s.c.ray1[i], s.c.ray2[i]));
    }
    /* at infinity nothing can be told */
    double turned[3];
    psfm_mat3_mul_vec(m.R_21, s.c.ray1[0], turned);
    assert_true(psfm_in_front(&m, s.c.ray1[0], turned));
    assert_true(psfm_in_front(&back, s.c.ray1[0], turned));
    scene_free(&s);
}

static void refinement_is_exact_without_noise(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = cloud(0.0, 60, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_motion truth = true_motion(&s), m;
        double step[5];
        for (int k = 0; k < 5; ++k)
            step[k] = 0.02 * psfm_rng_normal(&rng);
        psfm_motion_move(&truth, step, &m);
        psfm_motion_refine(&pairs, pairs.num_blocks, (psfm_loss){1e6, 0.0}, 50, &m);
        assert_below(motion_error_deg(m.R_21, m.t_21, truth.R_21, truth.t_21), 1e-6);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void refinement_reaches_the_noise(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        scene s = cloud(1.0, 400, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_motion m = true_motion(&s);
        psfm_loss loss = {1e6, 0.0};
        double E[9];
        double cost = psfm_motion_refine(&pairs, pairs.num_blocks, loss, 50, &m);
        psfm_essential_from_motion(&m, E);
        assert_close(cost, psfm_essential_cost(&pairs, E, loss, INFINITY), 1e-9 * cost);
        /* n residuals, 5 unknowns, unit noise */
        assert_true(cost / 395.0 > 0.75 && cost / 395.0 < 1.3);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* Derivatives of the cost by the five parameters against differences. */
static void gradient_agrees_with_differences(void **state) {
    (void)state;
    scene s = cloud(0.3, 50, 5);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_motion m = true_motion(&s);
    psfm_loss loss = {1e6, 0.0};
    psfm_normal9 at;
    double E[9], D[5][9], gradient[5] = {0}, norm = 0.0;
    psfm_essential_from_motion(&m, E);
    psfm_essential_normal_equations(&pairs, pairs.num_blocks, E, loss, &at);
    psfm_essential_derivatives(&m, D);
    for (int p = 0; p < 5; ++p) {
        for (int k = 0; k < 9; ++k)
            gradient[p] += D[p][k] * at.g[k];
        norm = fmax(norm, fabs(gradient[p]));
    }
    for (int p = 0; p < 5; ++p) {
        double cost[2];
        for (int side = 0; side < 2; ++side) {
            double step[5] = {0};
            psfm_motion moved;
            step[p] = side == 0 ? -1e-6 : 1e-6;
            psfm_motion_move(&m, step, &moved);
            psfm_essential_from_motion(&moved, E);
            cost[side] = psfm_essential_cost(&pairs, E, loss, INFINITY);
        }
        assert_close(gradient[p], 0.5 * (cost[1] - cost[0]) / 2e-6, 1e-3 * norm);
    }
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_vanish_for_the_truth),
        cmocka_unit_test(error_is_in_pixels),
        cmocka_unit_test(motion_comes_back_from_the_matrix),
        cmocka_unit_test(points_behind_are_noticed),
        cmocka_unit_test(refinement_is_exact_without_noise),
        cmocka_unit_test(refinement_reaches_the_noise),
        cmocka_unit_test(gradient_agrees_with_differences),
    };
    return cmocka_run_group_tests_name("twoview/essential", tests, NULL, NULL);
}
