/* Writing a new database with the tables of COLMAP 3.8, which newer versions read, too (they add
 * their own columns and tables when they open it). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "formats/little_endian.h"
#include "store/colmap_database_internal.h"

static const char schema[] =
    "CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
    " model INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB,"
    " prior_focal_length INTEGER NOT NULL);"
    "CREATE TABLE images (image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
    " name TEXT NOT NULL UNIQUE, camera_id INTEGER NOT NULL,"
    " prior_qw REAL, prior_qx REAL, prior_qy REAL, prior_qz REAL,"
    " prior_tx REAL, prior_ty REAL, prior_tz REAL,"
    " CONSTRAINT image_id_check CHECK(image_id >= 0 AND image_id < 2147483647),"
    " FOREIGN KEY(camera_id) REFERENCES cameras(camera_id));"
    "CREATE UNIQUE INDEX index_name ON images(name);"
    "CREATE TABLE keypoints (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL,"
    " cols INTEGER NOT NULL, data BLOB,"
    " FOREIGN KEY(image_id) REFERENCES images(image_id) ON DELETE CASCADE);"
    "CREATE TABLE descriptors (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL,"
    " cols INTEGER NOT NULL, data BLOB,"
    " FOREIGN KEY(image_id) REFERENCES images(image_id) ON DELETE CASCADE);"
    "CREATE TABLE matches (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL,"
    " cols INTEGER NOT NULL, data BLOB);"
    "PRAGMA user_version = 3800;";

psfm_status psfm_database_create_tables(psfm_sql *sql) {
    sql->doing = "cannot create the tables";
    psfm_status status = psfm_sql_exec(sql, schema);
    return status == PSFM_OK ? psfm_database_need_geometries(sql) : status;
}

psfm_status psfm_database_need_geometries(psfm_sql *sql) {
    return psfm_sql_exec(
        sql, "CREATE TABLE IF NOT EXISTS two_view_geometries (pair_id INTEGER PRIMARY KEY NOT NULL,"
             " rows INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB, config INTEGER NOT NULL,"
             " F BLOB, E BLOB, H BLOB, qvec BLOB, tvec BLOB)");
}

static psfm_status write_cameras(psfm_sql *sql, const psfm_match_set *set) {
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(
        sql, "INSERT INTO cameras VALUES (?1, ?2, ?3, ?4, ?5, ?6)", NULL, 0, &statement);
    for (size_t i = 0; status == PSFM_OK && i < set->num_cameras; ++i) {
        const psfm_camera *camera = &set->cameras[i];
        unsigned char params[8 * PSFM_CAMERA_MAX_PARAMS];
        size_t num = (size_t)psfm_camera_num_params(camera->model);
        for (size_t k = 0; k < num; ++k)
            psfm_put_f64(camera->params[k], params + 8 * k);
        const psfm_sql_value values[] = {psfm_sql_int(camera->id),
                                         psfm_sql_int(camera->model),
                                         psfm_sql_int((int64_t)camera->width),
                                         psfm_sql_int((int64_t)camera->height),
                                         psfm_sql_blob(params, 8 * num),
                                         psfm_sql_int(camera->has_prior_focal_length)};
        status = psfm_sql_run(sql, statement, values, 6);
    }
    sqlite3_finalize(statement);
    return status;
}

static psfm_status write_images(psfm_sql *sql, const psfm_match_set *set) {
    sqlite3_stmt *statement;
    psfm_status status =
        psfm_sql_prepare(sql, "INSERT INTO images (image_id, name, camera_id) VALUES (?1, ?2, ?3)",
                         NULL, 0, &statement);
    for (size_t i = 0; status == PSFM_OK && i < set->num_views; ++i) {
        const psfm_view *view = &set->views[i];
        const psfm_sql_value values[] = {psfm_sql_int(view->id), psfm_sql_text(view->name),
                                         psfm_sql_int(set->cameras[view->camera_idx].id)};
        status = psfm_sql_run(sql, statement, values, 3);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Inserts a row of id, rows, 2 columns and 4-byte numbers. */
static psfm_status write_matrix(psfm_sql *sql, sqlite3_stmt *statement, int64_t id, size_t rows,
                                const unsigned char *bytes) {
    const psfm_sql_value values[] = {psfm_sql_int(id), psfm_sql_int((int64_t)rows),
                                     psfm_sql_blob(bytes, 8 * rows)};
    return psfm_sql_run(sql, statement, values, 3);
}

