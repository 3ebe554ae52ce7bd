/* Bundle adjustment: poses, points, and on request planes and intrinsics that explain the observed
 * pixels best. Plain arrays in, the same arrays refined out. */
#ifndef PSFM_BUNDLE_BUNDLE_H
#define PSFM_BUNDLE_BUNDLE_H

#include "core/base/options.h"
#include "core/linalg/loss.h"
#include "planarsfm/camera.h"

/* A plane n . X = d in the world; n is a unit vector, of either sign. */
typedef struct {
    double normal[3];
    double distance;
    /* How far its points are expected to be off it, as seen in the images and relative to
     * observations of unit variance (one pixel without obs_sqrt_info). 0: not known; a soft
     * adjustment then sets it. */
    double sigma_px;
} psfm_bundle_plane;

typedef enum {
    PSFM_REFINE_AUTO, /* what the prior of each camera says; nothing without priors */
    PSFM_REFINE_NONE,
    PSFM_REFINE_FOCAL,            /* focal lengths of each camera */
    PSFM_REFINE_FOCAL_DISTORTION, /* and its distortion */
    PSFM_REFINE_ALL,              /* and its principal point */
} psfm_bundle_refine;

/* What is known of a camera's intrinsics before the adjustment: their values, with standard
 * deviations that hold what the images do not tell. */
typedef struct {
    psfm_bundle_refine refine; /* what may move; not AUTO */
    psfm_camera camera;        /* the expected values */
    double focal_sigma;        /* of the logarithm of the focal length */
    double distortion_sigma;   /* of each coefficient */
    double center_sigma;       /* of the principal point, as a share of the longer side */
    bool two_focals;           /* fx and fy move apart, as if the options said so */
    double aspect_sigma;       /* of fy / fx, which is open as well; for covariances only */
    uint32_t fixed;            /* bit k: parameter k stays although `refine` lets it move */
} psfm_camera_prior;

/* Known points that lie on a thing whose size is known only roughly, such as the lines of a court:
 * two numbers, its length and width beyond the expected ones, with priors about zero. */
typedef struct {
    double value[2];         /* changed by the adjustment, as the points are */
    double sigma[2];         /* of the priors; 0: it does not change */
    const double (*move)[2]; /* per point: how much x goes with value[0], and y with value[1] */
} psfm_bundle_shape;

/* The caller owns all arrays. psfm_bundle_adjust changes cam_from_world, centers, points, planes
 * (soft and hard mode) and cameras (with `refine`), all in place. X_cam = R (X - c). */
typedef struct {
    size_t num_cameras;
    psfm_camera *cameras;
    const psfm_camera_prior *camera_priors; /* per camera; NULL: the values at the start, with the
                                               deviations of the options */

    size_t num_images;
    const uint32_t *image_camera; /* per image: index into cameras */
    double (*cam_from_world)[9];  /* rotation, row-major */
    double (*centers)[3];
    const bool *image_fixed; /* pose is known and fixed; NULL: none */

    size_t num_points;
    double (*points)[3];
    const int32_t *point_plane; /* index into planes, -1 for none; NULL: none */
    const bool *point_fixed;    /* known and fixed, off all planes; NULL: none */
    psfm_bundle_shape *shape;   /* that the fixed points go with; NULL: none */

    size_t num_planes;
    psfm_bundle_plane *planes;

    /* Observations in any order; an image sees a point at most once. */
    size_t num_observations;
    const uint32_t *obs_image;
    const uint32_t *obs_point;
    const double (*obs_xy)[2]; /* pixels */
    /* Square root of the information (inverse covariance) of each observation, upper triangular
     * (s00, s01, s11) per pixel: the residual becomes S (projected - observed). NULL: identity, so
     * that residuals and the scale of the loss are in pixels. With s11 = 0 the observation says how
     * far the point is to one side, and nothing of where it is along a line. */
    const double (*obs_sqrt_info)[3];
} psfm_bundle_problem;

typedef enum {
    PSFM_PLANES_FREE, /* plane indices are ignored */
    PSFM_PLANES_SOFT, /* free points, their distance from the plane is one more residual */
    PSFM_PLANES_HARD, /* points have two degrees of freedom in their plane */
} psfm_plane_mode;

/* How the reduced system is solved. */
typedef enum {
    PSFM_BUNDLE_AUTO,      /* as is cheaper by an estimate */
    PSFM_BUNDLE_DIRECT,    /* by a sparse factor */
    PSFM_BUNDLE_ITERATIVE, /* by conjugate gradients */
} psfm_bundle_solver;

