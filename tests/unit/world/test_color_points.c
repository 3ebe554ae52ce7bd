#include <unistd.h>

#include "images/image/image_io.h"
#include "test_util.h"
#include "world/color_points.h"

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_colors_XXXXXX";

/* Red rises with x, green with y, blue is the image's own: linear, so that sampling is exact. */
static void write_photo(const char *name, uint8_t blue) {
    psfm_image image;
    char path[128];
    assert_ok(ctx, psfm_image_init(ctx, 40, 30, PSFM_IMAGE_GRAY_AND_RGB, &image));
    for (size_t k = 0; k < 40 * 30; ++k) {
        image.rgb[3 * k] = (uint8_t)(4 * (k % 40));
        image.rgb[3 * k + 1] = (uint8_t)(4 * (k / 40));
        image.rgb[3 * k + 2] = blue;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(ctx, psfm_image_write(ctx, &image, 100, path));
    psfm_image_free(&image);
}

/* Three images, of which the last has no file, and three points. */
typedef struct {
    psfm_model model;
    psfm_model_image images[3];
    psfm_model_point points[3];
    double keypoints[3][3][2];
    uint64_t ids[3][3];
    psfm_track_element tracks[3][3];
} fixture;

static void make_model(fixture *f) {
    static char names[3][8] = {"a.png", "b.png", "c.png"};
    static const double xy[3][2] = {{10.5, 20.5}, {10.75, 5.5}, {500.0, 3.0}};
    memset(f, 0, sizeof *f);
    f->model.images = f->images;
    f->model.num_images = 3;
    f->model.points = f->points;
    f->model.num_points = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        f->images[i] = (psfm_model_image){.id = i + 1,
                                          .name = names[i],
                                          .num_keypoints = 3,
                                          .keypoints = f->keypoints[i],
                                          .point3D_ids = f->ids[i]};
        for (uint32_t k = 0; k < 3; ++k) {
            memcpy(f->keypoints[i][k], xy[k], sizeof xy[k]);
            f->ids[i][k] = k + 1;
            f->tracks[k][i] = (psfm_track_element){i + 1, k};
        }
        f->points[i] = (psfm_model_point){
            .id = i + 1, .rgb = {128, 128, 128}, .track = f->tracks[i], .track_length = 3};
    }
}

/* Colours from the photographs that there are: the third image has none. */
static void color(fixture *f) {
    psfm_image_colors colors[3] = {{0}};
    for (int i = 0; i < 2; ++i) {
        psfm_small_photo photo;
        assert_ok(ctx, psfm_small_photo_read(ctx, folder, f->images[i].name, 20, &photo));
        assert_ok(ctx, psfm_image_colors_take(ctx, &f->images[i], &photo, &colors[i]));
        psfm_image_free(&photo.image);
    }
    psfm_color_points(colors, &f->model);
    for (int i = 0; i < 3; ++i)
        psfm_image_colors_free(&colors[i]);
}

static void points_get_the_mean_of_their_images(void **state) {
    (void)state;
    fixture f;
    make_model(&f);
    color(&f);
    const uint8_t expected[3][3] = {{40, 80, 60}, {41, 20, 60}, {128, 128, 128}};
    for (int p = 0; p < 3; ++p)
        for (int c = 0; c < 3; ++c)
            assert_int_equal(f.points[p].rgb[c], expected[p][c]);
}

/* Decoded at half their size, to within what JPEG loses. */
static void jpeg_files_give_the_same(void **state) {
    (void)state;
    static char names[2][8] = {"a.jpg", "b.jpg"};
    psfm_small_photo photo;
    fixture f, jpeg;
    make_model(&f);
    make_model(&jpeg);
    for (int i = 0; i < 2; ++i) {
        write_photo(names[i], (uint8_t)(i == 0 ? 40 : 80));
        jpeg.images[i].name = names[i];
        assert_ok(ctx, psfm_small_photo_read(ctx, folder, names[i], 20, &photo));
        assert_true(photo.scale == 0.5 && photo.image.width == 20 && photo.image.height == 15);
        psfm_image_free(&photo.image);
    }
    color(&f);
    color(&jpeg);
    for (int p = 0; p < 3; ++p)
        for (int c = 0; c < 3; ++c)
            assert_in_range(jpeg.points[p].rgb[c], f.points[p].rgb[c] - 3, f.points[p].rgb[c] + 3);
}

static void what_no_photograph_shows_keeps_its_colour(void **state) {
    (void)state;
    fixture f;
    make_model(&f);
    psfm_color_points((psfm_image_colors[3]){{0}}, &f.model);
    for (int p = 0; p < 3; ++p)
        assert_int_equal(f.points[p].rgb[0], 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_get_the_mean_of_their_images),
        cmocka_unit_test(jpeg_files_give_the_same),
        cmocka_unit_test(what_no_photograph_shows_keeps_its_colour),
    };
    static const char *const files[] = {"a.png", "b.png", "a.jpg", "b.jpg"};
    char path[128];
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    write_photo("a.png", 40);
    write_photo("b.png", 80);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < 4; ++k) {
        snprintf(path, sizeof path, "%s/%s", folder, files[k]);
        unlink(path);
    }
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
