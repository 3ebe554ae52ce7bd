#include "unit/formats/model_util.h"

#define CAMERAS "1 PINHOLE 640 480 500 500 320 240\n"
#define IMAGES "1 1 0 0 0 0 0 0 1 a.jpg\n1.5 2.5 7 3 4 -1\n2 1 0 0 0 1 0 0 1 b.jpg\n5 6 7\n"
#define POINTS "7 0 0 5 10 20 30 0.5 1 0 2 0\n"

static psfm_status parse(psfm_context *ctx, const char *cameras, const char *images,
                         const char *points, psfm_model *model) {
    psfm_model_file files[PSFM_NUM_MODEL_FILES] = {{"cameras.txt", cameras, strlen(cameras)},
                                                   {"images.txt", images, strlen(images)},
                                                   {"points3D.txt", points, strlen(points)}};
    return psfm_model_parse(ctx, PSFM_MODEL_TEXT, files, model);
}

typedef struct {
    const char *cameras, *images, *points; /* NULL: the good one */
    const char *message;                   /* piece of it */
} bad_case;

static const bad_case bad_cases[] = {
    {"1 PINHOLE 640 480 500 500 320", NULL, NULL, "cameras.txt: line 1: camera 1 has 3 parameters"},
    {"\n#\n1 PINHOLE 640 480 1 1 1 1 1", NULL, NULL, "cameras.txt: line 3: camera 1 has 5"},
    {"1 PINHOL 640 480 500 500 320 240", NULL, NULL, "camera model: 'PINHOL' is not known"},
    {"1", NULL, NULL, "camera model is missing"},
    {"1 PINHOLE 640", NULL, NULL, "height is missing"},
    {"1 PINHOLE 640.0 480 500 500 320 240", NULL, NULL, "width: '640.0' is not a whole number"},
    {"1 PINHOLE 0 480 500 500 320 240", NULL, NULL, "cameras.txt: line 1: camera 1: an image size"},
    {"1 PINHOLE 640 480 nan 500 320 240", NULL, NULL, "'nan' is not finite"},
    {"1 PINHOLE 640 480 1e999 500 320 240", NULL, NULL, "'1e999' is not finite"},
    {"1 PINHOLE 640 480 5,5 500 320 240", NULL, NULL, "'5,5' is not a number"},
    {"1 PINHOLE 640 480 -500 500 320 240", NULL, NULL, "focal length -500"},
    {"4294967295 PINHOLE 640 480 500 500 320 240", NULL, NULL, "camera id: '4294967295' is too"},
    {"99999999999999999999 PINHOLE 640 480 500 500 320 240", NULL, NULL, "is too large"},
    {"-1 PINHOLE 640 480 500 500 320 240", NULL, NULL, "'-1' is not a whole number"},
    {CAMERAS "#\n" CAMERAS, NULL, NULL,
     "cameras.txt: line 3: camera id 1 was given before, at line 1"},
    {NULL, "1 1 0 0 0 0 0 0 2 a.jpg\n\n", NULL,
     "images.txt: line 1: image 1 (a.jpg): its camera 2"},
    {NULL, "1 1 0 0 0 0 0 0 1\n\n", NULL, "images.txt: line 1: image name is missing"},
    {NULL, "1 1 0 0 0 0 0 nan 1 a.jpg\n\n", NULL, "translation: 'nan' is not finite"},
    {NULL, "1 0 0 0 0 0 0 0 1 a.jpg\n\n", NULL, "no direction"},
    {NULL, "1 1e-200 0 0 0 0 0 0 1 a.jpg\n\n", NULL, "no direction"},
    {NULL, "1 1e200 0 0 0 0 0 0 1 a.jpg\n\n", NULL, "no direction"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n1 2\n", NULL, "images.txt: line 2: expected the keypoints"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n2 1 0 0 0 0 0 0 1 b.jpg\n", NULL, "found 10 fields"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n1 2 x\n", NULL, "line 2: point id of a keypoint: 'x'"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n1 2 -2\n", NULL, "'-2' is not a whole number"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n1 2 18446744073709551615\n", NULL, "is too large"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n1 inf -1\n", NULL, "keypoint: 'inf' is not finite"},
    {NULL, "1 1 0 0 0 0 0 0 1 a.jpg\n1 2 8\n2 1 0 0 0 1 0 0 1 b.jpg\n5 6 7\n", NULL,
     "images.txt: line 1: image 1 (a.jpg): keypoint 0 sees point 8, which does not exist"},
    {NULL, "1 1 0 0 0 0 0 0 1 a\n\n2 1 0 0 0 0 0 0 1 b\n\n1 1 0 0 0 0 0 0 1 c\n\n", NULL,
     "images.txt: line 5: image id 1 was given before, at line 1"},
    {NULL, NULL, "7 0 0 5 10 20 30", "points3D.txt: line 1: point error is missing"},
    {NULL, NULL, "7 0 0 5 10 20 256 0 1 0 2 0", "colour: '256' is too large"},
    {NULL, NULL, "7 0 0 nan 10 20 30 0 1 0 2 0", "'nan' is not finite"},
    {NULL, NULL, "7 0 0 5 10 20 30 0.5 1 0 2", "track has an image id without a keypoint"},
    {NULL, NULL, "7 0 0 5 10 20 30 0.5 1 0 3 0", "keypoint 0 of image 3, which does not exist"},
    {NULL, NULL, "7 0 0 5 10 20 30 0.5 1 0 2 1", "keypoint 1 of image 2, which has fewer"},
    {NULL, NULL, "7 0 0 5 10 20 30 0.5 1 0 1 1", "but that keypoint does not see this point"},
    {NULL, NULL, "#\n7 0 0 5 10 20 30 0.5 1 0 2 0 1 0",
     "points3D.txt: line 2: point 7: its track names keypoint 0 of image 1, which the track has"},
    {NULL, NULL, POINTS POINTS, "line 2: point id 7 was given before"},
    {NULL, NULL, "18446744073709551615 0 0 5 10 20 30 0.5", "is too large"},
};

