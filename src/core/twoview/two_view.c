/* The geometry of one pair, and of all pairs.
 *
 * The largest plane is searched first, then the essential matrix, with the motions of the plane
 * among its starts. If matches off the plane determine the motion, the other planes are searched
 * under it (core/twoview/plane_motion_agreement.c), which leaves three unknowns per plane;
 * otherwise they are searched as free homographies and the essential matrix again with all their
 * motions. A plane that shares the motion of a determined essential matrix keeps the one
 * decomposition that agrees with it, any other plane keeps both. Random numbers come from the seed
 * and the ids of the two images. Pairs are independent tasks. */
#include "core/twoview/two_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/matches/canonical_order.h"
#include "core/matches/ray_pairs.h"
#include "core/twoview/essential_ransac.h"
#include "core/twoview/fundamental.h"
#include "core/twoview/homography.h"
#include "core/twoview/homography_decompose.h"
#include "core/twoview/multi_homography.h"
#include "core/twoview/plane_motion_agreement.h"
#include "core/twoview/rotation_fit.h"

#define BRIEF_SEARCH 5000    /* samples of four that most pairs need at most */
#define BRIEF_FIVE_POINT 100 /* samples of five */
#define MANY_MATCHES 100     /* a pair that has so many is worth a longer search */

#define O psfm_two_view_options
static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(O, max_error_px, "max-error-px", 4.0, 0.01, 1000.0,
                       "largest error of an inlier: how far its two points must move together to "
                       "agree with the model, in pixels"),
    PSFM_OPTION_INT(O, max_iterations, "max-iterations", 300000, 1, 100000000,
                    "most samples per homography; so many only for a hundred matches and more "
                    "of which nothing was found after 5000"),
    PSFM_OPTION_INT(O, min_inliers, "min-inliers", 8, 5, 1000000,
                    "fewest inliers of a homography; among many matches more are needed to be "
                    "beyond chance"),
    PSFM_OPTION_DOUBLE(O, min_area, "min-area", 0.005, 0.0, 1.0,
                       "share of either image that the hull of a homography's inliers must cover"),
    PSFM_OPTION_INT(O, max_homographies, "max-homographies", 5, 1, 100,
                    "most homographies per pair of images"),
    PSFM_OPTION_BOOL(O, estimate_essential, "estimate-essential", true,
                     "estimate an essential matrix, too"),
    PSFM_OPTION_BOOL_BY_MODE(
        O, independent, "independent", false, true,
        "estimate the homographies and a five-point essential matrix apart and keep "
        "all decompositions; off: each helps the other, the motions are made to agree"),
};
#undef O
static const psfm_two_view_options unlisted = {
    .max_five_point =
        10000,          /* enough where three matches of four are wrong; most need a hundredth */
    .rotation_px = 0.5, /* what a detector is off: less parallax says nothing of a baseline */
};
const psfm_option_table psfm_two_view_option_table =
    PSFM_OPTION_TABLE_FROM("twoview", rows, unlisted);

uint64_t psfm_two_view_hash(const psfm_two_view_options *options, uint64_t hash) {
    const int revision = PSFM_TWO_VIEW_REVISION;
    hash = psfm_hash(hash, &revision, sizeof revision);
    return psfm_options_hash(&psfm_two_view_option_table, options, hash);
}

const char *psfm_pair_kind_name(psfm_pair_kind kind) {
    switch (kind) {
    case PSFM_PAIR_OK:
        return "ok";
    case PSFM_PAIR_FEW_MATCHES:
        return "few_matches";
    case PSFM_PAIR_NO_HOMOGRAPHY:
        return "no_homography";
    case PSFM_PAIR_ROTATION:
        return "rotation";
    }
    return "unknown";
}

void psfm_two_view_free(psfm_two_view *two_view) {
    for (size_t k = 0; k < two_view->num_homographies; ++k)
        free(two_view->homographies[k].inliers);
    free(two_view->homographies);
    free(two_view->essential.inliers);
    memset(two_view, 0, sizeof *two_view);
}

