/* The skeleton of both engines, from a pose graph to rotations: weights, embedding, minimum-range
 * tree, consolidation, propagation. */
#ifndef PSFM_SOLVE_PLANAR_SFM_H
#define PSFM_SOLVE_PLANAR_SFM_H

#include "core/base/timer.h"
#include "core/posegraph/confidence.h"
#include "core/posegraph/cycle_consistency.h"
#include "core/posegraph/embedding.h"
#include "core/posegraph/similarity.h"
#include "core/solve/pose_solution.h"

typedef struct {
    psfm_essential_weight_options weight;
    psfm_similarity_options similarity;
    psfm_lud_options lud;
} psfm_skeleton_options;

/* Which parts of the method are at work: all of them, or those the ablation leaves. */
typedef struct {
    bool random_tree;    /* pruning off: a random spanning tree */
    bool random_weights; /* confidence off */
    bool given_weights;  /* keep the weights that the hypotheses carry */
    bool triangles;      /* weigh the similarity by them; off: as published */
    uint64_t seed;       /* of the random tree and weights */
} psfm_skeleton_variant;

/* Rotations only: weights, embedding, tree, propagation. Weights are set in `graph`. Fills
 * components and rotations of the poses, h, in_tree and edge_pose. `variant` NULL = the whole
 * method; `timings` may be NULL. Free `solution` in any case. */
psfm_status psfm_skeleton_rotations(psfm_context *ctx, const psfm_skeleton_options *options,
                                    const psfm_skeleton_variant *variant, psfm_pose_graph *graph,
                                    psfm_timings *timings, psfm_pose_solution *solution);

/* Centres of one component by LUD from the directions of its kept edges (NULL: all), which must
 * connect it. Images that only rotations connect have one centre. */
psfm_status psfm_component_positions_lud(psfm_context *ctx, const psfm_pose_graph *graph,
                                         uint32_t component, const bool *keep,
                                         const psfm_lud_options *options,
                                         psfm_pose_solution *solution);

#endif
