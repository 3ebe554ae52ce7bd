/* A database of images without features whose pairs came to known numbers. */
#include "frontend/effort_plan.h"

#include <unistd.h>

#include "frontend/effort_need.h"
#include "store/feature_store.h"
#include "test_util.h"

enum { NUM = 12 };

static psfm_context *ctx;
static char folder[] = "/tmp/psfm_plan_XXXXXX";
static char path[64];
static const char *const names[NUM] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
static uint32_t ids[NUM];

static void put_image(psfm_feature_store *store, int i) {
    static psfm_keypoint keypoints[800];
    static uint8_t descriptors[800][128];
    psfm_keypoint_set set = {.num = 800,
                             .keypoints = keypoints,
                             .descriptor_size = 128,
                             .descriptors_u8 = &descriptors[0][0]};
    psfm_stored_photo photo = {0,    0,   (char *)names[i], (char *)"key", 1600, 1200, 0.0, 0,
                               NULL, NULL};
    psfm_camera camera = {0, PSFM_CAMERA_PINHOLE, 1600, 1200, {900.0, 900.0, 800.0, 600.0}, true};
    assert_ok(ctx, psfm_store_put_camera(store, "all", &camera, &photo.camera_id));
    assert_ok(ctx, psfm_store_put_photo(store, &photo, &set));
}

static void put_pair(psfm_feature_store *store, int i, int j, size_t num, size_t num_verified) {
    static uint32_t matches[800][2];
    psfm_match_list list = {matches, num};
    for (uint32_t k = 0; k < num; ++k)
        matches[k][0] = matches[k][1] = k;
    assert_ok(ctx, psfm_store_put_matches(store, ids[i], ids[j], &list, 77));
    assert_ok(ctx, psfm_store_put_verified(store, ids[i], ids[j], num_verified));
}

/* A chain in which each image has `near` verified matches with either neighbour. Beyond, pairs have
 * none, and 4 matches by chance; but images 2 and 5 have 40. */
