/* What the files of the database reader and writer share. */
#ifndef PSFM_STORE_COLMAP_DATABASE_INTERNAL_H
#define PSFM_STORE_COLMAP_DATABASE_INTERNAL_H

#include "store/colmap_database.h"
#include "store/sql.h"

/* Image ids lie in 1 .. 2^31 - 2; pair_id = (2^31 - 1) * lower id + higher id. */
#define PSFM_PAIR_ID_BASE INT64_C(2147483647)

/* Reads an open database; psfm_database_read and the fuzz target call it. *set must be empty and
 * is not freed on failure; rays are left out. */
psfm_status psfm_database_read_tables(psfm_sql *sql, psfm_match_set *set,
                                      psfm_database_stats *stats);

/* Reads the table of cameras into the empty set, sorted by id. */
psfm_status psfm_database_read_cameras(psfm_sql *sql, psfm_match_set *set);
/* Takes rows, cols and data, the columns 1 to 3 of the current row, as the keypoints of a view. */
psfm_status psfm_database_get_keypoints(const psfm_sql *sql, sqlite3_stmt *statement,
                                        psfm_view *view);

/* Reads the table of matches or the inliers of two_view_geometries: adds the pairs that
 * `set` does not have yet, and adds to *num_added. Views and keypoints have been read. */
psfm_status psfm_database_read_pairs(psfm_sql *sql, const char *table, psfm_match_set *set,
                                     psfm_database_stats *stats, size_t *num_added);

/* Creates COLMAP 3.8's tables and its index. */
psfm_status psfm_database_create_tables(psfm_sql *sql);
/* Creates COLMAP's table two_view_geometries where it is missing. */
psfm_status psfm_database_need_geometries(psfm_sql *sql);

/* Creates our own tables, empty, in place of earlier ones. */
psfm_status psfm_database_create_two_view_tables(psfm_sql *sql, const char *options_key);

/* Reads our own tables of an open database: see psfm_database_read_two_views. On failure or with
 * *found false the entries are to be freed by the caller. */
psfm_status psfm_database_read_two_view_tables(psfm_sql *sql, const psfm_match_set *set,
                                               const char *options_key, psfm_two_view *two_views,
                                               bool *found);

/* COLMAP's number of a pair. */
int64_t psfm_database_pair_id(const psfm_match_set *set, const psfm_match_pair *pair);

/* A matrix stored as rows, cols and data, the columns first, first + 1 and first + 2 of the current
 * row. Checks that the data has rows * cols elements of 4 bytes. `owner` names it in messages;
 * *data points into the statement. */
psfm_status psfm_database_get_matrix(const psfm_sql *sql, sqlite3_stmt *statement, int first,
                                     const char *owner, size_t *rows, size_t *cols,
                                     const unsigned char **data);

#endif
