/* The refinement in rounds.
 *
 * Poses from the graph are good to a fraction of a degree with many matches and to some degrees
 * with a dozen, so that a fixed threshold of a few pixels would throw away either the outliers
 * too late or the inliers too early. Each round therefore triangulates within three times
 * the error that most poses have now, judged by the matches that the pairs' own geometry explains,
 * at most first_error_px in the first and never below the final error; it adjusts with a loss that
 * bends at a quarter of that, and starts over from the tracks of all matches that now agree with
 * the poses: matches that the verification had lost come back, false ones leave.
 *
 * Between rounds images without a pose are tried by resection on the points, and images whose
 * points do not agree with them lose their pose and are tried the same way; after the last round
 * that goes on as long as it places any. Pieces of the model that the points do not hold together
 * are joined (refine/pieces.c), and loops that came out open are closed: the next round allows as
 * much as their ends are apart (refine/open_loops.c). */
#include "refine/refine_poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "refine/camera_priors.h"
#include "refine/choose_lens.h"
#include "refine/left_over.h"
#include "refine/observation_noise.h"
#include "refine/open_loops.h"
#include "refine/pieces.h"
#include "refine/refined_quality.h"
#include "refine/refinement.h"
#include "refine/usable_matches.h"

#define MOST_IMAGES 0.9  /* share of the images whose poses a round's error must suit */
#define FIRST 2.0        /* final errors allowed in the first round, at least */
#define AGAIN 2.0        /* final errors allowed in the first of the repeated rounds */
#define MAX_JOINS 3      /* rounds after which pieces may be joined; each adds one */
#define JOINED 4.0       /* final errors allowed in the round after one */
#define MOST_ERRORS 3.0  /* medians that hold most errors */
#define FAR_APART 4.0    /* largest errors of a first round, beyond which ends are of no loop */
#define NEARER 0.7       /* share of their distance to which a round must bring them to go on */
#define FOUND_WITHIN 3.0 /* deviations of keypoints, from where the poses put a point */

/* Images that see too few points lose their pose. */
static void drop_images(psfm_refinement *r) {
    for (uint32_t v = 0; v < r->s->num_nodes; ++v) {
        psfm_refined_image *image = &r->out->images[v];
        if (!psfm_has_pose(&r->s->poses, v) ||
            image->num_points >= (uint32_t)r->options->control.min_image_points)
            continue;
        r->s->poses.component[v] = PSFM_NO_COMPONENT;
        image->resected = false;
    }
}

/* Poses of images without one, from the points that their matches lead to. */
static psfm_status resect_images(psfm_context *ctx, psfm_refinement *r, size_t *num_placed) {
    bool *placed = NULL;
    psfm_left_over in = {r->evidence->set, &r->out->structure, r->input->part,
                         &r->options->resection};
    psfm_status status = PSFM_ALLOC(ctx, r->s->num_nodes, &placed);
    if (status == PSFM_OK)
        status = psfm_left_over_place(ctx, &in, &r->s->poses, placed, num_placed);
    for (uint32_t v = 0; status == PSFM_OK && v < r->s->num_nodes; ++v)
        r->out->images[v].resected = r->out->images[v].resected || placed[v];
    free(placed);
    return status;
}

/* Error allowed in round k, at most `most`: what the poses are off by in most images, thrice, since
 * that is a median. The first round allows no less than twice the final error: its poses come from
 * pairs alone. */
static psfm_status find_error(psfm_context *ctx, const psfm_refinement *r, int k, double most,
                              double *error) {
    double last = r->options->triangulate.max_error_px, off = 0.0;
    psfm_status status =
        psfm_pose_error(ctx, r->evidence, r->input, &r->s->poses, MOST_IMAGES, &off);
    double least = k == 0 ? FIRST * last : last;
    *error = fmax(fmin(MOST_ERRORS * off, most), least);
    return status;
}

/* One round: the matches that agree with the poses (`again`), points, adjustment. The first adjusts
 * long tracks alone if poses are good enough for its least error: where they are not, weak pairs
 * need all that holds them. */
