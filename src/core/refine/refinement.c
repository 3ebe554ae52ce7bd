/* Points and adjustments of a refinement.
 *
 * The final adjustment lengthens its tracks by place (core/refine/track_completion.c) on the way:
 * poses of a rougher one drift by more than the noise over the length of a track, and what is
 * chosen because it agrees with them would keep them so. The first one takes long tracks alone
 * (core/refine/observation_list.c): it has little to do, and all others would tell it little more.
 */
#include "core/refine/refinement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/refine/focal_stability.h"
#include "core/refine/observation_list.h"
#include "core/refine/observation_noise.h"
#include "core/refine/refined_quality.h"
#include "core/refine/track_completion.h"
#include "core/refine/usable_matches.h"
#include "core/structure/track_merging.h"

#define MAX_FITS 2 /* of the loss to the residuals and the bundle to the loss */
#define ROUGH 1e-4 /* tolerance of adjustments that another one follows */
#define ROUGH_CONVERGED 3.0

psfm_bundle_problem psfm_refinement_problem(psfm_refinement *r) {
    const psfm_structure *st = &r->out->structure;
    return (psfm_bundle_problem){
        .num_cameras = r->input->set->num_cameras,
        .cameras = r->out->cameras,
        .camera_priors = r->camera_priors,
        .num_images = r->input->set->num_views,
        .image_camera = r->image_camera,
        .cam_from_world = r->s->poses.cam_from_world,
        .centers = r->s->poses.center,
        .num_points = st->num_points,
        .points = st->points,
        .point_plane = r->out->planes.point_plane,
        .num_planes = r->out->planes.num_planes,
        .planes = r->bundle_planes,
        .num_observations = r->list.num,
        .obs_image = r->list.image,
        .obs_point = r->list.point,
        .obs_xy = (const double(*)[2])r->list.xy,
        .obs_sqrt_info = (const double(*)[3])r->list.sqrt_info,
    };
}

/* Physical planes of the current points. */
static psfm_status find_planes(psfm_context *ctx, psfm_refinement *r) {
    psfm_scene_planes_free(&r->out->planes);
    free(r->bundle_planes);
    return psfm_labelled_planes_fit(ctx, &r->labels, r->input->num_groups, &r->out->structure,
                                    &r->s->poses, &r->out->planes, &r->bundle_planes);
}

static psfm_status triangulate_tracks(psfm_context *ctx, psfm_refinement *r,
                                      const psfm_tracks *tracks, double max_error_px) {
    psfm_triangulate_options options = r->options->triangulate;
    options.max_error_px = max_error_px;
    psfm_structure_free(&r->out->structure);
    return psfm_triangulate(ctx, r->input->set, tracks, &r->s->poses, &options, &r->out->structure,
                            NULL);
}

psfm_status psfm_refinement_list(psfm_context *ctx, psfm_refinement *r) {
    return psfm_observation_list_make(ctx, r->input->set, &r->out->structure, r->has_info,
                                      &r->list);
}

psfm_status psfm_refinement_make_points(psfm_context *ctx, psfm_refinement *r, double max_error_px,
                                        bool merge) {
    psfm_tracks tracks = {0};
    psfm_status status = psfm_tracks_build(ctx, r->input->set, r->use, &tracks, NULL);
    if (status == PSFM_OK)
        status = triangulate_tracks(ctx, r, &tracks, max_error_px);
    psfm_tracks_free(&tracks);
    if (status == PSFM_OK && merge) {
        status = psfm_points_merge(ctx, r->input->set, &r->out->structure, &r->s->poses,
                                   max_error_px, &tracks, NULL);
        if (status == PSFM_OK)
            status = triangulate_tracks(ctx, r, &tracks, max_error_px);
        psfm_tracks_free(&tracks);
    }
    return status == PSFM_OK ? psfm_refinement_list(ctx, r) : status;
}

static psfm_status adjust_with(psfm_context *ctx, psfm_refinement *r,
                               const psfm_bundle_options *options, bool weighted) {
    psfm_bundle_stats stats = {0};
    psfm_bundle_problem problem = psfm_refinement_problem(r);
    if (!weighted)
        problem.obs_sqrt_info = NULL;
    psfm_status status = psfm_bundle_adjust(ctx, &problem, options, &stats);
    r->loss_scale_px = options->loss_scale_px;
    if (status == PSFM_OK) {
        r->out->mean_px = stats.mean_px;
        r->out->stop = stats.stop;
        r->out->iterations += stats.iterations;
        for (uint32_t v = 0; v < r->s->num_nodes; ++v) {
            r->out->images[v].num_points = (uint32_t)stats.images[v].num_observations;
            r->out->images[v].mean_px = stats.images[v].mean_px;
        }
    }
    psfm_bundle_stats_free(&stats);
    return status;
}

