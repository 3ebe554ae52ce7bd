/* The world frame of made-up components. */
#include "test_util.h"

#include "core/linalg/mat3.h"
#include "world/frame.h"

enum { NUM_VIEWS = 6, NUM_POINTS = 8 };

/* Two components of three images. Each looks down on a rectangle of 6 x 2 units whose frame is
 * turned, shifted and scaled by its own amount; the cameras are 4 above it. */
typedef struct {
    psfm_camera camera;
    psfm_view views[NUM_VIEWS];
    psfm_match_set set;
    psfm_pose_solution solution;
    psfm_refined refined;
} world;

static const double corner[4][2] = {{-3, -1}, {3, -1}, {3, 1}, {-3, 1}};
static const double place[3][3] = {{-2, 0, 4}, {0, 0.5, 4}, {2, 0, 4}};
static char *const names[NUM_VIEWS] = {"a", "b", "c", "d", "e", "f"};

/* What the gauge of a component makes of a point of the upright world. */
static psfm_sim3 gauge(uint32_t component) {
    psfm_sim3 g = {.scale = component == 0 ? 0.5 : 7.0, .t = {1, -2, 3 + 5 * component}};
    double w[3] = {0.3 + component, -0.4, 0.9};
    psfm_rotation_exp(w, g.R);
    return g;
}

static void add_view(world *w, uint32_t v, uint32_t component) {
    static const double down[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    psfm_sim3 g = gauge(component);
    w->views[v].name = names[v];
    w->solution.poses.component[v] = component;
    psfm_sim3_apply(&g, place[v % 3], w->solution.poses.center[v]);
    psfm_mat3_mul_t(down, g.R, w->solution.poses.cam_from_world[v]);
}

static void add_plane(world *w, psfm_context *ctx, uint32_t component) {
    psfm_sim3 g = gauge(component);
    psfm_scene_plane *plane = &w->refined.planes.planes[component];
    uint32_t member[4];
    plane->component = component;
    for (int k = 0; k < 3; ++k)
        plane->normal[k] = g.R[3 * k + 2];
    plane->distance = psfm_dot3(plane->normal, g.t);
    for (uint32_t k = 0; k < 4; ++k) {
        uint32_t p = 4 * component + k;
        double X[3] = {corner[k][0], corner[k][1], 0};
        member[k] = p;
        w->refined.structure.component[p] = component;
        psfm_sim3_apply(&g, X, w->refined.structure.points[p]);
    }
    assert_ok(ctx, psfm_scene_plane_outline(ctx, (const double(*)[3])w->refined.structure.points,
                                            member, 4, plane));
}

static void make(psfm_context *ctx, bool with_planes, world *w) {
    *w = (world){.camera = {.id = 1, .model = PSFM_CAMERA_PINHOLE, .width = 400, .height = 400}};
    const double parameters[4] = {200, 200, 200, 200};
    memcpy(w->camera.params, parameters, sizeof parameters);
    w->set = (psfm_match_set){
        .cameras = &w->camera, .num_cameras = 1, .views = w->views, .num_views = NUM_VIEWS};
    assert_ok(ctx, psfm_poses_init(ctx, NUM_VIEWS, &w->solution.poses));
    w->solution.num_nodes = NUM_VIEWS;
    w->solution.num_components = 2;
    for (uint32_t v = 0; v < NUM_VIEWS; ++v)
        add_view(w, v, v / 3);
    if (!with_planes)
        return;
    psfm_structure *st = &w->refined.structure;
    st->num_points = NUM_POINTS;
    st->points = calloc(NUM_POINTS, sizeof *st->points);
    st->component = calloc(NUM_POINTS, sizeof *st->component);
    w->refined.planes = (psfm_scene_planes){calloc(2, sizeof(psfm_scene_plane)), 2, NULL};
    add_plane(w, ctx, 0);
    add_plane(w, ctx, 1);
}

static void drop(world *w) {
    psfm_poses_free(&w->solution.poses);
    psfm_refined_free(&w->refined);
}

/* Both components end in the same upright world, `scale` times as large as the one they come from.
 * The sense of the long axis is free. */
static void check_upright(const world *w, const double scale[2]) {
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        const double *X = w->solution.poses.center[v];
        double s = scale[v / 3];
        assert_close(fabs(X[0]), s * fabs(place[v % 3][0]), 1e-9);
        assert_close(fabs(X[1]), s * fabs(place[v % 3][1]), 1e-9);
        assert_close(X[2], s * 4.0, 1e-9);
        assert_close(w->solution.poses.cam_from_world[v][8], -1.0, 1e-9); /* looks down */
    }
    for (uint32_t p = 0; p < w->refined.structure.num_points; ++p) {
        const double *X = w->refined.structure.points[p];
        assert_close(fabs(X[0]), 3.0 * scale[p / 4], 1e-9);
        assert_close(fabs(X[1]), 1.0 * scale[p / 4], 1e-9);
        assert_close(X[2], 0.0, 1e-9);
    }
    for (uint32_t k = 0; k < w->refined.planes.num_planes; ++k) {
        assert_close(w->refined.planes.planes[k].normal[2], 1.0, 1e-9);
        assert_close(w->refined.planes.planes[k].distance, 0.0, 1e-9);
    }
}

