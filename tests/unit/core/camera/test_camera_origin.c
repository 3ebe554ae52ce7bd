#include "test_util.h"

#include "core/camera/camera_origin.h"

static void only_what_looks_like_a_guess_is_one(void **state) {
    (void)state;
    psfm_camera camera = psfm_camera_simple(1280, 720, 1.2 * 1280.0);
    psfm_camera_origin origin = psfm_camera_origin_of(&camera, false);
    assert_int_equal(origin.source, PSFM_FOCAL_GUESS);
    assert_close(origin.sigma, PSFM_GUESS_SIGMA, 0.0);
    camera.params[0] = 1300.0; /* somebody knew better */
    assert_int_equal(psfm_camera_origin_of(&camera, false).source, PSFM_FOCAL_GIVEN);
    camera.params[0] = 1.2 * 1280.0;
    camera.has_prior_focal_length = true;
    assert_int_equal(psfm_camera_origin_of(&camera, false).source, PSFM_FOCAL_GIVEN);
    origin = psfm_camera_origin_of(&camera, true);
    assert_int_equal(origin.source, PSFM_FOCAL_EXIF);
    assert_true(origin.from_exif);
    assert_string_equal(psfm_focal_source_name(PSFM_FOCAL_PLANES), "planes");
    assert_string_equal(psfm_focal_source_name(PSFM_FOCAL_PAIRS), "pairs");
    assert_string_equal(psfm_focal_source_name(PSFM_FOCAL_GUESS), "guess");
    assert_true(psfm_focal_is_doubtful(PSFM_FOCAL_HINT));
    assert_false(psfm_focal_is_doubtful(PSFM_FOCAL_PLANES));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_looks_like_a_guess_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
