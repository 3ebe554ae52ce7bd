#include "unit/formats/model_util.h"

#include "formats/little_endian.h"

/* A model printed into memory: three files to damage. */
typedef struct {
    char *bytes[PSFM_NUM_MODEL_FILES];
    size_t size[PSFM_NUM_MODEL_FILES];
} printed;

static void print_model(const psfm_model *model, printed *out) {
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        FILE *file = open_memstream(&out->bytes[part], &out->size[part]);
        assert_non_null(file);
        psfm_model_print_binary(model, (psfm_model_part)part, file);
        assert_int_equal(fclose(file), 0);
    }
}

static void free_printed(printed *p) {
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part)
        free(p->bytes[part]);
}

static psfm_status parse(psfm_context *ctx, const printed *p, psfm_model *model) {
    static const char *const names[] = {"cameras.bin", "images.bin", "points3D.bin"};
    psfm_model_file files[PSFM_NUM_MODEL_FILES];
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part)
        files[part] = (psfm_model_file){names[part], p->bytes[part], p->size[part]};
    return psfm_model_parse(ctx, PSFM_MODEL_BINARY, files, model);
}

static void every_shorter_file_is_an_error(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_model model, back;
    make_model(&model, 2, 3);
    printed p;
    print_model(&model, &p);
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        size_t whole = p.size[part];
        for (p.size[part] = 0; p.size[part] < whole; ++p.size[part]) {
            /* An exact copy, so that a read beyond it is seen. */
            char *bytes = p.bytes[part];
            p.bytes[part] = test_alloc(p.size[part] + 1, 1);
            memcpy(p.bytes[part], bytes, p.size[part]);
            assert_int_equal(parse(ctx, &p, &back), PSFM_ERR_FORMAT);
            assert_message(ctx, ".bin: byte ");
            free(p.bytes[part]);
            p.bytes[part] = bytes;
        }
    }
    assert_ok(ctx, parse(ctx, &p, &back));
    assert_same_model(&model, &back);
    psfm_model_free(&back);
    psfm_model_free(&model);
    free_printed(&p);
    psfm_context_destroy(&ctx);
}

static void a_longer_file_is_an_error(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_model model, back;
    make_model(&model, 1, 1);
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        printed p;
        print_model(&model, &p);
        ++p.size[part]; /* open_memstream ends with a '\0' */
        assert_int_equal(parse(ctx, &p, &back), PSFM_ERR_FORMAT);
        assert_message(ctx, "goes on after the last");
        free_printed(&p);
    }
    psfm_model_free(&model);
    psfm_context_destroy(&ctx);
}

/* Offsets in the files of make_model(1, 1): see colmap_model_binary.c for the layout. */
enum {
    CAMERA_MODEL_AT = 8 + 4,
    CAMERA_WIDTH_AT = 8 + 8,
    CAMERA_FOCAL_AT = 8 + 24,
    SECOND_CAMERA_AT = 8 + 24 + 3 * 8,
    QUATERNION_AT = 8 + 4,
    IMAGE_CAMERA_AT = 8 + 60,
    NAME_AT = 8 + 64,
    NUM_KEYPOINTS_AT = NAME_AT + 14,
    KEYPOINT_AT = NUM_KEYPOINTS_AT + 8,
    XYZ_AT = 8 + 8,
    TRACK_AT = 8 + 8 + 24 + 3 + 8 + 8,
};

typedef struct {
    psfm_model_part part;
    size_t at;
    int num_bytes;
    uint64_t value;
    const char *message;
} damage;

