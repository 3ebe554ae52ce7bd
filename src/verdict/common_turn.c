/* An edge (i, j) that contradicts the rotations asks for G = R_j^T R_ji R_i: turned by it, i would
 * agree with j. Edges to a twin of the scene all name the same G, or its inverse, for whichever
 * side of the twin they start from; wrong edges of other kinds name any. */
#include "verdict/common_turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/absence.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"

#define MOST_EDGES 256

/* What the edges of a sample ask for: edge k the turns begin[k] .. begin[k + 1]. Owns its arrays.
 */
typedef struct {
    double (*turn)[9];
    uint32_t *begin, num_edges;
    double *credit; /* of each edge */
    double near;    /* 1 + 2 cos(angle) of two rotations that are one */
} wishes;

static bool is_inside(const psfm_pose_graph *graph, uint32_t e, const psfm_poses *poses,
                      uint32_t component) {
    return poses->component[graph->edges[e].node1] == component &&
           poses->component[graph->edges[e].node2] == component;
}

/* A turn by no more than the rotations agree to is none. */
static void add_wish(const psfm_poses *poses, const psfm_edge *edge, const double R_21[9],
                     wishes *w, uint32_t *num) {
    double turned[9], *turn = w->turn[*num];
    psfm_mat3_mul(R_21, poses->cam_from_world[edge->node1], turned);
    psfm_mat3_t_mul(poses->cam_from_world[edge->node2], turned, turn);
    *num += turn[0] + turn[4] + turn[8] < w->near;
}

/* Every stride-th of the rejected edges. */
static psfm_status list_wishes(psfm_context *ctx, const psfm_pose_graph *graph,
                               const bool *accepted, const psfm_poses *poses, uint32_t component,
                               uint32_t stride, wishes *w) {
    uint32_t num = 0, seen = 0;
    psfm_status status =
        PSFM_ALLOC(ctx, (size_t)graph->num_hypotheses + graph->num_edges, &w->turn);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)graph->num_edges + 1, &w->begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &w->credit);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        if (accepted[e] || !is_inside(graph, e, poses, component) || seen++ % stride != 0)
            continue;
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
            add_wish(poses, edge, graph->hypotheses[h].motion.R_21, w, &num);
        if (edge->has_essential)
            add_wish(poses, edge, edge->essential_R_21, w, &num);
        w->credit[w->num_edges] = psfm_edge_credit(edge, PSFM_ABSENCE_POWER);
        w->begin[++w->num_edges] = num;
    }
    return status;
}

/* Whether A is within the angle of B or of its inverse. */
static bool are_one(const double A[9], const double B[9], double near) {
    double same = 0.0, inverse = 0.0;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            same += A[3 * r + c] * B[3 * r + c];
            inverse += A[3 * r + c] * B[3 * c + r];
        }
    }
    return fmax(same, inverse) > near;
}

/* Credit of the edges that ask for the turn; 0 if only one does. */
static double sum_seconds(const wishes *w, const double turn[9]) {
    uint32_t count = 0;
    double sum = 0.0;
    for (uint32_t k = 0; k < w->num_edges; ++k) {
        bool agrees = false;
        for (uint32_t q = w->begin[k]; !agrees && q < w->begin[k + 1]; ++q)
            agrees = are_one(turn, w->turn[q], w->near);
        count += agrees;
        sum += agrees ? w->credit[k] : 0.0;
    }
    return count > 1 ? sum : 0.0;
}

psfm_status psfm_common_turn_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const bool *accepted, const psfm_poses *poses, uint32_t component,
                                  double agreement_deg, double *share) {
    wishes w = {.near = 1.0 + 2.0 * cos(psfm_radians(agreement_deg))};
    uint32_t num_edges = 0, num_rejected = 0;
    double best = 0.0;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        bool inside = is_inside(graph, e, poses, component);
        num_edges += inside;
        num_rejected += inside && !accepted[e];
    }
    uint32_t stride = num_rejected / MOST_EDGES + 1;
    psfm_status status = num_rejected < 2
                             ? PSFM_OK
                             : list_wishes(ctx, graph, accepted, poses, component, stride, &w);
    uint32_t num_turns = w.num_edges == 0 ? 0 : w.begin[w.num_edges];
    for (uint32_t q = 0; status == PSFM_OK && q < num_turns; ++q)
        best = fmax(best, sum_seconds(&w, w.turn[q]));
    *share = num_edges > 0 ? best * stride / num_edges : 0.0;
    free(w.turn);
    free(w.begin);
    free(w.credit);
    return status;
}
