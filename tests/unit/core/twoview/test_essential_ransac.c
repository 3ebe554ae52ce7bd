#include "test_util.h"

#include "core/twoview/essential_ransac.h"
#include "unit/core/twoview/twoview_util.h"

static psfm_two_view_options defaults(void) {
    psfm_two_view_options o;
    psfm_options_init(&psfm_two_view_option_table, &o);
    return o;
}

/* Runs with the true planes of the scene known, or without any. */
static psfm_essential_found run(const scene *s, bool with_planes, bool with_starts) {
    psfm_two_view_options options = defaults();
    psfm_ray_pairs pairs = pairs_of(s);
    psfm_plane_set planes;
    psfm_motion start;
    psfm_essential_found found;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_ESSENTIAL, 0, 0);
    double *scratch = malloc(2 * (pairs.num + PSFM_LANES) * sizeof *scratch);
    uint32_t *best = malloc((pairs.num + PSFM_LANES) * sizeof *best);
    assert_ok(NULL, psfm_plane_set_init(NULL, pairs.num, 4, &planes));
    if (with_planes) {
        planes.num_planes = (size_t)s->num_planes;
        memcpy(planes.H_21, s->H_21, planes.num_planes * sizeof *planes.H_21);
        psfm_plane_set_assign(&planes, &pairs, 16.0, scratch, scratch + pairs.num + PSFM_LANES,
                              best);
    }
    memcpy(start.R_21, s->R_21, sizeof start.R_21);
    memcpy(start.t_21, s->t_21, sizeof start.t_21);
    psfm_normalize3(start.t_21);
    const psfm_motion_list starts = {&start, with_starts ? 1 : 0};
    assert_ok(NULL, psfm_essential_ransac(NULL, &pairs, &planes, &starts, &options, &rng, &found));
    free(scratch);
    free(best);
    psfm_plane_set_free(&planes);
    psfm_ray_pairs_free(&pairs);
    return found;
}

static double error_deg(const scene *s, const psfm_essential_found *found) {
    return motion_error_deg(found->motion.R_21, found->motion.t_21, s->R_21, s->t_21);
}

static void five_points_find_the_motion_of_a_cloud(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 0;
    o.noise_px = 0.5;
    o.baseline[0] = 0.3;
    o.num_matches = 300;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        o.outliers = 0.1 * (double)(seed % 5);
        scene s = scene_make(&o, seed);
        psfm_essential_found found = run(&s, false, false);
        assert_true(found.found && found.has_off_plane);
        assert_true(found.plane_share == 0.0);
        assert_below(error_deg(&s, &found), 1.0);
        size_t wrong = 0;
        for (size_t i = 1; i < found.num_inliers; ++i)
            assert_true(found.inliers[i] > found.inliers[i - 1]);
        for (size_t i = 0; i < s.c.num; ++i)
            wrong += s.plane[i] == -2;
        assert_true(found.num_inliers + wrong >= 295);
        free(found.inliers);
        scene_free(&s);
    }
}

/* A plane and points off it: the plane's homography and two of the points are enough. */
static void points_off_the_plane_decide(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.off_plane = 0.3;
    o.noise_px = 0.5;
    o.outliers = 0.3;
    o.baseline[0] = 0.3;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_essential_found found = run(&s, true, false);
        assert_true(found.found && found.has_off_plane);
        assert_true(psfm_essential_is_determined(&found));
        assert_true(found.plane_share > 0.6 && found.plane_share < 0.8);
        assert_below(error_deg(&s, &found), 1.0);
        free(found.inliers);
        scene_free(&s);
    }
}

static void a_plane_alone_does_not_determine_it(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        o.outliers = seed % 2 == 0 ? 0.0 : 0.5;
        scene s = scene_make(&o, seed);
        psfm_essential_found found = run(&s, true, true);
        assert_true(found.found); /* a start with parallax is support */
        assert_false(psfm_essential_is_determined(&found));
        assert_true(found.plane_share > 0.9);
        free(found.inliers);
        scene_free(&s);
    }
}

/* Far and near exchanged explains little parallax as well, with points behind the cameras. */
static void inliers_stay_in_front(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 0;
    o.num_matches = 600;
    o.noise_px = 0.4;
    o.baseline[0] = 0.03;
    o.baseline[1] = 0.06;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_essential_found found = run(&s, false, false);
        assert_true(found.found);
        assert_true(found.num_inliers > 560);
        free(found.inliers);
        scene_free(&s);
    }
}

static void wrong_matches_have_no_motion(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.outliers = 1.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        o.num_matches = seed % 2 == 0 ? 40 : 200;
        scene s = scene_make(&o, seed);
        psfm_essential_found found = run(&s, false, false);
        assert_false(found.found);
        assert_null(found.inliers);
        scene_free(&s);
    }
}

static void fewer_than_five(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 4;
    scene s = scene_make(&o, 1);
    psfm_essential_found found = run(&s, false, false);
    assert_false(found.found);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_points_find_the_motion_of_a_cloud),
        cmocka_unit_test(points_off_the_plane_decide),
        cmocka_unit_test(a_plane_alone_does_not_determine_it),
        cmocka_unit_test(inliers_stay_in_front),
        cmocka_unit_test(wrong_matches_have_no_motion),
        cmocka_unit_test(fewer_than_five),
    };
    return cmocka_run_group_tests_name("twoview/essential_ransac", tests, NULL, NULL);
}
