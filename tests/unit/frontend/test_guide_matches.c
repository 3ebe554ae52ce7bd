/* Images of one plane on which almost everything is there twice: what the ratio test throws away
 * comes back along the homography. */
#include <unistd.h>

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "frontend/match_images.h"
#include "store/colmap_database.h"
#include "store/feature_store.h"
#include "test_util.h"

enum { NUM_IMAGES = 4, NUM_FEATURES = 300, NUM_UNIQUE = 60 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_guide_XXXXXX";
static char path[64];
static const psfm_camera camera = {0,   PSFM_CAMERA_SIMPLE_RADIAL,    1000,
                                   800, {900.0, 500.0, 400.0, -0.05}, true};

/* Feature k is point k of the plane z = 4 as image `image` sees it, with 0.3 px of noise. Features
 * from NUM_UNIQUE on come in duplicates with one descriptor. */
static void make_features(uint32_t image, psfm_keypoint *keypoints, uint8_t *descriptors) {
    psfm_rng scene = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    psfm_rng noise = psfm_rng_make(1, PSFM_RNG_TEST, 1, image);
    const double w[3] = {0.05 * image, -0.08 * image, 0.1 * image};
    double R[9];
    psfm_rotation_exp(w, R);
    for (uint32_t k = 0; k < NUM_FEATURES; ++k) {
        double x[2], seen[3],
            point[3] = {psfm_rng_range(&scene, -1.5, 1.5), psfm_rng_range(&scene, -1.2, 1.2), 4.0};
        psfm_mat3_mul_vec(R, point, seen);
        seen[0] += 0.4 * image;
        assert_true(psfm_camera_project(&camera, seen, x));
        for (int c = 0; c < 2; ++c)
            x[c] += 0.3 * psfm_rng_normal(&noise);
        keypoints[k] = psfm_keypoint_make((float)x[0], (float)x[1], 2.0F, 0.5F);
        bool is_duplicate = k > NUM_UNIQUE && (k - NUM_UNIQUE) % 2 == 1;
        psfm_rng shape = psfm_rng_make(1, PSFM_RNG_TEST, 2, is_duplicate ? k - 1 : k);
        for (size_t c = 0; c < 128; ++c)
            descriptors[128 * k + c] =
                (uint8_t)(psfm_rng_below(&shape, 2) * 60 + psfm_rng_below(&noise, 8));
    }
}

static void put_camera(psfm_feature_store *store, double focal, uint32_t *camera_id) {
    psfm_camera changed = camera;
    changed.params[0] = focal;
    assert_ok(ctx, psfm_store_put_camera(store, "all", &changed, camera_id));
}

static int make_database(void **state) {
    (void)state;
    psfm_feature_store store;
    psfm_keypoint keypoints[NUM_FEATURES];
    uint8_t *descriptors = malloc((size_t)128 * NUM_FEATURES);
    assert_non_null(descriptors);
    psfm_keypoint_set set = {.num = NUM_FEATURES,
                             .keypoints = keypoints,
                             .descriptor_size = 128,
                             .descriptors_u8 = descriptors};
    unlink(path);
    assert_ok(ctx, psfm_store_open(ctx, path, true, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        char name[] = "x.jpg";
        name[0] = (char)('d' - i); /* names run against the ids */
        psfm_stored_photo photo = {
            .name = name, .key = (char *)"key", .width = 1000, .height = 800};
        put_camera(&store, camera.params[0], &photo.camera_id);
        make_features(i, keypoints, descriptors);
        assert_ok(ctx, psfm_store_put_photo(&store, &photo, &set));
    }
    assert_ok(ctx, psfm_store_commit(&store));
    psfm_store_close(&store);
    free(descriptors);
    return 0;
}

static psfm_match_options default_options(void) {
    psfm_match_options options = {0};
    psfm_options_init(&psfm_nearest_option_table, &options.nearest);
    psfm_options_init(&psfm_guided_option_table, &options.guided);
    psfm_options_init(&psfm_two_view_option_table, &options.two_view);
    return options;
}

static psfm_match_stats match_by(const psfm_match_options *options) {
    psfm_match_stats stats;
    assert_ok(ctx, psfm_match_images(ctx, path, options, &stats));
    return stats;
}

static psfm_match_stats match(bool guided) {
    psfm_match_options options = default_options();
    options.guided.enabled = guided;
    return match_by(&options);
}

static void duplicates_come_back(void **state) {
    (void)state;
    enum { PAIRS = NUM_IMAGES * (NUM_IMAGES - 1) / 2 };
    psfm_match_set set;
    psfm_match_stats stats = match(false);
    assert_int_equal(stats.num_guided, 0);
    assert_true(stats.num_matches >= PAIRS * NUM_UNIQUE &&
                stats.num_matches < PAIRS * (NUM_UNIQUE + 20));
    size_t before = stats.num_matches;
    stats = match(true);
    assert_int_equal(stats.num_matched, PAIRS);
    assert_int_equal(stats.num_matches, before + stats.num_guided);
    assert_true(stats.num_matches > PAIRS * NUM_FEATURES * 9 / 10);
    assert_ok(ctx, psfm_database_read(ctx, path, &set, NULL));
    for (size_t p = 0; p < set.num_pairs; ++p) {
        const psfm_match_pair *pair = &set.pairs[p];
        size_t wrong = 0;
        for (size_t k = 0; k < pair->num_matches; ++k) {
            wrong += pair->matches[k][0] != pair->matches[k][1];
            assert_true(k == 0 || pair->matches[k][0] > pair->matches[k - 1][0]);
        }
        assert_true(wrong <= 3);
    }
    psfm_match_set_free(&set);
}

static void new_cameras_and_seeds_are_noticed(void **state) {
    (void)state;
    psfm_feature_store store;
    uint32_t camera_id;
    match(true);
    assert_int_equal(match(true).num_matched, 0);
    psfm_context_set_seed(ctx, 5);
    assert_true(match(true).num_matched > 0);
    assert_int_equal(match(true).num_matched, 0);
    psfm_context_set_seed(ctx, 0);
    match(false);
    psfm_context_set_seed(ctx, 5);
    assert_int_equal(match(false).num_matched, 0);
    psfm_context_set_seed(ctx, 0);
    match(true);
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    put_camera(&store, 901.0, &camera_id);
    psfm_store_close(&store);
    assert_true(match(true).num_matched > 0);
    match(false);
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    put_camera(&store, 900.0, &camera_id);
    psfm_store_close(&store);
    assert_int_equal(match(false).num_matched, 0);
}

/* Options of two-view geometry change what homographies guide, and are noticed. */
static void two_view_options_are_used(void **state) {
    (void)state;
    psfm_match_options options = default_options();
    assert_true(match_by(&options).num_guided > 0);
    options.two_view.min_inliers = NUM_FEATURES + 1;
    const psfm_match_stats stats = match_by(&options);
    assert_true(stats.num_matched > 0);
    assert_int_equal(stats.num_guided, 0);
    options.guided.enabled = false;
    match_by(&options);
    options.two_view.min_inliers = 8;
    assert_int_equal(match_by(&options).num_matched, 0);
}

/* Both modes take the same matches. */
static void paper_mode_keeps_matches(void **state) {
    (void)state;
    psfm_match_options options = default_options();
    match_by(&options);
    psfm_options_init_paper(&psfm_two_view_option_table, &options.two_view);
    assert_int_equal(match_by(&options).num_matched, 0);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    psfm_match_set set[2];
    for (int k = 0; k < 2; ++k) {
        psfm_context_set_threads(ctx, k == 0 ? 1 : 3);
        make_database(NULL);
        match(true);
        assert_ok(ctx, psfm_database_read(ctx, path, &set[k], NULL));
    }
    assert_int_equal(set[0].num_pairs, set[1].num_pairs);
    for (size_t p = 0; p < set[0].num_pairs; ++p) {
        const psfm_match_pair *a = &set[0].pairs[p], *b = &set[1].pairs[p];
        assert_int_equal(a->num_matches, b->num_matches);
        assert_memory_equal(a->matches, b->matches, a->num_matches * sizeof *a->matches);
    }
    psfm_match_set_free(&set[0]);
    psfm_match_set_free(&set[1]);
    psfm_context_set_threads(ctx, 0);
}

static void refuses_a_missing_camera(void **state) {
    (void)state;
    psfm_sql sql;
    psfm_match_options options = default_options();
    assert_ok(ctx, psfm_sql_open_for_writing(ctx, path, &sql));
    assert_ok(ctx, psfm_sql_exec(&sql, "DELETE FROM cameras"));
    psfm_sql_close(&sql);
    assert_int_equal(psfm_match_images(ctx, path, &options, NULL), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "camera 1 does not exist"));
    options.two_view.min_area = NAN;
    assert_int_equal(psfm_match_images(ctx, path, &options, NULL), PSFM_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(duplicates_come_back, make_database),
        cmocka_unit_test_setup(new_cameras_and_seeds_are_noticed, make_database),
        cmocka_unit_test_setup(two_view_options_are_used, make_database),
        cmocka_unit_test_setup(paper_mode_keeps_matches, make_database),
        cmocka_unit_test_setup(threads_do_not_matter, make_database),
        cmocka_unit_test_setup(refuses_a_missing_camera, make_database),
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
