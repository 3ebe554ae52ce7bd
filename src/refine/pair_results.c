/* Aligned pairs into the set and the two-view geometries.
 *
 * A corner becomes one keypoint of its image, whatever the number of pairs that found it elsewhere,
 * so that matches form tracks; what was found becomes keypoints of the other images, matches and
 * inliers. Then the homographies and motions of the pairs are replaced (refine/plane_motions.c).
 * Keypoints are added in the order of pairs, so that the result does not depend on who aligned
 * what. */
#include "refine/pair_results.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "refine/plane_motions.h"
#include "refine/precise_keypoints.h"

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
