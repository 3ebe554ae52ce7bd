/* The longest tracks that hold every pair of images as well as all of them roughly do. */
#ifndef PSFM_REFINE_LONG_TRACKS_H
#define PSFM_REFINE_LONG_TRACKS_H

#include "refine/observation_list.h"
#include "scene/tracks.h"

/* Chooses tracks, the longest first, until every two images have per_pair of them in common (at
 * most 255), or all that there are: an image that has few loses none. `xy` are the places of their
 * keypoints. *num_observations is their length together. All are chosen if the pairs of so many
 * images would not fit into the memory. */
psfm_status psfm_long_tracks_choose(psfm_context *ctx, const psfm_tracks *tracks,
                                    const double (*xy)[2], size_t num_images, int per_pair,
                                    bool *chosen, size_t *num_observations);

/* The observations of the chosen points, without information. */
psfm_status psfm_observation_list_choose(psfm_context *ctx, const psfm_observation_list *all,
                                         const bool *chosen, size_t num_observations,
                                         psfm_observation_list *out);

#endif
