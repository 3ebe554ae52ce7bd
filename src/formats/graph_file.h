/* OUT/graph.json: the pose multigraph of a run, with what became of each pair. Everything that the
 * report and other programs want to know of it, without the database. See docs/formats.md. */
#ifndef PSFM_FORMATS_GRAPH_FILE_H
#define PSFM_FORMATS_GRAPH_FILE_H

#include "core/twoview/two_view.h"

#define PSFM_GRAPH_FILE_VERSION 1
#define PSFM_GRAPH_FILE_MAX_SIZE ((size_t)1 << 30)

typedef struct {
    char *name;
    uint64_t width, height; /* pixels */
    size_t num_keypoints;
} psfm_graph_image;

/* One homography of a pair. */
typedef struct {
    double H_21[9]; /* on rays, ray2 ~ H_21 ray1 */
    uint32_t num_inliers;
    double rms_px;
    bool is_rotation;
    bool chosen;         /* the final choice of hypotheses gives it weight */
    int64_t group;       /* physical plane in the graph, -1 for none */
    float (*samples)[4]; /* some of its inliers: x1, y1, x2, y2 in pixels; owned */
    size_t num_samples;
} psfm_graph_homography;

/* One pair of images with matches. The fields from `h` on are those of an edge of the pose graph.
 */
typedef struct {
    uint32_t image1, image2; /* indices into images, image1 < image2 */
    size_t num_matches;
    psfm_pair_kind kind;
    uint32_t essential_inliers; /* 0: no essential matrix */
    psfm_graph_homography *homographies;
    size_t num_homographies;
    bool is_edge;
    double h;                     /* embedding */
    uint32_t embedding_component; /* connected component of the line graph */
    uint32_t component;           /* into components */
    bool in_tree;                 /* of the minimum-range tree */
    bool kept;                    /* used for the poses: not pruned */
    double rotation_deg;  /* angle between its rotation and that of the poses; NAN if unknown */
    double missing_share; /* what its images should share and do not; NAN if unknown */
} psfm_graph_pair;

/* A connected component of the pose graph before pruning, with at least one edge. */
typedef struct {
    uint32_t num_images, num_edges;
    double low, high; /* range of h that its tree spans */
} psfm_graph_component;

/* Owns everything below it. */
typedef struct {
    psfm_graph_image *images;
    size_t num_images;
    psfm_graph_pair *pairs; /* by (image1, image2) */
    size_t num_pairs;
    psfm_graph_component *components;
    size_t num_components;
    uint32_t *plane_models; /* per plane of planes.json: the model it belongs to */
    size_t num_planes;
    char *photo_folder; /* where the photographs were, NULL if none were used */
} psfm_graph_file;

void psfm_graph_file_free(psfm_graph_file *graph);

/* Rounds its numbers to the digits that the file has, as if it had been read from there. */
void psfm_graph_file_round(psfm_graph_file *graph);

/* Writes the file; whole or absent. */
psfm_status psfm_graph_file_write(psfm_context *ctx, const psfm_graph_file *graph,
                                  const char *path);

/* Reads it back. Everything is checked: indices, counts, finite numbers; a failure names the file
 * and the pair. *graph is empty on failure; otherwise freed by the caller. */
psfm_status psfm_graph_file_read(psfm_context *ctx, const char *path, psfm_graph_file *graph);

/* The same from text (size bytes, a '\0' behind them); `name` stands for the file in messages. */
psfm_status psfm_graph_file_parse(psfm_context *ctx, const char *text, size_t size,
                                  const char *name, psfm_graph_file *graph);

#endif
