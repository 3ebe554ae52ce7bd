/* Cameras: COLMAP's camera models, pixels to rays and back.
 *
 * Image coordinates are COLMAP's: x right, y down, the centre of the top-left pixel is (0.5, 0.5).
 * Camera coordinates: x right, y down, z forward. */
#ifndef PLANARSFM_CAMERA_H
#define PLANARSFM_CAMERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planarsfm/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are COLMAP's, as stored in its files. */
typedef enum {
    PSFM_CAMERA_SIMPLE_PINHOLE = 0,        /* f, cx, cy */
    PSFM_CAMERA_PINHOLE = 1,               /* fx, fy, cx, cy */
    PSFM_CAMERA_SIMPLE_RADIAL = 2,         /* f, cx, cy, k */
    PSFM_CAMERA_RADIAL = 3,                /* f, cx, cy, k1, k2 */
    PSFM_CAMERA_OPENCV = 4,                /* fx, fy, cx, cy, k1, k2, p1, p2 */
    PSFM_CAMERA_OPENCV_FISHEYE = 5,        /* fx, fy, cx, cy, k1, k2, k3, k4 */
    PSFM_CAMERA_FULL_OPENCV = 6,           /* fx, fy, cx, cy, k1, k2, p1, p2, k3, k4, k5, k6 */
    PSFM_CAMERA_FOV = 7,                   /* fx, fy, cx, cy, omega */
    PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE = 8, /* f, cx, cy, k */
    PSFM_CAMERA_RADIAL_FISHEYE = 9,        /* f, cx, cy, k1, k2 */
    PSFM_CAMERA_THIN_PRISM_FISHEYE = 10,   /* fx, fy, cx, cy, k1, k2, p1, p2, k3, k4, sx1, sy1 */
    PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE = 11, /* fx, fy, cx, cy, k0 .. k5, p0, p1, s0 .. s3 */
    PSFM_CAMERA_SIMPLE_DIVISION = 12,            /* f, cx, cy, k */
    PSFM_CAMERA_DIVISION = 13,                   /* fx, fy, cx, cy, k */
    PSFM_CAMERA_SIMPLE_FISHEYE = 14,             /* f, cx, cy */
    PSFM_CAMERA_FISHEYE = 15,                    /* fx, fy, cx, cy */
    PSFM_CAMERA_EUCM = 16,                       /* fx, fy, cx, cy, alpha, beta */
    PSFM_CAMERA_EQUIRECTANGULAR = 17,            /* w, h: pixels of 360 and 180 degrees */
} psfm_camera_model;

#define PSFM_NUM_CAMERA_MODELS 18
/* More than the 16 of the largest model, so that psfm_camera need not grow for models to come. */
#define PSFM_CAMERA_MAX_PARAMS 24

typedef struct {
    uint32_t id; /* COLMAP counts from 1, others from 0; never 2^32 - 1 */
    psfm_camera_model model;
    uint64_t width, height;                /* pixels */
    double params[PSFM_CAMERA_MAX_PARAMS]; /* in the order of the model; the rest is 0 */
    bool has_prior_focal_length;
} psfm_camera;

/* Number of parameters, 2 to 16; 0 for an unknown model. */
PSFM_API int psfm_camera_num_params(psfm_camera_model model);
/* COLMAP's name, e.g. "OPENCV"; NULL for an unknown model. */
PSFM_API const char *psfm_camera_model_name(psfm_camera_model model);
/* Finds a model by COLMAP's name; false if there is none. */
PSFM_API bool psfm_camera_model_from_name(const char *name, psfm_camera_model *model);

/* Checks that the model is known, the size positive and sane, all parameters finite, the focal
 * lengths positive and the others such that the model is one. The message says what is wrong; the
 * caller adds the file. */
PSFM_API psfm_status psfm_camera_check(psfm_context *ctx, const psfm_camera *camera);

/* Pixel of a ray (any length). False if the ray has no image: behind the camera, or beyond the
 * range in which the distortion is one-to-one. EQUIRECTANGULAR images show every ray but, since
 * their pixels have no direction there, the two along y. Inverse: psfm_camera_unproject. */
PSFM_API bool psfm_camera_project(const psfm_camera *camera, const double ray[3], double xy[2]);

/* The same, with the 2 x 3 row-major derivative of the pixel by the ray. */
PSFM_API bool psfm_camera_project_jacobian(const psfm_camera *camera, const double ray[3],
                                           double xy[2], double d_xy_d_ray[6]);

/* Unit ray of a pixel. False if there is none (beyond the model's range, or not finite). Agrees
 * with psfm_camera_project to 1e-9 over the image. */
PSFM_API bool psfm_camera_unproject(const psfm_camera *camera, const double xy[2], double ray[3]);

/* The same for `num` rays, rows x, y, z, and for `num` pixels, rows x, y. What has no image, or no
 * ray, becomes NAN. */
PSFM_API void psfm_camera_project_points(const psfm_camera *camera, size_t num, const double *rays,
                                         double *xy);
PSFM_API void psfm_camera_unproject_points(const psfm_camera *camera, size_t num, const double *xy,
                                           double *rays);

/* The row-major matrix of focal lengths and principal point; distortion is no part of it. False
 * for an unknown model, and for EQUIRECTANGULAR, which has none. */
PSFM_API bool psfm_camera_matrix(const psfm_camera *camera, double K[9]);

#ifdef __cplusplus
}
#endif
#endif
