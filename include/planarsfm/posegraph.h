/* The pose multigraph: every hypothesis about the relative pose of two images, how much each is
 * believed, and how similar edges are (part of libplanarsfm-core; conventions in homography.h).
 *
 * The paper's way: homographies and their decompositions (Eq. 1, homography.h); confidence (4);
 * similarity of edges that share an image (2, 3); its embedding (5) and the minimum-range spanning
 * tree (6, Algorithm 1), both in graph.h; one relative pose for each edge (7); rotations along the
 * tree (rotation.h); positions (position.h). */
#ifndef PLANARSFM_POSEGRAPH_H
#define PLANARSFM_POSEGRAPH_H

#include "planarsfm/graph.h"
#include "planarsfm/homography.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psfm_multigraph psfm_multigraph;

/* Creates a graph of num_images images and no edges; NULL only when memory is out. */
PSFM_API psfm_multigraph *psfm_multigraph_create(uint32_t num_images);
/* Frees *graph and sets it to NULL. NULL and a pointer to NULL are fine. */
PSFM_API void psfm_multigraph_destroy(psfm_multigraph **graph);

/* Adds an edge between image1 < image2. R_21 (9), the rotation of their essential matrix, is what
 * confidences are measured by; NULL if there is none. */
PSFM_API psfm_status psfm_multigraph_add_edge(psfm_context *ctx, psfm_multigraph *graph,
                                              uint32_t image1, uint32_t image2, const double *R_21);

/* Adds a homography to the edge that was added last: its motions (psfm_decompose_homography), 1 or
 * 2, and its inliers, num_inliers >= 1 rows of keypoint indices in image 1 and image 2. Each motion
 * is a hypothesis; they all start with equal weights that sum to 1 over the edge. */
PSFM_API psfm_status psfm_multigraph_add_homography(psfm_context *ctx, psfm_multigraph *graph,
                                                    size_t num_motions,
                                                    const psfm_plane_motion *motions,
                                                    size_t num_inliers, const uint32_t *keypoints);

/* Counts; 0 of NULL. */
PSFM_API uint32_t psfm_multigraph_num_edges(const psfm_multigraph *graph);
PSFM_API uint32_t psfm_multigraph_num_hypotheses(const psfm_multigraph *graph);

/* The edges as rows image1, image2 (num_edges x 2), for psfm_graph. */
PSFM_API psfm_status psfm_multigraph_edges(psfm_context *ctx, const psfm_multigraph *graph,
                                           uint32_t *edges);

/* All hypotheses, in the order in which they were added: their edge, the homography of that edge
 * (0, 1, ... within it), the motion, the weight; num_hypotheses entries each, any may be NULL. */
PSFM_API psfm_status psfm_multigraph_hypotheses(psfm_context *ctx, const psfm_multigraph *graph,
                                                uint32_t *edge, uint32_t *homography,
                                                psfm_plane_motion *motion, double *weight);

/* Sets the weights of all hypotheses (num_hypotheses, finite and >= 0; 0: not chosen). */
PSFM_API psfm_status psfm_multigraph_set_weights(psfm_context *ctx, psfm_multigraph *graph,
                                                 const double *weight);

typedef struct {
    size_t struct_size;
    double rotation_bandwidth_deg; /* 1: difference at which confidence has dropped to 1/e */
    double floor;                  /* 1e-3: least confidence */
    double inlier_power; /* 2: confidence is multiplied by (inliers)^power; negative: not, as in the
                            paper */
} psfm_confidence_options;

/* Sets the weights to the confidences (Eq. 4): how near a hypothesis' rotation is to the essential
 * matrix's. Of the two motions of a homography the nearer one is kept, the other gets 0; on an edge
 * without an essential matrix the first. They sum to 1 over an edge. */
PSFM_API psfm_status psfm_confidence(psfm_context *ctx, psfm_multigraph *graph,
                                     const psfm_confidence_options *options);

typedef struct {
    size_t struct_size;
    double normal_bandwidth_rad; /* 0.14: angle of normals at which similarity is down to 1/e */
    double self;                 /* 1: similarity of an edge with itself; negative: 0 */
    double floor; /* 1e-5: least similarity of two edges that share an image; negative: 0 */
} psfm_similarity_settings;

/* Similarity of edges (Eq. 2 and 3): of two that share an image, how well the normals of their
 * hypotheses agree there, by weight and by shared inliers. *S is num_edges x num_edges, symmetric,
 * and freed with psfm_csr_free. */
PSFM_API psfm_status psfm_similarity(psfm_context *ctx, const psfm_multigraph *graph,
                                     const psfm_similarity_settings *options, psfm_csr *S);

/* One relative pose for each edge (Eq. 7): the rotation nearest to the weighted sum of those of its
 * hypotheses, R_21 (num_edges x 9), and the direction of the weighted sum of their translations,
 * t_21 (num_edges x 3, unit length; zero if not determined). An edge without a hypothesis has the
 * essential matrix's rotation, or the identity, and no direction. */
PSFM_API psfm_status psfm_relative_poses(psfm_context *ctx, const psfm_multigraph *graph,
                                         double *R_21, double *t_21);

#ifdef __cplusplus
}
#endif
#endif
