/* The front of planarsfm/rotation.h. */
#include "planarsfm/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/public_edges.h"
#include "core/rotations/chordal_relaxation.h"
#include "core/rotations/rotation_average.h"
#include "core/rotations/rotation_consensus.h"

static psfm_status check_rotations(psfm_context *ctx, const double *R, size_t num,
                                   const char *name) {
    psfm_status status = num > 0 ? psfm_require(ctx, R, name) : PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        double E[9], off = 0.0;
        psfm_mat3_mul_t(R + 9 * k, R + 9 * k, E);
        for (int i = 0; i < 9; ++i)
            off += fabs(E[i] - (i % 4 == 0));
        if (!(off < 1e-6) || !(psfm_mat3_det(R + 9 * k) > 0.0))
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "matrix %zu of %s is no rotation", k, name);
    }
    return status;
}

/* Takes over the graph and checks the rotations of its edges. */
static psfm_status take_edges(psfm_context *ctx, const psfm_graph *graph, const double *R_21,
                              psfm_public_edges *edges) {
    psfm_status status = psfm_public_edges_init(ctx, graph, false, edges);
    return status == PSFM_OK ? check_rotations(ctx, R_21, edges->topology.num_edges, "R_21")
                             : status;
}

static psfm_status check_weights(psfm_context *ctx, const psfm_public_edges *edges) {
    const double *weight = edges->list.weight;
    for (uint32_t e = 0; weight != NULL && e < edges->list.num_edges; ++e)
        if (!(weight[e] >= 0.0) || isinf(weight[e]))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u has the weight %g", e, weight[e]);
    return PSFM_OK;
}

/* ---- along a tree ---- */

static psfm_status propagate_rotations(psfm_context *ctx, const psfm_public_edges *edges,
                                       const double *R_21, const psfm_spanning_tree *tree,
                                       uint32_t root, double *cam_from_world, bool *reached) {
    uint32_t n = edges->topology.num_nodes, m = edges->topology.num_edges;
    psfm_relative_pose *poses = NULL;
    bool *own = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, m, &poses)) || (status = PSFM_ALLOC(ctx, n, &own)))
        goto cleanup;
    for (size_t e = 0; e < m; ++e)
        memcpy(poses[e].R_21, R_21 + 9 * e, sizeof poses[e].R_21);
    status = psfm_rotations_propagate(ctx, &edges->topology, poses, tree, root,
                                      (double(*)[9])cam_from_world, own);
    for (size_t v = 0; status == PSFM_OK && v < n; ++v) {
        if (!own[v])
            psfm_mat3_identity(cam_from_world + 9 * v);
        if (reached != NULL)
            reached[v] = own[v];
    }

cleanup:
    free(poses);
    free(own);
    return status;
}

psfm_status psfm_propagate_rotations(psfm_context *ctx, const psfm_graph *graph, const double *R_21,
                                     uint32_t num_tree, const uint32_t *tree, uint32_t root,
                                     double *cam_from_world, bool *reached) {
    psfm_public_edges edges;
    psfm_spanning_tree list = {.num_edges = num_tree};
    psfm_status status = take_edges(ctx, graph, R_21, &edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, tree, num_tree);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, cam_from_world);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_tree, &list.edges);
    if (status == PSFM_OK) {
        if (num_tree > 0)
            memcpy(list.edges, tree, num_tree * sizeof *tree);
        status = propagate_rotations(ctx, &edges, R_21, &list, root, cam_from_world, reached);
    }
    free(list.edges);
    psfm_public_edges_free(&edges);
    return status;
}

/* ---- averaging ---- */

psfm_status psfm_chordal_rotations(psfm_context *ctx, const psfm_graph *graph, const double *R_21,
                                   double *cam_from_world) {
    psfm_public_edges edges;
    psfm_status status = take_edges(ctx, graph, R_21, &edges);
    if (status == PSFM_OK)
        status = check_weights(ctx, &edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, cam_from_world, edges.topology.num_nodes);
    psfm_relative_rotations relative = {&edges.topology, (const double(*)[9])R_21,
                                        edges.list.weight};
    if (status == PSFM_OK)
        status = psfm_chordal_relaxation(ctx, &relative, (double(*)[9])cam_from_world);
    psfm_public_edges_free(&edges);
    return status;
}

static psfm_status take_options(psfm_context *ctx, const psfm_averaging_options *given,
                                psfm_rotation_average_options *o) {
    psfm_averaging_options known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    *o = (psfm_rotation_average_options){
        .loss = known.loss,
        .l1_iterations = known.l1_iterations < 0 ? 0 : psfm_int_or(known.l1_iterations, 50),
        .max_iterations = psfm_int_or(known.max_iterations, 100),
        .tolerance_deg = psfm_value_or(known.tolerance_deg, 1e-5),
        .max_scale_deg = psfm_value_or(known.max_scale_deg, 5.0),
        .min_scale_deg = psfm_value_or(known.min_scale_deg, 0.05)};
    if (status != PSFM_OK)
        return status;
    if (o->loss < PSFM_ROTATION_ROBUST || o->loss > PSFM_ROTATION_CHORDAL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%d is no loss of rotations", o->loss);
    if (o->max_iterations < 0 || !(o->tolerance_deg > 0.0) || !(o->min_scale_deg > 0.0) ||
        !(o->max_scale_deg >= o->min_scale_deg))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "iterations, tolerance and scales of averaging must be positive, and "
                         "max_scale_deg not below min_scale_deg");
    return PSFM_OK;
}

