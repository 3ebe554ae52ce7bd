/* Support and typicality.
 *
 * Agreement alone cannot always tell duplicate structure: in a ring where each image is
 * matched with two on either side, three edges cross each gap, and if two of them are false the
 * turned half has the majority. What remains is how images came to be paired: by order, by overlap
 * or by retrieval, so that the images of most pairs are turned by similar angles, whatever the
 * scene. So a candidate's confidence is multiplied by the density of its angle, learnt from all
 * candidates at first and from those that agree later. It is smoothed so widely that it does not
 * choose between decompositions; where pairs are turned in all ways, or in two (a drone's strips to
 * and fro), it is flat or has two peaks and does not choose either; and an edge with an unusual
 * angle still holds its images as long as no other edges contradict it. */
#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/rotations/consensus_search.h"

/* The density of angles is tabulated by degree. */
enum { ANGLES = 181 };

/* Smoothing of that density, and the power to which it enters a confidence. */
#define BANDWIDTH_DEG 30.0
#define TYPICAL_POWER 3.0

static double turn_angle_deg(const double R[9]) {
    double cosine = 0.5 * (R[0] + R[4] + R[8] - 1.0);
    return psfm_degrees(acos(fmax(-1.0, fmin(1.0, cosine))));
}

void psfm_consensus_learn_typical(psfm_consensus_search *s, const uint32_t *chosen) {
    const psfm_rotation_candidates *c = s->candidates;
    const double rarest = 0.01; /* nothing is impossible */
    double count[ANGLES] = {0}, density[ANGLES] = {0}, largest = 0.0;
    uint32_t num_judged = s->topology->num_edges - c->num_exempt;
    for (uint32_t e = 0; e < num_judged; ++e)
        for (uint32_t q = c->begin[e]; q < c->begin[e + 1]; ++q)
            if (chosen == NULL || chosen[e] == q)
                count[(int)(turn_angle_deg(c->R_21[q]) + 0.5)] += c->weight[e] * c->confidence[q];
    for (int a = 0; a < ANGLES; ++a) {
        for (int b = 0; b < ANGLES; ++b) {
            double x = (a - b) / BANDWIDTH_DEG;
            density[a] += count[b] * exp(-0.5 * x * x);
        }
        largest = fmax(largest, density[a]);
    }
    for (uint32_t q = c->begin[num_judged]; q < c->begin[s->topology->num_edges]; ++q)
        s->confidence[q] = c->confidence[q];
    for (uint32_t q = 0; q < c->begin[num_judged]; ++q) {
        double typical = density[(int)(turn_angle_deg(c->R_21[q]) + 0.5)];
        typical = largest > 0.0 ? fmax(typical / largest, rarest) : 1.0;
        s->confidence[q] = c->confidence[q] * pow(typical, TYPICAL_POWER);
    }
}

/* How far candidate q is from R_21 in units of its reach; 1 or more: it does not agree, however far
 * that is. */
static double candidate_distance(const psfm_consensus_search *s, uint32_t q, const double R_21[9]) {
    const psfm_rotation_candidates *c = s->candidates;
    double reach =
        c->sigma_rad == NULL ? s->reach : fmax(s->reach, PSFM_CONSENSUS_SIGMAS * c->sigma_rad[q]);
    double trace = 0.0;
    for (int k = 0; k < 9; ++k)
        trace += c->R_21[q][k] * R_21[k];
    double cosine = 0.5 * (trace - 1.0);
    if (cosine < 1.0 - 0.5 * reach * reach) /* <= cos(reach): most need no arc cosine */
        return 1.0;
    /* the trace tells small angles poorly, but their squares, which count, to rounding */
    return acos(fmax(-1.0, fmin(1.0, cosine))) / reach;
}

bool psfm_consensus_agrees(const psfm_consensus_search *s, uint32_t e, const double R1[9],
                           const double R2[9]) {
    double R_21[9];
    psfm_mat3_mul_t(R2, R1, R_21);
    for (uint32_t q = s->candidates->begin[e]; q < s->candidates->begin[e + 1]; ++q)
        if (candidate_distance(s, q, R_21) < 1.0)
            return true;
    return false;
}

double psfm_consensus_support(const psfm_consensus_search *s, uint32_t e, const double R1[9],
                              const double R2[9], uint32_t *best) {
    const psfm_rotation_candidates *c = s->candidates;
    double R_21[9], support = 0.0;
    psfm_mat3_mul_t(R2, R1, R_21);
    *best = UINT32_MAX;
    for (uint32_t q = c->begin[e]; q < c->begin[e + 1]; ++q) {
        double x = candidate_distance(s, q, R_21);
        double value = s->confidence[q] * (1.0 - x * x);
        if (value > support) {
            support = value;
            *best = q;
        }
    }
    return support * c->weight[e];
}

double psfm_consensus_choose(const psfm_consensus_search *s, uint32_t *chosen) {
    double sum = 0.0;
    for (uint32_t e = 0; e < s->topology->num_edges; ++e)
        sum += psfm_consensus_support(s, e, s->R[s->topology->node1[e]],
                                      s->R[s->topology->node2[e]], &chosen[e]);
    return sum;
}

psfm_status psfm_consensus_init(psfm_context *ctx, const psfm_rotation_problem *problem,
                                double (*cam_from_world)[9], psfm_consensus_search *s) {
    const psfm_topology *topology = problem->topology;
    *s = (psfm_consensus_search){.topology = topology,
                                 .candidates = problem->candidates,
                                 .reach = psfm_radians(PSFM_AGREEMENT_DEG),
                                 .R = cam_from_world};
    psfm_status status =
        psfm_adjacency_init(ctx, topology, NULL, topology->num_edges, &s->adjacency);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, s->candidates->begin[topology->num_edges], &s->confidence);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, topology->num_nodes, &s->may_move);
    if (status == PSFM_OK)
        psfm_consensus_learn_typical(s, NULL);
    return status;
}

void psfm_consensus_free(psfm_consensus_search *s) {
    psfm_adjacency_free(&s->adjacency);
    free(s->confidence);
    free(s->may_move);
    s->confidence = NULL;
    s->may_move = NULL;
}
