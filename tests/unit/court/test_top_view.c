/* Floors from above: which end is which. */
#include "court/top_view.h"

#include "core/base/alloc.h"
#include "court/court_evidence.h"
#include "test_util.h"
#include "unit/court/court_scene.h"

static psfm_drawing plain, marked;

/* A pose as if registered, in the given turn. */
static psfm_court_pose pose_of(psfm_context *ctx, const court_shot *shot, int quarters) {
    psfm_court_pose pose = {.camera = shot->camera, .turns = {0, 2}, .num_turns = 2};
    memcpy(pose.R, shot->R, sizeof pose.R);
    memcpy(pose.center, shot->center, sizeof pose.center);
    psfm_mat3_mul_vec(pose.R, pose.center, pose.t);
    psfm_scale3(-1.0, pose.t, pose.t);
    assert_ok(ctx, psfm_court_pose_take_turn(ctx, &plain, quarters, &pose));
    return pose;
}

static int open_drawings(void **state) {
    psfm_context *ctx = psfm_context_create();
    psfm_court court;
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &plain));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &marked));
    /* what is at one end only: a cross and a ring */
    const psfm_drawing_part marks[3] = {{.a = {4.0, 3.0}, .b = {7.0, 5.5}},
                                        {.a = {4.0, 5.5}, .b = {7.0, 3.0}},
                                        {.a = {-4.0, -2.0}, .b = {0.0, 6.28}, .radius = 1.2}};
    for (int k = 0; k < 3; ++k)
        assert_ok(ctx, psfm_drawing_add(ctx, &marked, &marks[k]));
    *state = ctx;
    return 0;
}

static int close_drawings(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing_free(&plain);
    psfm_drawing_free(&marked);
    psfm_context_destroy(&ctx);
    return 0;
}

static void floors_tell_the_ends_apart(void **state) {
    psfm_context *ctx = *state;
    static const double place[4][2] = {{-9.0, -15.0}, {9.0, -16.0}, {10.0, 15.0}, {-8.0, 16.0}};
    static const int quarters[4] = {0, 2, 2, 0}; /* what registration made of them */
    psfm_top_raster raster = psfm_top_raster_make(&plain);
    psfm_top_view views[4];
    const int turns[2] = {0, 2};
    for (int k = 0; k < 4; ++k) {
        court_shot shot = {.camera = {.model = PSFM_CAMERA_PINHOLE,
                                      .width = 800,
                                      .height = 450,
                                      .params = {500.0, 500.0, 400.0, 225.0}},
                           .line_width = 0.15,
                           .ground = 110.0,
                           .paint = 200.0,
                           .noise = 2.0};
        psfm_image image;
        aim(&shot, place[k][0], place[k][1], 9.0, 0.0, 0.0);
        assert_ok(ctx, take_shot(ctx, &marked, &shot, &image));
        psfm_court_pose pose = pose_of(ctx, &shot, quarters[k]);
        assert_ok(ctx, psfm_top_view_make(ctx, &raster, &image, &pose, &views[k]));
        psfm_image_free(&image);
    }
    assert_ok(ctx, psfm_top_views_take_symmetric(ctx, &raster, turns, 2, views, 4));
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) {
            int same = (quarters[i] + quarters[j]) & 3;
            double right = psfm_top_view_correlation(&raster, &views[i], &views[j], same);
            double wrong = psfm_top_view_correlation(&raster, &views[i], &views[j], same ^ 2);
            assert_true(right > wrong + 0.2);
        }
    for (int k = 0; k < 4; ++k)
        psfm_top_view_free(&views[k]);
}

/* ---- one floor ---- */

/* Straight from above, 20 m up; 25 pixels a metre. */
static psfm_court_pose pose_above(double focal) {
    psfm_court_pose pose = {.camera = {.model = PSFM_CAMERA_PINHOLE,
                                       .width = 800,
                                       .height = 450,
                                       .params = {focal, focal, 400.0, 225.0}},
                            .R = {1, 0, 0, 0, -1, 0, 0, 0, -1},
                            .t = {0.0, 0.0, 20.0}};
    return pose;
}

/* A floor that gets lighter to one side, with a soft spot of so many cells' deviation. */
static void paint_spot(psfm_context *ctx, const psfm_top_raster *raster, const double at[2],
                       double cells, double height, psfm_image *image) {
    assert_ok(ctx, psfm_image_init(ctx, 800, 450, PSFM_IMAGE_GRAY, image));
    for (int y = 0; y < 450; ++y)
        for (int x = 0; x < 800; ++x) {
            double X = (x + 0.5 - 400.0) / 25.0, Y = -(y + 0.5 - 225.0) / 25.0;
            double far = hypot(X - at[0], Y - at[1]) / (cells * raster->step);
            double value = 80.0 + 2.0 * X - 3.0 * Y + height * exp(-0.5 * far * far);
            image->gray[y * 800 + x] = (uint8_t)lround(value);
        }
}

