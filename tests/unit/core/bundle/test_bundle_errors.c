/* Reprojection errors, and what statistics make of them, against the pinhole's formula. */
#include "unit/core/bundle/bundle_run.h"

static const uint32_t blind = 3; /* an image without observations */

/* Pixels between an observation and where the present values put its point. */
static double formula_error(const scene *s, size_t o) {
    uint32_t i = s->obs_image[o];
    const double *R = s->R[i], *c = s->c[i], *X = s->points[s->obs_point[o]];
    const double *f = s->cameras[s->image_camera[i]].params;
    double Y[3], off[2];
    for (int r = 0; r < 3; ++r)
        Y[r] =
            R[3 * r] * (X[0] - c[0]) + R[3 * r + 1] * (X[1] - c[1]) + R[3 * r + 2] * (X[2] - c[2]);
    for (int d = 0; d < 2; ++d)
        off[d] = f[d] * Y[d] / Y[2] + f[2 + d] - s->obs_xy[o][d];
    return Y[2] > 0.0 ? hypot(off[0], off[1]) : INFINITY;
}

static void blind_image(scene *s) {
    size_t num = 0;
    for (size_t o = 0; o < s->problem.num_observations; ++o) {
        if (s->obs_image[o] == blind)
            continue;
        s->obs_image[num] = s->obs_image[o];
        s->obs_point[num] = s->obs_point[o];
        memcpy(s->obs_xy[num++], s->obs_xy[o], sizeof *s->obs_xy);
    }
    s->problem.num_observations = num;
}

/* More than one task has; with a point behind its cameras. */
static void errors_are_distances_in_the_image(void **state) {
    static scene s;
    static double error_px[SCENE_MAX_IMAGES * SCENE_MAX_POINTS];
    size_t num_behind = 0;
    scene_make(&threaded_scene, &s);
    scene_perturb(&s, 1, 0.01, 0.02, NULL);
    memcpy(s.points[7], (const double[3]){0.0, 0.0, 100.0}, sizeof *s.points);
    memcpy(s.points[8], (const double[3]){20.0, 0.0, 0.0}, sizeof *s.points);
    assert_true(s.problem.num_observations > 4096);
    assert_ok(*state, psfm_bundle_errors(*state, &s.problem, error_px));
    for (size_t o = 0; o < s.problem.num_observations; ++o) {
        double expected = formula_error(&s, o);
        num_behind += isinf(expected) != 0;
        if (isinf(expected))
            assert_true(isinf(error_px[o]));
        else
            assert_close(error_px[o], expected, 1e-9 * (1.0 + expected));
    }
    assert_true(num_behind > 0);
}

/* Means over all observations and over those of each image, at the values that were found. */
static void statistics_are_means_of_the_errors(void **state) {
    static scene s;
    double sum[SCENE_MAX_IMAGES] = {0}, squares[SCENE_MAX_IMAGES] = {0},
           num[SCENE_MAX_IMAGES] = {0};
    double all = 0.0, all_squares = 0.0;
    scene_make(&threaded_scene, &s);
    blind_image(&s);
    scene_perturb(&s, 2, 0.003, 0.01, NULL);
    psfm_bundle_options options = default_options();
    psfm_bundle_stats stats = adjust(*state, &s, &options);
    for (size_t o = 0; o < s.problem.num_observations; ++o) {
        double e = formula_error(&s, o);
        sum[s.obs_image[o]] += e;
        squares[s.obs_image[o]] += e * e;
        num[s.obs_image[o]] += 1.0;
        all += e;
        all_squares += e * e;
    }
    double total = (double)s.problem.num_observations;
    assert_int_equal(stats.num_observations, s.problem.num_observations);
    assert_int_equal(stats.num_invalid, 0);
    assert_close(stats.mean_px, all / total, 1e-9);
    assert_close(stats.rms_px, sqrt(all_squares / total), 1e-9);
    assert_true(stats.mean_px > 0.3 && stats.mean_px < 0.8); /* noise of half a pixel */
    for (size_t i = 0; i < SCENE_MAX_IMAGES; ++i) {
        double count = i == blind ? 1.0 : num[i];
        assert_int_equal(stats.images[i].num_observations, (size_t)num[i]);
        assert_close(stats.images[i].mean_px, sum[i] / count, 1e-9);
        assert_close(stats.images[i].rms_px, sqrt(squares[i] / count), 1e-9);
    }
    psfm_bundle_stats_free(&stats);
}

static void input_that_is_no_number_is_refused(void **state) {
    static scene s;
    static double error_px[SCENE_MAX_IMAGES * SCENE_MAX_POINTS];
    scene_make(&small_scene, &s);
    s.points[5][1] = NAN;
    assert_int_equal(psfm_bundle_errors(*state, &s.problem, error_px), PSFM_ERR_ARGUMENT);
    s.points[5][1] = 0.0;
    s.obs_point[2] = (uint32_t)s.problem.num_points;
    assert_int_equal(psfm_bundle_errors(*state, &s.problem, error_px), PSFM_ERR_ARGUMENT);
    s.obs_point[2] = 0;
    s.problem.num_observations = 0;
    assert_ok(*state, psfm_bundle_errors(*state, &s.problem, error_px));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_distances_in_the_image),
        cmocka_unit_test(statistics_are_means_of_the_errors),
        cmocka_unit_test(input_that_is_no_number_is_refused),
    };
    return cmocka_run_group_tests_name("bundle/bundle_errors", tests, open_context, close_context);
}
