/* What is known of photographs beside their features: what was spent on which, and why, and where
 * they were taken:
 *   planarsfm_verified  pair_id, inliers: matches of a pair that its geometry explains; FAILED if
 * it need not be matched with more features planarsfm_spent     image_id, key (16 hexadecimal
 * digits), effort: one plan for all images planarsfm_places    image_id, latitude_deg,
 * longitude_deg, altitude_m (NULL: not known) */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "store/colmap_database_internal.h"
#include "store/feature_store.h"

#define FAILED (-1)

void psfm_effort_plan_free(psfm_effort_plan *plan) {
    free(plan->efforts);
    free(plan->failed);
    *plan = (psfm_effort_plan){0};
}

/* Writes what a pair came to. */
static psfm_status put_inliers(psfm_feature_store *store, uint32_t id1, uint32_t id2, int64_t num) {
    const psfm_sql_value values[] = {psfm_sql_int(PSFM_PAIR_ID_BASE * id1 + id2),
                                     psfm_sql_int(num)};
    return psfm_sql_exec_with(
        &store->sql, "INSERT OR REPLACE INTO planarsfm_verified VALUES (?1, ?2)", values, 2);
}

psfm_status psfm_store_put_verified(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                    size_t num) {
    return put_inliers(store, id1, id2, (int64_t)num);
}

static psfm_status put_effort(psfm_feature_store *store, uint32_t image_id, uint64_t key,
                              psfm_effort effort) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, key);
    const psfm_sql_value values[] = {psfm_sql_int(image_id), psfm_sql_text(text),
                                     psfm_sql_int(effort)};
    return psfm_sql_exec_with(&store->sql, "INSERT INTO planarsfm_spent VALUES (?1, ?2, ?3)",
                              values, 3);
}

psfm_status psfm_store_put_plan(psfm_feature_store *store, uint64_t key,
                                const psfm_stored_photos *photos, const psfm_effort_plan *plan) {
    psfm_status status = psfm_store_begin(store);
    if (status == PSFM_OK)
        status = psfm_sql_exec(&store->sql,
                               "DELETE FROM planarsfm_spent;"
                               "UPDATE planarsfm_verified SET inliers = 0 WHERE inliers < 0");
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k)
        status = put_effort(store, photos->photos[k].image_id, key, plan->efforts[k]);
    for (size_t k = 0; status == PSFM_OK && k < plan->num_failed; ++k)
        status = put_inliers(store, plan->failed[k][0], plan->failed[k][1], FAILED);
    return status == PSFM_OK ? psfm_store_commit(store) : status;
}

/* One photograph's row; a key of 0 if there is none. */
static psfm_status get_effort(psfm_feature_store *store, uint32_t image_id, uint64_t *key,
                              psfm_effort *effort) {
    const psfm_sql_value id = psfm_sql_int(image_id);
    sqlite3_stmt *statement;
    *key = 0;
    *effort = PSFM_EFFORT_LOW;
    psfm_status status =
        psfm_sql_prepare(&store->sql, "SELECT key, effort FROM planarsfm_spent WHERE image_id = ?1",
                         &id, 1, &statement);
    const bool has_row = psfm_sql_next(&store->sql, statement, &status);
    const char *text = has_row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const int value = has_row ? sqlite3_column_int(statement, 1) : 0;
    if (text != NULL && value >= PSFM_EFFORT_LOW && value <= PSFM_EFFORT_HIGH) {
        *key = strtoull(text, NULL, 16);
        *effort = (psfm_effort)value;
    }
    sqlite3_finalize(statement);
    return status;
}

static psfm_status get_failed_pairs(psfm_feature_store *store, psfm_effort_plan *plan) {
    sqlite3_stmt *statement;
    size_t capacity = 0;
    psfm_status status = psfm_sql_prepare(
        &store->sql,
        "SELECT pair_id FROM planarsfm_verified WHERE inliers < 0 AND pair_id >= 0 ORDER BY "
        "pair_id",
        NULL, 0, &statement);
    while (psfm_sql_next(&store->sql, statement, &status)) {
        status = PSFM_RESERVE(store->sql.ctx, &plan->failed, &capacity, plan->num_failed + 1);
        if (status != PSFM_OK)
            break;
        const int64_t id = sqlite3_column_int64(statement, 0);
        plan->failed[plan->num_failed][0] = (uint32_t)(id / PSFM_PAIR_ID_BASE);
        plan->failed[plan->num_failed++][1] = (uint32_t)(id % PSFM_PAIR_ID_BASE);
    }
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_store_plan(psfm_feature_store *store, const psfm_stored_photos *photos,
                            uint64_t *key, psfm_effort_plan *plan) {
    *plan = (psfm_effort_plan){0};
    *key = 0;
    store->sql.doing = "cannot read the table planarsfm_spent";
    psfm_status status = PSFM_ALLOC(store->sql.ctx, photos->num, &plan->efforts);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k) {
        uint64_t own = 0;
        status = get_effort(store, photos->photos[k].image_id, &own, &plan->efforts[k]);
        *key = k == 0 || *key == own ? own : 0;
    }
    if (status == PSFM_OK)
        status = get_failed_pairs(store, plan);
    store->sql.doing = "cannot be written";
    return status;
}

/* ---- where photographs were taken ---- */

static psfm_status put_place(psfm_feature_store *store, const char *name, const psfm_geodetic *at) {
    const psfm_sql_value values[] = {psfm_sql_text(name), psfm_sql_real(at->latitude_deg),
                                     psfm_sql_real(at->longitude_deg),
                                     psfm_sql_real(at->altitude_m)};
    return psfm_sql_exec_with(&store->sql,
                              "INSERT OR REPLACE INTO planarsfm_places"
                              " SELECT image_id, ?2, ?3, ?4 FROM images WHERE name = ?1",
                              values, 4);
}

static psfm_status drop_place(psfm_feature_store *store, const char *name) {
    const psfm_sql_value value = psfm_sql_text(name);
    return psfm_sql_exec_with(&store->sql,
                              "DELETE FROM planarsfm_places WHERE image_id IN"
                              " (SELECT image_id FROM images WHERE name = ?1)",
                              &value, 1);
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
    sql->doing = "cannot read the table planarsfm_places";
    psfm_status status = psfm_sql_prepare(
        sql,
        "SELECT latitude_deg, longitude_deg, altitude_m FROM images LEFT JOIN planarsfm_places"
        " USING (image_id) ORDER BY CAST(name AS BLOB)",
        NULL, 0, &statement);
    for (size_t k = 0; k < photos->num && psfm_sql_next(sql, statement, &status); ++k)
        at[k] = (psfm_geodetic){number_or_nan(statement, 0), number_or_nan(statement, 1),
                                number_or_nan(statement, 2)};
    sqlite3_finalize(statement);
    sql->doing = "cannot be written";
    return status;
}
