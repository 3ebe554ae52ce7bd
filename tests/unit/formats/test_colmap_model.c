#include "unit/formats/model_util.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "comma_locale.h"
#include "unit/core/camera/camera_samples.h"

static void a_round_trip_is_exact_in_both_formats(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH];
    make_scratch(folder);
    psfm_model model, back, again;
    make_model(&model, 5, 7);
    make_awkward(&model);
    for (int format = 0; format < 2; ++format) {
        assert_ok(ctx, psfm_model_write(ctx, &model, (psfm_model_format)format, folder));
        assert_int_equal(count_files(folder), 3); /* the other format is gone, no leftovers */
        assert_ok(ctx, psfm_model_read(ctx, folder, &back));
        assert_same_model(&model, &back);
        assert_ok(ctx, psfm_model_write(ctx, &back, (psfm_model_format)(1 - format), folder));
        assert_ok(ctx, psfm_model_read(ctx, folder, &again));
        assert_same_model(&model, &again);
        psfm_model_free(&back);
        psfm_model_free(&again);
    }
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void every_camera_model_comes_back(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH];
    psfm_camera cameras[NUM_CAMERA_SAMPLES + 1];
    make_scratch(folder);
    memcpy(cameras, camera_samples, sizeof camera_samples);
    cameras[NUM_CAMERA_SAMPLES] =
        (psfm_camera){99, PSFM_CAMERA_EQUIRECTANGULAR, 2048, 1024, {2048, 1024}, false};
    const psfm_model model = {.cameras = cameras, .num_cameras = NUM_CAMERA_SAMPLES + 1};
    for (int format = 0; format < 2; ++format) {
        psfm_model back;
        assert_ok(ctx, psfm_model_write(ctx, &model, (psfm_model_format)format, folder));
        assert_ok(ctx, psfm_model_read(ctx, folder, &back));
        assert_same_model(&model, &back);
        psfm_model_free(&back);
    }
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* Text is printed in blocks, 64 at a time, by several threads. */
static void long_text_models_come_back(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{131, 5}, {2, 2100}}; /* images, points */
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH];
    make_scratch(folder);
    set_comma_locale();
    for (int k = 0; k < 4; ++k) {
        psfm_model model, back;
        make_model(&model, sizes[k / 2][0], sizes[k / 2][1]);
        psfm_context_set_threads(ctx, 1 + 2 * (k % 2));
        assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, folder));
        assert_ok(ctx, psfm_model_read(ctx, folder, &back));
        assert_same_model(&model, &back);
        psfm_model_free(&back);
        psfm_model_free(&model);
    }
    leave_comma_locale();
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void an_empty_model_is_a_model(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH];
    make_scratch(folder);
    psfm_model model = {0}, back;
    for (int format = 0; format < 2; ++format) {
        assert_ok(ctx, psfm_model_write(ctx, &model, (psfm_model_format)format, folder));
        assert_ok(ctx, psfm_model_read(ctx, folder, &back));
        assert_same_model(&model, &back);
        psfm_model_free(&back);
    }
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void finds_cameras_images_and_centres(void **state) {
    (void)state;
    psfm_model model;
    make_model(&model, 4, 1);
    for (size_t i = 0; i < model.num_cameras; ++i)
        assert_ptr_equal(psfm_model_camera(&model, model.cameras[i].id), &model.cameras[i]);
    for (size_t i = 0; i < model.num_images; ++i)
        assert_ptr_equal(psfm_model_image_by_id(&model, model.images[i].id), &model.images[i]);
    assert_null(psfm_model_camera(&model, 2));
    assert_null(psfm_model_camera(&model, 0));
    assert_null(psfm_model_camera(&model, UINT32_MAX));
    assert_null(psfm_model_image_by_id(&model, 3));
    /* A quarter turn about z: X_cam = (-y, x, z) + (1, 2, 3), so the centre is (-2, 1, -3). */
    psfm_model_image *image = &model.images[0];
    double q[4] = {2.0, 0.0, 0.0, 2.0}, center[3]; /* not of unit length */
    memcpy(image->cam_from_world_q, q, sizeof q);
    for (int k = 0; k < 3; ++k)
        image->cam_from_world_t[k] = k + 1.0;
    psfm_model_image_center(image, center);
    assert_close(center[0], -2.0, 1e-14);
    assert_close(center[1], 1.0, 1e-14);
    assert_close(center[2], -3.0, 1e-14);
    psfm_model_free(&model);
    psfm_model_free(&model); /* emptied: harmless */
    psfm_model_free(NULL);
}

