/* COLMAP reads the databases we write, and we read its own. Skipped if `colmap` is missing. */
#include "unit/formats/scene_util.h"

static void need_colmap(void) {
    if (!has_colmap()) {
        print_message("colmap is not installed\n");
        skip();
    }
}

/* What a file's tables, columns and indices are, in order, spelling of the SQL aside. */
static void describe(const char *path, char *text, size_t size) {
    sqlite3 *db = open_sql(path);
    sqlite3_stmt *statement = NULL;
    assert_int_equal(
        sqlite3_prepare_v2(
            db,
            "SELECT m.type || ' ' || m.name || ' ' || m.tbl_name || ' ' || c.cid || ' ' || c.name "
            "||"
            " ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk || ' ' || (m.sql LIKE "
            "'%autoincrement%') || (m.sql LIKE '%cascade%') || (m.sql LIKE '%check%') || "
            "(m.sql LIKE '%foreign key%') FROM sqlite_master AS m JOIN "
            "pragma_table_info(m.tbl_name)"
            " AS c WHERE m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid",
            -1, &statement, NULL),
        SQLITE_OK);
    size_t length = 0;
    while (sqlite3_step(statement) == SQLITE_ROW)
        length += (size_t)snprintf(text + length, size - length, "%s\n",
                                   (const char *)sqlite3_column_text(statement, 0));
    assert_true(length > 1000 && length < size);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void our_tables_are_those_of_colmap(void **state) {
    (void)state;
    need_colmap();
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], theirs[MAX_PATH], ours[MAX_PATH];
    static char theirs_text[16384], ours_text[16384];
    make_scratch(folder);
    join(theirs, folder, "theirs.db");
    join(ours, folder, "ours.db");
    assert_true(run_colmap(folder, "database_creator --database_path theirs.db"));
    if (ask_sql(theirs, "PRAGMA user_version") != 3800) {
        print_message("another version of colmap\n");
        remove_scratch(folder);
        psfm_context_destroy(&ctx);
        skip();
    }
    psfm_match_set set, back;
    make_set(&set, 2, 3);
    assert_ok(ctx, psfm_database_write(ctx, &set, ours));
    describe(theirs, theirs_text, sizeof theirs_text);
    describe(ours, ours_text, sizeof ours_text);
    assert_string_equal(theirs_text, ours_text);
    assert_int_equal(ask_sql(ours, "PRAGMA user_version"), 3800);
    psfm_match_set_free(&set);
    assert_ok(ctx, psfm_database_read(ctx, theirs, &set, NULL)); /* empty, in WAL mode */
    assert_int_equal(set.num_views, 0);
    psfm_match_set_free(&set);
    /* COLMAP opens ours, throws the matches away as told, and leaves the rest alone. */
    assert_true(run_colmap(folder, "database_cleaner --type matches --database_path ours.db"));
    describe(ours, ours_text, sizeof ours_text);
    assert_string_equal(theirs_text, ours_text);
    make_set(&set, 2, 3);
    free(set.pairs[--set.num_pairs].matches);
    assert_ok(ctx, psfm_database_read(ctx, ours, &back, NULL));
    assert_same_set(&set, &back);
    psfm_match_set_free(&back);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void put_pair_list(const char *folder, const psfm_match_set *set) {
    char text[8192];
    size_t length = 0;
    for (size_t p = 0; p < set->num_pairs; ++p)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %s\n",
                                   set->views[set->pairs[p].view1].name,
                                   set->views[set->pairs[p].view2].name);
    put_text(folder, "pairs.txt", text);
}

