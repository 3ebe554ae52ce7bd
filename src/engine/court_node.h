/* The drawing as a node of the pose graph: rotations of images and drawing by one consensus. */
#ifndef PSFM_ENGINE_COURT_NODE_H
#define PSFM_ENGINE_COURT_NODE_H

#include "court/court_evidence.h"
#include "engine/rotation_candidates.h"

/* The graph of a consensus with further edges at its end: floors that two images see, then
 * registrations, which join an image to the drawing, the last node. The candidates of an edge are
 * the turns that the drawing does not tell apart. Owns its arrays. */
typedef struct {
    uint32_t num_pairs, num_links, num_registered;
    uint32_t *ends; /* first all node1, then all node2 */
    psfm_candidate_list list;
    double (*R)[9]; /* images, then the drawing */
    psfm_topology topology;
    psfm_rotation_candidates candidates;
} psfm_court_graph;

/* Takes over `list`, the candidates of the pairs in `topology`. Starts with the images as in
 * cam_from_world, each connected set of them turned as most of its registrations want it. Free in
 * any case. */
psfm_status psfm_court_graph_make(psfm_context *ctx, const psfm_topology *topology,
                                  psfm_candidate_list *list, const psfm_court_evidence *court,
                                  double agreement_deg, double (*cam_from_world)[9],
                                  psfm_court_graph *graph);
void psfm_court_graph_free(psfm_court_graph *graph);

/* The same without the drawing, which has no say in what is turned against what: views of `graph`.
 */
void psfm_court_graph_images(const psfm_court_graph *graph, psfm_topology *topology,
                             psfm_rotation_candidates *candidates);

/* Hands the rotations out in the frame of the drawing, and tells which registrations agree with
 * them, in which turn (court->agrees, court->quarters). `chosen` is what the consensus chose. */
void psfm_court_graph_settle(const psfm_court_graph *graph, const uint32_t *chosen,
                             double (*cam_from_world)[9], psfm_court_evidence *court);

#endif
