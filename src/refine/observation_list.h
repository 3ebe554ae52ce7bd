/* The tracks of a structure as the flat list that an adjustment takes. */
#ifndef PSFM_REFINE_OBSERVATION_LIST_H
#define PSFM_REFINE_OBSERVATION_LIST_H

#include "scene/triangulate.h"
#include "view/match_set.h"

/* Owns its arrays; all zeros are an empty one. */
typedef struct {
    size_t num;
    uint32_t *image, *point;
    double (*xy)[2];
    double (*sqrt_info)[3]; /* how well they are known; NULL: not wanted */
} psfm_observation_list;

/* Lists the observations anew. */
psfm_status psfm_observation_list_make(psfm_context *ctx, const psfm_match_set *set,
                                       const psfm_structure *structure, bool with_information,
                                       psfm_observation_list *list);
void psfm_observation_list_free(psfm_observation_list *list);

#endif
