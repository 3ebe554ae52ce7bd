/* One relative pose per edge (Eq. 7; docs/paper.md).
 *
 * The weighted sum of rotation matrices is projected back on SO(3) by its singular value
 * decomposition, which gives the chordal mean; the weighted sum of unit translation directions is
 * scaled to length one. Hypotheses of one edge differ in the plane that scales t, so only the
 * directions can be averaged. */
#include "core/posegraph/consolidate.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/linalg/mat3.h"

/* Edges are done in blocks, so that a task is worth its hand-out. */
#define EDGES_PER_TASK 1024

typedef struct {
    const psfm_pose_graph *graph;
    psfm_relative_pose *out;
} consolidation;

static void take_heaviest(const psfm_pose_graph *graph, const psfm_edge *edge,
                          psfm_relative_pose *pose) {
    const psfm_hypothesis *best = NULL;
    for (uint32_t k = edge->hypothesis_begin; k < edge->hypothesis_end; ++k)
        if (best == NULL || graph->hypotheses[k].weight > best->weight)
            best = &graph->hypotheses[k];
    if (best != NULL) {
        memcpy(pose->R_21, best->motion.R_21, sizeof pose->R_21);
        memcpy(pose->t_21, best->motion.t_21, sizeof pose->t_21);
        psfm_normalize3(pose->t_21);
    } else if (edge->has_essential) {
        memcpy(pose->R_21, edge->essential_R_21, sizeof pose->R_21);
        memcpy(pose->t_21, edge->essential_t_21, sizeof pose->t_21);
    } else {
        psfm_mat3_identity(pose->R_21);
        memset(pose->t_21, 0, sizeof pose->t_21);
    }
}

static void consolidate_edge(const psfm_pose_graph *graph, const psfm_edge *edge,
                             psfm_relative_pose *pose) {
    double R_sum[9] = {0}, t_sum[3] = {0}, t_weight = 0.0;
    for (uint32_t k = edge->hypothesis_begin; k < edge->hypothesis_end; ++k) {
        const psfm_hypothesis *h = &graph->hypotheses[k];
        if (!(h->weight > 0.0))
            continue;
        for (int i = 0; i < 9; ++i)
            R_sum[i] += h->weight * h->motion.R_21[i];
        double length = psfm_norm3(h->motion.t_21);
        if (length > 0.0) {
            psfm_axpy3(t_sum, h->weight / length, h->motion.t_21, t_sum);
            t_weight += h->weight;
        }
    }
    /* Eq. 7: Proj_SO3 of the sum here, Proj_S2 below. */
    if (!psfm_mat3_nearest_rotation(R_sum, pose->R_21)) {
        take_heaviest(graph, edge, pose);
        return;
    }
    /* Directions that cancel leave rounding errors, not a direction. */
    if (psfm_norm3(t_sum) <= 1e-12 * t_weight)
        memset(t_sum, 0, sizeof t_sum);
    psfm_normalize3(t_sum);
    memcpy(pose->t_21, t_sum, sizeof t_sum);
}

static psfm_status consolidate_block(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const consolidation *c = user;
    size_t first = index * EDGES_PER_TASK;
    for (size_t e = first; e < first + EDGES_PER_TASK && e < c->graph->num_edges; ++e)
        consolidate_edge(c->graph, &c->graph->edges[e], &c->out[e]);
    return PSFM_OK;
}

psfm_status psfm_consolidate(psfm_context *ctx, const psfm_pose_graph *graph,
                             psfm_relative_pose *out) {
    consolidation c = {graph, out};
    size_t num_tasks = (graph->num_edges + (size_t)EDGES_PER_TASK - 1) / EDGES_PER_TASK;
    return psfm_parallel_for(ctx, NULL, num_tasks, consolidate_block, &c);
}
