/* Databases. An input that begins with 'S' is a whole SQLite file. Any other is a recipe: a good
 * database, and our own tables in it, whose rows are filled with the input's numbers and bytes,
 * which reaches our checks faster than damage to the file does. What is accepted must pass the
 * check of match sets, and have inliers that are matches. Files are mutated as databases, by SQL,
 * and byte by byte. */
#include "fuzz_sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    return mutate_database(data, size, max_size, seed);
}

/* A blob of the right size or, now and then, any other. */
static void bind_fitting(sqlite3_stmt *statement, int parameter, size_t size, source *from) {
    unsigned char bytes[304];
    if (take_byte(from) % 8 == 0) {
        bind_bytes(statement, parameter, from);
        return;
    }
    for (size_t k = 0; k < size; ++k)
        bytes[k] = take_byte(from);
    sqlite3_bind_blob(statement, parameter, bytes, (int)size, SQLITE_TRANSIENT);
}

static void bind_inliers(sqlite3_stmt *statement, int parameter, source *from) {
    unsigned char bytes[16] = {0};
    int num = take_byte(from) % 5;
    for (int k = 0; k < num; ++k)
        bytes[4 * k] = take_byte(from) % 8;
    sqlite3_bind_blob(statement, parameter, bytes, 4 * num, SQLITE_TRANSIENT);
}

/* The row of planarsfm_pairs that a pair needs, mostly as it should be. */
static void fill_kinds(sqlite3 *db, const psfm_match_set *set, source *from) {
    static sqlite3_stmt *kept;
    sqlite3_stmt *statement =
        keep_statement(db, "INSERT INTO planarsfm_pairs VALUES (?1, ?2, ?3)", &kept);
    for (size_t p = 0; p < set->num_pairs; ++p) {
        int64_t num_matches = (int64_t)set->pairs[p].num_matches;
        sqlite3_bind_int64(statement, 1, psfm_database_pair_id(set, &set->pairs[p]));
        sqlite3_bind_int(statement, 2, take_byte(from) % 5);
        sqlite3_bind_int64(statement, 3, num_matches + (take_byte(from) == 255));
        run_statement(statement);
    }
}

static void fill_two_views(sqlite3 *db, const psfm_match_set *set, source *from) {
    static sqlite3_stmt *kept[2];
    sqlite3_stmt *homography = keep_statement(
        db, "INSERT INTO planarsfm_homographies VALUES (?1, ?2, ?3, ?4, 0.5, 0, ?5)", &kept[0]);
    sqlite3_stmt *essential = keep_statement(
        db, "INSERT INTO planarsfm_essential VALUES (?1, ?2, ?3, ?4, 0.5, 0)", &kept[1]);
    for (int num = take_byte(from) % 8; num > 0 && set->num_pairs > 0; --num) {
        int64_t pair_id = psfm_database_pair_id(set, &set->pairs[take_byte(from) % set->num_pairs]);
        sqlite3_bind_int64(homography, 1, pair_id);
        sqlite3_bind_int(homography, 2, take_byte(from) % 3);
        bind_fitting(homography, 3, 72, from);
        bind_inliers(homography, 4, from);
        bind_fitting(homography, 5, take_byte(from) % 2 == 0 ? 152 : 304, from);
        run_statement(homography);
        sqlite3_bind_int64(essential, 1, pair_id + (take_byte(from) == 255));
        bind_fitting(essential, 2, 72, from);
        bind_fitting(essential, 3, 24, from);
        bind_inliers(essential, 4, from);
        run_statement(essential);
    }
}

static void check_inliers(const uint32_t *inliers, size_t num, size_t num_matches) {
    for (size_t k = 0; k < num; ++k)
        if (inliers[k] >= num_matches || (k > 0 && inliers[k] <= inliers[k - 1]))
            abort();
}

static void try_two_views(psfm_sql *sql, const psfm_match_set *set) {
    bool found = false;
    psfm_two_view *two_views = calloc(set->num_pairs + 1, sizeof *two_views);
    if (two_views == NULL)
        abort();
    psfm_status status = psfm_database_read_two_view_tables(sql, set, "key", two_views, &found);
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_two_view *two_view = &two_views[p];
        size_t num_matches = set->pairs[p].num_matches;
        for (size_t k = 0; status == PSFM_OK && k < two_view->num_homographies; ++k)
            check_inliers(two_view->homographies[k].inliers, two_view->homographies[k].num_inliers,
                          num_matches);
        if (status == PSFM_OK)
            check_inliers(two_view->essential.inliers, two_view->essential.num_inliers,
                          num_matches);
        psfm_two_view_free(&two_views[p]);
    }
    free(two_views);
}

/* The one database of recipes, with all tables, empty. */
static sqlite3 *recipe_database(psfm_context *ctx) {
    static psfm_sql sql = {.path = "tables"};
    if (sql.db == NULL) {
        sql.ctx = ctx;
        sql.db = open_in_memory();
        if (psfm_database_create_tables(&sql) != PSFM_OK ||
            psfm_database_create_two_view_tables(&sql, "key") != PSFM_OK ||
            psfm_sql_distrust(&sql, 1 << 20) != PSFM_OK)
            abort();
    }
    if (sqlite3_exec(sql.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    return sql.db;
}

static void cook(sqlite3 *db, source *from) {
    static sqlite3_stmt *kept[3];
    fill_cameras(db, from);
    fill_images(db, from);
    int cols = 2 + take_byte(from) % 3 * 2;
    fill_matrices(keep_statement(db, "INSERT INTO keypoints VALUES (?1, ?2, ?3, ?4)", &kept[0]),
                  false, cols, 4, from);
    fill_matrices(keep_statement(db, "INSERT INTO matches VALUES (?1, ?2, ?3, ?4)", &kept[1]), true,
                  2, 4, from);
    fill_matrices(keep_statement(db,
                                 "INSERT INTO two_view_geometries (pair_id, rows, cols, data, "
                                 "config) VALUES (?1, ?2, ?3, ?4, 2)",
                                 &kept[2]),
                  true, 2, 4, from);
}

static void try_database(psfm_sql *sql, bool is_recipe, source *from) {
    psfm_match_set set = {0};
    psfm_database_stats stats = {0};
    psfm_status status = psfm_database_read_tables(sql, &set, &stats);
    if (status == PSFM_OK && (psfm_match_set_check(sql->ctx, &set) != PSFM_OK ||
                              psfm_match_set_compute_rays(sql->ctx, &set, NULL) != PSFM_OK))
        abort();
    if (status == PSFM_OK && is_recipe) {
        fill_kinds(sql->db, &set, from);
        fill_two_views(sql->db, &set, from);
    }
    if (status == PSFM_OK)
        try_two_views(sql, &set);
    psfm_match_set_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    if (ctx == NULL) {
        ctx = psfm_context_create();
        psfm_context_set_threads(ctx, 1);
    }
    psfm_sql sql = {.ctx = ctx, .path = "fuzz.db"};
    source from = {data, data + size};
    if (size > 0 && data[0] == 'S') {
        sql.db = open_in_memory();
        load_file(sql.db, data, size, SQLITE_DESERIALIZE_READONLY);
        if (psfm_sql_distrust(&sql, (int64_t)size) == PSFM_OK)
            try_database(&sql, false, &from);
        psfm_sql_close(&sql);
    } else {
        sql.db = recipe_database(ctx);
        cook(sql.db, &from);
        try_database(&sql, true, &from);
        sqlite3_exec(sql.db, "ROLLBACK", NULL, NULL, NULL);
    }
    return 0;
}
