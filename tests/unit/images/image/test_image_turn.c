/* All eight orientations: what is read and turned is what was seen. */
#include "images/image/image_turn.h"

#include "core/base/rng.h"
#include "images/image/exif.h"
#include "turned_photo.h"

static char folder[] = "/tmp/psfm_turn_XXXXXX";
static psfm_context *ctx;

static psfm_image make_noise(int width, int height) {
    psfm_image image;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_ALIGN, 0, 0);
    assert_ok(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY_AND_RGB, &image));
    for (int k = 0; k < 3 * width * height; ++k)
        image.rgb[k] = (uint8_t)(psfm_rng_uniform(&rng) * 255.0);
    for (int y = 0; y < height; ++y)
        psfm_luma_row(image.rgb + 3 * y * width, (size_t)width, image.gray + y * width);
    return image;
}

static void test_orientations(void **state) {
    (void)state;
    psfm_image seen = make_noise(31, 18);
    char path[64];
    snprintf(path, sizeof path, "%s/a.png", folder);
    for (int orientation = 1; orientation <= 8; ++orientation) {
        psfm_image stored, upright;
        write_turned(ctx, &seen, orientation, path);
        assert_ok(ctx, psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &stored));
        assert_int_equal(stored.width, orientation >= 5 ? 18 : 31);
        assert_ok(ctx, psfm_image_turn(ctx, &stored, stored.quarters, &upright));
        assert_int_equal(upright.quarters, 0);
        assert_int_equal(upright.width, 31);
        assert_int_equal(upright.height, 18);
        assert_memory_equal(upright.rgb, seen.rgb, 3 * 31 * 18);
        assert_memory_equal(upright.gray, seen.gray, 31 * 18);
        psfm_image_free(&stored);
        psfm_image_free(&upright);
    }
    psfm_image_free(&seen);
}

/* Codes beyond the standard's mean nothing. */
static void test_other_codes(void **state) {
    (void)state;
    psfm_image seen = make_noise(9, 5), read;
    char path[64];
    snprintf(path, sizeof path, "%s/b.png", folder);
    assert_ok(ctx, psfm_image_write(ctx, &seen, 0, path));
    add_orientation(ctx, path, 9);
    assert_ok(ctx, psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &read));
    assert_int_equal(read.quarters, 0);
    assert_memory_equal(read.rgb, seen.rgb, 3 * 9 * 5);
    psfm_image_free(&seen);
    psfm_image_free(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_other_codes),
    };
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)!psfm_remove_all(NULL, folder);
    psfm_context_destroy(&ctx);
    return failed;
}
