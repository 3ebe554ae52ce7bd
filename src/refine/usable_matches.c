/* Which matches may form tracks: at first the inliers of accepted edges, later all matches whose
 * epipolar (Sampson) error under the current poses is small, so that matches that verification
 * lost come back. A pair of which only a small share agrees is a false pair with agreements by
 * chance and is left out. */
#include "refine/usable_matches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "linalg/mat3.h"

/* A pair keeps its agreeing matches if they are this share of all, and this many. */
static const double fair_share = 0.25;
enum { FAIR_NUMBER = 5 };

static void mark(bool *use, const uint32_t *inliers, size_t num) {
    for (size_t k = 0; k < num; ++k)
        use[inliers[k]] = true;
}

psfm_status psfm_usable_matches_of_edges(const psfm_evidence *evidence,
                                         const psfm_refine_input *input, bool *use) {
    const psfm_match_set *set = evidence->set;
    uint32_t e = 0; /* edges are in the order of their pairs */
    for (size_t p = 0; p < set->num_pairs; use += set->pairs[p++].num_matches) {
        const psfm_two_view *view = &evidence->two_views[p];
        memset(use, 0, set->pairs[p].num_matches * sizeof *use);
        while (e < input->graph->num_edges && input->graph->edges[e].pair < p)
            ++e;
        if (e == input->graph->num_edges || input->graph->edges[e].pair != p ||
            !input->edge_accepted[e])
            continue;
        for (size_t h = 0; h < view->num_homographies; ++h)
            mark(use, view->homographies[h].inliers, view->homographies[h].num_inliers);
        if (view->essential.found)
            mark(use, view->essential.inliers, view->essential.num_inliers);
    }
    return PSFM_OK;
}

/* |T^T l|^2 for the 3 x 2 inverse T of px on the tangent plane: how fast l . ray changes by pixel.
 */
static double rate_squared(const double px[6], const double l[3]) {
    double a = psfm_dot3(px, px), b = psfm_dot3(px, px + 3), c = psfm_dot3(px + 3, px + 3);
    double x = psfm_dot3(px, l), y = psfm_dot3(px + 3, l), det = a * c - b * b;
    double u = (c * x - b * y) / det, v = (a * y - b * x) / det;
    return u * u + v * v;
}

/* Sampson error in pixels of two rays under E_21. */
static double epipolar_error(const psfm_view *v1, uint32_t k1, const psfm_view *v2, uint32_t k2,
                             const double E[9]) {
    double l2[3], l1[3];
    psfm_mat3_mul_vec(E, v1->rays[k1], l2);
    psfm_mat3_tmul_vec(E, v2->rays[k2], l1);
    double error = psfm_dot3(l2, v2->rays[k2]);
    double rate = rate_squared(v1->px_from_ray[k1], l1) + rate_squared(v2->px_from_ray[k2], l2);
    return rate > 0.0 ? fabs(error) / sqrt(rate) : INFINITY; /* also without a ray */
}

typedef struct {
    const psfm_match_set *set;
    const psfm_poses *poses;
    double max_error_px;
    const size_t *begin; /* first match of each pair */
    bool *use;
} test;

/* E_21 = [t]x R for the absolute poses; false if the centres coincide. */
static bool essential_of_poses(const psfm_poses *poses, uint32_t v1, uint32_t v2, double E[9]) {
    double d[3], t[3], R[9];
    psfm_sub3(poses->center[v1], poses->center[v2], d);
    if (!(psfm_normalize3(d) > 0.0))
        return false;
    psfm_mat3_mul_vec(poses->cam_from_world[v2], d, t);
    psfm_mat3_mul_t(poses->cam_from_world[v2], poses->cam_from_world[v1], R);
    for (int c = 0; c < 3; ++c) {
        double column[3] = {R[c], R[3 + c], R[6 + c]}, crossed[3];
        psfm_cross3(t, column, crossed);
        for (int r = 0; r < 3; ++r)
            E[3 * r + c] = crossed[r];
    }
    return true;
}

static psfm_status test_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const test *t = user;
    const psfm_match_pair *pair = &t->set->pairs[index];
    bool *use = t->use + t->begin[index];
    double E[9];
    memset(use, 0, pair->num_matches * sizeof *use);
    if (!psfm_share_world(t->poses, pair->view1, pair->view2) ||
        !essential_of_poses(t->poses, pair->view1, pair->view2, E))
        return PSFM_OK;
    size_t agreeing = 0;
    for (size_t k = 0; k < pair->num_matches; ++k) {
        double error = epipolar_error(&t->set->views[pair->view1], pair->matches[k][0],
                                      &t->set->views[pair->view2], pair->matches[k][1], E);
        use[k] = error <= t->max_error_px;
        agreeing += use[k];
    }
    if (agreeing < FAIR_NUMBER || (double)agreeing < fair_share * (double)pair->num_matches)
        memset(use, 0, pair->num_matches * sizeof *use);
    return PSFM_OK;
}

psfm_status psfm_usable_matches_of_poses(psfm_context *ctx, const psfm_match_set *set,
                                         const psfm_poses *poses, double max_error_px, bool *use) {
    size_t *begin = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs + 1, &begin);
    if (status != PSFM_OK)
        return status;
    for (size_t p = 0; p < set->num_pairs; ++p)
        begin[p + 1] = begin[p] + set->pairs[p].num_matches;
    test t = {set, poses, max_error_px, begin, use};
    status = psfm_parallel_for(ctx, NULL, set->num_pairs, test_pair, &t);
    free(begin);
    return status;
}
