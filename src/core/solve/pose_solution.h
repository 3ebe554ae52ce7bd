/* What the engines (paper, robust) make of a pose graph: a pose per image, the fate of each edge,
 * and facts about each component. */
#ifndef PSFM_SOLVE_POSE_SOLUTION_H
#define PSFM_SOLVE_POSE_SOLUTION_H

#include "core/posegraph/consolidate.h"
#include "core/posegraph/min_range_tree.h"
#include "core/posegraph/pose_graph.h"
#include "core/positions/position_lud.h"
#include "core/structure/poses.h"

/* Facts about one model, which has at least two images. Those about its edges, from num_edges to
 * bridges, are filled by psfm_component_facts_find (core/solve/component_facts.h). */
typedef struct {
    uint32_t num_images;
    uint32_t num_edges;                 /* kept pairs between its images */
    uint32_t num_similarity_components; /* of the line graph: each was embedded apart */
    double tree_low, tree_high;         /* range of the embedding that their tree spans */
    double graph_low, graph_high;       /* the same after extension to a bi-connected graph */
    uint32_t *cut_nodes;                /* images that alone hold the rest together; owned */
    uint32_t num_cut_nodes;
    uint32_t *bridges; /* edges that alone do; owned */
    uint32_t num_bridges;
    psfm_lud_stats lud;
    bool is_split;     /* its scale against another component is all that keeps them apart */
    uint64_t num_free; /* paper mode: scales between its parts that directions leave open */
} psfm_component_facts;

/* Poses by node and arrays by edge of the graph. Owns them. */
typedef struct {
    uint32_t num_nodes, num_edges;
    uint32_t num_components;        /* with at least two images; largest first */
    psfm_poses poses;               /* components below num_components */
    double *h;                      /* per edge: embedding */
    uint32_t *similarity_component; /* per edge: of the line graph */
    bool *in_tree, *in_graph;       /* per edge: of the tree, of its bi-connected extension */
    psfm_relative_pose *edge_pose;  /* per edge: consolidated */
    psfm_component_facts *components;
} psfm_pose_solution;

psfm_status psfm_pose_solution_init(psfm_context *ctx, const psfm_pose_graph *graph,
                                    psfm_pose_solution *solution);
/* Finds the components again with only the edges for which keep is true (NULL: all). Facts about
 * components are forgotten. */
psfm_status psfm_pose_solution_relabel(psfm_context *ctx, const psfm_pose_graph *graph,
                                       const bool *keep, psfm_pose_solution *solution);
/* Takes the poses of components whose kept edges are all rotations: a panorama has no size, and
 * nothing in it can be placed. */
psfm_status psfm_pose_solution_drop_still(psfm_context *ctx, const psfm_pose_graph *graph,
                                          const bool *keep, psfm_pose_solution *solution);
/* Numbers the components anew after images lost or gained their pose: those with fewer than two
 * images go, the largest comes first. Facts stay with their component. */
psfm_status psfm_pose_solution_compact(psfm_context *ctx, psfm_pose_solution *solution);
void psfm_pose_solution_free(psfm_pose_solution *solution);

/* One component as a graph of its own: dense local nodes, edges with their ids in the whole. */
typedef struct {
    uint32_t num_nodes, num_edges;
    uint32_t *node;          /* id in the whole graph of each local node, ascending */
    uint32_t *edge;          /* id in the whole graph of each local edge, ascending */
    uint32_t *node1, *node2; /* local ends of each local edge */
} psfm_subgraph;

/* The edges whose two ends carry `component` in node_component (num_nodes labels) and for which
 * keep (NULL: all) is true. O(nodes + edges). */
psfm_status psfm_subgraph_extract(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const uint32_t *node_component, uint32_t component,
                                  const bool *keep, psfm_subgraph *out);
/* A subgraph whose edges weigh what `value` (per edge of the whole graph) says. `list` points into
 * the subgraph and to *weight, which is malloc'ed. */
psfm_status psfm_subgraph_weigh(psfm_context *ctx, const psfm_subgraph *subgraph,
                                const double *value, double **weight, psfm_edge_list *list);
void psfm_subgraph_free(psfm_subgraph *subgraph);

#endif
