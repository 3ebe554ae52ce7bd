/* Aligned pairs into the set and the two-view geometries.
 *
 * A corner becomes one keypoint of its image, whatever the number of pairs that found it elsewhere,
 * so that matches form tracks; what was found becomes keypoints of the other images, matches and
 * inliers. Then the homographies and motions of the pairs are replaced. Keypoints are added in the
 * order of pairs, so that the result does not depend on who aligned what. */
#include "images/photometric/pair_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"
#include "core/refine/observation_noise.h"
#include "core/twoview/homography.h"
#include "core/twoview/homography_decompose.h"
#include "core/twoview/joint_motion.h"
#include "core/twoview/point_spread.h"

typedef struct {
    const psfm_view_corners *views;
    const psfm_pair_refined *pairs;
    psfm_match_set *set;
    psfm_two_view *two_views;
} results;

/* Index of each corner among its view's keypoints, and how well its neighbours know it. */
typedef struct {
    uint32_t *keypoint; /* UINT32_MAX: not found elsewhere */
    double *sum_log;    /* of the areas of the covariances */
    uint32_t *count;
} corner_keypoints;

/* A corner is where it is by definition; the noise of its own patch, which all alignments share,
 * is about half of theirs. */
static psfm_status add_corners(psfm_context *ctx, const results *r, psfm_precise_keypoints *added,
                               corner_keypoints *corners) {
    psfm_status status = PSFM_OK;
    for (size_t v = 0; status == PSFM_OK && v < r->set->num_views; ++v) {
        corner_keypoints *c = &corners[v];
        size_t n = r->views[v].num;
        if ((status = PSFM_ALLOC(ctx, n, &c->keypoint)) ||
            (status = PSFM_ALLOC(ctx, n, &c->sum_log)) || (status = PSFM_ALLOC(ctx, n, &c->count)))
            return status;
    }
    for (size_t p = 0; p < r->set->num_pairs; ++p) {
        for (size_t k = 0; k < r->pairs[p].num_matches; ++k) {
            const psfm_pair_match *m = &r->pairs[p].matches[k];
            corner_keypoints *c =
                &corners[m->side == 0 ? r->set->pairs[p].view1 : r->set->pairs[p].view2];
            c->sum_log[m->corner] += 0.5 * log(m->cov[0] * m->cov[2] - m->cov[1] * m->cov[1]);
            ++c->count[m->corner];
        }
    }
    for (size_t v = 0; status == PSFM_OK && v < r->set->num_views; ++v) {
        corner_keypoints *c = &corners[v];
        for (size_t k = 0; status == PSFM_OK && k < r->views[v].num; ++k) {
            const psfm_corner *from = &r->views[v].corners[k];
            const double xy[2] = {(double)from->x, (double)from->y};
            c->keypoint[k] = UINT32_MAX;
            if (c->count[k] == 0)
                continue;
            double variance = 0.5 * exp(c->sum_log[k] / c->count[k]);
            const double cov[3] = {variance, 0.0, variance};
            c->keypoint[k] = (uint32_t)(r->set->views[v].num_keypoints + added[v].num);
            status = psfm_precise_keypoints_add(ctx, &added[v], xy, cov);
        }
    }
    return status;
}

/* Adds the matches of one pair and makes them inliers of their homographies. */
static psfm_status add_matches(psfm_context *ctx, results *r, size_t index,
                               psfm_precise_keypoints *added, const corner_keypoints *corners) {
    psfm_match_pair *pair = &r->set->pairs[index];
    psfm_two_view *view = &r->two_views[index];
    const psfm_pair_refined *from = &r->pairs[index];
    psfm_status status = PSFM_OK;
    if (from->num_matches == 0)
        return PSFM_OK;
    size_t capacity = pair->num_matches;
    if ((status =
             PSFM_RESERVE(ctx, &pair->matches, &capacity, pair->num_matches + from->num_matches)))
        return status;
    for (size_t h = 0; h < view->num_homographies; ++h) {
        psfm_homography *to = &view->homographies[h];
        size_t room = to->num_inliers;
        if ((status = PSFM_RESERVE(ctx, &to->inliers, &room,
                                   to->num_inliers + from->planes[h].num_matches)))
            return status;
    }
    for (size_t k = 0; status == PSFM_OK && k < from->num_matches; ++k) {
        const psfm_pair_match *m = &from->matches[k];
        uint32_t own = m->side == 0 ? pair->view1 : pair->view2;
        uint32_t other = m->side == 0 ? pair->view2 : pair->view1;
        uint32_t *to = pair->matches[pair->num_matches];
        to[m->side] = corners[own].keypoint[m->corner];
        to[1 - m->side] = (uint32_t)(r->set->views[other].num_keypoints + added[other].num);
        status = psfm_precise_keypoints_add(ctx, &added[other], m->xy, m->cov);
        psfm_homography *h = &view->homographies[m->plane];
        h->inliers[h->num_inliers++] = (uint32_t)pair->num_matches++;
    }
    return status;
}