size_t psfm_refinement_num_posed(const psfm_refinement *r) {
    size_t num = 0;
    for (uint32_t v = 0; v < r->s->num_nodes; ++v)
        num += psfm_has_pose(&r->s->poses, v);
    return num;
}

/* Longer tracks: points are looked for where the poses say. Where none is found, all stays. */
static psfm_status lengthen_tracks(psfm_context *ctx, psfm_refinement *r) {
    psfm_track_completion_stats stats;
    psfm_tracks tracks = {0};
    psfm_status status =
        psfm_tracks_complete(ctx, r->input->set, &r->out->structure, &r->s->poses,
                             (uint32_t)r->options->control.place_images, &tracks, &stats);
    if (status == PSFM_OK && stats.merged.num_merged + stats.merged.num_added > 0 &&
        !(status = triangulate_tracks(ctx, r, &tracks, r->options->triangulate.max_error_px)) &&
        !(status = psfm_refinement_list(ctx, r)))
        status = find_planes(ctx, r);
    psfm_tracks_free(&tracks);
    return status;
}

/* Adjusts within the final error: the loss is fitted to the residuals, the bundle to the loss. On
 * the way tracks are lengthened, unless photographs are searched for their points. */
static psfm_status adjust_finally(psfm_context *ctx, psfm_refinement *r) {
    psfm_bundle_options options = r->options->bundle;
    /* many patches: the last steps cost much and change nothing */
    double final_tolerance = r->has_info ? fmax(options.tolerance, 1e-5) : options.tolerance;
    double final_converged = options.converged;
    bool fits = r->options->control.fit_loss && options.loss == PSFM_LOSS_CAUCHY;
    bool lengthens =
        r->options->control.place_images > 0 && r->options->control.rounds > 1 && !r->has_info;
    psfm_status status = PSFM_OK;
    for (int k = fits || lengthens ? 0 : MAX_FITS - 1; status == PSFM_OK && k < MAX_FITS; ++k) {
        bool last = k + 1 == MAX_FITS;
        psfm_bundle_problem problem = psfm_refinement_problem(r);
        if (fits)
            status = psfm_noise_loss_scale(ctx, &problem, psfm_refinement_num_posed(r),
                                           &options.loss_scale_px);
        options.tolerance = last ? final_tolerance : fmax(final_tolerance, ROUGH);
        options.converged = last ? final_converged : fmax(final_converged, ROUGH_CONVERGED);
        if (status == PSFM_OK)
            status = adjust_with(ctx, r, &options, true);
        if (status == PSFM_OK && lengthens && !last)
            status = lengthen_tracks(ctx, r);
    }
    return status;
}

static psfm_status adjust_roughly(psfm_context *ctx, psfm_refinement *r, double max_error_px,
                                  bool weighted) {
    psfm_bundle_options rough = r->options->bundle;
    rough.loss_scale_px = fmax(rough.loss_scale_px, 0.25 * max_error_px);
    rough.tolerance = fmax(rough.tolerance, ROUGH);
    rough.converged = fmax(rough.converged, ROUGH_CONVERGED);
    return adjust_with(ctx, r, &rough, weighted);
}

psfm_status psfm_refinement_adjust(psfm_context *ctx, psfm_refinement *r, double max_error_px) {
    psfm_status status = find_planes(ctx, r);
    if (status != PSFM_OK)
        return status;
    if (max_error_px > r->options->triangulate.max_error_px)
        return adjust_roughly(ctx, r, max_error_px, false); /* too rough for weights */
    if (r->has_info || r->num_to_follow > 0)
        status = adjust_roughly(ctx, r, max_error_px, true);
    if (status != PSFM_OK || r->num_to_follow > 0) /* nothing final yet */
        return status;
    if (r->has_info) {
        psfm_bundle_problem problem = psfm_refinement_problem(r);
        status = psfm_noise_balance(ctx, &problem, &r->out->structure.tracks, r->list.sqrt_info);
    }
    return status == PSFM_OK ? adjust_finally(ctx, r) : status;
}

/* The long tracks' observations in place of all of them, which become *all. */
static psfm_status take_long_tracks(psfm_context *ctx, psfm_refinement *r,
                                    psfm_observation_list *all) {
    const psfm_structure *st = &r->out->structure;
    psfm_observation_list some = {0};
    bool *chosen = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, st->num_points, &chosen);
    if (status == PSFM_OK)
        status = psfm_long_tracks_choose(ctx, &st->tracks, (const double(*)[2])r->list.xy,
                                         r->input->set->num_views, r->options->control.long_tracks,
                                         chosen, &num);
    if (status == PSFM_OK)
        status = psfm_observation_list_choose(ctx, &r->list, chosen, num, &some);
    *all = r->list;
    r->list = some;
    free(chosen);
    return status;
}

