/* Photographs that changed since their features were taken, by the key of extraction. */
#include "frontend/photo_changes.h"

#include <stdlib.h>

#include "core/base/path.h"
#include "frontend/photo_key.h"
#include "store/sql.h"

psfm_status psfm_is_same_size(psfm_context *ctx, const char *folder, const char *name,
                              const char *key, bool *same) {
    char *path = NULL;
    psfm_photo_key before;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    *same = status == PSFM_OK;
    if (*same && psfm_photo_key_parse(key, &before)) {
        const psfm_file_mark now = psfm_file_mark_of(path);
        *same = now.is_there && now.size == before.photo.size;
    }
    free(path);
    return status;
}

/* By its contents where the key has them; by its size in databases of earlier versions, since
 * copies have other times. */
static psfm_status is_same_photo(psfm_context *ctx, const char *path, const psfm_photo_key *key,
                                 bool *same) {
    psfm_file_mark now = psfm_file_mark_of(path);
    if (key->photo.contents != 0)
        return psfm_file_mark_compare(ctx, path, &key->photo, &now, same);
    *same = now.size == key->photo.size;
    return PSFM_OK;
}

static psfm_status compare_photo(psfm_context *ctx, const char *database, const char *folder,
                                 const char *name, const char *text) {
    char *path = NULL;
    psfm_photo_key key;
    bool same = true;
    psfm_status status = psfm_photo_path(ctx, folder, name, &path);
    if (status == PSFM_ERR_IO)
        return PSFM_OK; /* nothing is read of it */
    if (status == PSFM_OK && psfm_path_is_file(path) && psfm_photo_key_parse(text, &key))
        status = is_same_photo(ctx, path, &key, &same);
    if (status == PSFM_OK ? !same : status == PSFM_ERR_IO)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "%s: the file has changed since its features were taken; extract %s anew", path,
                 database);
    free(path);
    return status == PSFM_ERR_IO ? PSFM_OK : status;
}

psfm_status psfm_warn_changed_photos(psfm_context *ctx, const char *database, const char *folder) {
    psfm_sql sql = {0};
    sqlite3_stmt *query = NULL;
    bool more = false;
    psfm_status status = psfm_sql_open_for_reading(ctx, database, &sql);
    sql.doing = "cannot read the table planarsfm_photos";
    if (status == PSFM_OK)
        status = psfm_sql_has_table(&sql, "planarsfm_photos", &more);
    if (status == PSFM_OK && more)
        status = psfm_sql_prepare(&sql,
                                  "SELECT name, key FROM planarsfm_photos JOIN images "
                                  "USING (image_id) ORDER BY image_id",
                                  NULL, 0, &query);
    while (more && psfm_sql_next(&sql, query, &status)) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        const char *key = (const char *)sqlite3_column_text(query, 1);
        if (name != NULL && key != NULL)
            status = compare_photo(ctx, database, folder, name, key);
    }
    sqlite3_finalize(query);
    psfm_sql_close(&sql);
    return status;
}
