/* Physical planes: homographies of different edges that are one flat thing. */
#ifndef PSFM_POSEGRAPH_PLANE_GROUP_H
#define PSFM_POSEGRAPH_PLANE_GROUP_H

#include "core/posegraph/pose_graph.h"

/* Keypoints that two homographies of one physical plane share in a camera: as many as determine
 * one. */
enum { PSFM_PLANE_MIN_OVERLAP = 4 };

/* Which physical plane each plane of the graph belongs to. Owns its array. */
typedef struct {
    uint32_t *group;     /* per plane; UINT32_MAX if it has no hypothesis with weight > 0 */
    uint32_t num_groups; /* numbered by decreasing inliers, ties by lowest plane */
} psfm_plane_groups;

/* Joins the planes of edges for which keep is true (NULL: all), by their heaviest hypotheses, where
 * they overlap in a shared camera. Best overlaps first; a join that would put two planes of one
 * edge into one group is left out, since they are different there. */
psfm_status psfm_plane_groups_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                   const bool *keep, psfm_plane_groups *out);
void psfm_plane_groups_free(psfm_plane_groups *groups);

/* The heaviest hypothesis of a plane, the first on ties; NULL if all weigh 0. */
const psfm_hypothesis *psfm_plane_choice(const psfm_pose_graph *graph, uint32_t plane);

#endif