static void names_file_and_line_of_everything_wrong(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_model model;
    assert_ok(ctx, parse(ctx, CAMERAS, IMAGES, POINTS, &model));
    assert_int_equal(model.num_images, 2);
    assert_int_equal(model.points[0].track_length, 2);
    psfm_model_free(&model);
    for (size_t k = 0; k < sizeof bad_cases / sizeof bad_cases[0]; ++k) {
        const bad_case *bad = &bad_cases[k];
        psfm_status status = parse(ctx, bad->cameras == NULL ? CAMERAS : bad->cameras,
                                   bad->images == NULL ? IMAGES : bad->images,
                                   bad->points == NULL ? POINTS : bad->points, &model);
        if (status != PSFM_ERR_FORMAT)
            fail_msg("case %zu (%s) is taken", k, bad->message);
        assert_message(ctx, bad->message);
        assert_null(model.cameras);
    }
    psfm_context_destroy(&ctx);
}

static void assert_parses_like_the_good_one(psfm_context *ctx, const char *cameras,
                                            const char *images, const char *points) {
    psfm_model good, model;
    assert_ok(ctx, parse(ctx, CAMERAS, IMAGES, POINTS, &good));
    assert_ok(ctx, parse(ctx, cameras, images, points, &model));
    assert_same_model(&good, &model);
    psfm_model_free(&good);
    psfm_model_free(&model);
}

static void takes_odd_layouts(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    assert_parses_like_the_good_one(
        ctx, "\xEF\xBB\xBF# made on Windows\r\n1 PINHOLE 640 480 500 500 320 240\r\n",
        "# x\r\n\r\n1 1 0 0 0 0 0 0 1 a.jpg\r\n1.5 2.5 7 3 4 -1\r\n2 1 0 0 0 1 0 0 1 b.jpg\r\n"
        "5 6 7\r\n",
        "7 0 0 5 10 20 30 0.5 1 0 2 0\r\n");
    assert_parses_like_the_good_one(ctx, "\t1\tPINHOLE  640 480   500 500 320 240   ",
                                    "2 1 0 0 0 1 0 0 1    b.jpg  \n 5 6  7 \n\n\n1 1e0 +0 0 0 0 0 "
                                    "0 1 a.jpg\n 1.5 25e-1 7 3 4 -1",
                                    "\n\n#c\n7 0 0 5 10 20 30 5e-1 1 0  2 0");
    psfm_context_destroy(&ctx);
}

