/* Lists of matches are added to a database with keypoints. */
#include "frontend/import_matches.h"

#include "core/base/path.h"
#include "store/colmap_database.h"
#include "test_util.h"

enum { NUM = 30, NUM_VIEWS = 3 };

static char *const names[NUM_VIEWS] = {(char *)"a_b.jpg", (char *)"c.jpg", (char *)"db/c.jpg"};

typedef struct {
    psfm_context *ctx;
    char folder[32], database[64], list[64];
    psfm_import_stats stats;
} fixture;

/* Three images of NUM keypoints; the first two have matches k, k + 2. */
static void make_fixture(fixture *f) {
    static double keypoints[NUM][2];
    static uint32_t matches[NUM - 2][2];
    psfm_view views[NUM_VIEWS];
    psfm_camera camera = {1, PSFM_CAMERA_SIMPLE_PINHOLE, 640, 480, {500.0, 320.0, 240.0}, true};
    psfm_match_pair pair = {0, 1, NUM - 2, matches};
    *f = (fixture){.ctx = psfm_context_create(), .folder = "/tmp/psfm_lists_XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->database, sizeof f->database, "%s/database.db", f->folder);
    snprintf(f->list, sizeof f->list, "%s/list.txt", f->folder);
    for (uint32_t k = 0; k < NUM; ++k) {
        keypoints[k][0] = keypoints[k][1] = 10.0 * k;
        if (k + 2 < NUM)
            memcpy(matches[k], (const uint32_t[2]){k, k + 2}, sizeof matches[k]);
    }
    for (uint32_t v = 0; v < NUM_VIEWS; ++v)
        views[v] = (psfm_view){
            .id = v + 1, .name = names[v], .num_keypoints = NUM, .keypoints = keypoints};
    const psfm_match_set set = {.cameras = &camera,
                                .num_cameras = 1,
                                .views = views,
                                .num_views = NUM_VIEWS,
                                .pairs = &pair,
                                .num_pairs = 1};
    assert_ok(f->ctx, psfm_database_write(f->ctx, &set, f->database));
}

static void free_fixture(fixture *f) {
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

static psfm_status add_list(fixture *f, const char *text, bool verified) {
    FILE *file = fopen(f->list, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return psfm_import_match_file(f->ctx, f->database, f->list, verified, &f->stats);
}

/* Pair p of the database joins images a and b by matches whose indices differ by `shift`. */
static void check_pair(const psfm_match_set *set, size_t p, int a, int b, int shift, size_t num) {
    const psfm_match_pair *pair = &set->pairs[p];
    assert_string_equal(set->views[pair->view1].name, names[a]);
    assert_string_equal(set->views[pair->view2].name, names[b]);
    assert_int_equal(pair->num_matches, num);
    for (size_t k = 0; k < num; ++k)
        assert_int_equal((int)pair->matches[k][1] - (int)pair->matches[k][0], shift);
}

static void lists_are_added(void **state) {
    (void)state;
    fixture f;
    psfm_match_set set;
    psfm_database_stats read;
    make_fixture(&f);
    assert_ok(f.ctx, add_list(&f, "db/c.jpg a_b.jpg\n4 1\n5 2\n\n", false));
    assert_true(f.stats.num_pairs == 1 && f.stats.num_matches == 2);
    assert_ok(f.ctx, add_list(&f, "a_b.jpg c.jpg\n1 1\n\nc.jpg db/c.jpg\n7 4\n", true));
    assert_true(f.stats.num_pairs == 2 && f.stats.num_matches == 2);
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, &read));
    assert_int_equal(read.num_pairs_from_matches, 1);
    assert_int_equal(read.num_pairs_from_geometries, 2);
    check_pair(&set, 0, 0, 1, 0, 1); /* in the place of those that it had */
    check_pair(&set, 1, 0, 2, 3, 2);
    check_pair(&set, 2, 1, 2, -3, 1);
    psfm_match_set_free(&set);
    free_fixture(&f);
}

static void a_bad_list_changes_nothing(void **state) {
    (void)state;
    fixture f;
    psfm_match_set set;
    make_fixture(&f);
    assert_int_equal(add_list(&f, "c.jpg db/c.jpg\n1 1\n\na_b.jpg c.jpg\n1 1\n2 30\n", false),
                     PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(f.ctx), "match 2"));
    assert_int_equal(add_list(&f, "a_b.jpg nobody.jpg\n1 1\n", false), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(f.ctx), "nobody.jpg"));
    assert_int_equal(psfm_import_match_file(f.ctx, f.database, "/nowhere", false, NULL),
                     PSFM_ERR_IO);
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, NULL));
    assert_int_equal(set.num_pairs, 1);
    check_pair(&set, 0, 0, 1, 2, NUM - 2);
    psfm_match_set_free(&set);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_added),
        cmocka_unit_test(a_bad_list_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
