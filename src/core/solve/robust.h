/* The robust engine: the published skeleton (homography graph, consistency scores, embedding,
 * minimum-range tree), with hypotheses chosen jointly, cycles as evidence, rotations by consensus
 * and averaging over all edges that agree, and positions from plane-scaled baselines. */
#ifndef PSFM_SOLVE_ROBUST_H
#define PSFM_SOLVE_ROBUST_H

#include "core/ambiguity/ambiguity.h"
#include "core/posegraph/cycle_consistency.h"
#include "core/posegraph/joint_choice.h"
#include "core/positions/position_plane.h"
#include "core/rotations/rotation_average.h"
#include "core/rotations/rotation_consensus.h"
#include "core/solve/extra_edges.h"
#include "core/solve/planar_sfm.h"

/* Steps that can be switched off, to measure their effect. */
typedef struct {
    bool joint_choice; /* off: weights from the essential matrix, as published */
    bool cycles;       /* off: no triangle evidence and no consensus search */
    bool averaging;    /* off: rotations of the tree alone */
    bool plane_scale;  /* off: positions from directions (LUD) */
    bool refinement;   /* off: no bundle adjustment */
    double noise_px;   /* of the keypoints: rotations of pairs may be off by three times what it
                          makes of them, and by PSFM_AGREEMENT_DEG in any case; no option */
} psfm_robust_control_options;

extern const psfm_option_table psfm_robust_control_option_table;

/* What becomes of a model whose photographs do not tell it from its runner-up. */
typedef enum {
    PSFM_AMBIGUOUS_MARK,  /* the better supported one; the summary says which images and how sure */
    PSFM_AMBIGUOUS_SPLIT, /* it is cut there; the parts are models of their own */
    PSFM_AMBIGUOUS_BEST,  /* the better supported one; the runner-up is not looked for */
} psfm_ambiguous;

typedef struct {
    int models; /* psfm_ambiguous: what becomes of them */
} psfm_ambiguity_options;

extern const psfm_option_table psfm_ambiguity_option_table;

typedef struct {
    psfm_robust_control_options control;
    psfm_ambiguity_options ambiguity;
} psfm_robust_options;

/* What it works on. */
typedef struct {
    psfm_pose_graph *graph;  /* weights of hypotheses end as the final choice */
    psfm_extra_edges *extra; /* of rotations, beside the pairs; NULL: none. Ends with what agrees */
} psfm_robust_input;

/* What it found out about the edges. Owns its arrays. */
typedef struct {
    bool *accepted;               /* per edge: agrees with the rotations */
    double *residual_deg;         /* per edge: of its rotation; NULL if they were not averaged */
    psfm_plane_groups groups;     /* physical planes */
    psfm_baseline_kind *baseline; /* per edge: what was known of it */
    psfm_rotation_consensus_stats consensus;
    psfm_ambiguities ambiguities;
} psfm_robust_edges;

/* Rotations and positions of all components. `base` are the options of the shared stages
 * (similarity, embedding, LUD). Free `solution` and `edges` in any case. */
psfm_status psfm_robust_poses(psfm_context *ctx, const psfm_skeleton_options *base,
                              const psfm_robust_options *options, const psfm_robust_input *input,
                              psfm_timings *timings, psfm_pose_solution *solution,
                              psfm_robust_edges *edges);
void psfm_robust_edges_free(psfm_robust_edges *edges);

#endif
