#include "unit/formats/database_util.h"

#include <float.h>
#include <pthread.h>
#include <time.h>

static void fill_doubles(psfm_rng *rng, double *values, size_t num) {
    for (size_t k = 0; k < num; ++k)
        values[k] = psfm_rng_normal(rng);
    values[psfm_rng_below(rng, num)] = -0.0;
    values[psfm_rng_below(rng, num)] = DBL_TRUE_MIN;
}

static void fill_inliers(psfm_rng *rng, size_t num_matches, uint32_t **inliers, size_t *num) {
    *inliers = test_alloc(num_matches, sizeof **inliers);
    *num = 0;
    for (uint32_t k = 0; k < num_matches; ++k)
        if (psfm_rng_below(rng, 3) == 0)
            (*inliers)[(*num)++] = k;
}

static void fill_homography(psfm_rng *rng, size_t num_matches, psfm_homography *homography) {
    fill_doubles(rng, homography->H_21, 9);
    fill_inliers(rng, num_matches, &homography->inliers, &homography->num_inliers);
    homography->rms_px = psfm_rng_uniform(rng);
    homography->is_rotation = psfm_rng_below(rng, 2) == 0;
    homography->num_motions = 1 + (int)psfm_rng_below(rng, 2);
    for (int k = 0; k < homography->num_motions; ++k) {
        fill_doubles(rng, homography->motions[k].R_21, 9);
        fill_doubles(rng, homography->motions[k].t_21, 3);
        fill_doubles(rng, homography->motions[k].n1, 3);
        fill_doubles(rng, homography->motions[k].n2, 3);
        homography->motions[k].d2_over_d1 = psfm_rng_uniform(rng);
    }
}

/* Arbitrary contents: kinds, numbers of homographies and presence of E differ from pair to pair. */
static psfm_two_view *make_two_views(const psfm_match_set *set, uint64_t seed) {
    psfm_two_view *two_views = test_alloc(set->num_pairs, sizeof *two_views);
    for (size_t p = 0; p < set->num_pairs; ++p) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, p, 0);
        psfm_two_view *two_view = &two_views[p];
        size_t num_matches = set->pairs[p].num_matches;
        two_view->kind = (psfm_pair_kind)(p % 4);
        two_view->num_homographies = p % 3;
        if (p % 3 > 0)
            two_view->homographies = test_alloc(p % 3, sizeof *two_view->homographies);
        for (size_t k = 0; k < p % 3; ++k)
            fill_homography(&rng, num_matches, &two_view->homographies[k]);
        if (p % 2 == 0) {
            two_view->essential.found = true;
            fill_doubles(&rng, two_view->essential.R_21, 9);
            fill_doubles(&rng, two_view->essential.t_21, 3);
            fill_inliers(&rng, num_matches, &two_view->essential.inliers,
                         &two_view->essential.num_inliers);
            two_view->essential.plane_share = psfm_rng_uniform(&rng);
            two_view->essential.is_degenerate = p % 4 == 0;
        }
    }
    return two_views;
}

static void free_two_views(psfm_two_view *two_views, const psfm_match_set *set) {
    for (size_t p = 0; p < set->num_pairs; ++p)
        psfm_two_view_free(&two_views[p]);
    free(two_views);
}

static void assert_same_inliers(const uint32_t *a, size_t num_a, const uint32_t *b, size_t num_b) {
    assert_int_equal(num_a, num_b);
    if (num_a > 0)
        assert_memory_equal(a, b, num_a * sizeof *a);
}

static void assert_same_two_views(const psfm_two_view *a, const psfm_two_view *b, size_t num) {
    for (size_t p = 0; p < num; ++p) {
        const psfm_essential *left = &a[p].essential, *right = &b[p].essential;
        assert_int_equal(a[p].kind, b[p].kind);
        assert_int_equal(a[p].num_homographies, b[p].num_homographies);
        for (size_t k = 0; k < a[p].num_homographies; ++k) {
            const psfm_homography *one = &a[p].homographies[k], *two = &b[p].homographies[k];
            assert_memory_equal(one->H_21, two->H_21, sizeof one->H_21);
            assert_same_inliers(one->inliers, one->num_inliers, two->inliers, two->num_inliers);
            assert_memory_equal(&one->rms_px, &two->rms_px, sizeof one->rms_px);
            assert_int_equal(one->is_rotation, two->is_rotation);
            assert_int_equal(one->num_motions, two->num_motions);
            assert_memory_equal(one->motions, two->motions, sizeof one->motions);
        }
        assert_int_equal(left->found, right->found);
        assert_memory_equal(left->R_21, right->R_21, sizeof left->R_21);
        assert_memory_equal(left->t_21, right->t_21, sizeof left->t_21);
        assert_memory_equal(&left->plane_share, &right->plane_share, sizeof(double));
        assert_int_equal(left->is_degenerate, right->is_degenerate);
        assert_same_inliers(left->inliers, left->num_inliers, right->inliers, right->num_inliers);
    }
}

