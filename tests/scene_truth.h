/* The truth of a synthetic scene in the terms of the refinement: poses, points, right matches. */
#ifndef PSFM_TESTS_SCENE_TRUTH_H
#define PSFM_TESTS_SCENE_TRUTH_H

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/structure/poses.h"
#include "core/structure/triangulate.h"
#include "synth/scene.h"
#include "test_util.h"

static inline psfm_poses true_poses(psfm_context *ctx, const psfm_scene *scene) {
    psfm_poses poses;
    assert_ok(ctx, psfm_poses_init(ctx, (uint32_t)scene->truth.num_images, &poses));
    for (size_t v = 0; v < scene->truth.num_images; ++v) {
        psfm_rotation_from_quat(scene->truth.images[v].cam_from_world_q, poses.cam_from_world[v]);
        psfm_model_image_center(&scene->truth.images[v], poses.center[v]);
    }
    return poses;
}

/* Whether a match joins two keypoints of one point. */
static inline bool is_right_match(const psfm_scene *scene, const psfm_match_pair *pair, size_t k) {
    uint64_t a = scene->truth.images[pair->view1].point3D_ids[pair->matches[k][0]];
    uint64_t b = scene->truth.images[pair->view2].point3D_ids[pair->matches[k][1]];
    return a == b && a != PSFM_NO_POINT;
}

/* All points with all their observations, in component 0. Image ids of a scene are 1, 2, ... */
static inline psfm_structure true_structure(psfm_context *ctx, const psfm_scene *scene) {
    const psfm_model *truth = &scene->truth;
    psfm_structure st = {.num_points = truth->num_points};
    psfm_tracks *t = &st.tracks;
    size_t total = 0;
    for (size_t p = 0; p < truth->num_points; ++p)
        total += truth->points[p].track_length;
    t->num_tracks = truth->num_points;
    assert_ok(ctx, PSFM_ALLOC(ctx, truth->num_points, &st.points));
    assert_ok(ctx, PSFM_ALLOC(ctx, truth->num_points, &st.component));
    assert_ok(ctx, PSFM_ALLOC(ctx, truth->num_points + 1, &t->begin));
    assert_ok(ctx, PSFM_ALLOC(ctx, total, &t->view));
    assert_ok(ctx, PSFM_ALLOC(ctx, total, &t->keypoint));
    for (size_t p = 0; p < truth->num_points; ++p) {
        const psfm_model_point *point = &truth->points[p];
        memcpy(st.points[p], point->xyz, sizeof point->xyz);
        for (size_t k = 0; k < point->track_length; ++k) {
            t->view[t->begin[p] + k] = point->track[k].image_id - 1;
            t->keypoint[t->begin[p] + k] = point->track[k].keypoint_idx;
        }
        t->begin[p + 1] = t->begin[p] + point->track_length;
    }
    return st;
}

#endif
