/* Our two-view geometries beside COLMAP's tables, which COLMAP ignores:
 *   planarsfm_meta          key, value: schema_version, options_key
 *   planarsfm_pairs         pair_id, kind (psfm_pair_kind), num_matches
 *   planarsfm_homographies  pair_id, idx from 0, H, inliers, rms_px, is_rotation, motions
 *   planarsfm_essential     pair_id, R, t, inliers, plane_share, is_degenerate
 * Matrices are blobs of little-endian doubles, row by row (SQLite's own numbers would lose the sign
 * of a zero); inliers are blobs of little-endian 32-bit indices into the pair's matches; a motion
 * is R, t, n1, n2, d2_over_d1, 19 doubles. See core/twoview/two_view.h for what they mean. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "formats/little_endian.h"
#include "store/colmap_database_internal.h"

#define SCHEMA_VERSION "1"
#define MAX_MOTIONS 2
#define MOTION_DOUBLES ((size_t)(9 + 3 + 3 + 3 + 1))

static const char schema[] =
    "DROP TABLE IF EXISTS planarsfm_meta; DROP TABLE IF EXISTS planarsfm_pairs;"
    "DROP TABLE IF EXISTS planarsfm_homographies; DROP TABLE IF EXISTS planarsfm_essential;"
    "CREATE TABLE planarsfm_meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);"
    "CREATE TABLE planarsfm_pairs (pair_id INTEGER PRIMARY KEY NOT NULL, kind INTEGER NOT NULL,"
    " num_matches INTEGER NOT NULL);"
    "CREATE TABLE planarsfm_homographies (pair_id INTEGER NOT NULL, idx INTEGER NOT NULL,"
    " H BLOB NOT NULL, inliers BLOB NOT NULL, rms_px REAL NOT NULL, is_rotation INTEGER NOT NULL,"
    " motions BLOB NOT NULL, PRIMARY KEY (pair_id, idx));"
    "CREATE TABLE planarsfm_essential (pair_id INTEGER PRIMARY KEY NOT NULL, R BLOB NOT NULL,"
    " t BLOB NOT NULL, inliers BLOB NOT NULL, plane_share REAL NOT NULL,"
    " is_degenerate INTEGER NOT NULL);";

/* --- writing --- */

typedef struct {
    psfm_sql *sql;
    sqlite3_stmt *pair, *homography, *essential;
    unsigned char *inliers; /* scratch */
    size_t capacity;
} writer;

static psfm_status put_inliers(writer *w, const uint32_t *inliers, size_t num) {
    psfm_status status = psfm_reserve(w->sql->ctx, &w->inliers, &w->capacity, num, 4);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        psfm_put_u32(inliers[k], w->inliers + 4 * k);
    return status;
}

static void put_motion(const psfm_plane_motion *motion, unsigned char *bytes) {
    double values[MOTION_DOUBLES];
    memcpy(values, motion->R_21, sizeof motion->R_21);
    memcpy(values + 9, motion->t_21, sizeof motion->t_21);
    memcpy(values + 12, motion->n1, sizeof motion->n1);
    memcpy(values + 15, motion->n2, sizeof motion->n2);
    values[18] = motion->d2_over_d1;
    psfm_put_f64s(values, MOTION_DOUBLES, bytes);
}

