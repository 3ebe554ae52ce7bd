#include "unit/formats/io_util.h"
#include "unit/synth/render_util.h"

#include "core/base/alloc.h"
#include "images/image/image_io.h"

static psfm_status render(psfm_context *ctx, int kind, const settings *s, const char *folder) {
    return psfm_scene_render(ctx, (psfm_scene_kind)kind, 3, &s->scene, &s->render, folder);
}

static psfm_image read_image(psfm_context *ctx, const char *folder, size_t index) {
    char path[MAX_PATH], name[64];
    psfm_image image;
    snprintf(name, sizeof name, "images/cam_%04zu.jpg", index + 1);
    join(path, folder, name);
    assert_ok(ctx, psfm_image_read(ctx, path, PSFM_IMAGE_GRAY, &image));
    return image;
}

static bool has_file(const char *folder, const char *name) {
    char path[MAX_PATH];
    join(path, folder, name);
    return psfm_path_is_file(path);
}

/* The truth is that of psfm_scene_make, with the camera of the images' size. */
static void truth_is_that_of_the_scene(void **state) {
    psfm_context *ctx = *state;
    char folder[MAX_PATH], gt[MAX_PATH];
    make_scratch(folder);
    join(gt, folder, "gt");
    for (int kind = 0; kind < NUM_RENDERED; ++kind) {
        settings s = plain_settings(3, 64);
        psfm_scene scene;
        psfm_model truth;
        s.scene.camera_model = kind == 0 ? PSFM_CAMERA_PINHOLE : PSFM_CAMERA_OPENCV;
        assert_ok(ctx, render(ctx, kind, &s, folder));
        assert_ok(ctx, psfm_scene_make(ctx, (psfm_scene_kind)kind, 3, &s.scene, &scene));
        assert_ok(ctx, psfm_model_read(ctx, gt, &truth));
        assert_int_equal(truth.num_images, 3);
        assert_int_equal(truth.num_points, 0);
        assert_int_equal(truth.num_cameras, 1);
        const psfm_camera *camera = &truth.cameras[0], *full = &scene.truth.cameras[0];
        assert_true(camera->width == 64 && camera->height == 36 && camera->model == full->model);
        for (int k = 0; k < PSFM_CAMERA_MAX_PARAMS; ++k)
            assert_close(camera->params[k], full->params[k] * (k < 4 ? 0.05 : 1.0), 1e-12);
        for (size_t k = 0; k < 3; ++k) {
            const psfm_model_image *a = &truth.images[k], *b = &scene.truth.images[k];
            assert_string_equal(a->name, b->name);
            assert_memory_equal(a->cam_from_world_q, b->cam_from_world_q,
                                sizeof a->cam_from_world_q);
            assert_memory_equal(a->cam_from_world_t, b->cam_from_world_t,
                                sizeof a->cam_from_world_t);
            psfm_image image = read_image(ctx, folder, k);
            assert_true(image.width == 64 && image.height == 36);
            psfm_image_free(&image);
        }
        psfm_scene_free(&scene);
        psfm_model_free(&truth);
    }
    remove_scratch(folder);
}

/* Bytes of a whole file; freed by the caller. */
static char *slurp(psfm_context *ctx, const char *folder, const char *name, size_t *size) {
    char path[MAX_PATH], *bytes = NULL;
    join(path, folder, name);
    assert_ok(ctx, psfm_read_file(ctx, path, 1 << 24, &bytes, size));
    return bytes;
}

static bool same_file(psfm_context *ctx, const char *a, const char *b, const char *name) {
    size_t size_a, size_b;
    char *bytes_a = slurp(ctx, a, name, &size_a), *bytes_b = slurp(ctx, b, name, &size_b);
    bool same = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
    free(bytes_a);
    free(bytes_b);
    return same;
}

static void threads_do_not_matter(void **state) {
    psfm_context *ctx = *state;
    char one[MAX_PATH], four[MAX_PATH];
    make_scratch(one);
    make_scratch(four);
    for (int kind = 0; kind < NUM_RENDERED; ++kind) {
        settings s = plain_settings(3, 96);
        psfm_options_init(&psfm_render_option_table, &s.render); /* noise and all */
        s.render.width = 96;
        psfm_context_set_threads(ctx, 1);
        assert_ok(ctx, render(ctx, kind, &s, one));
        psfm_context_set_threads(ctx, 4);
        assert_ok(ctx, render(ctx, kind, &s, four));
        psfm_context_set_threads(ctx, 0);
        const char *const names[] = {"images/cam_0001.jpg", "images/cam_0002.jpg",
                                     "images/cam_0003.jpg", "gt/images.txt", "gt/cameras.txt"};
        for (int k = 0; k < 5; ++k)
            assert_true(same_file(ctx, one, four, names[k]));
        assert_ok(ctx, psfm_scene_render(ctx, (psfm_scene_kind)kind, 4, &s.scene, &s.render, four));
        assert_false(same_file(ctx, one, four, names[0]));
    }
    remove_scratch(one);
    remove_scratch(four);
}

