/* The marks of a court in the photographs of a model whose world is another one. */
#include "world/align_points.h"

#include "unit/court/court_scene.h"
#include "unit/formats/io_util.h"

enum { NUM = 4, WIDTH = 640, HEIGHT = 360 };

static psfm_context *ctx;
static char folder[MAX_PATH];
static court_shot shots[NUM];
static psfm_camera cameras[2];
static psfm_model_image images[NUM];
static psfm_model model;

/* Photographs 0 to 2 are of the court, 1 from the other side; 3 has another size than its camera.
 */
static int open_photographs(void **state) {
    (void)state;
    static const double from[NUM][2] = {{-7, -13}, {6, 14}, {11, -12}, {0, -14}};
    static const char *const names[NUM] = {"a.png", "b.png", "c.png", "d.png"};
    psfm_court court;
    psfm_drawing drawing;
    ctx = psfm_context_create();
    make_scratch(folder);
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    for (uint32_t c = 0; c < 2; ++c)
        cameras[c] = (psfm_camera){.id = c + 1,
                                   .model = PSFM_CAMERA_PINHOLE,
                                   .width = WIDTH + 2 * c,
                                   .height = HEIGHT,
                                   .params = {480.0, 480.0, 320.0, 180.0}};
    for (uint32_t k = 0; k < NUM; ++k) {
        char path[MAX_PATH];
        psfm_image image;
        shots[k] = (court_shot){.camera = cameras[0],
                                .line_width = 0.08,
                                .ground = 110.0,
                                .paint = 210.0,
                                .noise = 2.0};
        aim(&shots[k], from[k][0], from[k][1], 6.0, 0.5, 0.2);
        assert_ok(ctx, take_shot(ctx, &drawing, &shots[k], &image));
        join(path, folder, names[k]);
        assert_ok(ctx, psfm_image_write(ctx, &image, 90, path));
        psfm_image_free(&image);
        images[k] =
            (psfm_model_image){.id = k + 1, .camera_id = k < 3 ? 1 : 2, .name = (char *)names[k]};
    }
    psfm_drawing_free(&drawing);
    model = (psfm_model){.cameras = cameras, .num_cameras = 2, .images = images, .num_images = NUM};
    return 0;
}

static int drop_photographs(void **state) {
    (void)state;
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
    return 0;
}

/* The images in a world that is turned against the court's. */
static void turn_world(void) {
    static const double w[3] = {0.4, -0.7, 1.1};
    double G[9], R[9];
    psfm_rotation_exp(w, G);
    for (uint32_t k = 0; k < NUM; ++k) {
        psfm_mat3_mul_t(shots[k].R, G, R);
        psfm_rotation_to_quat(R, images[k].cam_from_world_q);
    }
}

static psfm_status find(psfm_control_set *points) {
    psfm_court court;
    assert_true(psfm_court_get("basketball", &court));
    return psfm_court_points_find(ctx, &model, folder, &court, points);
}

/* The pixel of a mark, and whether it is in the photograph by a pixel at least. */
static bool see_mark(const court_shot *shot, const double at[3], double xy[2]) {
    double X[3], q[3];
    psfm_sub3(at, shot->center, X);
    psfm_mat3_mul_vec(shot->R, X, q);
    return q[2] > 0.0 && psfm_camera_project(&shot->camera, q, xy) && xy[0] > 1.0 && xy[1] > 1.0 &&
           xy[0] < WIDTH - 1.0 && xy[1] < HEIGHT - 1.0;
}

/* Views of one image: each mark it sees, to half a pixel. */
static size_t check_views(const psfm_control_set *points, uint32_t k) {
    size_t found = 0, seen = 0;
    for (size_t i = 0; i < points->num_views; ++i) {
        const psfm_control_view *view = &points->views[i];
        double xy[2];
        if (strcmp(view->image, images[k].name) != 0)
            continue;
        if (!see_mark(&shots[k], points->points[view->point].at, xy))
            continue;
        assert_close(view->xy[0], xy[0], 0.5);
        assert_close(view->xy[1], xy[1], 0.5);
        ++found;
    }
    for (size_t p = 0; p < points->num_points; ++p) {
        double xy[2];
        seen += see_mark(&shots[k], points->points[p].at, xy);
    }
    assert_int_equal(found, seen);
    return found;
}

/* All marks, and where each photograph sees them, in the court as the first one has it. An image
 * that the model has in another way than the others drops out, and nothing changes for these, on
 * any number of threads. */
static void marks_are_where_they_are_seen(void **state) {
    (void)state;
    psfm_control_set points, fewer;
    psfm_court court;
    turn_world();
    psfm_context_set_threads(ctx, 1);
    assert_ok(ctx, find(&points));
    assert_true(psfm_court_get("basketball", &court));
    assert_int_equal(points.num_points, 20);
    for (size_t p = 0; p < points.num_points; ++p) {
        double at[3];
        assert_true(psfm_court_find(&court, points.points[p].label, at));
        assert_memory_equal(points.points[p].at, at, sizeof at);
    }
    size_t first = check_views(&points, 0), second = check_views(&points, 1);
    assert_true(first >= 8 && second >= 8 && check_views(&points, 2) >= 8);
    images[2].cam_from_world_q[1] += 0.3;
    psfm_context_set_threads(ctx, 3);
    assert_ok(ctx, find(&fewer));
    assert_true(check_views(&fewer, 0) == first && check_views(&fewer, 1) == second);
    for (size_t i = 0; i < fewer.num_views; ++i) {
        assert_string_not_equal(fewer.views[i].image, "c.png");
        assert_string_equal(fewer.views[i].image, points.views[i].image);
        assert_memory_equal(fewer.views[i].xy, points.views[i].xy, sizeof fewer.views[i].xy);
    }
    psfm_control_free(&points);
    psfm_control_free(&fewer);
}

/* No photograph of a court, and no folder: told, and nothing is left. */
static void nothing_to_find_is_told(void **state) {
    (void)state;
    psfm_control_set points;
    psfm_court court;
    model.num_images = 0;
    assert_int_equal(find(&points), PSFM_ERR_DATA);
    assert_message(ctx, "no photograph shows the lines of a basketball court");
    assert_true(points.num_points == 0 && points.points == NULL);
    model.num_images = NUM;
    assert_true(psfm_court_get("basketball", &court));
    assert_int_equal(psfm_court_points_find(ctx, &model, "/nowhere", &court, &points), PSFM_ERR_IO);
    assert_message(ctx, "/nowhere");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_where_they_are_seen),
        cmocka_unit_test(nothing_to_find_is_told),
    };
    return cmocka_run_group_tests(tests, open_photographs, drop_photographs);
}
