/* The table of camera models: where each parameter of COLMAP's lists goes in one common lens. */
#ifndef PSFM_CAMERA_CAMERA_MODEL_H
#define PSFM_CAMERA_CAMERA_MODEL_H

#include "planarsfm/camera.h"

/* One model as indices into psfm_camera.params. Parameter 0 is a focal length in every model, so
 * that among the coefficients 0 means "this model has none". See camera/lens.h for their use. */
typedef struct {
    const char *name;
    int num_params;
    int focal[2];  /* fx, fy; twice the same in models with one focal length */
    int center[2]; /* cx, cy */
    bool is_fisheye;
    int radial[4];      /* of r^2, r^4, r^6, r^8 */
    int denominator[3]; /* of r^2, r^4, r^6 */
    int tangential[2];  /* p1, p2 */
    int prism[2];       /* sx1, sy1 */
    int omega;          /* field of view of the FOV model, radians */
} psfm_camera_model_info;

/* The row of a model; NULL for an unknown one. */
const psfm_camera_model_info *psfm_camera_model_get(psfm_camera_model model);

#endif