static psfm_status replace_planes(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    results *r = user;
    const psfm_pair_refined *from = &r->pairs[index];
    size_t first_new = r->set->pairs[index].num_matches - from->num_matches;
    return from->planes != NULL ? psfm_replace_planes(ctx, r->set, index, first_new, from->planes,
                                                      &r->two_views[index])
                                : PSFM_OK;
}

psfm_status psfm_pair_results_take(psfm_context *ctx, const psfm_view_corners *views,
                                   const psfm_pair_refined *pairs, psfm_match_set *set,
                                   psfm_two_view *two_views) {
    results r = {views, pairs, set, two_views};
    size_t num_views = set->num_views;
    psfm_precise_keypoints *added = NULL;
    corner_keypoints *corners = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_views, &added);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &corners);
    if (status == PSFM_OK)
        status = add_corners(ctx, &r, added, corners);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p)
        status = add_matches(ctx, &r, p, added, corners);
    for (size_t v = 0; status == PSFM_OK && v < num_views; ++v)
        status = psfm_view_append(ctx, &set->cameras[set->views[v].camera_idx], &added[v],
                                  &set->views[v]);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, set->num_pairs, replace_planes, &r);
    for (size_t v = 0; v < num_views; ++v) {
        if (added != NULL)
            psfm_precise_keypoints_free(&added[v]);
        if (corners != NULL) {
            free(corners[v].keypoint);
            free(corners[v].sum_log);
            free(corners[v].count);
        }
    }
    free(added);
    free(corners);
    return status;
}

/* ---- motions of planes ---- */

/* Homographies and motions of a pair after its planes were aligned.
 *
 * Where one plane decides the motion, its refined homography is decomposed again and the motions
 * nearest to the known ones are kept. Where points off the planes decide, motion and all planes
 * that obey it are fitted together, patches and keypoints each in units of their standard
 * deviations (core/twoview/joint_motion.c). A result far from what was known is not taken: then the
 * alignment, not the knowledge, is in doubt. */

/* A motion is found again if it changed by less than this; farther apart, the decomposition is too
 * unsure to tell which is which. */
static const double same_motion_rad = 0.2;
static const double obeys_rad = 1e-3; /* a plane with the essential matrix's motion */
static const double max_sigmas = 4.0; /* of an aligned patch */
static const double max_raw_px = 4.0; /* of a keypoint */

/* Normal and translation of `m` on the side of the plane of `like`. */
static void orient_like(const psfm_plane_motion *like, psfm_plane_motion *m) {
    if (psfm_dot3(like->n1, m->n1) >= 0.0)
        return;
    psfm_scale3(-1.0, m->t_21, m->t_21);
    psfm_scale3(-1.0, m->n1, m->n1);
    psfm_scale3(-1.0, m->n2, m->n2);
}

/* Distance of two motions by rotation and normal, radians. */
static double motion_distance(const psfm_plane_motion *a, const psfm_plane_motion *b) {
    double c = psfm_dot3(a->n1, b->n1);
    return psfm_rotation_angle(a->R_21, b->R_21) + (c < 1.0 ? 1.0 - c : 0.0);
}

/* A plane on its own: the decomposition of its new homography. */
static void replace_alone(psfm_homography *to, const psfm_refined_plane *from) {
    psfm_plane_motion found[2], kept[2];
    int num = psfm_homography_decompose(from->H_21, found);
    bool swap = false;
    if (num < to->num_motions)
        return;
    if (num == 2) {
        psfm_plane_motion a = found[0], b = found[1];
        orient_like(&to->motions[0], &a);
        orient_like(&to->motions[0], &b);
        swap = motion_distance(&to->motions[0], &b) < motion_distance(&to->motions[0], &a);
    }
    for (int k = 0; k < to->num_motions; ++k) {
        kept[k] = found[swap ? 1 - k : k];
        orient_like(&to->motions[k], &kept[k]);
        if (motion_distance(&to->motions[k], &kept[k]) > same_motion_rad)
            return;
    }
    memcpy(to->motions, kept, (size_t)to->num_motions * sizeof *kept);
    memcpy(to->H_21, from->H_21, sizeof to->H_21);
    to->rms_px = from->rms_px;
}

