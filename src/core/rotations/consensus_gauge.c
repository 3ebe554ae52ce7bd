/* Gauge rotations of sets of images.
 *
 * An edge (i, j) that disagrees would agree if j were turned by G = R_j^T R_ji R_i, a rotation of
 * the world, that is of the gauge of j (R_j G = R_ji R_i). Edges to duplicate structure all name
 * the same G, whichever images they join. So the most frequent G of the disagreeing edges is
 * proposed to all images at once, and a binary labelling says who turns: true edges want equal
 * labels, duplicate edges different ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/labelling/labelling.h"
#include "core/linalg/mat3.h"
#include "core/rotations/consensus_search.h"

/* Proposals that the gauge rotations are chosen from. */
enum { MAX_PROPOSALS = 512 };

typedef psfm_gauge_rotation gauge_rotation;

/* Adds a proposal; of more than MAX_PROPOSALS the lightest are forgotten. */
static void add_proposal(gauge_rotation *proposals, uint32_t *num, const double G[9],
                         double weight) {
    uint32_t at = *num;
    if (*num < MAX_PROPOSALS) {
        ++*num;
    } else {
        at = 0;
        for (uint32_t k = 1; k < *num; ++k)
            if (proposals[k].weight < proposals[at].weight)
                at = k;
        if (proposals[at].weight >= weight)
            return;
    }
    memcpy(proposals[at].G, G, sizeof proposals[at].G);
    proposals[at].weight = weight;
}

/* How far two rotations are the same, 0 to 1; a rotation and its inverse are the same cut, seen
 * from either side. */
static double rate_agreement(const psfm_consensus_search *s, const gauge_rotation *a,
                             const gauge_rotation *b) {
    double inverse[9], trace = 0.0, trace_inverse = 0.0;
    psfm_mat3_transpose(b->G, inverse);
    for (int k = 0; k < 9; ++k) {
        trace += a->G[k] * b->G[k];
        trace_inverse += a->G[k] * inverse[k];
    }
    /* cos(angle) from the trace is enough to tell rotations that are far off */
    if (0.5 * (fmax(trace, trace_inverse) - 1.0) < cos(fmin(s->reach, 3.1)) - 1e-12)
        return 0.0;
    double angle = fmin(psfm_rotation_angle(a->G, b->G), psfm_rotation_angle(a->G, inverse));
    return angle < s->reach ? 1.0 - angle * angle / (s->reach * s->reach) : 0.0;
}

/* The proposal that agrees with most others, which are used up. False if none is left. */
static bool take_most_supported(const psfm_consensus_search *s, gauge_rotation *proposals,
                                uint32_t num, gauge_rotation *out) {
    double most = 0.0;
    uint32_t best = 0;
    for (uint32_t k = 0; k < num; ++k) {
        double votes = 0.0;
        for (uint32_t i = 0; proposals[k].weight > 0.0 && i < num; ++i)
            if (proposals[i].weight > 0.0)
                votes += proposals[i].weight * rate_agreement(s, &proposals[k], &proposals[i]);
        if (votes > most) {
            most = votes;
            best = k;
        }
    }
    if (!(most > 0.0))
        return false;
    *out = proposals[best];
    for (uint32_t i = 0; i < num; ++i)
        if (rate_agreement(s, out, &proposals[i]) > 0.0)
            proposals[i].weight = 0.0;
    return true;
}

psfm_status psfm_consensus_find_gauges(psfm_context *ctx, const psfm_consensus_search *s,
                                       const uint32_t *chosen,
                                       gauge_rotation best[PSFM_CONSENSUS_GAUGES], int *num_best) {
    const psfm_rotation_candidates *c = s->candidates;
    gauge_rotation *proposals = NULL;
    uint32_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, MAX_PROPOSALS, &proposals);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < s->topology->num_edges; ++e) {
        for (uint32_t q = c->begin[e]; chosen[e] == UINT32_MAX && q < c->begin[e + 1]; ++q) {
            double wanted[9], G[9];
            psfm_mat3_mul(c->R_21[q], s->R[s->topology->node1[e]], wanted);
            psfm_mat3_t_mul(s->R[s->topology->node2[e]], wanted, G);
            add_proposal(proposals, &num, G, c->weight[e] * s->confidence[q]);
        }
    }
    *num_best = 0;
    while (*num_best < PSFM_CONSENSUS_GAUGES &&
           take_most_supported(s, proposals, num, &best[*num_best]))
        ++*num_best;
    free(proposals);
    return PSFM_OK;
}

/* The support of each edge by who of its ends turns by G. If both do, nothing changes between them.
 */
static void weigh_rotation(const psfm_consensus_search *s, const double G[9], double (*value)[4]) {
    for (uint32_t e = 0; e < s->topology->num_edges; ++e) {
        uint32_t a = s->topology->node1[e], b = s->topology->node2[e], best;
        double turned_a[9], turned_b[9];
        psfm_mat3_mul(s->R[a], G, turned_a);
        psfm_mat3_mul(s->R[b], G, turned_b);
        value[e][0] = value[e][3] = psfm_consensus_support(s, e, s->R[a], s->R[b], &best);
        value[e][1] = psfm_consensus_support(s, e, s->R[a], turned_b, &best);
        value[e][2] = psfm_consensus_support(s, e, turned_a, s->R[b], &best);
    }
}

/* Tries one gauge rotation; keeps it if the total support grows. */
static psfm_status try_rotation(psfm_context *ctx, psfm_consensus_search *s, const double G[9],
                                uint64_t seed, bool *accepted) {
    uint32_t n = s->topology->num_nodes;
    double(*value)[4] = NULL;
    bool *moves = NULL;
    psfm_labelling_result result = {0};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->topology->num_edges, &value)) ||
        (status = PSFM_ALLOC(ctx, n, &moves)))
        goto cleanup;
    weigh_rotation(s, G, value);
    psfm_labelling_problem problem = {s->topology, (const double(*)[4])value, seed};
    status = psfm_labelling_best(ctx, &problem, NULL, moves, &result);
    *accepted = status == PSFM_OK && result.gain > 1e-6;
    for (uint32_t v = 0; *accepted && v < n; ++v) {
        double turned[9];
        psfm_mat3_mul(s->R[v], G, turned);
        if (moves[v])
            memcpy(s->R[v], turned, sizeof turned);
    }

cleanup:
    free(value);
    free(moves);
    return status;
}

psfm_status psfm_consensus_move_gauges(psfm_context *ctx, psfm_consensus_search *s,
                                       const uint32_t *chosen, uint64_t seed, uint32_t *num_moves) {
    gauge_rotation rotations[PSFM_CONSENSUS_GAUGES];
    int num = 0;
    psfm_status status = psfm_consensus_find_gauges(ctx, s, chosen, rotations, &num);
    *num_moves = 0;
    for (int k = 0; status == PSFM_OK && k < num; ++k) {
        bool accepted = false;
        status = try_rotation(ctx, s, rotations[k].G, seed, &accepted);
        *num_moves += accepted ? 1 : 0;
    }
    return status;
}