static void takes_an_image_at_the_very_end_without_its_keypoint_line(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const char *const ends[] = {"", "\n", "\n\n", "\r\n\r\n", "\n   \n\n\n# end"};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; ++k) {
        char images[128];
        psfm_model model;
        snprintf(images, sizeof images, "1 1 0 0 0 0 0 0 1 a.jpg\n\n0 1 0 0 0 0 0 0 1 b c.jpg%s",
                 ends[k]);
        assert_ok(ctx, parse(ctx, CAMERAS, images, "", &model));
        assert_int_equal(model.num_images, 2);
        assert_int_equal(model.images[0].id, 0); /* some programs count from 0 */
        assert_string_equal(model.images[0].name, "b c.jpg");
        assert_string_equal(model.images[1].name, "a.jpg");
        assert_int_equal(model.images[1].num_keypoints, 0);
        psfm_model_free(&model);
    }
    psfm_context_destroy(&ctx);
}

static void drops_references_if_there_are_no_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_model model;
    assert_ok(ctx, parse(ctx, CAMERAS, IMAGES, "# emptied\n", &model));
    assert_int_equal(model.images[0].num_keypoints, 2);
    assert_true(model.images[0].point3D_ids[0] == PSFM_NO_POINT);
    assert_true(model.images[1].point3D_ids[0] == PSFM_NO_POINT);
    psfm_model_free(&model);
    psfm_context_destroy(&ctx);
}

static void refuses_a_binary_file_under_a_text_name(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_model model;
    psfm_model_file files[PSFM_NUM_MODEL_FILES] = {
        {"cameras.txt", "1 PIN\0HOLE", 10}, {"images.txt", "", 0}, {"points3D.txt", "", 0}};
    assert_int_equal(psfm_model_parse(ctx, PSFM_MODEL_TEXT, files, &model), PSFM_ERR_FORMAT);
    assert_message(ctx, "cameras.txt: byte 5 is zero");
    psfm_context_destroy(&ctx);
}

/* One line of megabytes is slow to no one. */
static void takes_absurdly_long_lines(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { NUM = 200000 };
    static const char triple[] = " 1 2.25 -1", head[] = "1 1 0 0 0 0 0 0 1 ";
    size_t size = NUM * sizeof triple + 600000;
    char *images = test_alloc(size, 1), *end = images;
    end += sprintf(end, "%s", head);
    memset(end, 'n', 500000);
    end += 500000;
    *end++ = '\n';
    for (size_t k = 0; k < NUM; ++k, end += sizeof triple - 1)
        memcpy(end, triple, sizeof triple);
    psfm_model model;
    assert_ok(ctx, parse(ctx, CAMERAS, images, "", &model));
    assert_int_equal(model.images[0].num_keypoints, NUM);
    assert_int_equal(strlen(model.images[0].name), 500000);
    psfm_model_free(&model);
    memcpy(end, " x y z", 7);
    assert_int_equal(parse(ctx, CAMERAS, images, "", &model), PSFM_ERR_FORMAT);
    memset(images, '9', size - 1); /* an id of megabytes: the message stays short */
    assert_int_equal(parse(ctx, CAMERAS, images, "", &model), PSFM_ERR_FORMAT);
    assert_true(strlen(psfm_context_message(ctx)) < 200);
    free(images);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_file_and_line_of_everything_wrong),
        cmocka_unit_test(takes_odd_layouts),
        cmocka_unit_test(takes_an_image_at_the_very_end_without_its_keypoint_line),
        cmocka_unit_test(drops_references_if_there_are_no_points),
        cmocka_unit_test(refuses_a_binary_file_under_a_text_name),
        cmocka_unit_test(takes_absurdly_long_lines),
    };
    return cmocka_run_group_tests_name("formats/colmap_model_text", tests, NULL, NULL);
}