/* The fit of one motion to all planes that obey it and to keypoints off them. */
typedef struct {
    psfm_context *ctx;
    const psfm_match_set *set;
    const psfm_match_pair *pair;
    size_t first_new;
    const psfm_refined_plane *refined;
    psfm_two_view *view;
    psfm_ray_pairs pairs;    /* all matches, in units of their standard deviations */
    uint32_t *pair_of_match; /* UINT32_MAX: without a ray */
    uint32_t *idx;
    double *squared;
    psfm_joint_plane *planes;
    uint32_t *homography; /* of each plane */
    size_t num_planes;
    psfm_motion motion;
} joint_fit;

/* S px for the information S of a keypoint. */
static void whiten_derivative(const psfm_view *view, uint32_t keypoint, double px[6]) {
    if (view->sqrt_info == NULL)
        return;
    const double *s = view->sqrt_info[keypoint];
    for (int k = 0; k < 3; ++k) {
        px[k] = s[0] * px[k] + s[1] * px[3 + k];
        px[3 + k] = s[2] * px[3 + k];
    }
}

static psfm_status load_pairs(joint_fit *f) {
    psfm_correspondences c = {0};
    psfm_status status = psfm_correspondences_init(f->ctx, f->set, f->pair, &c);
    for (size_t k = 0; status == PSFM_OK && k < c.num; ++k) {
        const uint32_t *match = f->pair->matches[c.match_idx[k]];
        whiten_derivative(&f->set->views[f->pair->view1], match[0], c.px1[k]);
        whiten_derivative(&f->set->views[f->pair->view2], match[1], c.px2[k]);
    }
    if (status == PSFM_OK)
        status = psfm_ray_pairs_init(f->ctx, &c, NULL, &f->pairs);
    size_t lanes = f->pairs.num_blocks * PSFM_LANES, n = f->pair->num_matches;
    size_t planes = f->view->num_homographies;
    if (status != PSFM_OK || (status = PSFM_ALLOC(f->ctx, n, &f->pair_of_match)) ||
        (status = PSFM_ALLOC(f->ctx, n, &f->idx)) ||
        (status = PSFM_ALLOC(f->ctx, lanes, &f->squared)) ||
        (status = PSFM_ALLOC(f->ctx, planes, &f->planes)) ||
        (status = PSFM_ALLOC(f->ctx, planes, &f->homography)))
        goto cleanup;
    memset(f->pair_of_match, 0xff, n * sizeof *f->pair_of_match);
    for (size_t i = 0; i < f->pairs.num; ++i)
        f->pair_of_match[c.match_idx[f->pairs.row[i]]] = (uint32_t)i;

cleanup:
    psfm_correspondences_free(&c);
    return status;
}

/* The pairs of the matches that count: patches if `is_new`, keypoints otherwise. */
static psfm_status select_pairs(joint_fit *f, const uint32_t *matches, size_t num, bool is_new,
                                psfm_ray_pairs *out) {
    size_t n = 0;
    for (size_t k = 0; k < num; ++k)
        if ((matches[k] >= f->first_new) == is_new && f->pair_of_match[matches[k]] != UINT32_MAX)
            f->idx[n++] = f->pair_of_match[matches[k]];
    return psfm_ray_pairs_select(f->ctx, &f->pairs, f->idx, n, out);
}

static bool obeys_motion(const joint_fit *f, const psfm_homography *h) {
    return !h->is_rotation && h->num_motions == 1 &&
           psfm_rotation_angle(h->motions[0].R_21, f->motion.R_21) < obeys_rad;
}

static psfm_status add_planes(joint_fit *f) {
    for (size_t h = 0; h < f->view->num_homographies; ++h) {
        const psfm_homography *from = &f->view->homographies[h];
        psfm_joint_plane *to = &f->planes[f->num_planes];
        bool is_new = f->refined[h].refined;
        if (!obeys_motion(f, from))
            continue;
        psfm_status status = select_pairs(f, from->inliers, from->num_inliers, is_new, &to->pairs);
        if (status != PSFM_OK)
            return status;
        f->homography[f->num_planes++] = (uint32_t)h;
        psfm_joint_plane_start(&f->motion, is_new ? f->refined[h].H_21 : from->H_21, to->m);
        to->max_squared = max_sigmas * max_sigmas;
        if (is_new)
            continue;
        psfm_homography_errors(&to->pairs, from->H_21, f->squared);
        to->max_squared = psfm_noise_bound(f->squared, to->pairs.num, 2, max_raw_px * max_raw_px);
    }
    return PSFM_OK;
}

