/* Keypoints whose covariance is known: their information, rays and places. */
#include "core/refine/observation_noise.h"

#include "core/linalg/vec3.h"
#include "test_util.h"

static const psfm_camera camera = {.model = PSFM_CAMERA_PINHOLE,
                                   .width = 640,
                                   .height = 480,
                                   .params = {500.0, 500.0, 320.0, 240.0}};

/* S^T S C = I for the upper triangular S of a view's keypoint. */
static void check_information(const double s[3], const double cov[3]) {
    double a = s[0] * s[0], b = s[0] * s[1], c = s[1] * s[1] + s[2] * s[2];
    assert_true(s[0] > 0.0 && s[2] > 0.0);
    assert_close(a * cov[0] + b * cov[1], 1.0, 1e-12);
    assert_close(a * cov[1] + b * cov[2], 0.0, 1e-12);
    assert_close(b * cov[0] + c * cov[1], 0.0, 1e-12);
    assert_close(b * cov[1] + c * cov[2], 1.0, 1e-12);
}

static void check_place(const psfm_view *view, size_t k, const double xy[2]) {
    double length = sqrt(pow((xy[0] - 320.0) / 500.0, 2) + pow((xy[1] - 240.0) / 500.0, 2) + 1.0);
    assert_memory_equal(view->keypoints[k], xy, 2 * sizeof *xy);
    assert_close(view->rays[k][0] * length, (xy[0] - 320.0) / 500.0, 1e-12);
    assert_close(view->rays[k][1] * length, (xy[1] - 240.0) / 500.0, 1e-12);
    assert_close(view->rays[k][2] * length, 1.0, 1e-12);
    /* the derivative annihilates the ray; one pixel to the right is one pixel */
    double right[3] = {length / 500.0, 0.0, 0.0};
    assert_close(psfm_dot3(view->px_from_ray[k], view->rays[k]), 0.0, 1e-9);
    assert_close(psfm_dot3(view->px_from_ray[k], right) / length / length, 1.0, 1e-9);
}

static void free_view(psfm_view *view) {
    free(view->keypoints);
    free(view->rays);
    free(view->px_from_ray);
    free(view->sqrt_info);
}

static const double places[2][2] = {{100.0, 50.0}, {400.25, 470.5}};
static const double covariances[2][3] = {{0.04, 0.01, 0.09}, {0.25, 0.0, 0.01}};

static void add_both(psfm_precise_keypoints *list) {
    for (int k = 0; k < 2; ++k)
        assert_ok(NULL, psfm_precise_keypoints_add(NULL, list, places[k], covariances[k]));
}

static void appended_keypoints_know_their_information(void **state) {
    (void)state;
    psfm_precise_keypoints list = {0};
    const psfm_precise_keypoints none = {0};
    psfm_view view = {0};
    add_both(&list);
    assert_ok(NULL, psfm_view_append(NULL, &camera, &list, &view));
    assert_ok(NULL, psfm_view_append(NULL, &camera, &none, &view));
    assert_ok(NULL, psfm_view_append(NULL, &camera, &list, &view)); /* after those with their own */
    assert_int_equal(view.num_keypoints, 4);
    for (size_t k = 0; k < 4; ++k) {
        check_place(&view, k, places[k % 2]);
        check_information(view.sqrt_info[k], covariances[k % 2]);
    }
    psfm_precise_keypoints_free(&list);
    assert_true(list.num == 0 && list.xy == NULL);
    free_view(&view);
}

static void a_detectors_keypoints_count_as_one_pixel(void **state) {
    (void)state;
    psfm_precise_keypoints list = {0};
    const psfm_precise_keypoints none = {0};
    const double pixel[3] = {1.0, 0.0, 1.0};
    psfm_view view = {.num_keypoints = 1};
    view.keypoints = calloc(1, sizeof *view.keypoints);
    view.rays = calloc(1, sizeof *view.rays);
    view.px_from_ray = calloc(1, sizeof *view.px_from_ray);
    add_both(&list);
    assert_ok(NULL, psfm_view_append(NULL, &camera, &none, &view));
    assert_memory_equal(view.sqrt_info[0], pixel, sizeof pixel);
    assert_ok(NULL, psfm_view_append(NULL, &camera, &list, &view));
    assert_int_equal(view.num_keypoints, 3);
    assert_memory_equal(view.sqrt_info[0], pixel, sizeof pixel);
    check_information(view.sqrt_info[1], covariances[0]);
    psfm_view_move(&camera, 0, places[1], covariances[1], &view);
    check_place(&view, 0, places[1]);
    check_information(view.sqrt_info[0], covariances[1]);
    check_place(&view, 1, places[0]); /* the others stay */
    psfm_precise_keypoints_free(&list);
    free_view(&view);
}

static void places_without_a_ray_have_none(void **state) {
    (void)state;
    const double nowhere[2] = {NAN, 10.0}, none[3] = {0};
    psfm_precise_keypoints list = {0};
    psfm_view view = {0};
    add_both(&list);
    assert_ok(NULL, psfm_view_append(NULL, &camera, &list, &view));
    psfm_view_move(&camera, 1, nowhere, covariances[0], &view);
    assert_memory_equal(view.rays[1], none, sizeof none);
    psfm_precise_keypoints_free(&list);
    free_view(&view);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_keypoints_know_their_information),
        cmocka_unit_test(a_detectors_keypoints_count_as_one_pixel),
        cmocka_unit_test(places_without_a_ray_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
