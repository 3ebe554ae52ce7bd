/* The stages in their order: verification, pose graph, the engine of the mode, refinement, what is
 * not determined, members of models, frame, facts, reasons, models. Some of them change the
 * evidence they read (refine/evidence.h says which and how); all leave what they found in
 * psfm_reconstruction.
 *
 * An image without a pose gets the reason of its pair that got furthest: states are ordered, and
 * later stages overrule earlier ones. */
#include "pipeline/reconstruct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/component_facts.h"
#include "engine/determined.h"
#include "graph/absence.h"
#include "intake/court_posed.h"
#include "pipeline/headline.h"
#include "refine/court_adjust.h"
#include "scene/members.h"
#include "verdict/line_verdict.h"
#include "world/build_model.h"
#include "world/court_frame.h"

static const psfm_option noise_rows[] = {
    PSFM_OPTION_DOUBLE(
        psfm_noise_options, px, "px", 0.0, 0.0, 100.0,
        "standard deviation of a keypoint's coordinate, in pixels; thresholds in pixels "
        "are for noise of one pixel and are multiplied by it; 0: measured from the "
        "matches, and nothing changes below one pixel"),
};
const psfm_option_table psfm_noise_option_table = {"noise", noise_rows, 1};

const psfm_option_group psfm_reconstruct_option_groups[] = {
    {&psfm_calibrate_option_table, offsetof(psfm_reconstruct_options, calibrate)},
    {&psfm_focal_option_table, offsetof(psfm_reconstruct_options, focal)},
    {&psfm_noise_option_table, offsetof(psfm_reconstruct_options, noise)},
    {&psfm_two_view_option_table, offsetof(psfm_reconstruct_options, two_view)},
    {&psfm_photo_control_option_table, offsetof(psfm_reconstruct_options, photo.control)},
    {&psfm_pair_plane_option_table, offsetof(psfm_reconstruct_options, photo.planes)},
    {&psfm_patch_option_table, offsetof(psfm_reconstruct_options, photo.patch)},
    {&psfm_essential_weight_option_table, offsetof(psfm_reconstruct_options, skeleton.weight)},
    {&psfm_similarity_option_table, offsetof(psfm_reconstruct_options, skeleton.similarity)},
    {&psfm_embedding_option_table, offsetof(psfm_reconstruct_options, skeleton.embedding)},
    {&psfm_lud_option_table, offsetof(psfm_reconstruct_options, skeleton.lud)},
    {&psfm_paper_option_table, offsetof(psfm_reconstruct_options, paper)},
    {&psfm_robust_control_option_table, offsetof(psfm_reconstruct_options, robust.control)},
    {&psfm_joint_choice_option_table, offsetof(psfm_reconstruct_options, robust.choice)},
    {&psfm_cycle_option_table, offsetof(psfm_reconstruct_options, robust.cycle)},
    {&psfm_rotation_consensus_option_table, offsetof(psfm_reconstruct_options, robust.consensus)},
    {&psfm_ambiguity_option_table, offsetof(psfm_reconstruct_options, robust.ambiguity)},
    {&psfm_rotation_average_option_table, offsetof(psfm_reconstruct_options, robust.average)},
    {&psfm_plane_group_option_table, offsetof(psfm_reconstruct_options, robust.group)},
    {&psfm_position_plane_option_table, offsetof(psfm_reconstruct_options, robust.position)},
    {&psfm_refine_control_option_table, offsetof(psfm_reconstruct_options, refine.control)},
    {&psfm_track_option_table, offsetof(psfm_reconstruct_options, refine.tracks)},
    {&psfm_triangulate_option_table, offsetof(psfm_reconstruct_options, refine.triangulate)},
    {&psfm_bundle_option_table, offsetof(psfm_reconstruct_options, refine.bundle)},
    {&psfm_resection_option_table, offsetof(psfm_reconstruct_options, refine.resection)},
    {&psfm_scene_plane_option_table, offsetof(psfm_reconstruct_options, refine.planes)},
    {&psfm_track_align_option_table, offsetof(psfm_reconstruct_options, refine.align)},
    {&psfm_court_option_table, offsetof(psfm_reconstruct_options, court)},
    {&psfm_line_option_table, offsetof(psfm_reconstruct_options, court.line)},
    {NULL, 0},
};

