/* Binary labelling of graphs whose edges ask for equal or for different labels.
 *
 * Exact where the graph is nearly a chain, a ring or a tree, which is what walks give: by dynamic
 * programming over an elimination order of small width. On other graphs a search that does the same
 * on as much of the graph at once as fits, the rest fixed, and again on contracted graphs, where a
 * move flips whole sets. */
#ifndef PSFM_LABELLING_LABELLING_H
#define PSFM_LABELLING_LABELLING_H

#include "core/posegraph/topology.h"

typedef struct {
    int exact_width;      /* dynamic programming is tried up to this width (at most 30) ... */
    size_t exact_entries; /* ... and to so many table entries */
    int search_width;     /* of the tables of the search beyond */
    int patience;         /* rounds of the search without gain before it ends */
    int anneals;          /* further starts of the search, by annealing ... */
    int sweeps;           /* ... of so many sweeps */
} psfm_labelling_options;

extern const psfm_labelling_options psfm_labelling_defaults;

typedef struct {
    double score; /* sum of the values */
    double gain;  /* over that of the labels given */
    bool exact;   /* no labelling has a larger one */
} psfm_labelling_result;

/* What is to be labelled. The sum of value[e][2 * x1 + x2], with x1 and x2 the labels of the edge's
 * ends, is to be large. Draws come from the seed. */
typedef struct {
    const psfm_topology *graph;
    const double (*value)[4]; /* per edge */
    uint64_t seed;
} psfm_labelling_problem;

/* Improves the labels (num_nodes, in and out) so that the sum is as large as can be found. Never
 * worse than the labels given, which stay where nothing is better. options NULL: defaults.
 * Deterministic. */
psfm_status psfm_labelling_best(psfm_context *ctx, const psfm_labelling_problem *problem,
                                const psfm_labelling_options *options, bool *label,
                                psfm_labelling_result *result);

/* The next best: the labelling with the largest sum among those that differ from `label` and give
 * the nodes of `fixed` (may be NULL) the labels they have. flip (num_nodes) says where it differs;
 * nowhere, with a gain of -INFINITY, if there is none. */
psfm_status psfm_labelling_runner_up(psfm_context *ctx, const psfm_labelling_problem *problem,
                                     const bool *label, const bool *fixed,
                                     const psfm_labelling_options *options, bool *flip,
                                     psfm_labelling_result *result);

#endif
