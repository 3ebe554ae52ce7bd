/* Photographs that changed since their features were taken, by the size that the key of extraction
 * records. */
#include "frontend/photo_changes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "store/sql.h"

/* The size that a key of extraction records: "options size@time mask"; -1 if it has none. */
static long long recorded_size(const char *key) {
    const char *blank = key == NULL ? NULL : strchr(key, ' ');
    char *end = NULL;
    if (blank == NULL)
        return -1;
    long long size = strtoll(blank + 1, &end, 10);
    return *end == '@' ? size : -1;
}

psfm_status psfm_is_same_photo(psfm_context *ctx, const char *folder, const char *name,
                               const char *key, bool *same) {
    char *path = NULL;
    struct stat info;
    long long size = recorded_size(key);
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    *same = status == PSFM_OK && (size < 0 || (stat(path, &info) == 0 && info.st_size == size));
    free(path);
    return status;
}

static psfm_status compare_photo(psfm_context *ctx, const char *database, const char *folder,
                                 const char *name, const char *key) {
    char *path = NULL;
    bool same = true;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    if (status == PSFM_OK && psfm_path_is_file(path))
        status = psfm_is_same_photo(ctx, folder, name, key, &same);
    if (!same)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "%s: the file has changed since its features were taken; extract %s anew", path,
                 database);
    free(path);
    return status;
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
        if (name != NULL)
            status = compare_photo(ctx, database, folder, name,
                                   (const char *)sqlite3_column_text(query, 1));
    }
    sqlite3_finalize(query);
    psfm_sql_close(&sql);
    return status;
}
