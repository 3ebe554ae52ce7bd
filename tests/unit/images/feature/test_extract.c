#include "test_util.h"

#include "core/base/path.h"
#include "extract_photos.h"
#include "images/image/resize.h"
#include "turned_photo.h"
#include "unit/images/feature/feature_util.h"

static char folder[] = "/tmp/psfm_extract_XXXXXX";
static psfm_context *ctx;

#define NUM 6
static const char *const names[NUM] = {"a.png", "b.png",       "sub/c.jpg",
                                       "d.png", "missing.jpg", "broken.png"};

static const char *inside(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_scratch(void **state) {
    (void)state;
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL ||
        psfm_make_folders(ctx, inside("images/sub")) != PSFM_OK ||
        psfm_make_folders(ctx, inside("masks/sub")) != PSFM_OK)
        return 1;
    for (int k = 0; k < 4; ++k) {
        psfm_image image = spotted(ctx, 150 + 40 * k, 120, 150, (uint64_t)k);
        char path[128];
        snprintf(path, sizeof path, "images/%s", names[k]);
        assert_ok(ctx, psfm_image_write(ctx, &image, 95, inside(path)));
        psfm_image_free(&image);
    }
    FILE *file = fopen(inside("images/broken.png"), "wb");
    fputs("\x89PNG\r\n\x1a\nrubbish", file);
    fclose(file);
    return 0;
}

static int remove_scratch(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return psfm_remove_all(NULL, folder) != PSFM_OK;
}

static void free_photos(psfm_photo *photos) {
    for (int k = 0; k < NUM; ++k)
        psfm_photo_free(&photos[k]);
}

static void assert_same_features(const psfm_keypoint_set *a, const psfm_keypoint_set *b) {
    assert_int_equal(a->num, b->num);
    if (a->num == 0)
        return;
    assert_memory_equal(a->keypoints, b->keypoints, a->num * sizeof *a->keypoints);
    assert_memory_equal(a->descriptors_u8, b->descriptors_u8, 128 * a->num);
}

static void threads_do_not_matter_and_bad_files_say_why(void **state) {
    (void)state;
    psfm_photo photos[3][NUM] = {0};
    for (int t = 0; t < 3; ++t) {
        psfm_context_set_threads(ctx, 1 + 2 * t);
        assert_ok(ctx, extract_photos(ctx, &(photo_list){inside("images"), names, NUM, NULL}, NULL,
                                      NULL, photos[t]));
    }
    for (int k = 0; k < 4; ++k) {
        const psfm_photo *p = &photos[0][k];
        psfm_image image;
        psfm_keypoint_set alone;
        char path[128];
        assert_int_equal(p->width, 150 + 40 * k);
        assert_int_equal(p->height, 120);
        assert_null(p->problem);
        snprintf(path, sizeof path, "images/%s", names[k]);
        assert_ok(ctx, psfm_image_read(ctx, inside(path), PSFM_IMAGE_GRAY, &image));
        assert_ok(ctx, psfm_sift_extract(ctx, &image, NULL, NULL, &alone));
        assert_true(alone.num > 50);
        for (int t = 0; t < 3; ++t)
            assert_same_features(&photos[t][k].features, &alone);
        psfm_keypoint_set_free(&alone);
        psfm_image_free(&image);
    }
    for (int k = 4; k < NUM; ++k) {
        assert_int_equal(photos[0][k].features.num, 0);
        assert_non_null(photos[0][k].problem);
        assert_non_null(strstr(photos[0][k].problem, names[k]));
    }
    for (int t = 0; t < 3; ++t)
        free_photos(photos[t]);
}

/* Features that know up from down are those of the photograph as it was held, at the pixels of the
 * file, whatever its orientation. */
