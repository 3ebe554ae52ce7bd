/* Images of the same features: turned and scaled as a whole, or each feature for itself. */
#include <unistd.h>

#include "core/base/rng.h"
#include "frontend/retrieval_vectors.h"
#include "test_util.h"

enum { NUM_IMAGES = 4, NUM_FEATURES = 60, WHOLE = 1, TORN = 2, EMPTY = 3 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_rank_XXXXXX";
static char path[64];

static void put_image(psfm_feature_store *store, uint32_t image) {
    psfm_keypoint keypoints[NUM_FEATURES];
    uint8_t descriptors[NUM_FEATURES][128] = {{0}};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, image, 0);
    char name[] = "a.jpg";
    psfm_stored_photo photo = {.name = name, .key = (char *)"key", .width = 100, .height = 80};
    psfm_keypoint_set set = {.num = image == EMPTY ? 0 : NUM_FEATURES,
                             .keypoints = keypoints,
                             .descriptor_size = 128,
                             .descriptors_u8 = &descriptors[0][0]};
    psfm_camera camera = {0, PSFM_CAMERA_PINHOLE, 100, 80, {90.0, 90.0, 50.0, 40.0}, true};
    name[0] = (char)('a' + image);
    for (uint32_t k = 0; k < NUM_FEATURES; ++k) {
        float turn = 0.05F * (float)k, scale = 2.0F + 0.1F * (float)k;
        if (image == WHOLE) {
            turn += 1.0F;
            scale *= 3.0F;
        } else if (image == TORN) {
            turn = (float)psfm_rng_range(&rng, 0.0, 6.28);
            scale *= (float)psfm_rng_range(&rng, 0.1, 10.0);
        }
        for (uint32_t d = 0; d < 4; ++d)
            descriptors[k][(2 * k + d) % 128] = 255;
        keypoints[k] = psfm_keypoint_make((float)k, 1.0F, scale, turn);
    }
    assert_ok(ctx, psfm_store_put_camera(store, "all", &camera, &photo.camera_id));
    assert_ok(ctx, psfm_store_put_photo(store, &photo, &set));
}

static int make_database(void **state) {
    (void)state;
    psfm_feature_store store;
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/database.db", folder);
    assert_ok(ctx, psfm_store_open(ctx, path, true, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    for (uint32_t i = 0; i < NUM_IMAGES; ++i)
        put_image(&store, i);
    assert_ok(ctx, psfm_store_commit(&store));
    psfm_store_close(&store);
    return 0;
}

static int free_database(void **state) {
    (void)state;
    unlink(path);
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return 0;
}

/* By vectors the torn image comes first; what agrees on a turn and a scale goes before it. */
static void what_agrees_goes_first(void **state) {
    (void)state;
    psfm_feature_store store;
    psfm_stored_photos photos;
    float vector[NUM_IMAGES][2] = {{1.0F, 0.0F}, {0.8F, 0.6F}, {0.96F, 0.28F}, {0.0F, 0.0F}};
    const psfm_image_vectors vectors = {.vector = vector[0], .num = NUM_IMAGES, .size = 2};
    uint32_t plain[NUM_IMAGES], ranked[NUM_IMAGES];
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    psfm_sketch *sketches = NULL;
    assert_ok(ctx, psfm_image_sketches_draw(ctx, &store, &photos, &sketches));
    assert_ok(ctx, psfm_retrieve_nearest(ctx, &vectors, 1, plain));
    assert_int_equal(plain[0], TORN);
    assert_ok(ctx, psfm_retrieve_ranked(ctx, &vectors, sketches, 1, ranked));
    assert_int_equal(ranked[0], WHOLE);
    assert_int_equal(ranked[WHOLE], 0);
    assert_int_equal(ranked[EMPTY], UINT32_MAX);
    free(sketches);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
}

static void shapes_come_back(void **state) {
    (void)state;
    psfm_feature_store store;
    psfm_stored_photos photos;
    psfm_keypoint keypoints[NUM_FEATURES];
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_ok(ctx, psfm_store_shapes(&store, &photos.photos[WHOLE], keypoints));
    assert_close(psfm_keypoint_scale(&keypoints[10]), 9.0, 1e-5);
    assert_close(psfm_keypoint_orientation(&keypoints[10]), 1.5, 1e-5);
    photos.photos[WHOLE].num_keypoints = 7; /* the database has another number */
    assert_int_equal(psfm_store_shapes(&store, &photos.photos[WHOLE], keypoints), PSFM_ERR_FORMAT);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_agrees_goes_first),
        cmocka_unit_test(shapes_come_back),
    };
    return cmocka_run_group_tests(tests, make_database, free_database);
}