static psfm_status write_homography(writer *w, int64_t pair_id, size_t idx,
                                    const psfm_homography *homography) {
    unsigned char H[8 * 9], motions[MOTION_DOUBLES * MAX_MOTIONS * 8];
    if (homography->num_motions < 1 || homography->num_motions > MAX_MOTIONS ||
        !isfinite(homography->rms_px))
        return psfm_fail(w->sql->ctx, PSFM_ERR_ARGUMENT,
                         "pair %" PRId64 ": homography %zu has %d motions and an error of %g px",
                         pair_id, idx, homography->num_motions, homography->rms_px);
    size_t num_motions = (size_t)homography->num_motions;
    psfm_put_f64s(homography->H_21, 9, H);
    for (size_t k = 0; k < num_motions; ++k)
        put_motion(&homography->motions[k], motions + 8 * MOTION_DOUBLES * k);
    psfm_status status = put_inliers(w, homography->inliers, homography->num_inliers);
    const psfm_sql_value values[] = {psfm_sql_int(pair_id),
                                     psfm_sql_int((int64_t)idx),
                                     psfm_sql_blob(H, sizeof H),
                                     psfm_sql_blob(w->inliers, 4 * homography->num_inliers),
                                     psfm_sql_real(homography->rms_px),
                                     psfm_sql_int(homography->is_rotation),
                                     psfm_sql_blob(motions, 8 * MOTION_DOUBLES * num_motions)};
    return status == PSFM_OK ? psfm_sql_run(w->sql, w->homography, values, 7) : status;
}

static psfm_status write_essential(writer *w, int64_t pair_id, const psfm_essential *essential) {
    unsigned char R[8 * 9], t[8 * 3];
    if (!isfinite(essential->plane_share))
        return psfm_fail(w->sql->ctx, PSFM_ERR_ARGUMENT,
                         "pair %" PRId64 ": the plane's share of the essential matrix is %g",
                         pair_id, essential->plane_share);
    psfm_put_f64s(essential->R_21, 9, R);
    psfm_put_f64s(essential->t_21, 3, t);
    psfm_status status = put_inliers(w, essential->inliers, essential->num_inliers);
    const psfm_sql_value values[] = {psfm_sql_int(pair_id),
                                     psfm_sql_blob(R, sizeof R),
                                     psfm_sql_blob(t, sizeof t),
                                     psfm_sql_blob(w->inliers, 4 * essential->num_inliers),
                                     psfm_sql_real(essential->plane_share),
                                     psfm_sql_int(essential->is_degenerate)};
    return status == PSFM_OK ? psfm_sql_run(w->sql, w->essential, values, 6) : status;
}

static psfm_status write_pair(writer *w, int64_t pair_id, const psfm_match_pair *pair,
                              const psfm_two_view *two_view) {
    const psfm_sql_value values[] = {psfm_sql_int(pair_id), psfm_sql_int(two_view->kind),
                                     psfm_sql_int((int64_t)pair->num_matches)};
    psfm_status status = psfm_sql_run(w->sql, w->pair, values, 3);
    for (size_t k = 0; status == PSFM_OK && k < two_view->num_homographies; ++k)
        status = write_homography(w, pair_id, k, &two_view->homographies[k]);
    if (status == PSFM_OK && two_view->essential.found)
        status = write_essential(w, pair_id, &two_view->essential);
    return status;
}

static psfm_status write_meta(psfm_sql *sql, const char *key, const char *value) {
    const psfm_sql_value values[] = {psfm_sql_text(key), psfm_sql_text(value)};
    return psfm_sql_exec_with(sql, "INSERT INTO planarsfm_meta VALUES (?1, ?2)", values, 2);
}

psfm_status psfm_database_create_two_view_tables(psfm_sql *sql, const char *options_key) {
    psfm_status status = psfm_sql_exec(sql, schema);
    if (status == PSFM_OK)
        status = write_meta(sql, "schema_version", SCHEMA_VERSION);
    if (status == PSFM_OK)
        status = write_meta(sql, "options_key", options_key);
    return status;
}

