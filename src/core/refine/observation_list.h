/* The tracks of a structure as the flat list that an adjustment takes. */
#ifndef PSFM_REFINE_OBSERVATION_LIST_H
#define PSFM_REFINE_OBSERVATION_LIST_H

#include "core/matches/match_set.h"
#include "core/structure/tracks.h"
#include "core/structure/triangulate.h"

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

/* Chooses tracks, the longest first, until every two images have per_pair of them in common (at
 * most 255), or all that there are: an image that has few loses none. `xy` are the places of their
 * keypoints. *num_observations is their length together. All are chosen if there are more
 * than 46,000 images. */
psfm_status psfm_long_tracks_choose(psfm_context *ctx, const psfm_tracks *tracks,
                                    const double (*xy)[2], size_t num_images, int per_pair,
                                    bool *chosen, size_t *num_observations);

/* The observations of the chosen points, without information. */
psfm_status psfm_observation_list_choose(psfm_context *ctx, const psfm_observation_list *all,
                                         const bool *chosen, size_t num_observations,
                                         psfm_observation_list *out);

#endif
