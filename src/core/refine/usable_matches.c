/* Which matches may form tracks: at first the inliers of accepted edges, later all matches whose
 * epipolar (Sampson) error under the current poses is small, so that matches that verification
 * lost come back. How many agree by chance is counted on matches whose partners are exchanged. A
 * pair whose agreeing matches are no more than that, or far fewer than its own geometry explains,
 * is a false pair and is left out; where those off its planes are no more than chance, only those
 * on them are used. O(matches). */
#include "core/refine/usable_matches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

/* A pair keeps its agreeing matches if they are this many, and, less those that agree by chance,
 * this share of what its own geometry explains and this many standard deviations of chance. */
enum { FAIR_NUMBER = 5 };
static const double fair_share = 0.25, fair_sigmas = 3.0;

static void mark_inliers(bool *use, const uint32_t *inliers, size_t num) {
    for (size_t k = 0; k < num; ++k)
        use[inliers[k]] = true;
}

psfm_status psfm_usable_matches_of_edges(const psfm_refine_input *input, bool *use) {
    const psfm_match_set *set = input->set;
    uint32_t e = 0; /* edges are in the order of their pairs */
    for (size_t p = 0; p < set->num_pairs; use += set->pairs[p++].num_matches) {
        const psfm_two_view *view = &input->two_views[p];
        memset(use, 0, set->pairs[p].num_matches * sizeof *use);
        while (e < input->graph->num_edges && input->graph->edges[e].pair < p)
            ++e;
        if (e == input->graph->num_edges || input->graph->edges[e].pair != p ||
            !input->edge_accepted[e])
            continue;
        for (size_t h = 0; h < view->num_homographies; ++h)
            mark_inliers(use, view->homographies[h].inliers, view->homographies[h].num_inliers);
        if (view->essential.found && !view->essential.is_degenerate) /* off its plane: chance */
            mark_inliers(use, view->essential.inliers, view->essential.num_inliers);
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
    const psfm_refine_input *input;
    const psfm_poses *poses;
    double max_error_px;
    const size_t *begin; /* first match of each pair */
    bool *use;
} test;

/* E_21 = [t]x R for the absolute poses. Where the centres coincide any t does: matches that agree
 * with the rotation agree with them all. Then it is one across the view of camera 2. */
static void essential_of_poses(const psfm_poses *poses, uint32_t v1, uint32_t v2, double E[9]) {
    double d[3], t[3] = {1.0, 0.0, 0.0}, R[9];
    psfm_sub3(poses->center[v1], poses->center[v2], d);
    if (psfm_normalize3(d) > 0.0)
        psfm_mat3_mul_vec(poses->cam_from_world[v2], d, t);
    psfm_mat3_mul_t(poses->cam_from_world[v2], poses->cam_from_world[v1], R);
    for (int c = 0; c < 3; ++c) {
        double column[3] = {R[c], R[3 + c], R[6 + c]}, crossed[3];
        psfm_cross3(t, column, crossed);
        for (int r = 0; r < 3; ++r)
            E[3 * r + c] = crossed[r];
    }
}

/* Sampson error of the match of keypoint k of view 1 to the partner of match `partner`. */
static double error_of(const test *t, const psfm_match_pair *pair, size_t k, size_t partner,
                       const double E[9]) {
    const psfm_view *views = t->input->set->views;
    return epipolar_error(&views[pair->view1], pair->matches[k][0], &views[pair->view2],
                          pair->matches[partner][1], E);
}

/* Share of unrelated matches that agree with the poses: of keypoints that are each given the
 * partner of another match, far away in the list. At least one of them, so that it is never 0. */
static double chance_share(const test *t, const psfm_match_pair *pair, const double E[9]) {
    size_t n = pair->num_matches, agreeing = 1;
    for (size_t k = 0; k < n; ++k) {
        size_t partner = (size_t)(((uint64_t)k * 0x9E3779B97F4A7C15u >> 20) % n);
        if (pair->matches[partner][1] != pair->matches[k][1])
            agreeing += error_of(t, pair, k, partner, E) <= t->max_error_px;
    }
    return fmin((double)agreeing / (double)n, 1.0);
}

/* Whether `agreeing` of `num` matches are more than chance, of which a share p agrees. */
static bool is_beyond_chance(double agreeing, double num, double p) {
    return agreeing - p * num >= fair_sigmas * sqrt(num * p * (1.0 - p));
}

static bool is_fair(const psfm_two_view *view, size_t num_matches, size_t agreeing, double p) {
    double num = (double)num_matches, beyond = (double)agreeing - p * num;
    return agreeing >= FAIR_NUMBER &&
           beyond >= fair_share * (double)psfm_two_view_explained(view) &&
           is_beyond_chance((double)agreeing, num, p);
}

/* If the agreeing matches that are on no plane of the pair are no more than chance, they go: near a
 * line is a weak test where most matches are wrong, near a point is not. */
static void drop_chance(const psfm_two_view *view, size_t num_matches, size_t agreeing, double p,
                        bool *use, bool *on_plane) {
    size_t on_planes = 0, agreeing_on = 0;
    memset(on_plane, 0, num_matches * sizeof *on_plane);
    for (size_t h = 0; h < view->num_homographies; ++h) {
        on_planes += view->homographies[h].num_inliers;
        for (size_t k = 0; k < view->homographies[h].num_inliers; ++k) {
            uint32_t own = view->homographies[h].inliers[k];
            on_plane[own] = true;
            agreeing_on += use[own];
        }
    }
    if (on_planes == 0 ||
        is_beyond_chance((double)(agreeing - agreeing_on), (double)(num_matches - on_planes), p))
        return;
    for (size_t k = 0; k < num_matches; ++k)
        use[k] = use[k] && on_plane[k];
}

static psfm_status test_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const test *t = user;
    const psfm_match_pair *pair = &t->input->set->pairs[index];
    const psfm_two_view *view = &t->input->two_views[index];
    size_t agreeing = 0, num = pair->num_matches;
    bool *use = t->use + t->begin[index], *on_plane = NULL;
    double E[9];
    memset(use, 0, num * sizeof *use);
    if (!psfm_share_world(t->poses, pair->view1, pair->view2) || num == 0)
        return PSFM_OK;
    essential_of_poses(t->poses, pair->view1, pair->view2, E);
    psfm_status status = PSFM_ALLOC(ctx, num, &on_plane);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k) {
        use[k] = error_of(t, pair, k, k, E) <= t->max_error_px;
        agreeing += use[k];
    }
    double p = chance_share(t, pair, E);
    if (is_fair(view, num, agreeing, p))
        drop_chance(view, num, agreeing, p, use, on_plane);
    else
        memset(use, 0, num * sizeof *use);
    free(on_plane);
    return PSFM_OK;
}

