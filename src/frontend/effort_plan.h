/* What is to be spent on which photograph, decided from what their pairs came to, and kept in the
 * database. */
#ifndef PSFM_FRONTEND_EFFORT_PLAN_H
#define PSFM_FRONTEND_EFFORT_PLAN_H

#include "frontend/extract_folder.h"

/* What the patches of a pair of the database are worth, in verified matches. */
typedef struct {
    uint32_t id1, id2; /* of its images, id1 < id2 */
    double worth;
} psfm_pair_patches;

/* What a decision goes by beside the pairs. */
typedef struct {
    const psfm_folder_options *extract; /* the effort of photographs that are not raised; SIFT's
                                           options before any limit */
    unsigned causes;                    /* for more, see psfm_effort_need */
    psfm_effort most;                   /* that a photograph may get */
    psfm_pair_patches *patches;         /* any order; sorted in the decision */
    size_t num_patches;
} psfm_effort_grounds;

/* Photographs that are raised, sorted by the bytes of their names. Owns them. */
typedef struct {
    psfm_raised_photo *photos;
    size_t num;
} psfm_raised_photos;

void psfm_raised_photos_free(psfm_raised_photos *raised);

/* Reads what was decided last; *key is 0 if there is nothing that is about all photographs. */
psfm_status psfm_effort_plan_read(psfm_context *ctx, const char *database, psfm_effort base,
                                  uint64_t *key, psfm_raised_photos *raised);

/* Decides which photographs need more than they have, and which pairs would be matched in vain with
 * more features, and writes both down under `key`. `raised` is what was raised before, and becomes
 * what is now. *num_more: photographs that get more than before. If what came out is doubtful and
 * none can be given more, all stays as it was. */
psfm_status psfm_effort_plan_make(psfm_context *ctx, const char *database,
                                  const psfm_effort_grounds *grounds, uint64_t key,
                                  psfm_raised_photos *raised, size_t *num_more);

#endif
