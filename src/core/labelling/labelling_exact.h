/* The best set of nodes to flip, by dynamic programming along an elimination order. */
#ifndef PSFM_LABELLING_LABELLING_EXACT_H
#define PSFM_LABELLING_LABELLING_EXACT_H

#include "core/labelling/elimination_order.h"

/* Each edge has a value for every state of its ends, value[e][2 * f1 + f2], with f1 and f2 whether
 * its first and its second end are flipped. own[v] is what flipping node v adds by itself. A view.
 */
typedef struct {
    const psfm_topology *graph;
    const psfm_adjacency *adjacency; /* of all its edges */
    const double (*value)[4];
    const double *own;
} psfm_flip_problem;

/* The flips with the largest sum of values in which the fixed nodes stay as they are; no node flips
 * that could, up to rounding, as well stay. With `differ`, the best of those that flip at least one
 * node. flip has num_nodes entries; *gain is its sum less that without any flip,
 * -INFINITY if `differ` asks for what is not there. Exact.
 * Cost O(sum of entries * (1 + messages absorbed)); memory one byte an entry, and eight for those
 * of the messages under way. */
psfm_status psfm_flips_best(psfm_context *ctx, const psfm_flip_problem *problem,
                            const psfm_elimination *order, bool differ, bool *flip, double *gain);

/* An upper bound *most of what flips gain; 0 if it is easily shown that none do. Flips that gain
 * keep together the ends of every edge that has *most or more `left` (per edge): for any flips, the
 * edges with one end flipped have less than *most minus the gain left in all. O(nodes + edges), and
 * some short searches for each edge that would gain by itself. */
psfm_status psfm_flips_bound(psfm_context *ctx, const psfm_flip_problem *problem, double *left,
                             double *most);

/* Simulated annealing from the state without flips, ending in `flip`: `sweeps` over all nodes that
 * are not fixed, from well above the mean value of an edge down to where hardly any loss is
 * accepted. O(sweeps * edges). */
void psfm_flips_anneal(const psfm_flip_problem *problem, const bool *fixed, int sweeps,
                       psfm_rng *rng, bool *flip);

/* The sum of all values in which `flip` holds (NULL: without any flip). */
double psfm_flips_sum(const psfm_flip_problem *problem, const bool *flip);

#endif