psfm_status psfm_usable_matches_of_poses(psfm_context *ctx, const psfm_refine_input *input,
                                         const psfm_poses *poses, double max_error_px, bool *use) {
    const psfm_match_set *set = input->set;
    size_t *begin = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs + 1, &begin);
    if (status != PSFM_OK)
        return status;
    for (size_t p = 0; p < set->num_pairs; ++p)
        begin[p + 1] = begin[p] + set->pairs[p].num_matches;
    test t = {input, poses, max_error_px, begin, use};
    status = psfm_parallel_for(ctx, NULL, set->num_pairs, test_pair, &t);
    free(begin);
    return status;
}

/* Errors of the matches that the pair's own geometry explains, under the poses. */
typedef struct {
    const psfm_refine_input *input;
    const psfm_poses *poses;
    double *error_px; /* scratch, of all matches of a view */
    size_t num;
} survey;

static void survey_inliers(survey *s, const psfm_match_pair *pair, const double E[9],
                           const uint32_t *inliers, size_t num) {
    const psfm_view *views = s->input->set->views;
    for (size_t k = 0; k < num; ++k) {
        const uint32_t *match = pair->matches[inliers[k]];
        double error =
            epipolar_error(&views[pair->view1], match[0], &views[pair->view2], match[1], E);
        if (isfinite(error))
            s->error_px[s->num++] = error;
    }
}

/* Of edge e: its planes' inliers, or those of its essential matrix where it has none. */
static void survey_edge(survey *s, const psfm_edge *edge) {
    const psfm_match_pair *pair = &s->input->set->pairs[edge->pair];
    const psfm_two_view *view = &s->input->two_views[edge->pair];
    double E[9];
    if (!psfm_share_world(s->poses, edge->node1, edge->node2))
        return;
    essential_of_poses(s->poses, edge->node1, edge->node2, E);
    for (size_t h = 0; h < view->num_homographies; ++h)
        survey_inliers(s, pair, E, view->homographies[h].inliers,
                       view->homographies[h].num_inliers);
    if (view->num_homographies == 0 && view->essential.found)
        survey_inliers(s, pair, E, view->essential.inliers, view->essential.num_inliers);
}

