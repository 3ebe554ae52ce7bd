/* A plane from above, where focal length, distortion and height trade, and from around. */
#include "unit/core/bundle/bundle_scene.h"

#include "core/refine/refined_quality.h"

/* The doming of a scene whose only camera moves like this. */
static double measure(bool from_above, int num_planes, psfm_bundle_refine refine) {
    static scene s;
    psfm_context *ctx = psfm_context_create();
    scene_options o = {.num_images = 10,
                       .num_points = 300,
                       .num_cameras = 1,
                       .model = PSFM_CAMERA_SIMPLE_RADIAL,
                       .noise_px = 1.0,
                       .visible = 0.8,
                       .num_planes = num_planes,
                       .from_above = from_above,
                       .seed = 3};
    psfm_bundle_options options;
    double doming = 1.0;
    psfm_options_init(&psfm_bundle_option_table, &options);
    scene_make(&o, &s);
    psfm_camera_prior prior = {.refine = refine,
                               .camera = s.cameras[0],
                               .focal_sigma = 0.2,
                               .distortion_sigma = 0.1,
                               .center_sigma = 0.02};
    s.problem.camera_priors = &prior;
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, NULL));
    scene before = s;
    assert_ok(ctx, psfm_doming_measure(ctx, &s.problem, &options, &doming));
    assert_memory_equal(s.points, before.points, sizeof s.points); /* nothing has changed */
    psfm_context_destroy(&ctx);
    return doming;
}

static void ground_seen_from_above_would_bow(void **state) {
    (void)state;
    double above = fabs(measure(true, 1, PSFM_REFINE_FOCAL_DISTORTION));
    double around = fabs(measure(false, 1, PSFM_REFINE_FOCAL_DISTORTION));
    assert_true(above > 0.0005);
    assert_below(around, 0.25 * above);
}

static void it_is_not_measured_where_nothing_is_traded(void **state) {
    (void)state;
    assert_true(isnan(measure(true, 1, PSFM_REFINE_NONE)));              /* known intrinsics */
    assert_true(isnan(measure(false, 0, PSFM_REFINE_FOCAL_DISTORTION))); /* points in space */
    assert_true(isnan(measure(false, 2, PSFM_REFINE_FOCAL_DISTORTION))); /* two planes */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ground_seen_from_above_would_bow),
        cmocka_unit_test(it_is_not_measured_where_nothing_is_traded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