static psfm_status prepare_writer(writer *w) {
    psfm_status status = psfm_sql_prepare(w->sql, "INSERT INTO planarsfm_pairs VALUES (?1, ?2, ?3)",
                                          NULL, 0, &w->pair);
    if (status == PSFM_OK)
        status = psfm_sql_prepare(
            w->sql, "INSERT INTO planarsfm_homographies VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", NULL,
            0, &w->homography);
    if (status == PSFM_OK)
        status = psfm_sql_prepare(w->sql,
                                  "INSERT INTO planarsfm_essential VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                  NULL, 0, &w->essential);
    return status;
}

psfm_status psfm_database_write_two_views(psfm_context *ctx, const char *path,
                                          const psfm_match_set *set, const psfm_two_view *two_views,
                                          const char *options_key) {
    psfm_sql sql;
    psfm_status status = psfm_sql_open_for_writing(ctx, path, &sql);
    writer w = {.sql = &sql};
    sql.doing = "cannot store the two-view geometries";
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "BEGIN IMMEDIATE");
    if (status == PSFM_OK)
        status = psfm_database_create_two_view_tables(&sql, options_key);
    if (status == PSFM_OK)
        status = prepare_writer(&w);
    for (size_t k = 0; status == PSFM_OK && k < set->num_pairs; ++k)
        status = write_pair(&w, psfm_database_pair_id(set, &set->pairs[k]), &set->pairs[k],
                            &two_views[k]);
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "COMMIT");
    sqlite3_finalize(w.pair);
    sqlite3_finalize(w.homography);
    sqlite3_finalize(w.essential);
    free(w.inliers);
    psfm_sql_close(&sql); /* rolls back what was not committed */
    return status;
}

/* --- reading --- */

static psfm_status fail_row(const psfm_sql *sql, const char *table, int64_t pair_id) {
    return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                     "%s: the row of pair %" PRId64
                     " in %s is damaged; drop the planarsfm_* tables to compute it anew",
                     sql->path, pair_id, table);
}

/* Doubles of a blob that must hold exactly so many. */
static bool get_doubles(sqlite3_stmt *statement, int column, size_t num, double *values) {
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    if (bytes == NULL || (size_t)sqlite3_column_bytes(statement, column) != 8 * num)
        return false;
    for (size_t k = 0; k < num; ++k)
        values[k] = psfm_get_f64(bytes + 8 * k);
    return true;
}

/* Ascending indices below num_matches. *good tells whether they are. */
static psfm_status get_inliers(const psfm_sql *sql, sqlite3_stmt *statement, int column,
                               size_t num_matches, uint32_t **inliers, size_t *num, bool *good) {
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column), count = size / 4;
    *good = size % 4 == 0 && (bytes != NULL || size == 0);
    if (!*good)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(sql->ctx, count, inliers);
    if (status != PSFM_OK)
        return status;
    *num = count;
    for (size_t k = 0; k < count; ++k) {
        (*inliers)[k] = psfm_get_u32(bytes + 4 * k);
        if ((*inliers)[k] >= num_matches || (k > 0 && (*inliers)[k] <= (*inliers)[k - 1]))
            *good = false;
    }
    return PSFM_OK;
}

static bool get_motions(sqlite3_stmt *statement, int column, psfm_homography *homography) {
    double values[MOTION_DOUBLES * MAX_MOTIONS];
    size_t num = (size_t)sqlite3_column_bytes(statement, column) / (8 * MOTION_DOUBLES);
    if (num < 1 || num > MAX_MOTIONS ||
        !get_doubles(statement, column, num * MOTION_DOUBLES, values))
        return false;
    homography->num_motions = (int)num;
    for (size_t k = 0; k < num; ++k) {
        const double *from = values + MOTION_DOUBLES * k;
        psfm_plane_motion *motion = &homography->motions[k];
        memcpy(motion->R_21, from, sizeof motion->R_21);
        memcpy(motion->t_21, from + 9, sizeof motion->t_21);
        memcpy(motion->n1, from + 12, sizeof motion->n1);
        memcpy(motion->n2, from + 15, sizeof motion->n2);
        motion->d2_over_d1 = from[18];
    }
    return true;
}

/* Makes room for one more homography, no more: pairs have few, but there are many pairs. */
static psfm_status append_homography(psfm_context *ctx, psfm_two_view *two_view) {
    psfm_homography *grown = NULL;
    size_t num = two_view->num_homographies;
    psfm_status status = PSFM_ALLOC(ctx, num + 1, &grown);
    if (status != PSFM_OK)
        return status;
    if (num > 0)
        memcpy(grown, two_view->homographies, num * sizeof *grown);
    free(two_view->homographies);
    two_view->homographies = grown;
    two_view->num_homographies = num + 1;
    return PSFM_OK;
}

