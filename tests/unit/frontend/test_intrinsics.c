#include <sys/stat.h>
#include <unistd.h>

#include "frontend/intrinsics.h"
#include "test_util.h"

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_intrinsics_XXXXXX";

static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void remove_files(void) {
    static const char *const names[] = {"cameras.txt", "images.txt", "points3D.txt"};
    for (size_t k = 0; k < 3; ++k) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
}

/* Finds the camera of a photograph of 100 x 80 pixels. */
static psfm_status find(psfm_intrinsics *in, const char *name, double focal_px, psfm_camera *camera,
                        char source[64]) {
    char *text = NULL;
    psfm_status status = psfm_intrinsics_find(
        ctx, in, &(psfm_photo_facts){name, 100, 80, focal_px, NULL}, camera, &text);
    if (status == PSFM_OK)
        snprintf(source, 64, "%s", text);
    free(text);
    return status;
}

static void one_camera_as_text(void **state) {
    (void)state;
    psfm_intrinsics_options options = {.camera_text =
                                           "OPENCV,100,80,90,91,50,40,0.1,-0.2,1e-3,2e-3"};
    psfm_intrinsics in;
    psfm_camera camera;
    char source[64];
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "sub/a.jpg", 0.0, &camera, source));
    assert_string_equal(source, "given:all");
    assert_int_equal(camera.model, PSFM_CAMERA_OPENCV);
    assert_close(camera.params[1], 91.0, 0.0);
    assert_close(camera.params[7], 2e-3, 0.0);
    psfm_intrinsics_free(&in);

    options.opencv_pixels = true;
    options.sharing = PSFM_SHARE_FOLDER;
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "sub/a.jpg", 0.0, &camera, source));
    assert_string_equal(source, "given:folder:sub");
    assert_close(camera.params[0], 90.0, 0.0);
    assert_close(camera.params[2], 50.5, 0.0);
    assert_close(camera.params[3], 40.5, 0.0);
    psfm_intrinsics_free(&in);
}

static void bad_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "PINHOLE",
                                        "LENS,100,80,90",
                                        "PINHOLE,100,80,90,90,50",
                                        "PINHOLE,100,80,90,90,50,40,0",
                                        "PINHOLE,100,80,90,90,50,x",
                                        "PINHOLE,100.5,80,90,90,50,40",
                                        "PINHOLE,-100,80,90,90,50,40",
                                        "PINHOLE,100,80,-90,90,50,40",
                                        "PINHOLE,100,80,nan,90,50,40"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) {
        psfm_intrinsics_options options = {.camera_text = texts[k]};
        psfm_intrinsics in;
        assert_int_not_equal(psfm_intrinsics_open(ctx, &options, &in), PSFM_OK);
        psfm_intrinsics_free(&in);
    }
}

static void cameras_of_a_model(void **state) {
    (void)state;
    psfm_intrinsics_options options = {.cameras_path = folder};
    psfm_intrinsics in;
    psfm_camera camera;
    char source[64];
    write_file("cameras.txt", "3 PINHOLE 100 80 90 90 50 40\n7 SIMPLE_PINHOLE 64 48 70 32 24\n");
    write_file("images.txt", "1 1 0 0 0 0 0 0 7 z.jpg\n\n2 1 0 0 0 0 0 0 3 b/a.jpg\n\n");
    write_file("points3D.txt", "");
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "b/a.jpg", 55.0, &camera, source));
    assert_string_equal(source, "given:model:3");
    assert_close(camera.params[0], 90.0, 0.0);
    assert_int_equal(find(&in, "a.jpg", 55.0, &camera, source), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "a.jpg"));
    assert_int_equal(find(&in, "z.jpg", 55.0, &camera, source), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "64 x 48"));
    psfm_intrinsics_free(&in);
    options.sharing = PSFM_SHARE_FOLDER;
    assert_int_equal(psfm_intrinsics_open(ctx, &options, &in), PSFM_ERR_ARGUMENT);
    psfm_intrinsics_free(&in);
    remove_files();
}

