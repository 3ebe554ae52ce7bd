#include "test_util.h"

#include "core/twoview/homography_decompose.h"
#include "unit/core/twoview/twoview_util.h"

/* Each motion must give H back and be a proper one. */
static void assert_valid(const double H[9], const psfm_plane_motion *m) {
    double recomposed[9], I[9];
    for (int k = 0; k < 9; ++k)
        recomposed[k] = m->R_21[k] + m->t_21[k / 3] * m->n1[k % 3];
    for (int k = 0; k < 9; ++k)
        assert_close(recomposed[k], H[k], 1e-9);
    psfm_mat3_mul_t(m->R_21, m->R_21, I);
    for (int k = 0; k < 9; ++k)
        assert_close(I[k], k % 4 == 0, 1e-12);
    assert_close(psfm_mat3_det(m->R_21), 1.0, 1e-12);
    assert_close(psfm_norm3(m->n1), 1.0, 1e-12);
    double n2[3];
    psfm_mat3_mul_vec(m->R_21, m->n1, n2);
    for (int k = 0; k < 3; ++k)
        assert_close(m->n2[k], n2[k], 1e-12);
    assert_close(m->d2_over_d1, psfm_mat3_det(H), 1e-9);
}

/* Distance of a motion from the truth, the sign of (t, n) left open. H only fixes n to about
 * 1e-16 / |t|, so n counts times |t|. */
static double distance(const psfm_plane_motion *m, const motion_case *truth) {
    double sign = psfm_dot3(m->n1, truth->n1) < 0.0 ? -1.0 : 1.0, worst = 0.0;
    double length = fmin(psfm_norm3(truth->t_21), 1.0);
    for (int k = 0; k < 9; ++k)
        worst = fmax(worst, fabs(m->R_21[k] - truth->R_21[k]));
    for (int k = 0; k < 3; ++k) {
        worst = fmax(worst, fabs(sign * m->t_21[k] - truth->t_21[k]));
        worst = fmax(worst, length * fabs(sign * m->n1[k] - truth->n1[k]));
    }
    return worst;
}

static double best_distance(const motion_case *truth, int *num) {
    psfm_plane_motion motions[2];
    *num = psfm_homography_decompose(truth->H_21, motions);
    double best = INFINITY;
    for (int k = 0; k < *num; ++k) {
        assert_valid(truth->H_21, &motions[k]);
        best = fmin(best, distance(&motions[k], truth));
    }
    return best;
}

static void truth_is_among_the_solutions(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 5000; ++round) {
        motion_case m = random_motion_case(&rng, 3.0, psfm_rng_range(&rng, 0.05, 3.0));
        int num;
        assert_below(best_distance(&m, &num), 1e-9);
        assert_int_equal(num, 2);
    }
}

static void small_parallax(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 4000; ++round) {
        double length = pow(10.0, -1.0 - 5.0 * round / 4000.0); /* down to 1e-6 */
        motion_case m = random_motion_case(&rng, 1.0, length);
        int num;
        assert_below(best_distance(&m, &num), 1e-9);
    }
}

/* t parallel to n: away from the plane (s1 = s2) and towards it (s2 = s3). */
static void motion_along_the_normal(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 2000; ++round) {
        motion_case m = random_motion_case(&rng, 1.0, 1.0);
        double along =
            round % 2 == 0 ? psfm_rng_range(&rng, 0.01, 2.0) : psfm_rng_range(&rng, -0.9, -0.01);
        double n2[3], t[3];
        psfm_mat3_mul_vec(m.R_21, m.n1, n2);
        psfm_scale3(along, n2, t);
        m = make_motion_case(m.R_21, t, m.n1);
        int num;
        assert_below(best_distance(&m, &num), 1e-9);
        assert_int_equal(num, 1);
    }
}

/* Close to the double singular value both solutions must stay accurate: H, rounded to 1e-16, fixes
 * the angle between t and n2 only to 1e-16 over that angle. */
static void motion_nearly_along_the_normal(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 2000; ++round) {
        double angle = pow(10.0, -1.0 - 5.0 * round / 2000.0);
        motion_case m = random_motion_case(&rng, 1.0, 1.0);
        double n2[3], t[3], side[3];
        psfm_mat3_mul_vec(m.R_21, m.n1, n2);
        psfm_rng_direction(&rng, side);
        psfm_cross3(n2, side, side);
        psfm_normalize3(side);
        for (int k = 0; k < 3; ++k)
            t[k] = 0.5 * (cos(angle) * n2[k] + sin(angle) * side[k]);
        m = make_motion_case(m.R_21, t, m.n1);
        int num;
        assert_below(best_distance(&m, &num), 1e-9 + 1e-14 / angle);
    }
}

static void a_rotation_has_no_plane(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 1000; ++round) {
        double w[3], R[9];
        psfm_plane_motion motions[2];
        psfm_rng_direction(&rng, w);
        psfm_scale3(psfm_rng_range(&rng, 0.0, 3.1), w, w);
        psfm_rotation_exp(w, R);
        assert_int_equal(psfm_homography_decompose(R, motions), 1);
        assert_below(psfm_rotation_angle(motions[0].R_21, R), 1e-12);
        assert_true(psfm_norm3(motions[0].t_21) == 0.0 && psfm_norm3(motions[0].n1) == 0.0);
        assert_true(motions[0].d2_over_d1 == 1.0);
    }
}

static psfm_ray_pairs draw_pairs(psfm_rng *rng, const motion_case *m, size_t num) {
    psfm_correspondences c = correspondences_alloc(num);
    psfm_ray_pairs pairs;
    draw_rays(rng, m, (int)num, c.ray1, c.ray2);
    for (size_t i = 0; i < num; ++i) {
        angular_pixels(c.ray1[i], 1000.0, c.px1[i]);
        angular_pixels(c.ray2[i], 1000.0, c.px2[i]);
    }
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &c, NULL, &pairs));
    correspondences_drop(&c);
    return pairs;
}

static void visible_points_fix_the_sign(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    int num_single = 0, first_is_true = 0, num_double = 0;
    for (int round = 0; round < 1000; ++round) {
        motion_case m = random_motion_case(&rng, 0.5, psfm_rng_range(&rng, 0.1, 1.0));
        psfm_ray_pairs pairs = draw_pairs(&rng, &m, 30);
        uint32_t idx[30];
        for (uint32_t i = 0; i < 30; ++i)
            idx[i] = i;
        psfm_plane_motion motions[2];
        int num = psfm_homography_decompose(m.H_21, motions), found = -1;
        num = psfm_plane_motions_keep_visible(&pairs, idx, 30, motions, num);
        for (int k = 0; k < num; ++k) {
            assert_valid(m.H_21, &motions[k]);
            if (distance(&motions[k], &m) < 1e-9 && psfm_dot3(motions[k].n1, m.n1) > 0.0)
                found = k;
        }
        assert_true(found >= 0); /* the truth, with its sign, is never dropped */
        num_single += num == 1;
        num_double += num == 2;
        first_is_true += num == 2 && found == 0;
        psfm_ray_pairs_free(&pairs);
    }
    assert_true(num_single > 100);
    assert_true(2 * first_is_true > num_double); /* the frontal plane is the better guess */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_among_the_solutions),
        cmocka_unit_test(small_parallax),
        cmocka_unit_test(motion_along_the_normal),
        cmocka_unit_test(motion_nearly_along_the_normal),
        cmocka_unit_test(a_rotation_has_no_plane),
        cmocka_unit_test(visible_points_fix_the_sign),
    };
    return cmocka_run_group_tests_name("twoview/homography_decompose", tests, NULL, NULL);
}