static void make_database(size_t near) {
    psfm_feature_store store;
    psfm_stored_photos photos;
    unlink(path);
    assert_ok(ctx, psfm_store_open(ctx, path, true, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    for (int i = 0; i < NUM; ++i)
        put_image(&store, i);
    assert_ok(ctx, psfm_store_list(&store, &photos));
    for (int i = 0; i < NUM; ++i)
        ids[i] = photos.photos[i].image_id;
    for (int i = 0; i < NUM; ++i)
        for (int j = i + 1; j < NUM; ++j)
            put_pair(&store, i, j,
                     j == i + 1         ? near
                     : i == 2 && j == 5 ? 40
                                        : 4,
                     j == i + 1 ? near : 0);
    assert_ok(ctx, psfm_store_commit(&store));
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
}

static void read_plan(uint64_t *key, psfm_effort_plan *plan) {
    psfm_feature_store store;
    psfm_stored_photos photos;
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_list(&store, &photos));
    assert_ok(ctx, psfm_store_plan(&store, &photos, key, plan));
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
}

static size_t make_plan(unsigned causes, uint64_t key, psfm_second_pass_photos *second_pass) {
    psfm_folder_options extract = {.effort.level = PSFM_EFFORT_LOW};
    const psfm_effort_criteria criteria = {
        .extract = &extract, .causes = causes, .most = PSFM_EFFORT_HIGH};
    size_t num_more = 0;
    psfm_options_init(&psfm_sift_option_table, &extract.sift);
    assert_ok(ctx, psfm_effort_plan_make(ctx, path, &criteria, key, second_pass, &num_more));
    return num_more;
}

static bool has_failed(const psfm_effort_plan *plan, int i, int j) {
    for (size_t k = 0; k < plan->num_failed; ++k)
        if (plan->failed[k][0] == ids[i] && plan->failed[k][1] == ids[j])
            return true;
    return false;
}

/* 1000 matches in two pairs connect an image; at the ends of the chain 500 do not, not for sure. */
static void pairs_without_anything_have_failed(void **state) {
    (void)state;
    psfm_second_pass_photos second_pass = {0};
    psfm_effort_plan plan;
    uint64_t key = 0;
    make_database(500);
    assert_int_equal(make_plan(PSFM_NEED_SUPPORT, 5, &second_pass), 4);
    assert_int_equal(second_pass.num, 4);
    assert_string_equal(second_pass.photos[2].name, "k");
    assert_int_equal(second_pass.photos[2].effort, PSFM_EFFORT_NORMAL);
    read_plan(&key, &plan);
    assert_int_equal(key, 5);
    assert_int_equal(plan.efforts[0], PSFM_EFFORT_NORMAL);
    assert_int_equal(plan.efforts[5], PSFM_EFFORT_LOW);
    assert_false(has_failed(&plan, 2, 5)); /* more than chance */
    assert_false(has_failed(&plan, 0, 6)); /* image 0 is sought everywhere */
    assert_false(has_failed(&plan, 3, 4));
    assert_true(has_failed(&plan, 1, 3));
    assert_int_equal(plan.num_failed,
                     35); /* of 10 images, 45 pairs but 9 neighbours and that one */
    psfm_effort_plan_free(&plan);
    psfm_second_pass_photos_free(&second_pass);
    assert_ok(ctx, psfm_effort_plan_read(ctx, path, PSFM_EFFORT_LOW, &key, &second_pass));
    assert_int_equal(second_pass.num, 4);
    psfm_second_pass_photos_free(&second_pass);
}

/* For exactness all get more. */
static void efforts_are_by_need(void **state) {
    (void)state;
    psfm_second_pass_photos second_pass = {0};
    psfm_effort_plan plan;
    uint64_t key = 0;
    make_database(590);
    assert_int_equal(make_plan(PSFM_NEED_EXACTNESS, 5, &second_pass), NUM);
    read_plan(&key, &plan);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(plan.efforts[i], PSFM_EFFORT_NORMAL);
    assert_true(has_failed(&plan, 1, 5));
    psfm_effort_plan_free(&plan);
    psfm_second_pass_photos_free(&second_pass);
}

/* As when image 1 is extracted again, and matched with image 2. */
static void remove_matches_of_image_1(void) {
    psfm_feature_store store;
    assert_ok(ctx, psfm_store_open(ctx, path, false, &store));
    assert_ok(ctx, psfm_store_begin(&store));
    for (int j = 3; j < NUM; ++j) {
        char text[128];
        snprintf(text, sizeof text, "DELETE FROM matches WHERE pair_id = %lld",
                 2147483647LL * ids[1] + ids[j]);
        assert_ok(ctx, psfm_sql_exec(&store.sql, text));
    }
    assert_ok(ctx, psfm_store_commit(&store));
    psfm_store_close(&store);
}

/* What was failed stays failed, once: 66 pairs, but for 11 neighbours and the one above chance. */
static void a_later_plan_goes_on_from_an_earlier_one(void **state) {
    (void)state;
    psfm_second_pass_photos second_pass = {0};
    psfm_effort_plan plan;
    uint64_t key = 0;
    make_database(700);
    make_plan(PSFM_NEED_EXACTNESS, 5, &second_pass);
    remove_matches_of_image_1();
    make_plan(PSFM_NEED_EXACTNESS, 6, &second_pass);
    read_plan(&key, &plan);
    assert_int_equal(key, 6);
    assert_true(has_failed(&plan, 1, 5));
    assert_int_equal(plan.num_failed, 54);
    assert_int_equal(plan.efforts[5], PSFM_EFFORT_HIGH); /* normal effort, and no patches */
    psfm_effort_plan_free(&plan);
    psfm_second_pass_photos_free(&second_pass);
}

/* Normal effort did not connect the ends for sure: every pair may count. */
static void among_hard_ones_nothing_has_failed(void **state) {
    (void)state;
    psfm_second_pass_photos second_pass = {0};
    psfm_effort_plan plan;
    uint64_t key = 0;
    make_database(500);
    make_plan(PSFM_NEED_SUPPORT, 5, &second_pass);
    make_plan(PSFM_NEED_SUPPORT, 6, &second_pass);
    read_plan(&key, &plan);
    assert_int_equal(plan.efforts[0], PSFM_EFFORT_HIGH);
    assert_int_equal(plan.num_failed, 0);
    psfm_effort_plan_free(&plan);
    psfm_second_pass_photos_free(&second_pass);
}

/* A doubt gives all normal effort, and every pair is tried again. Once all have it the plan stays
 * as it was. */
static void a_doubt_is_written_down_if_it_gives_more(void **state) {
    (void)state;
    psfm_second_pass_photos second_pass = {0};
    psfm_effort_plan plan;
    uint64_t key = 0;
    make_database(500);
    make_plan(PSFM_NEED_SUPPORT, 5, &second_pass);
    assert_int_equal(make_plan(PSFM_NEED_CERTAINTY, 6, &second_pass), NUM - 4);
    assert_int_equal(second_pass.num, NUM);
    read_plan(&key, &plan);
    assert_int_equal(key, 6);
    assert_int_equal(plan.num_failed, 0);
    psfm_effort_plan_free(&plan);
    assert_int_equal(make_plan(PSFM_NEED_CERTAINTY, 7, &second_pass), 0);
    assert_int_equal(second_pass.num, NUM);
    read_plan(&key, &plan);
    assert_int_equal(key, 6);
    psfm_effort_plan_free(&plan);
    psfm_second_pass_photos_free(&second_pass);
}

static int make_scratch(void **state) {
    (void)state;
    ctx = psfm_context_create();
    if (ctx == NULL || mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/database.db", folder);
    return 0;
}

static int remove_scratch(void **state) {
    (void)state;
    unlink(path);
    rmdir(folder);
    psfm_context_destroy(&ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_without_anything_have_failed),
        cmocka_unit_test(efforts_are_by_need),
        cmocka_unit_test(a_later_plan_goes_on_from_an_earlier_one),
        cmocka_unit_test(among_hard_ones_nothing_has_failed),
        cmocka_unit_test(a_doubt_is_written_down_if_it_gives_more),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
