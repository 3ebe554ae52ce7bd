/* Models of made-up components: who is in which, and what refers to what. */
#include "test_util.h"

#include "core/linalg/mat3.h"
#include "world/build_model.h"

enum { NUM_VIEWS = 5, NUM_POINTS = 3 };

/* Views 1 and 3 are component 0, 0 and 4 component 1; view 2 has no pose. Views use the camera of
 * their index modulo 3; the third camera is that of view 2 alone. */
static const uint32_t component[NUM_VIEWS] = {1, 0, PSFM_NO_COMPONENT, 0, 1};
static const uint32_t seen_by[NUM_POINTS][2] = {{0, 4}, {1, 3}, {1, 3}};
static char *const names[NUM_VIEWS] = {"a", "b", "c", "d", "e"};
static double keypoints[NUM_VIEWS][4][2];

typedef struct {
    psfm_camera cameras[3], refined_cameras[3];
    psfm_view views[NUM_VIEWS];
    psfm_match_set set;
    psfm_pose_solution solution;
    psfm_refined refined;
    double points[NUM_POINTS][3], error_px[NUM_POINTS];
    uint32_t point_component[NUM_POINTS], view[2 * NUM_POINTS], keypoint[2 * NUM_POINTS];
    size_t begin[NUM_POINTS + 1];
} world;

static void make(psfm_context *ctx, world *w) {
    *w = (world){0};
    for (uint32_t c = 0; c < 3; ++c) {
        w->cameras[c] = (psfm_camera){.id = 10 + c, .model = PSFM_CAMERA_SIMPLE_PINHOLE};
        w->refined_cameras[c] = w->cameras[c];
        w->refined_cameras[c].params[0] = 500.0 + c;
    }
    assert_ok(ctx, psfm_poses_init(ctx, NUM_VIEWS, &w->solution.poses));
    w->solution.num_components = 2;
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        w->views[v] = (psfm_view){.id = 100 + v,
                                  .name = names[v],
                                  .camera_idx = v % 3,
                                  .keypoints = keypoints[v],
                                  .num_keypoints = 4};
        w->solution.poses.component[v] = component[v];
        w->solution.poses.center[v][0] = v;
        for (int k = 0; k < 4; ++k)
            keypoints[v][k][0] = 10.0 * v + k;
    }
    w->set = (psfm_match_set){
        .cameras = w->cameras, .num_cameras = 3, .views = w->views, .num_views = NUM_VIEWS};
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        w->points[p][2] = p;
        w->error_px[p] = 0.5 * p;
        w->point_component[p] = component[seen_by[p][0]];
        w->begin[p + 1] = 2 * (p + 1);
        for (uint32_t k = 0; k < 2; ++k) {
            w->view[2 * p + k] = seen_by[p][k];
            w->keypoint[2 * p + k] = p + 1;
        }
    }
    w->refined.cameras = w->refined_cameras;
    w->refined.structure = (psfm_structure){.num_points = NUM_POINTS,
                                            .points = w->points,
                                            .component = w->point_component,
                                            .error_px = w->error_px,
                                            .tracks = {NUM_POINTS, w->begin, w->view, w->keypoint}};
}

static void drop(psfm_model *models, size_t num) {
    for (size_t k = 0; k < num; ++k)
        psfm_model_free(&models[k]);
    free(models);
}

/* Everything a model refers to is in it, both ways. */
static void check_references(const psfm_model *model) {
    for (size_t p = 0; p < model->num_points; ++p) {
        const psfm_model_point *point = &model->points[p];
        assert_int_equal(point->id, p + 1);
        for (size_t k = 0; k < point->track_length; ++k) {
            const psfm_model_image *image = psfm_model_image_by_id(model, point->track[k].image_id);
            assert_non_null(image);
            assert_int_equal(image->point3D_ids[point->track[k].keypoint_idx], point->id);
        }
    }
    for (size_t i = 0; i < model->num_images; ++i)
        assert_non_null(psfm_model_camera(model, model->images[i].camera_id));
}

static void components_become_models(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    world w;
    psfm_model *models = NULL;
    size_t num = 0;
    make(ctx, &w);
    assert_ok(ctx, psfm_build_models(ctx, &w.set, &w.solution, &w.refined, &models, &num));
    assert_int_equal(num, 2);
    assert_int_equal(models[0].num_images, 2);
    assert_string_equal(models[0].images[0].name, "b");
    assert_int_equal(models[0].images[1].id, 103);
    assert_close(models[0].images[1].cam_from_world_t[0], -3.0, 0.0);
    assert_int_equal(models[0].num_points, 2);
    assert_close(models[0].points[1].xyz[2], 2.0, 0.0);
    assert_close(models[0].points[1].error, 1.0, 0.0);
    assert_int_equal(models[1].num_points, 1);
    assert_int_equal(models[1].points[0].track_length, 2);
    assert_int_equal(models[1].points[0].track[1].image_id, 104);
    assert_int_equal(models[0].num_cameras, 2); /* of views 1 and 3 */
    assert_close(models[0].cameras[1].params[0], 501.0, 0.0);
    assert_close(models[0].images[0].keypoints[2][0], 12.0, 0.0);
    check_references(&models[0]);
    check_references(&models[1]);
    drop(models, num);
    psfm_poses_free(&w.solution.poses);
    psfm_context_destroy(&ctx);
}

static void poses_alone_will_do(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    world w;
    psfm_model *models = NULL;
    size_t num = 0;
    make(ctx, &w);
    assert_ok(ctx, psfm_build_models(ctx, &w.set, &w.solution, NULL, &models, &num));
    assert_int_equal(num, 2);
    assert_int_equal(models[1].num_images, 2);
    assert_int_equal(models[1].num_points, 0);
    assert_int_equal(models[1].images[0].num_keypoints, 0);
    assert_close(models[1].cameras[0].params[0], 0.0, 0.0); /* as they went in */
    drop(models, num);
    psfm_poses_free(&w.solution.poses);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_become_models),
        cmocka_unit_test(poses_alone_will_do),
    };
    return cmocka_run_group_tests_name("world/build_model", tests, NULL, NULL);
}