/* A spot is where it is on the floor, as strong as two Gaussians of two and ten cells leave it; a
 * floor that only gets lighter has no detail. */
static void spots_are_where_they_are(void **state) {
    psfm_context *ctx = *state;
    const double at[2] = {5.0, -3.0}, height = 35.0, s2 = 9.0;
    psfm_top_raster raster = psfm_top_raster_make(&plain);
    psfm_court_pose pose = pose_above(500.0);
    psfm_image image;
    psfm_top_view view;
    size_t best = 0, num = (size_t)raster.width * (size_t)raster.height;
    paint_spot(ctx, &raster, at, sqrt(s2), height, &image);
    assert_ok(ctx, psfm_top_view_make(ctx, &raster, &image, &pose, &view));
    for (size_t k = 0; k < num; ++k) {
        best = view.detail[k] > view.detail[best] ? k : best;
        double x = ((double)(k % (size_t)raster.width) + 0.5 - 0.5 * raster.width) * raster.step;
        double y = ((double)(k / (size_t)raster.width) + 0.5 - 0.5 * raster.height) * raster.step;
        bool is_inside = fabs(x) < 13.0 && fabs(y) < 7.0;
        assert_true(view.seen[k] || !is_inside);
        if (is_inside && hypot(x - at[0], y - at[1]) > 50.0 * raster.step)
            assert_true(abs(view.detail[k]) <= 4); /* less than a grey level */
    }
    assert_close((double)(best % (size_t)raster.width) + 0.5,
                 at[0] / raster.step + 0.5 * raster.width, 1.5);
    assert_close((double)(best / (size_t)raster.width) + 0.5,
                 at[1] / raster.step + 0.5 * raster.height, 1.5);
    double left = s2 / (s2 + 4.0) - s2 / (s2 + 100.0);
    assert_close(view.detail[best], 5.0 * height * left, 5.0);
    psfm_top_view_free(&view);
    psfm_image_free(&image);
}

/* What is beside the photograph, or smaller than a third of a pixel, is not seen. */
static void what_is_too_small_is_not_seen(void **state) {
    psfm_context *ctx = *state;
    static const double none[2] = {0.0, 0.0};
    psfm_top_raster raster = psfm_top_raster_make(&plain);
    for (int k = 0; k < 3; ++k) {
        static const double focals[] = {240.0, 260.0, 2000.0};
        psfm_court_pose pose = pose_above(focals[k]);
        psfm_image image;
        psfm_top_view view;
        size_t seen = 0, num = (size_t)raster.width * (size_t)raster.height;
        paint_spot(ctx, &raster, none, 3.0, 0.0, &image);
        assert_ok(ctx, psfm_top_view_make(ctx, &raster, &image, &pose, &view));
        for (size_t i = 0; i < num; ++i)
            seen += view.seen[i];
        double side = pose.camera.params[0] / 20.0 * raster.step; /* pixels of a cell */
        if (k < 2)
            assert_true(side * side < 0.3 ? seen == 0 : seen == num);
        else /* a window of 8 x 4.5 m in the middle, two cells less at its border */
            assert_close((double)seen, 8.0 / raster.step * 4.5 / raster.step, 1500.0);
        psfm_top_view_free(&view);
        psfm_image_free(&image);
    }
}

/* ---- comparing ---- */

enum { SIDE = 24 };
static const psfm_top_raster small = {.width = SIDE, .height = SIDE, .step = 0.1};

/* A view with details of a wide range of which three quarters are seen. */
static void make_view(psfm_context *ctx, uint64_t seed, psfm_top_view *view) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 4, 4);
    assert_ok(ctx, PSFM_ALLOC(ctx, SIDE * SIDE, &view->detail));
    assert_ok(ctx, PSFM_ALLOC(ctx, SIDE * SIDE, &view->seen));
    for (size_t k = 0; k < SIDE * SIDE; ++k) {
        view->seen[k] = psfm_rng_uniform(&rng) < 0.75;
        view->detail[k] = (int8_t)((int)psfm_rng_below(&rng, 251) - 125);
    }
}

/* The cell where a pose that is turned by quarters sees what the pose saw in cell (x, y): a quarter
 * turns the x axis to the y axis. */
static size_t cell_of(int x, int y, int quarters) {
    for (int k = 0; k < quarters; ++k) {
        int before = x;
        x = SIDE - 1 - y;
        y = before;
    }
    return (size_t)y * SIDE + (size_t)x;
}

