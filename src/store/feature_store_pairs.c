/* The pairs of the store: descriptors and keypoints in, matches out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "formats/little_endian.h"
#include "images/feature/neural_features.h"
#include "store/colmap_database_internal.h"
#include "store/feature_store.h"

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
    const psfm_sql_value id = psfm_sql_int(photo->image_id);
    sqlite3_stmt *statement;
    *set = (psfm_keypoint_set){0};
    sql->doing = "cannot read the table descriptors";
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT rows, cols, data FROM descriptors WHERE image_id = ?1", &id, 1, &statement);
    if (psfm_sql_next(sql, statement, &status))
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
    const psfm_sql_value id = psfm_sql_int(view->id);
    sqlite3_stmt *statement;
    sql->doing = "cannot read the table keypoints";
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT image_id, rows, cols, data FROM keypoints WHERE image_id = ?1", &id, 1,
        &statement);
    if (psfm_sql_next(sql, statement, &status))
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
                         NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
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
    const psfm_sql_value id = psfm_sql_int(pair_id(id1, id2));
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < (store->has_geometries ? 4 : 3); ++k)
        status = psfm_sql_exec_with(&store->sql, texts[k], &id, 1);
    return status;
}

static psfm_status write_key(psfm_feature_store *store, int64_t id, uint64_t key) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, key);
    const psfm_sql_value values[] = {psfm_sql_int(id), psfm_sql_text(text)};
    return psfm_sql_exec_with(&store->sql, "INSERT INTO planarsfm_matches VALUES (?1, ?2)", values,
                              2);
}

/* Runs an insertion whose parameters are the pair, its number of matches and their bytes. */
static psfm_status insert_pair(psfm_feature_store *store, const char *text, int64_t id,
                               const psfm_match_list *matches) {
    psfm_status status =
        PSFM_RESERVE(store->sql.ctx, &store->bytes, &store->capacity, 8 * matches->num);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < matches->num; ++k) {
        psfm_put_u32(matches->matches[k][0], store->bytes + 8 * k);
        psfm_put_u32(matches->matches[k][1], store->bytes + 8 * k + 4);
    }
    const psfm_sql_value values[] = {psfm_sql_int(id), psfm_sql_int((int64_t)matches->num),
                                     psfm_sql_blob(store->bytes, 8 * matches->num)};
    return psfm_sql_exec_with(&store->sql, text, values, 3);
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

/* Features of networks, out of the store: COLMAP's tables hold their descriptors as bytes, four a
 * float, and planarsfm_features their scores. */

#define MAX_CELLS ((int64_t)1 << 31)

enum { ROWS, COLS, DESCRIPTORS, KEYPOINT_ROWS, KEYPOINT_COLS, KEYPOINTS, SCORES };

static const char query[] =
    "SELECT descriptors.rows, descriptors.cols, descriptors.data, keypoints.rows, keypoints.cols,"
    " keypoints.data, scores FROM descriptors JOIN keypoints USING (image_id)"
    " JOIN planarsfm_features USING (image_id) WHERE image_id = ?1";

static psfm_status refuse_features(const psfm_sql *sql, const psfm_stored_photo *photo,
                                   const char *why) {
    return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s features of image %" PRIu32 " (%.200s): %s",
                     sql->path, photo->features, photo->image_id, photo->name, why);
}

/* Whether a column has this many bytes. */
static bool has_size(sqlite3_stmt *statement, int column, int64_t size) {
    return sqlite3_column_bytes(statement, column) == size &&
           (size == 0 || sqlite3_column_blob(statement, column) != NULL);
}

static void copy_features(sqlite3_stmt *statement, size_t step, psfm_keypoint_set *set) {
    const unsigned char *descriptors = sqlite3_column_blob(statement, DESCRIPTORS);
    const unsigned char *keypoints = sqlite3_column_blob(statement, KEYPOINTS);
    const unsigned char *scores = sqlite3_column_blob(statement, SCORES);
    for (size_t k = 0; k < set->num * set->descriptor_size; ++k)
        set->descriptors_f32[k] = psfm_get_f32(descriptors + 4 * k);
    for (size_t k = 0; k < set->num; ++k) {
        const unsigned char *xy = keypoints + 4 * step * k;
        set->keypoints[k] = psfm_keypoint_make(psfm_get_f32(xy), psfm_get_f32(xy + 4), 1, 0);
        set->scores[k] = psfm_get_f32(scores + 4 * k);
    }
}