void psfm_reconstruct_options_init(psfm_mode mode, psfm_reconstruct_options *options) {
    memset(options, 0, sizeof *options);
    options->mode = (int)mode;
    for (const psfm_option_group *g = psfm_reconstruct_option_groups; g->table != NULL; ++g) {
        if (mode == PSFM_MODE_PAPER)
            psfm_options_init_paper(g->table, (char *)options + g->offset);
        else
            psfm_options_init(g->table, (char *)options + g->offset);
    }
}

static psfm_status check_options(psfm_context *ctx, const psfm_reconstruct_options *options) {
    psfm_status status = PSFM_OK;
    const psfm_option_group *g = psfm_reconstruct_option_groups;
    for (; status == PSFM_OK && g->table != NULL; ++g)
        status = psfm_options_check(ctx, g->table, (const char *)options + g->offset);
    return status;
}

static const char *const mode_names[] = {"robust", "paper"};

const char *psfm_mode_name(psfm_mode mode) {
    return mode_names[mode];
}

bool psfm_mode_from_name(const char *name, psfm_mode *mode) {
    for (size_t k = 0; k < sizeof mode_names / sizeof *mode_names; ++k) {
        if (strcmp(mode_names[k], name) == 0) {
            *mode = (psfm_mode)k;
            return true;
        }
    }
    return false;
}

/* One row per state, in the order of the enum. */
static const struct {
    const char *name, *cause, *advice;
} outcomes[] = {
    {"posed", "", ""},
    {"no_keypoints", "no keypoints",
     "the image has no keypoints: extract features, or check the mask"},
    {"no_matches", "no overlap with the others?",
     "no pair with this image has a match: match it with more images"},
    {"few_matches", "hardly any overlap with the others",
     "too few matches with every other image: match more pairs, or take photographs "
     "between it and its neighbours"},
    {"no_homography", "no plane in its pairs",
     "no plane was found in any of its pairs: a larger --twoview.max-error-px may "
     "help, or the scene is not flat here"},
    {"rotation", "no parallax to its neighbours",
     "its pairs show rotation without parallax: the cameras share their centre, so "
     "their distance cannot be told"},
    {"contradiction", "contradicts the others",
     "its pairs contradict the other images: repeated structure, or a moved "
     "camera; match it with more images"},
    {"few_points", "too few points agree",
     "too few points agree with the pose that its pairs gave: more matches, or better "
     "intrinsics"},
    {"undetermined", "its distance is not determined",
     "only the direction to it is known, not the distance: match it with images "
     "that see the same points or the same plane"},
};

const char *psfm_outcome_name(psfm_outcome state) {
    return outcomes[state].name;
}

const char *psfm_outcome_cause(psfm_outcome state) {
    return outcomes[state].cause;
}

const char *psfm_outcome_advice(psfm_outcome state) {
    return outcomes[state].advice;
}

/* How far a pair got before it became an edge, as a reason of its images. */
static psfm_outcome state_of_pair(psfm_pair_kind kind) {
    switch (kind) {
    case PSFM_PAIR_FEW_MATCHES:
        return PSFM_OUTCOME_FEW_MATCHES;
    case PSFM_PAIR_ROTATION:
        return PSFM_OUTCOME_ROTATION;
    case PSFM_PAIR_OK:
    case PSFM_PAIR_NO_HOMOGRAPHY:
        return PSFM_OUTCOME_NO_HOMOGRAPHY;
    }
    return PSFM_OUTCOME_NO_HOMOGRAPHY;
}

