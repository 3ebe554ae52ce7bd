/* Choosing among hypotheses by weights.
 *
 * An edge has one or more homographies (planes), each with one or two decompositions. All three
 * ways here keep one decomposition per plane and share a weight of 1 among the planes of an edge:
 *
 *   essential   w ~ exp(-(eps / bandwidth)^2), eps = angle between the decomposition's rotation
 *               and that of the essential matrix, the confidence of the Planar-SfM paper (Eq. 4,
 *               there with a bandwidth of 1 rad);
 *   random      w uniform, the ablation of that confidence;
 *   truth       the decomposition nearest to a known rotation, w ~ number of inliers.
 *
 * Weights of an edge are scaled by their largest exponent before exponentiation, so that a small
 * bandwidth cannot make all of them vanish. */
#include "graph/hypothesis.h"

#include <float.h>
#include <math.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "linalg/mat3.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_essential_weight_options, rotation_bandwidth_rad, "rotation-bandwidth",
                       1.0, 1e-3, 100.0,
                       "rotation difference (rad) from the essential matrix at which a "
                       "decomposition's confidence has dropped to 1/e"),
};
const psfm_option_table psfm_essential_weight_option_table = {"essential-weight", rows,
                                                              sizeof rows / sizeof rows[0]};

/* The plane's heaviest hypothesis, the first on ties; the others are zeroed. */
static psfm_hypothesis *keep_heaviest(psfm_pose_graph *graph, const psfm_edge_plane *plane) {
    psfm_hypothesis *best = &graph->hypotheses[plane->hypothesis_begin];
    for (uint32_t h = plane->hypothesis_begin; h < plane->hypothesis_end; ++h)
        if (graph->hypotheses[h].weight > best->weight)
            best = &graph->hypotheses[h];
    for (uint32_t h = plane->hypothesis_begin; h < plane->hypothesis_end; ++h)
        if (&graph->hypotheses[h] != best)
            graph->hypotheses[h].weight = 0.0;
    return best;
}

/* Scales the edge's weights, of which one at least is positive, to sum 1. */
static void normalise(psfm_pose_graph *graph, const psfm_edge *edge) {
    double sum = 0.0;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        sum += graph->hypotheses[h].weight;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        graph->hypotheses[h].weight /= sum;
}

static void keep_heaviest_and_normalise(psfm_pose_graph *graph, const psfm_edge *edge) {
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        keep_heaviest(graph, &graph->planes[p]);
    normalise(graph, edge);
}

/* Writes minus the rotation angle to R_21 as the weight of each hypothesis of an edge, and the
 * smallest angle. */
static psfm_status measure_angles(psfm_context *ctx, psfm_pose_graph *graph, uint32_t e,
                                  const double R_21[9], double *smallest) {
    const psfm_edge *edge = &graph->edges[e];
    *smallest = INFINITY;
    for (uint32_t k = edge->hypothesis_begin; k < edge->hypothesis_end; ++k) {
        psfm_hypothesis *h = &graph->hypotheses[k];
        double angle = psfm_rotation_angle(h->motion.R_21, R_21);
        if (!isfinite(angle))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "edge %u of the pose graph (nodes %u and %u) has a rotation that is "
                             "not finite",
                             e, edge->node1, edge->node2);
        h->weight = -angle;
        *smallest = fmin(*smallest, angle);
    }
    return PSFM_OK;
}

typedef struct {
    psfm_pose_graph *graph;
    double bandwidth;
    const double (*true_R_21)[9];
} weighing;

static psfm_status weigh_edge_by_essential(psfm_context *ctx, size_t index, int worker,
                                           void *user) {
    (void)worker;
    const weighing *w = user;
    const psfm_edge *edge = &w->graph->edges[index];
    psfm_hypothesis *hypotheses = w->graph->hypotheses;
    if (!edge->has_essential) {
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
            hypotheses[h].weight = 1.0;
        normalise(w->graph, edge);
        return PSFM_OK;
    }
    double smallest;
    psfm_status status =
        measure_angles(ctx, w->graph, (uint32_t)index, edge->essential_R_21, &smallest);
    if (status != PSFM_OK)
        return status;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h) {
        double angle = -hypotheses[h].weight;
        double exponent = (smallest - angle) * (smallest + angle) / (w->bandwidth * w->bandwidth);
        hypotheses[h].weight = exp(exponent); /* Eq. 4 */
    }
    keep_heaviest_and_normalise(w->graph, edge);
    return PSFM_OK;
}

psfm_status psfm_weigh_by_essential(psfm_context *ctx, const psfm_essential_weight_options *options,
                                    psfm_pose_graph *graph) {
    psfm_essential_weight_options defaults;
    psfm_options_init(&psfm_essential_weight_option_table, &defaults);
    if (options == NULL)
        options = &defaults;
    psfm_status status = psfm_options_check(ctx, &psfm_essential_weight_option_table, options);
    if (status != PSFM_OK)
        return status;
    weighing w = {.graph = graph, .bandwidth = options->rotation_bandwidth_rad};
    return psfm_parallel_for(ctx, NULL, graph->num_edges, weigh_edge_by_essential, &w);
}

psfm_status psfm_weigh_randomly(psfm_context *ctx, uint64_t seed, psfm_pose_graph *graph) {
    (void)ctx;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_ABLATION, e, 0);
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
            graph->hypotheses[h].weight = 1.0 - psfm_rng_uniform(&rng); /* in (0, 1] */
        keep_heaviest_and_normalise(graph, edge);
    }
    return PSFM_OK;
}

static psfm_status weigh_edge_by_truth(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const weighing *w = user;
    const psfm_edge *edge = &w->graph->edges[index];
    double smallest;
    psfm_status status =
        measure_angles(ctx, w->graph, (uint32_t)index, w->true_R_21[index], &smallest);
    if (status != PSFM_OK)
        return status;
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p) {
        const psfm_edge_plane *plane = &w->graph->planes[p];
        /* Never quite 0, so that an edge of empty planes still has its choice. */
        keep_heaviest(w->graph, plane)->weight = fmax(plane->num_inliers, DBL_MIN);
    }
    normalise(w->graph, edge);
    return PSFM_OK;
}

psfm_status psfm_weigh_by_truth(psfm_context *ctx, const double (*true_R_21)[9],
                                psfm_pose_graph *graph) {
    weighing w = {.graph = graph, .true_R_21 = true_R_21};
    return psfm_parallel_for(ctx, NULL, graph->num_edges, weigh_edge_by_truth, &w);
}
