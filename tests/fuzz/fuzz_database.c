/* Databases. An input that begins with 'S' is a whole SQLite file. Any other is a recipe: a good
 * database, and our own tables in it, whose rows are filled with the input's numbers and bytes,
 * which reaches our checks faster than damage to the file does. What is accepted must pass the
 * check of match sets, and have inliers that are matches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/colmap_database_internal.h"

typedef struct {
    const uint8_t *at, *end;
} source;

static uint8_t take_byte(source *from) {
    return from->at < from->end ? *from->at++ : 0;
}

/* A few numbers that matter, and any others. */
static int64_t take_number(source *from) {
    static const int64_t special[] = {-1, INT64_MAX, INT64_MIN, 2147483646, 2147483647, 4294967295};
    uint8_t kind = take_byte(from);
    if (kind < 200)
        return kind % 16;
    if (kind < 230)
        return special[kind % 6];
    int64_t value = 0;
    for (int k = 0; k < 4; ++k)
        value = value << 8 | take_byte(from);
    return value;
}

static int64_t take_pair_id(source *from) {
    int64_t id1 = take_byte(from) % 8, id2 = take_byte(from) % 8;
    return take_byte(from) == 255 ? take_number(from) : PSFM_PAIR_ID_BASE * id1 + id2;
}

static void bind_number(sqlite3_stmt *statement, int parameter, source *from) {
    uint8_t kind = take_byte(from);
    if (kind == 250)
        sqlite3_bind_null(statement, parameter);
    else if (kind == 251)
        sqlite3_bind_text(statement, parameter, "7x", -1, SQLITE_STATIC);
    else
        sqlite3_bind_int64(statement, parameter, take_number(from));
}

static void bind_bytes(sqlite3_stmt *statement, int parameter, source *from) {
    size_t size = take_byte(from), left = (size_t)(from->end - from->at);
    if (size > left)
        size = left;
    if (size == 0)
        sqlite3_bind_null(statement, parameter);
    else
        sqlite3_bind_blob(statement, parameter, from->at, (int)size, SQLITE_TRANSIENT);
    from->at += size;
}

static void run(sqlite3_stmt *statement) {
    sqlite3_step(statement); /* a constraint may refuse the row */
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        abort();
    return statement;
}

/* Rows of id, rows, cols, data. Half of the time the numbers fit the data. */
static void fill_matrices(sqlite3 *db, const char *text, bool is_pair, int cols, source *from) {
    sqlite3_stmt *statement = prepare(db, text);
    for (int num = take_byte(from) % 8; num > 0; --num) {
        sqlite3_bind_int64(statement, 1, is_pair ? take_pair_id(from) : take_number(from));
        if (take_byte(from) % 2 == 0) {
            bind_number(statement, 2, from);
            bind_number(statement, 3, from);
            bind_bytes(statement, 4, from);
        } else {
            int64_t rows = take_byte(from) % 8;
            unsigned char data[8 * 6 * 4];
            for (size_t k = 0; k < sizeof data; ++k)
                data[k] = k % 4 == 0 ? take_byte(from) % 16 : 0;
            sqlite3_bind_int64(statement, 2, rows);
            sqlite3_bind_int(statement, 3, cols);
            sqlite3_bind_blob(statement, 4, data, (int)rows * cols * 4, SQLITE_TRANSIENT);
        }
        run(statement);
    }
    sqlite3_finalize(statement);
}

static void fill_cameras(sqlite3 *db, source *from) {
    static const double good[4] = {500, 500, 320, 240};
    sqlite3_stmt *statement = prepare(db, "INSERT INTO cameras VALUES (?1, ?2, ?3, ?4, ?5, 0)");
    for (int num = take_byte(from) % 4; num > 0; --num) {
        sqlite3_bind_int64(statement, 1, take_number(from));
        if (take_byte(from) % 4 == 0) {
            for (int k = 2; k < 5; ++k)
                bind_number(statement, k, from);
            bind_bytes(statement, 5, from);
        } else {
            sqlite3_bind_int(statement, 2, 1);
            sqlite3_bind_int(statement, 3, 640);
            sqlite3_bind_int(statement, 4, 480);
            sqlite3_bind_blob(statement, 5, good, sizeof good, SQLITE_STATIC);
        }
        run(statement);
    }
    sqlite3_finalize(statement);
}

