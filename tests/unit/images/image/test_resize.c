#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "images/image/resize.h"

static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return 0;
}

static psfm_image noise(int width, int height, psfm_image_channels channels) {
    psfm_image image;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, (uint64_t)width, (uint64_t)height);
    assert_ok(ctx, psfm_image_init(ctx, width, height, channels, &image));
    for (size_t k = 0; k < (size_t)(width * height); ++k)
        image.gray[k] = (uint8_t)psfm_rng_next(&rng);
    for (size_t k = 0; image.rgb != NULL && k < (size_t)(3 * width * height); ++k)
        image.rgb[k] = (uint8_t)psfm_rng_next(&rng);
    return image;
}

/* The mean over a rectangle by brute force: each old pixel weighted by its overlap. */
static double area_mean(const psfm_image *image, double x0, double x1, double y0, double y1) {
    double sum = 0, weight = 0;
    for (int y = 0; y < image->height; ++y) {
        for (int x = 0; x < image->width; ++x) {
            double wx = fmin(x + 1, x1) - fmax(x, x0), wy = fmin(y + 1, y1) - fmax(y, y0);
            if (wx <= 0 || wy <= 0)
                continue;
            sum += wx * wy * image->gray[y * image->width + x];
            weight += wx * wy;
        }
    }
    return sum / weight;
}

static void averages_over_the_area(void **state) {
    (void)state;
    static const int sizes[][4] = {{31, 17, 10, 7},  {40, 30, 20, 15}, {13, 13, 13, 13},
                                   {50, 20, 49, 19}, {9, 64, 1, 1},    {64, 5, 3, 5}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        int w = sizes[k][0], h = sizes[k][1], nw = sizes[k][2], nh = sizes[k][3];
        psfm_image image = noise(w, h, PSFM_IMAGE_GRAY), small;
        assert_ok(ctx, psfm_image_shrink(ctx, &image, nw, nh, &small));
        double sx = (double)w / nw, sy = (double)h / nh;
        for (int y = 0; y < nh; ++y)
            for (int x = 0; x < nw; ++x)
                assert_close(small.gray[y * nw + x],
                             area_mean(&image, x * sx, (x + 1) * sx, y * sy, (y + 1) * sy), 0.501);
        psfm_image_free(&small);
        psfm_image_free(&image);
    }
}

static void colour_channels_are_kept_apart(void **state) {
    (void)state;
    psfm_image image = noise(30, 20, PSFM_IMAGE_GRAY_AND_RGB), small, channel, one;
    assert_ok(ctx, psfm_image_shrink(ctx, &image, 7, 9, &small));
    assert_ok(ctx, psfm_image_init(ctx, 30, 20, PSFM_IMAGE_GRAY, &channel));
    for (size_t c = 0; c < 3; ++c) {
        for (size_t k = 0; k < 600; ++k)
            channel.gray[k] = image.rgb[3 * k + c];
        assert_ok(ctx, psfm_image_shrink(ctx, &channel, 7, 9, &one));
        for (size_t k = 0; k < 63; ++k)
            assert_int_equal(small.rgb[3 * k + c], one.gray[k]);
        psfm_image_free(&one);
    }
    psfm_image_free(&channel);
    psfm_image_free(&small);
    psfm_image_free(&image);
}

static void white_stays_white_at_any_size(void **state) {
    (void)state;
    psfm_image image, small;
    assert_ok(ctx, psfm_image_init(ctx, 97, 89, PSFM_IMAGE_GRAY, &image));
    memset(image.gray, 255, 97 * 89);
    for (int n = 1; n <= 89; ++n) {
        assert_ok(ctx, psfm_image_shrink(ctx, &image, n, n, &small));
        for (int k = 0; k < n * n; ++k)
            assert_int_equal(small.gray[k], 255);
        psfm_image_free(&small);
    }
    psfm_image_free(&image);
}

static void dimensions_follow_the_longer_side(void **state) {
    (void)state;
    int w, h;
    psfm_resize_dimensions(6000, 4000, 3200, &w, &h);
    assert_int_equal(w, 3200);
    assert_int_equal(h, 2133);
    psfm_resize_dimensions(1600, 1200, 3200, &w, &h);
    assert_int_equal(w, 1600);
    psfm_resize_dimensions(1600, 1200, 0, &w, &h);
    assert_int_equal(h, 1200);
    psfm_resize_dimensions(10, 60000, 100, &w, &h);
    assert_int_equal(w, 1);
    assert_int_equal(h, 100);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    psfm_image image = noise(10, 10, PSFM_IMAGE_GRAY), small;
    assert_int_equal(psfm_image_shrink(ctx, &image, 11, 5, &small), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_image_shrink(ctx, &image, 0, 5, &small), PSFM_ERR_ARGUMENT);
    for (size_t n = 1; n <= 3; ++n) {
        psfm_alloc_fail_after(n);
        assert_int_equal(psfm_image_shrink(ctx, &image, 5, 5, &small), PSFM_ERR_MEMORY);
    }
    psfm_alloc_fail_after(0);
    psfm_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_over_the_area),
        cmocka_unit_test(colour_channels_are_kept_apart),
        cmocka_unit_test(white_stays_white_at_any_size),
        cmocka_unit_test(dimensions_follow_the_longer_side),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests_name("image/resize", tests, make_context, free_context);
}
