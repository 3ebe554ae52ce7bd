#include "lines/line_pixels.h"

#include "core/base/alloc.h"
#include "test_util.h"
#include "unit/lines/line_scene.h"

enum { W = 160, H = 120 };

static psfm_image image;
static psfm_line_pixels found;

static void find(psfm_context *ctx) {
    psfm_line_pixels_free(&found);
    assert_ok(ctx, psfm_line_pixels_find(ctx, &image, NULL, &found));
}

/* How far what was found is from a stripe. */
typedef struct {
    double mean, rms; /* distance across it, pixels */
    double max_turn;  /* degrees */
    double per_pixel; /* line pixels per pixel of its length */
    int others;       /* more than two pixels away */
    int wrong;        /* of another polarity than `polarity` */
} errors;

static errors compare(const line_stripe *s, int polarity) {
    errors e = {0};
    double n = 0.0, length = 0.0;
    for (size_t k = 0; k < found.num; ++k) {
        const psfm_line_pixel *p = &found.pixels[k];
        double d = stripe_across(s, (double)p->x, (double)p->y);
        if (fabs(d) > 2.0) {
            ++e.others;
            continue;
        }
        double across = (double)p->tx * cos(s->angle) + (double)p->ty * sin(s->angle);
        e.mean += d;
        e.rms += d * d;
        e.max_turn = fmax(e.max_turn, asin(fmin(fabs(across), 1.0)) * 180.0 / M_PI);
        e.wrong += p->polarity != polarity;
        n += 1.0;
    }
    for (double t = -300.0; t < 300.0; t += 0.1) { /* length inside the valid area */
        double x = s->distance * cos(s->angle) - t * sin(s->angle);
        double y = s->distance * sin(s->angle) + t * cos(s->angle);
        length += x > 5.0 && y > 5.0 && x < W - 5.0 && y < H - 5.0 ? 0.1 : 0.0;
    }
    e.mean /= n;
    e.rms = sqrt(e.rms / n);
    e.per_pixel = n / length;
    return e;
}

/* Stripes of all widths and directions are found along their whole length, in their middle. */
static void test_place(void **state) {
    psfm_context *ctx = *state;
    static const double widths[] = {1.2, 2.0, 3.5, 6.0};
    for (int k = 0; k < 4; ++k) {
        for (int a = 0; a < 12; ++a) {
            double angle = 0.1 + a * M_PI / 12.0;
            double distance = 80.3 * cos(angle) + 60.4 * sin(angle) + 0.37;
            bool light = a % 2 == 0;
            line_stripe s = {angle, distance, widths[k], light ? 150.0 : 90.0, 120.0, 120.0};
            draw_stripe(&image, &s, 0.0);
            find(ctx);
            errors e = compare(&s, light ? 1 : -1);
            assert_below(fabs(e.mean), 0.01);
            assert_below(e.rms, 0.06);
            assert_below(e.max_turn, 5.0);
            assert_true(e.per_pixel > 0.65 && e.per_pixel < 2.0);
            assert_int_equal(e.wrong, 0);
            assert_int_equal(e.others, 0);
        }
    }
}

/* Noise of 2 grey levels on a contrast of 25. */
static void test_noise(void **state) {
    psfm_context *ctx = *state;
    line_stripe s = {0.7, 100.2, 2.5, 145.0, 120.0, 120.0};
    draw_stripe(&image, &s, 2.0);
    find(ctx);
    errors e = compare(&s, 1);
    assert_below(fabs(e.mean), 0.02);
    assert_below(e.rms, 0.1);
    assert_true(e.per_pixel > 0.6);
    assert_int_equal(e.wrong, 0);
    assert_true(e.others < 30);
}

/* The flanks differ, as at the edge of a painted area: the middle is still the stripe's. */
static void test_unequal_flanks(void **state) {
    psfm_context *ctx = *state;
    line_stripe s = {1.1, 90.6, 3.0, 200.0, 60.0, 130.0};
    draw_stripe(&image, &s, 0.0);
    find(ctx);
    errors e = compare(&s, 1);
    assert_below(fabs(e.mean), 0.1);
    assert_true(e.per_pixel > 0.6);
    assert_int_equal(e.wrong, 0);
}

/* A step has one flank only, a flat image none; neither is a line. */
static void test_no_line(void **state) {
    psfm_context *ctx = *state;
    line_stripe step = {0.6, 90.0, 0.0, 0.0, 80.0, 160.0};
    line_stripe flat = {0.6, 90.0, 0.0, 0.0, 120.0, 120.0};
    draw_stripe(&image, &step, 0.0);
    find(ctx);
    assert_int_equal(found.num, 0);
    draw_stripe(&image, &flat, 1.0);
    find(ctx);
    assert_int_equal(found.num, 0);
}

