/* The pairs of the store: descriptors and keypoints in, matches out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/colmap_database_internal.h"
#include "io/feature_store.h"
#include "io/little_endian.h"

#define DESCRIPTOR_SIZE ((size_t)128)

static int64_t pair_id(uint32_t id1, uint32_t id2) {
    return PSFM_PAIR_ID_BASE * id1 + id2;
}

static psfm_status get_descriptors(const psfm_sql *sql, sqlite3_stmt *statement,
                                   const psfm_stored_photo *photo, psfm_keypoint_set *set) {
    int64_t rows = sqlite3_column_int64(statement, 0), cols = sqlite3_column_int64(statement, 1);
    const void *data = sqlite3_column_blob(statement, 2);
    int64_t size = sqlite3_column_bytes(statement, 2);
    if (data == NULL && size > 0)
        return psfm_sql_fail(sql);
    if (rows < 0 || rows > INT32_MAX || (rows > 0 && cols != (int64_t)DESCRIPTOR_SIZE) ||
        size != rows * (int64_t)DESCRIPTOR_SIZE)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: descriptors of image %" PRIu32 " (%.200s): %" PRId64 " x %" PRId64
                         " in %" PRId64 " bytes, wanted are rows of 128 bytes",
                         sql->path, photo->image_id, photo->name, rows, cols, size);
    if ((size_t)rows != photo->num_keypoints)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: image %" PRIu32 " (%.200s) has %zu keypoints but %" PRId64
                         " descriptors",
                         sql->path, photo->image_id, photo->name, photo->num_keypoints, rows);
    psfm_status status = PSFM_ALLOC(sql->ctx, (size_t)size, &set->descriptors_u8);
    if (status == PSFM_OK && size > 0)
        memcpy(set->descriptors_u8, data, (size_t)size);
    if (status == PSFM_OK) {
        set->num = (size_t)rows;
        set->descriptor_size = DESCRIPTOR_SIZE;
    }
    return status;
}

psfm_status psfm_store_descriptors(psfm_feature_store *store, const psfm_stored_photo *photo,
                                   psfm_keypoint_set *set) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement;
    bool has_row = false;
    *set = (psfm_keypoint_set){0};
    sql->doing = "cannot read the table descriptors";
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT rows, cols, data FROM descriptors WHERE image_id = ?1", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, photo->image_id);
        status = psfm_sql_step(sql, statement, &has_row);
    }
    if (status == PSFM_OK && has_row)
        status = get_descriptors(sql, statement, photo, set);
    else if (status == PSFM_OK && photo->num_keypoints > 0)
        status = psfm_fail(sql->ctx, PSFM_ERR_DATA,
                           "%s: image %" PRIu32 " (%.200s) has keypoints but no descriptors to "
                           "match",
                           sql->path, photo->image_id, photo->name);
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}

psfm_status psfm_store_views(psfm_feature_store *store, const psfm_stored_photos *photos,
                             psfm_match_set *set) {
    psfm_sql *sql = &store->sql;
    *set = (psfm_match_set){0};
    psfm_status status = psfm_database_read_cameras(sql, set);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(sql->ctx, photos->num, &set->views);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k) {
        const psfm_stored_photo *photo = &photos->photos[k];
        psfm_view *view = &set->views[set->num_views++];
        view->id = photo->image_id;
        status = psfm_strdup(sql->ctx, photo->name, &view->name);
        if (status == PSFM_OK &&
            !psfm_match_set_find_camera(set, photo->camera_id, &view->camera_idx))
            status =
                psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                          "%s: image %" PRIu32 " (%.200s): its camera %" PRIu32 " does not exist",
                          sql->path, view->id, view->name, photo->camera_id);
    }
    if (status != PSFM_OK)
        psfm_match_set_free(set);
    sql->doing = "cannot be written";
    return status;
}

psfm_status psfm_store_keypoints(psfm_feature_store *store, psfm_view *view) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement;
    bool has_row = false;
    sql->doing = "cannot read the table keypoints";
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT image_id, rows, cols, data FROM keypoints WHERE image_id = ?1", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, view->id);
        status = psfm_sql_step(sql, statement, &has_row);
    }
    if (status == PSFM_OK && has_row)
        status = psfm_database_get_keypoints(sql, statement, view);
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}

static psfm_status get_pair(const psfm_sql *sql, sqlite3_stmt *statement, psfm_stored_pair *pair) {
    int64_t id = sqlite3_column_int64(statement, 0), rows = sqlite3_column_int64(statement, 1);
    int64_t inliers = sqlite3_column_int64(statement, 3);
    const char *key = (const char *)sqlite3_column_text(statement, 2);
    if (id < 0 || id / PSFM_PAIR_ID_BASE >= PSFM_PAIR_ID_BASE || rows < 0 || rows > INT32_MAX)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: pair %" PRId64 " or its number of matches is out of range", sql->path,
                         id);
    pair->id1 = (uint32_t)(id / PSFM_PAIR_ID_BASE);
    pair->id2 = (uint32_t)(id % PSFM_PAIR_ID_BASE);
    pair->num_matches = (size_t)rows;
    pair->num_verified = inliers < 0 ? 0 : (size_t)(inliers < rows ? inliers : rows);
    pair->key = key == NULL ? 0 : strtoull(key, NULL, 16);
    return PSFM_OK;
}

psfm_status psfm_store_list_pairs(psfm_feature_store *store, psfm_stored_pair **pairs,
                                  size_t *num) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement;
    psfm_stored_pair *list = NULL;
    size_t capacity = 0, n = 0;
    sql->doing = "cannot read the table matches";
    psfm_status status =
        psfm_sql_prepare(sql,
                         "SELECT pair_id, rows, key, inliers FROM matches"
                         " LEFT JOIN planarsfm_matches USING (pair_id)"
                         " LEFT JOIN planarsfm_verified USING (pair_id) ORDER BY pair_id",
                         &statement);
    for (bool has_row = true; status == PSFM_OK;) {
        status = psfm_sql_step(sql, statement, &has_row);
        if (status != PSFM_OK || !has_row)
            break;
        status = PSFM_RESERVE(sql->ctx, &list, &capacity, n + 1);
        if (status == PSFM_OK)
            status = get_pair(sql, statement, &list[n++]);
    }
    sqlite3_finalize(statement);
    if (status != PSFM_OK) {
        free(list);
        list = NULL;
        n = 0;
    }
    *pairs = list;
    *num = n;
    sql->doing = "cannot be written";
    return status;
}

psfm_status psfm_store_drop_pair(psfm_feature_store *store, uint32_t id1, uint32_t id2) {
    static const char *const texts[] = {
        "DELETE FROM matches WHERE pair_id = ?1",
        "DELETE FROM planarsfm_matches WHERE pair_id = ?1",
        "DELETE FROM planarsfm_verified WHERE pair_id = ?1",
        "DELETE FROM two_view_geometries WHERE pair_id = ?1",
    };
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < (store->has_geometries ? 4 : 3); ++k) {
        sqlite3_stmt *statement;
        status = psfm_sql_prepare(&store->sql, texts[k], &statement);
        if (status == PSFM_OK) {
            sqlite3_bind_int64(statement, 1, pair_id(id1, id2));
            status = psfm_sql_run(&store->sql, statement);
        }
        sqlite3_finalize(statement);
    }
    return status;
}

static psfm_status write_key(psfm_feature_store *store, int64_t id, uint64_t key) {
    sqlite3_stmt *statement;
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, key);
    psfm_status status =
        psfm_sql_prepare(&store->sql, "INSERT INTO planarsfm_matches VALUES (?1, ?2)", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, id);
        status = psfm_sql_bind_text(&store->sql, statement, 2, text);
    }
    if (status == PSFM_OK)
        status = psfm_sql_run(&store->sql, statement);
    sqlite3_finalize(statement);
    return status;
}

/* Runs an insertion whose parameters are the pair, its number of matches and their bytes. */
static psfm_status insert_pair(psfm_feature_store *store, const char *text, int64_t id,
                               const psfm_match_list *matches) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement = NULL;
    psfm_status status = PSFM_RESERVE(sql->ctx, &store->bytes, &store->capacity, 8 * matches->num);
    if (status == PSFM_OK)
        status = psfm_sql_prepare(sql, text, &statement);
    if (status == PSFM_OK) {
        for (size_t k = 0; k < matches->num; ++k) {
            psfm_put_u32(matches->matches[k][0], store->bytes + 8 * k);
            psfm_put_u32(matches->matches[k][1], store->bytes + 8 * k + 4);
        }
        sqlite3_bind_int64(statement, 1, id);
        sqlite3_bind_int64(statement, 2, (int64_t)matches->num);
        status = psfm_sql_bind_blob(sql, statement, 3, store->bytes, 8 * matches->num);
    }
    if (status == PSFM_OK)
        status = psfm_sql_run(sql, statement);
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_store_put_matches(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                   const psfm_match_list *matches, uint64_t key) {
    int64_t id = pair_id(id1, id2);
    psfm_status status = psfm_store_drop_pair(store, id1, id2);
    if (status == PSFM_OK)
        status = insert_pair(
            store, "INSERT INTO matches (pair_id, rows, cols, data) VALUES (?1, ?2, 2, ?3)", id,
            matches);
    return status == PSFM_OK && key != 0 ? write_key(store, id, key) : status;
}

psfm_status psfm_store_put_inliers(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                   const psfm_match_list *matches) {
    psfm_status status =
        store->has_geometries ? PSFM_OK : psfm_database_need_geometries(&store->sql);
    store->has_geometries = status == PSFM_OK;
    if (status == PSFM_OK)
        status = psfm_store_drop_pair(store, id1, id2);
    if (status != PSFM_OK)
        return status;
    return insert_pair(store,
                       "INSERT INTO two_view_geometries (pair_id, rows, cols, data, config)"
                       " VALUES (?1, ?2, 2, ?3, 2)", /* 2: calibrated */
                       pair_id(id1, id2), matches);
}