/* Room for the errors of any one view. */
static size_t most_matches(const psfm_pose_graph *graph, const psfm_match_set *set) {
    size_t most = 0;
    for (uint32_t v = 0; v < graph->num_nodes; ++v) {
        size_t num = 0;
        const uint32_t *edges = psfm_adjacency_at(&graph->incident, v);
        for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, v); ++k)
            num += set->pairs[graph->edges[edges[k]].pair].num_matches;
        most = num > most ? num : most;
    }
    return most;
}

/* Per view: the median error of its matches; NAN without any. */
typedef struct {
    const psfm_refine_input *input;
    const psfm_poses *poses;
    double **scratch; /* per worker */
    double *median;
} view_job;

static psfm_status survey_view(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    const view_job *job = user;
    const psfm_pose_graph *graph = job->input->graph;
    const uint32_t *edges = psfm_adjacency_at(&graph->incident, (uint32_t)index);
    survey s = {job->input, job->poses, job->scratch[worker], 0};
    for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, (uint32_t)index); ++k)
        if (job->input->edge_accepted[edges[k]])
            survey_edge(&s, &graph->edges[edges[k]]);
    job->median[index] = s.num > 0 ? psfm_median(s.error_px, s.num) : (double)NAN;
    return PSFM_OK;
}

psfm_status psfm_pose_error(psfm_context *ctx, const psfm_refine_input *input,
                            const psfm_poses *poses, double share, double *error_px) {
    const psfm_pose_graph *graph = input->graph;
    const size_t room = 2 * most_matches(graph, input->set);
    const int num_workers = psfm_parallel_workers(ctx, graph->num_nodes);
    view_job job = {.input = input, .poses = poses};
    size_t num = 0;
    *error_px = 0.0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &job.median);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num_workers, &job.scratch);
    for (int k = 0; status == PSFM_OK && k < num_workers; ++k)
        status = PSFM_ALLOC(ctx, room, &job.scratch[k]);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, graph->num_nodes, survey_view, &job);
    for (size_t v = 0; status == PSFM_OK && v < graph->num_nodes; ++v)
        if (!isnan(job.median[v]))
            job.median[num++] = job.median[v];
    if (num > 0)
        *error_px = psfm_select(job.median, num, (size_t)(share * (double)(num - 1)));
    for (int k = 0; job.scratch != NULL && k < num_workers; ++k)
        free(job.scratch[k]);
    free((void *)job.scratch);
    free(job.median);
    return status;
}

static void count_inliers(const psfm_refine_input *input, const psfm_match_pair *pair,
                          const double E[9], const uint32_t *inliers, size_t num,
                          double max_error_px, psfm_edge_matches *out) {
    const psfm_view *a = &input->set->views[pair->view1], *b = &input->set->views[pair->view2];
    for (size_t k = 0; k < num; ++k) {
        const uint32_t *match = pair->matches[inliers[k]];
        out->explained += epipolar_error(a, match[0], b, match[1], E) <= max_error_px;
    }
    out->own += (uint32_t)num;
}

void psfm_edge_matches_count(const psfm_refine_input *input, const psfm_poses *poses,
                             double max_error_px, psfm_edge_matches *edges) {
    for (uint32_t e = 0; e < input->graph->num_edges; ++e) {
        const psfm_edge *edge = &input->graph->edges[e];
        const psfm_match_pair *pair = &input->set->pairs[edge->pair];
        const psfm_two_view *view = &input->two_views[edge->pair];
        double E[9];
        edges[e] = (psfm_edge_matches){0};
        if (!psfm_share_world(poses, edge->node1, edge->node2))
            continue;
        essential_of_poses(poses, edge->node1, edge->node2, E);
        for (size_t h = 0; h < view->num_homographies; ++h)
            count_inliers(input, pair, E, view->homographies[h].inliers,
                          view->homographies[h].num_inliers, max_error_px, &edges[e]);
        if (view->num_homographies == 0 && view->essential.found)
            count_inliers(input, pair, E, view->essential.inliers, view->essential.num_inliers,
                          max_error_px, &edges[e]);
    }
}
