/* What was spent on which photograph, and why:
 *   planarsfm_verified  pair_id, inliers: matches of a pair that its geometry explains; VAIN if it
 *                       need not be matched with more features
 *   planarsfm_spent     image_id, key (16 hexadecimal digits), effort: one plan for all images
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/colmap_database_internal.h"
#include "io/feature_store.h"

#define VAIN (-1)

void psfm_effort_plan_free(psfm_effort_plan *plan) {
    free(plan->efforts);
    free(plan->vain);
    *plan = (psfm_effort_plan){0};
}

/* Writes what a pair came to. */
static psfm_status put_inliers(psfm_feature_store *store, uint32_t id1, uint32_t id2, int64_t num) {
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(
        &store->sql, "INSERT OR REPLACE INTO planarsfm_verified VALUES (?1, ?2)", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, PSFM_PAIR_ID_BASE * id1 + id2);
        sqlite3_bind_int64(statement, 2, num);
        status = psfm_sql_run(&store->sql, statement);
    }
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_store_put_verified(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                    size_t num) {
    return put_inliers(store, id1, id2, (int64_t)num);
}

static psfm_status put_effort(psfm_feature_store *store, uint32_t image_id, uint64_t key,
                              psfm_effort effort) {
    sqlite3_stmt *statement;
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, key);
    psfm_status status = psfm_sql_prepare(
        &store->sql, "INSERT INTO planarsfm_spent VALUES (?1, ?2, ?3)", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, image_id);
        sqlite3_bind_int(statement, 3, (int)effort);
        status = psfm_sql_bind_text(&store->sql, statement, 2, text);
    }
    if (status == PSFM_OK)
        status = psfm_sql_run(&store->sql, statement);
    sqlite3_finalize(statement);
    return status;
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
    for (size_t k = 0; status == PSFM_OK && k < plan->num_vain; ++k)
        status = put_inliers(store, plan->vain[k][0], plan->vain[k][1], VAIN);
    return status == PSFM_OK ? psfm_store_commit(store) : status;
}

/* One photograph's row; a key of 0 if there is none. */
static psfm_status get_effort(psfm_feature_store *store, uint32_t image_id, uint64_t *key,
                              psfm_effort *effort) {
    sqlite3_stmt *statement;
    bool has_row = false;
    *key = 0;
    *effort = PSFM_EFFORT_LOW;
    psfm_status status = psfm_sql_prepare(
        &store->sql, "SELECT key, effort FROM planarsfm_spent WHERE image_id = ?1", &statement);
    if (status == PSFM_OK) {
        sqlite3_bind_int64(statement, 1, image_id);
        status = psfm_sql_step(&store->sql, statement, &has_row);
    }
    const char *text = has_row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const int value = has_row ? sqlite3_column_int(statement, 1) : 0;
    if (text != NULL && value >= PSFM_EFFORT_LOW && value <= PSFM_EFFORT_HIGH) {
        *key = strtoull(text, NULL, 16);
        *effort = (psfm_effort)value;
    }
    sqlite3_finalize(statement);
    return status;
}

static psfm_status get_vain(psfm_feature_store *store, psfm_effort_plan *plan) {
    sqlite3_stmt *statement;
    size_t capacity = 0;
    psfm_status status = psfm_sql_prepare(
        &store->sql,
        "SELECT pair_id FROM planarsfm_verified WHERE inliers < 0 AND pair_id >= 0 ORDER BY "
        "pair_id",
        &statement);
    for (bool has_row = true; status == PSFM_OK;) {
        status = psfm_sql_step(&store->sql, statement, &has_row);
        if (status != PSFM_OK || !has_row)
            break;
        status = PSFM_RESERVE(store->sql.ctx, &plan->vain, &capacity, plan->num_vain + 1);
        if (status != PSFM_OK)
            break;
        const int64_t id = sqlite3_column_int64(statement, 0);
        plan->vain[plan->num_vain][0] = (uint32_t)(id / PSFM_PAIR_ID_BASE);
        plan->vain[plan->num_vain++][1] = (uint32_t)(id % PSFM_PAIR_ID_BASE);
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
        status = get_vain(store, plan);
    store->sql.doing = "cannot be written";
    return status;
}
