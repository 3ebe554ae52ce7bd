/* The refinement in rounds.
 *
 * Poses from the graph are good to a fraction of a degree with many matches and to some degrees
 * with a dozen, so that a fixed threshold of a few pixels would throw away either the outliers
 * too late or the inliers too early. Each round therefore triangulates within three times
 * the error that most poses have now, judged by the matches that the pairs' own geometry explains,
 * at most first_error_px in the first and never below the final error; it adjusts with a loss of a
 * quarter of that as its scale, and starts over from the tracks of all matches that now agree with
 * the poses: matches that the verification had lost come back, false ones leave.
 *
 * Between rounds images without a pose are tried by resection on the points, and images whose
 * points do not agree with them lose their pose and are tried the same way; after the last round
 * that goes on as long as it places any. Sub-models that the points do not connect
 * are joined (core/refine/submodel_joining.c), and loops that came out open are closed: the next
 * round allows as much as their ends are apart (core/refine/loop_closure.c). */
#include "core/refine/refinement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/refine/camera_split.h"
#include "core/refine/focal_stability.h"
#include "core/refine/lens_selection.h"
#include "core/refine/loop_closure.h"
#include "core/refine/matched_points.h"
#include "core/refine/submodel_joining.h"
#include "core/refine/usable_matches.h"
#include "core/structure/resection.h"
#include "core/structure/triangulate.h"

/* ---- unregistered images ---- */

/* Next best first: an image that few points lead to is better placed after its neighbours, when
 * there are more points to lead to, and wrong poses spoil points for everybody. */

typedef struct {
    const psfm_match_set *set;
    const psfm_structure *structure;
    const uint32_t *part; /* per view: images of two parts (UINT32_MAX is none) never share a model;
                             NULL: there are no parts */
    const psfm_resection_options *resection;
} unregistered;

#define SURE 0.5 /* of the agreeing points of the surest image */

typedef struct {
    psfm_resection pose;
    uint32_t component;
} trial;

/* Whether an image may join a component: none of its images is of another part. */
static bool may_join(const unregistered *in, const psfm_poses *poses, uint32_t v,
                     uint32_t component) {
    for (uint32_t w = 0; in->part != NULL && w < poses->num_views; ++w)
        if (poses->component[w] == component && in->part[w] != UINT32_MAX &&
            in->part[v] != UINT32_MAX && in->part[w] != in->part[v])
            return false;
    return true;
}

static psfm_status try_all(psfm_context *ctx, const unregistered *in, const psfm_poses *poses,
                           trial *trials) {
    psfm_point_views links = {0};
    psfm_status status = psfm_point_views_init(ctx, in->set, in->structure, poses, &links);
    for (uint32_t v = 0; status == PSFM_OK && v < in->set->num_views; ++v) {
        trial *t = &trials[v];
        if (psfm_has_pose(poses, v))
            continue;
        status = psfm_point_views_resect(ctx, &links, v, in->resection, &t->pose, &t->component);
        t->pose.found = t->pose.found && may_join(in, poses, v, t->component);
    }
    psfm_point_views_free(&links);
    return status;
}

/* Resects the images without a pose on the points that their matches lead to, and places the ones
 * that are surest now: those with at least half as many agreeing points as the best. Others wait
 * for the points that these bring. Sets poses and placed[v] of the images placed (num_views
 * entries, others untouched), and their number. */
static psfm_status place_rest(psfm_context *ctx, const unregistered *in, psfm_poses *poses,
                              bool *placed, size_t *num_placed) {
    trial *trials = NULL;
    size_t most = 0;
    *num_placed = 0;
    psfm_status status = PSFM_ALLOC(ctx, in->set->num_views, &trials);
    if (status == PSFM_OK)
        status = try_all(ctx, in, poses, trials);
    for (size_t v = 0; status == PSFM_OK && v < in->set->num_views; ++v)
        if (trials[v].pose.found && trials[v].pose.num_inliers > most)
            most = trials[v].pose.num_inliers;
    for (size_t v = 0; status == PSFM_OK && v < in->set->num_views; ++v) {
        const psfm_resection *pose = &trials[v].pose;
        if (!pose->found || (double)pose->num_inliers < SURE * (double)most)
            continue;
        memcpy(poses->cam_from_world[v], pose->cam_from_world, sizeof pose->cam_from_world);
        memcpy(poses->center[v], pose->center, sizeof pose->center);
        poses->component[v] = trials[v].component;
        placed[v] = true;
        ++*num_placed;
    }
    free(trials);
    return status;
}

/* ---- the rounds ---- */

