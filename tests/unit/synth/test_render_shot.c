#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/camera/camera_convert.h"
#include "core/linalg/mat3.h"
#include "synth/render_camera.h"

#define SQUARES 4

/* Linear values of the bytes 240 and 80: rounding to bytes does not change them. */
#define BRIGHT 0.87137
#define DARK 0.080220

/* Light from everywhere, so that what is seen is the colour. */
static const psfm_light even_light = {.from_above = {1, 1, 1}, .from_below = {1, 1, 1}};

/* Centres of dark squares of 1.2 x 1.2 m on a bright plane. */
static const double squares[SQUARES][2] = {{-3.1, -1.4}, {2.7, -1.1}, {-2.2, 1.9}, {3.3, 1.6}};

static void paint_squares(const psfm_surface *surface, double rgb[3]) {
    double dark = 0.0;
    psfm_texel t = surface->texel;
    t.u = surface->xyz[0];
    t.v = surface->xyz[1];
    for (int k = 0; k < SQUARES; ++k)
        dark += psfm_cover_rect(&t, squares[k][0] - 0.6, squares[k][1] - 0.6, squares[k][0] + 0.6,
                                squares[k][1] + 0.6);
    for (int k = 0; k < 3; ++k)
        rgb[k] = BRIGHT - (BRIGHT - DARK) * dark;
}

static void paint_white(const psfm_surface *surface, double rgb[3]) {
    (void)surface;
    for (int k = 0; k < 3; ++k)
        rgb[k] = BRIGHT;
}

static void paint_dark(const psfm_surface *surface, double rgb[3]) {
    (void)surface;
    for (int k = 0; k < 3; ++k)
        rgb[k] = DARK;
}

static psfm_synth_pose pose_from(double x, double y, double z) {
    psfm_synth_pose pose;
    const double center[3] = {x, y, z}, target[3] = {0.2, 0.1, 0.0};
    psfm_synth_look_at(center, target, 0.05, &pose);
    return pose;
}

/* The plane z = 0 from the scene's squares: painted on it, or as thin boxes that stand on it. */
static void build_plane(psfm_context *ctx, const psfm_synth_pose *pose, bool solid_squares,
                        psfm_stage *stage) {
    psfm_coat plane = {.paint = solid_squares ? paint_white : paint_squares};
    psfm_coat dark = {.paint = paint_dark};
    const double corner[3] = {-50, -50, 0}, right[3] = {100, 0, 0}, up[3] = {0, 100, 0};
    psfm_stage_init(ctx, pose->center, stage);
    stage->light = even_light;
    psfm_stage_rect(stage, corner, right, up, &plane);
    for (int k = 0; k < SQUARES && solid_squares; ++k) {
        const double foot[3] = {squares[k][0] - 0.6, squares[k][1] - 0.6, 1e-5};
        const double along[3] = {1.2, 0, 0}, across[3] = {0, 1.2, 0};
        psfm_stage_rect(stage, foot, along, across, &dark);
    }
    assert_ok(ctx, psfm_stage_finish(stage));
}