static const damage damages[] = {
    {PSFM_MODEL_CAMERAS, 0, 8, UINT64_MAX, "cameras.bin: byte 0: 18446744073709551615 cameras"},
    {PSFM_MODEL_CAMERAS, 0, 8, 1ull << 61, "announced"},
    {PSFM_MODEL_CAMERAS, 0, 8, 12, "the file ends within a camera"},
    {PSFM_MODEL_CAMERAS, 0, 8, 10, "goes on after the last of its 10 cameras"},
    {PSFM_MODEL_CAMERAS, 8, 4, UINT32_MAX, "byte 8: camera id 4294967295 means \"none\""},
    {PSFM_MODEL_CAMERAS, SECOND_CAMERA_AT, 4, 1,
     "byte 56: camera id 1 was given before, at byte 8"},
    {PSFM_MODEL_CAMERAS, CAMERA_MODEL_AT, 4, 99, "byte 8: camera 1 has model number 99"},
    {PSFM_MODEL_CAMERAS, CAMERA_MODEL_AT, 4, UINT32_MAX, "model number -1"},
    {PSFM_MODEL_CAMERAS, CAMERA_WIDTH_AT, 8, 0, "cameras.bin: byte 8: camera 1: an image size"},
    {PSFM_MODEL_CAMERAS, CAMERA_FOCAL_AT, 8, 0x7ff8000000000000, "not a finite number"},
    {PSFM_MODEL_IMAGES, 0, 8, 1ull << 40, "images.bin: byte 0: 1099511627776 images announced"},
    {PSFM_MODEL_IMAGES, 8, 4, UINT32_MAX, "image id 4294967295 means \"none\""},
    {PSFM_MODEL_IMAGES, QUATERNION_AT, 8, 0x7ff0000000000000, "byte 8: image 1 (folder/00.jpg): "},
    {PSFM_MODEL_IMAGES, IMAGE_CAMERA_AT, 4, 2, "its camera 2 does not exist"},
    {PSFM_MODEL_IMAGES, NAME_AT, 1, 0, ""},
    {PSFM_MODEL_IMAGES, NUM_KEYPOINTS_AT, 8, UINT64_MAX / 24, "keypoints announced, but 48 bytes"},
    {PSFM_MODEL_IMAGES, KEYPOINT_AT, 8, 0x7ff8000000000000, "keypoint 0 is not finite"},
    {PSFM_MODEL_IMAGES, KEYPOINT_AT + 16, 8, 11, "keypoint 0 sees point 11"},
    {PSFM_MODEL_POINTS, 0, 8, 1ull << 60, "points announced"},
    {PSFM_MODEL_POINTS, 8, 8, UINT64_MAX, "keypoint 0 sees point 10"},
    {PSFM_MODEL_POINTS, XYZ_AT, 8, 0x7ff8000000000000, "points3D.bin: byte 8: point 10: its coord"},
    {PSFM_MODEL_POINTS, TRACK_AT - 8, 8, UINT64_MAX, "track elements announced, but 8 bytes"},
    {PSFM_MODEL_POINTS, TRACK_AT, 4, 2, "image 2, which does not exist"},
    {PSFM_MODEL_POINTS, TRACK_AT + 4, 4, 1, "but that keypoint does not see this point"},
    {PSFM_MODEL_POINTS, TRACK_AT + 4, 4, 2, "which has fewer keypoints"},
};

static void names_file_and_byte_of_everything_wrong(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_model model, back;
    make_model(&model, 1, 1);
    for (size_t k = 0; k < sizeof damages / sizeof damages[0]; ++k) {
        const damage *d = &damages[k];
        printed p;
        print_model(&model, &p);
        char bytes[8];
        psfm_put_u64(d->value, bytes);
        memcpy(p.bytes[d->part] + d->at, bytes, (size_t)d->num_bytes);
        if (parse(ctx, &p, &back) != PSFM_ERR_FORMAT)
            fail_msg("damage %zu (%s) is taken", k, d->message);
        assert_message(ctx, d->message);
        free_printed(&p);
    }
    psfm_model_free(&model);
    psfm_context_destroy(&ctx);
}

static void keeps_bits_in_little_endian_order(void **state) {
    (void)state;
    static const unsigned char bytes[8] = {0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40};
    unsigned char back[8];
    assert_true(psfm_get_f64(bytes) == 0x1.921fb54442d18p+1); /* pi */
    assert_true(psfm_get_u32(bytes) == 0x54442d18);
    assert_true(psfm_get_u64(bytes) == 0x400921fb54442d18);
    psfm_put_f64(0x1.921fb54442d18p+1, back);
    assert_memory_equal(bytes, back, 8);
    psfm_put_f32(-1.5f, back);
    assert_true(psfm_get_f32(back) == -1.5f && back[3] == 0xbf && back[2] == 0xc0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shorter_file_is_an_error),
        cmocka_unit_test(a_longer_file_is_an_error),
        cmocka_unit_test(names_file_and_byte_of_everything_wrong),
        cmocka_unit_test(keeps_bits_in_little_endian_order),
    };
    return cmocka_run_group_tests_name("formats/colmap_model_binary", tests, NULL, NULL);
}
