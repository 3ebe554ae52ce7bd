/* The published method from a weighted pose graph to poses: the skeleton, then an extension of the
 * tree and LUD. */
#ifndef PSFM_SOLVE_PAPER_H
#define PSFM_SOLVE_PAPER_H

#include "core/solve/planar_sfm.h"

/* The edges whose directions give the positions. */
typedef enum {
    PSFM_POSITIONS_BICONNECTED, /* the tree, extended until it is bi-connected: the paper's letter
                                 */
    PSFM_POSITIONS_RIGID,       /* ... and on, until it is parallel rigid */
    PSFM_POSITIONS_AGREEING,    /* all edges that agree with the rotations */
    PSFM_NUM_POSITIONS,
} psfm_paper_positions_kind;

extern const char *const psfm_paper_positions_names[]; /* NULL-terminated */

typedef struct {
    int positions; /* psfm_paper_positions_kind */
    double agreeing_deg;
} psfm_paper_options;

extern const psfm_option_table psfm_paper_option_table;

/* Positions on top of psfm_skeleton_rotations. Fills in_graph, the centres, and the facts about the
 * extension. */
psfm_status psfm_paper_positions(psfm_context *ctx, const psfm_skeleton_options *skeleton,
                                 const psfm_paper_options *options, psfm_pose_graph *graph,
                                 psfm_timings *timings, psfm_pose_solution *solution);

#endif