/* The same of an edge with planes. Points cannot be expected of a rotation. */
static psfm_outcome state_of_edge(const psfm_edge *edge, bool is_accepted) {
    if (!is_accepted)
        return PSFM_OUTCOME_CONTRADICTION;
    return edge->is_rotation ? PSFM_OUTCOME_ROTATION : PSFM_OUTCOME_FEW_POINTS;
}

/* Both ends of a pair got as far as it did, or further by another one. */
static void reach(psfm_outcome *state, uint32_t view1, uint32_t view2, psfm_outcome reached) {
    if (state[view1] < reached)
        state[view1] = reached;
    if (state[view2] < reached)
        state[view2] = reached;
}

/* The reason of an image without a pose is that of its pair that got furthest. Pairs without a
 * plane do not get beyond that, whatever pose their essential matrix or single points led to. */
static psfm_status find_reasons(psfm_context *ctx, const psfm_evidence *evidence, const bool *alone,
                                psfm_reconstruction *out) {
    const psfm_match_set *set = evidence->set;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &out->outcome);
    if (status != PSFM_OK)
        return status;
    psfm_outcome *state = out->outcome;
    for (size_t v = 0; v < set->num_views; ++v)
        state[v] =
            set->views[v].num_keypoints == 0 ? PSFM_OUTCOME_NO_KEYPOINTS : PSFM_OUTCOME_NO_MATCHES;
    for (size_t p = 0; p < set->num_pairs; ++p)
        if (set->pairs[p].num_matches > 0)
            reach(state, set->pairs[p].view1, set->pairs[p].view2,
                  state_of_pair(evidence->two_views[p].kind));
    for (uint32_t e = 0; out->edges.accepted != NULL && e < out->graph.num_edges; ++e) {
        const psfm_edge *edge = &out->graph.edges[e];
        if (edge->plane_begin < edge->plane_end)
            reach(state, edge->node1, edge->node2, state_of_edge(edge, out->edges.accepted[e]));
    }
    for (size_t v = 0; v < set->num_views; ++v) {
        if (alone[v])
            state[v] = PSFM_OUTCOME_UNDETERMINED;
        if (psfm_has_pose(&out->solution.poses, (uint32_t)v))
            state[v] = PSFM_OUTCOME_POSED;
    }
    return PSFM_OK;
}

/* Whether the adjustment may still find a focal length that planes did not determine. */
static bool has_unsettled_camera(const psfm_match_set *set) {
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera_origin *origin = &set->origins[c];
        if (psfm_focal_is_doubtful(origin->source) && !origin->is_open)
            return true;
    }
    return false;
}

/* A reconstruction from the matches alone, for its intrinsics: pairs are then verified, and
 * homographies decomposed, with these. The cameras of the set are those of the adjustment after it,
 * and so are their rays (refine/camera_priors.h). */
static psfm_status settle_cameras(psfm_context *ctx, const psfm_reconstruct_options *options,
                                  psfm_match_set *set, psfm_reconstruct_stats *stats) {
    psfm_evidence evidence = {.set = set};
    psfm_reconstruction first = {0};
    psfm_reconstruct_options once = *options;
    once.refine.control.check_intrinsics = false; /* the last reconstruction is for that */
    psfm_status status = psfm_reconstruct(ctx, &once, &evidence, stats, &first);
    psfm_reconstruction_free(&first);
    psfm_evidence_free(&evidence);
    return status;
}

psfm_status psfm_reconstruct_calibrate(psfm_context *ctx, const psfm_reconstruct_options *options,
                                       psfm_evidence *evidence, psfm_reconstruct_stats *stats) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = check_options(ctx, options);
    if (status != PSFM_OK || evidence->two_views != NULL ||
        !psfm_needs_calibration(evidence->set, &options->calibrate))
        return status;
    status = psfm_calibrate(ctx, &options->calibrate, &options->focal, &options->two_view,
                            evidence->set, &stats->calibration);
    psfm_timings_add(&stats->timings, "calibration", start);
    bool refines = options->mode == PSFM_MODE_ROBUST && options->robust.control.refinement &&
                   options->refine.bundle.refine != PSFM_REFINE_NONE;
    if (status == PSFM_OK && refines && has_unsettled_camera(evidence->set))
        status = settle_cameras(ctx, options, evidence->set, stats);
    return status;
}

