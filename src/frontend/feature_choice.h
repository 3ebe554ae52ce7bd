/* Which features the photographs of a folder are to have. */
#ifndef PSFM_FRONTEND_FEATURE_CHOICE_H
#define PSFM_FRONTEND_FEATURE_CHOICE_H

#include "frontend/extract_folder.h"

/* Owns its path. */
typedef struct {
    psfm_effort effort;                           /* of photographs of the first pass */
    psfm_sift_options sift[PSFM_EFFORT_HIGH + 1]; /* within each effort */
    char *weights;                                /* path; NULL for SIFT */
    uint64_t key; /* of whatever the features depend on beside the photograph */
    uint64_t second_pass_keys[PSFM_EFFORT_HIGH + 1]; /* of the options within each effort */
} psfm_feature_choice;

/* Finds the weights and makes the keys. */
psfm_status psfm_feature_choice_make(psfm_context *ctx, const psfm_folder_options *options,
                                     psfm_feature_choice *choice);
void psfm_feature_choice_free(psfm_feature_choice *choice);

#endif