static double linear(uint8_t byte) {
    double v = byte / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void project(const psfm_shot *shot, const double xyz[3], double xy[2]) {
    double ray[3];
    psfm_mat3_mul_vec(shot->pose->R, xyz, ray);
    psfm_axpy3(ray, 1.0, shot->pose->t, ray);
    assert_true(psfm_camera_project(shot->camera, ray, xy));
}

/* Area and centroid of the image of a square's outline, by the shoelace formula. */
static double outline(const psfm_shot *shot, const double square[2], double center[2],
                      double box[4]) {
    double area = 0.0, sum[2] = {0}, first[2] = {0}, previous[2] = {0}, xy[2];
    const int n = 400;
    box[0] = box[1] = HUGE_VAL;
    box[2] = box[3] = -HUGE_VAL;
    for (int k = 0; k <= n; ++k) {
        int side = k * 4 / n % 4;
        double along = 1.2 * (k * 4.0 / n - floor(k * 4.0 / n)) - 0.6;
        double x = side == 0 ? along : side == 1 ? 0.6 : side == 2 ? -along : -0.6;
        double y = side == 0 ? -0.6 : side == 1 ? along : side == 2 ? 0.6 : -along;
        const double xyz[3] = {square[0] + x, square[1] + y, 0.0};
        project(shot, xyz, xy);
        for (int c = 0; c < 2; ++c) {
            if (k == 0)
                first[c] = xy[c];
            xy[c] -= first[c];
            box[c] = fmin(box[c], xy[c] + first[c]);
            box[2 + c] = fmax(box[2 + c], xy[c] + first[c]);
        }
        double cross = previous[0] * xy[1] - xy[0] * previous[1];
        for (int c = 0; c < 2 && k > 0; ++c)
            sum[c] += (previous[c] + xy[c]) * cross / 6.0;
        area += k > 0 ? 0.5 * cross : 0.0;
        memcpy(previous, xy, sizeof xy);
    }
    for (int c = 0; c < 2; ++c)
        center[c] = first[c] + sum[c] / area;
    return fabs(area);
}

/* The same measured in the image: the dark that is there. Pixel (x, y) has its centre at
 * (x + 0.5, y + 0.5). */
static double measure(const psfm_image *image, const double box[4], double center[2]) {
    double area = 0.0, sum[2] = {0};
    for (int y = (int)box[1] - 3; y < (int)box[3] + 4; ++y) {
        for (int x = (int)box[0] - 3; x < (int)box[2] + 4; ++x) {
            assert_true(x >= 0 && y >= 0 && x < image->width && y < image->height);
            double value = linear(image->rgb[3 * ((size_t)y * (size_t)image->width + (size_t)x)]);
            double dark = (BRIGHT - value) / (BRIGHT - DARK);
            area += dark;
            sum[0] += dark * (x + 0.5);
            sum[1] += dark * (y + 0.5);
        }
    }
    for (int c = 0; c < 2; ++c)
        center[c] = sum[c] / area;
    return area;
}

static psfm_camera scene_camera(int model) {
    psfm_scene_options options;
    psfm_plan plan;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.camera_model = model;
    options.focal_px = 900;
    assert_int_equal(psfm_plan_init(NULL, PSFM_SCENE_ARENA, 0, &options, &plan), PSFM_OK);
    psfm_camera_scale(&plan.camera, 640, 360);
    return plan.camera;
}

/* Painted marks are where projection says, for all camera models. */
static void marks_are_where_they_project(void **state) {
    psfm_context *ctx = *state;
    for (int model = 0; model < PSFM_CAMERA_EQUIRECTANGULAR; ++model) {
        psfm_camera camera = scene_camera(model);
        psfm_synth_pose pose = pose_from(2.0, -7.0, 9.0);
        psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = 2};
        psfm_stage stage;
        psfm_image image;
        psfm_sensor_init(&shot.sensor);
        build_plane(ctx, &pose, false, &stage);
        assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &image));
        for (int k = 0; k < SQUARES; ++k) {
            double expected[2], found[2], box[4];
            double area = outline(&shot, squares[k], expected, box);
            assert_true(area > 300.0);
            assert_close(measure(&image, box, found), area, 0.01 * area);
            assert_close(found[0], expected[0], 0.015);
            assert_close(found[1], expected[1], 0.015);
        }
        psfm_image_free(&image);
        psfm_stage_free(&stage);
    }
}

/* Edges between solids, where samples decide, are too. */
static void outlines_are_where_they_project(void **state) {
    psfm_context *ctx = *state;
    psfm_camera camera = scene_camera(PSFM_CAMERA_PINHOLE);
    psfm_synth_pose pose = pose_from(-3.0, -6.0, 8.0);
    psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = 2};
    psfm_stage stage;
    psfm_image image;
    psfm_sensor_init(&shot.sensor);
    build_plane(ctx, &pose, true, &stage);
    assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &image));
    for (int k = 0; k < SQUARES; ++k) {
        double expected[2], found[2], box[4];
        double area = outline(&shot, squares[k], expected, box);
        assert_close(measure(&image, box, found), area, 0.01 * area);
        assert_close(found[0], expected[0], 0.03);
        assert_close(found[1], expected[1], 0.03);
    }
    psfm_image_free(&image);
    psfm_stage_free(&stage);
}

/* Fits a straight edge: where each row (or column, if `steep` is false) of a window turns from dark
 * to bright, by the sum of its values; returns the coefficients of place = c[0] + c[1] * row. */
static void fit_edge(const psfm_image *image, bool steep, const int window[4], double c[2]) {
    double n = 0, s = 0, ss = 0, p = 0, sp = 0;
    int rows[2] = {steep ? window[1] : window[0], steep ? window[3] : window[2]};
    int places[2] = {steep ? window[0] : window[1], steep ? window[2] : window[3]};
    for (int row = rows[0]; row < rows[1]; ++row) {
        double bright = 0.0;
        for (int place = places[0]; place < places[1]; ++place) {
            int x = steep ? place : row, y = steep ? row : place;
            double value = linear(image->rgb[3 * ((size_t)y * (size_t)image->width + (size_t)x)]);
            bright += (value - DARK) / (BRIGHT - DARK);
        }
        double middle = row + 0.5, edge = places[1] - bright; /* dark comes first */
        n += 1;
        s += middle;
        ss += middle * middle;
        p += edge;
        sp += middle * edge;
    }
    c[1] = (n * sp - s * p) / (n * ss - s * s);
    c[0] = (p - c[1] * s) / n;
}