size_t psfm_two_view_explained(const psfm_two_view *two_view) {
    const psfm_essential *essential = &two_view->essential;
    size_t on_planes = 0, near_lines = essential->found ? essential->num_inliers : 0;
    for (size_t h = 0; h < two_view->num_homographies; ++h)
        on_planes += two_view->homographies[h].num_inliers;
    return on_planes > near_lines ? on_planes : near_lines;
}

/* Root mean square of the transfer error in image 2. */
static double rms_transfer(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                           const double H[9]) {
    double sum = 0.0;
    for (size_t i = 0; i < num; ++i) {
        double e[2];
        psfm_homography_transfer(pairs, idx[i], H, e);
        sum += e[0] * e[0] + e[1] * e[1];
    }
    return num > 0 ? sqrt(sum / (double)num) : 0.0;
}

/* Marks h as a rotation. */
static void set_rotation(psfm_homography *h, const double R_21[9]) {
    h->is_rotation = true;
    h->num_motions = 1;
    memcpy(h->H_21, R_21, sizeof h->H_21);
    memset(h->motions, 0, sizeof h->motions);
    memcpy(h->motions[0].R_21, R_21, sizeof h->H_21);
    h->motions[0].d2_over_d1 = 1.0;
}

/* Everything that one pair needs while it is estimated. */
typedef struct {
    psfm_context *ctx;
    const psfm_correspondences *c;
    const psfm_two_view_options *options;
    double image_area[2];
    psfm_ray_pairs pairs;
    psfm_plane_set planes;
    psfm_essential_found essential;
    uint32_t *idx;   /* scratch, per pair */
    uint32_t *label; /* scratch, per row of c */
    double *scratch; /* per pair */
} estimation;

/* The rows of c whose label is `wanted`, as indices of the pair's matches, ascending. */
static psfm_status list_matches(const estimation *e, uint32_t wanted, size_t num, uint32_t **out) {
    psfm_status status = PSFM_ALLOC(e->ctx, num, out);
    size_t k = 0;
    for (size_t row = 0; status == PSFM_OK && row < e->c->num && k < num; ++row)
        if (e->label[row] == wanted)
            (*out)[k++] = e->c->match_idx[row];
    return status;
}

/* Motions of the homography h of plane p. */
static psfm_status find_motions(estimation *e, uint32_t p, psfm_homography *h) {
    psfm_ray_pairs own;
    double R_21[9];
    size_t num = psfm_plane_set_gather(&e->planes, e->pairs.num, p, e->idx);
    memset(h, 0, sizeof *h);
    memcpy(h->H_21, e->planes.H_21[p], sizeof h->H_21);
    psfm_status status = psfm_ray_pairs_select(e->ctx, &e->pairs, e->idx, num, &own);
    if (status != PSFM_OK)
        return status;
    if (psfm_is_rotation(&own, h->H_21, e->options->rotation_px, e->scratch, R_21)) {
        set_rotation(h, R_21);
    } else {
        h->num_motions = psfm_homography_decompose(h->H_21, h->motions);
        h->num_motions =
            psfm_plane_motions_keep_visible(&e->pairs, e->idx, num, h->motions, h->num_motions);
    }
    psfm_ray_pairs_free(&own);
    return PSFM_OK;
}

/* The motions with parallax behind all homographies, t scaled to length 1. */
static psfm_status list_starts(estimation *e, psfm_motion *starts, size_t *num_starts) {
    *num_starts = 0;
    for (uint32_t p = 0; p < e->planes.num_planes; ++p) {
        psfm_homography h;
        psfm_status status = find_motions(e, p, &h);
        if (status != PSFM_OK)
            return status;
        for (int k = 0; k < h.num_motions && !h.is_rotation; ++k) {
            psfm_motion *m = &starts[*num_starts];
            memcpy(m->R_21, h.motions[k].R_21, sizeof m->R_21);
            memcpy(m->t_21, h.motions[k].t_21, sizeof m->t_21);
            *num_starts += psfm_normalize3(m->t_21) > 0.0;
        }
    }
    return PSFM_OK;
}

