/* What the moves of the consensus share: the rotations as they stand, and how much each edge
 * supports them. Internal to the consensus. */
#ifndef PSFM_ROTATIONS_CONSENSUS_SEARCH_H
#define PSFM_ROTATIONS_CONSENSUS_SEARCH_H

#include "core/rotations/rotation_consensus.h"

typedef struct {
    const psfm_topology *topology;
    const psfm_rotation_candidates *candidates;
    double reach;             /* radians */
    double *confidence;       /* of the candidates, with their typicality */
    double (*R)[9];           /* current rotations */
    psfm_adjacency adjacency; /* edges at each node */
    bool *may_move;           /* nodes that might move: they or those beside them have changed */
} psfm_consensus_search;

/* Starts with typicality learnt from all candidates. Free in any case. */
psfm_status psfm_consensus_init(psfm_context *ctx, const psfm_rotation_problem *problem,
                                double (*cam_from_world)[9], psfm_consensus_search *s);
void psfm_consensus_free(psfm_consensus_search *s);

/* Sets the confidence of all candidates by the density of their angles among the chosen ones (NULL:
 * among all). */
void psfm_consensus_learn_typical(psfm_consensus_search *s, const uint32_t *chosen);

/* Whether a candidate of the edge agrees with rotations R1, R2 of its ends, however usual it is. */
bool psfm_consensus_agrees(const psfm_consensus_search *s, uint32_t e, const double R1[9],
                           const double R2[9]);

/* Support of one edge for rotations R1, R2 of its ends; the candidate it comes from in *best,
 * UINT32_MAX if none agrees. */
double psfm_consensus_support(const psfm_consensus_search *s, uint32_t e, const double R1[9],
                              const double R2[9], uint32_t *best);

/* The candidate that each edge agrees with; returns the sum of supports. */
double psfm_consensus_choose(const psfm_consensus_search *s, uint32_t *chosen);

/* Node moves: each image in turn takes the proposal of its edges that all of them together support
 * most, until none moves. Returns the number of moves. */
uint32_t psfm_consensus_move_nodes(psfm_consensus_search *s);

/* A gauge rotation of a set of images that edges ask for. */
typedef struct {
    double G[9];
    double weight; /* of the edge that named it */
} psfm_gauge_rotation;

enum { PSFM_CONSENSUS_GAUGES = 3 }; /* tried in a round */

/* The gauge rotations that disagreeing edges ask for, the most supported first. */
psfm_status psfm_consensus_find_gauges(psfm_context *ctx, const psfm_consensus_search *s,
                                       const uint32_t *chosen,
                                       psfm_gauge_rotation best[PSFM_CONSENSUS_GAUGES],
                                       int *num_best);

/* Gauge moves: the gauge rotations that most disagreeing edges ask for, one after the other; each
 * is applied to the images for which the sum of supports becomes largest. */
psfm_status psfm_consensus_move_gauges(psfm_context *ctx, psfm_consensus_search *s,
                                       const uint32_t *chosen, uint64_t seed, uint32_t *num_moves);

/* Relaxation: least squares over all edges that agree at least roughly. May lower the sum. */
psfm_status psfm_consensus_relax(psfm_context *ctx, psfm_consensus_search *s);

#endif
