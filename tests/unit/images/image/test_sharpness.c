/* The measure falls with blur and does not depend on contrast. */
#include "images/image/sharpness.h"

#include "core/base/rng.h"
#include "test_util.h"

enum { SIDE = 96 };

/* Noise smeared over `reach` pixels each way, of so much contrast. */
static psfm_image make_texture(psfm_context *ctx, int reach, double contrast) {
    psfm_image image;
    static double raw[SIDE][SIDE];
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_ALIGN, 1, 0);
    assert_ok(ctx, psfm_image_init(ctx, SIDE, SIDE, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < SIDE * SIDE; ++k)
        raw[k / SIDE][k % SIDE] = psfm_rng_normal(&rng);
    for (int y = 0; y < SIDE; ++y)
        for (int x = 0; x < SIDE; ++x) {
            double sum = 0.0, num = 0.0;
            for (int v = y - reach; v <= y + reach; ++v)
                for (int u = x - reach; u <= x + reach; ++u)
                    if (u >= 0 && u < SIDE && v >= 0 && v < SIDE) {
                        sum += raw[v][u];
                        num += 1.0;
                    }
            image.gray[y * SIDE + x] = (uint8_t)(128.0 + contrast * sum / sqrt(num));
        }
    return image;
}

static void test_blur(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double before = 2.0;
    for (int reach = 0; reach < 5; ++reach) {
        psfm_image strong = make_texture(ctx, reach, 25.0), weak = make_texture(ctx, reach, 12.0);
        const double sharpness = psfm_image_sharpness(&strong);
        assert_below(sharpness, before);
        assert_close(psfm_image_sharpness(&weak), sharpness, 0.05);
        before = reach == 0 ? 0.8 : sharpness; /* noise is 1, all else far below */
        psfm_image_free(&strong);
        psfm_image_free(&weak);
    }
    assert_below(before, 0.4);
    psfm_context_destroy(&ctx);
}

static void test_nothing_to_see(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image image;
    assert_ok(ctx, psfm_image_init(ctx, 40, 40, PSFM_IMAGE_GRAY, &image));
    assert_close(psfm_image_sharpness(&image), 0.0, 0.0);
    image.width = 8;
    assert_close(psfm_image_sharpness(&image), 0.0, 0.0);
    psfm_image_free(&image);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blur),
                                       cmocka_unit_test(test_nothing_to_see)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
