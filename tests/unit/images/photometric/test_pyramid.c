/* Levels of a photograph, pixel by pixel. */
#include "images/photometric/pyramid.h"

#include <unistd.h>

#include "test_util.h"

static psfm_pyramid make(psfm_context *ctx, int width, int height) {
    psfm_image image = {0};
    psfm_pyramid photo;
    assert_ok(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < width * height; ++k)
        image.gray[k] = (uint8_t)((unsigned)k * 7919u % 256u);
    assert_ok(ctx, psfm_pyramid_init(ctx, &image, &photo));
    assert_memory_equal(photo.levels[0].pixels, image.gray, (size_t)width * (size_t)height);
    psfm_image_free(&image);
    return photo;
}

/* Rounded means of 2 x 2 pixels; a last odd row or column is left out. */
static void pixels_are_means_of_four(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_pyramid photo = make(ctx, 205, 97);
    const int sizes[3][2] = {{205, 97}, {102, 48}, {51, 24}};
    assert_int_equal(photo.num_levels, 3);
    for (int k = 0; k < 3; ++k) {
        const psfm_pyramid_level *level = &photo.levels[k];
        assert_true(level->width == sizes[k][0] && level->height == sizes[k][1]);
        for (int y = 0; k > 0 && y < level->height; ++y)
            for (int x = 0; x < level->width; ++x) {
                const psfm_pyramid_level *fine = level - 1;
                const uint8_t *at = fine->pixels + 2 * y * fine->width + 2 * x;
                double mean = 0.25 * (at[0] + at[1] + at[fine->width] + at[fine->width + 1]);
                assert_int_equal(level->pixels[y * level->width + x], (int)floor(mean + 0.5));
            }
    }
    assert_true(photo.num_bytes >= 205u * 97u + 102u * 48u + 51u * 24u);
    psfm_pyramid_free(&photo);
    assert_null(photo.memory);
    psfm_context_destroy(&ctx);
}

static void levels_end_with_their_size_and_number(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const int sizes[][3] = {{24, 24, 1}, {47, 400, 1},  {48, 48, 2},    {100, 95, 2},
                                   {96, 96, 3}, {768, 768, 6}, {1600, 1540, 6} /* not seven */};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        psfm_pyramid photo = make(ctx, sizes[k][0], sizes[k][1]);
        assert_int_equal(photo.num_levels, sizes[k][2]);
        psfm_pyramid_free(&photo);
    }
    psfm_context_destroy(&ctx);
}

static void small_and_other_photographs_are_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image image = {0};
    psfm_pyramid photo;
    char path[] = "/tmp/psfm_pyramid_XXXXXX.png";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    assert_ok(ctx, psfm_image_init(ctx, 60, 23, PSFM_IMAGE_GRAY, &image));
    assert_int_equal(psfm_pyramid_init(ctx, &image, &photo), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "60 x 23"));
    assert_true(photo.memory == NULL && photo.num_levels == 0);
    psfm_image_free(&image);
    assert_ok(ctx, psfm_image_init(ctx, 60, 40, PSFM_IMAGE_GRAY, &image));
    memset(image.gray, 77, 60 * 40);
    assert_ok(ctx, psfm_image_write(ctx, &image, 90, path));
    psfm_image_free(&image);
    assert_ok(ctx, psfm_pyramid_read(ctx, path, 60, 40, &photo));
    assert_int_equal(photo.levels[0].pixels[60 * 20], 77);
    psfm_pyramid_free(&photo);
    static const uint64_t wrong[][2] = {{40, 60}, {61, 40}, {60, 39}};
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(psfm_pyramid_read(ctx, path, wrong[k][0], wrong[k][1], &photo),
                         PSFM_ERR_DATA);
        assert_non_null(strstr(psfm_context_message(ctx), "60 x 40"));
        assert_null(photo.memory);
    }
    assert_int_equal(remove(path), 0);
    assert_true(psfm_pyramid_read(ctx, path, 60, 40, &photo) != PSFM_OK);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_means_of_four),
        cmocka_unit_test(levels_end_with_their_size_and_number),
        cmocka_unit_test(small_and_other_photographs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