/* Keypoints that obey the motion and are on no plane that takes part. */
static psfm_status select_off(joint_fit *f, psfm_ray_pairs *off, double *bound) {
    const psfm_essential *essential = &f->view->essential;
    bool *on_plane = NULL;
    uint32_t *rest = NULL;
    size_t n = 0;
    psfm_status status = PSFM_ALLOC(f->ctx, f->pair->num_matches, &on_plane);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(f->ctx, essential->num_inliers, &rest);
    for (size_t p = 0; status == PSFM_OK && p < f->num_planes; ++p) {
        const psfm_homography *h = &f->view->homographies[f->homography[p]];
        for (size_t k = 0; k < h->num_inliers; ++k)
            on_plane[h->inliers[k]] = true;
    }
    for (size_t k = 0; status == PSFM_OK && k < essential->num_inliers; ++k)
        if (!on_plane[essential->inliers[k]])
            rest[n++] = essential->inliers[k];
    if (status == PSFM_OK)
        status = select_pairs(f, rest, n, false, off);
    if (status == PSFM_OK) {
        double E[9];
        psfm_essential_from_motion(&f->motion, E);
        psfm_essential_errors(off, E, f->squared);
        *bound = psfm_noise_bound(f->squared, off->num, 1, max_raw_px * max_raw_px);
    }
    free(on_plane);
    free(rest);
    return status;
}

/* Takes the fit over, unless it went astray. */
static void take_over(const joint_fit *f) {
    psfm_essential *essential = &f->view->essential;
    if (psfm_rotation_angle(essential->R_21, f->motion.R_21) > same_motion_rad)
        return;
    memcpy(essential->R_21, f->motion.R_21, sizeof essential->R_21);
    memcpy(essential->t_21, f->motion.t_21, sizeof essential->t_21);
    for (size_t p = 0; p < f->num_planes; ++p) {
        psfm_homography *h = &f->view->homographies[f->homography[p]];
        psfm_plane_motion motion = {.d2_over_d1 = 1.0};
        const double *m = f->planes[p].m;
        double length = sqrt(psfm_dot3(m, m));
        if (!(length > 0.0))
            continue;
        memcpy(motion.R_21, f->motion.R_21, sizeof motion.R_21);
        psfm_scale3(1.0 / length, m, motion.n1);
        psfm_scale3(length, f->motion.t_21, motion.t_21);
        orient_like(&h->motions[0], &motion);
        psfm_mat3_mul_vec(motion.R_21, motion.n1, motion.n2);
        motion.d2_over_d1 = 1.0 + psfm_dot3(motion.n2, motion.t_21);
        if (!(motion.d2_over_d1 > 0.0))
            continue;
        h->motions[0] = motion;
        psfm_joint_homography(&f->motion, m, h->H_21);
        if (f->refined[f->homography[p]].refined)
            h->rms_px = f->refined[f->homography[p]].rms_px;
    }
}

static psfm_status replace_jointly(joint_fit *f) {
    psfm_ray_pairs off = {0};
    double bound = 0.0;
    memcpy(f->motion.R_21, f->view->essential.R_21, sizeof f->motion.R_21);
    memcpy(f->motion.t_21, f->view->essential.t_21, sizeof f->motion.t_21);
    psfm_status status = load_pairs(f);
    if (status == PSFM_OK)
        status = add_planes(f);
    if (status == PSFM_OK)
        status = select_off(f, &off, &bound);
    if (status == PSFM_OK && f->num_planes > 0)
        status = psfm_joint_refine(f->ctx, f->planes, f->num_planes, &off, bound, &f->motion);
    if (status == PSFM_OK && f->num_planes > 0)
        take_over(f);
    for (size_t p = 0; p < f->num_planes; ++p)
        psfm_ray_pairs_free(&f->planes[p].pairs);
    psfm_ray_pairs_free(&off);
    psfm_ray_pairs_free(&f->pairs);
    free(f->pair_of_match);
    free(f->idx);
    free(f->squared);
    free(f->planes);
    free(f->homography);
    return status;
}

psfm_status psfm_replace_planes(psfm_context *ctx, const psfm_match_set *set, size_t pair,
                                size_t first_new, const psfm_refined_plane *refined,
                                psfm_two_view *view) {
    size_t num_refined = 0;
    for (size_t h = 0; h < view->num_homographies; ++h)
        num_refined += refined[h].refined;
    if (num_refined == 0)
        return PSFM_OK;
    if (view->essential.found && !view->essential.is_degenerate) {
        joint_fit f = {.ctx = ctx,
                       .set = set,
                       .pair = &set->pairs[pair],
                       .first_new = first_new,
                       .refined = refined,
                       .view = view};
        return replace_jointly(&f);
    }
    for (size_t h = 0; h < view->num_homographies; ++h)
        if (refined[h].refined && !view->homographies[h].is_rotation)
            replace_alone(&view->homographies[h], &refined[h]);
    return PSFM_OK;
}
