/* Edges beside the pairs: what is known of images by other means takes part in the consensus of
 * their rotations. */
#ifndef PSFM_SOLVE_EXTRA_EDGES_H
#define PSFM_SOLVE_EXTRA_EDGES_H

#include "core/solve/rotation_candidates.h"

/* First edges between two images, then edges that join an image to the world, which is one more
 * node behind the images: node2 is the number of images. Candidates of the latter are rotations
 * world_from_cam, the first of them as it was found. Owns its arrays. */
typedef struct {
    uint32_t num_between, num_to_world;
    uint32_t *node1, *node2;
    psfm_candidate_list list;
    uint32_t *chosen; /* per edge: what the consensus chose of its candidates, from 0; UINT32_MAX:
                         the edge does not agree with the rotations */
} psfm_extra_edges;

/* Room for so many edges and candidates. Free in any case. */
psfm_status psfm_extra_edges_init(psfm_context *ctx, uint32_t num_edges, uint32_t num_candidates,
                                  psfm_extra_edges *extra);
void psfm_extra_edges_free(psfm_extra_edges *extra);

/* The graph of a consensus with them at its end. Owns its arrays. */
typedef struct {
    uint32_t num_pairs, num_between;
    bool has_world; /* as the last node */
    uint32_t *ends; /* first all node1, then all node2; NULL: those of the pairs */
    psfm_candidate_list list;
    double (*R)[9]; /* images, then the world */
    psfm_topology topology;
    psfm_rotation_candidates candidates;
} psfm_extended_graph;

/* Takes over `list`, the candidates of the pairs in `topology`, whose arrays outlive the graph;
 * extra NULL: there are no others.
 * Starts with the images as in cam_from_world, each connected set of them turned as most of its
 * edges to the world want it. Free in any case. */
psfm_status psfm_extended_graph_make(psfm_context *ctx, const psfm_topology *topology,
                                     psfm_candidate_list *list, const psfm_extra_edges *extra,
                                     double agreement_deg, double (*cam_from_world)[9],
                                     psfm_extended_graph *graph);
void psfm_extended_graph_free(psfm_extended_graph *graph);

/* The same without the world, which has no say in what is turned against what: views of `graph`. */
void psfm_extended_graph_images(const psfm_extended_graph *graph, psfm_topology *topology,
                                psfm_rotation_candidates *candidates);

/* Hands the rotations out, in the frame of the world if edges lead there, and fills extra->chosen
 * (extra may be NULL). `chosen` is what the consensus chose. */
void psfm_extended_graph_hand_out(const psfm_extended_graph *graph, const uint32_t *chosen,
                                  double (*cam_from_world)[9], psfm_extra_edges *extra);

#endif