static psfm_status run_round(psfm_context *ctx, psfm_refinement *r, double error, bool again) {
    const double last = r->options->triangulate.max_error_px;
    const bool is_good = error > last && error <= FIRST * last * (1.0 + 1e-9);
    const bool is_first = !again && is_good && r->options->control.long_tracks > 0;
    psfm_status status = PSFM_OK;
    if (again)
        status = psfm_usable_matches_of_poses(ctx, r->evidence, &r->s->poses, error, r->use);
    if (status == PSFM_OK)
        status = psfm_refinement_make_points(ctx, r, error, again);
    if (status == PSFM_OK)
        status = is_first ? psfm_refinement_adjust_first(ctx, r, error)
                          : psfm_refinement_adjust(ctx, r, error);
    if (status == PSFM_OK)
        status = psfm_take_cameras(ctx, r->out->cameras, r->evidence->set);
    if (status == PSFM_OK)
        drop_images(r);
    return status;
}

/* Whether loops are open, and the error that the next round must allow to close them; 0 if there
 * are none, or the last round has brought their ends no nearer. Where they are too far apart for
 * that, it is another rough round that brings them nearer. */
static psfm_status find_open_loops(psfm_context *ctx, psfm_refinement *r, double *error) {
    double last = r->options->triangulate.max_error_px, most = r->options->control.first_error_px;
    psfm_open_loops loops;
    psfm_status status = psfm_open_loops_find(ctx, r->evidence, r->input->graph, &r->out->structure,
                                              &r->s->poses, last, FAR_APART * most, &loops);
    *error = 0.0;
    if (status != PSFM_OK || loops.num == 0 || loops.error_px > NEARER * r->open_px)
        return status;
    psfm_log(ctx, PSFM_LOG_INFO, "refinement: loops open at %zu pairs, by %.1f px", loops.num,
             loops.error_px);
    r->open_px = loops.error_px;
    *error = loops.error_px <= most ? fmin(MOST_ERRORS * loops.error_px, most) : AGAIN * last;
    return PSFM_OK;
}

/* Joins pieces that the points of this round do not hold together, and looks for open loops. *again
 * is the error that the next round must allow for either; 0 if nothing is to be done, or was tried
 * often enough. */
static psfm_status join_pieces(psfm_context *ctx, psfm_refinement *r, int *joins, double *again) {
    uint32_t num_moved = 0;
    psfm_status status = PSFM_OK;
    *again = 0.0;
    if (*joins < MAX_JOINS)
        status = psfm_pieces_join(ctx, r->evidence, r->input, &r->options->resection,
                                  &r->out->structure, &r->s->poses, &num_moved);
    if (status == PSFM_OK && *joins < MAX_JOINS)
        status = find_open_loops(ctx, r, again);
    if (status == PSFM_OK && num_moved > 0) {
        psfm_log(ctx, PSFM_LOG_INFO, "refinement: %u pieces joined", num_moved);
        *again = fmax(*again, JOINED * r->options->triangulate.max_error_px);
    }
    *joins += *again > 0.0;
    return status;
}

static psfm_status run_rounds(psfm_context *ctx, psfm_refinement *r) {
    const psfm_refine_control_options *control = &r->options->control;
    double last = r->options->triangulate.max_error_px;
    double error = last, most = fmax(control->first_error_px, last);
    double step = pow(last / most, 1.0 / fmax(control->rounds - 1, 1.0));
    int joins = 0;
    double joined = 0.0;
    size_t num_placed;
    psfm_status status = psfm_usable_matches_of_edges(r->evidence, r->input, r->use);
    for (int k = 0; status == PSFM_OK && k < control->rounds + joins; ++k) {
        if (control->rounds > 1)
            status = find_error(ctx, r, k, most, &error);
        error = fmax(error, joined);
        if (status == PSFM_OK)
            status = run_round(ctx, r, error, k > 0);
        if (status == PSFM_OK && control->rounds > 1)
            status = join_pieces(ctx, r, &joins, &joined);
        if (status != PSFM_OK)
            break;
        size_t rounds = (size_t)control->rounds + (size_t)joins;
        bool done = k > 0 && joined == 0.0 && error <= last * (1.0 + 1e-9);
        if (k + 1 < control->rounds + joins && !done)
            status = resect_images(ctx, r, &num_placed);
        if (status == PSFM_OK)
            status = psfm_progress(ctx, "refinement", done ? rounds : (size_t)k + 1, rounds);
        if (done)
            break;
        most = fmax(most * step, last);
    }
    return status;
}

