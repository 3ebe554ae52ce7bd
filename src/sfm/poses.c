/* From two-view geometry to poses: the graph, and what is solved on it. */
#include "core/posegraph/missing_matches.h"
#include "core/solve/rigid_components.h"
#include "sfm/stages.h"
#include "world/court_frame.h"

static bool is_robust(const psfm_sfm *s) {
    return s->asked.settings.options.mode == PSFM_MODE_ROBUST;
}

psfm_status psfm_stage_build_graph(psfm_context *ctx, psfm_sfm *s) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_pose_graph_build(ctx, &s->set, s->two_views, is_robust(s), &s->graph);
    psfm_timings_add(&s->stats.timings, "pose graph", start);
    start = psfm_moment_now();
    if (status == PSFM_OK && is_robust(s)) {
        status = psfm_edges_find_missing(ctx, &s->set, s->two_views, &s->graph);
        psfm_timings_add(&s->stats.timings, "missing matches", start);
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