static void every_component_stands_on_its_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double unit[2] = {0.25, 0.25}, ten[2] = {2.5, 2.5};
    world w;
    make(ctx, true, &w);
    assert_ok(ctx, psfm_frame_set(ctx, &w.set, &(psfm_frame_options){0}, PSFM_NO_COMPONENT,
                                  &w.solution, &w.refined));
    check_upright(&w, unit);
    drop(&w);
    make(ctx, true, &w);
    psfm_frame_options options = {.scale = 10.0};
    assert_ok(ctx,
              psfm_frame_set(ctx, &w.set, &options, PSFM_NO_COMPONENT, &w.solution, &w.refined));
    check_upright(&w, ten);
    drop(&w);
    psfm_context_destroy(&ctx);
}

/* Where the rectangle's corner is in an image of the second component. */
static void find_corner(const world *w, uint32_t v, uint32_t p, double xy[2]) {
    double d[3], ray[3];
    psfm_sub3(w->refined.structure.points[p], w->solution.poses.center[v], d);
    psfm_mat3_mul_vec(w->solution.poses.cam_from_world[v], d, ray);
    assert_true(psfm_camera_project(&w->camera, ray, xy));
}

static void a_known_distance_scales_its_component(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double scale[2] = {0.25, 3.0};
    world w;
    make(ctx, true, &w);
    psfm_frame_options options = {
        .distance = {"e", "d", {0}, {0}, 18.0}}; /* the long side, thrice */
    find_corner(&w, 4, 4, options.distance.xy1);
    find_corner(&w, 3, 5, options.distance.xy2);
    assert_ok(ctx,
              psfm_frame_set(ctx, &w.set, &options, PSFM_NO_COMPONENT, &w.solution, &w.refined));
    check_upright(&w, scale);
    drop(&w);
    make(ctx, true, &w);
    options.distance.image2 = "a"; /* of the other component */
    assert_int_equal(
        psfm_frame_set(ctx, &w.set, &options, PSFM_NO_COMPONENT, &w.solution, &w.refined),
        PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "a has no pose in the model"));
    drop(&w);
    psfm_context_destroy(&ctx);
}

static void without_a_plane_the_cameras_are_in_the_middle(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    world w;
    make(ctx, false, &w);
    assert_ok(ctx, psfm_frame_set(ctx, &w.set, &(psfm_frame_options){0}, PSFM_NO_COMPONENT,
                                  &w.solution, &w.refined));
    for (uint32_t c = 0; c < 2; ++c) {
        double middle[3] = {0}, side[3];
        for (uint32_t v = 3 * c; v < 3 * c + 3; ++v)
            psfm_axpy3(middle, 1.0, w.solution.poses.center[v], middle);
        assert_below(psfm_norm3(middle), 1e-9);
        /* the median distance from there is 1: of the two outer cameras, which are 4 apart and
         * 1/6 beside the middle */
        psfm_sub3(w.solution.poses.center[3 * c], w.solution.poses.center[3 * c + 2], side);
        assert_close(psfm_norm3(side), 4.0 / hypot(2.0, 0.5 / 3.0), 1e-9);
    }
    drop(&w);
    psfm_context_destroy(&ctx);
}

static void points_in_images_are_parsed(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *image = NULL;
    double xy[2];
    assert_ok(ctx, psfm_parse_image_point(ctx, "dir:x/a.jpg:1.5,-20", &image, xy));
    assert_string_equal(image, "dir:x/a.jpg");
    assert_close(xy[0], 1.5, 0.0);
    assert_close(xy[1], -20.0, 0.0);
    free(image);
    const char *bad[] = {"a.jpg", "a.jpg:1", "a.jpg:1,", "a.jpg:1,2,3", ":1,2", "a.jpg:nan,1", ""};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        assert_int_equal(psfm_parse_image_point(ctx, bad[k], &image, xy), PSFM_ERR_ARGUMENT);
        assert_null(image);
    }
    psfm_context_destroy(&ctx);
}

/* An ellipsoid that is long along one axis of the world is long along that axis turned. */
static void covariances_turn_and_grow(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    world w;
    make(ctx, false, &w);
    psfm_sim3 g = gauge(1);
    psfm_refined_image images[NUM_VIEWS] = {{.center_sigma = 3.0,
                                             .center_covariance = {4, 0, 0, 0, 1, 0, 0, 0, 4},
                                             .rotation_covariance = {2, 0, 0, 0, 3, 0, 0, 0, 5},
                                             .mixed_covariance = {1, 0, 0, 0, 0, 0, 0, 0, 0}}};
    w.refined.images = images;
    psfm_component_move(&g, 0, &w.solution, &w.refined);
    w.refined.images = NULL;
    assert_close(images[0].center_sigma, 21.0, 1e-9);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double C = 4.0 * g.R[3 * i] * g.R[3 * j] + g.R[3 * i + 1] * g.R[3 * j + 1] +
                       4.0 * g.R[3 * i + 2] * g.R[3 * j + 2];
            assert_close(images[0].center_covariance[3 * i + j], 49.0 * C, 1e-9);
            /* The rotation's axes are the camera's, which do not turn with the world. */
            assert_close(images[0].mixed_covariance[3 * i + j], i == 0 ? 7.0 * g.R[3 * j] : 0.0,
                         1e-9);
        }
    assert_close(images[0].rotation_covariance[4], 3.0, 0.0);
    drop(&w);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_turn_and_grow),
        cmocka_unit_test(every_component_stands_on_its_plane),
        cmocka_unit_test(a_known_distance_scales_its_component),
        cmocka_unit_test(without_a_plane_the_cameras_are_in_the_middle),
        cmocka_unit_test(points_in_images_are_parsed),
    };
    return cmocka_run_group_tests_name("world/frame", tests, NULL, NULL);
}
