/* The planes (homographies) of all edges at one camera, and how many keypoints two of them share.
 */
#ifndef PSFM_POSEGRAPH_SHARED_INLIERS_H
#define PSFM_POSEGRAPH_SHARED_INLIERS_H

#include "core/posegraph/pose_graph.h"

/* Zero-initialise; used again for one camera after another. Owns its arrays. */
typedef struct {
    const psfm_edge_plane **planes; /* of all edges at the camera, in their order */
    uint32_t *first_plane;          /* per edge at the camera, and one at the end: into `planes` */
    const uint32_t **keypoints;     /* of each plane in this camera */
    uint32_t *slot;   /* per keypoint: unseen, seen once, or its bit; unseen at rest */
    uint64_t *bits;   /* per plane: those of its keypoints that any other plane has too */
    size_t num_words; /* of one plane */
    size_t planes_capacity, keypoints_capacity, first_capacity, slot_capacity, bits_capacity;
} psfm_camera_planes;

/* Loads the planes at `node`. O(their inliers). */
psfm_status psfm_camera_planes_set(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t node,
                                   psfm_camera_planes *planes);

/* Number of keypoints of the camera that are inliers of planes number p and q, p != q. */
uint32_t psfm_camera_planes_overlap(const psfm_camera_planes *planes, size_t p, size_t q);

void psfm_camera_planes_free(psfm_camera_planes *planes);

#endif
