/* Loops that are open, and by how much.
 *
 * Poses from pairs drift along a ring of images, and where its ends meet they are off by what has
 * come together on the way. If that is more than a round allows, no point is seen from both sides
 * of the place. The adjustment then makes the ring exact everywhere else, and open there: a chain
 * that happens to end near its beginning. All images still hang together, nearly all fit, and the
 * matches across are dropped because they contradict the poses.
 *
 * An edge that does not hold (core/refine/submodel_joining.h) shows such a place, unless its ends
 * hold together by a short way: drift is small there, so that it is the edge that is wrong. It need
 * not be an accepted one: where drift has come together, the consensus finds that the edges across
 * contradict all others. How far the loop is open is how far the points of one end are from the
 * matched keypoints of the other. */
#include "core/refine/loop_closure.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/refine/submodel_joining.h"

#define SHORT_WAY 8  /* edges, within which there is no drift to speak of */
#define MIN_ERRORS 6 /* matches of an edge, to tell how far it is off */

typedef struct {
    const psfm_refine_input *input;
    const psfm_poses *poses;
    psfm_point_views links;
    bool *holds;                    /* per edge */
    uint32_t *queue, *steps, *walk; /* per node: scratch of a walk, and the last one to come by */
    uint32_t num_walks;
    double *error_px; /* scratch: of the matches of a pair */
} search;

/* Whether edges that hold lead from one end of an edge to the other in SHORT_WAY steps. */
static bool has_short_way(search *s, const psfm_edge *edge) {
    const psfm_pose_graph *graph = s->input->graph;
    uint32_t num = 0, walk = ++s->num_walks;
    s->walk[edge->node1] = walk;
    s->steps[edge->node1] = 0;
    s->queue[num++] = edge->node1;
    for (uint32_t k = 0; k < num && s->steps[s->queue[k]] < SHORT_WAY; ++k) {
        uint32_t at = s->queue[k];
        const uint32_t *edges = psfm_adjacency_at(&graph->incident, at);
        for (uint32_t i = 0; i < psfm_adjacency_degree(&graph->incident, at); ++i) {
            uint32_t to = psfm_edge_other(&graph->edges[edges[i]], at);
            if (!s->holds[edges[i]] || s->walk[to] == walk)
                continue;
            if (to == edge->node2)
                return true;
            s->walk[to] = walk;
            s->steps[to] = s->steps[at] + 1;
            s->queue[num++] = to;
        }
    }
    return false;
}

/* Distance in pixels of a view's keypoint from the point that keypoint `from_k` of another view
 * shows; INFINITY if it shows none. */
static double point_error(const search *s, uint32_t from, uint32_t from_k, uint32_t to,
                          uint32_t to_k) {
    const psfm_view *view = &s->input->set->views[to];
    uint32_t p = s->links.point_of_keypoint[s->links.keypoint_begin[from] + from_k];
    double D[3], ray[3], xy[2];
    if (p == UINT32_MAX)
        return INFINITY;
    psfm_sub3(s->links.structure->points[p], s->poses->center[to], D);
    psfm_mat3_mul_vec(s->poses->cam_from_world[to], D, ray);
    if (!psfm_camera_project(&s->input->set->cameras[view->camera_idx], ray, xy))
        return INFINITY;
    return hypot(xy[0] - view->keypoints[to_k][0], xy[1] - view->keypoints[to_k][1]);
}

static size_t add_errors(search *s, const psfm_match_pair *pair, const uint32_t *inliers,
                         size_t num_inliers, size_t num) {
    for (size_t i = 0; i < num_inliers; ++i) {
        const uint32_t *match = pair->matches[inliers[i]];
        double error = fmin(point_error(s, pair->view1, match[0], pair->view2, match[1]),
                            point_error(s, pair->view2, match[1], pair->view1, match[0]));
        if (isfinite(error))
            s->error_px[num++] = error;
    }
    return num;
}

/* Median error of the matches that the edge's own geometry explains; INFINITY if there are few. */
static double edge_error(search *s, const psfm_edge *edge) {
    const psfm_match_pair *pair = &s->input->set->pairs[edge->pair];
    const psfm_two_view *view = &s->input->two_views[edge->pair];
    size_t num = 0;
    for (size_t h = 0; h < view->num_homographies; ++h)
        num = add_errors(s, pair, view->homographies[h].inliers, view->homographies[h].num_inliers,
                         num);
    if (view->num_homographies == 0 && view->essential.found)
        num = add_errors(s, pair, view->essential.inliers, view->essential.num_inliers, num);
    return num < MIN_ERRORS ? INFINITY : psfm_median(s->error_px, num);
}

static psfm_status start_search(psfm_context *ctx, const psfm_structure *structure, search *s) {
    const psfm_match_set *set = s->input->set;
    size_t most = 0;
    psfm_status status;
    for (size_t p = 0; p < set->num_pairs; ++p)
        most = set->pairs[p].num_matches > most ? set->pairs[p].num_matches : most;
    if ((status = psfm_point_views_init(ctx, set, structure, s->poses, &s->links)) ||
        (status = PSFM_ALLOC(ctx, s->input->graph->num_edges, &s->holds)) ||
        (status = PSFM_ALLOC(ctx, s->input->graph->num_nodes, &s->queue)) ||
        (status = PSFM_ALLOC(ctx, s->input->graph->num_nodes, &s->steps)) ||
        (status = PSFM_ALLOC(ctx, s->input->graph->num_nodes, &s->walk)) ||
        (status = PSFM_ALLOC(ctx, most, &s->error_px)))
        return status;
    for (uint32_t e = 0; e < s->input->graph->num_edges; ++e)
        s->holds[e] = psfm_edge_holds(s->input, &s->links, &s->input->graph->edges[e], MIN_ERRORS);
    return PSFM_OK;
}

psfm_status psfm_open_loops_find(psfm_context *ctx, const psfm_refine_input *input,
                                 const psfm_structure *structure, const psfm_poses *poses,
                                 double least_px, double most_px, psfm_open_loops *out) {
    search s = {.input = input, .poses = poses};
    *out = (psfm_open_loops){0};
    psfm_status status = start_search(ctx, structure, &s);
    for (uint32_t e = 0; status == PSFM_OK && e < input->graph->num_edges; ++e) {
        const psfm_edge *edge = &input->graph->edges[e];
        if (s.holds[e] || !psfm_share_world(poses, edge->node1, edge->node2))
            continue;
        double error = edge_error(&s, edge);
        if (error <= least_px || error > most_px || has_short_way(&s, edge))
            continue;
        ++out->num;
        out->error_px = fmax(out->error_px, error);
    }
    psfm_point_views_free(&s.links);
    free(s.holds);
    free(s.queue);
    free(s.steps);
    free(s.walk);
    free(s.error_px);
    return status;
}
