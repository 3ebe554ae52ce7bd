/* Camera poses from matches in memory: no files, no database.
 *
 *   psfm_problem     what is known: cameras, images with keypoints, matches. Everything is copied.
 *   psfm_solve       finds the poses.
 *   psfm_result      what was found: poses, models, points, planes, the pose graph.
 *
 * Progress and cancellation come from the context's callbacks, options from psfm_settings. The
 * structs of results begin with struct_size, which the caller sets to the size it was compiled
 * with; later versions of the library add fields at the end and fill no more than that size.
 * docs/example.c is a whole program. */
#ifndef PLANARSFM_SOLVE_H
#define PLANARSFM_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planarsfm/camera.h"
#include "planarsfm/model.h"
#include "planarsfm/reconstruct.h"
#include "planarsfm/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psfm_problem psfm_problem;
typedef struct psfm_result psfm_result;

/* Creates an empty problem; NULL only when memory is out. */
PSFM_API psfm_problem *psfm_problem_create(void);
/* Frees *problem and sets it to NULL. NULL and a pointer to NULL are fine. */
PSFM_API void psfm_problem_destroy(psfm_problem **problem);

/* Adds a camera; its id must be new. The intrinsics are checked (psfm_camera_check). */
PSFM_API psfm_status psfm_problem_add_camera(psfm_context *ctx, psfm_problem *problem,
                                             const psfm_camera *camera);

/* Adds an image of a camera that was added before, with num_keypoints rows x, y of pixels (the
 * centre of the first pixel is 0.5, 0.5). The id must be new; so must the name, for which NULL
 * stands for "image_ID". Keypoints that are not finite, or that no ray of the camera meets, stay in
 * place but take no part. */
PSFM_API psfm_status psfm_problem_add_image(psfm_context *ctx, psfm_problem *problem,
                                            uint32_t image_id, uint32_t camera_id, const char *name,
                                            size_t num_keypoints, const double *keypoints);

/* Adds the matches of two images that were added before: num_matches rows of keypoint indices in
 * image 1 and image 2. A pair may be added once, in either order. An index out of range is
 * PSFM_ERR_ARGUMENT; of matches that repeat a keypoint of either image the first stays. */
PSFM_API psfm_status psfm_problem_add_matches(psfm_context *ctx, psfm_problem *problem,
                                              uint32_t image_id1, uint32_t image_id2,
                                              size_t num_matches, const uint32_t *matches);

/* Verifies the matches, finds the poses and, in robust mode, points and planes. settings NULL =
 * defaults; its "images" is not used. *result is freed by the caller with psfm_result_destroy, and
 * NULL on failure. It is not a failure if no image can be posed: every image then has a reason. The
 * problem stays as it is and may be added to and solved again. A cancelled call returns
 * PSFM_ERR_CANCELLED. The same input and seed give the same result for any number of threads. */
PSFM_API psfm_status psfm_solve(psfm_context *ctx, const psfm_problem *problem,
                                const psfm_settings *settings, psfm_result **result);

/* The same from the photographs below a folder: what psfm_run_photographs does with these settings
 * (NULL = defaults), with the result in memory and nothing written. Features and matches are in a
 * folder of their own below $TMPDIR (/tmp) meanwhile, which is removed in any case. Points have
 * colours in psfm_result_model. */
PSFM_API psfm_status psfm_solve_photographs(psfm_context *ctx, const char *folder,
                                            const psfm_run_settings *settings,
                                            psfm_result **result);

/* Frees *result and sets it to NULL. NULL and a pointer to NULL are fine. All pointers that came
 * from the result are void then. */
PSFM_API void psfm_result_destroy(psfm_result **result);

/* One image, in the order of names. */
typedef struct {
    size_t struct_size; /* set by the caller */
    uint32_t image_id;
    int32_t model; /* index of its model; -1 if it has no pose */
    const char *name;
    const char *state;  /* "posed", or why not: see docs/errors.md */
    const char *advice; /* what to try; "" if it is posed */
    /* Zero without a pose. X_cam = R(q) X_world + t; q is (w, x, y, z). */
    double cam_from_world_q[4];
    double cam_from_world_t[3];
    double center[3]; /* -R^T t */
    /* Robust mode; 0 and NAN otherwise. */
    uint32_t num_points;
    double mean_error_px;
    double rotation_sigma_deg, center_sigma; /* standard deviations; NAN if not computed */
    double probability; /* that the pose is right to a degree; NAN if not judged */
    /* 6 x 6, of the vector w in radians, R_true = exp(w) R, in the camera's axes, then of the
     * centre in the world; NAN if not computed. */
    double pose_covariance[36];
} psfm_image_result;