psfm_reconstruct_options psfm_reconstruct_options_for(const psfm_reconstruct_options *options,
                                                      const psfm_evidence *evidence) {
    psfm_reconstruct_options scaled = *options;
    double factor =
        options->noise.px > 0.0 ? options->noise.px : fmax(evidence->noise.sigma_px, 1.0);
    scaled.two_view.max_error_px *= factor;
    scaled.two_view.rotation_px *= factor;
    scaled.robust.control.noise_px *= factor;
    scaled.refine.control.first_error_px *= factor;
    scaled.refine.triangulate.max_error_px *= factor;
    scaled.refine.resection.max_error_px *= factor;
    scaled.refine.bundle.loss_scale_px *= factor;
    return scaled;
}

psfm_status psfm_reconstruct_measure(psfm_context *ctx, const psfm_reconstruct_options *options,
                                     psfm_evidence *evidence, psfm_reconstruct_stats *stats) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = check_options(ctx, options);
    if (status == PSFM_OK && options->noise.px == 0.0)
        status = psfm_evidence_measure(ctx, &options->two_view, evidence);
    psfm_timings_add(&stats->timings, "noise", start);
    return status;
}

psfm_status psfm_reconstruct_verify(psfm_context *ctx, const psfm_reconstruct_options *options,
                                    psfm_evidence *evidence, psfm_reconstruct_stats *stats) {
    psfm_status status = psfm_reconstruct_measure(ctx, options, evidence, stats);
    psfm_reconstruct_options scaled = psfm_reconstruct_options_for(options, evidence);
    psfm_moment start = psfm_moment_now();
    if (status == PSFM_OK)
        status = psfm_evidence_verify(ctx, &scaled.two_view, evidence);
    psfm_timings_add(&stats->timings, "verification", start);
    return status;
}

psfm_status psfm_reconstruct_align(psfm_context *ctx, const psfm_reconstruct_options *options,
                                   psfm_evidence *evidence, psfm_reconstruct_stats *stats) {
    char text[256];
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_refine_matches(ctx, &options->photo, evidence, &stats->matches);
    psfm_timings_add(&stats->timings, "refine matches", start);
    if (status == PSFM_OK) {
        psfm_refine_matches_describe(&stats->matches, text, sizeof text);
        psfm_log(ctx, PSFM_LOG_INFO, "%s", text);
    }
    return status;
}

static psfm_status solve_as_published(psfm_context *ctx, const psfm_reconstruct_options *options,
                                      psfm_timings *timings, psfm_reconstruction *out) {
    psfm_status status = psfm_skeleton_rotations(ctx, &options->skeleton, NULL, &out->graph,
                                                 timings, &out->solution);
    if (status == PSFM_OK)
        status = psfm_paper_positions(ctx, &options->skeleton, &options->paper, &out->graph,
                                      timings, &out->solution);
    if (status == PSFM_OK)
        status = psfm_count_undetermined(ctx, &out->graph, out->solution.in_graph, &out->solution);
    return status;
}

/* Refinement of all components from the points, see refine/refine_poses.h. */
static psfm_status refine(psfm_context *ctx, const psfm_reconstruct_options *options,
                          psfm_evidence *evidence, psfm_timings *timings,
                          psfm_reconstruction *out) {
    bool splits = options->robust.ambiguity.models == PSFM_AMBIGUOUS_SPLIT;
    psfm_refine_input input = {&out->graph, out->edges.accepted, out->edges.groups.group,
                               out->edges.groups.num_groups,
                               splits ? out->edges.ambiguities.part : NULL};
    psfm_refine_options refine_options = options->refine;
    refine_options.patch = options->photo.patch;
    return psfm_refine_poses(ctx, &input, &refine_options, evidence, &out->solution, timings,
                             &out->refined);
}