/* The corner of a square, from the two edges that meet there. Edges of solids are as good as the
 * samples are many. */
static void corners_are_where_they_project(void **state) {
    psfm_context *ctx = *state;
    for (int is_solid = 0; is_solid < 2; ++is_solid) {
        psfm_camera camera = scene_camera(PSFM_CAMERA_PINHOLE);
        psfm_synth_pose pose = pose_from(0.5, -4.0, 9.0);
        psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = is_solid == 0 ? 2 : 8};
        psfm_stage stage;
        psfm_image image;
        psfm_sensor_init(&shot.sensor);
        build_plane(ctx, &pose, is_solid == 1, &stage);
        assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &image));
        for (int k = 0; k < SQUARES; ++k) {
            /* the right lower corner in the image is that of largest x and smallest y */
            const double xyz[3] = {squares[k][0] + 0.6, squares[k][1] - 0.6, 0.0};
            double xy[2], right[2], below[2];
            project(&shot, xyz, xy);
            int x = (int)xy[0], y = (int)xy[1];
            const int beside[4] = {x - 12, y - 36, x + 12, y - 4};
            const int under[4] = {x - 36, y - 12, x - 4, y + 12};
            fit_edge(&image, true, beside, right);
            fit_edge(&image, false, under, below);
            double corner_y = (below[0] + below[1] * right[0]) / (1.0 - below[1] * right[1]);
            double corner_x = right[0] + right[1] * corner_y;
            assert_close(corner_x, xy[0], 0.05);
            assert_close(corner_y, xy[1], 0.05);
        }
        psfm_image_free(&image);
        psfm_stage_free(&stage);
    }
}

static void pixels_without_rays_are_black(void **state) {
    psfm_context *ctx = *state;
    psfm_camera camera = {
        .model = PSFM_CAMERA_OPENCV_FISHEYE, .width = 64, .height = 36, .params = {15, 15, 32, 18}};
    psfm_synth_pose pose = pose_from(0.0, -0.1, 5.0);
    psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = 2};
    psfm_stage stage;
    psfm_image image;
    psfm_sensor_init(&shot.sensor);
    build_plane(ctx, &pose, true, &stage);
    assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &image));
    assert_int_equal(image.gray[18 * 64], 0);
    assert_true(image.gray[10 * 64 + 32] > 200);
    psfm_image_free(&image);
    psfm_stage_free(&stage);
}

static void blue_sky(const double dir[3], double rgb[3]) {
    assert_close(psfm_norm3(dir), 1.0, 1e-9);
    rgb[0] = rgb[1] = 0.0;
    rgb[2] = 1.0;
}

/* Sun, shadow, sky and mirror image, each in a place that sees nothing else. */
static void light_falls_as_it_should(void **state) {
    psfm_context *ctx = *state;
    psfm_camera camera = {
        .model = PSFM_CAMERA_PINHOLE, .width = 160, .height = 120, .params = {100, 100, 80, 60}};
    psfm_synth_pose pose;
    const double center[3] = {0, -10, 3}, target[3] = {0, 0, 2};
    psfm_synth_look_at(center, target, 0.0, &pose);
    psfm_stage stage;
    psfm_stage_init(ctx, center, &stage);
    stage.light = (psfm_light){.from_above = {0.2, 0.2, 0.2},
                               .sun = {0.6, 0.0, 0.8},
                               .sun_rgb = {0.5, 0.5, 0.5},
                               .has_shadows = true};
    stage.sky = blue_sky;
    psfm_coat coat = {.paint = paint_white};
    const double corner[3] = {-40, -40, 0}, right[3] = {80, 0, 0}, up[3] = {0, 80, 0};
    const double foot[3] = {0, 0, 0}, size[3] = {1, 1, 2};
    psfm_stage_rect(&stage, corner, right, up, &coat);
    psfm_stage_box(&stage, foot, size, 0.0, &coat);
    assert_ok(ctx, psfm_stage_finish(&stage));
    psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = 2};
    psfm_image images[2];
    psfm_sensor_init(&shot.sensor);
    assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &images[0]));
    for (size_t k = 0; k < stage.num_solids; ++k)
        stage.solids[k].coat.gloss = stage.solids[k].kind == PSFM_RECT ? 1.0 : 0.0;
    assert_ok(ctx, psfm_shot_take(ctx, &stage, &shot, &images[1]));
    const double places[4][3] = {{2, -2, 0}, {-1.2, 0.1, 0}, {0, -0.5, 1.0}, {0, 20, 14}};
    const double expected[4] = {BRIGHT * (0.2 + 0.4), BRIGHT * 0.2, BRIGHT * 0.1, 0.0};
    for (int k = 0; k < 4; ++k) {
        double xy[2];
        project(&shot, places[k], xy);
        size_t at = 3 * ((size_t)xy[1] * 160 + (size_t)xy[0]);
        assert_close(linear(images[0].rgb[at]), expected[k], 0.01);
        assert_close(linear(images[0].rgb[at + 2]), k == 3 ? 1.0 : expected[k], 0.01);
        /* the floor mirrors the blue sky, everywhere but where it mirrors the box */
        double gained = linear(images[1].rgb[at + 2]) - linear(images[0].rgb[at + 2]);
        assert_close(gained, k == 0 ? 0.159 : k == 1 ? 0.222 : 0.0, 0.015);
        assert_close(linear(images[1].rgb[at]), expected[k], 0.01);
    }
    psfm_image_free(&images[0]);
    psfm_image_free(&images[1]);
    psfm_stage_free(&stage);
}

