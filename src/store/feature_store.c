/* Opening the store, its cameras and images. The tables of our own:
 *   planarsfm_photos   image_id, key, width, height, focal_px
 *   planarsfm_bodies   image_id, body
 *   planarsfm_cameras  source, camera_id
 *   planarsfm_features image_id, kind, scores (float32), of images with float descriptors
 *   planarsfm_matches  pair_id, key (16 hexadecimal digits)
 * and those of feature_store_photos.c. */
#include "store/feature_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "formats/little_endian.h"
#include "store/colmap_database_internal.h"

#define SIFT_BYTES ((size_t)128)

static const char own_tables[] =
    "CREATE TABLE IF NOT EXISTS planarsfm_photos (image_id INTEGER PRIMARY KEY NOT NULL,"
    " key TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, focal_px REAL NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_bodies (image_id INTEGER PRIMARY KEY NOT NULL,"
    " body TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_cameras (source TEXT PRIMARY KEY NOT NULL,"
    " camera_id INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_features (image_id INTEGER PRIMARY KEY NOT NULL,"
    " kind TEXT NOT NULL, scores BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_matches (pair_id INTEGER PRIMARY KEY NOT NULL,"
    " key TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_verified (pair_id INTEGER PRIMARY KEY NOT NULL,"
    " inliers INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_spent (image_id INTEGER PRIMARY KEY NOT NULL,"
    " key TEXT NOT NULL, effort INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS planarsfm_places (image_id INTEGER PRIMARY KEY NOT NULL,"
    " latitude_deg REAL, longitude_deg REAL, altitude_m REAL);";

static psfm_status need_tables(psfm_feature_store *store) {
    static const char *const names[] = {"cameras", "images", "keypoints", "descriptors", "matches"};
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof names / sizeof names[0]; ++k) {
        bool exists = false;
        status = psfm_sql_has_table(&store->sql, names[k], &exists);
        if (status == PSFM_OK && !exists)
            status = psfm_fail(store->sql.ctx, PSFM_ERR_FORMAT,
                               "%s: no table %s: this is not a COLMAP database", store->sql.path,
                               names[k]);
    }
    if (status == PSFM_OK)
        status = psfm_sql_has_table(&store->sql, "two_view_geometries", &store->has_geometries);
    return status;
}

static psfm_status is_without_tables(const psfm_feature_store *store, bool *without) {
    int64_t found;
    psfm_status status =
        psfm_sql_number(&store->sql, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, 0, &found);
    *without = found == 0;
    return status;
}

/* A file with contents is new, too, if its making was interrupted and SQLite has just undone it. */
psfm_status psfm_store_prepare(psfm_feature_store *store, bool create) {
    bool is_new = false;
    store->sql.doing = "cannot be written";
    psfm_status status = psfm_store_begin(store);
    if (status == PSFM_OK && create)
        status = is_without_tables(store, &is_new);
    if (status == PSFM_OK && is_new)
        status = psfm_database_create_tables(&store->sql);
    store->sql.doing = "cannot be written";
    if (status == PSFM_OK)
        status = need_tables(store);
    if (status == PSFM_OK)
        status = psfm_sql_exec(&store->sql, own_tables);
    if (status == PSFM_OK)
        status = psfm_store_commit(store);
    return status;
}

