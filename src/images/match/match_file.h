/* COLMAP's text files of matches. */
#ifndef PSFM_MATCH_MATCH_FILE_H
#define PSFM_MATCH_MATCH_FILE_H

#include "images/match/nearest_neighbour.h"

/* The matches of one pair of images, in the order of the file. */
typedef struct {
    size_t image1, image2; /* indices into the names */
    psfm_match_list list;  /* keypoints of image1, of image2 */
} psfm_file_pair;

/* Owns everything. */
typedef struct {
    psfm_file_pair *pairs;
    size_t num;
} psfm_match_file;

void psfm_match_file_free(psfm_match_file *file);

/* Parses the contents of a list as COLMAP's matches_importer takes it: blocks with an empty line
 * between them, each a line of two image names and lines of two keypoint indices, counted from 0.
 * Lines that begin with '#' are skipped. A pair may come once, in either order; whether its
 * keypoints exist is not checked. `path` is for messages. */
psfm_status psfm_match_file_parse(psfm_context *ctx, const char *bytes, size_t size,
                                  const char *path, const char *const *names, size_t num,
                                  psfm_match_file *out);

#endif
