/* Absolute rotations from relative ones (part of libplanarsfm-core; conventions in homography.h).
 *
 * An edge (1, 2) of the graph has a relative rotation R_21 (num_edges x 9), wanted is
 * R_2 = R_21 R_1 for the rotations cam_from_world (num_nodes x 9) of its ends. Weights of the graph
 * must be finite and >= 0; NULL: all 1. */
#ifndef PLANARSFM_ROTATION_H
#define PLANARSFM_ROTATION_H

#include "planarsfm/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Goes along the num_tree edges of a tree from `root`, whose rotation becomes the identity, as does
 * that of a node that the tree does not reach. reached (num_nodes) may be NULL. */
PSFM_API psfm_status psfm_propagate_rotations(psfm_context *ctx, const psfm_graph *graph,
                                              const double *R_21, uint32_t num_tree,
                                              const uint32_t *tree, uint32_t root,
                                              double *cam_from_world, bool *reached);

/* Rotations by the chordal relaxation: minimises sum w ||X_2 - R_21 X_1||^2 over all 3 x 3
 * matrices, the first node of each connected component fixed to the identity, and takes the nearest
 * rotations. Needs no start; a good one for averaging where no edge is wrong by much. */
PSFM_API psfm_status psfm_chordal_rotations(psfm_context *ctx, const psfm_graph *graph,
                                            const double *R_21, double *cam_from_world);

typedef enum {
    PSFM_ROTATION_ROBUST = 0, /* sum of angles, then Geman and McClure's loss: edges may be wrong */
    PSFM_ROTATION_ANGLE = 1,  /* sum w angle^2: the geodesic cost */
    PSFM_ROTATION_CHORDAL = 2, /* sum w ||R_2 - R_21 R_1||^2: the chordal cost */
} psfm_rotation_loss;

typedef struct {
    size_t struct_size;
    int loss;             /* psfm_rotation_loss */
    int l1_iterations;    /* 50: at most, of the sum of angles (robust); negative: none */
    int max_iterations;   /* 100: of the rest */
    double tolerance_deg; /* 1e-5: ends when no rotation turns by more */
    double max_scale_deg; /* 5, 0.05: bounds of the scale of the robust loss, which follows */
    double min_scale_deg; /* the median residual */
} psfm_averaging_options;

typedef struct {
    size_t struct_size;
    int iterations;   /* of all phases */
    bool converged;   /* by the tolerance */
    double scale_deg; /* of the robust loss at the end; 0 of the others */
} psfm_averaging_result;

/* Improves cam_from_world, which holds a start, over all edges at once. The first node of each
 * connected component keeps its rotation. residual_rad (num_edges) is the angle between R_2 R_1^T
 * and R_21; it and result may be NULL. Descends, so that a start which is wrong all over can end in
 * a local minimum. A sparse solve of num_nodes unknowns for each iteration. */
PSFM_API psfm_status psfm_average_rotations(psfm_context *ctx, const psfm_graph *graph,
                                            const double *R_21,
                                            const psfm_averaging_options *options,
                                            double *cam_from_world, double *residual_rad,
                                            psfm_averaging_result *result);

/* Several relative rotations for each edge, of which one at most is right: edge e has the
 * candidates begin[e] .. begin[e + 1] - 1. */
typedef struct {
    size_t struct_size;
    const uint32_t *begin;    /* num_edges + 1 */
    const double *R_21;       /* per candidate, 9 */
    const double *confidence; /* per candidate, 0 to 1; NULL: all 1 */
    const double *sigma_rad;  /* per candidate: standard deviation; NULL: 0 */
} psfm_edge_candidates;

/* Looks for the rotations that the largest weight of edges agrees with: moves single images, and
 * whole sets of them by one gauge rotation, which is what false edges to duplicate structure ask
 * for. cam_from_world holds a start. chosen (num_edges) is the candidate that an edge agrees with,
 * within 5 degrees or 3 standard deviations, UINT32_MAX if none; num_agreeing, which may be NULL,
 * the number of edges that do. Random draws come from the context's seed. */
PSFM_API psfm_status psfm_find_rotation_consensus(psfm_context *ctx, const psfm_graph *graph,
                                                  const psfm_edge_candidates *candidates,
                                                  double *cam_from_world, uint32_t *chosen,
                                                  uint32_t *num_agreeing);

#ifdef __cplusplus
}
#endif
#endif
