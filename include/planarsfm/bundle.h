/* Bundle adjustment: poses, points, planes and intrinsics that explain the observed pixels best,
 * and how surely (part of libplanarsfm-core; conventions in homography.h). */
#ifndef PLANARSFM_BUNDLE_H
#define PLANARSFM_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "planarsfm/camera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cameras, images, points, planes and what was observed. Arrays are the caller's; those without
 * const are changed in place. X_cam = R (X - c). */
typedef struct {
    size_t struct_size;
    size_t num_cameras;
    psfm_camera *cameras; /* changed if intrinsics are refined */

    size_t num_images;
    const uint32_t *image_camera; /* per image: index into cameras */
    double *cam_from_world;       /* per image: R, 9 */
    double *centers;              /* per image: c, 3 */
    const bool *image_fixed;      /* per image: its pose stays; NULL: none */

    size_t num_points;
    double *points;             /* per point: X, 3 */
    const bool *point_fixed;    /* per point: it stays, and is on no plane; NULL: none */
    const int32_t *point_plane; /* per point: index of its plane, -1 for none; NULL: none */

    size_t num_planes;
    double *planes; /* per plane: n, d with n . X = d, n of unit length */

    size_t num_observations;   /* in any order; an image sees a point at most once */
    const uint32_t *obs_image; /* per observation */
    const uint32_t *obs_point;
    const double *obs_xy;        /* pixels, 2 */
    const double *obs_sqrt_info; /* (s00, s01, s11), upper triangular root of the information, per
                                    pixel; NULL: (1, 0, 1) */
} psfm_bundle_scene;

enum { PSFM_ADJUST_CAUCHY = 0, PSFM_ADJUST_SQUARED = 1, PSFM_ADJUST_HUBER = 2 };
enum {
    PSFM_ADJUST_PLANES_SOFT = 0, /* a point's distance from its plane is one more residual */
    PSFM_ADJUST_PLANES_HARD = 1, /* points stay in their plane, which moves */
    PSFM_ADJUST_PLANES_FREE = 2  /* planes are ignored */
};
enum {
    PSFM_ADJUST_NO_INTRINSICS = 0,
    PSFM_ADJUST_FOCAL = 1,
    PSFM_ADJUST_FOCAL_DISTORTION = 2,
    PSFM_ADJUST_ALL_INTRINSICS = 3 /* the principal point as well */
};
enum { PSFM_ADJUST_AUTO = 0, PSFM_ADJUST_DIRECT = 1, PSFM_ADJUST_ITERATIVE = 2 };

typedef struct {
    size_t struct_size;
    int loss;              /* PSFM_ADJUST_CAUCHY, ... */
    double loss_scale_px;  /* 2: residual at which the loss turns from squares */
    int planes;            /* PSFM_ADJUST_PLANES_SOFT, ... */
    double plane_sigma_px; /* soft: how far points are off their plane, as seen in the images; 0:
                              estimated for each plane */
    int refine;            /* PSFM_ADJUST_NO_INTRINSICS, ... */
    int solver;            /* PSFM_ADJUST_AUTO, ...: sparse factor or conjugate gradients */
    int max_iterations;    /* 100 */
    double tolerance;      /* 1e-6: ends when a step lowers the cost by a smaller share */
    double
        converged; /* 0.1: or moves everything by fewer standard deviations; negative: to the end */
    int min_observations; /* 4: an image with fewer is left out */
} psfm_adjust_options;

/* What became of an image. */
enum {
    PSFM_ADJUSTED = 0,
    PSFM_ADJUST_FIXED = 1,   /* by the caller */
    PSFM_ADJUST_DATUM = 2,   /* by the adjustment: it holds the frame */
    PSFM_ADJUST_LEFT_OUT = 3 /* too few observations */
};

typedef struct {
    size_t struct_size;
    double initial_cost, final_cost; /* half the sum of the losses */
    int iterations;
    bool converged;
    double initial_mean_px, mean_px, rms_px; /* reprojection errors */
    size_t num_observations;                 /* in use */
    size_t num_points;                       /* adjusted: seen by two images or more */
} psfm_adjust_result;

/* Adjusts the scene by Levenberg and Marquardt's method. Gauge: in each connected component without
 * a fixed image, the image with most observations is fixed, and the distance to the one farthest
 * from it; with one fixed image only that distance. image_state (num_images) and result may be
 * NULL. The same bytes for any number of threads. */
PSFM_API psfm_status psfm_adjust_bundle(psfm_context *ctx, const psfm_bundle_scene *scene,
                                        const psfm_adjust_options *options, int32_t *image_state,
                                        psfm_adjust_result *result);

/* Reprojection error of each observation in pixels (num_observations); infinite where the point has
 * no image. */
PSFM_API psfm_status psfm_reprojection_errors(psfm_context *ctx, const psfm_bundle_scene *scene,
                                              double *error_px);

/* Covariance of each image's pose in an adjusted scene, with the options of the adjustment: 6 x 6
 * of w, in radians and in the axes of the camera, R_true = exp(w) R, and then of the centre. Zero
 * for what the gauge fixes, NaN for images that were left out. sigma (or NULL) is the standard
 * deviation of a residual that it is scaled by, estimated from the residuals; known_sigma: it is 1.
 * PSFM_ERR_NUMERIC if poses are not determined. */
PSFM_API psfm_status psfm_bundle_covariance(psfm_context *ctx, const psfm_bundle_scene *scene,
                                            const psfm_adjust_options *options, bool known_sigma,
                                            double *covariance, double *sigma);

/* Standard deviations of the intrinsics that are refined (num_cameras x PSFM_CAMERA_MAX_PARAMS);
 * NaN for the others. */
PSFM_API psfm_status psfm_intrinsics_sigmas(psfm_context *ctx, const psfm_bundle_scene *scene,
                                            const psfm_adjust_options *options, double *sigma);

#ifdef __cplusplus
}
#endif
#endif
