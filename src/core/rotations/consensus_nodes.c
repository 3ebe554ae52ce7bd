/* Node moves: each incident edge and candidate proposes a rotation for one image; the one with the
 * largest support of all incident edges is taken. */
#include <string.h>

#include "core/linalg/mat3.h"
#include "core/rotations/consensus_search.h"

/* Support of all edges at node v if it had rotation R. */
static double node_support(const psfm_consensus_search *s, uint32_t v, const double R[9]) {
    double sum = 0.0;
    for (size_t k = s->adjacency.begin[v]; k < s->adjacency.begin[v + 1]; ++k) {
        uint32_t e = s->adjacency.edge[k], best;
        uint32_t a = s->topology->node1[e], b = s->topology->node2[e];
        sum += psfm_consensus_support(s, e, a == v ? R : s->R[a], b == v ? R : s->R[b], &best);
    }
    return sum;
}

/* The rotation that candidate q of edge e proposes for its end v. */
static void propose_rotation(const psfm_consensus_search *s, uint32_t e, uint32_t q, uint32_t v,
                             double R[9]) {
    uint32_t a = s->topology->node1[e], b = s->topology->node2[e];
    if (v == b)
        psfm_mat3_mul(s->candidates->R_21[q], s->R[a], R);
    else
        psfm_mat3_t_mul(s->candidates->R_21[q], s->R[b], R);
}

/* Moves node v to the best proposal of its edges. Returns whether it moved. */
static bool move_node(psfm_consensus_search *s, uint32_t v) {
    double best_support = node_support(s, v, s->R[v]), best_R[9];
    bool moved = false;
    for (size_t k = s->adjacency.begin[v]; k < s->adjacency.begin[v + 1]; ++k) {
        uint32_t e = s->adjacency.edge[k];
        for (uint32_t q = s->candidates->begin[e]; q < s->candidates->begin[e + 1]; ++q) {
            double R[9];
            propose_rotation(s, e, q, v, R);
            double support = node_support(s, v, R);
            if (support > best_support * (1.0 + 1e-9) + 1e-12) {
                best_support = support;
                memcpy(best_R, R, sizeof best_R);
                moved = true;
            }
        }
    }
    if (moved)
        memcpy(s->R[v], best_R, sizeof best_R);
    return moved;
}

static void wake_neighbours(const psfm_consensus_search *s, uint32_t v) {
    for (size_t k = s->adjacency.begin[v]; k < s->adjacency.begin[v + 1]; ++k)
        s->may_move[psfm_topology_other(s->topology, s->adjacency.edge[k], v)] = true;
}

uint32_t psfm_consensus_move_nodes(psfm_consensus_search *s) {
    uint32_t num_moves = 0, n = s->topology->num_nodes;
    enum { MAX_SWEEPS = 20 };
    memset(s->may_move, true, n * sizeof *s->may_move);
    for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
        uint32_t before = num_moves;
        for (uint32_t v = 0; v < n; ++v) {
            if (!s->may_move[v])
                continue;
            s->may_move[v] = false;
            if (!move_node(s, v))
                continue;
            ++num_moves;
            wake_neighbours(s, v);
        }
        if (num_moves == before)
            break;
    }
    return num_moves;
}
