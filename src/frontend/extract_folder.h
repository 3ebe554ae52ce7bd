/* From a folder of photographs to features in a database. */
#ifndef PSFM_FRONTEND_EXTRACT_FOLDER_H
#define PSFM_FRONTEND_EXTRACT_FOLDER_H

#include "frontend/intrinsics.h"
#include "images/feature/effort.h"
#include "images/feature/extract.h"

/* A photograph that gets more effort than others. */
typedef struct {
    char *name;
    psfm_effort effort;
} psfm_second_pass_photo;

typedef struct {
    psfm_intrinsics_options intrinsics;
    const char *mask_folder; /* NULL: none; see images/image/mask.h */
    const char *list_path;   /* text file that names the photographs; NULL: all of the folder */
    bool replace;            /* the database may lose most of its photographs */
    bool is_again;           /* what is left out was said before */
    psfm_extract_options extract;
    psfm_sift_options sift;
    psfm_effort_options effort; /* that SIFT is limited to; auto: high */
    /* Photographs that get more effort than that, sorted by the bytes of their names. NULL: none.
     */
    const psfm_second_pass_photo *second_pass;
    size_t num_second_pass;
    psfm_detector_options detector; /* the kind of features; the others' options */
    psfm_weights_list weights;      /* where the network's file is */
} psfm_folder_options;

/* A file that gave no features, and why. */
typedef struct {
    char *name, *reason;
} psfm_unused_photo;

/* Owns `unused`. */
typedef struct {
    const char *intrinsics;    /* where they came from; static */
    const char *features;      /* their kind; static */
    size_t num_images;         /* in the database */
    size_t num_extracted;      /* of these, extracted now */
    size_t num_unchanged;      /* of these, there already */
    size_t num_removed;        /* were in the database, but their files are gone or unreadable */
    size_t num_features;       /* of all images */
    size_t num_other_files;    /* no photographs */
    psfm_unused_photo *unused; /* images that could not be read */
    size_t num_unused;
} psfm_extract_stats;

void psfm_extract_stats_free(psfm_extract_stats *stats);

/* Extracts features of the photographs below `folder` into a COLMAP database, which is made if
 * need be: cameras, images in the order of their names, keypoints in pixels of the files (however
 * large the image was for extraction), descriptors. Batches of images are committed as they are
 * done; the next call goes on after an interruption, redoes photographs that changed (size or time
 * of the file or its mask, kind of features, weights, options) and removes those that are gone,
 * each with its matches. Images in the database that others made are a failure; so is, unless
 * `replace` is set, a database of whose photographs less than a third is in the folder, by name and
 * size (PSFM_ERR_ARGUMENT). `stats` is freed by the caller in any case. */
psfm_status psfm_extract_folder(psfm_context *ctx, const char *folder, const char *database,
                                const psfm_folder_options *options, psfm_extract_stats *stats);

/* One sentence about what was done. */
void psfm_extract_stats_describe(const psfm_extract_stats *stats, char *text, size_t size);

#endif
