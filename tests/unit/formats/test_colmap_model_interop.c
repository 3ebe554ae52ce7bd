/* What we write, COLMAP reads, and the other way round. Needs the `colmap` program (3.8 or newer);
 * skipped without it. */
#include "unit/formats/model_util.h"

static void need_colmap(void) {
    if (!has_colmap()) {
        print_message("colmap is not installed\n");
        skip();
    }
}

/* COLMAP normalises quaternions when it reads. */
static void assert_nearly_same_model(const psfm_model *a, psfm_model *b) {
    assert_int_equal(a->num_images, b->num_images);
    for (size_t i = 0; i < a->num_images; ++i) {
        for (int k = 0; k < 4; ++k)
            assert_close(a->images[i].cam_from_world_q[k], b->images[i].cam_from_world_q[k], 4e-16);
        memcpy(b->images[i].cam_from_world_q, a->images[i].cam_from_world_q, sizeof(double[4]));
    }
    assert_same_model(a, b);
}

static void convert(const char *folder, const char *from, const char *to, const char *type) {
    char path[MAX_PATH], arguments[MAX_PATH];
    join(path, folder, to);
    mkdir(path, 0777);
    snprintf(arguments, sizeof arguments,
             "model_converter --input_path %s --output_path %s --output_type %s", from, to, type);
    assert_true(run_colmap(folder, arguments));
}

static void colmap_converts_our_models_both_ways(void **state) {
    (void)state;
    need_colmap();
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], ours[MAX_PATH], text[MAX_PATH], binary[MAX_PATH];
    make_scratch(folder);
    join(ours, folder, "ours");
    join(text, folder, "text");
    join(binary, folder, "binary");
    psfm_model model, back;
    make_model(&model, 6, 9);
    model.points[3].error = -1.0;
    for (int format = 0; format < 2; ++format) {
        assert_ok(ctx, psfm_model_write(ctx, &model, (psfm_model_format)format, ours));
        convert(folder, "ours", "text", "TXT");
        assert_ok(ctx, psfm_model_read(ctx, text, &back));
        assert_nearly_same_model(&model, &back);
        psfm_model_free(&back);
        convert(folder, "ours", "binary", "BIN");
        assert_ok(ctx, psfm_model_read(ctx, binary, &back));
        assert_nearly_same_model(&model, &back);
        psfm_model_free(&back);
    }
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void colmap_counts_what_we_wrote(void **state) {
    (void)state;
    need_colmap();
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], ours[MAX_PATH];
    make_scratch(folder);
    join(ours, folder, "ours");
    psfm_model model;
    make_model(&model, 6, 9);
    for (int format = 0; format < 2; ++format) {
        assert_ok(ctx, psfm_model_write(ctx, &model, (psfm_model_format)format, ours));
        assert_true(run_colmap(folder, "model_analyzer --path ours"));
        size_t size;
        char *log = get_file(folder, "colmap.log", &size);
        assert_non_null(strstr(log, "Cameras: 11"));
        assert_non_null(strstr(log, "Registered images: 6"));
        assert_non_null(strstr(log, "Points: 9"));
        assert_non_null(strstr(log, "Observations: 54"));
        free(log);
    }
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* Bytes that COLMAP wrote come back the same when we read and write them, as long as it wrote them
 * in the order of their ids: reading and writing twice restores that order for so few records. */
static void rewrites_colmaps_binary_files_byte_by_byte(void **state) {
    (void)state;
    need_colmap();
    static const char *const names[] = {"cameras.bin", "images.bin", "points3D.bin"};
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], first[MAX_PATH], theirs[MAX_PATH], ours[MAX_PATH];
    make_scratch(folder);
    join(first, folder, "first");
    join(theirs, folder, "theirs");
    join(ours, folder, "ours");
    psfm_model model;
    make_model(&model, 5, 9);
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, first));
    psfm_model_free(&model);
    convert(folder, "first", "turned", "BIN");
    convert(folder, "turned", "theirs", "BIN");
    assert_ok(ctx, psfm_model_read(ctx, theirs, &model));
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_BINARY, ours));
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        size_t size1, size2;
        char *bytes1 = get_file(theirs, names[part], &size1);
        char *bytes2 = get_file(ours, names[part], &size2);
        assert_int_equal(size1, size2);
        assert_memory_equal(bytes1, bytes2, size1);
        free(bytes1);
        free(bytes2);
    }
    psfm_model_free(&model);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colmap_converts_our_models_both_ways),
        cmocka_unit_test(colmap_counts_what_we_wrote),
        cmocka_unit_test(rewrites_colmaps_binary_files_byte_by_byte),
    };
    return cmocka_run_group_tests_name("formats/colmap_model_interop", tests, NULL, NULL);
}
