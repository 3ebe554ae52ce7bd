/* Positions from plane-scaled baselines. */
#ifndef PSFM_POSITIONS_POSITION_PLANE_H
#define PSFM_POSITIONS_POSITION_PLANE_H

#include "core/posegraph/consolidate.h"
#include "core/posegraph/plane_group.h"
#include "core/positions/position_tree.h"

/* What is known of an edge's baseline. */
typedef enum {
    PSFM_BASELINE_NONE,      /* the edge is not used, or is a rotation */
    PSFM_BASELINE_DIRECTION, /* no plane of the edge has a known distance */
    PSFM_BASELINE_LENGTH,    /* length in the unit of its scale component */
    PSFM_BASELINE_WRONG,     /* such a length, but not between these centres: a false pair */
} psfm_baseline_kind;

typedef struct {
    uint32_t num_scale_components; /* sets of planes and cameras whose distances hang together */
    uint32_t num_scaled_edges, num_direction_edges;
    double scale_residual;    /* median |log| misfit of the distances */
    double position_residual; /* median misfit of baselines, relative to their length */
} psfm_position_plane_stats;

/* The baselines of known length that centres were solved from, between dense local nodes. Owns its
 * arrays. */
typedef struct {
    psfm_weighted_baseline *edges;
    uint32_t *edge; /* of each: its number in the graph */
    uint32_t num_edges;
    uint32_t *node; /* of each local node: its number in the graph */
    uint32_t num_nodes;
} psfm_known_baselines;

void psfm_known_baselines_free(psfm_known_baselines *known);

typedef struct {
    const psfm_pose_graph *graph;
    const bool *keep;  /* per edge; NULL: all */
    const bool *posed; /* per node: gets a centre */
    const psfm_plane_groups *groups;
    const psfm_relative_pose *edge_pose; /* per edge */
    const double (*cam_from_world_R)[9]; /* per node */
    double noise_px;                     /* slacks of rotations are for noise of one pixel */
} psfm_position_plane_input;

/* Solves for the centres (num_nodes x 3) of the posed nodes; the kept edges must connect them (use
 * one call per component). Rotations are given.
 *
 * A hypothesis knows its baseline in units of the plane's distance d1 from camera 1, and how that
 * distance changes to camera 2. Distances of one physical plane from one camera are the same in all
 * edges there, and two planes of one edge share the baseline; so all log-distances that hang
 * together follow from one, robustly (L1). Baselines then have lengths, and the centres follow
 * linearly, robustly again. Works on trees and chains, where directions alone would not.
 *
 * kind (num_edges, may be NULL) receives what was known of each edge between posed nodes, and which
 * of them contradict the result; other edges keep theirs, so that one array serves all calls. Free
 * `known` in any case. */
psfm_status psfm_positions_plane(psfm_context *ctx, const psfm_position_plane_input *input,
                                 double (*centers)[3], psfm_baseline_kind *kind,
                                 psfm_known_baselines *known, psfm_position_plane_stats *stats);

#endif