static void assert_all_zero(const psfm_two_view *two_views, size_t num) {
    static const psfm_two_view zero;
    for (size_t p = 0; p < num; ++p)
        assert_memory_equal(&two_views[p], &zero, sizeof zero);
}

/* What every test here starts from: a database with a set in it, and geometries to store. */
typedef struct {
    psfm_context *ctx;
    char folder[MAX_PATH], path[MAX_PATH];
    psfm_match_set set;
    psfm_two_view *two_views, *back;
} fixture;

static int set_up(void **state) {
    fixture *f = test_alloc(1, sizeof *f);
    f->ctx = psfm_context_create();
    make_scratch(f->folder);
    join(f->path, f->folder, "d.db");
    make_set(&f->set, 5, 30);
    f->two_views = make_two_views(&f->set, 1);
    f->back = test_alloc(f->set.num_pairs, sizeof *f->back);
    *state = f;
    return psfm_database_write(f->ctx, &f->set, f->path) == PSFM_OK ? 0 : -1;
}

static int tear_down(void **state) {
    fixture *f = *state;
    free_two_views(f->two_views, &f->set);
    free_two_views(f->back, &f->set);
    psfm_match_set_free(&f->set);
    remove_scratch(f->folder);
    psfm_context_destroy(&f->ctx);
    free(f);
    return 0;
}

/* Reads with key "k" and compares with `expected`; NULL: nothing must be found. */
static void assert_reads(fixture *f, const psfm_two_view *expected) {
    bool found;
    assert_ok(f->ctx, psfm_database_read_two_views(f->ctx, f->path, &f->set, "k", f->back, &found));
    assert_int_equal(found, expected != NULL);
    if (expected != NULL)
        assert_same_two_views(expected, f->back, f->set.num_pairs);
    else
        assert_all_zero(f->back, f->set.num_pairs);
    for (size_t p = 0; p < f->set.num_pairs; ++p)
        psfm_two_view_free(&f->back[p]);
}

static void store(fixture *f, const psfm_two_view *two_views, const char *key) {
    assert_ok(f->ctx, psfm_database_write_two_views(f->ctx, f->path, &f->set, two_views, key));
}

static void a_round_trip_is_exact(void **state) {
    fixture *f = *state;
    psfm_match_set set;
    assert_reads(f, NULL);
    store(f, f->two_views, "k");
    assert_reads(f, f->two_views);
    /* Another set of geometries takes their place; nothing of the old stays. */
    psfm_two_view *other = make_two_views(&f->set, 2);
    for (size_t k = 0; k < f->set.num_pairs; ++k)
        if (k != 2 && k != 5)
            psfm_two_view_free(&other[k]);
    store(f, other, "k");
    assert_reads(f, other);
    free_two_views(other, &f->set);
    /* COLMAP's tables are as they were. */
    assert_ok(f->ctx, psfm_database_read(f->ctx, f->path, &set, NULL));
    assert_same_set(&f->set, &set);
    assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM two_view_geometries"), 0);
    assert_int_equal(count_files(f->folder), 1);
    psfm_match_set_free(&set);
}

static void a_log_is_gone_after_writing(void **state) {
    fixture *f = *state;
    run_sql(f->path, "PRAGMA journal_mode = WAL");
    store(f, f->two_views, "k");
    assert_int_equal(count_files(f->folder), 1);
    assert_reads(f, f->two_views);
    assert_int_equal(count_files(f->folder), 1);
}

static void a_set_without_pairs_can_be_stored(void **state) {
    fixture *f = *state;
    psfm_match_set empty = f->set;
    bool found = false;
    empty.num_pairs = 0;
    assert_ok(f->ctx, psfm_database_write_two_views(f->ctx, f->path, &empty, NULL, "k"));
    assert_ok(f->ctx, psfm_database_read_two_views(f->ctx, f->path, &empty, "k", NULL, &found));
    assert_true(found);
    assert_reads(f, NULL); /* they belong to other pairs */
}

