/* Twelve photographs, each of one colour, with a point in each; the last has no file. */
#include "sfm/prefetch.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "images/image/image_io.h"
#include "sfm/state.h"
#include "test_util.h"
#include "world/color_points.h"

enum { NUM = 12, MISSING = NUM - 1 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_prefetch_XXXXXX";
static char names[NUM][8];

/* Stands before the reading of photographs, and counts it. */
static atomic_int num_read;
psfm_status __real_psfm_small_photo_read(psfm_context *c, const char *in, const char *name,
                                         int min_side, psfm_small_photo *out);
psfm_status __wrap_psfm_small_photo_read(psfm_context *c, const char *in, const char *name,
                                         int min_side, psfm_small_photo *out);
psfm_status __wrap_psfm_small_photo_read(psfm_context *c, const char *in, const char *name,
                                         int min_side, psfm_small_photo *out) {
    num_read += strcmp(name, names[MISSING]) != 0; /* which is tried twice */
    return __real_psfm_small_photo_read(c, in, name, min_side, out);
}

static void write_photo(int k) {
    psfm_image image;
    char path[160];
    assert_ok(ctx, psfm_image_init(ctx, 64, 48, PSFM_IMAGE_GRAY_AND_RGB, &image));
    memset(image.rgb, 10 * k, 3 * 64 * 48);
    snprintf(path, sizeof path, "%s/%s", folder, names[k]);
    assert_ok(ctx, psfm_image_write(ctx, &image, 100, path));
    psfm_image_free(&image);
}

/* The set has the views in reverse. */
static void make_set(psfm_view *views, psfm_match_set *set) {
    for (int k = 0; k < NUM; ++k)
        views[k] = (psfm_view){.name = names[NUM - 1 - k]};
    *set = (psfm_match_set){.views = views, .num_views = NUM};
}

typedef struct {
    psfm_model model;
    psfm_model_image images[NUM];
    psfm_model_point points[NUM];
    double keypoints[NUM][1][2];
    uint64_t ids[NUM][1];
    psfm_track_element tracks[NUM][1];
} fixture;

static void make_model(fixture *f) {
    memset(f, 0, sizeof *f);
    f->model = (psfm_model){
        .images = f->images, .num_images = NUM, .points = f->points, .num_points = NUM};
    for (uint32_t k = 0; k < NUM; ++k) {
        f->keypoints[k][0][0] = f->keypoints[k][0][1] = 20.0;
        f->ids[k][0] = k + 1;
        f->tracks[k][0] = (psfm_track_element){k + 1, 0};
        f->images[k] = (psfm_model_image){.id = k + 1,
                                          .name = names[k],
                                          .num_keypoints = 1,
                                          .keypoints = f->keypoints[k],
                                          .point3D_ids = f->ids[k]};
        f->points[k] = (psfm_model_point){
            .id = k + 1, .rgb = {7, 7, 7}, .track = f->tracks[k], .track_length = 1};
    }
}

/* Reads ahead with so many threads, which get so many milliseconds before the end. */
static void read_ahead(int threads, long milliseconds, fixture *f, psfm_thumbnails *thumbnails) {
    psfm_view views[NUM];
    psfm_match_set set;
    psfm_prefetch *p = NULL;
    const struct timespec pause = {.tv_nsec = 1000000 * milliseconds};
    make_set(views, &set);
    make_model(f);
    psfm_context_set_threads(ctx, threads);
    num_read = 0;
    assert_ok(ctx, psfm_prefetch_begin(ctx, folder, &set, true, &p));
    nanosleep(&pause, NULL);
    assert_ok(ctx, psfm_prefetch_colour(ctx, p, &f->model, 1));
    *thumbnails = *psfm_prefetch_thumbnails(p); /* the test's from now on */
    *psfm_prefetch_thumbnails(p) = (psfm_thumbnails){0};
    psfm_prefetch_destroy(&p);
    assert_null(p);
}

/* However many photographs were read by the end, are just being read, or had room. */
static void colours_and_thumbnails_do_not_depend_on_the_threads(void **state) {
    (void)state;
    fixture f;
    psfm_thumbnails first = {0};
    read_ahead(1, 0, &f, &first);
    for (int round = 0; round < 30; ++round) {
        psfm_thumbnails thumbnails = {0};
        psfm_context_set_memory(ctx, round < 15 ? 0 : (size_t)64 * 20000); /* room for two */
        read_ahead(1 + round % 4, round % 10, &f, &thumbnails);
        if (round < 15)
            assert_int_equal(num_read, NUM - 1); /* each once; beyond the room some are again */
        for (int k = 0; k < NUM; ++k) {
            assert_int_equal(f.points[k].rgb[0], k == MISSING ? 7 : 10 * k);
            assert_int_equal(thumbnails.images[k].size > 0, k != MISSING);
            assert_int_equal(thumbnails.images[k].size, first.images[k].size);
            if (k != MISSING)
                assert_memory_equal(thumbnails.images[k].bytes, first.images[k].bytes,
                                    first.images[k].size);
        }
        psfm_thumbnails_free(&thumbnails);
    }
    psfm_context_set_memory(ctx, 0);
    psfm_thumbnails_free(&first);
}

static void it_can_be_dropped(void **state) {
    (void)state;
    psfm_view views[NUM];
    psfm_match_set set;
    psfm_prefetch *p = NULL;
    make_set(views, &set);
    for (int round = 0; round < 20; ++round) {
        psfm_context_set_threads(ctx, 1 + round % 4);
        assert_ok(ctx, psfm_prefetch_begin(ctx, folder, &set, false, &p));
        psfm_prefetch_destroy(&p);
        assert_null(p);
    }
}

static void it_knows_its_photographs(void **state) {
    (void)state;
    psfm_view views[NUM], others[NUM];
    psfm_match_set set;
    psfm_prefetch *p = NULL;
    make_set(views, &set);
    assert_ok(ctx, psfm_prefetch_begin(ctx, folder, &set, false, &p));
    assert_true(psfm_prefetch_is_of(p, &set));
    psfm_match_set fewer = {.views = views, .num_views = NUM - 1};
    assert_false(psfm_prefetch_is_of(p, &fewer));
    memcpy(others, views, sizeof views);
    others[3].name = (char[]){"other"};
    assert_false(psfm_prefetch_is_of(p, &(psfm_match_set){.views = others, .num_views = NUM}));
    psfm_prefetch_destroy(&p);
}

/* Threads go on reading while the state goes back to the matches and its statistics begin anew. */
static void it_outlives_going_back(void **state) {
    (void)state;
    fixture f;
    psfm_view views[NUM];
    psfm_match_set set;
    psfm_sfm s;
    make_set(views, &set);
    make_model(&f);
    psfm_context_set_threads(ctx, 4);
    psfm_sfm_open(NULL, &s);
    s.stage = PSFM_AT_MODELS;
    assert_ok(ctx, psfm_prefetch_begin(ctx, folder, &set, true, &s.prefetch));
    psfm_sfm_rewind(&s, PSFM_AT_MATCHES);
    assert_ok(ctx, psfm_prefetch_colour(ctx, s.prefetch, &f.model, 1));
    for (int k = 0; k < MISSING; ++k) {
        assert_int_equal(f.points[k].rgb[0], 10 * k);
        assert_true(psfm_prefetch_thumbnails(s.prefetch)->images[k].size > 0);
    }
    psfm_sfm_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_and_thumbnails_do_not_depend_on_the_threads),
        cmocka_unit_test(it_can_be_dropped),
        cmocka_unit_test(it_knows_its_photographs),
        cmocka_unit_test(it_outlives_going_back),
    };
    char path[160];
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    for (int k = 0; k < NUM; ++k)
        snprintf(names[k], sizeof names[k], "p%02d.png", k);
    for (int k = 0; k < MISSING; ++k)
        write_photo(k);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < MISSING; ++k) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
