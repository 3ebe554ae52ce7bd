/* How likely a result is right, and what became of each image.
 *
 * An image without a pose gets the reason of its pair that got furthest: outcomes are ordered, and
 * later ones overrule earlier ones. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/camera/camera_model.h"
#include "core/linalg/order_statistics.h"
#include "core/solve/component_facts.h"
#include "court/line_verdict.h"
#include "sfm/stages.h"
#include "sfm/summary.h"
#include "sfm/summary_parts.h"
#include "world/build_model.h"

#define MOST_SIGMAS 3.0 /* by which the halves of one image may differ */

/* How far a pair got before it became an edge, as a reason of its images. */
static psfm_outcome rate_pair(psfm_pair_kind kind) {
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
static psfm_outcome rate_edge(const psfm_edge *edge, bool is_accepted) {
    if (!is_accepted)
        return PSFM_OUTCOME_CONTRADICTION;
    return edge->is_rotation ? PSFM_OUTCOME_ROTATION : PSFM_OUTCOME_FEW_POINTS;
}

/* Both ends of a pair got as far as it did, or further by another one. */
static void raise_outcomes(psfm_outcome *outcome, uint32_t view1, uint32_t view2,
                           psfm_outcome reached) {
    if (outcome[view1] < reached)
        outcome[view1] = reached;
    if (outcome[view2] < reached)
        outcome[view2] = reached;
}

/* The reason of an image without a pose is that of its pair that got furthest. Pairs without a
 * plane do not get beyond that, whatever pose their essential matrix or single points led to. */
static psfm_status find_outcomes(psfm_context *ctx, psfm_sfm *s) {
    const psfm_match_set *set = &s->set;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &s->outcome);
    if (status != PSFM_OK)
        return status;
    psfm_outcome *outcome = s->outcome;
    for (size_t v = 0; v < set->num_views; ++v)
        outcome[v] =
            set->views[v].num_keypoints == 0 ? PSFM_OUTCOME_NO_KEYPOINTS : PSFM_OUTCOME_NO_MATCHES;
    for (size_t p = 0; p < set->num_pairs; ++p)
        if (set->pairs[p].num_matches > 0)
            raise_outcomes(outcome, set->pairs[p].view1, set->pairs[p].view2,
                           rate_pair(s->two_views[p].kind));
    for (uint32_t e = 0; s->edges.accepted != NULL && e < s->graph.num_edges; ++e) {
        const psfm_edge *edge = &s->graph.edges[e];
        if (edge->plane_begin < edge->plane_end)
            raise_outcomes(outcome, edge->node1, edge->node2,
                           rate_edge(edge, s->edges.accepted[e]));
    }
    for (size_t v = 0; v < set->num_views; ++v) {
        if (s->undetermined[v])
            outcome[v] = PSFM_OUTCOME_UNDETERMINED;
        if (psfm_has_pose(&s->solution.poses, (uint32_t)v))
            outcome[v] = PSFM_OUTCOME_POSED;
    }
    return PSFM_OK;
}

/* Brings the standard deviations of an image to what the halves of the points show: all of a model
 * by its factor, and one whose own halves differ by much more to what these differ by. Where one
 * half does not hold it, nothing says how well it is known. */
static void scale_sigma(double factor, const psfm_image_features *halves,
                        psfm_refined_image *image) {
    double before = image->rotation_sigma_deg;
    if (halves->half_deg >= PSFM_UNKNOWN_DEG)
        factor = NAN;
    else if (before > 0.0 && halves->half_deg > MOST_SIGMAS * factor * before)
        factor = halves->half_deg / before;
    image->rotation_sigma_deg *= factor;
    image->center_sigma *= factor;
    for (int k = 0; k < 9; ++k) {
        image->center_covariance[k] *= factor * factor;
        image->rotation_covariance[k] *= factor * factor;
        image->mixed_covariance[k] *= factor * factor;
    }
}