/* Places what is left over and adjusts, again and again, as long as that leaves more images with a
 * pose: the points of one are what the next is placed by. */
static psfm_status place_left_over(psfm_context *ctx, psfm_refinement *r) {
    size_t before = 0, num_placed = 1;
    psfm_status status = PSFM_OK;
    if (r->options->control.rounds == 1)
        return PSFM_OK;
    while (status == PSFM_OK && num_placed > 0 && psfm_refinement_num_posed(r) > before) {
        before = psfm_refinement_num_posed(r);
        status = resect_images(ctx, r, &num_placed);
        if (status == PSFM_OK && num_placed > 0)
            status = run_round(ctx, r, r->options->triangulate.max_error_px, true);
    }
    return status;
}

/* Frees distortions and principal points that want to be, and goes through the last rounds again
 * with them: points and matches had been chosen without. */
static psfm_status free_intrinsics(psfm_context *ctx, psfm_refinement *r) {
    size_t num = 0;
    psfm_bundle_problem problem = psfm_refinement_problem(r);
    psfm_bundle_options options = r->options->bundle;
    options.loss_scale_px = r->loss_scale_px;
    if (options.refine != PSFM_REFINE_AUTO || r->out->structure.num_points == 0)
        return PSFM_OK;
    psfm_status status = psfm_choose_lenses(ctx, &problem, r->evidence->set->origins, &options,
                                            r->camera_priors, &num);
    double last = r->options->triangulate.max_error_px;
    if (status == PSFM_OK && num > 0)
        status = run_round(ctx, r, AGAIN * last, true);
    if (status == PSFM_OK && num > 0)
        status = run_round(ctx, r, last, true);
    return status;
}

/* Seeks points in the photographs and adjusts to where they are found. */
static psfm_status align_tracks(psfm_context *ctx, psfm_refinement *r) {
    psfm_track_scene scene = {r->out->cameras, &r->s->poses, &r->out->planes, r->evidence->photos};
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && r->rounds_to_align > 0) {
        char text[256];
        double noise_px = 0.0;
        psfm_track_align_options options = r->options->align;
        const psfm_bundle_problem problem = psfm_refinement_problem(r);
        status = psfm_noise_of_keypoints(ctx, &problem, &r->out->structure.tracks, &noise_px);
        options.max_shift_px = fmax(options.max_shift_px, FOUND_WITHIN * noise_px);
        if (status == PSFM_OK)
            status = psfm_align_tracks(ctx, &scene, &r->options->patch, &options, r->evidence->set,
                                       &r->out->structure, &r->out->aligned);
        if (status != PSFM_OK)
            return status;
        psfm_align_tracks_describe(&r->out->aligned, text, sizeof text);
        psfm_log(ctx, PSFM_LOG_INFO, "%s", text);
        r->has_info = true;
        --r->rounds_to_align;
        status = psfm_refinement_list(ctx, r);
        if (status == PSFM_OK)
            status = psfm_refinement_adjust(ctx, r, r->options->triangulate.max_error_px);
    }
    return status;
}

/* What is known about the result: errors of points, uncertainty of poses and intrinsics, whether
 * given focal lengths are right. */
static psfm_status judge(psfm_context *ctx, psfm_refinement *r, psfm_free_focals *focals) {
    psfm_bundle_problem problem = psfm_refinement_problem(r);
    psfm_bundle_options options = r->options->bundle;
    options.loss_scale_px = r->loss_scale_px;
    return psfm_refined_judge(ctx, &problem, &options, &r->options->control, focals, r->out);
}

