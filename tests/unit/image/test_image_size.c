#include "test_util.h"

#include <unistd.h>

#include "image/image_io.h"
#include "image/image_size.h"

/* The header tells what the decoder finds, for both formats. */
static void equals_the_decoded_size(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const char *const endings[] = {".jpg", ".png"};
    for (int k = 0; k < 2; ++k) {
        char path[64];
        psfm_image image;
        int width = 0, height = 0;
        snprintf(path, sizeof path, "/tmp/psfm_size_%ld%s", (long)getpid(), endings[k]);
        assert_ok(ctx, psfm_image_init(ctx, 37, 21, PSFM_IMAGE_GRAY, &image));
        assert_ok(ctx, psfm_image_write(ctx, &image, 90, path));
        assert_true(psfm_image_file_size(path, &width, &height));
        assert_int_equal(width, 37);
        assert_int_equal(height, 21);
        psfm_image_free(&image);
        unlink(path);
        assert_false(psfm_image_file_size(path, &width, &height));
    }
    psfm_context_destroy(&ctx);
}

static void bytes_that_tell_nothing(void **state) {
    (void)state;
    int width, height;
    const uint8_t cut[] = {0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0};
    const uint8_t endless[] = {0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0xFF, 0xE0, 0, 0, 0xFF, 0xE0, 0, 0};
    assert_false(psfm_image_parse_size(cut, sizeof cut, &width, &height));
    assert_false(psfm_image_parse_size(endless, sizeof endless, &width, &height));
    assert_false(psfm_image_parse_size((const uint8_t *)"GIF89a", 6, &width, &height));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_decoded_size),
        cmocka_unit_test(bytes_that_tell_nothing),
    };
    return cmocka_run_group_tests_name("image/image_size", tests, NULL, NULL);
}