typedef struct {
    int loss;              /* psfm_loss_kind */
    double loss_scale_px;  /* scale of the loss, a residual */
    int planes;            /* psfm_plane_mode */
    double plane_sigma_px; /* soft: for planes without sigma_px; 0: estimated for each */
    int refine;            /* psfm_bundle_refine; with priors these decide unless it is NONE */
    bool two_focals;       /* fx and fy move apart, in models that have two */
    double focal_sigma, distortion_sigma, center_sigma; /* of psfm_camera_prior, without one */
    int max_iterations;     /* accepted or rejected steps, for each sigma of planes */
    double tolerance;       /* stop when a step lowers the cost by less than this share; where less
                             * than one standard deviation is asked for below, it must also be less
                             * than half the variance of a residual */
    double converged;       /* stop when it moves poses, intrinsics and planes, all taken together,
                             * by fewer standard deviations than this */
    double converged_share; /* or by less than this share of all steps so far */
    int min_observations;   /* an image with fewer is left out */
    int solver;             /* psfm_bundle_solver */
    double initial_damping; /* of Levenberg and Marquardt, relative to the diagonal */
} psfm_bundle_options;

extern const psfm_option_table psfm_bundle_option_table;

typedef enum {
    PSFM_BUNDLE_CONVERGED,      /* a step lowered the cost or moved the poses by hardly anything */
    PSFM_BUNDLE_MAX_ITERATIONS, /* the limit was reached */
    PSFM_BUNDLE_STALLED,        /* no step lowers the cost, however damped */
    PSFM_BUNDLE_EMPTY,          /* nothing to adjust */
} psfm_bundle_stop;

/* What became of an image. */
typedef enum {
    PSFM_IMAGE_ADJUSTED,
    PSFM_IMAGE_FIXED,    /* fixed by the caller */
    PSFM_IMAGE_DATUM,    /* fixed by the adjustment: it carries the coordinate frame */
    PSFM_IMAGE_LEFT_OUT, /* too few observations; its pose is untouched */
} psfm_image_state;

typedef struct {
    psfm_image_state state;
    bool fixes_scale; /* its distance from the datum image is fixed */
    size_t num_observations;
    double mean_px; /* mean reprojection error; 0 without observations */
    double rms_px;
} psfm_bundle_image_stats;

typedef struct {
    /* Half the sum of the losses. Where the sigma of planes is estimated, of the last adjustment
     * with it. */
    double initial_cost, final_cost;
    int iterations; /* steps tried */
    int accepted;
    psfm_bundle_stop stop;
    double initial_mean_px, mean_px, rms_px; /* over all observations in use that project */
    size_t num_observations;                 /* in use */
    size_t num_invalid;                      /* of these, not in front of their image at the end */
    size_t num_parameters; /* degrees of freedom of poses, planes and intrinsics */
    size_t num_points;     /* adjusted: seen by two images in use or more */
    size_t num_points_left_out;
    size_t num_planes;               /* in use: with four points or more */
    size_t factor_entries;           /* 0 by conjugate gradients */
    size_t inner_steps;              /* of conjugate gradients; 0 by a factor */
    psfm_bundle_image_stats *images; /* num_images of the problem; owned */
} psfm_bundle_stats;

/* Adjusts. Gauge: in each connected component without an image fixed by the caller, the image with
 * the most observations is fixed together with the distance to the image farthest from it; with one
 * fixed image, only that distance. All images that see fixed points are one component, which these
 * hold. Images with too few observations and points seen by fewer than two images, unless they are
 * fixed, are left out and keep their values. Input that is not finite, or out of range, is
 * refused with PSFM_ERR_ARGUMENT. NULL options are the defaults. stats may be NULL; otherwise it
 * is freed with psfm_bundle_stats_free. The same bytes for any number of threads.
 *
 * Memory: about 200 bytes an observation, 250 a point and the factor of the reduced system. Time of
 * an iteration: O(sum over points of the square of their observations) and the factorisation; by
 * conjugate gradients O(observations) a step of these. */
psfm_status psfm_bundle_adjust(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options, psfm_bundle_stats *stats);
void psfm_bundle_stats_free(psfm_bundle_stats *stats);

/* Reprojection error of each observation in pixels (without obs_sqrt_info); INFINITY if the point
 * has no image there. */
psfm_status psfm_bundle_errors(psfm_context *ctx, const psfm_bundle_problem *problem,
                               double *error_px);

/* Whether an adjustment with these options may move intrinsics of a camera. */
bool psfm_bundle_moves_camera(const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, size_t camera);

/* A word for reports, e.g. "converged". */
const char *psfm_bundle_stop_name(psfm_bundle_stop stop);

#endif