/* The whole way of a COLMAP user: verify our raw matches, map, and read the model. */
static void colmap_verifies_and_maps_our_matches(void **state) {
    (void)state;
    need_colmap();
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set, back;
    psfm_database_stats stats;
    make_scene(&set, false);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    put_pair_list(folder, &set);
    assert_true(run_colmap(folder, "matches_importer --database_path d.db --match_list_path "
                                   "pairs.txt --SiftMatching.use_gpu 0 --SiftMatching.num_threads "
                                   "1"));
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM two_view_geometries WHERE rows > 110 AND "
                                   "config = 2"),
                     set.num_pairs);
    run_mapper(folder);
    join(path, folder, "out/0");
    psfm_model model;
    assert_ok(ctx, psfm_model_read(ctx, path, &model));
    assert_int_equal(model.num_images, SCENE_VIEWS);
    assert_true(model.num_points > 110);
    assert_below(worst_rotation_deg(&model), 1e-3); /* keypoints are floats */
    psfm_model_free(&model);
    /* Without raw matches the inliers that COLMAP found take their place. */
    join(path, folder, "d.db");
    run_sql(path, "DELETE FROM matches WHERE pair_id % 4 = 0");
    assert_ok(ctx, psfm_database_read(ctx, path, &back, &stats));
    assert_int_equal(back.num_pairs, set.num_pairs);
    assert_true(stats.num_pairs_from_geometries > 0 && stats.num_pairs_from_matches > 0);
    assert_int_equal(stats.num_pairs_from_geometries + stats.num_pairs_from_matches, set.num_pairs);
    psfm_match_set_free(&back);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* The true relative motion of a pair, t in units of 1. */
static void true_motion(const psfm_match_pair *pair, double R_21[9], double t_21[3]) {
    double R1[9], R2[9], c1[3], c2[3], difference[3];
    scene_pose(pair->view1, R1, c1);
    scene_pose(pair->view2, R2, c2);
    psfm_mat3_mul_t(R2, R1, R_21);
    for (int k = 0; k < 3; ++k)
        difference[k] = c1[k] - c2[k];
    psfm_mat3_mul_vec(R2, difference, t_21);
}

static uint32_t *all_inliers(size_t num) {
    uint32_t *inliers = test_alloc(num, sizeof *inliers);
    for (size_t k = 0; k < num; ++k)
        inliers[k] = (uint32_t)k;
    return inliers;
}

static void make_essential(const psfm_match_pair *pair, psfm_two_view *two_view) {
    psfm_essential *essential = &two_view->essential;
    essential->found = true;
    true_motion(pair, essential->R_21, essential->t_21);
    double norm = psfm_norm3(essential->t_21);
    for (int k = 0; k < 3; ++k)
        essential->t_21[k] /= norm;
    essential->inliers = all_inliers(pair->num_matches);
    essential->num_inliers = pair->num_matches;
}

/* Of the flat scene's plane, 0.2 x - 0.3 y + z = 0. */
static void make_homography(const psfm_match_pair *pair, psfm_two_view *two_view) {
    const double plane[3] = {0.2, -0.3, 1.0};
    double R1[9], c1[3], R_21[9], t_21[3], n[3];
    scene_pose(pair->view1, R1, c1);
    true_motion(pair, R_21, t_21);
    psfm_mat3_mul_vec(R1, plane, n);
    double d = -psfm_dot3(plane, c1); /* n . X1 = d */
    psfm_homography *homography = test_alloc(1, sizeof *homography);
    for (int k = 0; k < 9; ++k)
        homography->H_21[k] = R_21[k] + t_21[k / 3] * n[k % 3] / d;
    homography->inliers = all_inliers(pair->num_matches);
    homography->num_inliers = pair->num_matches;
    homography->num_motions = 1;
    two_view->homographies = homography;
    two_view->num_homographies = 1;
}

/* A 3 x 3 matrix of a pair, scaled to norm 1. False if it is NULL. */
static bool get_matrix(const char *path, const char *column, const psfm_match_set *set,
                       const psfm_match_pair *pair, double M[9]) {
    char query[128];
    snprintf(query, sizeof query,
             "SELECT %s FROM two_view_geometries WHERE pair_id = 2147483647 * %u + %u", column,
             set->views[pair->view1].id, set->views[pair->view2].id);
    sqlite3 *db = open_sql(path);
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    bool found = sqlite3_column_bytes(statement, 0) == 72;
    double norm = 0.0;
    for (int k = 0; found && k < 9; ++k) {
        memcpy(&M[k], (const char *)sqlite3_column_blob(statement, 0) + 8 * k, 8);
        norm += M[k] * M[k];
    }
    for (int k = 0; found && k < 9; ++k)
        M[k] /= sqrt(norm);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return found;
}