psfm_status psfm_store_open(psfm_context *ctx, const char *path, bool create,
                            psfm_feature_store *store) {
    struct stat info;
    *store = (psfm_feature_store){0};
    if (!create && stat(path, &info) != 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    psfm_status status = psfm_lock_file(ctx, path, &store->lock);
    if (status != PSFM_OK)
        return status;
    bool is_new = create && (stat(path, &info) != 0 || info.st_size == 0);
    status = is_new ? psfm_sql_open_new(ctx, path, &store->sql)
                    : psfm_sql_open_for_writing(ctx, path, &store->sql);
    if (status == PSFM_OK)
        status = psfm_store_prepare(store, create);
    if (status != PSFM_OK)
        psfm_store_close(store);
    return status;
}

void psfm_store_close(psfm_feature_store *store) {
    psfm_sql_close(&store->sql);
    psfm_lock_release(&store->lock);
    free(store->bytes);
    *store = (psfm_feature_store){0};
}

psfm_status psfm_store_begin(psfm_feature_store *store) {
    return psfm_sql_exec(&store->sql, "BEGIN IMMEDIATE");
}

psfm_status psfm_store_commit(psfm_feature_store *store) {
    return psfm_sql_exec(&store->sql, "COMMIT");
}

/* ---- cameras ---- */

/* Finds the camera of a source, or names it. *camera_id is 0 if there was none. */
static psfm_status find_source(psfm_feature_store *store, const char *source, uint32_t *camera_id) {
    const psfm_sql_value value = psfm_sql_text(source);
    int64_t id;
    psfm_status status = psfm_sql_number(
        &store->sql,
        "SELECT camera_id FROM planarsfm_cameras NATURAL JOIN cameras WHERE source = ?1", &value, 1,
        &id);
    *camera_id = (uint32_t)id;
    return status;
}

static psfm_status next_id(psfm_feature_store *store, const char *text, uint32_t *id) {
    int64_t number;
    psfm_status status = psfm_sql_number(&store->sql, text, NULL, 0, &number);
    *id = (uint32_t)number;
    if (status == PSFM_OK && *id >= PSFM_PAIR_ID_BASE)
        status = psfm_fail(store->sql.ctx, PSFM_ERR_DATA, "%s: no ids are left", store->sql.path);
    return status;
}

static psfm_status name_source(psfm_feature_store *store, const char *source, uint32_t camera_id) {
    const psfm_sql_value values[] = {psfm_sql_text(source), psfm_sql_int(camera_id)};
    return psfm_sql_exec_with(
        &store->sql, "INSERT OR REPLACE INTO planarsfm_cameras VALUES (?1, ?2)", values, 2);
}

static psfm_status write_camera(psfm_feature_store *store, uint32_t id, const psfm_camera *camera) {
    unsigned char params[8 * PSFM_CAMERA_MAX_PARAMS];
    size_t num = (size_t)psfm_camera_num_params(camera->model);
    for (size_t k = 0; k < num; ++k)
        psfm_put_f64(camera->params[k], params + 8 * k);
    const psfm_sql_value values[] = {psfm_sql_int(id),
                                     psfm_sql_int(camera->model),
                                     psfm_sql_int((int64_t)camera->width),
                                     psfm_sql_int((int64_t)camera->height),
                                     psfm_sql_blob(params, 8 * num),
                                     psfm_sql_int(camera->has_prior_focal_length)};
    return psfm_sql_exec_with(
        &store->sql,
        "INSERT OR REPLACE INTO cameras (camera_id, model, width, height, params,"
        " prior_focal_length) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        values, 6);
}

psfm_status psfm_store_put_camera(psfm_feature_store *store, const char *source,
                                  const psfm_camera *camera, uint32_t *camera_id) {
    uint32_t id = 0;
    psfm_status status = find_source(store, source, &id);
    if (status == PSFM_OK && id == 0) {
        status = next_id(store, "SELECT COALESCE(MAX(camera_id), 0) + 1 FROM cameras", &id);
        if (status == PSFM_OK)
            status = name_source(store, source, id);
    }
    if (status == PSFM_OK)
        status = write_camera(store, id, camera);
    if (status == PSFM_OK)
        *camera_id = id;
    return status;
}

psfm_status psfm_store_drop_cameras(psfm_feature_store *store) {
    return psfm_sql_exec(
        &store->sql,
        "DELETE FROM cameras WHERE camera_id IN (SELECT camera_id FROM planarsfm_cameras)"
        " AND camera_id NOT IN (SELECT camera_id FROM images);"
        "DELETE FROM planarsfm_cameras WHERE camera_id NOT IN (SELECT camera_id FROM cameras);");
}

/* ---- images ---- */

void psfm_stored_photos_free(psfm_stored_photos *photos) {
    for (size_t k = 0; k < photos->num; ++k) {
        free(photos->photos[k].name);
        free(photos->photos[k].key);
        free(photos->photos[k].body);
        free(photos->photos[k].features);
    }
    free(photos->photos);
    *photos = (psfm_stored_photos){0};
}

static psfm_status get_photo(const psfm_sql *sql, sqlite3_stmt *statement, psfm_stored_photo *out) {
    int64_t id = sqlite3_column_int64(statement, 0), camera_id = sqlite3_column_int64(statement, 1);
    int64_t num_keypoints = sqlite3_column_int64(statement, 7);
    const char *name = (const char *)sqlite3_column_text(statement, 2);
    const char *key = (const char *)sqlite3_column_text(statement, 3);
    if (num_keypoints < 0 || num_keypoints > INT32_MAX)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: image %" PRId64 " has %" PRId64 " rows of keypoints", sql->path, id,
                         num_keypoints);
    if (id < 1 || id >= PSFM_PAIR_ID_BASE || camera_id < 0 || camera_id >= UINT32_MAX ||
        name == NULL || name[0] == '\0')
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: image %" PRId64 " has no name or an id out of range", sql->path, id);
    out->image_id = (uint32_t)id;
    out->camera_id = (uint32_t)camera_id;
    out->width = sqlite3_column_int(statement, 4);
    out->height = sqlite3_column_int(statement, 5);
    out->focal_px = sqlite3_column_double(statement, 6);
    out->num_keypoints = (size_t)num_keypoints;
    const char *features = (const char *)sqlite3_column_text(statement, 8);
    const char *body = (const char *)sqlite3_column_text(statement, 9);
    psfm_status status = psfm_strdup(sql->ctx, name, &out->name);
    if (status == PSFM_OK && key != NULL)
        status = psfm_strdup(sql->ctx, key, &out->key);
    if (status == PSFM_OK && features != NULL)
        status = psfm_strdup(sql->ctx, features, &out->features);
    if (status == PSFM_OK && body != NULL)
        status = psfm_strdup(sql->ctx, body, &out->body);
    return status;
}

psfm_status psfm_store_list(psfm_feature_store *store, psfm_stored_photos *out) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement;
    size_t capacity = 0;
    psfm_stored_photos list = {0};
    sql->doing = "cannot be read";
    psfm_status status =
        psfm_sql_prepare(sql,
                         "SELECT images.image_id, camera_id, name, key,"
                         " COALESCE(planarsfm_photos.width, cameras.width),"
                         " COALESCE(planarsfm_photos.height, cameras.height), focal_px,"
                         " COALESCE(rows, 0), kind, body FROM images LEFT JOIN planarsfm_photos"
                         " USING (image_id) LEFT JOIN keypoints USING (image_id)"
                         " LEFT JOIN planarsfm_features USING (image_id)"
                         " LEFT JOIN planarsfm_bodies USING (image_id)"
                         " LEFT JOIN cameras USING (camera_id)"
                         " ORDER BY CAST(name AS BLOB)",
                         NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        status = PSFM_RESERVE(sql->ctx, &list.photos, &capacity, list.num + 1);
        if (status == PSFM_OK)
            status = get_photo(sql, statement, &list.photos[list.num++]);
    }
    sqlite3_finalize(statement);
    if (status != PSFM_OK)
        psfm_stored_photos_free(&list);
    *out = list;
    sql->doing = "cannot be written";
    return status;
}

