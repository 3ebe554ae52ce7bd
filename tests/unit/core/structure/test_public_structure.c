#include "../bundle/bundle_scene.h"

#include "planarsfm/structure.h"

static const scene_options clean = {.num_images = 6,
                                    .num_points = 120,
                                    .num_cameras = 1,
                                    .model = PSFM_CAMERA_OPENCV,
                                    .visible = 0.9,
                                    .seed = 3};

static psfm_bundle_scene make_public(scene *s) {
    return (psfm_bundle_scene){.struct_size = sizeof(psfm_bundle_scene),
                               .num_cameras = s->problem.num_cameras,
                               .cameras = s->cameras,
                               .num_images = s->problem.num_images,
                               .image_camera = s->image_camera,
                               .cam_from_world = *s->R,
                               .centers = *s->c,
                               .num_points = s->problem.num_points,
                               .points = *s->points,
                               .num_observations = s->problem.num_observations,
                               .obs_image = s->obs_image,
                               .obs_point = s->obs_point,
                               .obs_xy = *s->obs_xy};
}

/* Points come back exactly, whatever the order of the observations, and wrong ones are named. */
static void test_triangulation(void **state) {
    psfm_context *ctx = *state;
    scene *s = calloc(1, sizeof *s);
    bool *inlier = calloc(SCENE_MAX_IMAGES * SCENE_MAX_POINTS, sizeof *inlier);
    bool found[SCENE_MAX_POINTS];
    scene_make(&clean, s);
    memset(s->points, 0, sizeof s->points);
    psfm_bundle_scene bundle = make_public(s);
    s->obs_xy[40][0] += 100.0;
    s->obs_point[77] = s->obs_point[78]; /* a point seen twice by one image; one is wrong */
    assert_ok(ctx, psfm_triangulate_scene(ctx, &bundle, NULL, found, inlier));
    assert_false(inlier[40]);
    assert_true(inlier[41] && !inlier[77]);
    for (size_t k = 0; k < bundle.num_points; ++k)
        for (int i = 0; i < 3 && found[k]; ++i)
            assert_close(s->points[k][i], s->true_points[k][i], 1e-7);
    size_t num = 0;
    for (size_t k = 0; k < bundle.num_points; ++k)
        num += found[k];
    assert_true(num >= bundle.num_points - 2);
    free(inlier);
    free(s);
}

static void test_resection(void **state) {
    psfm_context *ctx = *state;
    scene *s = calloc(1, sizeof *s);
    double xy[SCENE_MAX_POINTS][2], points[SCENE_MAX_POINTS][3];
    bool inlier[SCENE_MAX_POINTS];
    psfm_resect_result result = {.struct_size = sizeof result};
    size_t num = 0;
    scene_make(&clean, s);
    for (size_t k = 0; k < s->problem.num_observations; ++k) {
        if (s->obs_image[k] != 2)
            continue;
        memcpy(xy[num], s->obs_xy[k], sizeof *xy);
        memcpy(points[num], s->points[s->obs_point[k]], sizeof *points);
        xy[num][1] += num % 3 == 0 ? 50.0 + (double)num : 0.0; /* a third is wrong */
        ++num;
    }
    assert_ok(ctx,
              psfm_resect_image(ctx, &s->cameras[0], num, *xy, *points, NULL, inlier, &result));
    assert_true(result.found && !inlier[0] && inlier[1]);
    assert_below(psfm_rotation_angle(result.cam_from_world, s->true_R[2]), 1e-8);
    for (int i = 0; i < 3; ++i)
        assert_close(result.center[i], s->true_c[2][i], 1e-7);
    assert_ok(ctx, psfm_resect_image(ctx, &s->cameras[0], 3, *xy, *points, NULL, NULL, &result));
    assert_false(result.found);
    free(s);
}

static void test_p3p(void **state) {
    psfm_context *ctx = *state;
    scene *s = calloc(1, sizeof *s);
    double rays[3][3], R[4][9], c[4][3], best = INFINITY;
    size_t num;
    scene_make(&clean, s);
    for (int k = 0; k < 3; ++k) {
        double d[3];
        psfm_sub3(s->true_points[k], s->true_c[0], d);
        psfm_mat3_mul_vec(s->true_R[0], d, rays[k]); /* of any length */
    }
    assert_ok(ctx, psfm_find_p3p_poses(ctx, *rays, *s->true_points, *R, *c, &num));
    for (size_t k = 0; k < num; ++k)
        best = fmin(best, psfm_rotation_angle(R[k], s->true_R[0]));
    assert_below(best, 1e-7);
    free(s);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    scene *s = calloc(1, sizeof *s);
    double numbers[36] = {0};
    bool mark[SCENE_MAX_POINTS];
    size_t num;
    scene_make(&clean, s);
    psfm_bundle_scene bundle = make_public(s), without = make_public(s);
    psfm_resect_result result = {.struct_size = sizeof result};
    psfm_triangulation_options odd = {.struct_size = sizeof odd, .max_error_px = NAN};
    psfm_resect_options few = {.struct_size = sizeof few, .min_inliers = 2};
    without.obs_image = NULL;
    const psfm_status refused[] = {
        psfm_find_p3p_poses(NULL, numbers, numbers, numbers, numbers, &num),
        psfm_find_p3p_poses(ctx, NULL, numbers, numbers, numbers, &num),
        psfm_find_p3p_poses(ctx, numbers, NULL, numbers, numbers, &num),
        psfm_find_p3p_poses(ctx, numbers, numbers, NULL, numbers, &num),
        psfm_find_p3p_poses(ctx, numbers, numbers, numbers, NULL, &num),
        psfm_find_p3p_poses(ctx, numbers, numbers, numbers, numbers, NULL),
        psfm_resect_image(ctx, NULL, 4, numbers, numbers, NULL, NULL, &result),
        psfm_resect_image(ctx, s->cameras, 4, NULL, numbers, NULL, NULL, &result),
        psfm_resect_image(ctx, s->cameras, 4, numbers, NULL, NULL, NULL, &result),
        psfm_resect_image(ctx, s->cameras, 4, numbers, numbers, NULL, NULL, NULL),
        psfm_resect_image(ctx, s->cameras, 4, numbers, numbers, &few, NULL, &result),
        psfm_triangulate_scene(ctx, NULL, NULL, mark, NULL),
        psfm_triangulate_scene(ctx, &bundle, NULL, NULL, NULL),
        psfm_triangulate_scene(ctx, &without, NULL, mark, NULL),
        psfm_triangulate_scene(ctx, &bundle, &odd, mark, NULL),
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k] != PSFM_ERR_ARGUMENT)
            fail_msg("call %zu gave %s", k, psfm_status_name(refused[k]));
    s->obs_image[5] = 6;
    assert_int_equal(psfm_triangulate_scene(ctx, &bundle, NULL, mark, NULL), PSFM_ERR_ARGUMENT);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triangulation),
        cmocka_unit_test(test_resection),
        cmocka_unit_test(test_p3p),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