/* |A - B| or |A + B|, whichever is less: the sign of such matrices means nothing. */
static double distance(const double A[9], const double B[9]) {
    double minus = 0.0, plus = 0.0;
    for (int k = 0; k < 9; ++k) {
        minus += (A[k] - B[k]) * (A[k] - B[k]);
        plus += (A[k] + B[k]) * (A[k] + B[k]);
    }
    return sqrt(fmin(minus, plus));
}

/* Our E, F and H are those that COLMAP itself finds on the same matches. */
static void our_geometries_are_those_of_colmap(void **state) {
    (void)state;
    need_colmap();
    psfm_context *ctx = psfm_context_create();
    for (int flat = 0; flat < 2; ++flat) {
        char folder[MAX_PATH], ours[MAX_PATH], theirs[MAX_PATH];
        make_scratch(folder);
        join(ours, folder, "ours.db");
        join(theirs, folder, "theirs.db");
        psfm_match_set set;
        make_scene(&set, flat == 1);
        psfm_two_view *two_views = test_alloc(set.num_pairs, sizeof *two_views);
        for (size_t p = 0; p < set.num_pairs; ++p)
            (flat == 1 ? make_homography : make_essential)(&set.pairs[p], &two_views[p]);
        assert_ok(ctx, psfm_database_write(ctx, &set, ours));
        assert_ok(ctx, psfm_database_write(ctx, &set, theirs));
        assert_ok(ctx, psfm_database_write_colmap_geometries(ctx, ours, &set, two_views));
        put_pair_list(folder, &set);
        assert_true(run_colmap(folder, "matches_importer --database_path theirs.db "
                                       "--match_list_path pairs.txt --SiftMatching.use_gpu 0 "
                                       "--SiftMatching.num_threads 1"));
        for (size_t p = 0; p < set.num_pairs; ++p) {
            double A[9], B[9];
            if (set.pairs[p].view1 % 2 != 0 || set.pairs[p].view2 % 2 != 0)
                continue; /* COLMAP fits F and H to pixels even where a camera distorts them */
            if (flat == 1) {
                assert_true(get_matrix(ours, "H", &set, &set.pairs[p], A));
                assert_true(get_matrix(theirs, "H", &set, &set.pairs[p], B));
                assert_below(distance(A, B), 1e-6);
                continue;
            }
            assert_true(get_matrix(ours, "E", &set, &set.pairs[p], A));
            assert_true(get_matrix(theirs, "E", &set, &set.pairs[p], B));
            assert_below(distance(A, B), 1e-5);
            assert_true(get_matrix(ours, "F", &set, &set.pairs[p], A));
            assert_true(get_matrix(theirs, "F", &set, &set.pairs[p], B));
            assert_below(distance(A, B), 1e-5);
        }
        for (size_t p = 0; p < set.num_pairs; ++p)
            psfm_two_view_free(&two_views[p]);
        free(two_views);
        psfm_match_set_free(&set);
        remove_scratch(folder);
    }
    psfm_context_destroy(&ctx);
}

static void turn_pairs(psfm_match_set *set) {
    for (size_t p = 0; p < set->num_pairs; ++p) {
        psfm_match_pair *pair = &set->pairs[p];
        uint32_t view = pair->view1;
        pair->view1 = pair->view2;
        pair->view2 = view;
        for (size_t k = 0; k < pair->num_matches; ++k) {
            uint32_t index = pair->matches[k][0];
            pair->matches[k][0] = pair->matches[k][1];
            pair->matches[k][1] = index;
        }
    }
}

static void write_scene(psfm_context *ctx, const char *path, bool flat, bool is_turned) {
    psfm_match_set set;
    make_scene(&set, flat);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    if (is_turned)
        turn_pairs(&set);
    psfm_two_view *two_views = test_alloc(set.num_pairs, sizeof *two_views);
    for (size_t p = 0; p < set.num_pairs; ++p)
        (flat ? make_homography : make_essential)(&set.pairs[p], &two_views[p]);
    assert_ok(ctx, psfm_database_write_colmap_geometries(ctx, path, &set, two_views));
    for (size_t p = 0; p < set.num_pairs; ++p)
        psfm_two_view_free(&two_views[p]);
    free(two_views);
    psfm_match_set_free(&set);
}

