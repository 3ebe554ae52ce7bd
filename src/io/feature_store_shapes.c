/* The shapes of keypoints, as COLMAP keeps them: rows of x, y; of x, y, scale, orientation; or of
 * x, y and an affine shape. */
#include <inttypes.h>

#include "base/alloc.h"
#include "io/feature_store.h"
#include "io/little_endian.h"

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
    sqlite3_stmt *statement;
    bool has_row = false;
    if (photo->num_keypoints == 0)
        return PSFM_OK;
    sql->doing = "cannot read the table keypoints";
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT rows, cols, data FROM keypoints WHERE image_id = ?1", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, photo->image_id);
        status = psfm_sql_step(sql, statement, &has_row);
    }
    if (status == PSFM_OK && has_row)
        status = get_shapes(sql, statement, photo, keypoints);
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}
