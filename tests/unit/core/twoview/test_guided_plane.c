#include "test_util.h"

#include "core/twoview/guided_plane.h"
#include "core/twoview/homography.h"
#include "core/twoview/joint_motion.h"
#include "unit/core/twoview/twoview_util.h"

static psfm_motion motion_of(const scene *s, double *length) {
    psfm_motion m;
    memcpy(m.R_21, s->R_21, sizeof m.R_21);
    memcpy(m.t_21, s->t_21, sizeof m.t_21);
    *length = psfm_normalize3(m.t_21);
    return m;
}

static void finds_the_plane_in_a_cloud(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.off_plane = 0.6;
    o.noise_px = 0.5;
    o.baseline[0] = 0.3;
    o.num_matches = 200;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double length, H[9], squared[200];
        psfm_motion motion = motion_of(&s, &length);
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_HOMOGRAPHY, 0, 0);
        psfm_guided_plane plane;
        assert_ok(NULL, psfm_guided_plane_ransac(NULL, &motion, &pairs, 4.0, 0.9999, &rng, &plane));
        assert_true(plane.found);
        size_t on = 0, hits = 0;
        psfm_joint_homography(&motion, plane.m, H);
        psfm_homography_errors(&pairs, H, squared);
        for (size_t i = 0; i < 200; ++i) {
            on += s.plane[pairs.row[i]] == 0;
            hits += s.plane[pairs.row[i]] == 0 && squared[i] < 16.0;
        }
        assert_true(hits >= on * 95 / 100);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void fit_is_exact_without_noise(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 50;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double length, m[3];
        psfm_motion motion = motion_of(&s, &length);
        psfm_scale3(1.05 * length / s.d1[0], s.n1[0], m);
        psfm_guided_plane_fit(&motion, &pairs, (psfm_loss){1e6, 0.0}, m);
        for (int k = 0; k < 3; ++k)
            assert_close(m[k], length * s.n1[0][k] / s.d1[0], 1e-8);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void peaks_and_slices(void **state) {
    (void)state;
    assert_true(psfm_is_peak(300, 100, 95));
    assert_true(psfm_is_peak(20, 20, 20));
    assert_false(psfm_is_peak(300, 120, 40)); /* a third: a slice */
    assert_false(psfm_is_peak(300, 60, 28));  /* could be one of many slices */
    assert_false(psfm_is_peak(300, 12, 10));  /* too few to tell */
    assert_false(psfm_is_peak(3, 3, 3));
    assert_false(psfm_is_peak(300, 0, 0));
}

static void too_few_pairs(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 3;
    scene s = scene_make(&o, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    double length;
    psfm_motion motion = motion_of(&s, &length);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_HOMOGRAPHY, 0, 0);
    psfm_guided_plane plane = {.found = true};
    assert_ok(NULL, psfm_guided_plane_ransac(NULL, &motion, &pairs, 4.0, 0.9999, &rng, &plane));
    assert_false(plane.found);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_plane_in_a_cloud),
        cmocka_unit_test(fit_is_exact_without_noise),
        cmocka_unit_test(peaks_and_slices),
        cmocka_unit_test(too_few_pairs),
    };
    return cmocka_run_group_tests_name("twoview/guided_plane", tests, NULL, NULL);
}
