/* hloc's files: the matches in the database are those that were written. */
#include <unistd.h>

#include "frontend/import_matches.h"
#include "frontend/match_images.h"
#include "hdf5_util.h"
#include "store/colmap_database.h"
#include "store/feature_store.h"

enum { NUM = 30 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_import_XXXXXX";
static char features[64], matches[64], database[64];
static const char *const images[] = {"a_b.jpg", "c.jpg", "db/c.jpg"};
static const char camera[] = "PINHOLE,640,480,500,500,320,240";

static double x_of(int image, int k) {
    return 10.0 + 16.0 * k + image;
}

static void put_image(hid_t file, int image, hid_t type, bool with_size) {
    float xy[NUM][2], descriptors[128][NUM], scores[NUM];
    const int64_t size[2] = {640, 480};
    char name[64];
    for (int k = 0; k < NUM; ++k) {
        xy[k][0] = (float)x_of(image, k);
        xy[k][1] = 8.0F * (float)k;
        scores[k] = 0.5F;
        for (int d = 0; d < 128; ++d)
            descriptors[d][k] = d / 4 == (k + image) % 32 ? 0.5F : 0.0F;
    }
    snprintf(name, sizeof name, "%s/keypoints", images[image]);
    put_dataset(file, name, 2, NUM, 2, type, H5T_NATIVE_FLOAT, xy);
    snprintf(name, sizeof name, "%s/descriptors", images[image]);
    put_dataset(file, name, 2, 128, NUM, type, H5T_NATIVE_FLOAT, descriptors);
    snprintf(name, sizeof name, "%s/scores", images[image]);
    put_dataset(file, name, 1, NUM, 1, type, H5T_NATIVE_FLOAT, scores);
    snprintf(name, sizeof name, "%s/image_size", images[image]);
    if (with_size)
        put_dataset(file, name, 1, 2, 1, H5T_STD_I64LE, H5T_NATIVE_INT64, size);
}

static void put_features(bool half, bool with_size) {
    hid_t type = half ? make_half() : H5Tcopy(H5T_IEEE_F32LE);
    hid_t file = H5Fcreate(features, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int image = 0; image < 3; ++image)
        put_image(file, image, type, with_size);
    H5Fclose(file);
    H5Tclose(type);
}

/* Keypoint k of the first image is `shift` before that of the second; the last have none. */
static void put_pair(hid_t file, const char *group, int shift, int num) {
    int16_t partner[NUM];
    float scores[NUM];
    char name[64];
    for (int k = 0; k < NUM; ++k) {
        partner[k] = (int16_t)(k + shift < NUM ? k + shift : -1);
        scores[k] = k % 2 ? 0.9F : 0.1F;
    }
    snprintf(name, sizeof name, "%s/matches0", group);
    put_dataset(file, name, 1, (hsize_t)num, 1, H5T_STD_I16LE, H5T_NATIVE_INT16, partner);
    snprintf(name, sizeof name, "%s/matching_scores0", group);
    hid_t half = make_half();
    put_dataset(file, name, 1, (hsize_t)num, 1, half, H5T_NATIVE_FLOAT, scores);
    H5Tclose(half);
}

static hid_t new_matches(void) {
    return H5Fcreate(matches, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static psfm_status import(psfm_hloc_options options, psfm_import_stats *stats) {
    options.intrinsics.camera_text = camera;
    unlink(database);
    return psfm_import_hloc(ctx, features, matches, database, &options, stats);
}

/* Pair of two of the images, in the order of the database. */
static void check_pair(const psfm_match_set *set, size_t p, int a, int b, int shift, size_t num) {
    const psfm_match_pair *pair = &set->pairs[p];
    assert_string_equal(set->views[pair->view1].name, images[a]);
    assert_string_equal(set->views[pair->view2].name, images[b]);
    assert_int_equal(pair->num_matches, num);
    for (size_t k = 0; k < num; ++k)
        assert_int_equal((int)pair->matches[k][1] - (int)pair->matches[k][0], shift);
}

static void pairs_of_either_naming_are_read(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; ++variant) {
        bool old = variant % 2, half = variant / 2;
        psfm_import_stats stats;
        psfm_match_set set;
        put_features(half, !old);
        hid_t file = new_matches();
        put_pair(file, old ? "a_b.jpg_c.jpg" : "a_b.jpg/c.jpg", 2, NUM);
        put_pair(file, old ? "db-c.jpg_a_b.jpg" : "db-c.jpg/a_b.jpg", 5, NUM); /* turned round */
        put_pair(file, old ? "a_b.jpg_db-c.jpg" : "a_b.jpg/db-c.jpg", -5 + 6, NUM);
        put_pair(file, old ? "c.jpg_other.jpg" : "c.jpg/other.jpg", 1, NUM);
        H5Fclose(file);
        assert_ok(ctx, import((psfm_hloc_options){0}, &stats));
        assert_int_equal(stats.num_images, 3);
        assert_int_equal(stats.num_keypoints, 3 * NUM);
        assert_int_equal(stats.num_pairs, 2);
        assert_int_equal(stats.num_pairs_unknown, 1);
        assert_int_equal(stats.num_pairs_repeated, 1);
        assert_ok(ctx, psfm_database_read(ctx, database, &set, NULL));
        assert_int_equal(set.num_pairs, 2);
        check_pair(&set, 0, 0, 1, 2, NUM - 2);
        check_pair(&set, 1, 0, 2, 1, NUM - 1); /* a/db comes before db/a */
        for (size_t v = 0; v < 3; ++v)
            for (size_t k = 0; k < NUM; ++k) {
                assert_close(set.views[v].keypoints[k][0], x_of((int)v, (int)k) + 0.5, 1e-6);
                assert_close(set.views[v].keypoints[k][1], 8.0 * (double)k + 0.5, 1e-6);
            }
        psfm_match_set_free(&set);
    }
}

static void turned_pairs_and_scores(void **state) {
    (void)state;
    psfm_match_set set;
    put_features(true, true);
    hid_t file = new_matches();
    put_pair(file, "db-c.jpg/a_b.jpg", 5, NUM);
    H5Fclose(file);
    assert_ok(ctx, import((psfm_hloc_options){.min_score = 0.5}, NULL));
    assert_ok(ctx, psfm_database_read(ctx, database, &set, NULL));
    check_pair(&set, 0, 0, 2, -5, 12);
    psfm_match_set_free(&set);
}

static void sift_can_be_matched(void **state) {
    (void)state;
    psfm_match_options options = {.pairs = "exhaustive"};
    psfm_match_stats stats;
    put_features(true, true);
    hid_t file = new_matches();
    put_pair(file, "a_b.jpg/c.jpg", 2, NUM);
    H5Fclose(file);
    psfm_options_init(&psfm_nearest_option_table, &options.nearest);
    assert_ok(ctx, import((psfm_hloc_options){.features = "sift"}, NULL));
    assert_ok(ctx, psfm_match_images(ctx, database, &options, &stats));
    assert_int_equal(stats.num_kept, 1); /* what was imported stays */
    assert_int_equal(stats.num_matched, 2);
    assert_int_equal(stats.num_matches, NUM - 2 + NUM - 2 + NUM - 1);
    assert_ok(ctx, import((psfm_hloc_options){.features = "superpoint"}, NULL));
    psfm_feature_store store;
    psfm_stored_photos photos;
    psfm_keypoint_set set;
    assert_ok(ctx, psfm_store_open(ctx, database, false, &store));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_int_equal(photos.photos[2].width, 640);
    assert_ok(ctx, psfm_store_float_features(&store, &photos.photos[2], &set));
    assert_int_equal(set.descriptor_size, 128);
    assert_true(set.descriptors_f32[128 * 3 + 4 * 5] == 0.5F && set.scores[3] == 0.5F);
    psfm_keypoint_set_free(&set);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
}

static void refuses(psfm_hloc_options options, const char *word) {
    assert_true(import(options, NULL) != PSFM_OK);
    if (strstr(psfm_context_message(ctx), word) == NULL)
        fail_msg("no '%s' in '%s'", word, psfm_context_message(ctx));
    assert_int_equal(access(database, F_OK), -1);
    char tmp[80];
    snprintf(tmp, sizeof tmp, "%s.tmp", database);
    assert_int_equal(access(tmp, F_OK), -1);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    put_features(true, true);
    hid_t file = new_matches();
    put_pair(file, "c.jpg/unknown", 2, NUM);
    H5Fclose(file);
    refuses((psfm_hloc_options){0}, "no pair");
    refuses((psfm_hloc_options){.features = "dog"}, "dog");
    file = new_matches();
    put_pair(file, "c.jpg/a_b.jpg", 2, NUM - 1);
    H5Fclose(file);
    refuses((psfm_hloc_options){0}, "not as long");
    file = new_matches();
    put_pair(file, "c.jpg/a_b.jpg", -40, NUM);
    put_pair(file, "c.jpg/db-c.jpg", -1000, NUM);
    H5Fclose(file);
    file = H5Fopen(matches, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "c.jpg/a_b.jpg/matches0", H5P_DEFAULT);
    int32_t far[NUM] = {[3] = NUM};
    put_dataset(file, "c.jpg/a_b.jpg/matches0", 1, NUM, 1, H5T_STD_I32LE, H5T_NATIVE_INT32, far);
    H5Fclose(file);
    refuses((psfm_hloc_options){0}, "keypoint 30 of a_b.jpg");
    psfm_hloc_options without = {0};
    assert_int_equal(psfm_import_hloc(ctx, features, matches, database, &without, NULL),
                     PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "--cameras"));
    FILE *text = fopen(matches, "w");
    fputs("not HDF5", text);
    fclose(text);
    refuses((psfm_hloc_options){0}, "HDF5");
    file = new_matches();
    put_pair(file, "c.jpg/a_b.jpg", 2, NUM);
    H5Fclose(file);
    /* a-c.jpg and a/c.jpg cannot be told apart */
    file = H5Fopen(features, H5F_ACC_RDWR, H5P_DEFAULT);
    const float xy[4] = {1, 2, 3, 4};
    put_dataset(file, "db-c.jpg/keypoints", 2, 1, 2, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, xy);
    H5Fclose(file);
    refuses((psfm_hloc_options){0}, "same name");
    file = H5Fopen(features, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "c.jpg/keypoints", H5P_DEFAULT);
    put_dataset(file, "c.jpg/keypoints", 1, 4, 1, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, xy);
    H5Fclose(file);
    refuses((psfm_hloc_options){0}, "two coordinates");
}

static int make_paths(void) {
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(features, sizeof features, "%s/features.h5", folder);
    snprintf(matches, sizeof matches, "%s/matches.h5", folder);
    snprintf(database, sizeof database, "%s/database.db", folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_either_naming_are_read),
        cmocka_unit_test(turned_pairs_and_scores),
        cmocka_unit_test(sift_can_be_matched),
        cmocka_unit_test(bad_files_are_refused),
    };
    ctx = psfm_context_create();
    if (ctx == NULL || make_paths() != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(features);
    unlink(matches);
    unlink(database);
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return failed;
}
