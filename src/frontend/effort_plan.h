/* What is to be spent on which photograph, decided from what their pairs came to, and kept in the
 * database. */
#ifndef PSFM_FRONTEND_EFFORT_PLAN_H
#define PSFM_FRONTEND_EFFORT_PLAN_H

#include "frontend/extract_folder.h"

/* The weight of the patches of a pair of the database, in verified matches. */
typedef struct {
    uint32_t id1, id2; /* of its images, id1 < id2 */
    double num_matches;
} psfm_pair_patches;

/* What a decision goes by beside the pairs. */
typedef struct {
    const psfm_folder_options
        *extract; /* the effort of photographs of the first pass; SIFT's options before any limit */
    unsigned causes;            /* for more, see psfm_effort_need */
    psfm_effort most;           /* that a photograph may get */
    psfm_pair_patches *patches; /* any order; sorted in the decision */
    size_t num_patches;
} psfm_effort_criteria;

/* Photographs of the second pass, which get more effort, sorted by the bytes of their names. Owns
 * them. */
typedef struct {
    psfm_second_pass_photo *photos;
    size_t num;
} psfm_second_pass_photos;

void psfm_second_pass_photos_free(psfm_second_pass_photos *second_pass);

/* Reads what was decided last; *key is 0 if there is nothing that is about all photographs. */
psfm_status psfm_effort_plan_read(psfm_context *ctx, const char *database, psfm_effort base,
                                  uint64_t *key, psfm_second_pass_photos *second_pass);

/* Decides which photographs need more than they have, and which pairs would fail with more
 * features, too, and writes both down under `key`. `second_pass` has the photographs of the last
 * decision, and gets those of this one. *num_more: photographs that get more than before. If what
 * came out is doubtful and none can be given more, all stays as it was. */
psfm_status psfm_effort_plan_make(psfm_context *ctx, const char *database,
                                  const psfm_effort_criteria *criteria, uint64_t key,
                                  psfm_second_pass_photos *second_pass, size_t *num_more);

#endif