psfm_status psfm_average_rotations(psfm_context *ctx, const psfm_graph *graph, const double *R_21,
                                   const psfm_averaging_options *options, double *cam_from_world,
                                   double *residual_rad, psfm_averaging_result *result) {
    psfm_public_edges edges;
    psfm_rotation_average_options o;
    psfm_rotation_average_stats stats = {0};
    psfm_status status = take_edges(ctx, graph, R_21, &edges);
    if (status == PSFM_OK)
        status = check_weights(ctx, &edges);
    if (status == PSFM_OK)
        status = check_rotations(ctx, cam_from_world, edges.topology.num_nodes, "cam_from_world");
    if (status == PSFM_OK)
        status = take_options(ctx, options, &o);
    psfm_relative_rotations relative = {&edges.topology, (const double(*)[9])R_21,
                                        edges.list.weight};
    if (status == PSFM_OK)
        status = psfm_rotations_average(ctx, &relative, &o, (double(*)[9])cam_from_world,
                                        residual_rad, &stats);
    if (status == PSFM_OK) {
        psfm_averaging_result made = {sizeof made, stats.l1_iterations + stats.iterations,
                                      stats.converged, stats.scale_deg};
        psfm_give_output(&made, result);
    }
    psfm_public_edges_free(&edges);
    return status;
}

/* ---- consensus ---- */

static psfm_status check_candidates(psfm_context *ctx, const psfm_edge_candidates *c,
                                    uint32_t num_edges) {
    psfm_status status = PSFM_REQUIRE(ctx, c->begin);
    for (uint32_t e = 0; status == PSFM_OK && e < num_edges; ++e)
        if (c->begin[0] != 0 || c->begin[e + 1] < c->begin[e])
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "begin must start at 0 and not descend");
    if (status != PSFM_OK)
        return status;
    uint32_t num = num_edges > 0 ? c->begin[num_edges] : 0;
    status = check_rotations(ctx, c->R_21, num, "R_21");
    for (uint32_t k = 0; status == PSFM_OK && k < num; ++k)
        if ((c->confidence != NULL && !(c->confidence[k] >= 0.0 && c->confidence[k] <= 1.0)) ||
            (c->sigma_rad != NULL && (!(c->sigma_rad[k] >= 0.0) || isinf(c->sigma_rad[k]))))
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                          "candidate %u: a confidence is from 0 to 1, a sigma not negative", k);
    return status;
}

/* An array of ones, where the caller has none. */
static psfm_status make_ones(psfm_context *ctx, size_t num, double **ones) {
    psfm_status status = PSFM_ALLOC(ctx, num, ones);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        (*ones)[k] = 1.0;
    return status;
}

static psfm_status find_consensus(psfm_context *ctx, const psfm_public_edges *edges,
                                  const psfm_edge_candidates *c, double *cam_from_world,
                                  uint32_t *chosen, uint32_t *num_agreeing) {
    uint32_t num_edges = edges->topology.num_edges;
    double *weight = NULL, *confidence = NULL;
    psfm_rotation_consensus_stats stats;
    psfm_status status;
    if ((status = make_ones(ctx, num_edges, &weight)) ||
        (status = make_ones(ctx, num_edges > 0 ? c->begin[num_edges] : 0, &confidence)))
        goto cleanup;
    psfm_rotation_candidates candidates = {
        .begin = c->begin,
        .R_21 = (const double(*)[9])c->R_21,
        .confidence = c->confidence != NULL ? c->confidence : confidence,
        .sigma_rad = c->sigma_rad,
        .weight = edges->list.weight != NULL ? edges->list.weight : weight};
    psfm_rotation_problem problem = {&edges->topology, &candidates, psfm_context_seed(ctx)};
    status = psfm_rotation_consensus(ctx, &problem, (double(*)[9])cam_from_world, chosen, &stats);
    if (status == PSFM_OK && num_agreeing != NULL)
        *num_agreeing = stats.num_agreeing;

cleanup:
    free(weight);
    free(confidence);
    return status;
}

psfm_status psfm_find_rotation_consensus(psfm_context *ctx, const psfm_graph *graph,
                                         const psfm_edge_candidates *candidates,
                                         double *cam_from_world, uint32_t *chosen,
                                         uint32_t *num_agreeing) {
    psfm_public_edges edges = {0};
    psfm_edge_candidates known;
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, candidates)) ||
        (status = psfm_take_input(ctx, candidates, &known, sizeof known)) ||
        (status = psfm_public_edges_init(ctx, graph, false, &edges)) ||
        (status = check_weights(ctx, &edges)) ||
        (status = check_candidates(ctx, &known, edges.topology.num_edges)) ||
        (status =
             check_rotations(ctx, cam_from_world, edges.topology.num_nodes, "cam_from_world")) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, chosen, edges.topology.num_edges)))
        goto cleanup;
    status = find_consensus(ctx, &edges, &known, cam_from_world, chosen, num_agreeing);

cleanup:
    psfm_public_edges_free(&edges);
    return status;
}
