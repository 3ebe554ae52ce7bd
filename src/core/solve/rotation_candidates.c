/* Hypotheses and essential matrices as the candidates of the consensus, with their weights. */
#include "core/solve/rotation_candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "core/posegraph/joint_choice.h"
#include "core/posegraph/missing_matches.h"

double psfm_edge_num_inliers(const psfm_pose_graph *graph, const psfm_edge *edge) {
    double inliers = 0.0;
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        inliers += graph->planes[p].num_inliers;
    return fmax(inliers, edge->has_essential && edge->plane_begin == edge->plane_end
                             ? (double)edge->essential_inliers
                             : 0.0);
}

/* Weight of each edge by its inliers: few count less than many, but ten times as many do not count
 * as ten edges; and by what it leaves out. */
static psfm_status weigh_edges(psfm_context *ctx, const psfm_pose_graph *graph, double *weight) {
    const double power = 0.5;
    double *inliers = NULL;
    uint32_t n = graph->num_edges;
    psfm_status status = PSFM_ALLOC(ctx, n, &inliers);
    if (status != PSFM_OK || n == 0) {
        free(inliers);
        return status;
    }
    for (uint32_t e = 0; e < n; ++e)
        weight[e] = inliers[e] = psfm_edge_num_inliers(graph, &graph->edges[e]);
    double median = psfm_median(inliers, n);
    for (uint32_t e = 0; e < n; ++e)
        weight[e] = pow(fmin(fmax(weight[e] / fmax(median, 1.0), 0.01), 4.0), power) *
                    psfm_edge_missing_weight(&graph->edges[e]);
    free(inliers);
    return PSFM_OK;
}

double psfm_edge_essential_confidence(const psfm_edge *edge) {
    if (!edge->has_essential)
        return 0.0;
    if (edge->plane_begin == edge->plane_end)
        return 1.0;
    double off_plane = edge->essential_inliers * (1.0 - edge->essential_plane_share);
    return fmin(1.0, off_plane / PSFM_FULL_OFF_PLANE);
}

psfm_status psfm_candidate_list_make(psfm_context *ctx, const psfm_pose_graph *graph,
                                     double noise_px, const double *confidence,
                                     psfm_candidate_list *c) {
    size_t room = (size_t)graph->num_hypotheses + graph->num_edges;
    psfm_status status;
    *c = (psfm_candidate_list){0};
    if ((status = PSFM_ALLOC(ctx, (size_t)graph->num_edges + 1, &c->begin)) ||
        (status = PSFM_ALLOC(ctx, room, &c->R_21)) ||
        (status = PSFM_ALLOC(ctx, room, &c->confidence)) ||
        (status = PSFM_ALLOC(ctx, room, &c->sigma_rad)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &c->weight)) ||
        (status = weigh_edges(ctx, graph, c->weight)))
        return status;
    uint32_t num = 0;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h) {
            memcpy(c->R_21[num], graph->hypotheses[h].motion.R_21, sizeof *c->R_21);
            c->sigma_rad[num] = noise_px * graph->hypotheses[h].sigma_rad;
            c->confidence[num++] = confidence[h];
        }
        double essential = psfm_edge_essential_confidence(edge);
        if (essential > 0.0) {
            memcpy(c->R_21[num], edge->essential_R_21, sizeof *c->R_21);
            c->sigma_rad[num] = noise_px * edge->essential_sigma_rad;
            c->confidence[num++] = essential;
        }
        c->begin[e + 1] = num;
    }
    return PSFM_OK;
}

void psfm_candidate_list_free(psfm_candidate_list *list) {
    free(list->begin);
    free(list->R_21);
    free(list->confidence);
    free(list->sigma_rad);
    free(list->weight);
    *list = (psfm_candidate_list){0};
}

psfm_rotation_candidates psfm_candidate_list_view(const psfm_candidate_list *list) {
    return (psfm_rotation_candidates){.begin = list->begin,
                                      .R_21 = (const double(*)[9])list->R_21,
                                      .confidence = list->confidence,
                                      .sigma_rad = list->sigma_rad,
                                      .weight = list->weight};
}