static void finds_nothing_that_belongs_elsewhere(void **state) {
    fixture *f = *state;
    store(f, f->two_views, "another key");
    assert_reads(f, NULL);
    store(f, f->two_views, "k");
    --f->set.pairs[3].num_matches;
    assert_reads(f, NULL);
    ++f->set.pairs[3].num_matches;
    --f->set.num_pairs;
    assert_reads(f, NULL);
    ++f->set.num_pairs;
    f->set.views[4].id += 1;
    assert_reads(f, NULL);
    f->set.views[4].id -= 1;
    assert_reads(f, f->two_views);
    run_sql(f->path, "UPDATE planarsfm_meta SET value = '2' WHERE key = 'schema_version'");
    assert_reads(f, NULL);
    run_sql(f->path, "DELETE FROM planarsfm_meta");
    assert_reads(f, NULL);
}

static void a_failed_store_leaves_the_earlier_one(void **state) {
    fixture *f = *state;
    store(f, f->two_views, "k");
    psfm_two_view *other = make_two_views(&f->set, 2);
    other[8].homographies[1].rms_px = NAN; /* late enough that rows have been written */
    assert_int_equal(psfm_database_write_two_views(f->ctx, f->path, &f->set, other, "k"),
                     PSFM_ERR_ARGUMENT);
    assert_message(f->ctx, "homography 1");
    other[8].homographies[1].rms_px = 0.5;
    other[8].homographies[1].num_motions = 3;
    assert_int_equal(psfm_database_write_two_views(f->ctx, f->path, &f->set, other, "k"),
                     PSFM_ERR_ARGUMENT);
    other[8].homographies[1].num_motions = 1;
    other[8].essential.plane_share = INFINITY;
    assert_int_equal(psfm_database_write_two_views(f->ctx, f->path, &f->set, other, "k"),
                     PSFM_ERR_ARGUMENT);
    free_two_views(other, &f->set);
    assert_reads(f, f->two_views);
    char path[MAX_PATH];
    join(path, f->folder, "none.db");
    assert_int_equal(psfm_database_write_two_views(f->ctx, path, &f->set, f->two_views, "k"),
                     PSFM_ERR_IO);
    assert_false(exists(f->folder, "none.db"));
}

static const char *const damages[] = {
    "UPDATE planarsfm_pairs SET kind = 4",
    "UPDATE planarsfm_homographies SET H = zeroblob(71)",
    "UPDATE planarsfm_homographies SET H = 1.5",
    "UPDATE planarsfm_homographies SET motions = zeroblob(3 * 152)",
    "UPDATE planarsfm_homographies SET motions = zeroblob(151)",
    "UPDATE planarsfm_homographies SET motions = zeroblob(0)",
    "UPDATE planarsfm_homographies SET inliers = zeroblob(5)",
    "UPDATE planarsfm_homographies SET inliers = x'0500000004000000'",
    "UPDATE planarsfm_homographies SET inliers = x'0500000005000000'",
    "UPDATE planarsfm_homographies SET inliers = x'1E000000'",
    "UPDATE planarsfm_homographies SET idx = idx + 5",
    "DELETE FROM planarsfm_homographies WHERE idx = 0",
    "UPDATE planarsfm_homographies SET pair_id = 1 WHERE rowid = 1",
    "UPDATE planarsfm_essential SET R = zeroblob(64)",
    "UPDATE planarsfm_essential SET t = ''",
    "UPDATE planarsfm_essential SET inliers = x'FFFFFFFF'",
    "UPDATE planarsfm_essential SET pair_id = pair_id + 1000000",
    "DROP TABLE planarsfm_homographies",
    "ALTER TABLE planarsfm_essential RENAME COLUMN t TO tt",
};

static void says_that_our_tables_are_damaged(void **state) {
    fixture *f = *state;
    store(f, f->two_views, "k");
    size_t size;
    char *good = get_file(f->folder, "d.db", &size);
    for (size_t k = 0; k < sizeof damages / sizeof damages[0]; ++k) {
        bool found = true;
        put_file(f->folder, "d.db", good, size);
        run_sql(f->path, damages[k]);
        if (psfm_database_read_two_views(f->ctx, f->path, &f->set, "k", f->back, &found) !=
            PSFM_ERR_FORMAT)
            fail_msg("not seen: %s", damages[k]);
        assert_message(f->ctx, f->path);
        assert_false(found);
        assert_all_zero(f->back, f->set.num_pairs);
    }
    free(good);
}

