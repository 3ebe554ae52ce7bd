/* COLMAP's database.db (SQLite), versions 3.8 to 4.x, and our own tables in it. */
#ifndef PSFM_STORE_COLMAP_DATABASE_H
#define PSFM_STORE_COLMAP_DATABASE_H

#include "core/matches/match_set.h"
#include "core/twoview/two_view.h"

typedef struct {
    size_t num_pairs_from_matches;
    size_t num_pairs_from_geometries; /* had no raw matches, taken from two_view_geometries */
    size_t num_pairs_unknown;         /* left out: name an image that is gone, or one image twice */
    size_t num_pairs_repeated;        /* left out: given before, in either order of the images */
    size_t num_keypoints_without_ray; /* NaN or outside the camera's range */
    size_t num_matches_dropped;       /* keypoint index out of range, or given twice */
    size_t num_images_without_keypoints;
} psfm_database_stats;

/* Loads cameras, images, keypoints and matches of a database; rays are computed. A pair's raw
 * `matches` are taken; if it has none, the inliers of its two_view_geometry. Of matches that share
 * a keypoint on either side the first is kept. Pairs without a match are left out. No images, no
 * keypoints or no matches are fine. The database is opened read-only and nothing is left beside
 * it. `stats` may be NULL; *set is empty on failure. */
psfm_status psfm_database_read(psfm_context *ctx, const char *path, psfm_match_set *set,
                               psfm_database_stats *stats);

/* The same with the matched keypoints of each view first (psfm_match_set_sort_matched): less memory
 * for the same results. */
psfm_status psfm_database_read_matched_first(psfm_context *ctx, const char *path,
                                             psfm_match_set *set, psfm_database_stats *stats);

/* Writes a new database that COLMAP 3.8 reads: cameras, images, keypoints (N x 2, rounded to
 * float) and raw matches; whole or absent. Replaces an existing file. The same set gives the same
 * bytes. */
psfm_status psfm_database_write(psfm_context *ctx, const psfm_match_set *set, const char *path);

/* Stores the two-view geometries of all pairs in tables of our own (planarsfm_*), replacing earlier
 * ones, in one transaction; COLMAP's tables stay as they are. `options_key` is a text that
 * identifies input and options. two_views has set->num_pairs entries. A pair whose essential
 * matrix was not found is stored without it. */
psfm_status psfm_database_write_two_views(psfm_context *ctx, const char *path,
                                          const psfm_match_set *set, const psfm_two_view *two_views,
                                          const char *options_key);
/* Reads them back, doubles bit by bit, into set->num_pairs zeroed entries. *found is false, and the
 * entries are zero, if there are none or they belong to another options_key or other matches. */
psfm_status psfm_database_read_two_views(psfm_context *ctx, const char *path,
                                         const psfm_match_set *set, const char *options_key,
                                         psfm_two_view *two_views, bool *found);

/* Writes our verification into COLMAP's own two_view_geometries, replacing what is there (a table
 * that is missing is made), in one transaction, so that its mappers can start from it: per pair the
 * inliers of all its homographies and of its essential matrix; config 2 (calibrated) with E and the
 * relative pose if the essential matrix stands, else 4 (planar) or 5 (panoramic) with the largest
 * homography, else 1 (degenerate) with nothing. F and H act on pixels through the linear part of
 * the cameras. */
psfm_status psfm_database_write_colmap_geometries(psfm_context *ctx, const char *path,
                                                  const psfm_match_set *set,
                                                  const psfm_two_view *two_views);

#endif