/* Probes that cannot be adjusted leave the verdict without them; the poses stand. */
static psfm_status make_probes(psfm_context *ctx, psfm_refinement *r, psfm_free_focals *focals) {
    psfm_bundle_problem problem = psfm_refinement_problem(r);
    psfm_bundle_options options = r->options->bundle;
    options.loss_scale_px = r->loss_scale_px;
    if (!r->options->control.probes || problem.num_observations == 0)
        return PSFM_OK;
    psfm_status status = psfm_probes_make(ctx, &problem, &options, focals, r->out->probe);
    if (status != PSFM_ERR_NUMERIC)
        return status;
    psfm_probes_free(r->out->probe);
    return PSFM_OK;
}

static psfm_status begin(psfm_context *ctx, psfm_refinement *r) {
    const psfm_match_set *set = r->evidence->set;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, set->num_views, &r->image_camera)) ||
        (status = PSFM_ALLOC(ctx, set->num_views, &r->out->images)) ||
        (status = PSFM_ALLOC(ctx, set->num_cameras, &r->out->cameras)) ||
        (status = PSFM_ALLOC(ctx, psfm_match_set_total(set), &r->use)) ||
        (status = psfm_camera_priors_make(ctx, set, &r->options->bundle, &r->camera_priors)) ||
        (status = psfm_keypoint_labels_init(ctx, set, r->input->graph, r->input->edge_accepted,
                                            r->input->plane_group, &r->labels)))
        return status;
    memcpy(r->out->cameras, set->cameras, set->num_cameras * sizeof *set->cameras);
    for (size_t v = 0; v < set->num_views; ++v) {
        r->image_camera[v] = set->views[v].camera_idx;
        r->has_info = r->has_info || set->views[v].sqrt_info != NULL;
    }
    return PSFM_OK;
}

psfm_status psfm_refine_poses(psfm_context *ctx, const psfm_refine_input *input,
                              const psfm_refine_options *options, psfm_evidence *evidence,
                              psfm_pose_solution *solution, psfm_timings *timings,
                              psfm_refined *out) {
    psfm_refinement r = {.input = input,
                         .options = options,
                         .evidence = evidence,
                         .s = solution,
                         .out = out,
                         .open_px = INFINITY};
    psfm_free_focals focals = {0};
    psfm_moment start = psfm_moment_now();
    *out = (psfm_refined){0};
    psfm_status status = psfm_progress(ctx, "refinement", 0, (size_t)options->control.rounds);
    if (status == PSFM_OK)
        status = begin(ctx, &r);
    if (evidence->photos != NULL)
        r.rounds_to_align = options->align.rounds;
    if (status == PSFM_OK)
        status = run_rounds(ctx, &r);
    if (status == PSFM_OK)
        status = place_left_over(ctx, &r);
    if (status == PSFM_OK)
        status = free_intrinsics(ctx, &r);
    psfm_timings_add(timings, "refinement", start);
    start = psfm_moment_now();
    if (status == PSFM_OK && r.rounds_to_align > 0) {
        status = align_tracks(ctx, &r);
        psfm_timings_add(timings, "align tracks", start);
        start = psfm_moment_now();
    }
    if (status == PSFM_OK)
        status = judge(ctx, &r, &focals);
    psfm_timings_add(timings, "uncertainty", start);
    start = psfm_moment_now();
    if (status == PSFM_OK)
        status = make_probes(ctx, &r, &focals);
    psfm_timings_add(timings, "probes", start);
    psfm_free_focals_free(&focals);
    psfm_observation_list_free(&r.list);
    psfm_keypoint_labels_free(&r.labels);
    free(r.image_camera);
    free(r.camera_priors);
    free(r.use);
    free(r.bundle_planes);
    if (status != PSFM_OK)
        psfm_refined_free(out);
    return status;
}