static void replaces_a_model_and_spares_other_files(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char base[MAX_PATH], folder[MAX_PATH];
    make_scratch(base);
    join(folder, base, "deep/er"); /* made on the way */
    psfm_model model, back;
    make_model(&model, 2, 3);
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_BINARY, folder));
    put_text(folder, "notes.txt", "mine");
    put_text(folder, "points3D.ply", "mine");
    put_text(folder, "rigs.bin", "of the old model");
    put_text(folder, "frames.txt", "of the old model");
    psfm_model_free(&model);
    make_model(&model, 3, 2);
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, folder));
    assert_true(exists(folder, "notes.txt"));
    assert_true(exists(folder, "points3D.ply"));
    assert_int_equal(count_files(folder), 5);
    put_text(folder, "rigs.txt", "anything: ignored");
    put_text(folder, "frames.bin", "anything: ignored");
    assert_ok(ctx, psfm_model_read(ctx, folder, &back));
    assert_same_model(&model, &back);
    psfm_model_free(&model);
    psfm_model_free(&back);
    remove_scratch(base);
    psfm_context_destroy(&ctx);
}

static void a_failed_write_leaves_the_old_model(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    psfm_model small, large, back;
    make_model(&small, 1, 1);
    make_model(&large, 6, 40);
    assert_ok(ctx, psfm_model_write(ctx, &small, PSFM_MODEL_TEXT, folder));
    for (int format = 0; format < 2; ++format) {
        /* A disk without room for more than the small model's files. */
        struct rlimit before, small_files;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small_files = before;
        small_files.rlim_cur = 500;
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small_files), 0);
        psfm_status status = psfm_model_write(ctx, &large, (psfm_model_format)format, folder);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, PSFM_ERR_IO);
        assert_message(ctx, "File too large");
        assert_int_equal(count_files(folder), 3);
        assert_ok(ctx, psfm_model_read(ctx, folder, &back));
        assert_same_model(&small, &back);
        psfm_model_free(&back);
    }
    put_text(folder, "file", "");
    join(path, folder, "file");
    assert_int_equal(psfm_model_write(ctx, &small, PSFM_MODEL_TEXT, path), PSFM_ERR_IO);
    assert_message(ctx, "not a folder");
    psfm_model_free(&small);
    psfm_model_free(&large);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void says_what_a_folder_lacks(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], first[MAX_PATH];
    make_scratch(folder);
    join(first, folder, "0");
    psfm_model model, back;
    assert_int_equal(psfm_model_read(ctx, first, &back), PSFM_ERR_IO);
    assert_message(ctx, "no such folder");
    assert_int_equal(psfm_model_read(ctx, folder, &back), PSFM_ERR_IO);
    assert_message(ctx, "no COLMAP model");
    make_model(&model, 1, 1);
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, first));
    assert_int_equal(psfm_model_read(ctx, folder, &back), PSFM_ERR_IO);
    assert_message(ctx, "in its folder 0");
    put_text(folder, "cameras.txt", "");
    put_text(folder, "points3D.txt", "");
    assert_int_equal(psfm_model_read(ctx, folder, &back), PSFM_ERR_IO);
    assert_message(ctx, "lacks images.txt");
    assert_null(back.images);
    put_text(folder, "cameras.bin", "half a binary model does not hide a whole text one");
    put_text(folder, "images.txt", "");
    assert_ok(ctx, psfm_model_read(ctx, folder, &back));
    psfm_model_free(&back);
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void refuses_to_write_nonsense(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH];
    make_scratch(folder);
    for (int kind = 0; kind < 9; ++kind) {
        static const char *const pieces[] = {"not sorted",   "focal",       "no direction",
                                             "not finite",   "camera 77",   "named before",
                                             "does not see", "cannot keep", "which does not exist"};
        psfm_model model;
        make_model(&model, 3, 2);
        if (kind == 0)
            model.images[1].id = 1;
        if (kind == 1)
            model.cameras[0].params[0] = -1;
        if (kind == 2)
            memset(model.images[0].cam_from_world_q, 0, sizeof(double[4]));
        if (kind == 3)
            model.points[1].xyz[2] = NAN;
        if (kind == 4)
            model.images[1].camera_id = 77;
        if (kind == 5)
            model.points[0].track[1] = model.points[0].track[0];
        if (kind == 6)
            model.points[0].track[1].keypoint_idx = 1;
        if (kind == 7)
            model.images[0].name[0] = '\n';
        if (kind == 8)
            model.images[0].point3D_ids[1] = 99;
        assert_int_equal(psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, folder), PSFM_ERR_ARGUMENT);
        assert_message(ctx, pieces[kind]);
        assert_int_equal(count_files(folder), 0);
        psfm_model_free(&model);
    }
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void count_warning(psfm_log_level level, const char *message, void *user) {
    (void)message;
    *(int *)user += level == PSFM_LOG_WARNING;
}