static void cameras_file_alone(void **state) {
    (void)state;
    psfm_intrinsics_options options = {.cameras_path = folder};
    psfm_intrinsics in;
    psfm_camera camera;
    char source[64];
    write_file("cameras.txt", "# one\n3 PINHOLE 100 80 90 90 50 40\n");
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "a.jpg", 0.0, &camera, source));
    assert_string_equal(source, "given:all");
    psfm_intrinsics_free(&in);
    write_file("cameras.txt", "3 PINHOLE 100 80 90 90 50 40\n4 PINHOLE 100 80 90 90 50 40\n");
    assert_int_equal(psfm_intrinsics_open(ctx, &options, &in), PSFM_ERR_DATA);
    psfm_intrinsics_free(&in);
    remove_files();
    assert_int_equal(psfm_intrinsics_open(ctx, &options, &in), PSFM_ERR_FORMAT);
    psfm_intrinsics_free(&in);
}

static void focal_lengths_of_the_files(void **state) {
    (void)state;
    psfm_intrinsics_options options = {0};
    psfm_intrinsics in;
    psfm_camera camera;
    char source[64];
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "l/a.jpg", 77.0, &camera, source));
    assert_string_equal(source, "group:77 @100x80");
    assert_close(camera.params[0], 77.0, 0.0);
    assert_close(camera.params[1], 50.0, 0.0);
    assert_close(camera.params[2], 40.0, 0.0);
    assert_true(camera.has_prior_focal_length);
    assert_string_equal(psfm_intrinsics_describe(&in), "EXIF focal lengths");
    assert_ok(ctx, find(&in, "l/b.jpg", 0.0, &camera, source)); /* a guess */
    assert_string_equal(source, "group:0 @100x80");
    assert_close(camera.params[0], 120.0, 0.0);
    assert_false(camera.has_prior_focal_length);
    assert_non_null(strstr(psfm_intrinsics_describe(&in), "estimated"));
    char *text = NULL;
    assert_int_equal(psfm_intrinsics_find(ctx, &in, &(psfm_photo_facts){"c.jpg", 0, 0, 0.0, NULL},
                                          &camera, &text),
                     PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "--camera"));
    psfm_intrinsics_free(&in);
}

static void photographs_share_cameras(void **state) {
    (void)state;
    psfm_intrinsics_options options = {.sharing = PSFM_SHARE_FOLDER};
    psfm_intrinsics in;
    psfm_camera camera;
    char source[64];
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "l/a.jpg", 0.0, &camera, source));
    assert_ok(ctx, find(&in, "l/b.jpg", 77.0, &camera, source));
    assert_ok(ctx, find(&in, "r/a.jpg", 88.0, &camera, source));
    assert_close(camera.params[0], 88.0, 0.0);
    assert_ok(ctx, find(&in, "l/c.jpg", 78.0, &camera, source));
    assert_string_equal(source, "folder:l@100x80");
    assert_close(camera.params[0], 77.0, 0.0); /* the first that knows decides */
    psfm_intrinsics_free(&in);

    options.sharing = PSFM_SHARE_ALL;
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "l/a.jpg", 77.0, &camera, source));
    assert_string_equal(source, "all@100x80");
    psfm_intrinsics_free(&in);

    options.sharing = PSFM_SHARE_IMAGE;
    assert_ok(ctx, psfm_intrinsics_open(ctx, &options, &in));
    assert_ok(ctx, find(&in, "l/a.jpg", 77.0, &camera, source));
    assert_string_equal(source, "image:l/a.jpg@100x80");
    psfm_intrinsics_free(&in);

    options.opencv_pixels = true;
    assert_int_equal(psfm_intrinsics_open(ctx, &options, &in), PSFM_ERR_ARGUMENT);
    psfm_intrinsics_free(&in);
    assert_true(psfm_camera_sharing_from_name("folder", &options.sharing));
    assert_int_equal(options.sharing, PSFM_SHARE_FOLDER);
    assert_false(psfm_camera_sharing_from_name("house", &options.sharing));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_camera_as_text),         cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(cameras_of_a_model),         cmocka_unit_test(cameras_file_alone),
        cmocka_unit_test(focal_lengths_of_the_files), cmocka_unit_test(photographs_share_cameras),
    };
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