static void scale_sigmas(psfm_sfm *s) {
    for (uint32_t v = 0; v < s->solution.num_nodes; ++v) {
        uint32_t component = s->solution.poses.component[v];
        if (component == PSFM_NO_COMPONENT || s->verdicts.models == NULL)
            continue;
        double factor = s->verdicts.models[component].sigma_factor;
        if (isfinite(factor))
            scale_sigma(factor, &s->verdicts.images[v].features, &s->refined.images[v]);
    }
}

/* Focal lengths of lenses that exist, as shares of the longer side: 136 degrees across it (a
 * fisheye of 220 has 0.26), and a telescope. Tangential coefficients of the cameras with truth are
 * at most 0.002; larger ones have run away with the principal point, as in cropped photographs. */
static const double shortest_lens = 0.2, longest_lens = 200.0, most_tangential = 0.01;

static bool is_no_lens(const psfm_camera *camera) {
    const int *tangential = psfm_camera_model_get(camera->model)->tangential;
    for (int k = 0; k < 2; ++k)
        if (tangential[k] != 0 && fabs(camera->params[tangential[k]]) > most_tangential)
            return true;
    double longer = (double)(camera->width > camera->height ? camera->width : camera->height);
    double focal = camera->params[0] / fmax(longer, 1.0);
    return focal < shortest_lens || focal > longest_lens;
}

/* Views whose focal length is a guess, or a hint, still; and those where no lens has it. */
static psfm_status find_guessed(psfm_context *ctx, const psfm_sfm *s, bool **is_guessed,
                                bool **no_lens) {
    const psfm_match_set *set = &s->set;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, is_guessed);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, no_lens);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        (*no_lens)[v] = is_no_lens(&s->refined.cameras[set->views[v].camera_idx]);
    for (size_t v = 0; status == PSFM_OK && set->origins != NULL && v < set->num_views; ++v) {
        const uint32_t c = set->views[v].camera_idx;
        const double *sigma = s->refined.camera_sigma == NULL ? NULL : s->refined.camera_sigma[c];
        psfm_focal_source source =
            psfm_final_focal_source(&set->origins[c], &s->refined.cameras[c], sigma);
        (*is_guessed)[v] = source == PSFM_FOCAL_GUESS || source == PSFM_FOCAL_HINT;
    }
    return status;
}

/* The verdict on refined models. */
static psfm_status find_verdicts(psfm_context *ctx, psfm_sfm *s) {
    bool *is_guessed = NULL, *no_lens = NULL;
    const psfm_reconstruct_options *options = &s->scaled;
    if (s->refined.images == NULL)
        return PSFM_OK;
    psfm_verdict_input input = {.graph = &s->graph,
                                .solution = &s->solution,
                                .edges = &s->edges,
                                .refined = &s->refined,
                                .set = &s->set,
                                .noise_px = options->noise.px > 0.0 ? options->noise.px
                                                                    : s->noise.sigma_px};
    psfm_status status = find_guessed(ctx, s, &is_guessed, &no_lens);
    input.is_guessed = is_guessed;
    input.is_no_lens = no_lens;
    if (status == PSFM_OK)
        status = psfm_verdicts_find(ctx, &input, &s->verdicts);
    if (status == PSFM_OK && s->court != NULL)
        status = psfm_line_verdicts_find(ctx, s->court, &input,
                                         (uint32_t)options->refine.control.min_image_points,
                                         &s->verdicts);
    if (status == PSFM_OK)
        scale_sigmas(s);
    free(is_guessed);
    free(no_lens);
    return status;
}

psfm_status psfm_stage_judge(psfm_context *ctx, psfm_sfm *s) {
    psfm_status status = psfm_component_facts_find(ctx, &s->graph, s->edges.accepted, &s->solution);
    if (status == PSFM_OK)
        status = find_verdicts(ctx, s);
    if (status == PSFM_OK)
        status = find_outcomes(ctx, s);
    if (status == PSFM_OK)
        status = psfm_build_models(ctx, &s->set, &s->solution,
                                   s->refined.images == NULL ? NULL : &s->refined, &s->models,
                                   &s->num_models);
    if (status == PSFM_OK)
        status = psfm_headline_make(ctx, s, s->headline);
    return status;
}