static psfm_status read_homography(const psfm_sql *sql, sqlite3_stmt *statement,
                                   const psfm_match_pair *pair, psfm_two_view *two_view) {
    size_t idx = two_view->num_homographies;
    psfm_status status = append_homography(sql->ctx, two_view);
    if (status != PSFM_OK)
        return status;
    psfm_homography *homography = &two_view->homographies[idx];
    bool good_inliers = true;
    bool good = sqlite3_column_int64(statement, 1) == (int64_t)idx &&
                get_doubles(statement, 2, 9, homography->H_21) &&
                get_motions(statement, 6, homography);
    homography->rms_px = sqlite3_column_double(statement, 4);
    homography->is_rotation = sqlite3_column_int(statement, 5) != 0;
    status = get_inliers(sql, statement, 3, pair->num_matches, &homography->inliers,
                         &homography->num_inliers, &good_inliers);
    if (status == PSFM_OK && !(good && good_inliers))
        status = fail_row(sql, "planarsfm_homographies", sqlite3_column_int64(statement, 0));
    return status;
}

static psfm_status read_essential(const psfm_sql *sql, sqlite3_stmt *statement,
                                  const psfm_match_pair *pair, psfm_two_view *two_view) {
    psfm_essential *essential = &two_view->essential;
    bool good = !essential->found && get_doubles(statement, 1, 9, essential->R_21) &&
                get_doubles(statement, 2, 3, essential->t_21);
    if (!good)
        return fail_row(sql, "planarsfm_essential", sqlite3_column_int64(statement, 0));
    essential->found = true;
    essential->plane_share = sqlite3_column_double(statement, 4);
    essential->is_degenerate = sqlite3_column_int(statement, 5) != 0;
    psfm_status status = get_inliers(sql, statement, 3, pair->num_matches, &essential->inliers,
                                     &essential->num_inliers, &good);
    if (status == PSFM_OK && !good)
        status = fail_row(sql, "planarsfm_essential", sqlite3_column_int64(statement, 0));
    return status;
}

typedef psfm_status (*read_row_fn)(const psfm_sql *sql, sqlite3_stmt *statement,
                                   const psfm_match_pair *pair, psfm_two_view *two_view);

/* A pair of the set under its id in the database. */
typedef struct {
    int64_t id;
    size_t pair;
} pair_place;

/* The pairs of a set in the order of their ids, which need not be that of the set. */
typedef struct {
    const psfm_match_set *set;
    pair_place *places;
    psfm_two_view *two_views;
} pair_reader;

static psfm_status list_places(psfm_context *ctx, pair_reader *r) {
    const psfm_match_set *set = r->set;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &r->places);
    for (size_t k = 0; status == PSFM_OK && k < set->num_pairs; ++k)
        r->places[k] = (pair_place){psfm_database_pair_id(set, &set->pairs[k]), k};
    if (status == PSFM_OK && set->num_pairs > 0)
        qsort(r->places, set->num_pairs, sizeof *r->places, psfm_compare_u64);
    return status;
}

