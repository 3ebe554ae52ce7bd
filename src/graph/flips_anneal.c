/* Annealing crosses what no move on the sets at hand crosses; the sets then do what it is slow at.
 */
#include <math.h>
#include <string.h>

#include "graph/flips.h"

/* What flipping node v gains in the state `flip`. */
static double flip_gain(const psfm_flip_problem *p, const bool *flip, uint32_t v) {
    const psfm_topology *g = p->graph;
    double gain = flip[v] ? -p->own[v] : p->own[v];
    for (size_t k = p->adjacency->begin[v]; k < p->adjacency->begin[v + 1]; ++k) {
        uint32_t e = p->adjacency->edge[k];
        int state = 2 * flip[g->node1[e]] + flip[g->node2[e]];
        gain += p->value[e][state ^ (g->node1[e] == v ? 2 : 1)] - p->value[e][state];
    }
    return gain;
}

/* The mean over the edges of how far apart the values of their states are. */
static double mean_range(const psfm_flip_problem *p) {
    double sum = 0.0;
    for (uint32_t e = 0; e < p->graph->num_edges; ++e) {
        const double *value = p->value[e];
        sum += fmax(fmax(value[0], value[1]), fmax(value[2], value[3])) -
               fmin(fmin(value[0], value[1]), fmin(value[2], value[3]));
    }
    return sum / fmax(1.0, p->graph->num_edges);
}

void psfm_flips_anneal(const psfm_flip_problem *problem, const bool *held, int sweeps,
                       psfm_rng *rng, bool *flip) {
    uint32_t n = problem->graph->num_nodes;
    double mean = mean_range(problem);
    memset(flip, 0, n * sizeof *flip);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double share = sweeps > 1 ? (double)sweep / (sweeps - 1) : 1.0;
        double temperature = mean * 2.0 * pow(0.01, share);
        for (uint32_t v = 0; v < n; ++v) {
            if (held[v])
                continue;
            double gain = flip_gain(problem, flip, v), u = psfm_rng_uniform(rng);
            if (gain > 0.0 || u < exp(gain / temperature))
                flip[v] = !flip[v];
        }
    }
}
