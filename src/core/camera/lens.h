/* The camera models as one table, and the lens: the mapping of the plane behind every camera model
 * but the plain pinholes and panoramas, its derivative, the range in which it is one-to-one, and
 * its inverse. */
#ifndef PSFM_CAMERA_LENS_H
#define PSFM_CAMERA_LENS_H

#include <stdbool.h>

#include "planarsfm/camera.h"

/* One model as indices into psfm_camera.params. Parameter 0 is a focal length in every model, so
 * that among the coefficients 0 means "this model has none". See lens.c for their use. */
typedef struct {
    const char *parameters; /* their names in COLMAP's order, for people */
    int num_params;
    int focal[2];  /* fx, fy; twice the same in models with one focal length */
    int center[2]; /* cx, cy */
    bool is_fisheye;
    bool is_panorama;   /* no lens: `focal` is the size in pixels, `center` is of no parameter */
    bool is_chained;    /* tangential and prism terms take what the radial ones came to */
    int radial[6];      /* of r^2, r^4, ..., r^12 */
    int denominator[3]; /* of r^2, r^4, r^6 */
    int tangential[2];  /* p1, p2 */
    int prism[4];       /* of r^2 in x and y, of r^4 in x and y */
    int omega;          /* field of view of the FOV model, radians */
    int division;       /* k of the division models */
    int unified[2];     /* alpha, beta of the enhanced unified model */
} psfm_camera_model_info;

extern const psfm_camera_model_info psfm_camera_models[PSFM_NUM_CAMERA_MODELS];

/* What the radial part is: N / D, or with a form of its own. */
typedef enum { PSFM_LENS_POLYNOMIAL, PSFM_LENS_DIVISION, PSFM_LENS_UNIFIED } psfm_lens_shape;

/* A camera's parameters in common form; see lens.c for the formulas. */
typedef struct {
    double focal[2], center[2]; /* pixels */
    /* From ray to plane: perspective, or by the angle to the optical axis, as
     * atan(angle_in tan(angle)) / angle_out. */
    bool is_angular;
    double angle_in, angle_out;
    /* Distortion of the plane. */
    psfm_lens_shape shape;
    bool has_radial, has_high, has_denominator, has_tangential, is_chained;
    double radial[6], denominator[3], tangential[2], prism[4];
    double closed[2]; /* k of division, or alpha and beta of the unified model */
} psfm_lens;

/* Reads the parameters. False for an unknown model, a panorama, a FOV camera of half a turn or
 * more, or an EUCM camera that is none. */
bool psfm_lens_from_camera(const psfm_camera *camera, psfm_lens *lens);

/* Distorts a point of the plane; J is the 2 x 2 row-major derivative, or NULL. No range check. */
void psfm_lens_distort(const psfm_lens *lens, const double uv[2], double out[2], double J[4]);

/* Whether the distortion is one-to-one from the centre out to this point. */
bool psfm_lens_in_range(const psfm_lens *lens, const double uv[2]);

/* The point in range that is distorted to `distorted`; false if there is none. */
bool psfm_lens_undistort(const psfm_lens *lens, const double distorted[2], double uv[2]);

#endif