static psfm_status write_keypoints(psfm_sql *sql, const psfm_match_set *set) {
    sqlite3_stmt *statement;
    unsigned char *bytes = NULL;
    size_t capacity = 0;
    psfm_status status =
        psfm_sql_prepare(sql, "INSERT INTO keypoints VALUES (?1, ?2, 2, ?3)", NULL, 0, &statement);
    for (size_t i = 0; status == PSFM_OK && i < set->num_views; ++i) {
        const psfm_view *view = &set->views[i];
        status = psfm_reserve(sql->ctx, &bytes, &capacity, view->num_keypoints, 8);
        for (size_t k = 0; status == PSFM_OK && k < view->num_keypoints; ++k) {
            psfm_put_f32((float)view->keypoints[k][0], bytes + 8 * k);
            psfm_put_f32((float)view->keypoints[k][1], bytes + 8 * k + 4);
        }
        if (status == PSFM_OK)
            status = write_matrix(sql, statement, view->id, view->num_keypoints, bytes);
    }
    sqlite3_finalize(statement);
    free(bytes);
    return status;
}

static psfm_status write_matches(psfm_sql *sql, const psfm_match_set *set) {
    sqlite3_stmt *statement;
    unsigned char *bytes = NULL;
    size_t capacity = 0;
    psfm_status status =
        psfm_sql_prepare(sql, "INSERT INTO matches VALUES (?1, ?2, 2, ?3)", NULL, 0, &statement);
    for (size_t i = 0; status == PSFM_OK && i < set->num_pairs; ++i) {
        const psfm_match_pair *pair = &set->pairs[i];
        status = psfm_reserve(sql->ctx, &bytes, &capacity, pair->num_matches, 8);
        bool turned = set->views[pair->view1].id > set->views[pair->view2].id;
        for (size_t k = 0; status == PSFM_OK && k < pair->num_matches; ++k) {
            psfm_put_u32(pair->matches[k][turned ? 1 : 0], bytes + 8 * k);
            psfm_put_u32(pair->matches[k][turned ? 0 : 1], bytes + 8 * k + 4);
        }
        if (status == PSFM_OK)
            status = write_matrix(sql, statement, psfm_database_pair_id(set, pair),
                                  pair->num_matches, bytes);
    }
    sqlite3_finalize(statement);
    free(bytes);
    return status;
}

static psfm_status fill_database(psfm_context *ctx, const psfm_match_set *set, const char *tmp_path,
                                 const char *path) {
    psfm_sql sql;
    psfm_status status = psfm_sql_create(ctx, tmp_path, &sql);
    sql.path = path; /* the name the caller knows */
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "BEGIN");
    if (status == PSFM_OK)
        status = psfm_database_create_tables(&sql);
    sql.doing = "cannot be written";
    if (status == PSFM_OK)
        status = write_cameras(&sql, set);
    if (status == PSFM_OK)
        status = write_images(&sql, set);
    if (status == PSFM_OK)
        status = write_keypoints(&sql, set);
    if (status == PSFM_OK)
        status = write_matches(&sql, set);
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "COMMIT");
    psfm_sql_close(&sql);
    return status;
}

static psfm_status sync_file(psfm_context *ctx, const char *path) {
    int file = open(path, O_RDWR);
    bool good = file >= 0 && fsync(file) == 0;
    psfm_status status = PSFM_OK;
    if (!good)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: write failed: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return status;
}

/* Removes what belongs to the database of this name: its journals, which SQLite would otherwise
 * replay into the new one. */
static void remove_journals(const char *path, char *scratch, size_t size) {
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; ++k) {
        snprintf(scratch, size, "%s%s", path, ends[k]);
        unlink(scratch);
    }
}

static psfm_status check_set(psfm_context *ctx, const psfm_match_set *set) {
    psfm_status status = psfm_match_set_check(ctx, set);
    for (size_t k = 0; status == PSFM_OK && k < set->num_views; ++k)
        if (set->views[k].id >= PSFM_PAIR_ID_BASE || set->views[k].name[0] == '\0')
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                          "image %" PRIu32 " (%.200s): a database wants a name and an id below "
                          "2147483647",
                          set->views[k].id, set->views[k].name);
    return status;
}

psfm_status psfm_database_write(psfm_context *ctx, const psfm_match_set *set, const char *path) {
    char *target = NULL, *tmp_path = NULL, *scratch = NULL;
    size_t size = 0;
    psfm_status status = check_set(ctx, set);
    if (status == PSFM_OK)
        status = psfm_output_temporary(ctx, path, &target, &tmp_path);
    if (status == PSFM_OK) {
        size = strlen(target) + 16;
        status = PSFM_ALLOC(ctx, size, &scratch);
    }
    if (status == PSFM_OK)
        status = fill_database(ctx, set, tmp_path, path);
    if (status == PSFM_OK)
        status = sync_file(ctx, tmp_path);
    if (status == PSFM_OK) {
        remove_journals(target, scratch, size);
        if (rename(tmp_path, target) != 0)
            status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot rename into place: %s", path,
                               strerror(errno));
    }
    if (status == PSFM_OK)
        psfm_sync_parent(target);
    if (status != PSFM_OK && tmp_path != NULL)
        unlink(tmp_path);
    free(target);
    free(tmp_path);
    free(scratch);
    return status;
}
