#include "images/image/image_io.h"
#include "report/thumbnails.h"
#include "unit/formats/io_util.h"

static psfm_context *ctx;
static char folder[MAX_PATH];
static const char *const names[] = {"a.jpg", "missing.jpg", "b.png", "broken.jpg"};

/* Left half red, right half blue. */
static void write_photo(const char *name, int width, int height) {
    psfm_image image;
    char path[MAX_PATH];
    assert_ok(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY_AND_RGB, &image));
    for (int k = 0; k < width * height; ++k)
        image.rgb[3 * k + (k % width < width / 2 ? 0 : 2)] = 200;
    join(path, folder, name);
    assert_ok(ctx, psfm_image_write(ctx, &image, 95, path));
    psfm_image_free(&image);
}

static void make(const char *from, const char *const *which, size_t num, size_t max_size,
                 psfm_thumbnails *out) {
    assert_ok(ctx, psfm_thumbnails_begin(ctx, num, max_size, out));
    assert_ok(ctx, psfm_thumbnails_complete(ctx, out, from, which));
}

static void check_thumbnail(const psfm_thumbnails *t, size_t k, int width, int height) {
    psfm_image image;
    assert_ok(ctx, psfm_image_decode(ctx, t->images[k].bytes, t->images[k].size, "thumbnail",
                                     PSFM_IMAGE_GRAY_AND_RGB, &image));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    size_t row = (size_t)(height / 2) * (size_t)width;
    const uint8_t *left = image.rgb + 3 * (row + (size_t)width / 4);
    const uint8_t *right = image.rgb + 3 * (row + (size_t)width * 3 / 4);
    assert_true(left[0] > 180 && left[2] < 30 && right[0] < 30 && right[2] > 180);
    psfm_image_free(&image);
}

static void assert_same(const psfm_thumbnails *a, const psfm_thumbnails *b) {
    assert_int_equal(a->num, b->num);
    for (size_t k = 0; k < a->num; ++k) {
        assert_int_equal(a->images[k].size, b->images[k].size);
        if (a->images[k].size > 0)
            assert_memory_equal(a->images[k].bytes, b->images[k].bytes, a->images[k].size);
    }
}

static void photographs_shrink_and_others_are_left_out(void **state) {
    (void)state;
    psfm_thumbnails one, two;
    psfm_context_set_threads(ctx, 1);
    make(folder, names, 4, 6000000, &one);
    check_thumbnail(&one, 0, 640, 480);
    check_thumbnail(&one, 2, 200, 300);
    assert_int_equal(one.images[1].size, 0);
    assert_int_equal(one.images[3].size, 0);
    psfm_context_set_threads(ctx, 4);
    make(folder, names, 4, 6000000, &two);
    assert_same(&one, &two);
    psfm_thumbnails_free(&one);
    psfm_thumbnails_free(&two);
}

/* What was added before is not read again, and is the same. */
static void added_ones_are_as_if_read(void **state) {
    (void)state;
    psfm_thumbnails read, added;
    psfm_image image;
    char path[MAX_PATH];
    make(folder, names, 4, 6000000, &read);
    assert_ok(ctx, psfm_thumbnails_begin(ctx, 4, 6000000, &added));
    join(path, folder, names[0]);
    assert_ok(ctx, psfm_image_read_small(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, PSFM_THUMBNAIL_SOURCE,
                                         &image));
    assert_ok(ctx, psfm_thumbnails_add(ctx, &added, 0, &image, names[0]));
    const uint8_t *bytes = added.images[0].bytes;
    assert_ok(ctx, psfm_thumbnails_add(ctx, &added, 0, &image, names[0]));
    assert_ok(ctx, psfm_thumbnails_complete(ctx, &added, folder, names));
    assert_ptr_equal(added.images[0].bytes, bytes);
    assert_same(&added, &read);
    psfm_image_free(&image);
    psfm_thumbnails_free(&read);
    psfm_thumbnails_free(&added);
}