static void names_with_blanks_survive_and_warn(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    int warnings = 0;
    psfm_context_set_log(ctx, count_warning, &warnings);
    char folder[MAX_PATH];
    make_scratch(folder);
    psfm_model model, back;
    make_model(&model, 2, 1);
    snprintf(model.images[1].name, 12, "my photo 1");
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, folder));
    assert_int_equal(warnings, 1);
    assert_ok(ctx, psfm_model_read(ctx, folder, &back));
    assert_same_model(&model, &back);
    psfm_model_free(&back);
    snprintf(model.images[1].name, 12, " end blank ");
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_BINARY, folder));
    assert_int_equal(warnings, 1);
    assert_ok(ctx, psfm_model_read(ctx, folder, &back));
    assert_same_model(&model, &back);
    psfm_model_free(&back);
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void a_comma_locale_changes_nothing(void **state) {
    (void)state;
    char scratch[MAX_PATH], folder[MAX_PATH];
    set_comma_locale();
    make_scratch(scratch);
    join(folder, scratch, "model");
    psfm_context *ctx = psfm_context_create();
    psfm_model model, back;
    make_model(&model, 2, 2);
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, folder));
    assert_ok(ctx, psfm_model_read(ctx, folder, &back));
    assert_same_model(&model, &back);
    leave_comma_locale();
    psfm_model_free(&back);
    assert_ok(ctx, psfm_model_read(ctx, folder, &back));
    assert_same_model(&model, &back);
    psfm_model_free(&back);
    psfm_model_free(&model);
    remove_scratch(scratch);
    psfm_context_destroy(&ctx);
}

static void survives_every_failing_allocation(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH];
    make_scratch(folder);
    psfm_model model, back;
    make_model(&model, 3, 2);
    for (int format = 0; format < 2; ++format) {
        psfm_status status = PSFM_ERR_MEMORY;
        size_t n = 0;
        while (status != PSFM_OK) {
            psfm_alloc_fail_after(++n);
            status = psfm_model_write(ctx, &model, (psfm_model_format)format, folder);
            psfm_alloc_fail_after(0);
            assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        }
        assert_true(n > 10);
        for (n = 0, status = PSFM_ERR_MEMORY; status != PSFM_OK;) {
            psfm_alloc_fail_after(++n);
            status = psfm_model_read(ctx, folder, &back);
            psfm_alloc_fail_after(0);
            assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
            if (status != PSFM_OK)
                assert_true(back.cameras == NULL && back.images == NULL && back.points == NULL);
        }
        assert_true(n > 20);
        assert_same_model(&model, &back);
        psfm_model_free(&back);
    }
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* The sets' ground truth was written by hand and by several programs. */
static void reads_the_ground_truth_of_the_test_data(void **state) {
    (void)state;
    const char *data = getenv("PLANARSFM_TEST_DATA");
    if (data == NULL) {
        print_message("PLANARSFM_TEST_DATA is not set\n");
        skip();
    }
    static const struct {
        const char *name;
        size_t num_images;
    } sets[] = {{"rendered_arena46", 46},    {"strecha_fountain_P11", 11},
                {"strecha_HerzJesus_P8", 8}, {"strecha_entry_P10", 10},
                {"strecha_castle_P19", 19},  {"policko_field46", 46},
                {"caliterra_aerial75", 75},  {"sanbapolis_arena10", 10}};
    psfm_context *ctx = psfm_context_create();
    char scratch[MAX_PATH], folder[MAX_PATH];
    make_scratch(scratch);
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; ++k) {
        snprintf(folder, sizeof folder, "%s/sets/%s/gt", data, sets[k].name);
        psfm_model model, back;
        assert_ok(ctx, psfm_model_read(ctx, folder, &model));
        assert_int_equal(model.num_images, sets[k].num_images);
        assert_int_equal(model.num_points, 0);
        assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, scratch));
        assert_ok(ctx, psfm_model_read(ctx, scratch, &back));
        assert_same_model(&model, &back);
        psfm_model_free(&back);
        psfm_model_free(&model);
    }
    remove_scratch(scratch);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_is_exact_in_both_formats),
        cmocka_unit_test(every_camera_model_comes_back),
        cmocka_unit_test(long_text_models_come_back),
        cmocka_unit_test(an_empty_model_is_a_model),
        cmocka_unit_test(finds_cameras_images_and_centres),
        cmocka_unit_test(replaces_a_model_and_spares_other_files),
        cmocka_unit_test(a_failed_write_leaves_the_old_model),
        cmocka_unit_test(says_what_a_folder_lacks),
        cmocka_unit_test(refuses_to_write_nonsense),
        cmocka_unit_test(names_with_blanks_survive_and_warn),
        cmocka_unit_test(a_comma_locale_changes_nothing),
        cmocka_unit_test(survives_every_failing_allocation),
        cmocka_unit_test(reads_the_ground_truth_of_the_test_data),
    };
    return cmocka_run_group_tests_name("formats/colmap_model", tests, NULL, NULL);
}