/* Reads the rows of a table in the order of the pairs' ids; a row of no pair is damage. */
static psfm_status read_rows(psfm_sql *sql, const char *query, const char *table,
                             const pair_reader *r, read_row_fn read_row) {
    size_t num = r->set->num_pairs;
    size_t k = 0;
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(sql, query, NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        int64_t pair_id = sqlite3_column_int64(statement, 0);
        while (k < num && r->places[k].id < pair_id)
            ++k;
        if (k == num || r->places[k].id != pair_id)
            status = fail_row(sql, table, pair_id);
        else
            status = read_row(sql, statement, &r->set->pairs[r->places[k].pair],
                              &r->two_views[r->places[k].pair]);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Reads the kinds. *found is false if the pairs or their numbers of matches are not the set's. */
static psfm_status read_pairs(psfm_sql *sql, const pair_reader *r, bool *found) {
    const psfm_match_set *set = r->set;
    sqlite3_stmt *statement;
    size_t num = 0;
    psfm_status status = psfm_sql_prepare(
        sql, "SELECT pair_id, kind, num_matches FROM planarsfm_pairs ORDER BY pair_id", NULL, 0,
        &statement);
    for (; psfm_sql_next(sql, statement, &status); ++num) {
        int64_t pair_id = sqlite3_column_int64(statement, 0);
        int kind = sqlite3_column_int(statement, 1);
        const pair_place *place = num < set->num_pairs ? &r->places[num] : NULL;
        if (place == NULL || place->id != pair_id ||
            sqlite3_column_int64(statement, 2) != (int64_t)set->pairs[place->pair].num_matches) {
            *found = false;
            break;
        }
        if (kind < PSFM_PAIR_OK || kind > PSFM_PAIR_ROTATION)
            status = fail_row(sql, "planarsfm_pairs", pair_id);
        r->two_views[place->pair].kind = (psfm_pair_kind)kind;
    }
    if (num != set->num_pairs)
        *found = false;
    sqlite3_finalize(statement);
    return status;
}

/* Whether the value under a key is there and this one. */
static psfm_status check_meta(psfm_sql *sql, const char *key, const char *value, bool *found) {
    const psfm_sql_value values[] = {psfm_sql_text(key), psfm_sql_text(value)};
    int64_t is_there;
    psfm_status status = psfm_sql_number(
        sql, "SELECT 1 FROM planarsfm_meta WHERE key = ?1 AND value = ?2", values, 2, &is_there);
    *found = *found && is_there != 0;
    return status;
}

psfm_status psfm_database_read_two_view_tables(psfm_sql *sql, const psfm_match_set *set,
                                               const char *options_key, psfm_two_view *two_views,
                                               bool *found) {
    pair_reader r = {.set = set, .two_views = two_views};
    sql->doing = "cannot read the two-view geometries";
    psfm_status status = list_places(sql->ctx, &r);
    if (status == PSFM_OK)
        status = psfm_sql_exec(sql, "BEGIN");
    if (status == PSFM_OK)
        status = psfm_sql_has_table(sql, "planarsfm_meta", found);
    if (status == PSFM_OK && *found)
        status = check_meta(sql, "schema_version", SCHEMA_VERSION, found);
    if (status == PSFM_OK && *found)
        status = check_meta(sql, "options_key", options_key, found);
    if (status == PSFM_OK && *found)
        status = read_pairs(sql, &r, found);
    if (status == PSFM_OK && *found)
        status = read_rows(sql,
                           "SELECT pair_id, idx, H, inliers, rms_px, is_rotation, motions FROM "
                           "planarsfm_homographies ORDER BY pair_id, idx",
                           "planarsfm_homographies", &r, read_homography);
    if (status == PSFM_OK && *found)
        status = read_rows(sql,
                           "SELECT pair_id, R, t, inliers, plane_share, is_degenerate FROM "
                           "planarsfm_essential ORDER BY pair_id",
                           "planarsfm_essential", &r, read_essential);
    if (status == PSFM_OK)
        status = psfm_sql_exec(sql, "COMMIT");
    free(r.places);
    return status;
}

psfm_status psfm_database_read_two_views(psfm_context *ctx, const char *path,
                                         const psfm_match_set *set, const char *options_key,
                                         psfm_two_view *two_views, bool *found) {
    psfm_sql sql;
    bool is_there = false;
    psfm_status status = psfm_sql_open_for_reading(ctx, path, &sql);
    if (status == PSFM_OK)
        status = psfm_database_read_two_view_tables(&sql, set, options_key, two_views, &is_there);
    if (status == PSFM_OK)
        status = psfm_sql_check_unchanged(&sql);
    psfm_sql_close(&sql);
    if (status != PSFM_OK || !is_there)
        for (size_t k = 0; k < set->num_pairs; ++k)
            psfm_two_view_free(&two_views[k]);
    *found = status == PSFM_OK && is_there;
    return status;
}