#define MOST_IMAGES 0.9 /* share of the images whose poses a round's error must suit */
#define FIRST 2.0       /* final errors allowed in the first round, at least */
#define AGAIN 2.0       /* final errors allowed in the first of the repeated rounds */
#define MAX_JOINS 3     /* rounds after which sub-models may be joined; each adds one */
#define JOINED 4.0      /* final errors allowed in the round after one */
#define MOST_ERRORS 3.0 /* medians that hold most errors */
#define FAR_APART 4.0   /* largest errors of a first round, beyond which ends are of no loop */
#define NEARER 0.7      /* share of their distance to which a round must bring them to go on */

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
    unregistered in = {r->input->set, &r->out->structure, r->input->part, &r->options->resection};
    psfm_status status = PSFM_ALLOC(ctx, r->s->num_nodes, &placed);
    if (status == PSFM_OK)
        status = place_rest(ctx, &in, &r->s->poses, placed, num_placed);
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
    psfm_status status = psfm_pose_error(ctx, r->input, &r->s->poses, MOST_IMAGES, &off);
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
        status = psfm_usable_matches_of_poses(ctx, r->input, &r->s->poses, error, r->use);
    if (status == PSFM_OK)
        status = psfm_refinement_make_points(ctx, r, error, again);
    if (status == PSFM_OK)
        status = is_first ? psfm_refinement_adjust_first(ctx, r, error)
                          : psfm_refinement_adjust(ctx, r, error);
    if (status == PSFM_OK)
        status = psfm_take_cameras(ctx, r->out->cameras, r->input->set);
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
    psfm_status status = psfm_open_loops_find(ctx, r->input, &r->out->structure, &r->s->poses, last,
                                              FAR_APART * most, &loops);
    *error = 0.0;
    if (status != PSFM_OK || loops.num == 0 || loops.error_px > NEARER * r->open_px)
        return status;
    psfm_log(ctx, PSFM_LOG_INFO, "refinement: loops open at %zu pairs, by %.1f px", loops.num,
             loops.error_px);
    r->open_px = loops.error_px;
    *error = loops.error_px <= most ? fmin(MOST_ERRORS * loops.error_px, most) : AGAIN * last;
    return PSFM_OK;
}

/* Joins sub-models that the points of this round do not connect, and looks for open loops. *again
 * is the error that the next round must allow for either; 0 if nothing is to be done, or was tried
 * often enough. */
static psfm_status join_submodels(psfm_context *ctx, psfm_refinement *r, int *joins,
                                  double *again) {
    uint32_t num_moved = 0;
    psfm_status status = PSFM_OK;
    *again = 0.0;
    if (*joins < MAX_JOINS)
        status = psfm_submodels_join(ctx, r->input, &r->options->resection, &r->out->structure,
                                     &r->s->poses, &num_moved);
    if (status == PSFM_OK && *joins < MAX_JOINS)
        status = find_open_loops(ctx, r, again);
    if (status == PSFM_OK && num_moved > 0) {
        psfm_log(ctx, PSFM_LOG_INFO, "refinement: %u sub-models joined", num_moved);
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
    psfm_status status = psfm_usable_matches_of_edges(r->input, r->use);
    for (int k = 0; status == PSFM_OK && k < control->rounds + joins; ++k) {
        if (control->rounds > 1)
            status = find_error(ctx, r, k, most, &error);
        error = fmax(error, joined);
        if (status == PSFM_OK)
            status = run_round(ctx, r, error, k > 0);
        if (status == PSFM_OK && control->rounds > 1)
            status = join_submodels(ctx, r, &joins, &joined);
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

/* Registers the remaining images and adjusts, again and again, as long as that leaves more images
 * with a pose: the points of one are what the next is placed by. */
static psfm_status register_remaining(psfm_context *ctx, psfm_refinement *r) {
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
static psfm_status free_lenses(psfm_context *ctx, psfm_refinement *r) {
    const double last = r->options->triangulate.max_error_px;
    psfm_bundle_problem problem = psfm_refinement_problem(r);
    psfm_bundle_options options = r->options->bundle;
    size_t num = 0;
    options.loss_scale_px = r->loss_scale_px;
    psfm_status status =
        psfm_choose_lenses(ctx, &problem, r->input->set->origins, &options, r->camera_priors, &num);
    if (status == PSFM_OK && num > 0)
        status = run_round(ctx, r, AGAIN * last, true);
    if (status == PSFM_OK && num > 0)
        status = run_round(ctx, r, last, true);
    return status;
}

/* Splits cameras that are several; their lenses are chosen anew then. */
static psfm_status split_cameras(psfm_context *ctx, psfm_refinement *r,
                                 const psfm_camera_prior *held) {
    const double last = r->options->triangulate.max_error_px;
    size_t num = 0;
    psfm_status status = psfm_refinement_split_cameras(ctx, r, held, &num);
    if (status != PSFM_OK || num == 0)
        return status;
    status = run_round(ctx, r, AGAIN * last, true);
    if (status == PSFM_OK)
        status = run_round(ctx, r, last, true);
    return status == PSFM_OK ? free_lenses(ctx, r) : status;
}

static psfm_status free_intrinsics(psfm_context *ctx, psfm_refinement *r) {
    const size_t num = r->input->set->num_cameras;
    psfm_camera_prior *held = NULL;
    if (r->options->bundle.refine != PSFM_REFINE_AUTO || r->out->structure.num_points == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, num, &held);
    if (status == PSFM_OK) {
        memcpy(held, r->camera_priors, num * sizeof *held);
        status = free_lenses(ctx, r);
    }
    if (status == PSFM_OK)
        status = split_cameras(ctx, r, held);
    free(held);
    return status;
}

psfm_status psfm_refine_poses(psfm_context *ctx, psfm_refinement *r) {
    psfm_status status = psfm_progress(ctx, "refinement", 0, (size_t)r->options->control.rounds);
    if (status == PSFM_OK)
        status = run_rounds(ctx, r);
    if (status == PSFM_OK)
        status = register_remaining(ctx, r);
    return status == PSFM_OK ? free_intrinsics(ctx, r) : status;
}