static void likeness_is_a_correlation(void **state) {
    psfm_context *ctx = *state;
    psfm_top_view a, b;
    make_view(ctx, 1, &a);
    make_view(ctx, 2, &b);
    for (int quarters = 0; quarters < 4; ++quarters) {
        double ab = 0.0, aa = 0.0, bb = 0.0;
        for (int k = 0; k < SIDE * SIDE; ++k) {
            size_t from = cell_of(k % SIDE, k / SIDE, quarters);
            double both = a.seen[k] && b.seen[from] ? 1.0 : 0.0;
            ab += both * a.detail[k] * b.detail[from];
            aa += both * a.detail[k] * a.detail[k];
            bb += both * b.detail[from] * b.detail[from];
        }
        double correlation = psfm_top_view_correlation(&small, &a, &b, quarters);
        assert_close(correlation, ab / sqrt(aa * bb), 1e-12);
        assert_close(psfm_top_view_correlation(&small, &b, &a, (4 - quarters) & 3), correlation,
                     1e-12);
    }
    assert_close(psfm_top_view_correlation(&small, &a, &a, 0), 1.0, 1e-12);
    psfm_top_view_free(&a);
    psfm_top_view_free(&b);
}

/* Less than a fiftieth of the floor in common, or nothing on it, says nothing. */
static void little_in_common_says_nothing(void **state) {
    psfm_context *ctx = *state;
    psfm_top_view a, b;
    make_view(ctx, 1, &a);
    make_view(ctx, 1, &b);
    memset(b.seen, 0, SIDE * SIDE);
    memset(a.seen, 1, SIDE * SIDE);
    memset(b.seen, 1, SIDE * SIDE / 50);
    assert_true(isnan(psfm_top_view_correlation(&small, &a, &b, 0)));
    b.seen[SIDE * SIDE / 50] = 1;
    assert_close(psfm_top_view_correlation(&small, &a, &b, 0), 1.0, 1e-12);
    memset(b.detail, 0, SIDE * SIDE);
    assert_true(isnan(psfm_top_view_correlation(&small, &a, &b, 0)));
    psfm_top_view_free(&a);
    psfm_top_view_free(&b);
}

/* What is taken away is the mean over all views and turns that see a cell. */
static void the_symmetric_part_is_a_mean(void **state) {
    psfm_context *ctx = *state;
    static const int turns[4] = {0, 1, 2, 3};
    for (int num_turns = 1; num_turns <= 4; num_turns += 3) {
        psfm_top_view before[3] = {{0}}, views[3] = {{0}};
        for (uint64_t k = 0; k < 3; k += 2) { /* the second was not looked at */
            make_view(ctx, k, &before[k]);
            make_view(ctx, k, &views[k]);
        }
        assert_ok(ctx, psfm_top_views_take_symmetric(ctx, &small, turns, num_turns, views, 3));
        for (int k = 0; k < SIDE * SIDE; ++k) {
            double sum = 0.0, num = 0.0;
            for (int v = 0; v < 3; v += 2)
                for (int t = 0; t < num_turns; ++t) {
                    size_t from = cell_of(k % SIDE, k / SIDE, t);
                    sum += before[v].seen[from] ? before[v].detail[from] : 0.0;
                    num += before[v].seen[from];
                }
            for (int v = 0; v < 3; v += 2) {
                double left = before[v].detail[k] - sum / fmax(num, 1.0);
                assert_close(views[v].detail[k],
                             before[v].seen[k] ? fmin(fmax(left, -125.0), 125.0)
                                               : before[v].detail[k],
                             0.51);
            }
        }
        for (int v = 0; v < 3; ++v) {
            psfm_top_view_free(&before[v]);
            psfm_top_view_free(&views[v]);
        }
    }
}

/* A drawing that a quarter turn maps onto itself to within a millimetre has a square raster. */
static void turned_rasters_are_square(void **state) {
    psfm_context *ctx = *state;
    static const double sizes[3][2] = {{0.3, 0.2992}, {0.4991, 0.5}, {9.0, 9.0}};
    for (int k = 0; k < 3; ++k) {
        const double x = 0.5 * sizes[k][0], y = 0.5 * sizes[k][1];
        const double corners[4][2] = {{x, y}, {-x, y}, {-x, -y}, {x, -y}};
        psfm_drawing frame = {.name = NULL};
        int turns[4];
        for (int c = 0; c < 4; ++c) {
            psfm_drawing_part side = {.a = {corners[c][0], corners[c][1]},
                                      .b = {corners[(c + 1) % 4][0], corners[(c + 1) % 4][1]}};
            assert_ok(ctx, psfm_drawing_add(ctx, &frame, &side));
        }
        psfm_top_raster raster = psfm_top_raster_make(&frame);
        assert_int_equal(psfm_drawing_turns(&frame, turns), 4);
        assert_int_equal(raster.width, 640);
        assert_int_equal(raster.height, 640);
        psfm_drawing_free(&frame);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_tell_the_ends_apart),
        cmocka_unit_test(spots_are_where_they_are),
        cmocka_unit_test(what_is_too_small_is_not_seen),
        cmocka_unit_test(likeness_is_a_correlation),
        cmocka_unit_test(little_in_common_says_nothing),
        cmocka_unit_test(the_symmetric_part_is_a_mean),
        cmocka_unit_test(turned_rasters_are_square),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
