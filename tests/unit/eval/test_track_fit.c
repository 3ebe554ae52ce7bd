#include "eval/track_fit.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

enum { NUM_IMAGES = 6, NUM_POINTS = 400 };
#define NOISE_PX 0.3

/* Cameras in a row before a cloud of points, which all of them see with some noise. */
typedef struct {
    psfm_camera camera;
    psfm_model_image images[NUM_IMAGES];
    char names[NUM_IMAGES][8];
    double xy[NUM_IMAGES][NUM_POINTS][2];
    psfm_model_point points[NUM_POINTS];
    psfm_track_element tracks[NUM_POINTS][NUM_IMAGES];
    psfm_model model;
} scene;

static void make_scene(scene *s) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    *s = (scene){.camera = {.id = 1, .model = PSFM_CAMERA_PINHOLE, .width = 1000, .height = 800}};
    memcpy(s->camera.params, (const double[]){900.0, 900.0, 500.0, 400.0}, 4 * sizeof(double));
    for (uint32_t v = 0; v < NUM_IMAGES; ++v) {
        (void)snprintf(s->names[v], sizeof s->names[v], "%u.jpg", v);
        s->images[v] = (psfm_model_image){.id = v + 1,
                                          .camera_id = 1,
                                          .name = s->names[v],
                                          .cam_from_world_q = {1.0, 0.0, 0.0, 0.0},
                                          .cam_from_world_t = {-0.5 * v, 0.1 * v, 0.0},
                                          .num_keypoints = NUM_POINTS,
                                          .keypoints = s->xy[v]};
    }
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        double X[3] = {psfm_rng_range(&rng, -1.0, 3.0), psfm_rng_range(&rng, -2.0, 2.0),
                       psfm_rng_range(&rng, 6.0, 10.0)};
        s->points[p] =
            (psfm_model_point){.id = p + 1, .track_length = NUM_IMAGES, .track = s->tracks[p]};
        for (uint32_t v = 0; v < NUM_IMAGES; ++v) {
            double ray[3];
            for (int k = 0; k < 3; ++k)
                ray[k] = X[k] + s->images[v].cam_from_world_t[k];
            assert_true(psfm_camera_project(&s->camera, ray, s->xy[v][p]));
            for (int k = 0; k < 2; ++k)
                s->xy[v][p][k] += NOISE_PX * psfm_rng_normal(&rng);
            s->tracks[p][v] = (psfm_track_element){v + 1, p};
        }
    }
    s->model = (psfm_model){&s->camera, 1, s->images, NUM_IMAGES, s->points, NUM_POINTS};
}

static void right_poses_fit_to_the_noise(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    psfm_track_fit fit;
    make_scene(&s);
    assert_ok(ctx, psfm_track_fit_measure(ctx, &s.model, &s.model, &fit));
    assert_int_equal(fit.num_observations, NUM_IMAGES * NUM_POINTS);
    assert_true(fabs(fit.estimate_px - NOISE_PX) < 0.1 * NOISE_PX);
    assert_true(fit.truth_px == fit.estimate_px);
    psfm_context_destroy(&ctx);
}

/* A truth in another frame fits as well; one that is wrong by a tenth of a degree does not. */
static void truth_is_judged_too(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, truth;
    psfm_track_fit fit;
    const double turn[3] = {0.3, -0.2, 0.9}, error[3] = {0.0, 0.0017, 0.0};
    double G[9], E[9], R[9];
    make_scene(&s);
    make_scene(&truth);
    psfm_rotation_exp(turn, G);
    psfm_mat3_transpose(G, R); /* X' = G X, so that X_cam = G^T X' + t */
    for (int v = 0; v < NUM_IMAGES; ++v)
        psfm_rotation_to_quat(R, truth.images[v].cam_from_world_q);
    assert_ok(ctx, psfm_track_fit_measure(ctx, &truth.model, &s.model, &fit));
    assert_true(fabs(fit.truth_px - fit.estimate_px) < 1e-6);
    psfm_rotation_exp(error, E);
    psfm_mat3_mul(E, R, G);
    for (int v = 0; v < NUM_IMAGES; v += 2)
        psfm_rotation_to_quat(G, truth.images[v].cam_from_world_q);
    assert_ok(ctx, psfm_track_fit_measure(ctx, &truth.model, &s.model, &fit));
    assert_true(fit.truth_px > 1.2 * fit.estimate_px);
    psfm_context_destroy(&ctx);
}

/* Images that the truth lacks do not count, and neither do tracks that get too short by that. */
static void missing_images_are_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, truth;
    psfm_track_fit fit;
    make_scene(&s);
    make_scene(&truth);
    truth.model.num_images = 4;
    assert_ok(ctx, psfm_track_fit_measure(ctx, &truth.model, &s.model, &fit));
    assert_int_equal(fit.num_observations, 4 * NUM_POINTS);
    truth.model.num_images = 2;
    assert_ok(ctx, psfm_track_fit_measure(ctx, &truth.model, &s.model, &fit));
    assert_int_equal(fit.num_observations, 0);
    assert_true(isnan(fit.truth_px) && isnan(fit.estimate_px));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_poses_fit_to_the_noise),
        cmocka_unit_test(truth_is_judged_too),
        cmocka_unit_test(missing_images_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