/* Which image of a pair is the set's first makes no difference to what is written. */
static void turned_pairs_give_the_same_geometries(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int flat = 0; flat < 2; ++flat) {
        char folder[MAX_PATH], path[2][MAX_PATH], query[3 * MAX_PATH];
        make_scratch(folder);
        join(path[0], folder, "a.db");
        join(path[1], folder, "b.db");
        for (int turned = 0; turned < 2; ++turned)
            write_scene(ctx, path[turned], flat == 1, turned == 1);
        psfm_match_set set;
        make_scene(&set, flat == 1);
        const char *names[] = {flat == 1 ? "H" : "E", flat == 1 ? "H" : "F"};
        for (size_t p = 0; p < set.num_pairs; ++p)
            for (int k = 0; k < 2; ++k) {
                double A[9], B[9];
                assert_true(get_matrix(path[0], names[k], &set, &set.pairs[p], A));
                assert_true(get_matrix(path[1], names[k], &set, &set.pairs[p], B));
                assert_below(distance(A, B), 1e-12);
            }
        snprintf(query, sizeof query,
                 "ATTACH '%s' AS b; CREATE TABLE differ AS SELECT 1 FROM main.two_view_geometries "
                 "x JOIN b.two_view_geometries y USING (pair_id) WHERE x.data <> y.data OR "
                 "x.rows <> y.rows OR x.config <> y.config",
                 path[1]);
        run_sql(path[0], query);
        assert_int_equal(ask_sql(path[0], "SELECT count(*) FROM differ"), 0);
        psfm_match_set_free(&set);
        remove_scratch(folder);
    }
    psfm_context_destroy(&ctx);
}

/* COLMAP's mapper enters with our verification, and does not mind our own tables. */
static void colmap_maps_from_our_geometries(void **state) {
    (void)state;
    need_colmap();
    psfm_context *ctx = psfm_context_create();
    for (int flat = 0; flat < 2; ++flat) {
        char folder[MAX_PATH], path[MAX_PATH];
        make_scratch(folder);
        join(path, folder, "d.db");
        psfm_match_set set;
        make_scene(&set, flat == 1);
        psfm_two_view *two_views = test_alloc(set.num_pairs, sizeof *two_views);
        for (size_t p = 0; p < set.num_pairs; ++p)
            (flat == 1 ? make_homography : make_essential)(&set.pairs[p], &two_views[p]);
        assert_ok(ctx, psfm_database_write(ctx, &set, path));
        assert_ok(ctx, psfm_database_write_two_views(ctx, path, &set, two_views, "k"));
        assert_ok(ctx, psfm_database_write_colmap_geometries(ctx, path, &set, two_views));
        run_mapper(folder);
        join(path, folder, "out/0");
        psfm_model model;
        assert_ok(ctx, psfm_model_read(ctx, path, &model));
        assert_int_equal(model.num_images, SCENE_VIEWS);
        assert_below(worst_rotation_deg(&model), 1e-3);
        psfm_model_free(&model);
        join(path, folder, "d.db");
        assert_int_equal(ask_sql(path, "SELECT count(*) FROM planarsfm_pairs"), set.num_pairs);
        for (size_t p = 0; p < set.num_pairs; ++p)
            psfm_two_view_free(&two_views[p]);
        free(two_views);
        psfm_match_set_free(&set);
        remove_scratch(folder);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_tables_are_those_of_colmap),
        cmocka_unit_test(colmap_verifies_and_maps_our_matches),
        cmocka_unit_test(our_geometries_are_those_of_colmap),
        cmocka_unit_test(turned_pairs_give_the_same_geometries),
        cmocka_unit_test(colmap_maps_from_our_geometries),
    };
    return cmocka_run_group_tests_name("formats/colmap_database_interop", tests, NULL, NULL);
}