static psfm_status split_undetermined(psfm_context *ctx, psfm_timings *timings, bool *alone,
                                      psfm_reconstruction *out) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_split_undetermined(ctx, &out->graph, &out->edges,
                                                 &out->refined.structure, &out->solution, alone);
    psfm_timings_add(timings, "rigidity", start);
    return status;
}

/* Looks for the drawing's lines in photographs that matches alone pose. */
static psfm_status fit_posed_photographs(psfm_context *ctx, const psfm_evidence *evidence,
                                         uint32_t component, const psfm_reconstruction *out) {
    uint32_t num = 0;
    if (evidence->court->photo_folder == NULL)
        return PSFM_OK;
    psfm_status status = psfm_court_fit_posed(ctx, evidence->set, &out->solution.poses, component,
                                              evidence->court, &num);
    if (status == PSFM_OK && num > 0)
        psfm_log(ctx, PSFM_LOG_INFO, "%s: lines confirm %u photographs more",
                 evidence->court->drawing->name, num);
    return status;
}

/* Joins what the drawing holds together, and adjusts it with the drawing's lines. */
static psfm_status take_drawing(psfm_context *ctx, const psfm_reconstruct_options *options,
                                psfm_evidence *evidence, psfm_timings *timings, uint32_t *settled,
                                psfm_reconstruction *out) {
    psfm_moment start = psfm_moment_now();
    psfm_status status =
        psfm_court_join(ctx, evidence->court, &out->solution, &out->refined, settled);
    if (status == PSFM_OK)
        status = psfm_members_settle(ctx, &out->solution.poses, &out->refined.structure,
                                     &out->refined.planes);
    if (status == PSFM_OK && *settled != PSFM_NO_COMPONENT)
        status = fit_posed_photographs(ctx, evidence, *settled, out);
    if (status == PSFM_OK)
        status = psfm_court_adjust(ctx, &options->refine, evidence, &out->solution, &out->refined);
    psfm_timings_add(timings, "drawing", start);
    return status;
}

/* alone[v]: the view lost its pose because its distance is unknown. */
static psfm_status solve_robustly(psfm_context *ctx, const psfm_reconstruct_options *options,
                                  psfm_evidence *evidence, psfm_timings *timings, bool *alone,
                                  psfm_reconstruction *out) {
    psfm_robust_input input = {&out->graph, evidence->court};
    psfm_moment start = psfm_moment_now();
    psfm_status status =
        psfm_edges_find_absence(ctx, evidence->set, evidence->two_views, &out->graph);
    psfm_timings_add(timings, "absence", start);
    if (status == PSFM_OK)
        status = psfm_robust_poses(ctx, &options->skeleton, &options->robust, &input, timings,
                                   &out->solution, &out->edges);
    bool refines = options->robust.control.refinement;
    if (status == PSFM_OK && refines)
        status = refine(ctx, options, evidence, timings, out);
    if (status == PSFM_OK)
        status = split_undetermined(ctx, timings, alone, out);
    if (status != PSFM_OK || !refines)
        return status;
    uint32_t settled = PSFM_NO_COMPONENT;
    status = psfm_members_settle(ctx, &out->solution.poses, &out->refined.structure,
                                 &out->refined.planes);
    if (status == PSFM_OK && evidence->court != NULL)
        status = take_drawing(ctx, options, evidence, timings, &settled, out);
    if (status == PSFM_OK)
        status = psfm_frame_set(ctx, evidence->set, &options->frame, settled, &out->solution,
                                &out->refined);
    return status;
}

