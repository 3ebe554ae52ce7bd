/* Float features through a database: in, out, replaced, damaged. */
#include <unistd.h>

#include "images/feature/neural_features.h"
#include "store/feature_store.h"
#include "test_util.h"

enum { NUM = 5, DIM = 3 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_floats_XXXXXX";
static char path[64];
static psfm_feature_store store;

static void make_features(psfm_keypoint_set *set) {
    assert_ok(ctx, psfm_neural_features_init(ctx, NUM, DIM, set));
    for (size_t k = 0; k < NUM; ++k) {
        set->keypoints[k] = psfm_keypoint_make((float)k + 0.25F, 7.5F, 1, 0);
        set->scores[k] = -1.5F * (float)k;
        for (size_t c = 0; c < DIM; ++c)
            set->descriptors_f32[k * DIM + c] = 0.1F * (float)(k * DIM + c);
    }
}

static psfm_status put(const char *kind, uint32_t id, const psfm_keypoint_set *set) {
    psfm_stored_photo photo = {.image_id = id,
                               .name = (char *)"a.jpg",
                               .key = (char *)"key",
                               .width = 64,
                               .height = 48,
                               .features = (char *)kind};
    psfm_camera camera = {0, PSFM_CAMERA_PINHOLE, 64, 48, {60.0, 60.0, 32.0, 24.0}, true};
    assert_ok(ctx, psfm_store_put_camera(&store, "all", &camera, &photo.camera_id));
    return psfm_store_put_photo(&store, &photo, set);
}

static int open_store(void **state) {
    (void)state;
    unlink(path);
    assert_ok(ctx, psfm_store_open(ctx, path, true, &store));
    return 0;
}

static int close_store(void **state) {
    (void)state;
    psfm_store_close(&store);
    return 0;
}

static void they_come_back_as_they_were(void **state) {
    (void)state;
    psfm_keypoint_set set, back;
    psfm_stored_photos photos;
    make_features(&set);
    assert_ok(ctx, put("xfeat", 0, &set));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_int_equal(photos.num, 1);
    assert_string_equal(photos.photos[0].features, "xfeat");
    assert_int_equal(photos.photos[0].num_keypoints, NUM);
    assert_ok(ctx, psfm_store_float_features(&store, &photos.photos[0], &back));
    assert_int_equal(back.num, NUM);
    assert_int_equal(back.descriptor_size, DIM);
    assert_memory_equal(back.keypoints, set.keypoints, NUM * sizeof *set.keypoints);
    assert_memory_equal(back.scores, set.scores, NUM * sizeof *set.scores);
    assert_memory_equal(back.descriptors_f32, set.descriptors_f32, NUM * DIM * sizeof(float));
    psfm_keypoint_set_free(&back);
    psfm_stored_photos_free(&photos);
    psfm_keypoint_set_free(&set);
}

static void sift_takes_their_place(void **state) {
    (void)state;
    uint8_t bytes[2 * 128] = {1};
    psfm_keypoint keypoints[2] = {{1, 2, 1, 0, 0, 1}, {3, 4, 1, 0, 0, 1}};
    psfm_keypoint_set floats,
        sift = {.num = 2, .keypoints = keypoints, .descriptor_size = 128, .descriptors_u8 = bytes};
    psfm_stored_photos photos;
    make_features(&floats);
    assert_ok(ctx, put("xfeat", 0, &floats));
    assert_int_equal(put(NULL, 1, &floats), PSFM_ERR_ARGUMENT);
    assert_int_equal(put("xfeat", 1, &sift), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, put(NULL, 1, &sift));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_null(photos.photos[0].features);
    assert_int_equal(photos.photos[0].num_keypoints, 2);
    psfm_stored_photos_free(&photos);
    psfm_keypoint_set_free(&floats);
}

static void damage_is_named(void **state) {
    (void)state;
    static const char *const damages[] = {
        "UPDATE descriptors SET data = zeroblob(10)",
        "UPDATE descriptors SET cols = 11, data = zeroblob(55)",
        "UPDATE descriptors SET rows = -1",
        "UPDATE descriptors SET rows = 4611686018427387904, cols = 4",
        "UPDATE keypoints SET rows = 4",
        "UPDATE keypoints SET cols = 1",
        "UPDATE planarsfm_features SET scores = zeroblob(4)",
        "DELETE FROM keypoints",
    };
    for (size_t k = 0; k < sizeof damages / sizeof *damages; ++k) {
        psfm_keypoint_set set, back;
        psfm_stored_photos photos;
        open_store(NULL);
        make_features(&set);
        assert_ok(ctx, put("xfeat", 0, &set));
        assert_ok(ctx, psfm_store_list(&store, &photos));
        assert_ok(ctx, psfm_sql_exec(&store.sql, damages[k]));
        if (psfm_store_float_features(&store, &photos.photos[0], &back) != PSFM_ERR_FORMAT)
            fail_msg("accepted after: %s", damages[k]);
        assert_non_null(strstr(psfm_context_message(ctx), "xfeat features of image 1 (a.jpg)"));
        assert_int_equal(back.num, 0);
        psfm_stored_photos_free(&photos);
        psfm_keypoint_set_free(&set);
        psfm_store_close(&store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_come_back_as_they_were, open_store, close_store),
        cmocka_unit_test_setup_teardown(sift_takes_their_place, open_store, close_store),
        cmocka_unit_test(damage_is_named),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/database.db", folder);
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    unlink(path);
    rmdir(folder);
    return failed;
}
