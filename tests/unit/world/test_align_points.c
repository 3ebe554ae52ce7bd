/* Three cameras over a plane, control points at known places: rays, places, errors, refinement. */
#include "world/align_points.h"

#include "core/linalg/mat3.h"
#include "test_util.h"

enum { NUM_IMAGES = 3, NUM_POINTS = 5 };

/* Model points; the last lies above the plane z = 0. */
static const double truth[NUM_POINTS][3] = {
    {0.5, 0.4, 0.0}, {-0.7, 0.3, 0.0}, {0.2, -0.6, 0.0}, {-0.4, -0.5, 0.0}, {0.1, 0.2, 0.8}};

typedef struct {
    psfm_context *ctx;
    psfm_camera camera;
    psfm_model_image images[NUM_IMAGES];
    psfm_model model;
    psfm_control_point points[NUM_POINTS];
    psfm_control_view views[NUM_IMAGES * NUM_POINTS];
    psfm_control_set set;
    psfm_scene_plane plane;
    psfm_control_ray *rays;
    size_t num;
    int num_warnings;
} fixture;

static void count(psfm_log_level level, const char *message, void *user) {
    (void)message;
    *(int *)user += level == PSFM_LOG_WARNING;
}

/* Cameras at height 4 that look straight down. */
static void add_image(fixture *f, uint32_t k, double x, double y) {
    static char names[NUM_IMAGES][8] = {"a.jpg", "b.jpg", "c.jpg"};
    static const double down[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    const double center[3] = {x, y, 4.0};
    psfm_model_image *image = &f->images[k];
    *image = (psfm_model_image){.id = k + 1, .camera_id = 1, .name = names[k]};
    psfm_rotation_to_quat(down, image->cam_from_world_q);
    psfm_mat3_mul_vec(down, center, image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        double depth = 4.0 - truth[p][2];
        f->views[f->set.num_views++] = (psfm_control_view){
            p,
            names[k],
            {500.0 + 800.0 * (truth[p][0] - x) / depth, 400.0 - 800.0 * (truth[p][1] - y) / depth}};
    }
}

static void make_fixture(fixture *f) {
    *f = (fixture){.ctx = psfm_context_create()};
    psfm_context_set_log(f->ctx, count, &f->num_warnings);
    f->camera = (psfm_camera){.id = 1,
                              .model = PSFM_CAMERA_SIMPLE_PINHOLE,
                              .width = 1000,
                              .height = 800,
                              .params = {800.0, 500.0, 400.0}};
    add_image(f, 0, 0.0, 0.0);
    add_image(f, 1, 1.0, 0.0);
    add_image(f, 2, 0.0, -1.0);
    f->model = (psfm_model){
        .cameras = &f->camera, .num_cameras = 1, .images = f->images, .num_images = NUM_IMAGES};
    f->set.points = f->points;
    f->set.num_points = NUM_POINTS;
    f->set.views = f->views;
    f->plane.normal[2] = 1.0;
}

static void make_rays(fixture *f) {
    free(f->rays);
    f->rays = NULL;
    assert_ok(f->ctx, psfm_control_rays_make(f->ctx, &f->model, &f->set, &f->rays, &f->num));
}

static void free_fixture(fixture *f) {
    free(f->rays);
    psfm_context_destroy(&f->ctx);
}

static void rays_go_through_their_points(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    make_rays(&f);
    assert_int_equal(f.num, NUM_IMAGES * NUM_POINTS);
    for (size_t k = 0; k < f.num; ++k) {
        double d[3], across[3];
        psfm_sub3(truth[f.rays[k].point], f.rays[k].center, d);
        psfm_cross3(d, f.rays[k].direction, across);
        assert_close(psfm_norm3(across), 0.0, 1e-12);
        assert_true(psfm_dot3(d, f.rays[k].direction) > 0.0);
        assert_close(psfm_norm3(f.rays[k].direction), 1.0, 1e-12);
    }
    assert_int_equal(f.num_warnings, 0);
    free_fixture(&f);
}

/* An image that the model lacks is named once, a pixel without a ray each time. */
static void views_without_a_ray_are_left_out(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    f.views[1].image = f.views[7].image = (char *)"elsewhere.jpg";
    f.views[3].xy[0] = NAN;
    make_rays(&f);
    assert_int_equal(f.num, NUM_IMAGES * NUM_POINTS - 3);
    assert_int_equal(f.num_warnings, 2);
    assert_null(psfm_model_image_by_name(&f.model, "elsewhere.jpg"));
    assert_ptr_equal(psfm_model_image_by_name(&f.model, "b.jpg"), &f.images[1]);
    free_fixture(&f);
}

static void check_place(const double place[3], const double expected[3]) {
    for (int c = 0; c < 3; ++c)
        assert_close(place[c], expected[c], 1e-9);
}

static void points_are_placed_by_rays_or_by_the_plane(void **state) {
    (void)state;
    fixture f;
    double places[NUM_POINTS][3];
    make_fixture(&f);
    make_rays(&f);
    psfm_control_rays_place(f.rays, f.num, NUM_POINTS, NULL, places);
    for (int p = 0; p < NUM_POINTS; ++p)
        check_place(places[p], truth[p]);
    f.set.num_views = NUM_POINTS; /* one image: the plane decides */
    make_rays(&f);
    psfm_control_rays_place(f.rays, f.num, NUM_POINTS, NULL, places);
    assert_true(isnan(places[0][0]));
    psfm_control_rays_place(f.rays, f.num, NUM_POINTS, &f.plane, places);
    for (int p = 0; p < 4; ++p)
        check_place(places[p], truth[p]);
    /* the one above it is taken to be where its ray goes on to: 4 / 3.2 times as far */
    check_place(places[4], (const double[3]){0.125, 0.25, 0.0});
    free_fixture(&f);
}

/* Two cameras a centimetre apart do not tell how far a point is. */
static void rays_side_by_side_give_no_depth(void **state) {
    (void)state;
    fixture f;
    double places[NUM_POINTS][3];
    make_fixture(&f);
    f.set.num_views = 0;
    add_image(&f, 0, 0.0, 0.0);
    add_image(&f, 1, 0.01, 0.0);
    make_rays(&f);
    psfm_control_rays_place(f.rays, f.num, NUM_POINTS, NULL, places);
    assert_true(isnan(places[0][0]));
    psfm_control_rays_place(f.rays, f.num, NUM_POINTS, &f.plane, places);
    check_place(places[0], truth[0]);
    free_fixture(&f);
}

static void rays_meet_planes_in_front_of_them(void **state) {
    (void)state;
    const psfm_scene_plane plane = {.normal = {0.0, 0.0, 1.0}, .distance = 1.0};
    const double center[3] = {1.0, 2.0, 3.0};
    const double down[3] = {0.6, 0.0, -0.8}, up[3] = {0.6, 0.0, 0.8}, along[3] = {1.0, 0.0, 0.0};
    double X[3];
    assert_true(psfm_ray_meets_plane(center, down, &plane, X));
    check_place(X, (const double[3]){2.5, 2.0, 1.0});
    assert_false(psfm_ray_meets_plane(center, up, &plane, X));
    assert_false(psfm_ray_meets_plane(center, along, &plane, X));
}

/* The world: the model turned, three times as large, and far away. */
static psfm_sim3 make_world(fixture *f) {
    psfm_sim3 s = {.scale = 3.0, .t = {1000.0, -200.0, 50.0}};
    const double turn[3] = {0.3, -0.5, 1.1};
    psfm_rotation_exp(turn, s.R);
    for (int p = 0; p < NUM_POINTS; ++p)
        psfm_sim3_apply(&s, truth[p], f->points[p].at);
    return s;
}

static void errors_are_in_pixels(void **state) {
    (void)state;
    fixture f;
    double error[2];
    make_fixture(&f);
    f.views[2].xy[0] += 3.0;
    f.views[2].xy[1] -= 4.0;
    make_rays(&f);
    psfm_sim3 world = make_world(&f);
    for (size_t k = 0; k < f.num; ++k) {
        const psfm_control_ray *ray = &f.rays[k];
        double e = psfm_control_ray_error(ray, &world, f.points[ray->point].at, error);
        assert_close(e, k == 2 ? 5.0 : 0.0, 1e-8);
        assert_close(error[0], k == 2 ? -3.0 : 0.0, 1e-8);
    }
    double behind[3];
    psfm_sim3_apply(&world, (const double[3]){0.0, 0.0, 9.0}, behind);
    assert_true(isinf(psfm_control_ray_error(&f.rays[0], &world, behind, error)));
    free_fixture(&f);
}

static void pixels_refine_the_similarity(void **state) {
    (void)state;
    fixture f;
    const double off[3] = {0.02, -0.01, 0.03};
    const bool use[NUM_POINTS] = {true, true, true, false, true};
    double turn[9];
    make_fixture(&f);
    make_rays(&f);
    psfm_sim3 world = make_world(&f), found = world;
    f.points[3].at[0] += 5.0; /* wrong, and not used */
    psfm_rotation_exp(off, turn);
    psfm_mat3_mul(turn, world.R, found.R);
    found.scale *= 1.05;
    found.t[0] += 0.3;
    found.t[2] -= 0.2;
    assert_true(psfm_sim3_refine_pixels(f.rays, f.num, f.points, use, &found));
    assert_close(found.scale, world.scale, 1e-9);
    assert_below(psfm_rotation_angle(found.R, world.R), 1e-7);
    for (int c = 0; c < 3; ++c)
        assert_close(found.t[c], world.t[c], 1e-7);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_go_through_their_points),
        cmocka_unit_test(views_without_a_ray_are_left_out),
        cmocka_unit_test(points_are_placed_by_rays_or_by_the_plane),
        cmocka_unit_test(rays_side_by_side_give_no_depth),
        cmocka_unit_test(rays_meet_planes_in_front_of_them),
        cmocka_unit_test(errors_are_in_pixels),
        cmocka_unit_test(pixels_refine_the_similarity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
