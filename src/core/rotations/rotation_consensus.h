/* Absolute rotations that the largest weight of edges agrees with.
 *
 * Rotation averaging descends from its start; this search looks further. It may move one image, or
 * turn a whole set of images by a rotation of the world at once, which is what falsely matched
 * duplicate structure (a court turned by 180 degrees, the next wing of a building) asks for. */
#ifndef PSFM_ROTATIONS_ROTATION_CONSENSUS_H
#define PSFM_ROTATIONS_ROTATION_CONSENSUS_H

#include "core/base/context.h"
#include "core/rotations/rotation.h"

/* A candidate may be off by so many of its standard deviations. */
#define PSFM_CONSENSUS_SIGMAS 3.0

/* An edge whose rotation is off by this much gives no support, in degrees. */
#define PSFM_AGREEMENT_DEG 5.0

/* The candidates of each edge: rotation and confidence in [0, 1]. Edge e has candidates
 * begin[e] .. begin[e + 1); its support is
 *   weight[e] * max over q of confidence[q] * typical(q)^3 * (1 - (angle / reach)^2)_+,
 * with `angle` between R_21[q] and R_2 R_1^T, reach = PSFM_AGREEMENT_DEG or 3 sigma[q], the larger,
 * and typical(q) in (0, 1] how usual the angle of R_21[q] is among the edges. */
typedef struct {
    const uint32_t *begin; /* num_edges + 1 */
    const double (*R_21)[9];
    const double *confidence;
    const double *sigma_rad; /* standard deviation of each rotation; NULL: 0 */
    const double *weight;    /* per edge */
    uint32_t num_exempt;     /* the last so many edges are no pairs of images: their angles are
                                neither learnt from nor judged */
} psfm_rotation_candidates;

/* What rotations are sought for. Random draws come from the seed. */
typedef struct {
    const psfm_topology *topology;
    const psfm_rotation_candidates *candidates;
    uint64_t seed;
} psfm_rotation_problem;

typedef struct {
    uint32_t num_node_moves;
    uint32_t num_gauge_moves; /* accepted ones */
    uint32_t num_agreeing;    /* edges */
    double score;             /* sum of supports, at these rotations or relaxed, the larger */
} psfm_rotation_consensus_stats;

/* Improves cam_from_world (num_nodes x 9) in place; chosen[e] is the candidate that edge e agrees
 * with, UINT32_MAX if none. Deterministic. Cost O(edges) a round where the graph is nearly a chain
 * or a ring, times a few dozen on others (see core/labelling/labelling.h). */
psfm_status psfm_rotation_consensus(psfm_context *ctx, const psfm_rotation_problem *problem,
                                    double (*cam_from_world)[9], uint32_t *chosen,
                                    psfm_rotation_consensus_stats *stats);

#endif