static void survives_every_failing_allocation(void **state) {
    fixture *f = *state;
    psfm_status status = PSFM_ERR_MEMORY;
    bool found = false;
    size_t n = 0;
    while (status != PSFM_OK) {
        psfm_alloc_fail_after(++n);
        status = psfm_database_write_two_views(f->ctx, f->path, &f->set, f->two_views, "k");
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
    }
    for (n = 0, status = PSFM_ERR_MEMORY; status != PSFM_OK;) {
        psfm_alloc_fail_after(++n);
        status = psfm_database_read_two_views(f->ctx, f->path, &f->set, "k", f->back, &found);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        if (status != PSFM_OK)
            assert_all_zero(f->back, f->set.num_pairs);
    }
    assert_true(n > 20 && found);
    assert_same_two_views(f->two_views, f->back, f->set.num_pairs);
    for (n = 0, status = PSFM_ERR_MEMORY; status != PSFM_OK;) {
        psfm_alloc_fail_after(++n);
        status = psfm_database_write_colmap_geometries(f->ctx, f->path, &f->set, f->two_views);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
    }
}

static void *release_later(void *user) {
    struct timespec pause = {0, 300000000};
    nanosleep(&pause, NULL);
    sqlite3_exec(user, "COMMIT", NULL, NULL, NULL);
    return NULL;
}

static void waits_for_another_writer(void **state) {
    fixture *f = *state;
    pthread_t thread;
    sqlite3 *other = open_sql(f->path);
    exec_sql(other, "BEGIN IMMEDIATE; CREATE TABLE mine (a)");
    assert_int_equal(pthread_create(&thread, NULL, release_later, other), 0);
    store(f, f->two_views, "k");
    pthread_join(thread, NULL);
    sqlite3_close(other);
    assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM mine"), 0); /* it is there */
    assert_reads(f, f->two_views);
}

static void geometries_follow_the_kind_of_pair(void **state) {
    fixture *f = *state;
    for (size_t p = 0; p < f->set.num_pairs; ++p)
        f->two_views[p].kind = PSFM_PAIR_OK;
    f->two_views[4].kind = PSFM_PAIR_ROTATION;
    run_sql(f->path, "INSERT INTO two_view_geometries (pair_id, rows, cols, config) VALUES "
                     "(1, 0, 2, 7)");
    assert_ok(f->ctx,
              psfm_database_write_colmap_geometries(f->ctx, f->path, &f->set, f->two_views));
    /* Pairs 0, 4, 8 have a degenerate E, pairs 2, 6 a good one; 0, 3, 6, 9 have no homography. */
    static const int configs[] = {1, 4, 2, 1, 5, 4, 2, 4, 4, 1};
    for (size_t p = 0; p < f->set.num_pairs; ++p) {
        const psfm_view *views = f->set.views;
        const psfm_match_pair *pair = &f->set.pairs[p];
        char query[256];
        snprintf(query, sizeof query,
                 "SELECT config + 10 * (E IS NOT NULL) + 100 * (H IS NOT NULL) + 1000 * (rows > 0) "
                 "+ 10000 * (length(data) = 8 * rows) FROM two_view_geometries WHERE pair_id = "
                 "2147483647 * %u + %u",
                 views[pair->view1].id, views[pair->view2].id);
        int expected = configs[p] + 10 * (configs[p] == 2) + 100 * (p % 3 > 0) +
                       1000 * (configs[p] != 1) + 10000;
        assert_int_equal(ask_sql(f->path, query), expected);
    }
    assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM two_view_geometries"), 10);
}

static void a_missing_table_of_geometries_is_made(void **state) {
    fixture *f = *state;
    run_sql(f->path, "DROP TABLE two_view_geometries");
    assert_ok(f->ctx,
              psfm_database_write_colmap_geometries(f->ctx, f->path, &f->set, f->two_views));
    assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM two_view_geometries"), 10);
    run_sql(f->path, "DROP TABLE two_view_geometries; CREATE VIEW two_view_geometries AS SELECT 1");
    assert_int_equal(psfm_database_write_colmap_geometries(f->ctx, f->path, &f->set, f->two_views),
                     PSFM_ERR_FORMAT);
    assert_message(f->ctx, "two_view_geometries");
    assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM two_view_geometries"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_round_trip_is_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_is_gone_after_writing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_set_without_pairs_can_be_stored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_table_of_geometries_is_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_nothing_that_belongs_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_store_leaves_the_earlier_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_that_our_tables_are_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_every_failing_allocation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waits_for_another_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(geometries_follow_the_kind_of_pair, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("store/colmap_database_two_views", tests, NULL, NULL);
}
