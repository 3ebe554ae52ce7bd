/* Confidence of hypotheses, by weights (Eq. 4).
 *
 * An edge has one or more homographies (planes), each with one or two decompositions. Both ways
 * here keep one decomposition per plane and share a weight of 1 among the planes of an edge:
 *
 *   essential   w ~ max(exp(-(eps / bandwidth)^2), floor) inliers^power, eps = angle between the
 *               decomposition's rotation and that of the essential matrix: the confidence of the
 *               Planar-SfM paper but for the last factor and the floor, which are ours (see
 *               docs/paper.md for what they do);
 *   random      w uniform, the ablation of that confidence.
 *
 * The floor keeps an edge alive of which no decomposition is near the essential matrix. Without one
 * (0) the weights are taken relative to the nearest decomposition's, so that none vanishes with all
 * others. */
#include "core/posegraph/confidence.h"

#include <math.h>

#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_essential_weight_options, rotation_bandwidth_deg,
                       "rotation-bandwidth-deg", 1.0, 0.01, 1000.0,
                       "rotation difference from the essential matrix at which a decomposition's "
                       "confidence has dropped to 1/e"),
    PSFM_OPTION_DOUBLE(psfm_essential_weight_options, floor, "floor", 1e-3, 0.0, 1.0,
                       "least confidence of a decomposition"),
    PSFM_OPTION_DOUBLE(psfm_essential_weight_options, inlier_power, "inlier-power", 2.0, 0.0, 10.0,
                       "a decomposition's confidence is multiplied by its number of inliers to "
                       "this power; 0: as published"),
};
const psfm_option_table psfm_essential_weight_option_table =
    PSFM_OPTION_TABLE("essential-weight", rows);

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
static void normalise_weights(psfm_pose_graph *graph, const psfm_edge *edge) {
    double sum = 0.0;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        sum += graph->hypotheses[h].weight;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        graph->hypotheses[h].weight /= sum;
}

static void keep_heaviest_and_normalise(psfm_pose_graph *graph, const psfm_edge *edge) {
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        keep_heaviest(graph, &graph->planes[p]);
    normalise_weights(graph, edge);
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
    const psfm_essential_weight_options *options;
    const double (*R_21)[9]; /* per edge: what is taken for its rotation; NULL: the essential's */
    const bool *select;      /* per edge: whether to weigh it; NULL: all */
} weighing;

/* Turns minus the angle to the essential matrix into a confidence. */
static double angle_confidence(const psfm_essential_weight_options *options, double angle,
                               double smallest) {
    double bandwidth = psfm_radians(options->rotation_bandwidth_deg);
    if (options->floor > 0.0)
        return fmax(exp(-(angle / bandwidth) * (angle / bandwidth)), options->floor);
    return exp((smallest - angle) * (smallest + angle) / (bandwidth * bandwidth));
}

/* Multiplies the weights by the planes' inliers, relative to the edge's largest plane. */
static void weigh_by_inliers(psfm_pose_graph *graph, const psfm_edge *edge, double power) {
    uint32_t most = 1;
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        most = graph->planes[p].num_inliers > most ? graph->planes[p].num_inliers : most;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h) {
        const psfm_edge_plane *plane = &graph->planes[graph->hypotheses[h].plane];
        graph->hypotheses[h].weight *= pow(fmax(plane->num_inliers, 1.0) / most, power);
    }
}

static psfm_status weigh_edge(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const weighing *w = user;
    const psfm_edge *edge = &w->graph->edges[index];
    const double *R_21 = edge->has_essential ? edge->essential_R_21 : NULL;
    double smallest = 0.0;
    psfm_status status = PSFM_OK;
    if (w->select != NULL && !w->select[index])
        return PSFM_OK;
    if (w->R_21 != NULL)
        R_21 = w->R_21[index];
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        w->graph->hypotheses[h].weight = 1.0;
    if (R_21 != NULL)
        status = measure_angles(ctx, w->graph, (uint32_t)index, R_21, &smallest);
    if (status != PSFM_OK)
        return status;
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p) {
        psfm_hypothesis *nearest = keep_heaviest(w->graph, &w->graph->planes[p]);
        nearest->weight =
            R_21 != NULL ? angle_confidence(w->options, -nearest->weight, smallest) : 1.0;
    }
    weigh_by_inliers(w->graph, edge, w->options->inlier_power);
    normalise_weights(w->graph, edge);
    return PSFM_OK;
}

static psfm_status weigh_edges(psfm_context *ctx, weighing *w) {
    psfm_essential_weight_options defaults;
    psfm_options_init(&psfm_essential_weight_option_table, &defaults);
    if (w->options == NULL)
        w->options = &defaults;
    psfm_status status = psfm_options_check(ctx, &psfm_essential_weight_option_table, w->options);
    if (status != PSFM_OK)
        return status;
    return psfm_parallel_for(ctx, NULL, w->graph->num_edges, weigh_edge, w);
}

psfm_status psfm_weigh_by_essential(psfm_context *ctx, const psfm_essential_weight_options *options,
                                    psfm_pose_graph *graph) {
    return weigh_edges(ctx, &(weighing){.graph = graph, .options = options});
}

psfm_status psfm_weigh_by_rotation(psfm_context *ctx, const psfm_essential_weight_options *options,
                                   const double (*R_21)[9], const bool *select,
                                   psfm_pose_graph *graph) {
    return weigh_edges(
        ctx, &(weighing){.graph = graph, .options = options, .R_21 = R_21, .select = select});
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