static psfm_status get_features(const psfm_sql *sql, sqlite3_stmt *statement,
                                const psfm_stored_photo *photo, psfm_keypoint_set *set) {
    int64_t rows = sqlite3_column_int64(statement, ROWS);
    int64_t cols = sqlite3_column_int64(statement, COLS);
    int64_t step = sqlite3_column_int64(statement, KEYPOINT_COLS);
    if (rows < 0 || cols < 0 || cols % 4 != 0 || (rows > 0 && cols == 0) ||
        (cols > 0 && rows > MAX_CELLS / cols) || !has_size(statement, DESCRIPTORS, rows * cols))
        return refuse_features(sql, photo, "the descriptors are not rows of floats");
    if (sqlite3_column_int64(statement, KEYPOINT_ROWS) != rows || step < 2 || step > 6 ||
        !has_size(statement, KEYPOINTS, 4 * step * rows) || !has_size(statement, SCORES, 4 * rows))
        return refuse_features(sql, photo,
                               "there are not as many keypoints or scores as descriptors");
    psfm_status status = psfm_neural_features_init(sql->ctx, (size_t)rows, (size_t)cols / 4, set);
    if (status == PSFM_OK)
        copy_features(statement, (size_t)step, set);
    return status;
}

psfm_status psfm_store_float_features(psfm_feature_store *store, const psfm_stored_photo *photo,
                                      psfm_keypoint_set *set) {
    psfm_sql *sql = &store->sql;
    const psfm_sql_value id = psfm_sql_int(photo->image_id);
    sqlite3_stmt *statement;
    *set = (psfm_keypoint_set){0};
    sql->doing = "cannot read the table descriptors";
    psfm_status status = psfm_sql_prepare(sql, query, &id, 1, &statement);
    if (psfm_sql_next(sql, statement, &status))
        status = get_features(sql, statement, photo, set);
    else if (status == PSFM_OK)
        status = refuse_features(sql, photo, "the keypoints or descriptors are gone");
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}

/* The shapes of keypoints, as COLMAP keeps them: rows of x, y; of x, y, scale, orientation; or of
 * x, y and an affine shape. */

static psfm_keypoint get_keypoint(const unsigned char *row, int64_t cols) {
    float v[6] = {0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F};
    for (int64_t c = 0; c < cols; ++c)
        v[c] = psfm_get_f32(row + 4 * c);
    if (cols == 4)
        return psfm_keypoint_make(v[0], v[1], v[2], v[3]);
    return (psfm_keypoint){v[0], v[1], v[2], v[3], v[4], v[5]};
}

static psfm_status get_shapes(const psfm_sql *sql, sqlite3_stmt *statement,
                              const psfm_stored_photo *photo, psfm_keypoint *keypoints) {
    int64_t rows = sqlite3_column_int64(statement, 0), cols = sqlite3_column_int64(statement, 1);
    const unsigned char *data = sqlite3_column_blob(statement, 2);
    if (rows != (int64_t)photo->num_keypoints || (cols != 2 && cols != 4 && cols != 6) ||
        sqlite3_column_bytes(statement, 2) != 4 * rows * cols)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: keypoints of image %" PRIu32 " (%.200s) have a wrong size", sql->path,
                         photo->image_id, photo->name);
    for (int64_t k = 0; k < rows; ++k)
        keypoints[k] = get_keypoint(data + 4 * k * cols, cols);
    return PSFM_OK;
}

psfm_status psfm_store_shapes(psfm_feature_store *store, const psfm_stored_photo *photo,
                              psfm_keypoint *keypoints) {
    psfm_sql *sql = &store->sql;
    const psfm_sql_value id = psfm_sql_int(photo->image_id);
    sqlite3_stmt *statement;
    if (photo->num_keypoints == 0)
        return PSFM_OK;
    sql->doing = "cannot read the table keypoints";
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT rows, cols, data FROM keypoints WHERE image_id = ?1", &id, 1, &statement);
    if (psfm_sql_next(sql, statement, &status))
        status = get_shapes(sql, statement, photo, keypoints);
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}
