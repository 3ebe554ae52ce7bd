/* Planes of keypoints and tracks by majority: every inlier of an accepted edge's homography votes
 * for its physical plane. One pass by Boyer and Moore's counting; without a majority the label may
 * be any of those voted for, which the robust fit of planes forgives. */
#include "core/refine/plane_labels.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* Majority votes by Boyer and Moore: a candidate and how far it leads, in one pass. */
static void cast_vote(int32_t *candidate, uint32_t *lead, int32_t label) {
    if (*lead == 0)
        *candidate = label;
    *lead = *candidate == label ? *lead + 1 : *lead - 1;
}

psfm_status psfm_keypoint_labels_init(psfm_context *ctx, const psfm_match_set *set,
                                      const psfm_pose_graph *graph, const bool *edge_accepted,
                                      const uint32_t *plane_group, psfm_keypoint_labels *out) {
    psfm_keypoint_labels made = {0};
    uint32_t *lead = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views + 1, &made.begin);
    if (status != PSFM_OK)
        return status;
    for (size_t v = 0; v < set->num_views; ++v)
        made.begin[v + 1] = made.begin[v] + set->views[v].num_keypoints;
    size_t total = made.begin[set->num_views];
    if ((status = PSFM_ALLOC(ctx, total, &made.label)) ||
        (status = PSFM_ALLOC(ctx, total, &lead))) {
        psfm_keypoint_labels_free(&made);
        return status;
    }
    for (size_t k = 0; k < total; ++k)
        made.label[k] = -1;
    for (uint32_t p = 0; plane_group != NULL && p < graph->num_planes; ++p) {
        const psfm_edge_plane *plane = &graph->planes[p];
        const psfm_edge *edge = &graph->edges[plane->edge];
        if (plane_group[p] == UINT32_MAX || !edge_accepted[plane->edge] || edge->is_rotation)
            continue; /* what shows a rotation need not be on the plane */
        for (uint32_t k = 0; k < plane->num_inliers; ++k) {
            size_t a = made.begin[edge->node1] + plane->keypoints1[k];
            size_t b = made.begin[edge->node2] + plane->keypoints2[k];
            cast_vote(&made.label[a], &lead[a], (int32_t)plane_group[p]);
            cast_vote(&made.label[b], &lead[b], (int32_t)plane_group[p]);
        }
    }
    free(lead);
    *out = made;
    return PSFM_OK;
}

void psfm_keypoint_labels_free(psfm_keypoint_labels *labels) {
    free(labels->begin);
    free(labels->label);
    *labels = (psfm_keypoint_labels){0};
}

void psfm_label_tracks(const psfm_keypoint_labels *labels, const psfm_tracks *tracks,
                       int32_t *label) {
    for (size_t t = 0; t < tracks->num_tracks; ++t) {
        uint32_t lead = 0;
        label[t] = -1;
        for (size_t k = tracks->begin[t]; k < tracks->begin[t + 1]; ++k) {
            size_t at = labels->begin[tracks->view[k]] + tracks->keypoint[k];
            if (at < labels->begin[tracks->view[k] + 1]) /* others came after the labels */
                cast_vote(&label[t], &lead, labels->label[at]);
        }
    }
}

psfm_status psfm_labelled_planes_fit(psfm_context *ctx, const psfm_keypoint_labels *labels,
                                     uint32_t num_labels, const psfm_structure *structure,
                                     const psfm_poses *poses, psfm_scene_planes *planes,
                                     psfm_bundle_plane **of_bundle) {
    int32_t *label = NULL;
    *of_bundle = NULL;
    psfm_status status = PSFM_ALLOC(ctx, structure->num_points, &label);
    if (status != PSFM_OK)
        return status;
    psfm_label_tracks(labels, &structure->tracks, label);
    psfm_labelled_points points = {structure->num_points, (const double(*)[3])structure->points,
                                   structure->component, label, num_labels};
    status = psfm_scene_planes_fit(ctx, &points, poses, planes);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, planes->num_planes, of_bundle);
    for (uint32_t k = 0; status == PSFM_OK && k < planes->num_planes; ++k) {
        memcpy((*of_bundle)[k].normal, planes->planes[k].normal, sizeof planes->planes[k].normal);
        (*of_bundle)[k].distance = planes->planes[k].distance;
    }
    free(label);
    return status;
}