static void many_photographs_get_small_ones_then_fewer(void **state) {
    (void)state;
    enum { NUM = 300 };
    const char *many[NUM];
    psfm_thumbnails t;
    for (size_t k = 0; k < NUM; ++k)
        many[k] = "a.jpg";
    make(folder, many, NUM, 300000, &t);
    size_t made = 0, bytes = 0;
    for (size_t k = 0; k < NUM; ++k) {
        made += t.images[k].size > 0 ? 1 : 0;
        bytes += t.images[k].size;
    }
    assert_true(made >= 50 && made < NUM);
    assert_true(bytes < 400000);
    check_thumbnail(&t, 0, 96, 72);
    psfm_thumbnails_free(&t);
}

static void none_are_no_failure(void **state) {
    (void)state;
    psfm_thumbnails t;
    make(folder, names, 0, 1000, &t);
    psfm_thumbnails_free(&t);
    make("/nowhere", names, 4, 1000000, &t);
    assert_int_equal(t.images[0].size, 0);
    psfm_thumbnails_free(&t);
}

/* The side and the step that a number of photographs gets: so that all take about the bytes there
 * are, at a quarter of a byte a pixel and 700 for a header. */
static void sides_and_steps_fit_into_the_bytes(void **state) {
    (void)state;
    static const struct {
        size_t num, max_size;
        int side;
        size_t step;
    } cases[] = {{1, 4500000, 640, 1},   {57, 4500000, 640, 1},   {58, 4500000, 640, 1},
                 {60, 4500000, 624, 1},  {1000, 4500000, 136, 1}, {1854, 4500000, 96, 1},
                 {1855, 4500000, 96, 2}, {3708, 4500000, 96, 2},  {3709, 4500000, 96, 3},
                 {10, 0, 96, 10},        {0, 4500000, 640, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        psfm_thumbnails t;
        assert_ok(ctx, psfm_thumbnails_begin(ctx, cases[k].num, cases[k].max_size, &t));
        assert_int_equal(t.num, cases[k].num);
        assert_int_equal(t.side, cases[k].side);
        assert_int_equal(t.step, cases[k].step);
        psfm_thumbnails_free(&t);
    }
}

static void count_warning(psfm_log_level level, const char *message, void *user) {
    char *last = user;
    assert_int_equal(level, PSFM_LOG_WARNING);
    strncat(last, message, 400);
    strcat(last, "\n");
}

/* One sentence for all that are missing, with the first of them. */
static void the_log_counts_what_is_missing(void **state) {
    (void)state;
    static const char *const lists[3][3] = {{"a.jpg", "missing.jpg", "broken.jpg"},
                                            {"broken.jpg", "a.jpg", "b.png"},
                                            {"a.jpg", "b.png", "a.jpg"}};
    static const char *const begins[3] = {
        "report: no thumbnail of 2 photographs: ", "report: no thumbnail of 1 photograph: ", ""};
    static const char *const first[3] = {"missing.jpg", "broken.jpg", ""};
    for (int k = 0; k < 3; ++k) {
        char said[1000] = "";
        psfm_thumbnails t;
        psfm_context_set_log(ctx, count_warning, said);
        make(folder, lists[k], 3, 6000000, &t);
        psfm_context_set_log(ctx, NULL, NULL);
        assert_int_equal(strncmp(said, begins[k], strlen(begins[k])), 0);
        assert_non_null(strstr(said, first[k]));
        char *end = strchr(said, '\n');
        assert_true(k == 2 ? end == NULL : end[1] == '\0');
        psfm_thumbnails_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photographs_shrink_and_others_are_left_out),
        cmocka_unit_test(added_ones_are_as_if_read),
        cmocka_unit_test(many_photographs_get_small_ones_then_fewer),
        cmocka_unit_test(none_are_no_failure),
        cmocka_unit_test(sides_and_steps_fit_into_the_bytes),
        cmocka_unit_test(the_log_counts_what_is_missing),
    };
    ctx = psfm_context_create();
    make_scratch(folder);
    write_photo("a.jpg", 1200, 900);
    write_photo("b.png", 200, 300);
    put_text(folder, "broken.jpg", "\xff\xd8\xff\xe0 and so on");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