psfm_status psfm_store_set_key(psfm_feature_store *store, uint32_t image_id, const char *key) {
    const psfm_sql_value values[] = {psfm_sql_int(image_id), psfm_sql_text(key)};
    return psfm_sql_exec_with(
        &store->sql, "UPDATE planarsfm_photos SET key = ?2 WHERE image_id = ?1", values, 2);
}

psfm_status psfm_store_set_camera(psfm_feature_store *store, uint32_t image_id,
                                  uint32_t camera_id) {
    const psfm_sql_value values[] = {psfm_sql_int(image_id), psfm_sql_int(camera_id)};
    return psfm_sql_exec_with(&store->sql, "UPDATE images SET camera_id = ?2 WHERE image_id = ?1",
                              values, 2);
}

/* Runs a statement with an image id as its parameter. */
static psfm_status run_for_image(psfm_feature_store *store, const char *text, uint32_t image_id) {
    const psfm_sql_value value = psfm_sql_int(image_id);
    return psfm_sql_exec_with(&store->sql, text, &value, 1);
}

/* Removes the pairs of an image from a table: pair_id = 2147483647 * lower id + higher id. */
static psfm_status drop_pairs_of(psfm_feature_store *store, const char *table, uint32_t image_id) {
    char text[160];
    snprintf(text, sizeof text,
             "DELETE FROM %s WHERE pair_id / 2147483647 = ?1 OR pair_id %% 2147483647 = ?1", table);
    return run_for_image(store, text, image_id);
}