/* Finds the essential matrix and lets the planes that agree with it share its motion. */
static psfm_status find_essential(estimation *e, psfm_rng *rng) {
    psfm_motion *starts = NULL;
    psfm_motion_list list = {0};
    free(e->essential.inliers);
    memset(&e->essential, 0, sizeof e->essential);
    psfm_status status = PSFM_ALLOC(e->ctx, 2 * e->planes.num_planes, &starts);
    if (status == PSFM_OK)
        status = list_starts(e, starts, &list.num);
    list.items = starts;
    if (status == PSFM_OK)
        status = psfm_essential_ransac(e->ctx, &e->pairs, &e->planes, &list, e->options, rng,
                                       &e->essential);
    if (status == PSFM_OK)
        status = psfm_reconcile(e->ctx, &e->pairs, e->image_area, e->options, rng, &e->planes,
                                &e->essential);
    free(starts);
    return status;
}

/* Of the motions behind h only the one that is the essential matrix's. */
static void keep_agreed_motion(const estimation *e, psfm_homography *h) {
    const psfm_motion *agreed = &e->essential.motion;
    if (h->num_motions == 2 && psfm_rotation_angle(h->motions[1].R_21, agreed->R_21) <
                                   psfm_rotation_angle(h->motions[0].R_21, agreed->R_21))
        h->motions[0] = h->motions[1];
    h->num_motions = 1;
    memset(&h->motions[1], 0, sizeof h->motions[1]);
}

static psfm_status fill_homography(estimation *e, uint32_t p, psfm_homography *h) {
    psfm_status status = find_motions(e, p, h);
    size_t num = psfm_plane_set_gather(&e->planes, e->pairs.num, p, e->idx);
    if (status == PSFM_OK)
        status = list_matches(e, p, num, &h->inliers);
    if (status != PSFM_OK)
        return status;
    if (e->planes.obeys[p] && !h->is_rotation)
        keep_agreed_motion(e, h);
    h->num_inliers = num;
    h->rms_px = rms_transfer(&e->pairs, e->idx, num, h->H_21);
    return PSFM_OK;
}

static psfm_status fill_homographies(estimation *e, psfm_two_view *out) {
    size_t num = e->planes.num_planes;
    psfm_status status = PSFM_ALLOC(e->ctx, num, &out->homographies);
    if (status != PSFM_OK)
        return status;
    for (size_t row = 0; row < e->c->num; ++row)
        e->label[row] = PSFM_NO_PLANE;
    for (size_t i = 0; i < e->pairs.num; ++i)
        e->label[e->pairs.row[i]] = e->planes.plane[i];
    out->num_homographies = num;
    out->kind = num == 0 ? PSFM_PAIR_NO_HOMOGRAPHY : PSFM_PAIR_ROTATION;
    for (uint32_t p = 0; status == PSFM_OK && p < num; ++p) {
        status = fill_homography(e, p, &out->homographies[p]);
        if (!out->homographies[p].is_rotation)
            out->kind = PSFM_PAIR_OK;
    }
    return status;
}

static psfm_status fill_essential(estimation *e, psfm_essential *out) {
    const psfm_essential_found *found = &e->essential;
    if (!found->found)
        return PSFM_OK;
    memset(e->label, 0, e->c->num * sizeof *e->label);
    for (size_t i = 0; i < found->num_inliers; ++i)
        e->label[e->pairs.row[found->inliers[i]]] = 1;
    psfm_status status = list_matches(e, 1, found->num_inliers, &out->inliers);
    if (status != PSFM_OK)
        return status;
    out->found = true;
    out->num_inliers = found->num_inliers;
    memcpy(out->R_21, found->motion.R_21, sizeof out->R_21);
    memcpy(out->t_21, found->motion.t_21, sizeof out->t_21);
    out->plane_share = found->plane_share;
    out->is_degenerate = !psfm_essential_is_determined(found);
    return PSFM_OK;
}

