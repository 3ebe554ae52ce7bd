/* Probes of a small bundle whose truth is known. */
#include "core/refine/stability_tests.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

enum { IMAGES = 6, POINTS = 120, OBSERVATIONS = IMAGES * POINTS };

typedef struct {
    psfm_context *ctx;
    psfm_camera camera;
    uint32_t image_camera[IMAGES], obs_image[OBSERVATIONS], obs_point[OBSERVATIONS];
    double R[IMAGES][9], center[IMAGES][3], points[POINTS][3], xy[OBSERVATIONS][2];
    psfm_bundle_problem problem;
    psfm_bundle_options options;
    psfm_stability_test probe[PSFM_NUM_STABILITY_TESTS];
} fixture;

/* Cameras side by side, turned a little each, before a cloud of points; every image sees every
 * point, with so much noise. */
static void make_fixture(fixture *f, double noise_px) {
    psfm_rng rng = psfm_rng_make(4, 0, 0, 0);
    *f = (fixture){.ctx = psfm_context_create(),
                   .camera = {.id = 1,
                              .model = PSFM_CAMERA_PINHOLE,
                              .width = 1000,
                              .height = 800,
                              .params = {900.0, 900.0, 500.0, 400.0}}};
    for (int p = 0; p < POINTS; ++p) {
        double at[3] = {4.0 * psfm_rng_uniform(&rng) - 2.0, 3.0 * psfm_rng_uniform(&rng) - 1.5,
                        8.0 + 3.0 * psfm_rng_uniform(&rng)};
        memcpy(f->points[p], at, sizeof at);
    }
    for (int v = 0; v < IMAGES; ++v) {
        double w[3] = {0.02 * v, -0.12 * (v - 2.5), 0.05 * v};
        psfm_rotation_exp(w, f->R[v]);
        f->center[v][0] = 1.2 * (v - 2.5);
        f->center[v][1] = 0.3 * (v % 2);
    }
    for (uint32_t k = 0; k < OBSERVATIONS; ++k) {
        uint32_t v = k % IMAGES, p = k / IMAGES;
        double ray[3];
        psfm_sub3(f->points[p], f->center[v], ray);
        psfm_mat3_mul_vec(f->R[v], ray, ray);
        f->obs_image[k] = v;
        f->obs_point[k] = p;
        f->xy[k][0] = 900.0 * ray[0] / ray[2] + 500.0 + noise_px * psfm_rng_normal(&rng);
        f->xy[k][1] = 900.0 * ray[1] / ray[2] + 400.0 + noise_px * psfm_rng_normal(&rng);
    }
    f->problem = (psfm_bundle_problem){.num_cameras = 1,
                                       .cameras = &f->camera,
                                       .num_images = IMAGES,
                                       .image_camera = f->image_camera,
                                       .cam_from_world = f->R,
                                       .centers = f->center,
                                       .num_points = POINTS,
                                       .points = f->points,
                                       .num_observations = OBSERVATIONS,
                                       .obs_image = f->obs_image,
                                       .obs_point = f->obs_point,
                                       .obs_xy = (const double(*)[2])f->xy};
    psfm_options_init(&psfm_bundle_option_table, &f->options);
    f->options.planes = PSFM_PLANES_FREE;
}

static void adjust(fixture *f) {
    assert_ok(f->ctx, psfm_bundle_adjust(f->ctx, &f->problem, &f->options, NULL));
}

static void make(fixture *f) {
    psfm_free_intrinsics focals;
    assert_ok(f->ctx, psfm_free_intrinsics_make(f->ctx, &f->problem, &f->options, &focals));
    assert_ok(f->ctx,
              psfm_stability_tests_run(f->ctx, &f->problem, &f->options, &focals, f->probe));
    psfm_free_intrinsics_free(&focals);
}

static void free_fixture(fixture *f) {
    psfm_stability_tests_free(f->probe);
    psfm_context_destroy(&f->ctx);
}

/* The largest angle between relative rotations of a probe and of the problem, in degrees. */
static double largest_turn(const fixture *f, const psfm_stability_test *probe) {
    double largest = 0.0;
    for (int v = 1; v < IMAGES; ++v) {
        double a[9], b[9];
        psfm_mat3_mul_t(f->R[v], f->R[0], a);
        psfm_mat3_mul_t(probe->cam_from_world[v], probe->cam_from_world[0], b);
        largest = fmax(largest, psfm_rotation_angle(a, b) * 57.29577951308232);
    }
    return largest;
}

static void test_nothing_moves_without_noise(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f, 0.0);
    make(&f);
    for (int k = 0; k < PSFM_NUM_STABILITY_TESTS; ++k) {
        assert_below(largest_turn(&f, &f.probe[k]), 1e-6);
        for (int v = 0; v < IMAGES; ++v)
            assert_true(f.probe[k].posed[v]);
    }
    free_fixture(&f);
}

static void test_halves_differ_with_noise_and_the_problem_stays(void **state) {
    fixture f;
    double R[IMAGES][9], points[POINTS][3];
    (void)state;
    make_fixture(&f, 0.5);
    adjust(&f);
    memcpy(R, f.R, sizeof R);
    memcpy(points, f.points, sizeof points);
    make(&f);
    assert_true(largest_turn(&f, &f.probe[PSFM_STABILITY_HALF_A]) > 1e-3);
    assert_true(largest_turn(&f, &f.probe[PSFM_STABILITY_HALF_B]) > 1e-3);
    assert_below(largest_turn(&f, &f.probe[PSFM_STABILITY_HALF_A]), 0.5);
    assert_below(f.probe[PSFM_STABILITY_INTRINSICS].gain, 10.0); /* the focal length is right */
    assert_memory_equal(R, f.R, sizeof R);
    assert_memory_equal(points, f.points, sizeof points);
    assert_close(f.camera.params[0], 900.0, 0.0);
    free_fixture(&f);
}

static void test_a_wrong_focal_length_is_asked_for(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f, 0.5);
    f.camera.params[0] = f.camera.params[1] = 990.0;
    adjust(&f);
    make(&f);
    assert_true(f.probe[PSFM_STABILITY_INTRINSICS].gain > 25.0);
    assert_true(largest_turn(&f, &f.probe[PSFM_STABILITY_INTRINSICS]) > 0.3);
    free_fixture(&f);
}

static void test_refined_intrinsics_are_freed_as_well(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f, 0.5);
    f.options.refine = PSFM_REFINE_FOCAL;
    f.camera.params[2] += 60.0; /* the principal point */
    adjust(&f);
    make(&f);
    assert_true(f.probe[PSFM_STABILITY_INTRINSICS].gain > 20.0);
    assert_true(largest_turn(&f, &f.probe[PSFM_STABILITY_INTRINSICS]) > 0.1);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_moves_without_noise),
        cmocka_unit_test(test_halves_differ_with_noise_and_the_problem_stays),
        cmocka_unit_test(test_a_wrong_focal_length_is_asked_for),
        cmocka_unit_test(test_refined_intrinsics_are_freed_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