/* A stripe weaker than the least contrast is none, whatever its direction. */
static void test_contrast(void **state) {
    psfm_context *ctx = *state;
    line_stripe s = {0.6, 90.0, 3.0, 126.0, 120.0, 120.0};
    draw_stripe(&image, &s, 0.0);
    find(ctx);
    assert_int_equal(found.num, 0);
}

/* A red line as light as its green ground is seen by its colour, and is neither light nor dark. */
static void test_color(void **state) {
    psfm_context *ctx = *state;
    line_stripe s = {0.6, 90.0, 3.0, 1.0, 0.0, 0.0};
    psfm_image color;
    assert_ok(ctx, psfm_image_init(ctx, W, H, PSFM_IMAGE_GRAY_AND_RGB, &color));
    for (int y = 0; y < H; ++y) {
        for (int x = 0; x < W; ++x) {
            double share = stripe_value(&s, x, y);
            uint8_t *rgb = color.rgb + 3 * (y * W + x);
            rgb[0] = (uint8_t)(60.0 + 120.0 * share + 0.5);
            rgb[1] = (uint8_t)(120.0 - 35.7 * share + 0.5);
            rgb[2] = 80;
            color.gray[y * W + x] = psfm_luma(rgb[0], rgb[1], rgb[2]);
        }
    }
    psfm_image gray = image;
    image = color;
    find(ctx);
    image = gray;
    psfm_image_free(&color);
    errors e = compare(&s, 0);
    assert_below(fabs(e.mean), 0.03);
    assert_true(e.per_pixel > 0.65);
    assert_int_equal(e.wrong, 0);
    assert_int_equal(e.others, 0);
}

/* The edge of the black around an undistorted photograph is not valid, a black spot inside is. */
static void test_black_border(void **state) {
    psfm_context *ctx = *state;
    line_stripe edge = {0.0, 40.0, 0.0, 0.0, 0.0, 120.0};
    draw_stripe(&image, &edge, 0.0);
    for (int y = 60; y < 64; ++y)
        memset(image.gray + y * W + 100, 0, 4);
    find(ctx);
    for (int y = 10; y < H - 10; ++y) {
        assert_int_equal(found.valid[y * W + 20], 0);
        assert_int_equal(found.valid[y * W + 42], 0);
        assert_int_equal(found.valid[y * W + 48], 1);
        assert_int_equal(found.valid[y * W + 102], 1);
        assert_int_equal(found.valid[y * W + W - 2], 0);
    }
}

/* Images too small for any derivative have no lines. */
static void test_tiny(void **state) {
    psfm_context *ctx = *state;
    for (int size = 1; size < 12; ++size) {
        psfm_image tiny;
        psfm_line_pixels none;
        assert_ok(ctx, psfm_image_init(ctx, size, 12 - size, PSFM_IMAGE_GRAY_AND_RGB, &tiny));
        assert_ok(ctx, psfm_line_pixels_find(ctx, &tiny, NULL, &none));
        assert_int_equal(none.num, 0);
        psfm_line_pixels_free(&none);
        psfm_image_free(&tiny);
    }
}

/* Every allocation that fails is reported, and nothing leaks. */
static void test_memory(void **state) {
    psfm_context *ctx = *state;
    line_stripe s = {0.7, 100.2, 2.5, 145.0, 120.0, 120.0};
    psfm_line_pixels none;
    psfm_status status = PSFM_ERR_MEMORY;
    draw_stripe(&image, &s, 0.0);
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_line_pixels_find(ctx, &image, NULL, &none);
        psfm_alloc_fail_after(0);
        if (status != PSFM_OK) {
            assert_int_equal(status, PSFM_ERR_MEMORY);
            assert_null(none.pixels);
        }
        psfm_line_pixels_free(&none);
        assert_true(n < 100);
    }
}

static int open_image(void **state) {
    *state = psfm_context_create();
    return psfm_image_init(*state, W, H, PSFM_IMAGE_GRAY, &image) != PSFM_OK;
}

static int close_image(void **state) {
    psfm_line_pixels_free(&found);
    psfm_image_free(&image);
    psfm_context_destroy((psfm_context **)state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),          cmocka_unit_test(test_noise),
        cmocka_unit_test(test_unequal_flanks), cmocka_unit_test(test_no_line),
        cmocka_unit_test(test_contrast),       cmocka_unit_test(test_color),
        cmocka_unit_test(test_black_border),   cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, open_image, close_image);
}