static psfm_status allocate_scratch(estimation *e) {
    size_t lanes = e->pairs.num_blocks * PSFM_LANES;
    size_t max_planes = (size_t)e->options->max_homographies;
    psfm_status status = PSFM_ALLOC(e->ctx, lanes, &e->idx);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(e->ctx, e->c->num, &e->label);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(e->ctx, lanes, &e->scratch);
    if (status == PSFM_OK)
        status = psfm_plane_set_init(e->ctx, e->pairs.num, max_planes, &e->planes);
    return status;
}

static psfm_status find_planes(estimation *e, size_t max_planes, psfm_rng *rng) {
    return psfm_multi_homography(e->ctx, &e->pairs, e->image_area, e->options, max_planes, rng,
                                 &e->planes);
}

/* Each from the matches alone; of the planes the essential matrix only learns whether one of them
 * decided it. */
static psfm_status find_apart(estimation *e, size_t max_planes, psfm_rng *rng_H, psfm_rng *rng_E) {
    const psfm_motion_list none = {0};
    psfm_status status = find_planes(e, max_planes, rng_H);
    if (status == PSFM_OK && e->options->estimate_essential)
        status = psfm_essential_ransac(e->ctx, &e->pairs, &e->planes, &none, e->options, rng_E,
                                       &e->essential);
    return status;
}

/* Homographies and essential matrix, each with the other's help. The largest plane first: if
 * matches off it determine the motion, the other planes are searched under the motion, which is
 * faster and surer. */
static psfm_status find_geometry(estimation *e, psfm_rng *rng_H, psfm_rng *rng_E) {
    size_t max_planes = (size_t)e->options->max_homographies;
    if (e->options->independent || !e->options->estimate_essential)
        return find_apart(e, max_planes, rng_H, rng_E);
    psfm_status status = find_planes(e, 1, rng_H);
    if (status == PSFM_OK)
        status = find_essential(e, rng_E);
    if (status != PSFM_OK || e->planes.num_planes != 1 || max_planes == 1 ||
        psfm_essential_is_determined(&e->essential))
        return status;
    status = find_planes(e, max_planes, rng_H);
    if (status == PSFM_OK && e->planes.num_planes > 1)
        status = find_essential(e, rng_E);
    return status;
}

/* Whether the pair has an epipolar geometry, whatever its cameras are: then it needs no plane. */
static psfm_status has_epipolar_geometry(estimation *e, psfm_rng *rng, bool *answer) {
    psfm_fundamental_found found = {0};
    *answer = e->essential.found;
    if (*answer || e->options->estimate_essential)
        return PSFM_OK;
    psfm_status status =
        psfm_fundamental_ransac(e->ctx, &e->pairs, NULL, e->options->max_error_px, rng, &found);
    *answer = found.found;
    free(found.inliers);
    return status;
}

/* Searches as long as most pairs need. What is not found then among few matches is chance; among
 * many it may be that nine of ten are wrong, and the search goes on as long as it may. */
static psfm_status search_geometry(estimation *e, psfm_rng *rng_H, psfm_rng *rng_E) {
    const psfm_two_view_options *patient = e->options;
    psfm_two_view_options brief = *patient;
    bool found;
    if (brief.max_iterations > BRIEF_SEARCH)
        brief.max_iterations = BRIEF_SEARCH;
    if (brief.max_five_point > BRIEF_FIVE_POINT)
        brief.max_five_point = BRIEF_FIVE_POINT;
    e->options = &brief;
    psfm_status status = find_geometry(e, rng_H, rng_E);
    e->options = patient;
    if (status != PSFM_OK || e->planes.num_planes > 0 || e->pairs.num < MANY_MATCHES)
        return status;
    status = has_epipolar_geometry(e, rng_E, &found);
    if (status != PSFM_OK || found)
        return status;
    free(e->essential.inliers);
    memset(&e->essential, 0, sizeof e->essential);
    return find_geometry(e, rng_H, rng_E);
}

