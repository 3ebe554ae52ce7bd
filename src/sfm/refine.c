/* From poses to refined ones: rounds of triangulation and adjustment, points of tracks sought in
 * the photographs, and their uncertainty. */
#include <math.h>

#include "core/base/alloc.h"
#include "core/refine/observation_noise.h"
#include "core/refine/refinement.h"
#include "core/solve/rigid_components.h"
#include "core/structure/model_members.h"
#include "sfm/stages.h"

#define FOUND_WITHIN 3.0 /* sigmas of keypoints, from where the poses put a point */

/* Seeks points of the current structure; keypoints of the set move to where they are found. */
static psfm_status align_once(psfm_context *ctx, psfm_sfm *s, psfm_refinement *r) {
    const psfm_track_scene scene = {s->refined.cameras, &s->solution.poses, &s->refined.planes,
                                    s->photos};
    const psfm_bundle_problem problem = psfm_refinement_problem(r);
    psfm_track_align_options options = s->scaled.photo.tracks;
    double noise_px = 0.0;
    char text[256];
    psfm_status status =
        psfm_noise_of_keypoints(ctx, &problem, &s->refined.structure.tracks, &noise_px);
    options.max_shift_px = fmax(options.max_shift_px, FOUND_WITHIN * noise_px);
    if (status == PSFM_OK)
        status = psfm_align_tracks(ctx, &scene, &s->scaled.photo.patch, &options, &s->set,
                                   &s->refined.structure, &s->stats.tracks);
    if (status != PSFM_OK)
        return status;
    psfm_align_tracks_describe(&s->stats.tracks, text, sizeof text);
    psfm_log(ctx, PSFM_LOG_INFO, "%s", text);
    return PSFM_OK;
}

/* Seeks the points of a refinement under way, that of s->refined, in the photographs, and adjusts
 * to where they are found, as often as it waits for that. */
static psfm_status align_refined_points(psfm_context *ctx, psfm_sfm *s, psfm_refinement *r) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status = PSFM_OK;
    if (r->num_to_follow == 0)
        return PSFM_OK;
    while (status == PSFM_OK && r->num_to_follow > 0) {
        status = align_once(ctx, s, r);
        if (status == PSFM_OK)
            status = psfm_refinement_follow(ctx, r);
    }
    psfm_timings_add(&s->stats.timings, "align tracks", start);
    return status;
}

/* The steps of a refinement (core/refine/refinement.h), with their times. */
static psfm_status run_refinement(psfm_context *ctx, psfm_sfm *s, psfm_refinement *r) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_refine_poses(ctx, r);
    psfm_timings_add(&s->stats.timings, "refinement", start);
    if (status == PSFM_OK)
        status = align_refined_points(ctx, s, r);
    start = psfm_moment_now();
    if (status == PSFM_OK)
        status = psfm_refinement_judge(ctx, r);
    psfm_timings_add(&s->stats.timings, "uncertainty", start);
    start = psfm_moment_now();
    if (status == PSFM_OK)
        status = psfm_refinement_test_stability(ctx, r);
    psfm_timings_add(&s->stats.timings, "stability tests", start);
    return status;
}

static psfm_status refine_poses(psfm_context *ctx, psfm_sfm *s) {
    const bool splits = s->scaled.robust.ambiguity.models == PSFM_AMBIGUOUS_SPLIT;
    const psfm_refine_input input = {&s->set,
                                     s->two_views,
                                     &s->graph,
                                     s->edges.accepted,
                                     s->edges.groups.group,
                                     s->edges.groups.num_groups,
                                     splits ? s->edges.ambiguities.part : NULL};
    const int num_to_follow = s->photos != NULL ? s->scaled.photo.tracks.rounds : 0;
    psfm_refinement r;
    psfm_status status = psfm_refinement_begin(ctx, &input, &s->scaled.refine, num_to_follow,
                                               &s->solution, &s->refined, &r);
    if (status == PSFM_OK)
        status = run_refinement(ctx, s, &r);
    psfm_refinement_end(&r);
    return status;
}

/* Rigid components whose relative scale is open become models of their own, views that are left
 * lose their pose. */
static psfm_status split_undetermined(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_split_undetermined(ctx, &s->graph, &s->edges, &s->refined.structure,
                                                 &s->solution, s->undetermined);
    psfm_timings_add(&s->stats.timings, "rigidity", start);
    return status;
}

psfm_status psfm_stage_refine(psfm_context *ctx, psfm_sfm *s) {
    const bool is_robust = s->scaled.mode == PSFM_MODE_ROBUST;
    const bool refines = is_robust && s->scaled.robust.control.refinement;
    psfm_status status = PSFM_ALLOC(ctx, s->set.num_views, &s->undetermined);
    if (status == PSFM_OK && refines)
        status = refine_poses(ctx, s);
    if (status == PSFM_OK && is_robust)
        status = split_undetermined(ctx, s);
    if (status == PSFM_OK && refines)
        status =
            psfm_members_assign(ctx, &s->solution.poses, &s->refined.structure, &s->refined.planes);
    return status;
}
