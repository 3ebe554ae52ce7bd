/* COLMAP reads the databases we write, and we read its own. Skipped if `colmap` is missing. */
#include "scene_util.h"

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
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM two_view_geometries WHERE rows > 140 AND "
                                   "config = 2"),
                     set.num_pairs);
    run_mapper(folder);
    join(path, folder, "out/0");
    psfm_model model;
    assert_ok(ctx, psfm_model_read(ctx, path, &model));
    assert_int_equal(model.num_images, SCENE_VIEWS);
    assert_true(model.num_points > 140);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_tables_are_those_of_colmap),
        cmocka_unit_test(colmap_verifies_and_maps_our_matches),
    };
    return cmocka_run_group_tests_name("io/colmap_database_interop", tests, NULL, NULL);
}