/* Removes the matches of an image; what they came to stays known. */
static psfm_status drop_pairs(psfm_feature_store *store, uint32_t image_id) {
    static const char *const tables[] = {"matches", "planarsfm_matches", "two_view_geometries"};
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < (store->has_geometries ? 3 : 2); ++k)
        status = drop_pairs_of(store, tables[k], image_id);
    return status;
}

psfm_status psfm_store_drop_photo(psfm_feature_store *store, uint32_t image_id) {
    static const char *const texts[] = {
        "DELETE FROM keypoints WHERE image_id = ?1",
        "DELETE FROM descriptors WHERE image_id = ?1",
        "DELETE FROM planarsfm_photos WHERE image_id = ?1",
        "DELETE FROM planarsfm_bodies WHERE image_id = ?1",
        "DELETE FROM planarsfm_features WHERE image_id = ?1",
        "DELETE FROM planarsfm_spent WHERE image_id = ?1",
        "DELETE FROM planarsfm_places WHERE image_id = ?1",
        "DELETE FROM images WHERE image_id = ?1",
    };
    psfm_status status = drop_pairs(store, image_id);
    if (status == PSFM_OK)
        status = drop_pairs_of(store, "planarsfm_verified", image_id);
    for (size_t k = 0; status == PSFM_OK && k < sizeof texts / sizeof texts[0]; ++k)
        status = run_for_image(store, texts[k], image_id);
    return status;
}

static psfm_status write_body(psfm_feature_store *store, uint32_t id, const char *body) {
    const psfm_sql_value values[] = {psfm_sql_int(id), psfm_sql_text(body == NULL ? "" : body)};
    if (body == NULL || body[0] == '\0')
        return run_for_image(store, "DELETE FROM planarsfm_bodies WHERE image_id = ?1", id);
    return psfm_sql_exec_with(&store->sql,
                              "INSERT OR REPLACE INTO planarsfm_bodies VALUES (?1, ?2)", values, 2);
}

/* Inserts or updates the rows of images and, of photographs of ours, planarsfm_photos. */
static psfm_status write_photo(psfm_feature_store *store, uint32_t id,
                               const psfm_stored_photo *photo) {
    const psfm_sql_value image[] = {psfm_sql_int(id), psfm_sql_text(photo->name),
                                    psfm_sql_int(photo->camera_id)};
    const psfm_sql_value own[] = {psfm_sql_int(id), psfm_sql_text(photo->key),
                                  psfm_sql_int(photo->width), psfm_sql_int(photo->height),
                                  psfm_sql_real(photo->focal_px)};
    psfm_status status =
        psfm_sql_exec_with(&store->sql,
                           "INSERT INTO images (image_id, name, camera_id) VALUES (?1, ?2, ?3)"
                           " ON CONFLICT (image_id) DO UPDATE SET camera_id = ?3",
                           image, 3);
    if (status == PSFM_OK && photo->key != NULL)
        status = psfm_sql_exec_with(
            &store->sql, "INSERT OR REPLACE INTO planarsfm_photos VALUES (?1, ?2, ?3, ?4, ?5)", own,
            5);
    return status == PSFM_OK ? write_body(store, id, photo->body) : status;
}

/* Writes a row of image_id, rows, cols, data. */
static psfm_status write_matrix(psfm_feature_store *store, const char *text, uint32_t id,
                                size_t rows, size_t cols, const void *bytes, size_t size) {
    const psfm_sql_value values[] = {psfm_sql_int(id), psfm_sql_int((int64_t)rows),
                                     psfm_sql_int((int64_t)cols), psfm_sql_blob(bytes, size)};
    return psfm_sql_exec_with(&store->sql, text, values, 4);
}

