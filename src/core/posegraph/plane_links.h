/* Which homographies of different edges see the same keypoints of a shared camera. */
#ifndef PSFM_POSEGRAPH_PLANE_LINKS_H
#define PSFM_POSEGRAPH_PLANE_LINKS_H

#include "core/posegraph/pose_graph.h"

typedef struct {
    uint32_t plane1, plane2; /* of different edges; edge of plane1 < edge of plane2 */
    uint32_t node;           /* the camera that both edges share */
    uint32_t overlap;        /* keypoints of it that are inliers of both */
} psfm_plane_link;

typedef struct {
    psfm_plane_link *links; /* by node, then plane1, plane2 */
    size_t num;
} psfm_plane_links;

/* All links with at least min_overlap (>= 1) shared keypoints, between edges that share exactly
 * one camera. Parallel over cameras. */
psfm_status psfm_plane_links_build(psfm_context *ctx, const psfm_pose_graph *graph,
                                   uint32_t min_overlap, psfm_plane_links *out);
void psfm_plane_links_free(psfm_plane_links *links);

#endif
