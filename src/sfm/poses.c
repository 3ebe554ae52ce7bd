/* From two-view geometry to refined poses. */
#include <math.h>

#include "core/base/alloc.h"
#include "core/posegraph/missing_matches.h"
#include "core/refine/observation_noise.h"
#include "core/refine/refinement.h"
#include "core/solve/determined.h"
#include "core/structure/model_members.h"
#include "frontend/photo_changes.h"
#include "sfm/stages.h"
#include "sfm/state.h"
#include "world/court_frame.h"

/* ---- the photographs ---- */

/* The photographs themselves: planes of pairs are aligned in them before the graph, points of
 * tracks after the adjustment. */

#define FOUND_WITHIN 3.0 /* sigmas of keypoints, from where the poses put a point */

static psfm_status align_pairs(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    const psfm_photo_input input = {&s->set, s->two_views, s->photos, s->kept};
    char text[256];
    psfm_status status =
        psfm_refine_matches(ctx, &s->asked.settings.options.photo, &input, &s->stats.matches);
    psfm_timings_add(&s->stats.timings, "refine matches", start);
    if (status == PSFM_OK) {
        psfm_refine_matches_describe(&s->stats.matches, text, sizeof text);
        psfm_log(ctx, PSFM_LOG_INFO, "%s", text);
    }
    return status;
}

psfm_status psfm_stage_align_planes(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *options = &s->asked.settings.options;
    psfm_status status = PSFM_OK;
    if (s->photo_folder != NULL)
        status = psfm_warn_changed_photos(ctx, s->database, s->photo_folder);
    if (status == PSFM_OK && s->photo_folder != NULL && options->mode == PSFM_MODE_ROBUST &&
        options->photo.control.refine_matches) {
        const size_t most = psfm_context_memory(ctx) / 4;
        const size_t size = (size_t)options->photo.control.cache_mb << 20;
        status = psfm_photo_cache_create(ctx, &s->set, s->photo_folder, size < most ? size : most,
                                         &s->photos);
        if (status == PSFM_OK)
            status = align_pairs(ctx, s);
    }
    return status;
}

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

/* ---- poses ---- */

static bool is_robust(const psfm_sfm *s) {
    return s->asked.settings.options.mode == PSFM_MODE_ROBUST;
}

psfm_status psfm_stage_build_graph(psfm_context *ctx, psfm_sfm *s) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_pose_graph_build(ctx, &s->set, s->two_views, is_robust(s), &s->graph);
    psfm_timings_add(&s->stats.timings, "pose graph", start);
    start = psfm_moment_now();
    if (status == PSFM_OK && is_robust(s)) {
        status = psfm_edges_find_absence(ctx, &s->set, s->two_views, &s->graph);
        psfm_timings_add(&s->stats.timings, "absence", start);
    }
    return status;
}

static psfm_status solve_as_published(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *options = &s->scaled;
    psfm_timings *timings = &s->stats.timings;
    psfm_status status =
        psfm_skeleton_rotations(ctx, &options->skeleton, NULL, &s->graph, timings, &s->solution);
    if (status == PSFM_OK)
        status = psfm_paper_positions(ctx, &options->skeleton, &options->paper, &s->graph, timings,
                                      &s->solution);
    return status == PSFM_OK
               ? psfm_count_undetermined(ctx, &s->graph, s->solution.in_graph, &s->solution)
               : status;
}

static psfm_status solve_robustly(psfm_context *ctx, psfm_sfm *s) {
    psfm_extra_edges extra = {0};
    const psfm_robust_input input = {&s->graph, s->court != NULL ? &extra : NULL};
    psfm_status status = s->court != NULL ? psfm_court_edges_make(ctx, s->court, &extra) : PSFM_OK;
    if (status == PSFM_OK)
        status = psfm_robust_poses(ctx, &s->scaled.skeleton, &s->scaled.robust, &input,
                                   &s->stats.timings, &s->solution, &s->edges);
    if (status == PSFM_OK && s->court != NULL)
        psfm_court_edges_take(&extra, s->court);
    psfm_extra_edges_free(&extra);
    return status;
}

psfm_status psfm_stage_solve_poses(psfm_context *ctx, psfm_sfm *s) {
    return is_robust(s) ? solve_robustly(ctx, s) : solve_as_published(ctx, s);
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
        status = psfm_refinement_probe(ctx, r);
    psfm_timings_add(&s->stats.timings, "probes", start);
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

/* Parts whose scale nothing determines become models of their own, views that are left lose their
 * pose. */
static psfm_status split_undetermined(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_split_undetermined(ctx, &s->graph, &s->edges, &s->refined.structure,
                                                 &s->solution, s->undetermined);
    psfm_timings_add(&s->stats.timings, "rigidity", start);
    return status;
}

psfm_status psfm_stage_refine(psfm_context *ctx, psfm_sfm *s) {
    const bool refines = is_robust(s) && s->scaled.robust.control.refinement;
    psfm_status status = PSFM_ALLOC(ctx, s->set.num_views, &s->undetermined);
    if (status == PSFM_OK && refines)
        status = refine_poses(ctx, s);
    if (status == PSFM_OK && is_robust(s))
        status = split_undetermined(ctx, s);
    if (status == PSFM_OK && refines)
        status =
            psfm_members_settle(ctx, &s->solution.poses, &s->refined.structure, &s->refined.planes);
    return status;
}
