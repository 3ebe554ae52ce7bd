/* The robust engine: the published skeleton (homography graph, consistency scores, embedding,
 * minimum-range tree), with hypotheses chosen jointly, cycles as evidence, rotations by consensus
 * and averaging over all edges that agree, and positions from plane-scaled baselines. */
#ifndef PSFM_ENGINE_ROBUST_H
#define PSFM_ENGINE_ROBUST_H

#include "court/court_evidence.h"
#include "engine/rotation_candidates.h"
#include "engine/skeleton.h"
#include "graph/cycle.h"
#include "graph/joint_choice.h"
#include "pose/ambiguity.h"
#include "pose/position_plane.h"
#include "pose/rotation_average.h"
#include "pose/rotation_consensus.h"

/* Parts that can be switched off, for the ablation. */
typedef struct {
    bool joint_choice;    /* off: weights from the essential matrix, as published */
    bool cycles;          /* off: no triangle evidence and no consensus search */
    bool averaging;       /* off: rotations of the tree alone */
    bool plane_scale;     /* off: positions from directions (LUD) */
    bool refinement;      /* off: no bundle adjustment */
    double absence_power; /* and (1 - absence) to this one */
    double noise_px;      /* of the keypoints, in the deviations of the pairs' rotations */
    double inlier_power;  /* an edge weighs (inliers / median inliers) to this power */
} psfm_robust_control_options;

extern const psfm_option_table psfm_robust_control_option_table;

/* What becomes of a model whose photographs do not tell it from its runner-up. */
typedef enum {
    PSFM_AMBIGUOUS_MARK,  /* the better supported one; the summary says which images and how sure */
    PSFM_AMBIGUOUS_SPLIT, /* it is cut there; the parts are models of their own */
    PSFM_AMBIGUOUS_BEST,  /* the better supported one; the runner-up is not looked for */
} psfm_ambiguous;

typedef struct {
    int models;             /* psfm_ambiguous: what becomes of them */
    double max_ratio;       /* of the evidence for and against a turn or flip, if it is decided */
    double max_shift_ratio; /* the same for a shift */
} psfm_ambiguity_options;

extern const psfm_option_table psfm_ambiguity_option_table;

typedef struct {
    psfm_robust_control_options control;
    psfm_joint_choice_options choice;
    psfm_cycle_options cycle;
    psfm_rotation_consensus_options consensus;
    psfm_ambiguity_options ambiguity;
    psfm_rotation_average_options average;
    psfm_plane_group_options group;
    psfm_position_plane_options position;
} psfm_robust_options;

/* What they say about the candidates of the consensus. */
psfm_candidate_options psfm_robust_candidate_options(const psfm_robust_options *options);

/* What it works on. */
typedef struct {
    psfm_pose_graph *graph;     /* weights of hypotheses end as the final choice */
    psfm_court_evidence *court; /* what a drawing says of the images; NULL: nothing. Ends with the
                                   registrations that agree with the rotations */
} psfm_robust_input;

/* What it found out about the edges. Owns its arrays. */
typedef struct {
    bool *accepted;               /* per edge: agrees with the rotations */
    double *residual_deg;         /* per edge: of its rotation */
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
