/* Features and matches of other programs, into a COLMAP database. */
#ifndef PSFM_FRONTEND_IMPORT_MATCHES_H
#define PSFM_FRONTEND_IMPORT_MATCHES_H

#include "formats/hdf5_file.h"
#include "frontend/intrinsics.h"
#include "store/feature_store.h"

typedef struct {
    size_t num_images, num_keypoints; /* of hloc */
    size_t num_pairs, num_matches;
    size_t num_pairs_unknown;  /* hloc: left out, name an image without features */
    size_t num_pairs_repeated; /* hloc: left out, there in the other order, too */
} psfm_import_stats;

typedef struct {
    psfm_intrinsics_options intrinsics;
    /* What made the features, one of psfm_feature_names, so that they can be matched here; NULL:
     * not known, their descriptors are left out. */
    const char *features;
    double min_score; /* matches with a lower matching_scores0 are left out; 0 takes all */
} psfm_hloc_options;

/* Writes a new database from hloc's HDF5 files. Features: one group an image with the datasets
 * keypoints (N x 2, the first pixel's centre at 0, 0: 0.5 is added), and if they are there
 * descriptors (D x N), scores (N) and image_size (width, height). Matches: one group a pair with
 * matches0 (per keypoint of the first image the one of the second, or -1) and matching_scores0,
 * named a/b or, in older files, a_b, where a and b are image names with '-' for '/'. The database
 * must not exist; it is whole or absent. `stats` may be NULL. */
psfm_status psfm_import_hloc(psfm_context *ctx, const char *features_path, const char *matches_path,
                             const char *database, const psfm_hloc_options *options,
                             psfm_import_stats *stats);

/* The same from open files, which may be one and the same, into an open store without images. */
psfm_status psfm_import_hloc_files(psfm_context *ctx, psfm_h5 *features, psfm_h5 *matches,
                                   psfm_feature_store *store, const psfm_hloc_options *options,
                                   psfm_import_stats *stats);

/* Adds a text list of matches (images/match/match_file.h) to a database with keypoints, replacing
 * matches that these pairs had: raw ones, or with `verified` as inliers that COLMAP's mappers take
 * without a check. All or nothing. */
psfm_status psfm_import_match_file(psfm_context *ctx, const char *database, const char *path,
                                   bool verified, psfm_import_stats *stats);

#endif