static void turned_photographs_are_held_upright(void **state) {
    (void)state;
    psfm_sift_options sift;
    psfm_image seen;
    psfm_keypoint_set expected;
    psfm_options_init(&psfm_sift_option_table, &sift);
    sift.upright = true;
    assert_ok(ctx, psfm_image_read(ctx, inside("images/b.png"), PSFM_IMAGE_GRAY, &seen));
    assert_ok(ctx, psfm_sift_extract(ctx, &seen, &sift, NULL, &expected));
    for (int orientation = 1; orientation <= 8; ++orientation) {
        static const char *const name[] = {"turned.png"};
        psfm_photo photo = {0};
        write_turned(ctx, &seen, orientation, inside("turned.png"));
        assert_ok(ctx,
                  extract_photos(ctx, &(photo_list){folder, name, 1, NULL}, NULL, &sift, &photo));
        assert_null(photo.problem);
        assert_int_equal(photo.width, orientation >= 5 ? 120 : 190);
        psfm_keypoint_set_turn(&photo.features, photo.exif.quarters, photo.width, photo.height);
        assert_int_equal(photo.features.num, expected.num);
        assert_memory_equal(photo.features.descriptors_u8, expected.descriptors_u8,
                            128 * expected.num);
        for (size_t k = 0; k < expected.num; ++k) {
            assert_close(photo.features.keypoints[k].x, expected.keypoints[k].x, 1e-3);
            assert_close(photo.features.keypoints[k].y, expected.keypoints[k].y, 1e-3);
            assert_close(photo.features.keypoints[k].a11, expected.keypoints[k].a11, 1e-5);
            assert_close(photo.features.keypoints[k].a21, expected.keypoints[k].a21, 1e-5);
        }
        psfm_photo_free(&photo);
    }
    psfm_keypoint_set_free(&expected);
    psfm_image_free(&seen);
}

static void masks_remove_keypoints(void **state) {
    (void)state;
    psfm_image mask;
    assert_ok(ctx, psfm_image_init(ctx, 230, 120, PSFM_IMAGE_GRAY, &mask));
    for (int k = 0; k < 230 * 120; ++k)
        mask.gray[k] = k % 230 < 100 ? 0 : 255;
    assert_ok(ctx, psfm_image_write(ctx, &mask, 0, inside("masks/sub/c.jpg.png")));
    assert_ok(ctx, psfm_image_write(ctx, &mask, 0, inside("masks/b.png.png"))); /* wrong size */
    psfm_photo with[NUM] = {0}, without[NUM] = {0};
    char masks[256];
    snprintf(masks, sizeof masks, "%s", inside("masks"));
    assert_ok(ctx, extract_photos(ctx, &(photo_list){inside("images"), names, NUM, masks}, NULL,
                                  NULL, with));
    assert_ok(ctx, extract_photos(ctx, &(photo_list){inside("images"), names, NUM, NULL}, NULL,
                                  NULL, without));
    assert_same_features(&with[0].features, &without[0].features);
    assert_non_null(with[1].problem);
    assert_non_null(strstr(with[1].problem, "b.png.png: the mask has 230 x 120"));
    size_t left = 0;
    for (size_t k = 0; k < without[2].features.num; ++k)
        left += without[2].features.keypoints[k].x >= 100.0F;
    assert_int_equal(with[2].features.num, left);
    assert_true(left > 20 && left < without[2].features.num);
    for (size_t k = 0; k < left; ++k)
        assert_true(with[2].features.keypoints[k].x >= 100.0F);
    free_photos(with);
    free_photos(without);
    psfm_image_free(&mask);
}

