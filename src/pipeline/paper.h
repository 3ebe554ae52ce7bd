/* The published method from a weighted pose graph to poses: embedding, minimum-range tree,
 * consolidation, propagation, bi-connected extension, LUD. */
#ifndef PSFM_PIPELINE_PAPER_H
#define PSFM_PIPELINE_PAPER_H

#include "base/timer.h"
#include "graph/cycle.h"
#include "graph/embedding.h"
#include "graph/hypothesis.h"
#include "graph/similarity.h"
#include "pipeline/pose_solution.h"

typedef struct {
    psfm_essential_weight_options weight;
    psfm_similarity_options similarity;
    psfm_embedding_options embedding;
    psfm_lud_options lud;
} psfm_paper_options;

/* Which parts of the method are at work: all of them, or those the ablation leaves. */
typedef struct {
    bool random_tree;                /* pruning off: a random spanning tree */
    bool random_weights;             /* confidence off */
    bool given_weights;              /* keep the weights that the hypotheses carry */
    const psfm_cycle_options *cycle; /* weigh the similarity by triangles; NULL: as published */
    uint64_t seed;                   /* of the random tree and weights */
} psfm_paper_variant;

/* Rotations only: weights, embedding, tree, propagation. Weights are set in `graph`. Fills
 * node_component, cam_from_world_R, h, in_tree, edge_pose and the facts up to the tree. `variant`
 * NULL = the whole method; `timings` may be NULL. Free `solution` in any case. */
psfm_status psfm_paper_rotations(psfm_context *ctx, const psfm_paper_options *options,
                                 const psfm_paper_variant *variant, psfm_pose_graph *graph,
                                 psfm_timings *timings, psfm_pose_solution *solution);

/* Positions on top of psfm_paper_rotations: bi-connected extension and LUD. */
psfm_status psfm_paper_positions(psfm_context *ctx, const psfm_paper_options *options,
                                 const psfm_pose_graph *graph, psfm_timings *timings,
                                 psfm_pose_solution *solution);

/* Centres of one component by LUD from the directions of its kept edges (NULL: all), which must
 * connect it. */
psfm_status psfm_component_positions_lud(psfm_context *ctx, const psfm_pose_graph *graph,
                                         uint32_t component, const bool *keep,
                                         const psfm_lud_options *options,
                                         psfm_pose_solution *solution);

#endif
