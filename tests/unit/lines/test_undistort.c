#include "lines/undistort.h"

#include "test_util.h"

enum { W = 640, H = 480 };

static const psfm_camera radial = {
    .model = PSFM_CAMERA_OPENCV,
    .width = W,
    .height = H,
    .params = {500.0, 505.0, 322.0, 241.0, -0.25, 0.05, 1e-3, -1e-3}};
static const psfm_camera fisheye = {.model = PSFM_CAMERA_OPENCV_FISHEYE,
                                    .width = W,
                                    .height = H,
                                    .params = {250.0, 250.0, 320.0, 240.0, 0.01, 0.0, 0.0, 0.0}};

/* Line pixels of a straight line in space, as the camera sees it. */
static void draw(const psfm_camera *camera, psfm_line_pixels *set) {
    *set = (psfm_line_pixels){.width = W, .height = H};
    set->valid = malloc(W * H);
    set->pixels = calloc(400, sizeof *set->pixels);
    memset(set->valid, 1, W * H);
    for (int k = 0; k < 400; ++k) {
        double ray[3] = {-0.6 + 0.003 * k, -0.4 + 0.001 * k, 1.0}, xy[2], J[6];
        if (!psfm_camera_project_jacobian(camera, ray, xy, J) || !(xy[0] > 0.0 && xy[1] > 0.0))
            continue;
        double tx = J[0] * 3.0 + J[1], ty = J[3] * 3.0 + J[4], length = hypot(tx, ty);
        set->pixels[set->num++] = (psfm_line_pixel){
            (float)xy[0], (float)xy[1], (float)(tx / length), (float)(ty / length), 50.0F, 1};
    }
}

/* The curve of a distorted line becomes straight, where the ideal camera sees it. */
static void check_straight(psfm_context *ctx, const psfm_camera *camera) {
    psfm_line_pixels set;
    psfm_camera ideal;
    draw(camera, &set);
    size_t before = set.num;
    assert_ok(ctx, psfm_line_pixels_rectify(ctx, camera, &set, &ideal));
    assert_int_equal(ideal.model, PSFM_CAMERA_PINHOLE);
    assert_int_equal(set.width, ideal.width);
    assert_int_equal(set.num, before);
    for (size_t k = 0; k < set.num; ++k) {
        const psfm_line_pixel *p = &set.pixels[k];
        double x = ((double)p->x - ideal.params[2]) / ideal.params[0];
        double y = ((double)p->y - ideal.params[3]) / ideal.params[1];
        double away = (y + 0.4) - (x + 0.6) / 3.0;
        assert_below(fabs(away) * ideal.params[1], 0.01);
        double slope = (double)p->ty / ideal.params[1] / ((double)p->tx / ideal.params[0]);
        assert_close(slope, 1.0 / 3.0, 1e-3);
    }
    free(set.pixels);
    free(set.valid);
}

static void test_straight(void **state) {
    check_straight(*state, &radial);
    check_straight(*state, &fisheye);
}

/* What the lens does not see is not valid; the middle is. */
static void test_valid(void **state) {
    psfm_context *ctx = *state;
    psfm_line_pixels set;
    psfm_camera ideal;
    draw(&radial, &set);
    assert_ok(ctx, psfm_line_pixels_rectify(ctx, &radial, &set, &ideal));
    assert_true(ideal.width > W && ideal.height > H);
    int cx = (int)ideal.params[2], cy = (int)ideal.params[3], w = set.width;
    assert_int_equal(set.valid[cy * w + cx], 1);
    assert_int_equal(set.valid[cy * w + 0] & set.valid[0], 0);
    free(set.pixels);
    free(set.valid);
}

/* A pinhole's pixels stay as they are. */
static void test_pinhole(void **state) {
    psfm_context *ctx = *state;
    psfm_camera simple = {.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                          .width = W,
                          .height = H,
                          .params = {500.0, 322.0, 241.0}};
    psfm_camera ideal;
    psfm_line_pixels set;
    draw(&simple, &set);
    float x = set.pixels[7].x, y = set.pixels[7].y;
    assert_ok(ctx, psfm_line_pixels_rectify(ctx, &simple, &set, &ideal));
    assert_true(set.pixels[7].x == x && set.pixels[7].y == y && set.width == W);
    assert_true(ideal.params[0] == 500.0 && ideal.params[1] == 500.0);
    assert_true(ideal.params[2] == 322.0 && ideal.params[3] == 241.0);
    free(set.pixels);
    free(set.valid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight),
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_pinhole),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