static void large_images_are_shrunk_and_keypoints_scaled_back(void **state) {
    (void)state;
    psfm_photo photos[NUM] = {0};
    psfm_extract_options o = {.max_image_size = 135};
    assert_ok(ctx, extract_photos(ctx, &(photo_list){inside("images"), names, NUM, NULL}, &o, NULL,
                                  photos));
    psfm_image image, small;
    psfm_keypoint_set expected;
    assert_ok(ctx, psfm_image_read(ctx, inside("images/d.png"), PSFM_IMAGE_GRAY, &image));
    assert_ok(ctx, psfm_image_shrink(ctx, &image, 135, 60, &small)); /* 270 x 120 */
    assert_ok(ctx, psfm_sift_extract(ctx, &small, NULL, NULL, &expected));
    psfm_keypoint_set_rescale(&expected, 2.0, 2.0);
    assert_int_equal(photos[3].width, 270);
    assert_true(expected.num > 20);
    assert_same_features(&photos[3].features, &expected);
    psfm_keypoint_set_free(&expected);
    psfm_image_free(&image);
    psfm_image_free(&small);
    free_photos(photos);
    o.max_image_size = 3;
    assert_int_equal(
        extract_photos(ctx, &(photo_list){inside("images"), names, NUM, NULL}, &o, NULL, photos),
        PSFM_ERR_ARGUMENT);
}

/* Bright spots with a standard deviation of 8 pixels, in a JPEG of odd size. */
static void put_spots(const char *path, double spots[6][2]) {
    psfm_image image;
    assert_ok(ctx, psfm_image_init(ctx, 481, 363, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < 6; ++k) {
        spots[k][0] = 80.3 + 150.0 * (k % 3);
        spots[k][1] = 90.7 + 180.0 * (k / 3);
    }
    for (int i = 0; i < 481 * 363; ++i) {
        double value = 40.0;
        for (int k = 0; k < 6; ++k) {
            const double x = i % 481 + 0.5 - spots[k][0], y = i / 481 + 0.5 - spots[k][1];
            value += 180.0 * exp(-(x * x + y * y) / 128.0);
        }
        image.gray[i] = (uint8_t)value;
    }
    assert_ok(ctx, psfm_image_write(ctx, &image, 98, path));
    psfm_image_free(&image);
}

/* The codec rounds sizes up, and pixels stay where they are. */
static void places_do_not_depend_on_who_shrinks(void **state) {
    (void)state;
    static const char *const spotted_names[] = {"spots.jpg"};
    double spots[6][2];
    put_spots(inside("images/spots.jpg"), spots);
    for (int way = 0; way < 2; ++way) {
        psfm_photo photo = {0};
        psfm_sift_options sift;
        psfm_options_init(&psfm_sift_option_table, &sift);
        sift.max_image_size = 110;
        sift.reduced_decoding = way == 1;
        assert_ok(ctx, extract_photos(ctx, &(photo_list){inside("images"), spotted_names, 1, NULL},
                                      NULL, &sift, &photo));
        assert_true(photo.width == 481 && photo.height == 363);
        for (int s = 0; s < 6; ++s) {
            double nearest = HUGE_VAL;
            for (size_t k = 0; k < photo.features.num; ++k)
                nearest = fmin(nearest, hypot((double)photo.features.keypoints[k].x - spots[s][0],
                                              (double)photo.features.keypoints[k].y - spots[s][1]));
            assert_below(nearest, 0.4);
        }
        psfm_photo_free(&photo);
    }
}

static int stop_at_once(const char *stage, size_t done, size_t total, void *user) {
    (void)stage, (void)done, (void)total, (void)user;
    return 1;
}

static void cancelling_leaves_nothing(void **state) {
    (void)state;
    psfm_photo photos[NUM] = {0};
    psfm_context_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(
        extract_photos(ctx, &(photo_list){inside("images"), names, NUM, NULL}, NULL, NULL, photos),
        PSFM_ERR_CANCELLED);
    psfm_context_set_progress(ctx, NULL, NULL);
    for (int k = 0; k < NUM; ++k) {
        assert_null(photos[k].features.keypoints);
        assert_null(photos[k].problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter_and_bad_files_say_why),
        cmocka_unit_test(turned_photographs_are_held_upright),
        cmocka_unit_test(masks_remove_keypoints),
        cmocka_unit_test(large_images_are_shrunk_and_keypoints_scaled_back),
        cmocka_unit_test(places_do_not_depend_on_who_shrinks),
        cmocka_unit_test(cancelling_leaves_nothing),
    };
    return cmocka_run_group_tests_name("feature/extract", tests, make_scratch, remove_scratch);
}