static void fill_images(sqlite3 *db, source *from) {
    sqlite3_stmt *statement =
        prepare(db, "INSERT INTO images (image_id, name, camera_id) VALUES (?1, ?2, ?3)");
    for (int num = take_byte(from) % 8; num > 0; --num) {
        char name[3] = {'a', (char)take_byte(from), '\0'};
        sqlite3_bind_int64(statement, 1, take_number(from));
        sqlite3_bind_text(statement, 2, name, take_byte(from) % 3, SQLITE_TRANSIENT);
        bind_number(statement, 3, from);
        run(statement);
    }
    sqlite3_finalize(statement);
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
    sqlite3_stmt *statement = prepare(db, "INSERT INTO planarsfm_pairs VALUES (?1, ?2, ?3)");
    for (size_t p = 0; p < set->num_pairs; ++p) {
        int64_t num_matches = (int64_t)set->pairs[p].num_matches;
        sqlite3_bind_int64(statement, 1, psfm_database_pair_id(set, &set->pairs[p]));
        sqlite3_bind_int(statement, 2, take_byte(from) % 5);
        sqlite3_bind_int64(statement, 3, num_matches + (take_byte(from) == 255));
        run(statement);
    }
    sqlite3_finalize(statement);
}

static void fill_two_views(sqlite3 *db, const psfm_match_set *set, source *from) {
    sqlite3_stmt *homography =
        prepare(db, "INSERT INTO planarsfm_homographies VALUES (?1, ?2, ?3, ?4, 0.5, 0, ?5)");
    sqlite3_stmt *essential =
        prepare(db, "INSERT INTO planarsfm_essential VALUES (?1, ?2, ?3, ?4, 0.5, 0)");
    for (int num = take_byte(from) % 8; num > 0 && set->num_pairs > 0; --num) {
        int64_t pair_id = psfm_database_pair_id(set, &set->pairs[take_byte(from) % set->num_pairs]);
        sqlite3_bind_int64(homography, 1, pair_id);
        sqlite3_bind_int(homography, 2, take_byte(from) % 3);
        bind_fitting(homography, 3, 72, from);
        bind_inliers(homography, 4, from);
        bind_fitting(homography, 5, take_byte(from) % 2 == 0 ? 152 : 304, from);
        run(homography);
        sqlite3_bind_int64(essential, 1, pair_id + (take_byte(from) == 255));
        bind_fitting(essential, 2, 72, from);
        bind_fitting(essential, 3, 24, from);
        bind_inliers(essential, 4, from);
        run(essential);
    }
    sqlite3_finalize(homography);
    sqlite3_finalize(essential);
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

static void load_file(sqlite3 *db, const void *data, size_t size, unsigned flags) {
    unsigned char *copy = sqlite3_malloc64(size);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | flags) != SQLITE_OK)
        abort();
}

/* A database with all tables, empty. Copying it is quicker than making it each time. */
static void load_tables(sqlite3 *db) {
    static unsigned char *file;
    static sqlite3_int64 size;
    psfm_sql sql = {.path = "tables"};
    if (file == NULL) {
        if (sqlite3_open(":memory:", &sql.db) != SQLITE_OK ||
            psfm_database_create_tables(&sql) != PSFM_OK ||
            psfm_database_create_two_view_tables(&sql, "key") != PSFM_OK)
            abort();
        file = sqlite3_serialize(sql.db, "main", &size, 0);
        psfm_sql_close(&sql);
    }
    load_file(db, file, (size_t)size, SQLITE_DESERIALIZE_RESIZEABLE);
}

static void cook(sqlite3 *db, source *from) {
    load_tables(db);
    fill_cameras(db, from);
    fill_images(db, from);
    int cols = 2 + take_byte(from) % 3 * 2;
    fill_matrices(db, "INSERT INTO keypoints VALUES (?1, ?2, ?3, ?4)", false, cols, from);
    fill_matrices(db, "INSERT INTO matches VALUES (?1, ?2, ?3, ?4)", true, 2, from);
    fill_matrices(db,
                  "INSERT INTO two_view_geometries (pair_id, rows, cols, data, config) VALUES (?1, "
                  "?2, ?3, ?4, 2)",
                  true, 2, from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    if (ctx == NULL) {
        ctx = psfm_context_create();
        psfm_context_set_threads(ctx, 1);
    }
    psfm_sql sql = {.ctx = ctx, .path = "fuzz.db"};
    psfm_match_set set = {0};
    psfm_database_stats stats = {0};
    if (sqlite3_open(":memory:", &sql.db) != SQLITE_OK)
        abort();
    source from = {data, data + size};
    bool is_file = size > 0 && data[0] == 'S';
    if (is_file)
        load_file(sql.db, data, size, SQLITE_DESERIALIZE_READONLY);
    else
        cook(sql.db, &from);
    psfm_status status = psfm_sql_distrust(&sql, is_file ? (int64_t)size : 1 << 20);
    if (status == PSFM_OK)
        status = psfm_database_read_tables(&sql, &set, &stats);
    if (status == PSFM_OK && (psfm_match_set_check(ctx, &set) != PSFM_OK ||
                              psfm_match_set_compute_rays(ctx, &set, NULL) != PSFM_OK))
        abort();
    if (status == PSFM_OK && !is_file) {
        fill_kinds(sql.db, &set, &from);
        fill_two_views(sql.db, &set, &from);
    }
    if (status == PSFM_OK)
        try_two_views(&sql, &set);
    psfm_match_set_free(&set);
    psfm_sql_close(&sql);
    return 0;
}
