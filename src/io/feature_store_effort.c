/* What was spent on which photograph, and why:
 *   planarsfm_verified  pair_id, inliers: matches of a pair that its geometry explains
 *   planarsfm_effort    image_id, key (16 hexadecimal digits), need: one decision for all images
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/colmap_database_internal.h"
#include "io/feature_store.h"

psfm_status psfm_store_put_verified(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                    size_t num) {
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(
        &store->sql, "INSERT OR REPLACE INTO planarsfm_verified VALUES (?1, ?2)", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, PSFM_PAIR_ID_BASE * id1 + id2);
        sqlite3_bind_int64(statement, 2, (int64_t)num);
        status = psfm_sql_run(&store->sql, statement);
    }
    sqlite3_finalize(statement);
    return status;
}

static psfm_status put_need(psfm_feature_store *store, uint32_t image_id, uint64_t key,
                            psfm_need need) {
    sqlite3_stmt *statement;
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, key);
    psfm_status status = psfm_sql_prepare(
        &store->sql, "INSERT INTO planarsfm_effort VALUES (?1, ?2, ?3)", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, image_id);
        sqlite3_bind_int(statement, 3, (int)need);
        status = psfm_sql_bind_text(&store->sql, statement, 2, text);
    }
    if (status == PSFM_OK)
        status = psfm_sql_run(&store->sql, statement);
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_store_put_needs(psfm_feature_store *store, uint64_t key,
                                 const psfm_stored_photos *photos, const psfm_need *needs) {
    psfm_status status = psfm_store_begin(store);
    if (status == PSFM_OK)
        status = psfm_sql_exec(&store->sql, "DELETE FROM planarsfm_effort");
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k)
        status = put_need(store, photos->photos[k].image_id, key, needs[k]);
    return status == PSFM_OK ? psfm_store_commit(store) : status;
}

/* One photograph's row; a key of 0 if there is none. */
static psfm_status get_need(psfm_feature_store *store, uint32_t image_id, uint64_t *key,
                            psfm_need *need) {
    sqlite3_stmt *statement;
    bool has_row = false;
    *key = 0;
    *need = PSFM_NEED_NOTHING;
    psfm_status status = psfm_sql_prepare(
        &store->sql, "SELECT key, need FROM planarsfm_effort WHERE image_id = ?1", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, image_id);
        status = psfm_sql_step(&store->sql, statement, &has_row);
    }
    const char *text = has_row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text != NULL) {
        *key = strtoull(text, NULL, 16);
        int value = sqlite3_column_int(statement, 1);
        *need = value > PSFM_NEED_NEIGHBOURS || value < 0 ? PSFM_NEED_FEATURES : (psfm_need)value;
    }
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_store_needs(psfm_feature_store *store, const psfm_stored_photos *photos,
                             uint64_t *key, psfm_need *needs) {
    psfm_status status = PSFM_OK;
    store->sql.doing = "cannot read the table planarsfm_effort";
    *key = 0;
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k) {
        uint64_t own = 0;
        status = get_need(store, photos->photos[k].image_id, &own, &needs[k]);
        *key = k == 0 || *key == own ? own : 0;
    }
    store->sql.doing = "cannot be written";
    return status;
}
