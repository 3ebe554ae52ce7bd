#include "eval/compare_models.h"

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "synth/scene.h"
#include "test_util.h"
#include "world/frame.h"

static psfm_context *ctx;

static void make_model(int num_cameras, psfm_model *model) {
    psfm_scene scene;
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = num_cameras;
    options.num_points = 50;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    *model = scene.truth;
    scene.truth = (psfm_model){0};
    psfm_scene_free(&scene);
}

/* The similarity by which B differs. */
static psfm_sim3 away(void) {
    psfm_sim3 s = {.scale = 3.5, .t = {10, -20, 30}};
    psfm_rotation_exp((const double[3]){0.3, -2.0, 0.9}, s.R);
    return s;
}

/* Turns a camera about its centre. */
static void turn(psfm_model_image *image, double degrees) {
    double R[9], T[9], moved[9], c[3];
    const double w[3] = {0, psfm_radians(degrees), 0};
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_model_image_center(image, c);
    psfm_rotation_exp(w, T);
    psfm_mat3_mul(T, R, moved);
    psfm_rotation_to_quat(moved, image->cam_from_world_q);
    psfm_mat3_mul_vec(moved, c, image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
}

/* B is A moved away, one camera shifted by a metre, one turned by 7 degrees, one renamed. */
static void test_differences(void **state) {
    (void)state;
    psfm_model a, b;
    psfm_comparison c;
    make_model(12, &a);
    make_model(12, &b);
    b.images[2].cam_from_world_t[0] += 1.0;
    turn(&b.images[5], 7.0);
    b.images[11].name[0] = 'z';
    psfm_sim3 s = away();
    psfm_model_move(&b, &s);
    assert_ok(ctx, psfm_compare_models(ctx, &a, &b, &c));
    assert_int_equal(c.num_images, 11);
    assert_int_equal(c.num_only_a, 1);
    assert_int_equal(c.num_only_b, 1);
    assert_close(c.a_from_b.scale, 1.0 / 3.5, 1e-9);
    for (size_t k = 0; k < 11; ++k) {
        assert_int_equal(c.images[k].image_a, k);
        assert_close(c.images[k].position, k == 2 ? 1.0 : 0.0, 1e-8);
        assert_close(c.images[k].rotation_deg, k == 5 ? 7.0 : 0.0, 1e-5);
    }
    assert_close(c.max_position, 1.0, 1e-8);
    assert_close(c.max_rotation_deg, 7.0, 1e-5);
    assert_below(c.median_position, 1e-8);
    cJSON *json = psfm_comparison_to_json(&c, &a);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "images")), 11);
    cJSON_Delete(json);
    psfm_comparison_free(&c);
    psfm_model_free(&a);
    psfm_model_free(&b);
}

/* Two cameras, and cameras on a line: the rotations align them. */
static void test_degenerate(void **state) {
    (void)state;
    psfm_sim3 s = away();
    for (int pair = 0; pair < 2; ++pair) {
        psfm_model a, b;
        psfm_comparison c;
        make_model(8, &a);
        make_model(8, &b);
        a.num_images = b.num_images = pair == 0 ? 2 : 8;
        for (size_t k = 0; pair == 1 && k < 8; ++k) {
            double R[9];
            const double center[3] = {(double)k, 0, 0};
            psfm_rotation_from_quat(a.images[k].cam_from_world_q, R);
            psfm_mat3_mul_vec(R, center, a.images[k].cam_from_world_t);
            memcpy(b.images[k].cam_from_world_t, a.images[k].cam_from_world_t, sizeof center);
        }
        psfm_model_move(&b, &s);
        assert_ok(ctx, psfm_compare_models(ctx, &a, &b, &c));
        assert_below(c.max_position, 1e-7);
        assert_below(c.max_rotation_deg, 1e-5);
        assert_close(c.a_from_b.scale, 1.0 / 3.5, 1e-9);
        psfm_comparison_free(&c);
        a.num_images = b.num_images = 8;
        psfm_model_free(&a);
        psfm_model_free(&b);
    }
}

static void test_refusals(void **state) {
    (void)state;
    psfm_model a, b;
    psfm_comparison c;
    make_model(4, &a);
    make_model(4, &b);
    for (size_t k = 0; k < 4; ++k)
        b.images[k].name[0] = 'z';
    assert_int_equal(psfm_compare_models(ctx, &a, &b, &c), PSFM_ERR_DATA);
    psfm_comparison_free(&c);
    strcpy(a.images[1].name, a.images[0].name);
    assert_int_equal(psfm_compare_models(ctx, &a, &b, &c), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "two images"));
    psfm_comparison_free(&c);
    psfm_model_free(&a);
    psfm_model_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_refusals),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
