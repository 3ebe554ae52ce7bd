#include "nn_util.h"

#include "images/nn/map_sampling.h"

/* A map whose channels are x, y, x y and 1. */
static void make_map(psfm_context *ctx, size_t h, size_t w, psfm_map *map) {
    assert_ok(ctx, psfm_map_resize(ctx, map, h, w, 4));
    for (size_t y = 0; y < h; ++y)
        for (size_t x = 0; x < w; ++x) {
            float *p = map->data + (y * w + x) * map->pitch;
            p[0] = (float)x;
            p[1] = (float)y;
            p[2] = (float)(x * y);
            p[3] = 1;
        }
}

static void samples_polynomials_exactly(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_map map = {0};
    make_map(ctx, 9, 12, &map);
    const float positions[][2] = {{2.5f, 3.25f}, {1, 1}, {8.9f, 6.1f}, {3, 2.75f}};
    for (size_t k = 0; k < 4; ++k)
        for (int mode = PSFM_SAMPLE_BILINEAR; mode <= PSFM_SAMPLE_BICUBIC; ++mode) {
            float out[4], x = positions[k][0], y = positions[k][1];
            psfm_map_sample(&map, (psfm_sample_mode)mode, x, y, out);
            assert_close(out[3], 1, 1e-6);
            if (mode == PSFM_SAMPLE_BICUBIC) /* a = -0.75 is exact for constants only */
                continue;
            assert_close(out[0], x, 1e-5);
            assert_close(out[1], y, 1e-5);
            assert_close(out[2], x * y, 1e-4);
        }
    psfm_map_free(&map);
    psfm_context_destroy(&ctx);
}

static void bicubic_has_the_kernel_of_keys(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_map map = {0};
    float out, sum;
    assert_ok(ctx, psfm_map_resize(ctx, &map, 9, 9, 1));
    memset(map.data, 0, 81 * sizeof *map.data);
    map.data[4 * 9 + 4] = 1;
    const double a = -0.75;
    for (int k = -20; k <= 20; ++k) {
        double t = fabs(k / 8.0);
        double expected = t < 1   ? (a + 2) * t * t * t - (a + 3) * t * t + 1
                          : t < 2 ? a * (t * t * t - 5 * t * t + 8 * t - 4)
                                  : 0;
        psfm_map_sample(&map, PSFM_SAMPLE_BICUBIC, 4 + (float)k / 8, 4, &out);
        psfm_map_sample(&map, PSFM_SAMPLE_BICUBIC, 4, 4 + (float)k / 8, &sum);
        assert_close(out, expected, 1e-6);
        assert_close(sum, expected, 1e-6);
    }
    psfm_map_free(&map);
    psfm_context_destroy(&ctx);
}

static void outside_is_zero_and_halves_are_even(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_map map = {0};
    float out[4];
    make_map(ctx, 4, 5, &map);
    psfm_map_sample(&map, PSFM_SAMPLE_BILINEAR, -0.25f, 1, out);
    assert_close(out[3], 0.75, 1e-6);
    psfm_map_sample(&map, PSFM_SAMPLE_BILINEAR, 4.5f, 3.5f, out);
    assert_close(out[3], 0.25, 1e-6);
    psfm_map_sample(&map, PSFM_SAMPLE_BILINEAR, -7, 2, out);
    assert_close(out[3], 0, 0);
    psfm_map_sample(&map, PSFM_SAMPLE_NEAREST, 2.5f, 1.5f, out);
    assert_close(out[0], 2, 0);
    assert_close(out[1], 2, 0);
    psfm_map_sample(&map, PSFM_SAMPLE_NEAREST, -0.5f, 0, out);
    assert_close(out[3], 1, 0);
    psfm_map_sample(&map, PSFM_SAMPLE_NEAREST, 4.51f, 0, out);
    assert_close(out[3], 0, 0);
    psfm_map_free(&map);
    psfm_context_destroy(&ctx);
}

static void resizes_by_both_rules(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    psfm_map map = {0}, out = {0};
    make_map(ctx, 7, 10, &map);
    assert_ok(ctx, psfm_map_resize_bilinear(
                       ctx, nn, &map, &(psfm_resize){14, 15, PSFM_RESIZE_CENTERS, false}, &out));
    for (size_t y = 0; y < 14; ++y)
        for (size_t x = 0; x < 15; ++x) {
            double px = fmin(9, fmax(0, ((double)x + 0.5) * 10 / 15 - 0.5));
            double py = fmin(6, fmax(0, ((double)y + 0.5) * 7 / 14 - 0.5));
            assert_close(out.data[(y * 15 + x) * out.pitch], px, 1e-5);
            assert_close(out.data[(y * 15 + x) * out.pitch + 1], py, 1e-5);
        }
    /* Corner to corner, and added to what is there. */
    assert_ok(ctx, psfm_map_resize_bilinear(
                       ctx, nn, &map, &(psfm_resize){4, 5, PSFM_RESIZE_CORNERS, false}, &out));
    assert_ok(ctx, psfm_map_resize_bilinear(ctx, nn, &map,
                                            &(psfm_resize){4, 5, PSFM_RESIZE_CORNERS, true}, &out));
    for (size_t y = 0; y < 4; ++y)
        for (size_t x = 0; x < 5; ++x) {
            assert_close(out.data[(y * 5 + x) * out.pitch], 2 * (double)x * 9 / 4, 1e-5);
            assert_close(out.data[(y * 5 + x) * out.pitch + 1], 2 * (double)y * 6 / 3, 1e-5);
        }
    psfm_map_free(&map), psfm_map_free(&out);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

static void normalises_pixels(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    psfm_map map = {0};
    make_map(ctx, 5, 6, &map);
    memset(map.data, 0, 4 * sizeof *map.data); /* a pixel of zeros stays zero */
    float unit[2][4];
    const float positions[2][2] = {{3, 2}, {4.5f, 3.5f}};
    assert_ok(ctx, psfm_map_normalise(ctx, nn, &map));
    assert_ok(ctx,
              psfm_map_sample_unit(ctx, nn, &map, PSFM_SAMPLE_BILINEAR, 2, positions, unit[0]));
    for (size_t k = 0; k < 30; ++k) {
        double length = 0;
        for (size_t c = 0; c < 4; ++c)
            length += pow(map.data[k * map.pitch + c], 2);
        assert_close(length, k == 0 ? 0 : 1, 1e-6);
    }
    const double expected[4] = {3, 2, 6, 1};
    for (size_t c = 0; c < 4; ++c)
        assert_close(unit[0][c], expected[c] / sqrt(50.0), 1e-6);
    assert_close(pow(unit[1][0], 2) + pow(unit[1][1], 2) + pow(unit[1][2], 2) + pow(unit[1][3], 2),
                 1, 1e-6);
    psfm_map_free(&map);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_polynomials_exactly),
        cmocka_unit_test(bicubic_has_the_kernel_of_keys),
        cmocka_unit_test(outside_is_zero_and_halves_are_even),
        cmocka_unit_test(resizes_by_both_rules),
        cmocka_unit_test(normalises_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