/* Exposure and white balance differ from image to image by no more than asked. */
static void exposures_differ_as_asked(void **state) {
    psfm_context *ctx = *state;
    char folder[MAX_PATH];
    double low = HUGE_VAL, high = 0.0;
    make_scratch(folder);
    settings s = plain_settings(12, 64);
    for (int with = 0; with < 2; ++with) {
        s.render.exposure = with;
        assert_ok(ctx, render(ctx, PSFM_SCENE_FIELD, &s, folder));
        for (size_t k = 0; k < 12; ++k) {
            psfm_image image = read_image(ctx, folder, k);
            double sum = 0.0;
            for (size_t p = 0; p < 64 * 36; ++p)
                sum += image.gray[p] / (64.0 * 36.0);
            if (with == 1) {
                low = fmin(low, sum);
                high = fmax(high, sum);
            }
            psfm_image_free(&image);
        }
    }
    assert_true(high / low > 1.4);
    assert_below(high / low, 2.6); /* two stops, and the field itself */
    remove_scratch(folder);
}

static void nonsense_is_refused(void **state) {
    psfm_context *ctx = *state;
    char folder[MAX_PATH];
    make_scratch(folder);
    settings s = plain_settings(2, 64);
    assert_int_equal(render(ctx, PSFM_SCENE_GENERAL, &s, folder), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "general"));
    assert_int_equal(render(ctx, 17, &s, folder), PSFM_ERR_ARGUMENT);
    assert_int_equal(render(ctx, -1, &s, folder), PSFM_ERR_ARGUMENT);
    s.render.noise = NAN;
    assert_int_equal(render(ctx, PSFM_SCENE_ROOM, &s, folder), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "noise"));
    s = plain_settings(2, 64);
    s.render.width = 1;
    assert_int_equal(render(ctx, PSFM_SCENE_ROOM, &s, folder), PSFM_ERR_ARGUMENT);
    s = plain_settings(0, 64);
    assert_int_equal(render(ctx, PSFM_SCENE_ROOM, &s, folder), PSFM_ERR_ARGUMENT);
    assert_false(has_file(folder, "gt/images.txt"));
    remove_scratch(folder);
}

/* Images of an earlier scene are replaced as a whole; anybody else's files are left alone. */
static void folders_are_replaced_with_care(void **state) {
    psfm_context *ctx = *state;
    char folder[MAX_PATH], images[MAX_PATH];
    make_scratch(folder);
    join(images, folder, "images");
    settings s = plain_settings(3, 48);
    assert_ok(ctx, render(ctx, PSFM_SCENE_ROOM, &s, folder));
    assert_true(has_file(folder, "images/cam_0003.jpg"));
    s.scene.num_cameras = 2;
    assert_ok(ctx, render(ctx, PSFM_SCENE_ROOM, &s, folder));
    assert_true(has_file(folder, "images/cam_0002.jpg"));
    assert_false(has_file(folder, "images/cam_0003.jpg"));
    put_text(images, "notes.txt", "mine");
    assert_int_equal(render(ctx, PSFM_SCENE_ROOM, &s, folder), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "notes.txt"));
    assert_true(has_file(folder, "images/notes.txt"));
    assert_true(has_file(folder, "images/cam_0002.jpg"));
    put_text(folder, "file", "");
    join(images, folder, "file");
    assert_int_equal(render(ctx, PSFM_SCENE_ROOM, &s, images), PSFM_ERR_IO);
    remove_scratch(folder);
}

static int stop_at_two(const char *stage, size_t done, size_t total, void *user) {
    assert_string_equal(stage, "render");
    assert_int_equal(total, 3);
    *(size_t *)user = done;
    return done == 2;
}

static void progress_is_told_and_can_stop(void **state) {
    psfm_context *ctx = *state;
    char folder[MAX_PATH];
    size_t done = 0;
    make_scratch(folder);
    settings s = plain_settings(3, 48);
    psfm_context_set_threads(ctx, 1);
    psfm_context_set_progress(ctx, stop_at_two, &done);
    assert_int_equal(render(ctx, PSFM_SCENE_ROOM, &s, folder), PSFM_ERR_CANCELLED);
    psfm_context_set_progress(ctx, NULL, NULL);
    psfm_context_set_threads(ctx, 0);
    assert_int_equal(done, 2);
    assert_false(has_file(folder, "images/cam_0001.jpg"));
    assert_int_equal(rmdir(folder), 0); /* nothing is left behind */
}

static void lack_of_memory_is_reported(void **state) {
    psfm_context *ctx = *state;
    char folder[MAX_PATH];
    make_scratch(folder);
    settings s = plain_settings(1, 32);
    size_t n = 1;
    psfm_context_set_threads(ctx, 1);
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = render(ctx, PSFM_SCENE_ROOM, &s, folder);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_false(has_file(folder, "images/cam_0001.jpg"));
    }
    psfm_context_set_threads(ctx, 0);
    assert_true(n > 30);
    remove_scratch(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_that_of_the_scene),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(exposures_differ_as_asked),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(folders_are_replaced_with_care),
        cmocka_unit_test(progress_is_told_and_can_stop),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests_name("synth/render", tests, setup, teardown);
}
