/* What is painted into a photograph, pixel by pixel. */
#include "court/overlay.h"

#include "unit/court/line_floor.h"

static psfm_drawing tennis, basketball;

static const uint8_t found[3] = {255, 0, 200}, missed[3] = {255, 210, 0};

/* A pose over a drawing of whose parts every third is confirmed. */
static psfm_court_pose make_pose(const psfm_drawing *drawing, const psfm_camera *camera) {
    psfm_court_pose pose = {.camera = *camera};
    court_shot shot;
    aim(&shot, -6.0, -14.0, 6.0, -1.0, 0.5);
    memcpy(pose.R, shot.R, sizeof pose.R);
    psfm_mat3_mul_vec(shot.R, shot.center, pose.t);
    psfm_scale3(-1.0, pose.t, pose.t);
    pose.part_visible = calloc(drawing->num_parts, sizeof *pose.part_visible);
    pose.part_hit = calloc(drawing->num_parts, sizeof *pose.part_hit);
    assert_true(pose.part_visible != NULL && pose.part_hit != NULL);
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        pose.part_visible[k] = k % 3 == 2 ? 0.0 : 100.0;
        pose.part_hit[k] = k % 3 == 0 ? 50.0 : k % 3 == 1 ? 49.0 : 0.0;
    }
    return pose;
}

/* A photograph of one grey value, with or without the drawing. */
static psfm_image paint(psfm_context *ctx, const psfm_drawing *drawing, const psfm_court_pose *pose,
                        uint8_t grey) {
    psfm_image image;
    int width = (int)pose->camera.width, height = (int)pose->camera.height;
    assert_ok(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY_AND_RGB, &image));
    memset(image.rgb, grey, 3 * (size_t)width * (size_t)height);
    memset(image.gray, grey, (size_t)width * (size_t)height);
    psfm_court_overlay(drawing, pose, &image);
    return image;
}

static bool has_color(const psfm_image *image, int x, int y, const uint8_t color[3]) {
    return memcmp(image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x), color, 3) == 0;
}

/* Whether a pixel within one of (x, y) has the colour. */
static bool is_painted(const psfm_image *image, const double xy[2], const uint8_t color[3]) {
    for (int y = (int)xy[1] - 1; y <= (int)xy[1] + 1; ++y)
        for (int x = (int)xy[0] - 1; x <= (int)xy[0] + 1; ++x)
            if (x >= 0 && y >= 0 && x < image->width && y < image->height &&
                has_color(image, x, y, color))
                return true;
    return false;
}

/* The pixel of a place, and whether it is in the photograph. */
static bool see_place(const psfm_court_pose *pose, const double at[2], double xy[2]) {
    double X[3] = {at[0], at[1], 0.0}, q[3];
    psfm_mat3_mul_vec(pose->R, X, q);
    psfm_axpy3(q, 1.0, pose->t, q);
    return q[2] > 0.0 && psfm_camera_project(&pose->camera, q, xy) && xy[0] >= 0.0 &&
           xy[1] >= 0.0 && xy[0] < (double)pose->camera.width &&
           xy[1] < (double)pose->camera.height;
}

/* Whether some part but k passes within three pixels. */
static bool is_crossed(const psfm_drawing *drawing, const psfm_court_pose *pose, size_t k,
                       const double xy[2]) {
    for (size_t j = 0; j < drawing->num_parts; ++j)
        for (int i = 0; j != k && i <= 400; ++i) {
            double at[2], other[2];
            psfm_drawing_part_at(&drawing->parts[j], i / 400.0, at);
            if (see_place(pose, at, other) && hypot(other[0] - xy[0], other[1] - xy[1]) < 3.0)
                return true;
        }
    return false;
}

/* All along every part there is its colour: of a part of which half is confirmed the one, of others
 * the other; also through a lens that bends it. */
static void parts_have_their_colours(void **state) {
    psfm_context *ctx = *state;
    psfm_camera bent = floor_camera;
    bent.model = PSFM_CAMERA_OPENCV;
    bent.params[4] = -0.2;
    const psfm_camera *cameras[] = {&floor_camera, &bent};
    const psfm_drawing *drawings[] = {&tennis, &basketball};
    for (int c = 0; c < 2; ++c) {
        psfm_court_pose pose = make_pose(drawings[c], cameras[c]);
        psfm_image image = paint(ctx, drawings[c], &pose, 100);
        int num[2] = {0};
        for (size_t k = 0; k < drawings[c]->num_parts; ++k)
            for (int i = 0; i <= 20; ++i) {
                double at[2], xy[2];
                psfm_drawing_part_at(&drawings[c]->parts[k], 0.01 + 0.049 * i, at);
                if (!see_place(&pose, at, xy) || is_crossed(drawings[c], &pose, k, xy))
                    continue;
                assert_true(is_painted(&image, xy, k % 3 == 0 ? found : missed));
                assert_false(is_painted(&image, xy, k % 3 == 0 ? missed : found));
                ++num[k % 3 == 0];
            }
        assert_true(num[0] > 60 && num[1] > 30);
        psfm_image_free(&image);
        psfm_court_pose_free(&pose);
    }
}