static psfm_status write_keypoints(psfm_feature_store *store, uint32_t id,
                                   const psfm_keypoint_set *set) {
    psfm_status status =
        PSFM_RESERVE(store->sql.ctx, &store->bytes, &store->capacity, 24 * set->num);
    for (size_t k = 0; status == PSFM_OK && k < set->num; ++k) {
        const psfm_keypoint *p = &set->keypoints[k];
        const float values[6] = {p->x, p->y, p->a11, p->a12, p->a21, p->a22};
        for (size_t c = 0; c < 6; ++c)
            psfm_put_f32(values[c], store->bytes + 24 * k + 4 * c);
    }
    if (status == PSFM_OK)
        status = write_matrix(store, "INSERT OR REPLACE INTO keypoints VALUES (?1, ?2, ?3, ?4)", id,
                              set->num, 6, store->bytes, 24 * set->num);
    return status;
}

/* Floats as bytes, little-endian, in the store's scratch memory. */
static psfm_status put_floats(psfm_feature_store *store, const float *values, size_t num) {
    psfm_status status = PSFM_RESERVE(store->sql.ctx, &store->bytes, &store->capacity, 4 * num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        psfm_put_f32(values[k], store->bytes + 4 * k);
    return status;
}

static psfm_status write_scores(psfm_feature_store *store, uint32_t id, const char *kind,
                                const psfm_keypoint_set *set) {
    psfm_status status = put_floats(store, set->scores, set->num);
    const psfm_sql_value values[] = {psfm_sql_int(id), psfm_sql_text(kind),
                                     psfm_sql_blob(store->bytes, 4 * set->num)};
    if (status == PSFM_OK)
        status = psfm_sql_exec_with(&store->sql,
                                    "INSERT OR REPLACE INTO planarsfm_features VALUES (?1, ?2, ?3)",
                                    values, 3);
    return status;
}

static psfm_status write_descriptors(psfm_feature_store *store, uint32_t id, const char *kind,
                                     const psfm_keypoint_set *set) {
    static const char text[] = "INSERT OR REPLACE INTO descriptors (image_id, rows, cols, data)"
                               " VALUES (?1, ?2, ?3, ?4)";
    size_t size = 4 * set->descriptor_size;
    if (kind == NULL && size == 0)
        return run_for_image(store, "DELETE FROM descriptors WHERE image_id = ?1", id);
    if (kind == NULL)
        return write_matrix(store, text, id, set->num, SIFT_BYTES, set->descriptors_u8,
                            SIFT_BYTES * set->num);
    psfm_status status = put_floats(store, set->descriptors_f32, set->num * set->descriptor_size);
    if (status == PSFM_OK)
        status = write_matrix(store, text, id, set->num, size, store->bytes, size * set->num);
    return status == PSFM_OK ? write_scores(store, id, kind, set) : status;
}

static psfm_status check_features(const psfm_feature_store *store, const psfm_stored_photo *photo,
                                  const psfm_keypoint_set *set) {
    if (set->descriptor_size == 0 && photo->features == NULL)
        return PSFM_OK;
    if (set->num > 0 && photo->features == NULL &&
        (set->descriptors_u8 == NULL || set->descriptor_size != SIFT_BYTES))
        return psfm_fail(store->sql.ctx, PSFM_ERR_ARGUMENT,
                         "%s: the database takes descriptors of 128 bytes", photo->name);
    if (set->num > 0 && photo->features != NULL &&
        (set->descriptors_f32 == NULL || set->scores == NULL))
        return psfm_fail(store->sql.ctx, PSFM_ERR_ARGUMENT,
                         "%s: %s features without float descriptors or scores", photo->name,
                         photo->features);
    return PSFM_OK;
}

psfm_status psfm_store_put_photo(psfm_feature_store *store, const psfm_stored_photo *photo,
                                 const psfm_keypoint_set *features) {
    uint32_t id = photo->image_id;
    psfm_status status = check_features(store, photo, features);
    if (status == PSFM_OK && id == 0)
        status = next_id(store, "SELECT COALESCE(MAX(image_id), 0) + 1 FROM images", &id);
    else if (status == PSFM_OK)
        status = drop_pairs(store, id);
    if (status == PSFM_OK)
        status = run_for_image(store, "DELETE FROM planarsfm_features WHERE image_id = ?1", id);
    if (status == PSFM_OK)
        status = write_photo(store, id, photo);
    if (status == PSFM_OK)
        status = write_keypoints(store, id, features);
    return status == PSFM_OK ? write_descriptors(store, id, photo->features, features) : status;
}
