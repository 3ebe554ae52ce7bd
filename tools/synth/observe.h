/* What the cameras of a synthetic scene see, and which of it the pairs match. */
#ifndef PSFM_SYNTH_OBSERVE_H
#define PSFM_SYNTH_OBSERVE_H

#include "synth/world.h"

/* The points in one image. Owns its arrays. */
typedef struct {
    size_t num;
    uint32_t *points;    /* indices of the points seen, ascending */
    uint32_t *keypoints; /* index of each one's keypoint: a permutation of 0 .. num - 1 */
    double (*xy)[2];     /* keypoints with noise, by keypoint index */
} psfm_synth_view;

/* Projects the world into all cameras; views has num_cameras zeroed entries. A point is seen if it
 * is in front of the camera and its exact image and its keypoint both fall into the picture;
 * nothing hides anything. On failure what was made stays to be freed. */
psfm_status psfm_synth_views_make(psfm_context *ctx, const psfm_world *world,
                                  psfm_synth_view *views);
void psfm_synth_views_free(psfm_synth_view *views, size_t num);

/* Lists the pairs of the neighbour rule in order: a ring or chain, each camera with the next
 * `neighbours`; or a grid, each with those at most sqrt(neighbours^2 + 1) steps away. */
psfm_status psfm_synth_list_pairs(psfm_context *ctx, const psfm_plan *plan, psfm_match_pair **pairs,
                                  size_t *num_pairs);

/* Matches the listed pairs. *is_duplicate is allocated, one per pair. */
psfm_status psfm_synth_match(psfm_context *ctx, const psfm_world *world,
                             const psfm_synth_view *views, psfm_match_pair *pairs, size_t num_pairs,
                             bool **is_duplicate);

/* The true model of what was seen; point_plane is allocated, one per point of the model. */
psfm_status psfm_synth_truth(psfm_context *ctx, const psfm_world *world,
                             const psfm_synth_view *views, psfm_model *model, int **point_plane);

/* "cam_0001.jpg" for index 0. */
psfm_status psfm_synth_image_name(psfm_context *ctx, size_t index, char **name);

#endif