static psfm_status estimate_pair(estimation *e, psfm_rng *rng_H, psfm_rng *rng_E,
                                 psfm_two_view *out) {
    if (e->pairs.num < (size_t)e->options->min_inliers) {
        out->kind = PSFM_PAIR_FEW_MATCHES;
        return PSFM_OK;
    }
    psfm_status status = allocate_scratch(e);
    if (status == PSFM_OK)
        status = search_geometry(e, rng_H, rng_E);
    if (status == PSFM_OK)
        status = fill_homographies(e, out);
    if (status == PSFM_OK)
        status = fill_essential(e, &out->essential);
    return status;
}

static bool is_size(const double size[2]) {
    return isfinite(size[0]) && isfinite(size[1]) && size[0] > 0.0 && size[1] > 0.0;
}

psfm_image_pair psfm_image_pair_of(const psfm_match_set *set, const psfm_match_pair *pair) {
    psfm_image_pair images;
    for (int k = 0; k < 2; ++k) {
        const psfm_view *view = &set->views[k == 0 ? pair->view1 : pair->view2];
        images.id[k] = psfm_view_stream(view);
        images.size[k][0] = (double)set->cameras[view->camera_idx].width;
        images.size[k][1] = (double)set->cameras[view->camera_idx].height;
    }
    return images;
}

psfm_status psfm_two_view_estimate(psfm_context *ctx, const psfm_correspondences *c,
                                   const psfm_image_pair *images,
                                   const psfm_two_view_options *options, psfm_two_view *out) {
    psfm_two_view_options defaults;
    psfm_options_init(&psfm_two_view_option_table, &defaults);
    estimation e = {.ctx = ctx, .c = c, .options = options == NULL ? &defaults : options};
    memset(out, 0, sizeof *out);
    psfm_status status = psfm_options_check(ctx, &psfm_two_view_option_table, e.options);
    if (status != PSFM_OK)
        return status;
    if (!is_size(images->size[0]) || !is_size(images->size[1]))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "two-view geometry: an image size is not positive");
    if (c->num >= UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "two-view geometry: %zu matches are too many",
                         c->num);
    uint64_t seed = psfm_context_seed(ctx);
    psfm_rng rng_H = psfm_rng_make(seed, PSFM_RNG_HOMOGRAPHY, images->id[0], images->id[1]);
    psfm_rng rng_E = psfm_rng_make(seed, PSFM_RNG_ESSENTIAL, images->id[0], images->id[1]);
    for (int k = 0; k < 2; ++k)
        e.image_area[k] = images->size[k][0] * images->size[k][1];
    status = psfm_ray_pairs_init(ctx, c, &rng_H, &e.pairs);
    if (status == PSFM_OK)
        status = estimate_pair(&e, &rng_H, &rng_E, out);
    psfm_ray_pairs_free(&e.pairs);
    psfm_plane_set_free(&e.planes);
    free(e.essential.inliers);
    free(e.idx);
    free(e.label);
    free(e.scratch);
    if (status != PSFM_OK)
        psfm_two_view_free(out);
    return status;
}

psfm_status psfm_two_views_make(psfm_context *ctx, const psfm_match_set *set,
                                const psfm_two_view_options *options, psfm_two_view **out) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, out);
    return status == PSFM_OK ? psfm_two_view_estimate_all(ctx, set, options, *out) : status;
}

void psfm_two_views_free(psfm_two_view **two_views, size_t num) {
    for (size_t p = 0; *two_views != NULL && p < num; ++p)
        psfm_two_view_free(&(*two_views)[p]);
    free(*two_views);
    *two_views = NULL;
}