static void sensors_do_as_asked(void **state) {
    (void)state;
    enum { WIDTH = 2000 };
    static float light[3 * WIDTH];
    static uint8_t bytes[3 * WIDTH], again[3 * WIDTH];
    psfm_sensor sensor;
    psfm_sensor_init(&sensor);
    for (int x = 0; x < WIDTH; ++x)
        for (int k = 0; k < 3; ++k)
            light[3 * x + k] = (float)x / (WIDTH - 1);
    psfm_sensor_expose(&sensor, WIDTH, 100, 7, light, bytes);
    for (int x = 0; x < WIDTH; ++x) {
        double v = (double)x / (WIDTH - 1);
        double byte = 255.0 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055);
        assert_close(bytes[3 * x], byte, 0.51);
    }
    for (int k = 0; k < 3 * WIDTH; ++k)
        light[k] = 0.3F;
    sensor.noise = 3.0;
    sensor.gain[2] = 0.5;
    double sum[3] = {0}, squares_of[3] = {0};
    for (int y = 0; y < 50; ++y) {
        psfm_sensor_expose(&sensor, WIDTH, 50, y, light, bytes);
        for (int x = 0; x < WIDTH; ++x) {
            for (int k = 0; k < 3; ++k) {
                sum[k] += bytes[3 * x + k] / (50.0 * WIDTH);
                squares_of[k] += bytes[3 * x + k] * bytes[3 * x + k] / (50.0 * WIDTH);
            }
        }
    }
    assert_close(sum[0], 148.7, 0.3); /* 255 srgb(0.3) */
    assert_close(sum[2], 108.0, 0.3); /* 255 srgb(0.15) */
    for (int k = 0; k < 3; ++k)
        assert_close(sqrt(squares_of[k] - sum[k] * sum[k]), sqrt(9.0 + 1.0 / 12.0), 0.03);
    psfm_sensor_expose(&sensor, WIDTH, 50, 49, light, again);
    assert_memory_equal(bytes, again, sizeof bytes);
    sensor.image = 1;
    psfm_sensor_expose(&sensor, WIDTH, 50, 49, light, again);
    assert_memory_not_equal(bytes, again, sizeof bytes);
    sensor.noise = 0.0;
    sensor.vignetting = 0.5;
    psfm_sensor_expose(&sensor, WIDTH, 2000, 0, light, bytes);
    psfm_sensor_expose(&sensor, WIDTH, 2000, 1000, light, again);
    assert_close(linear(bytes[0]), 0.15, 0.002); /* a corner */
    assert_close(linear(again[3 * 1000]), 0.3, 0.002);
    assert_close(linear(again[0]), 0.225, 0.002);
}

static void lack_of_memory_is_reported(void **state) {
    psfm_context *ctx = *state;
    psfm_camera camera = {
        .model = PSFM_CAMERA_PINHOLE, .width = 16, .height = 9, .params = {12, 12, 8, 4.5}};
    psfm_synth_pose pose = pose_from(0.0, -1.0, 5.0);
    psfm_shot shot = {.camera = &camera, .pose = &pose, .samples = 2};
    psfm_stage stage;
    psfm_image image;
    psfm_sensor_init(&shot.sensor);
    build_plane(ctx, &pose, true, &stage);
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_shot_take(ctx, &stage, &shot, &image);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(image.rgb);
        assert_null(image.gray);
    }
    assert_true(n > 5);
    psfm_image_free(&image);
    psfm_stage_free(&stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_where_they_project),
        cmocka_unit_test(outlines_are_where_they_project),
        cmocka_unit_test(corners_are_where_they_project),
        cmocka_unit_test(pixels_without_rays_are_black),
        cmocka_unit_test(light_falls_as_it_should),
        cmocka_unit_test(sensors_do_as_asked),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests_name("synth/render_shot", tests, open_context, close_context);
}
