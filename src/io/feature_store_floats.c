/* Features of networks, out of the store: COLMAP's tables hold their descriptors as bytes, four a
 * float, and planarsfm_features their scores. */
#include <inttypes.h>

#include "feature/neural_features.h"
#include "io/feature_store.h"
#include "io/little_endian.h"

#define MAX_CELLS ((int64_t)1 << 31)

enum { ROWS, COLS, DESCRIPTORS, KEYPOINT_ROWS, KEYPOINT_COLS, KEYPOINTS, SCORES };

static const char query[] =
    "SELECT descriptors.rows, descriptors.cols, descriptors.data, keypoints.rows, keypoints.cols,"
    " keypoints.data, scores FROM descriptors JOIN keypoints USING (image_id)"
    " JOIN planarsfm_features USING (image_id) WHERE image_id = ?1";

static psfm_status refuse(const psfm_sql *sql, const psfm_stored_photo *photo, const char *why) {
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
        return refuse(sql, photo, "the descriptors are not rows of floats");
    if (sqlite3_column_int64(statement, KEYPOINT_ROWS) != rows || step < 2 || step > 6 ||
        !has_size(statement, KEYPOINTS, 4 * step * rows) || !has_size(statement, SCORES, 4 * rows))
        return refuse(sql, photo, "there are not as many keypoints or scores as descriptors");
    psfm_status status = psfm_neural_features_init(sql->ctx, (size_t)rows, (size_t)cols / 4, set);
    if (status == PSFM_OK)
        copy_features(statement, (size_t)step, set);
    return status;
}

psfm_status psfm_store_float_features(psfm_feature_store *store, const psfm_stored_photo *photo,
                                      psfm_keypoint_set *set) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement;
    bool has_row = false;
    *set = (psfm_keypoint_set){0};
    sql->doing = "cannot read the table descriptors";
    psfm_status status = psfm_sql_prepare(sql, query, &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, photo->image_id);
        status = psfm_sql_step(sql, statement, &has_row);
    }
    if (status == PSFM_OK)
        status = has_row ? get_features(sql, statement, photo, set)
                         : refuse(sql, photo, "the keypoints or descriptors are gone");
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}
