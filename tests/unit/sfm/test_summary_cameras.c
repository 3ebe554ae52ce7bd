/* Where the summary says that focal lengths are from. */
#include "sfm/summary_parts.h"
#include "test_util.h"

enum { CAMERAS = 4 };

/* A guess, a hint and EXIF data that the adjustment made sure, sure, and not; and a given one. */
static void a_focal_length_that_the_adjustment_made_sure_is_said_so(void **state) {
    (void)state;
    static const psfm_focal_source before[] = {PSFM_FOCAL_GUESS, PSFM_FOCAL_HINT, PSFM_FOCAL_EXIF,
                                               PSFM_FOCAL_GIVEN};
    static const char *const after[] = {"points", "points", "exif", "given"};
    psfm_camera cameras[CAMERAS];
    psfm_camera_origin origins[CAMERAS];
    double sigma[CAMERAS][PSFM_CAMERA_MAX_PARAMS] = {{2.0}, {4.0}, {40.0}, {NAN}};
    for (uint32_t c = 0; c < CAMERAS; ++c) {
        cameras[c] = psfm_camera_simple(1280, 720, 1000.0);
        cameras[c].id = c;
        origins[c] = (psfm_camera_origin){.source = before[c], .sigma = 0.1, .before = cameras[c]};
    }
    psfm_sfm found = {.set = {.num_cameras = CAMERAS, .cameras = cameras, .origins = origins},
                      .refined = {.cameras = cameras, .camera_sigma = sigma}};
    cJSON *root = cJSON_CreateObject();
    psfm_json_maker m = {false};
    psfm_summary_add_cameras(&m, root, &found);
    assert_false(m.failed);
    for (int c = 0; c < CAMERAS; ++c) {
        cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "cameras"), c);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(item, "source")), after[c]);
    }
    cJSON_Delete(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_focal_length_that_the_adjustment_made_sure_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
