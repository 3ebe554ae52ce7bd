/* A database of made-up descriptors: what is matched, kept, redone and dropped. */
#include <unistd.h>

#include "frontend/match_images.h"
#include "store/colmap_database.h"
#include "store/feature_store.h"
#include "test_util.h"

enum { NUM_IMAGES = 5, NUM_FEATURES = 40 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_match_XXXXXX";
static char path[64];

/* Feature k is the same in all images but for its place in the list: image i begins with i. */
static void make_features(uint32_t image, psfm_keypoint keypoints[NUM_FEATURES],
                          uint8_t descriptors[NUM_FEATURES][128], psfm_keypoint_set *set) {
    *set = (psfm_keypoint_set){.num = NUM_FEATURES,
                               .keypoints = keypoints,
                               .descriptor_size = 128,
                               .descriptors_u8 = &descriptors[0][0]};
    for (uint32_t k = 0; k < NUM_FEATURES; ++k) {
        uint32_t feature = (k + image) % NUM_FEATURES;
        memset(descriptors[k], 0, 128);
        for (uint32_t d = 0; d < 4; ++d) /* four elements of 256: the norm is 512 */
            descriptors[k][(3 * feature + d) % 128] = 255;
        keypoints[k] = psfm_keypoint_make((float)(10 + feature), (float)image + 0.5F, 2.0F, 0.5F);
    }
}

static void put_image(psfm_feature_store *store, uint32_t id, const char *name, uint32_t shift) {
    psfm_keypoint keypoints[NUM_FEATURES];
    uint8_t descriptors[NUM_FEATURES][128];
    psfm_keypoint_set set;
    psfm_stored_photo photo = {id, 0, (char *)name, (char *)"key", 100, 80, 0.0, 0, NULL, NULL};
    psfm_camera camera = {0, PSFM_CAMERA_PINHOLE, 100, 80, {90.0, 90.0, 50.0, 40.0}, true};
    make_features(shift, keypoints, descriptors, &set);
    assert_ok(ctx, psfm_store_put_camera(store, "all", &camera, &photo.camera_id));
    assert_ok(ctx, psfm_store_put_photo(store, &photo, &set));
}

/* Names run against the ids, so that pairs are turned round on the way. */
static int make_database(void **state) {
    (void)state;
    psfm_feature_store store;
    unlink(path);
    assert_ok(ctx, psfm_store_open(ctx, path, true, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        char name[] = "x.jpg";
        name[0] = (char)('e' - i);
        put_image(&store, 0, name, i);
    }
    assert_ok(ctx, psfm_store_commit(&store));
    psfm_store_close(&store);
    return 0;
}

static psfm_match_stats match(const char *pairs, bool drop_others, double max_ratio) {
    psfm_match_options options = {.pairs = pairs, .drop_others = drop_others};
    psfm_match_stats stats;
    psfm_options_init(&psfm_nearest_option_table, &options.nearest);
    options.nearest.max_ratio = max_ratio;
    assert_ok(ctx, psfm_match_images(ctx, path, &options, &stats));
    return stats;
}

static void matches_are_what_they_should_be(void **state) {
    (void)state;
    psfm_match_set set;
    psfm_database_stats read;
    psfm_match_stats stats = match(NULL, false, 0.9);
    assert_string_equal(stats.rule, "exhaustive");
    assert_int_equal(stats.num_matched, 10);
    assert_int_equal(stats.num_matches, 10 * NUM_FEATURES);
    assert_ok(ctx, psfm_database_read(ctx, path, &set, &read));
    assert_int_equal(set.num_views, NUM_IMAGES);
    assert_int_equal(set.num_cameras, 1);
    assert_int_equal(set.num_pairs, 10);
    assert_int_equal(read.num_matches_dropped, 0);
    for (size_t p = 0; p < set.num_pairs; ++p) {
        const psfm_match_pair *pair = &set.pairs[p];
        assert_int_equal(pair->num_matches, NUM_FEATURES);
        for (size_t k = 0; k < pair->num_matches; ++k)
            assert_int_equal((pair->matches[k][0] + pair->view1) % NUM_FEATURES,
                             (pair->matches[k][1] + pair->view2) % NUM_FEATURES);
    }
    psfm_match_set_free(&set);
}

static void pairs_are_kept_redone_and_dropped(void **state) {
    (void)state;
    psfm_match_stats stats = match("sequential:1", false, 0.9);
    assert_int_equal(stats.num_matched, 4);
    stats = match("exhaustive", false, 0.9);
    assert_int_equal(stats.num_matched, 6);
    assert_int_equal(stats.num_kept, 4);
    assert_int_equal(stats.num_matches, 10 * NUM_FEATURES);
    stats = match("ring:1", false, 0.8); /* other options */
    assert_int_equal(stats.num_matched, 5);
    stats = match("ring:1", true, 0.8);
    assert_int_equal(stats.num_kept, 5);
    assert_int_equal(stats.num_dropped, 5);
}

/* Pairs two steps apart are added, found again by the next call, and go when they are not wanted.
 */
static void pairs_are_added_by_what_matched(void **state) {
    (void)state;
    psfm_match_options options = {.pairs = "sequential:1", .drop_others = true};
    psfm_match_stats stats;
    psfm_options_init(&psfm_nearest_option_table, &options.nearest);
    psfm_options_init(&psfm_expand_option_table, &options.expand);
    options.expand.kind = PSFM_EXPAND_ON;
    for (size_t turn = 0; turn < 2; ++turn) {
        assert_ok(ctx, psfm_match_images(ctx, path, &options, &stats));
        assert_int_equal(stats.num_pairs, 7);
        assert_int_equal(stats.num_added, 3);
        assert_int_equal(stats.num_kept, 7 * turn);
        assert_int_equal(stats.num_matches, 7 * NUM_FEATURES);
    }
    options.expand.kind = PSFM_EXPAND_AUTO;
    assert_ok(ctx, psfm_match_images(ctx, path, &options, &stats));
    assert_int_equal(stats.num_pairs, 4);
    assert_int_equal(stats.num_added, 0);
    assert_int_equal(stats.num_dropped, 3);
}

static void new_features_lose_their_matches(void **state) {
    (void)state;
    psfm_feature_store store;
    psfm_stored_pair *pairs;
    size_t num;
    match("exhaustive", false, 0.9);
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    put_image(&store, 2, "d.jpg", 7);
    assert_ok(ctx, psfm_store_commit(&store));
    assert_ok(ctx, psfm_store_list_pairs(&store, &pairs, &num));
    assert_int_equal(num, 6);
    for (size_t k = 0; k < num; ++k)
        assert_true(pairs[k].id1 != 2 && pairs[k].id2 != 2);
    free(pairs);
    psfm_store_close(&store);
    psfm_match_stats stats = match("exhaustive", false, 0.9);
    assert_int_equal(stats.num_matched, 4);
    assert_int_equal(stats.num_kept, 6);
}

static void dropped_image_is_gone(void **state) {
    (void)state;
    psfm_feature_store store;
    psfm_stored_photos photos;
    match("exhaustive", false, 0.9);
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    assert_ok(ctx, psfm_store_drop_photo(&store, 3));
    assert_ok(ctx, psfm_store_commit(&store));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_int_equal(photos.num, NUM_IMAGES - 1);
    assert_string_equal(photos.photos[0].name, "a.jpg");
    assert_int_equal(photos.photos[0].image_id, NUM_IMAGES);
    assert_int_equal(photos.photos[0].num_keypoints, NUM_FEATURES);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
    assert_int_equal(match("exhaustive", false, 0.9).num_kept, 6);
}

static void uncommitted_work_is_gone(void **state) {
    (void)state;
    psfm_feature_store store;
    psfm_stored_photos photos;
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    assert_ok(ctx, psfm_store_drop_photo(&store, 1));
    psfm_store_close(&store);
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_int_equal(photos.num, NUM_IMAGES);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
}

static void refuses_what_cannot_be(void **state) {
    (void)state;
    psfm_match_options options = {.pairs = "star"};
    psfm_options_init(&psfm_nearest_option_table, &options.nearest);
    assert_int_equal(psfm_match_images(ctx, path, &options, NULL), PSFM_ERR_ARGUMENT);
    options.pairs = NULL;
    assert_int_equal(psfm_match_images(ctx, "/nowhere/x.db", &options, NULL), PSFM_ERR_IO);
    psfm_sql sql;
    assert_ok(ctx, psfm_sql_open_for_writing(ctx, path, &sql));
    assert_ok(ctx, psfm_sql_exec(&sql, "UPDATE descriptors SET data = x'00' WHERE image_id = 4"));
    psfm_sql_close(&sql);
    assert_int_equal(psfm_match_images(ctx, path, &options, NULL), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "b.jpg"));
    assert_ok(ctx, psfm_sql_open_for_writing(ctx, path, &sql));
    assert_ok(ctx, psfm_sql_exec(&sql, "DROP TABLE descriptors"));
    psfm_sql_close(&sql);
    assert_int_equal(psfm_match_images(ctx, path, &options, NULL), PSFM_ERR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(matches_are_what_they_should_be, make_database),
        cmocka_unit_test_setup(pairs_are_kept_redone_and_dropped, make_database),
        cmocka_unit_test_setup(pairs_are_added_by_what_matched, make_database),
        cmocka_unit_test_setup(new_features_lose_their_matches, make_database),
        cmocka_unit_test_setup(dropped_image_is_gone, make_database),
        cmocka_unit_test_setup(uncommitted_work_is_gone, make_database),
        cmocka_unit_test_setup(refuses_what_cannot_be, make_database),
    };
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/database.db", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
