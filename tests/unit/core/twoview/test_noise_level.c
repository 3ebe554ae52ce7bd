/* Noise that was put in is measured, whatever else is wrong with the matches. */
#include "test_util.h"

#include "core/twoview/noise_level.h"
#include "synth/scene.h"

static psfm_noise_level measure(psfm_context *ctx, psfm_scene_kind kind, double noise_px,
                                double outliers) {
    psfm_scene_options options;
    psfm_two_view_options verification;
    psfm_scene scene;
    psfm_noise_level level;
    psfm_options_init(&psfm_scene_option_table, &options);
    psfm_options_init(&psfm_two_view_option_table, &verification);
    options.num_cameras = 8;
    options.noise_px = noise_px;
    options.outliers = outliers;
    assert_ok(ctx, psfm_scene_make(ctx, kind, 2, &options, &scene));
    assert_ok(ctx, psfm_noise_level_measure(ctx, &scene.matches, &verification, &level));
    print_message("%s, noise %g px, %g wrong: %.3f px from %zu pairs\n", psfm_scene_kind_name(kind),
                  noise_px, outliers, level.sigma_px, level.num_pairs);
    psfm_scene_free(&scene);
    return level;
}

static void noise_is_measured_to_a_tenth(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double noises[] = {0.2, 1.0, 3.0, 6.0};
    for (size_t k = 0; k < sizeof noises / sizeof *noises; ++k) {
        assert_close(measure(ctx, PSFM_SCENE_ARENA, noises[k], 0.2).sigma_px, noises[k],
                     0.1 * noises[k]);
        assert_close(measure(ctx, PSFM_SCENE_ARENA, noises[k], 0.7).sigma_px, noises[k],
                     0.1 * noises[k]);
    }
    psfm_context_destroy(&ctx);
}

/* Brief searches do not find the plane then, least of all within the first bound. */
static void ninety_per_cent_of_wrong_matches_hide_no_noise(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    assert_close(measure(ctx, PSFM_SCENE_ARENA, 5.0, 0.9).sigma_px, 5.0, 0.75);
    psfm_context_destroy(&ctx);
}

/* Where there is no plane, the essential matrix tells, or a plane through some points does. */
static void scenes_without_a_plane_are_measured(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (double noise = 0.5; noise < 4.0; noise *= 3.0)
        assert_close(measure(ctx, PSFM_SCENE_GENERAL, noise, 0.3).sigma_px, noise, 0.25 * noise);
    psfm_context_destroy(&ctx);
}

static void nothing_is_said_of_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set empty = {0};
    psfm_two_view_options verification;
    psfm_noise_level level;
    psfm_options_init(&psfm_two_view_option_table, &verification);
    assert_ok(ctx, psfm_noise_level_measure(ctx, &empty, &verification, &level));
    assert_close(level.sigma_px, 0.0, 0.0);
    assert_close(measure(ctx, PSFM_SCENE_ARENA, 1.0, 1.0).sigma_px, 0.0, 0.0); /* all wrong */
    psfm_context_destroy(&ctx);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    double once = measure(ctx, PSFM_SCENE_ROOM, 1.5, 0.3).sigma_px;
    psfm_context_set_threads(ctx, 4);
    assert_close(measure(ctx, PSFM_SCENE_ROOM, 1.5, 0.3).sigma_px, once, 0.0);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_measured_to_a_tenth),
        cmocka_unit_test(ninety_per_cent_of_wrong_matches_hide_no_noise),
        cmocka_unit_test(scenes_without_a_plane_are_measured),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests_name("twoview/noise_level", tests, NULL, NULL);
}