psfm_status psfm_refinement_adjust_first(psfm_context *ctx, psfm_refinement *r,
                                         double max_error_px) {
    psfm_observation_list all = {0};
    psfm_status status = find_planes(ctx, r);
    if (status == PSFM_OK)
        status = take_long_tracks(ctx, r, &all);
    if (status == PSFM_OK)
        status = adjust_roughly(ctx, r, max_error_px, false);
    psfm_observation_list_free(&all);
    if (status != PSFM_OK)
        return status;
    psfm_tracks tracks = r->out->structure.tracks;
    r->out->structure.tracks = (psfm_tracks){0};
    status = triangulate_tracks(ctx, r, &tracks, max_error_px);
    psfm_tracks_free(&tracks);
    return status == PSFM_OK ? psfm_refinement_list(ctx, r) : status;
}

static psfm_status allocate_all(psfm_context *ctx, psfm_refinement *r) {
    const psfm_refine_input *in = r->input;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, in->set->num_views, &r->image_camera)) ||
        (status = PSFM_ALLOC(ctx, in->set->num_views, &r->out->images)) ||
        (status = PSFM_ALLOC(ctx, in->set->num_cameras, &r->out->cameras)) ||
        (status = PSFM_ALLOC(ctx, psfm_match_set_total(in->set), &r->use)) ||
        (status = psfm_camera_priors_make(ctx, in->set, &r->options->bundle, &r->camera_priors)))
        return status;
    return psfm_keypoint_labels_init(ctx, in->set, in->graph, in->edge_accepted, in->plane_group,
                                     &r->labels);
}

psfm_status psfm_refinement_begin(psfm_context *ctx, const psfm_refine_input *input,
                                  const psfm_refine_options *options, int num_to_follow,
                                  psfm_pose_solution *solution, psfm_refined *out,
                                  psfm_refinement *r) {
    const psfm_match_set *set = input->set;
    *out = (psfm_refined){0};
    *r = (psfm_refinement){.input = input,
                           .options = options,
                           .s = solution,
                           .out = out,
                           .open_px = INFINITY,
                           .num_to_follow = num_to_follow};
    psfm_status status = allocate_all(ctx, r);
    if (status != PSFM_OK)
        return status;
    memcpy(out->cameras, set->cameras, set->num_cameras * sizeof *set->cameras);
    for (size_t v = 0; v < set->num_views; ++v) {
        r->image_camera[v] = set->views[v].camera_idx;
        r->has_info = r->has_info || set->views[v].sqrt_info != NULL;
    }
    return PSFM_OK;
}

psfm_status psfm_refinement_follow(psfm_context *ctx, psfm_refinement *r) {
    r->has_info = true;
    --r->num_to_follow;
    psfm_status status = psfm_refinement_list(ctx, r);
    return status == PSFM_OK ? psfm_refinement_adjust(ctx, r, r->options->triangulate.max_error_px)
                             : status;
}

/* The options of the last adjustment. */
static psfm_bundle_options last_options(const psfm_refinement *r) {
    psfm_bundle_options options = r->options->bundle;
    options.loss_scale_px = r->loss_scale_px;
    return options;
}

psfm_status psfm_refinement_judge(psfm_context *ctx, psfm_refinement *r) {
    const psfm_bundle_problem problem = psfm_refinement_problem(r);
    const psfm_bundle_options options = last_options(r);
    psfm_status status = PSFM_ALLOC(ctx, r->input->graph->num_edges, &r->out->edges);
    if (status != PSFM_OK)
        return status;
    psfm_edge_matches_count(r->input, &r->s->poses, r->options->triangulate.max_error_px,
                            r->out->edges);
    return psfm_refined_judge(ctx, &problem, r->input->set->origins, &options, &r->options->control,
                              &r->focals, r->out);
}

psfm_status psfm_refinement_test_stability(psfm_context *ctx, psfm_refinement *r) {
    const psfm_bundle_problem problem = psfm_refinement_problem(r);
    const psfm_bundle_options options = last_options(r);
    if (!r->options->control.stability_tests || problem.num_observations == 0)
        return PSFM_OK;
    psfm_status status =
        psfm_stability_tests_run(ctx, &problem, &options, &r->focals, r->out->stability);
    if (status != PSFM_ERR_NUMERIC)
        return status;
    psfm_stability_tests_free(r->out->stability);
    return PSFM_OK;
}

void psfm_refinement_end(psfm_refinement *r) {
    psfm_free_intrinsics_free(&r->focals);
    psfm_observation_list_free(&r->list);
    psfm_keypoint_labels_free(&r->labels);
    free(r->image_camera);
    free(r->camera_priors);
    free(r->use);
    free(r->bundle_planes);
    *r = (psfm_refinement){0};
}
