/* Shifts of a test that is a model in another frame with some images moved. */
#include "core/verdict/image_features.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

enum { NUM = 9, MOVED = 4 };

typedef struct {
    double R[NUM][9], center[NUM][3], test_R[NUM][9], test_center[NUM][3];
    uint32_t component[NUM];
    bool posed[NUM];
    psfm_poses poses;
    psfm_stability_test test;
} fixture;

static const double turn_of_moved[3] = {0.01, -0.02, 0.005}, step_of_moved[3] = {0.3, -0.1, 0.2};

/* X_probe = 2.5 G X + t; image MOVED is turned and moved on top of it. */
static void make_fixture(fixture *f, bool on_a_line) {
    psfm_rng rng = psfm_rng_make(7, 0, 0, 0);
    double w[3] = {0.4, -1.1, 0.7}, G[9], t[3] = {5.0, -3.0, 8.0};
    *f = (fixture){0};
    psfm_rotation_exp(w, G);
    for (uint32_t v = 0; v < NUM; ++v) {
        double own[3], center[3], R[9];
        for (int k = 0; k < 3; ++k) {
            own[k] = psfm_rng_normal(&rng);
            f->center[v][k] = on_a_line ? (k == 0) * (double)v : 4.0 * psfm_rng_normal(&rng);
        }
        psfm_rotation_exp(own, f->R[v]);
        memcpy(R, f->R[v], sizeof R);
        memcpy(center, f->center[v], sizeof center);
        if (v == MOVED) {
            double turn[9];
            psfm_rotation_exp(turn_of_moved, turn);
            psfm_mat3_mul(turn, f->R[v], R);
            psfm_axpy3(center, 1.0, step_of_moved, center);
        }
        psfm_mat3_mul_t(R, G, f->test_R[v]);
        psfm_mat3_mul_vec(G, center, f->test_center[v]);
        psfm_axpy3(t, 2.5, f->test_center[v], f->test_center[v]);
        f->posed[v] = true;
    }
    f->poses = (psfm_poses){NUM, f->R, f->center, f->component};
    f->test = (psfm_stability_test){f->test_R, f->test_center, f->posed, 0.0};
}

static void check(bool on_a_line) {
    fixture f;
    psfm_pose_shift shift[NUM] = {0};
    make_fixture(&f, on_a_line);
    psfm_pose_shifts_find(&f.poses, 0, &f.test, shift);
    for (uint32_t v = 0; v < NUM; ++v) {
        assert_true(shift[v].known);
        for (int k = 0; k < 3; ++k) {
            assert_close(shift[v].rotation[k], v == MOVED ? turn_of_moved[k] : 0.0, 1e-6);
            assert_close(shift[v].center[k], v == MOVED ? step_of_moved[k] : 0.0, 1e-5);
        }
    }
}

static void test_one_moved_image_is_told_from_the_frame(void **state) {
    (void)state;
    check(false);
}

static void test_centres_on_a_line(void **state) {
    (void)state;
    check(true);
}

static void test_other_components_and_images_without_a_pose(void **state) {
    fixture f;
    psfm_pose_shift shift[NUM] = {0};
    (void)state;
    make_fixture(&f, false);
    f.component[1] = 1;
    f.posed[2] = false;
    shift[1].rotation[0] = 42.0;
    psfm_pose_shifts_find(&f.poses, 0, &f.test, shift);
    assert_false(shift[1].known);
    assert_close(shift[1].rotation[0], 42.0, 0.0);
    assert_false(shift[2].known);
    assert_true(shift[3].known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_moved_image_is_told_from_the_frame),
        cmocka_unit_test(test_centres_on_a_line),
        cmocka_unit_test(test_other_components_and_images_without_a_pose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