/* ---- the headline ---- */

/* The line is built piece by piece in a buffer of fixed size: names of files may be long, and what
 * does not fit is cut off. */

#define MOST_NAMES 3
#define LEAST_DEG 1e-4 /* what a standard deviation below it claims, no photograph can show */

/* A line under construction. */
typedef struct {
    char *text;
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void append(line *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(l->text + l->used, PSFM_HEADLINE_SIZE - l->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        l->used += (size_t)n;
    if (l->used >= PSFM_HEADLINE_SIZE)
        l->used = PSFM_HEADLINE_SIZE - 1;
}

/* The median standard deviation of a rotation, but for the images that hold the frame; NAN if none
 * is known. */
static psfm_status median_sigma(psfm_context *ctx, const psfm_sfm *s, double *sigma_deg) {
    double *all = NULL;
    size_t num = 0;
    *sigma_deg = NAN;
    if (s->refined.images == NULL)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, s->set.num_views, &all);
    for (size_t v = 0; status == PSFM_OK && v < s->set.num_views; ++v)
        if (s->outcome[v] == PSFM_OUTCOME_POSED && s->refined.images[v].rotation_sigma_deg > 0.0)
            all[num++] = s->refined.images[v].rotation_sigma_deg;
    if (num > 0)
        *sigma_deg = psfm_median(all, num);
    free(all);
    return status;
}

static psfm_status append_unposed(psfm_context *ctx, line *l, const psfm_sfm *s, size_t num) {
    size_t named = 0;
    uint32_t *by_name = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, &s->set, &by_name);
    append(l, "; %zu not: ", num);
    for (size_t k = 0; status == PSFM_OK && k < s->set.num_views && named < MOST_NAMES; ++k) {
        uint32_t v = by_name[k];
        if (s->outcome[v] == PSFM_OUTCOME_POSED)
            continue;
        append(l, "%s%s (%s)", named == 0 ? "" : ", ", s->set.views[v].name,
               psfm_outcome_cause(s->outcome[v]));
        ++named;
    }
    if (named < num)
        append(l, ", ...");
    free(by_name);
    return status;
}

psfm_status psfm_headline_make(psfm_context *ctx, const psfm_sfm *s,
                               char text[PSFM_HEADLINE_SIZE]) {
    locale_t before = psfm_number_locale_begin();
    line l = {text, 0};
    size_t posed = 0;
    double sigma_deg = NAN;
    psfm_status status = median_sigma(ctx, s, &sigma_deg);
    for (size_t v = 0; v < s->set.num_views; ++v)
        posed += s->outcome[v] == PSFM_OUTCOME_POSED;
    const psfm_extract_stats *taken = &s->front.taken.extracted;
    const size_t left_out = s->front.is_used ? taken->num_unused : 0;
    append(&l, "%zu of %zu images posed in %zu model%s", posed, s->set.num_views + left_out,
           s->num_models, s->num_models == 1 ? "" : "s");
    if (s->refined.images != NULL && posed > 0)
        append(&l, ", %.2f px", s->refined.mean_px);
    if (isfinite(sigma_deg))
        append(&l, sigma_deg < LEAST_DEG ? ", below %.2g deg" : ", %.2g deg",
               fmax(sigma_deg, LEAST_DEG));
    if (status == PSFM_OK && posed < s->set.num_views)
        status = append_unposed(ctx, &l, s, s->set.num_views - posed);
    if (left_out > 0)
        append(&l, "; %zu left out: %s%s", left_out, taken->unused[0].name,
               left_out > 1 ? ", ..." : "");
    psfm_number_locale_end(before);
    return status;
}
