/* From approximate poses to refined ones: tracks, points, bundle adjustment in rounds, images that
 * were unregistered, planes, uncertainty. */
#ifndef PSFM_REFINE_REFINE_POSES_H
#define PSFM_REFINE_REFINE_POSES_H

#include "core/base/timer.h"
#include "core/bundle/bundle.h"
#include "core/refine/focal_stability.h"
#include "core/refine/stability_tests.h"
#include "core/solve/pose_solution.h"
#include "core/structure/planes.h"
#include "core/structure/resection.h"
#include "core/structure/tracks.h"
#include "core/structure/triangulate.h"
#include "core/twoview/two_view.h"

typedef struct {
    int rounds; /* of triangulation and adjustment; the last at triangulate.max_error_px */
    double
        first_error_px;   /* reprojection error allowed in the first round, while poses are rough */
    bool fit_loss;        /* last round: the residuals give the scale of the loss */
    int min_image_points; /* an image that sees fewer points loses its pose */
    int long_tracks;      /* per pair of images in the first adjustment; 0: all */
    int place_images;     /* that a track may grow to by its point's place; 0: none is looked for */
    bool covariance;      /* compute the covariance of the poses */
    bool check_intrinsics; /* at the end, whether given focal lengths are right */
    bool stability_tests;  /* adjust halves of the points, and free intrinsics */
} psfm_refine_control_options;

extern const psfm_option_table psfm_refine_control_option_table;

typedef struct {
    psfm_refine_control_options control;
    psfm_triangulate_options triangulate;
    psfm_bundle_options bundle;
    psfm_resection_options resection;
} psfm_refine_options;

/* What it works on, beside the poses. */
typedef struct {
    psfm_match_set *set;            /* ends with the cameras of the adjustment, and their rays */
    const psfm_two_view *two_views; /* per pair of the set */
    const psfm_pose_graph *graph;
    const bool *edge_accepted;   /* per edge: its matches may be used */
    const uint32_t *plane_group; /* per plane of the graph: physical plane, UINT32_MAX for none */
    uint32_t num_groups;
    const uint32_t *part; /* per view: what was split stays so; NULL: nothing was */
} psfm_refine_input;

/* The matches of an edge that its own geometry explains, and those of them within max_error_px
 * under the poses. */
typedef struct {
    uint32_t own, explained;
} psfm_edge_matches;

/* Facts about an image after refinement. */
typedef struct {
    uint32_t num_points;
    double mean_px;
    bool resected; /* was posed from points after the graph had left it out */
    double rotation_sigma_deg, center_sigma; /* NAN if not computed */
    double noise_sigma_deg;        /* of the rotation if intrinsics were what they are; NAN, too */
    double center_covariance[9];   /* world frame, 3 x 3; of use if center_sigma is */
    double rotation_covariance[9]; /* of w, R_true = exp(w) R, in the camera's axes */
    double mixed_covariance[9];    /* rows of w, columns of the centre */
} psfm_refined_image;

typedef struct {
    psfm_structure structure;
    psfm_scene_planes planes;
    psfm_camera *cameras; /* of the match set; refined on request */
    /* Per camera: standard deviations of the intrinsics, NAN where they are not known; NULL if not
     * computed. */
    double (*camera_sigma)[PSFM_CAMERA_MAX_PARAMS];
    psfm_intrinsics_check check;
    double doming;              /* of flat ground; NAN if it was not measured */
    psfm_refined_image *images; /* per view */
    psfm_edge_matches *edges;   /* per edge of the graph; NULL: not counted */
    double mean_px;             /* over all observations */
    psfm_bundle_stop stop;
    int iterations;
    psfm_stability_test
        stability[PSFM_NUM_STABILITY_TESTS]; /* arrays NULL if they were not asked for */
} psfm_refined;

void psfm_refined_free(psfm_refined *refined);

#endif
