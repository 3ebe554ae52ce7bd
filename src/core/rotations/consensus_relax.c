/* Relaxation: least squares over the edges, so that what one edge is off by is shared by all that
 * can bear it. Moves copy rotations from edge to edge, which lets errors add up along a walk until
 * the pairs that close it, or an arc that ought to be turned back, no longer agree. */
#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/rotations/consensus_search.h"
#include "core/rotations/rotation_average.h"

/* Edges take part that are off by up to so many times what counts as agreement. */
#define REACHES 4.0

/* The candidate of edge e nearest to the rotations; its weight, 0 if it is too far. */
static double nearest_candidate(const psfm_consensus_search *s, uint32_t e, const double **R_21) {
    const psfm_rotation_candidates *c = s->candidates;
    double now[9], least = REACHES * s->reach, weight = 0.0;
    psfm_mat3_mul_t(s->R[s->topology->node2[e]], s->R[s->topology->node1[e]], now);
    for (uint32_t q = c->begin[e]; q < c->begin[e + 1]; ++q) {
        double angle = psfm_rotation_angle(c->R_21[q], now);
        if (angle < least) {
            least = angle;
            *R_21 = c->R_21[q];
            weight = c->weight[e] * s->confidence[q];
        }
    }
    return weight;
}

psfm_status psfm_consensus_relax(psfm_context *ctx, psfm_consensus_search *s) {
    double scale_deg = REACHES * PSFM_AGREEMENT_DEG;
    psfm_rotation_average_options options = {.l1_iterations = 0,
                                             .max_iterations = 10,
                                             .tolerance_deg = 0.01,
                                             .max_scale_deg = scale_deg,
                                             .min_scale_deg = scale_deg};
    double(*R_21)[9] = NULL, *weight = NULL;
    uint32_t n = s->topology->num_edges;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &R_21)) || (status = PSFM_ALLOC(ctx, n, &weight)))
        goto cleanup;
    for (uint32_t e = 0; e < n; ++e) {
        const double *R = s->candidates->R_21[s->candidates->begin[e]];
        weight[e] = nearest_candidate(s, e, &R);
        for (int k = 0; weight[e] > 0.0 && k < 9; ++k)
            R_21[e][k] = R[k];
        for (int k = 0; !(weight[e] > 0.0) && k < 9; k += 4)
            R_21[e][k] = 1.0;
    }
    psfm_relative_rotations relative = {s->topology, (const double(*)[9])R_21, weight};
    status = psfm_rotations_average(ctx, &relative, &options, s->R, NULL, NULL);

cleanup:
    free(R_21);
    free(weight);
    return status;
}
