#include "test_util.h"

#include "images/feature/keypoint_set.h"

static void shape_holds_scale_and_orientation(void **state) {
    (void)state;
    for (int k = -9; k <= 9; ++k) {
        float angle = 0.33F * (float)k;
        psfm_keypoint p = psfm_keypoint_make(3, 4, 2.5F, angle);
        assert_close(psfm_keypoint_scale(&p), 2.5, 1e-6);
        assert_close(psfm_keypoint_orientation(&p), angle, 1e-6);
        assert_close(p.a12, -p.a21, 0);
    }
}

static void rescale_moves_and_stretches(void **state) {
    (void)state;
    psfm_keypoint p = psfm_keypoint_make(10, 20, 1, 0.7F);
    psfm_keypoint_set set = {.num = 1, .keypoints = &p};
    psfm_keypoint_set_rescale(&set, 2.0, 3.0);
    assert_close(p.x, 20, 1e-6);
    assert_close(p.y, 60, 1e-6);
    assert_close(p.a11, 2 * cos(0.7), 1e-6);
    assert_close(p.a21, 3 * sin(0.7), 1e-6);
    assert_close(p.a12, -2 * sin(0.7), 1e-6);
    assert_close(p.a22, 3 * cos(0.7), 1e-6);
}

static void filter_keeps_the_order(void **state) {
    (void)state;
    enum { NUM = 5, SIZE = 3 };
    psfm_keypoint_set set = {.num = NUM,
                             .descriptor_size = SIZE,
                             .keypoints = calloc(NUM, sizeof *set.keypoints),
                             .descriptors_u8 = malloc(NUM * SIZE),
                             .descriptors_f32 = malloc(NUM * SIZE * sizeof(float)),
                             .scores = malloc(NUM * sizeof(float))};
    for (int k = 0; k < NUM; ++k) {
        set.keypoints[k].x = (float)k;
        set.scores[k] = (float)k;
        for (int c = 0; c < SIZE; ++c) {
            set.descriptors_u8[SIZE * k + c] = (uint8_t)(10 * k + c);
            set.descriptors_f32[SIZE * k + c] = (float)(10 * k + c);
        }
    }
    const bool keep[NUM] = {false, true, false, true, true};
    const int kept[] = {1, 3, 4};
    psfm_keypoint_set_filter(&set, keep);
    assert_int_equal(set.num, 3);
    for (int k = 0; k < 3; ++k) {
        assert_close(set.keypoints[k].x, kept[k], 0);
        assert_close(set.scores[k], kept[k], 0);
        for (int c = 0; c < SIZE; ++c) {
            assert_int_equal(set.descriptors_u8[SIZE * k + c], 10 * kept[k] + c);
            assert_close(set.descriptors_f32[SIZE * k + c], 10 * kept[k] + c, 0);
        }
    }
    psfm_keypoint_set_free(&set);
    assert_null(set.keypoints);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_holds_scale_and_orientation),
        cmocka_unit_test(rescale_moves_and_stretches),
        cmocka_unit_test(filter_keeps_the_order),
    };
    return cmocka_run_group_tests_name("feature/keypoint_set", tests, NULL, NULL);
}
