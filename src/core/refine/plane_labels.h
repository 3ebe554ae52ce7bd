/* Which physical plane a keypoint, and with it a track, lies on. */
#ifndef PSFM_REFINE_PLANE_LABELS_H
#define PSFM_REFINE_PLANE_LABELS_H

#include "core/bundle/bundle.h"
#include "core/posegraph/pose_graph.h"
#include "core/structure/planes.h"
#include "core/structure/triangulate.h"

/* Per view a label for each of its keypoints, -1 for none. Owns its arrays. */
typedef struct {
    size_t *begin; /* per view, into label */
    int32_t *label;
} psfm_keypoint_labels;

/* A keypoint's label is the physical plane (plane_group of the graph's planes; UINT32_MAX for none)
 * that most homographies of accepted edges with this keypoint among their inliers belong to.
 * plane_group NULL: no labels. */
psfm_status psfm_keypoint_labels_init(psfm_context *ctx, const psfm_match_set *set,
                                      const psfm_pose_graph *graph, const bool *edge_accepted,
                                      const uint32_t *plane_group, psfm_keypoint_labels *out);
void psfm_keypoint_labels_free(psfm_keypoint_labels *labels);

/* label[t] of each track: the majority of its keypoints' labels, -1 if most have none. */
void psfm_label_tracks(const psfm_keypoint_labels *labels, const psfm_tracks *tracks,
                       int32_t *label);

/* The planes of points by the labels 0 .. num_labels - 1 of their tracks, and the same for an
 * adjustment; the caller frees both in any case. */
psfm_status psfm_labelled_planes_fit(psfm_context *ctx, const psfm_keypoint_labels *labels,
                                     uint32_t num_labels, const psfm_structure *structure,
                                     const psfm_poses *poses, psfm_scene_planes *planes,
                                     psfm_bundle_plane **of_bundle);

#endif