/* Elsewhere the photograph is there, three fifths as light; grey values are those of the colours.
 */
static void the_rest_is_darkened(void **state) {
    psfm_context *ctx = *state;
    psfm_court_pose pose = make_pose(&tennis, &floor_camera);
    psfm_image image = paint(ctx, &tennis, &pose, 201);
    const uint8_t dark[3] = {120, 120, 120};
    size_t num = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            uint8_t grey = image.gray[y * image.width + x];
            bool is_plain = has_color(&image, x, y, dark);
            const uint8_t *color = has_color(&image, x, y, found) ? found : missed;
            assert_true(is_plain || has_color(&image, x, y, color));
            assert_int_equal(grey, is_plain ? 120 : psfm_luma(color[0], color[1], color[2]));
            num += !is_plain;
        }
    assert_true(num > 1000 && num < 20000);
    psfm_image_free(&image);
    psfm_court_pose_free(&pose);
}

/* Strokes are a thousandth of the photograph wide: of 3000 pixels four. */
static void strokes_go_with_the_width(void **state) {
    psfm_context *ctx = *state;
    for (int k = 0; k < 2; ++k) {
        psfm_camera camera = floor_camera;
        psfm_drawing line = {.name = NULL};
        psfm_drawing_part part = {.a = {-6.0, -30.0}, .b = {-6.0, 30.0}};
        int wide = 0;
        camera.width = k == 0 ? 960 : 3000;
        camera.params[2] = 0.5 * (double)camera.width;
        assert_ok(ctx, psfm_drawing_add(ctx, &line, &part));
        psfm_court_pose pose = make_pose(&line, &camera);
        const double ahead[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0}; /* upright, along the line */
        memcpy(pose.R, ahead, sizeof pose.R);
        psfm_mat3_mul_vec(pose.R, (double[3]){6.0, 14.0, -6.0}, pose.t);
        psfm_image image = paint(ctx, &line, &pose, 0);
        for (int x = 0; x < image.width; ++x)
            wide += !has_color(&image, x, 500, (uint8_t[3]){0, 0, 0});
        assert_int_equal(wide, k == 0 ? 1 : 4);
        psfm_image_free(&image);
        psfm_court_pose_free(&pose);
        psfm_drawing_free(&line);
    }
}

/* A drawing behind the camera leaves nothing but the dark photograph. */
static void what_is_behind_is_not_painted(void **state) {
    psfm_context *ctx = *state;
    psfm_court_pose pose = make_pose(&tennis, &floor_camera);
    for (int d = 0; d < 3; ++d) { /* to the sky and behind the back */
        pose.R[3 + d] = -pose.R[3 + d];
        pose.R[6 + d] = -pose.R[6 + d];
    }
    pose.t[1] = -pose.t[1];
    pose.t[2] = -pose.t[2];
    psfm_image image = paint(ctx, &tennis, &pose, 100);
    for (size_t k = 0; k < 960 * 540; ++k)
        assert_int_equal(image.gray[k], 60);
    psfm_image_free(&image);
    psfm_court_pose_free(&pose);
}

/* A line from behind the camera ends where its end is seen, without a stroke to anywhere else. */
static void lines_from_behind_end_where_they_end(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing line = {.name = NULL};
    const psfm_drawing_part part = {.a = {-31.0, -87.0}, .b = {9.0, 29.5}};
    double far[2];
    size_t painted = 0;
    assert_ok(ctx, psfm_drawing_add(ctx, &line, &part));
    psfm_court_pose pose = make_pose(&line, &floor_camera);
    psfm_image image = paint(ctx, &line, &pose, 100);
    assert_true(see_place(&pose, part.b, far) && far[1] > 5.0);
    for (int y = 0; y < 540; ++y)
        for (int x = 0; x < 960; ++x) {
            bool is_plain = image.gray[y * 960 + x] == 60;
            assert_true(is_plain || y >= (int)far[1] - 1);
            painted += !is_plain;
        }
    assert_true(painted > 100);
    psfm_image_free(&image);
    psfm_court_pose_free(&pose);
    psfm_drawing_free(&line);
}

static int open_drawings(void **state) {
    *state = psfm_context_create();
    tennis = drawing_of(*state, "tennis");
    basketball = drawing_of(*state, "basketball");
    return 0;
}

static int close_drawings(void **state) {
    psfm_drawing_free(&tennis);
    psfm_drawing_free(&basketball);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_their_colours),
        cmocka_unit_test(the_rest_is_darkened),
        cmocka_unit_test(strokes_go_with_the_width),
        cmocka_unit_test(what_is_behind_is_not_painted),
        cmocka_unit_test(lines_from_behind_end_where_they_end),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