/* Brings the standard deviations to what the halves of the points show. */
static void scale_sigmas(psfm_reconstruction *out) {
    for (uint32_t v = 0; v < out->solution.num_nodes; ++v) {
        uint32_t component = out->solution.poses.component[v];
        if (component == PSFM_NO_COMPONENT || out->verdicts.models == NULL)
            continue;
        double factor = out->verdicts.models[component].sigma_factor;
        if (isnan(factor))
            continue;
        out->refined.images[v].rotation_sigma_deg *= factor;
        out->refined.images[v].center_sigma *= factor;
        for (int k = 0; k < 9; ++k)
            out->refined.images[v].center_covariance[k] *= factor * factor;
    }
}

/* The verdict on refined models. */
static psfm_status judge(psfm_context *ctx, const psfm_reconstruct_options *options,
                         const psfm_evidence *evidence, psfm_reconstruction *out) {
    if (out->refined.images == NULL)
        return PSFM_OK;
    psfm_verdict_input input = {.graph = &out->graph,
                                .solution = &out->solution,
                                .edges = &out->edges,
                                .refined = &out->refined,
                                .noise_px = options->noise.px > 0.0 ? options->noise.px
                                                                    : evidence->noise.sigma_px,
                                .agreement_deg = options->robust.consensus.agreement_deg};
    psfm_status status = psfm_verdicts_find(ctx, &input, &out->verdicts);
    if (status == PSFM_OK && evidence->court != NULL)
        status = psfm_line_verdicts_find(ctx, evidence->court, &input,
                                         (uint32_t)options->refine.control.min_image_points,
                                         &out->verdicts);
    if (status == PSFM_OK)
        scale_sigmas(out);
    return status;
}

psfm_status psfm_reconstruct(psfm_context *ctx, const psfm_reconstruct_options *options,
                             psfm_evidence *evidence, psfm_reconstruct_stats *stats,
                             psfm_reconstruction *out) {
    bool robust = options->mode == PSFM_MODE_ROBUST, *alone = NULL;
    psfm_timings *timings = &stats->timings;
    psfm_status status = check_options(ctx, options);
    if (status == PSFM_OK && !stats->calibration.done)
        status = psfm_reconstruct_calibrate(ctx, options, evidence, stats);
    if (status == PSFM_OK)
        status = psfm_reconstruct_measure(ctx, options, evidence, stats);
    if (status == PSFM_OK && evidence->two_views == NULL)
        status = psfm_reconstruct_verify(ctx, options, evidence, stats);
    const psfm_reconstruct_options scaled = psfm_reconstruct_options_for(options, evidence);
    psfm_moment start = psfm_moment_now();
    if (status == PSFM_OK)
        status =
            psfm_pose_graph_build(ctx, evidence->set, evidence->two_views, robust, &out->graph);
    psfm_timings_add(timings, "pose graph", start);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, evidence->set->num_views, &alone);
    if (status == PSFM_OK)
        status = robust ? solve_robustly(ctx, &scaled, evidence, timings, alone, out)
                        : solve_as_published(ctx, &scaled, timings, out);
    if (status == PSFM_OK)
        status = psfm_component_facts_find(ctx, &out->graph, out->edges.accepted, &out->solution);
    if (status == PSFM_OK)
        status = judge(ctx, &scaled, evidence, out);
    if (status == PSFM_OK)
        status = find_reasons(ctx, evidence, alone, out);
    if (status == PSFM_OK)
        status = psfm_build_models(ctx, evidence->set, &out->solution,
                                   out->refined.images == NULL ? NULL : &out->refined, &out->models,
                                   &out->num_models);
    if (status == PSFM_OK)
        status = psfm_headline_make(ctx, evidence->set, out, out->headline);
    free(alone);
    return status;
}

void psfm_reconstruction_free(psfm_reconstruction *r) {
    psfm_pose_graph_free(&r->graph);
    psfm_pose_solution_free(&r->solution);
    psfm_robust_edges_free(&r->edges);
    psfm_refined_free(&r->refined);
    psfm_verdicts_free(&r->verdicts);
    free(r->outcome);
    for (size_t k = 0; r->models != NULL && k < r->num_models; ++k)
        psfm_model_free(&r->models[k]);
    free(r->models);
    *r = (psfm_reconstruction){0};
}
