#include "test_util.h"

#include "frontend/labelled_points.h"

static psfm_status make(psfm_context *ctx, const char *text, const char *camera, bool opencv,
                        psfm_match_set *set) {
    psfm_intrinsics_options given = {.camera_text = camera, .opencv_pixels = opencv};
    psfm_intrinsics intrinsics;
    psfm_control_set labels;
    assert_ok(
        ctx, psfm_control_parse(ctx, text, strlen(text), "l.txt", PSFM_FILE_LABELS, NULL, &labels));
    assert_ok(ctx, psfm_intrinsics_open(ctx, &given, &intrinsics));
    psfm_status status = psfm_label_matches(ctx, &labels, opencv, &intrinsics, set);
    psfm_control_free(&labels);
    psfm_intrinsics_free(&intrinsics);
    return status;
}

static void common_labels_match(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set;
    assert_ok(ctx, make(ctx,
                        "p b.jpg 1 2\nq b.jpg 3 4\nr c.jpg 5 6\np a.jpg 7 8\nr b.jpg 9 10\n"
                        "q a.jpg 11 12\ns d.jpg 1 1",
                        "PINHOLE,100,80,50,50,50,40", false, &set));
    assert_int_equal(set.num_views, 4);
    assert_int_equal(set.num_cameras, 1);
    assert_string_equal(set.views[0].name, "a.jpg");
    assert_int_equal(set.num_pairs, 2); /* a-b by p and q, b-c by r */
    assert_int_equal(set.pairs[0].num_matches, 2);
    assert_int_equal(set.pairs[1].view1, 1);
    assert_int_equal(set.pairs[1].view2, 2);
    const psfm_match_pair *pair = &set.pairs[0];
    assert_true(set.views[0].keypoints[pair->matches[0][0]][0] == 7.0);
    assert_true(set.views[1].keypoints[pair->matches[0][1]][0] == 1.0);
    assert_true(set.views[1].keypoints[set.pairs[1].matches[0][0]][1] == 10.0);
    assert_ok(ctx, psfm_match_set_check(ctx, &set));
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
}

static void opencv_pixels_are_shifted(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set;
    assert_ok(ctx,
              make(ctx, "p a.jpg 1 2\np b.jpg 3 4", "PINHOLE,100,80,50,50,49.5,39.5", true, &set));
    assert_true(set.views[1].keypoints[0][0] == 3.5);
    assert_true(set.cameras[0].params[2] == 50.0);
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
}

static void cameras_must_be_given(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set;
    assert_int_equal(make(ctx, "p a.jpg 1 2", NULL, false, &set), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "--cameras"));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_labels_match),
        cmocka_unit_test(opencv_pixels_are_shifted),
        cmocka_unit_test(cameras_must_be_given),
    };
    return cmocka_run_group_tests_name("frontend/labelled_points", tests, NULL, NULL);
}
