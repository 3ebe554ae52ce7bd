/* From approximate poses to refined ones: tracks, points, bundle adjustment in rounds, images that
 * were left over, planes, uncertainty. */
#ifndef PSFM_REFINE_REFINE_POSES_H
#define PSFM_REFINE_REFINE_POSES_H

#include "base/timer.h"
#include "engine/pose_solution.h"
#include "pose/bundle.h"
#include "pose/resection.h"
#include "refine/align_tracks.h"
#include "refine/check_intrinsics.h"
#include "refine/evidence.h"
#include "refine/probes.h"
#include "scene/planes.h"
#include "scene/tracks.h"
#include "scene/triangulate.h"

typedef struct {
    int rounds; /* of triangulation and adjustment; the last at triangulate.max_error_px */
    double
        first_error_px;   /* reprojection error allowed in the first round, while poses are rough */
    bool fit_loss;        /* last round: the loss bends where the residuals say */
    int min_image_points; /* an image that sees fewer points loses its pose */
    int long_tracks;      /* per pair of images in the first adjustment; 0: all */
    int place_images;     /* that a track may grow to by its point's place; 0: none is looked for */
    bool covariance;      /* compute the covariance of the poses */
    bool check_intrinsics; /* at the end, whether given focal lengths are right */
    bool probes;           /* adjust halves of the points, and free intrinsics */
} psfm_refine_control_options;

extern const psfm_option_table psfm_refine_control_option_table;

typedef struct {
    psfm_refine_control_options control;
    psfm_track_options tracks;
    psfm_triangulate_options triangulate;
    psfm_bundle_options bundle;
    psfm_resection_options resection;
    psfm_scene_plane_options planes;
    psfm_track_align_options align;
    psfm_patch_options patch; /* of the alignment */
} psfm_refine_options;

/* What the graph says, beside the poses. */
typedef struct {
    const psfm_pose_graph *graph;
    const bool *edge_accepted;   /* per edge: its matches may be used */
    const uint32_t *plane_group; /* per plane of the graph: physical plane, UINT32_MAX for none */
    uint32_t num_groups;
    const uint32_t *part; /* per view: what was split stays so; NULL: nothing was (left_over.h) */
} psfm_refine_input;

/* Facts about an image after refinement. */
typedef struct {
    uint32_t num_points;
    double mean_px;
    bool resected; /* was posed from points after the graph had left it out */
    double rotation_sigma_deg, center_sigma; /* NAN if not computed */
    double center_covariance[9];             /* world frame, 3 x 3; of use if center_sigma is */
} psfm_refined_image;

typedef struct {
    psfm_structure structure;
    psfm_scene_planes planes;
    psfm_camera *cameras; /* of the match set; refined on request */
    /* Per camera: standard deviations of the intrinsics that moved, NAN for the others; NULL if
     * not computed. */
    double (*camera_sigma)[PSFM_CAMERA_MAX_PARAMS];
    psfm_intrinsics_check check;
    double bow;                 /* of flat ground (refine/bow.h); NAN if it was not measured */
    psfm_refined_image *images; /* per view */
    double mean_px;             /* over all observations */
    psfm_bundle_stop stop;
    int iterations;
    psfm_track_align_stats aligned;
    psfm_probe probe[PSFM_NUM_PROBES]; /* arrays NULL if they were not asked for */
} psfm_refined;

/* Refines the poses of `solution` in place from the matches of the evidence, whose photographs, if
 * there are any, place its keypoints at the end (refine/evidence.h). Views that are resected join
 * the component of their points; those that too few points agree with lose theirs. */
psfm_status psfm_refine_poses(psfm_context *ctx, const psfm_refine_input *input,
                              const psfm_refine_options *options, psfm_evidence *evidence,
                              psfm_pose_solution *solution, psfm_timings *timings,
                              psfm_refined *out);
void psfm_refined_free(psfm_refined *refined);

#endif
