/* Where photographs were taken:
 *   planarsfm_places  image_id, latitude_deg, longitude_deg, altitude_m (NULL: not known) */
#include <math.h>

#include "io/feature_store.h"

static psfm_status put_place(psfm_feature_store *store, const char *name, const psfm_geodetic *at) {
    sqlite3_stmt *statement;
    psfm_status status =
        psfm_sql_prepare(&store->sql,
                         "INSERT OR REPLACE INTO planarsfm_places"
                         " SELECT image_id, ?2, ?3, ?4 FROM images WHERE name = ?1",
                         &statement);
    if (status == PSFM_OK)
        status = psfm_sql_bind_text(&store->sql, statement, 1, name);
    if (status == PSFM_OK) {
        sqlite3_bind_double(statement, 2, at->latitude_deg);
        sqlite3_bind_double(statement, 3, at->longitude_deg);
        sqlite3_bind_double(statement, 4, at->altitude_m); /* NAN becomes NULL */
        status = psfm_sql_run(&store->sql, statement);
    }
    sqlite3_finalize(statement);
    return status;
}

static psfm_status drop_place(psfm_feature_store *store, const char *name) {
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(&store->sql,
                                          "DELETE FROM planarsfm_places WHERE image_id IN"
                                          " (SELECT image_id FROM images WHERE name = ?1)",
                                          &statement);
    if (status == PSFM_OK)
        status = psfm_sql_bind_text(&store->sql, statement, 1, name);
    if (status == PSFM_OK)
        status = psfm_sql_run(&store->sql, statement);
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_store_put_place(psfm_feature_store *store, const char *name,
                                 const psfm_geodetic *at) {
    return at == NULL ? drop_place(store, name) : put_place(store, name, at);
}

static double number_or_nan(sqlite3_stmt *statement, int column) {
    bool is_number = sqlite3_column_type(statement, column) != SQLITE_NULL;
    return is_number ? sqlite3_column_double(statement, column) : (double)NAN;
}

/* Both are in the order of names. */
psfm_status psfm_store_places(psfm_feature_store *store, const psfm_stored_photos *photos,
                              psfm_geodetic *at) {
    psfm_sql *sql = &store->sql;
    sqlite3_stmt *statement;
    bool has_row = false;
    sql->doing = "cannot read the table planarsfm_places";
    psfm_status status = psfm_sql_prepare(
        sql,
        "SELECT latitude_deg, longitude_deg, altitude_m FROM images LEFT JOIN planarsfm_places"
        " USING (image_id) ORDER BY CAST(name AS BLOB)",
        &statement);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k) {
        status = psfm_sql_step(sql, statement, &has_row);
        if (status == PSFM_OK && has_row)
            at[k] = (psfm_geodetic){number_or_nan(statement, 0), number_or_nan(statement, 1),
                                    number_or_nan(statement, 2)};
    }
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}