/* The verdict on one model. */
typedef struct {
    size_t struct_size;  /* set by the caller */
    bool is_right;       /* called right; false: doubtful, or not judged */
    double probability;  /* that all its poses are right to a degree; NAN if not judged */
    double sigma_factor; /* by which standard deviations were raised to explain how much halves of
                            the points differ; NAN if not known */
    /* "right"; "plausible": nothing speaks against it, and little holds it; "doubtful": something
     * does. NULL if not judged. */
    const char *word;
} psfm_verdict_result;

/* One edge of the pose graph: two images that share a plane, or an essential matrix. Edges are in
 * the order of names, and image 1 comes before image 2. */
typedef struct {
    size_t struct_size; /* set by the caller */
    uint32_t image_id1, image_id2;
    uint32_t num_planes;  /* homographies that show parallax; 0 of a rotation alone */
    uint32_t num_inliers; /* of all of them, or of the essential matrix or the rotation if there are
                             none */
    bool is_accepted;     /* agrees with the poses (robust mode), or was kept (paper mode) */
    bool is_in_tree;      /* of the minimum-range spanning tree */
    double embedding;     /* the edge's place on the real line */
    double residual_deg;  /* of its rotation; NAN in paper mode and if rotations are not averaged */
    /* X_2 = R(q) X_1 + t up to the length of t; t is of unit length, or zero if unknown. */
    double cam2_from_cam1_q[4];
    double cam2_from_cam1_t[3];
} psfm_edge_result;

/* One plane: normal . X = distance, the normal towards the cameras. Its corners are num_corners
 * rows x, y, z: the hull of its points, counter-clockwise from the front. */
typedef struct {
    size_t struct_size; /* set by the caller */
    double normal[3];
    double distance;
    double sigma; /* robust standard deviation of its points' distance from it */
    double area;
    uint32_t num_points, num_corners;
    int32_t model; /* index of the model whose frame it is in */
    const double *corners;
} psfm_plane_result;

/* All points. Point k is seen by the elements track_begin[k] .. track_begin[k + 1] - 1. */
typedef struct {
    size_t struct_size; /* set by the caller */
    size_t num_points;
    const double *xyz;           /* num_points x 3 */
    const double *error_px;      /* mean reprojection error */
    const int32_t *model;        /* index of its model */
    const int32_t *plane;        /* index of its plane, -1 if on none */
    const uint64_t *track_begin; /* num_points + 1 */
    const uint32_t *track_image_id;
    const uint32_t *track_keypoint;
} psfm_points_result;

/* Counts. */
PSFM_API size_t psfm_result_num_images(const psfm_result *result);
PSFM_API size_t psfm_result_num_models(const psfm_result *result);
PSFM_API size_t psfm_result_num_edges(const psfm_result *result);
PSFM_API size_t psfm_result_num_planes(const psfm_result *result);

/* Fill a struct for index idx; false, and nothing filled, if idx is out of range or struct_size is
 * smaller than in the first version of the library. O(1). */
PSFM_API bool psfm_result_image(const psfm_result *result, size_t idx, psfm_image_result *out);
PSFM_API bool psfm_result_edge(const psfm_result *result, size_t idx, psfm_edge_result *out);
PSFM_API bool psfm_result_plane(const psfm_result *result, size_t idx, psfm_plane_result *out);
PSFM_API bool psfm_result_points(const psfm_result *result, psfm_points_result *out);
PSFM_API bool psfm_result_verdict(const psfm_result *result, size_t model,
                                  psfm_verdict_result *out);

/* Model idx, most images first, with its cameras (refined on request), images, points and tracks,
 * e.g. for psfm_model_write. Owned by the result; NULL if idx is out of range. */
PSFM_API const psfm_model *psfm_result_model(const psfm_result *result, size_t idx);

/* The contents of summary.json (docs/formats.md), without the facts about files. */
PSFM_API const char *psfm_result_summary(const psfm_result *result);

#ifdef __cplusplus
}
#endif
#endif
